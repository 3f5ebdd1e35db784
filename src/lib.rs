//! Toratsugumi, a shogi engine: the rules, an NNUE evaluation, a search, a USI front end.
//!
//! The modules form layers, and each uses only those below it. From the bottom up:
//!
//! - [`types`]: squares, pieces, moves, values. [`support`], [`resume`]: helpers that know no shogi
//! - [`position`]: the rules
//! - [`nnue`] (evaluation), [`mate`] (mate search), [`data`] (training records)
//! - [`search`], [`book`] (opening books), [`record`] (game records), [`train`]
//! - [`engine`] (options, network, threads and game in one), [`usi_client`] (driving other engines)
//! - [`usi`], [`csa`] (floodgate), [`arena`] (matches), [`datagen`] (self-play), [`review`] (analysis of
//!   games), [`tune`]
//! - [`learn`]: the loop of self-play, training and a match
//! - `commands` and `cli`: the program, with the feature `cli`
//!
//! A GUI-like client uses [`engine::Engine`]. A program that searches many positions uses
//! [`search::Searcher`], which runs on one thread and parses no options:
//!
//! ```
//! use std::sync::Arc;
//! use toratsugumi::nnue::Network;
//! use toratsugumi::position::Position;
//! use toratsugumi::search::{Limits, SearchOptions, Searcher, Silent};
//!
//! let mut position = Position::startpos();
//! for text in ["7g7f", "3c3d"] {
//!     let m = position.parse_move(text)?;
//!     position.do_move(m);
//! }
//! let network = Arc::new(Network::embedded()?);
//! let mut searcher = Searcher::new(network, 16, SearchOptions::default())?;
//! let result = searcher.search(&position, &Limits::depth(6), &Silent);
//! println!("{} ({} nodes)", result.best, result.nodes);
//! assert!(position.legal_moves(false).iter().any(|m| m.mv == result.best));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod resume;
pub mod support;
pub mod types;

pub mod position;

pub mod data;
pub mod mate;
pub mod nnue;

pub mod book;
pub mod book_growth;
pub mod record;
pub mod search;
pub mod train;

pub mod engine;
pub mod usi_client;

pub mod arena;
pub mod csa;
pub mod datagen;
pub mod review;
pub mod tune;
pub mod usi;

#[cfg(feature = "cli")]
pub mod commands;
pub mod learn;

#[cfg(feature = "cli")]
pub mod cli;
