//! The rules of shogi.
