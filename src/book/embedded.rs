//! The book inside the binary: [`unpack`] and [`pack`].
//!
//! It is packed as a tree from the usual starts, breadth first, because a move takes fewer bytes than the position it
//! leads to. Each kind of number has a column of its own, so that like stands beside like, and a score or depth is
//! the difference to what the move before lets expect. The whole is compressed by zstd.

use super::error::BookError;
use super::graph::{Graph, MoveTarget};
use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::store::BookBuilder;
use super::ybb::{self, YbbFile};
use crate::position::{Position, handicap};
use crate::support::messages;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// The name of the embedded book, accepted in place of a file.
pub const INTERNAL: &str = "<internal>";

/// Made by `toratsugumi book pack`.
static FILE: &[u8] = include_bytes!("../../book/default.tree.zst");

/// Whether a path is the name of the book inside.
pub(super) fn is_meant(path: &Path) -> bool {
    path == Path::new(INTERNAL)
}

/// The columns: which starts the book has, the number of moves and the ply of each position; and of each move
/// whether it leads to the next new position, itself, its score, its depth.
#[derive(Clone, Copy)]
enum Column {
    Start,
    Count,
    Ply,
    New,
    Move,
    Value,
    Depth,
}

/// Numbers of two bytes, the low bytes of a column before its high bytes.
#[derive(Default)]
struct Columns([Vec<u16>; 7]);

impl Columns {
    fn push(&mut self, column: Column, number: u16) {
        self.0[column as usize].push(number);
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for column in &self.0 {
            bytes.extend((column.len() as u32).to_le_bytes());
            (0..2).for_each(|byte| bytes.extend(column.iter().map(|n| n.to_le_bytes()[byte])));
        }
        bytes
    }

    fn read(mut bytes: &[u8]) -> Option<Columns> {
        let mut columns = Columns::default();
        for column in &mut columns.0 {
            let (len, rest) = bytes.split_first_chunk()?;
            let len = u32::from_le_bytes(*len) as usize;
            let (low, rest) = rest.split_at_checked(len)?;
            let (high, rest) = rest.split_at_checked(len)?;
            // from the end, so that numbers are popped in order
            column.extend(low.iter().zip(high).rev().map(|(low, high)| u16::from_le_bytes([*low, *high])));
            bytes = rest;
        }
        Some(columns)
    }

    fn pop(&mut self, column: Column) -> Option<u16> {
        self.0[column as usize].pop()
    }
}

/// What the move to a position lets expect of it: its ply, and score and depth of its best move.
#[derive(Clone, Copy, Default)]
struct Expected {
    ply: u16,
    value: u16,
    depth: u16,
}

impl Expected {
    fn after(ply: u16, value: u16, depth: u16) -> Expected {
        Expected { ply: ply.wrapping_add(1), value: value.wrapping_neg(), depth: depth.wrapping_sub(1) }
    }
}

/// The bytes of the `.ybb` file inside.
///
/// # Errors
/// Only if memory is short; the file itself is tested.
pub fn unpack() -> io::Result<Vec<u8>> {
    let builder = Columns::read(&zstd::decode_all(FILE)?).and_then(grow).ok_or(io::ErrorKind::InvalidData)?;
    let mut ybb = Vec::new();
    ybb::write(builder.finish().0, &mut ybb).map_err(io::Error::other)?;
    Ok(ybb)
}

/// A position of the tree before it is known what stands where.
struct Node {
    ply: u16,
    moves: Vec<BookMove>,
    /// Moves to new positions, and the numbers of these.
    new: Vec<(BookMove, usize)>,
}

