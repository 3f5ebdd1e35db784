//! The tests of the whole: the library from outside, and the program as people run it. They are one program, which is
//! built once and keeps all cores busy; `cargo test --test suite csa::` runs those of one file.

mod accuracy;
mod arena;
mod book;
mod book_losses;
mod console;
mod csa;
mod csa_server;
mod data_commands;
mod data_formats;
mod datagen;
mod documents;
mod interleavings;
mod layers;
mod learn;
mod malformed_input;
mod mate;
mod module_graph;
mod nnue;
mod perft;
mod records;
mod resume;
mod review;
mod rules;
mod search;
mod sfnn;
mod shapes;
mod support;
mod train;
mod tune;
mod usi;
