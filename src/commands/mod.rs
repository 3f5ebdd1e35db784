//! The subcommands, one file each: its arguments (`Args`), its `run` and its output. Only this layer uses
//! clap, signals and configuration files; the layers below work without them.

pub mod accuracy;
pub mod analyse;
pub mod bench;
pub mod book;
pub mod completions;
pub mod convert;
pub mod csa;
pub mod data;
pub mod datagen;
pub mod eval;
pub mod learn;
pub mod man;
pub mod match_;
pub mod mate;
pub mod net;
mod networks;
pub mod openings;
mod output_files;
pub mod perft;
mod positions;
pub mod record_files;
mod signals;
pub mod toml_file;
pub mod train;
pub mod tune;
mod values;