/// The positions of the columns; none if something is missing.
fn grow(mut columns: Columns) -> Option<BookBuilder> {
    let mut starts = Vec::new();
    for start in handicap::starts() {
        if columns.pop(Column::Start)? != 0 {
            starts.push(start);
        }
    }
    let mut expected = vec![Expected::default(); starts.len()];
    let mut nodes: Vec<Node> = Vec::new();
    while let Some(&Expected { ply, mut value, mut depth }) = expected.get(nodes.len()) {
        let ply = ply.wrapping_add(columns.pop(Column::Ply)?);
        let (mut moves, mut new) = (Vec::new(), Vec::new());
        for _ in 0..columns.pop(Column::Count)? {
            let m = BookMove::new(columns.pop(Column::Move)?);
            value = value.wrapping_add(columns.pop(Column::Value)?);
            depth = depth.wrapping_add(columns.pop(Column::Depth)?);
            moves.push(m.with_value(Some((value as i16).into())).with_depth(Some(depth.into())));
            if columns.pop(Column::New)? != 0 {
                new.push((m, expected.len()));
                expected.push(Expected::after(ply, value, depth));
            }
        }
        nodes.push(Node { ply, moves, new });
    }
    let mut builder = BookBuilder::default();
    for (i, mut start) in starts.into_iter().enumerate() {
        add(&nodes, i, &mut start, &mut builder)?;
    }
    Some(builder)
}

/// Adds a position and those below it, depth first: moves are played and taken back on one board.
fn add(nodes: &[Node], i: usize, pos: &mut Position, builder: &mut BookBuilder) -> Option<()> {
    let node = &nodes[i];
    builder.push(PackedPosition::of(pos)?, node.ply, &node.moves);
    for (m, below) in &node.new {
        pos.do_move(m.on(pos)?);
        add(nodes, *below, pos, builder)?;
        pos.undo_move();
    }
    Some(())
}

/// Packs the bytes of a `.ybb` file as the file to embed.
///
/// # Errors
/// No `.ybb`; positions that its moves do not reach from the usual starts; the output cannot be written.
pub fn pack(ybb: &[u8], to: impl io::Write) -> io::Result<()> {
    let wrong = |e: BookError| io::Error::other(e.to_string());
    let (book, _) = YbbFile::of_bytes(ybb.to_vec()).and_then(|file| file.read()).map_err(wrong)?;
    let graph = Graph::of(&book);
    let mut seen = vec![false; book.len()];
    let mut columns = Columns::default();
    let mut queue = VecDeque::new();
    for start in PackedPosition::starts() {
        let found = book.find(&start).next();
        columns.push(Column::Start, found.is_some().into());
        found.into_iter().for_each(|i| {
            seen[i] = true;
            queue.push_back((i, Expected::default()));
        });
    }
    while let Some((i, Expected { ply, mut value, mut depth })) = queue.pop_front() {
        let e = book.entry(i);
        columns.push(Column::Ply, e.ply.wrapping_sub(ply));
        // the bits of a move allow fewer than 14,000
        columns.push(Column::Count, e.moves.len() as u16);
        for (k, m) in e.moves.iter().enumerate() {
            // 16 bits in a .ybb
            let (new_value, new_depth) = (m.value().unwrap_or(0) as u16, m.depth().unwrap_or(0) as u16);
            columns.push(Column::Move, m.mv);
            columns.push(Column::Value, new_value.wrapping_sub(value));
            columns.push(Column::Depth, new_depth.wrapping_sub(depth));
            (value, depth) = (new_value, new_depth);
            let target = match graph.target(book.first_move(i) + k) {
                MoveTarget::Inside(t) => Some(t as usize),
                _ => None,
            };
            let new = target.filter(|t| !std::mem::replace(&mut seen[*t], true));
            columns.push(Column::New, new.is_some().into());
            queue.extend(new.map(|t| (t, Expected::after(e.ply, value, depth))));
        }
    }
    let unreached = seen.iter().filter(|seen| !**seen).count();
    if unreached > 0 {
        return Err(io::Error::other(messages::unreached(unreached)));
    }
    let mut writer = zstd::Encoder::new(to, 19)?;
    writer.include_checksum(true)?;
    io::Write::write_all(&mut writer, &columns.bytes())?;
    writer.finish()?;
    Ok(())
}

/// The bytes of a book file, or of the one inside.
pub(super) fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    if is_meant(path) { unpack() } else { std::fs::read(path) }
}
