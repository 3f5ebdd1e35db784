//! Playing on floodgate and other servers of the CSA protocol: `toratsugumi csa`.
//!
//! [`protocol`] and [`summary`] read the server's lines, [`clock`] is the server's clock as we know it, [`game`] follows a
//! game: all pure. A [`Session`](session::Session) plays one game over a [`Connection`](connection::Connection), which
//! is any pair of `Read` and `Write`, with a [`Player`](player::Player): our own engine or any other that speaks USI.
//! The [`Client`](client::Client) goes from game to game and hands them to the [`Recorder`](recorder::Recorder).
//! [`loopback`] is a small server of our own, for `--dry-run` and tests.
//!
//! Nothing that a server sends ends the process: a line that makes no sense is told and ignored, a game that cannot go
//! on is recorded, and the client comes back for the next one.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod client;
pub mod clock;
pub mod comment;
pub mod connection;
pub mod game;
pub mod log;
pub mod loopback;
mod play;
pub mod player;
pub mod protocol;
pub mod recorder;
pub mod secret;
pub mod session;
pub mod settings;
pub mod summary;
