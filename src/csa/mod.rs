//! Playing on floodgate and other servers of the CSA protocol: `toratsugumi csa`.
//!
//! [`protocol`] and [`summary`] read the server's lines, [`clock`] is the server's clock as we know it, [`game`] follows a
//! game: all pure. A [`Link`](link::Link) sends and waits over a [`Connection`](connection::Connection), which is any
//! pair of `Read` and `Write`; a [`Session`](session::Session) logs in and agrees to a game; [`play()`](play::play) plays
//! it with a [`Player`](player::Player): our own engine or any other that speaks USI.
//! The [`Client`](client::Client) goes from game to game and hands them to the `Recorder`.
//! [`loopback`] is a small server of our own, for `--dry-run` and tests.
//!
//! Nothing that a server sends ends the process: a line that makes no sense is reported and ignored, a game that cannot go
//! on is recorded, and the client comes back for the next one.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod client;
pub mod clock;
mod comment;
pub mod connection;
pub mod external;
pub mod game;
pub mod internal;
pub mod link;
mod live;
pub mod log;
pub mod loopback;
pub mod play;
pub mod player;
pub mod protocol;
mod recorder;
pub mod secret;
pub mod session;
pub mod settings;
pub mod summary;
pub mod thinking;
