//! ShogiGUI's format (`.sbk`): a protobuf message with states that refer to one another.
//!
//! Only roots carry their position; the others are reached by moves. The fields and the bits of a move are
//! those of the public schema of ShogiHome (CC0).

use super::error::BookError;
use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::store::{Book, BookBuilder, Dropped, Remark};
use crate::position::{Position, STARTPOS, handicap};
use crate::types::{Color, Move, PieceType, Square};
use prost::Message;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io::Write;

#[derive(Clone, PartialEq, Message)]
struct Document {
    #[prost(string, required, tag = "1")]
    author: String,
    #[prost(string, required, tag = "2")]
    description: String,
    /// Each a [`SbkState`]. As bytes they cannot take much more memory than the file does.
    #[prost(bytes = "vec", repeated, tag = "3")]
    states: Vec<Vec<u8>>,
}

/// Bytes of a state's required fields: two each at least.
const SHORTEST_STATE: usize = 12;

#[derive(Clone, PartialEq, Message)]
struct SbkState {
    #[prost(int32, required, tag = "1")]
    id: i32,
    #[prost(uint64, required, tag = "2")]
    board_key: u64,
    #[prost(uint32, required, tag = "3")]
    hand_key: u32,
    #[prost(int32, required, tag = "4")]
    games: i32,
    #[prost(int32, required, tag = "5")]
    won_black: i32,
    #[prost(int32, required, tag = "6")]
    won_white: i32,
    #[prost(string, optional, tag = "7")]
    position: Option<String>,
    #[prost(string, optional, tag = "8")]
    comment: Option<String>,
    #[prost(message, repeated, tag = "9")]
    moves: Vec<StateMove>,
    #[prost(message, repeated, tag = "10")]
    evals: Vec<Eval>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct StateMove {
    #[prost(int32, required, tag = "1")]
    word: i32,
    #[prost(int32, required, tag = "2")]
    evaluation: i32,
    #[prost(int32, required, tag = "3")]
    weight: i32,
    #[prost(int32, required, tag = "4")]
    next: i32,
}

/// An engine's analysis, of which nothing is read.
#[derive(Clone, Copy, PartialEq, Message)]
struct Eval {}

/// The kinds by the format's numbers; 8 more is promoted. Gold comes before bishop and rook.
const KINDS: [PieceType; 16] = {
    use PieceType as P;
    [
        P::NONE,
        P::PAWN,
        P::LANCE,
        P::KNIGHT,
        P::SILVER,
        P::GOLD,
        P::BISHOP,
        P::ROOK,
        P::KING,
        P::PRO_PAWN,
        P::PRO_LANCE,
        P::PRO_KNIGHT,
        P::PRO_SILVER,
        P::NONE,
        P::HORSE,
        P::DRAGON,
    ]
};

fn number_of(kind: PieceType) -> u32 {
    KINDS.iter().position(|k| *k == kind).unwrap_or(0) as u32
}

/// Our 16 bits of a move from the format's move word.
fn read_word(word: i32) -> Option<u16> {
    let bits = |shift: u32| word as u32 >> shift & 15;
    let square = |file: u32, rank: u32| {
        ((1..=9).contains(&file) && (1..=9).contains(&rank))
            .then(|| Square::new(file as u8 - 1, rank as u8 - 1))
    };
    let to = square(bits(12), bits(8))?;
    if word as u32 & 0xff == 0 {
        let kind = KINDS[bits(24) as usize];
        return (1..=7).contains(&kind.0).then(|| Move::drop(kind.of(Color::Black), to).raw16());
    }
    let from = square(bits(4), bits(0))?;
    let promotion = (word as u32 >> 19 & 1) as u16;
    (from != to).then(|| u16::from(to.0) | u16::from(from.0) << 7 | promotion << 15)
}

fn word_of(pos: &Position, m: Move) -> i32 {
    let us = pos.side_to_move();
    let white = u32::from(us == Color::White);
    let piece = number_of(m.piece_before().kind()) | white << 4;
    let square = |sq: Square| u32::from(sq.file() + 1) << 4 | u32::from(sq.rank() + 1);
    let word = white << 31 | piece << 24 | square(m.to()) << 8;
    let word = if m.is_drop() {
        word
    } else {
        let captured = pos.piece_on(m.to());
        let captured = if captured.is_none() { 0 } else { number_of(captured.kind()) };
        word | captured << 20 | u32::from(m.is_promotion()) << 19 | square(m.from())
    };
    word as i32
}

/// What our books cannot hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Analyses by engines.
    pub evals: usize,
    /// Marks on moves (good, bad, ...).
    pub marks: usize,
    /// Weights below 0, read as 0.
    pub weights: usize,
    /// The author's name.
    pub author: usize,
    /// Counts of games and wins of positions.
    pub games: usize,
    /// States that no root leads to.
    pub unreached: usize,
}

/// Reads a file. States without moves end lines and are not reported as dropped.
///
/// # Errors
/// The bytes are no such message; a root is no position; a move is invalid.
pub fn read(bytes: &[u8]) -> Result<(Book, Dropped, Unread), BookError> {
    let document = Document::decode(bytes).map_err(|e| BookError::whole(format_args!("no .sbk: {e}")))?;
    let mut states = states(document.states)?;
    // as in other programs, a file without a root begins at the initial position
    if let Some(first) = states.first_mut() {
        first.position.get_or_insert_with(|| STARTPOS.to_string());
    }
    let mut unread = Unread { author: usize::from(!document.author.is_empty()), ..Unread::default() };
    let mut builder = BookBuilder::default();
    builder.comment(&document.description);
    // after all valid plies
    const UNNUMBERED: u32 = u32::MAX / 2;
    let mut seen = vec![false; states.len()];
    let mut roots = Vec::new();
    for (id, state) in states.iter().enumerate() {
        let Some(sfen) = state.position.as_deref() else { continue };
        let pos = Position::from_sfen(sfen).map_err(|e| wrong(id, e))?;
        // other programs write 1 for every root; it is correct for starting positions only
        let numbered = pos.game_ply() > 1 || handicap::starts().any(|start| start.sfen() == pos.sfen());
        let order = if numbered { pos.game_ply() } else { UNNUMBERED };
        roots.push(Reverse((order, id, pos.sfen())));
    }
    // a position gets the lowest number of the paths from numbered roots; the others are numbered after all
    // of these
    let mut queue = BinaryHeap::from(roots);
    while let Some(Reverse((order, id, sfen))) = queue.pop() {
        if std::mem::replace(&mut seen[id], true) {
            continue;
        }
        let numbered = order < UNNUMBERED;
        let mut pos = Position::from_sfen(&sfen).map_err(|e| wrong(id, e))?;
        let ply = if numbered { pos.game_ply().min(u32::from(u16::MAX)) as u16 } else { 0 };
        take(&mut builder, &mut unread, &pos, ply, id, &states[id])?;
        for m in &states[id].moves {
            let child = usize::try_from(m.next).ok().filter(|c| seen.get(*c) == Some(&false));
            let m = read_word(m.word).and_then(|raw| pos.legal_move(raw));
            if let (Some(child), Some(m)) = (child, m) {
                pos.do_move(m);
                queue.push(Reverse((order.saturating_add(1), child, pos.sfen())));
                pos.undo_move();
            }
        }
    }
    unread.unreached = seen.iter().filter(|s| !**s).count();
    let (book, dropped) = builder.finish();
    Ok((book, Dropped { empty: 0, ..dropped }, unread))
}

fn states(states: Vec<Vec<u8>>) -> Result<Vec<SbkState>, BookError> {
    let decode = |(id, bytes): (usize, Vec<u8>)| {
        if bytes.len() < SHORTEST_STATE {
            return Err(wrong(id, "required fields are missing"));
        }
        SbkState::decode(&bytes[..]).map_err(|e| wrong(id, e))
    };
    states.into_iter().enumerate().map(decode).collect()
}

fn wrong(id: usize, what: impl std::fmt::Display) -> BookError {
    BookError::whole(format_args!("state {id}: {what}"))
}

fn take(
    b: &mut BookBuilder,
    unread: &mut Unread,
    pos: &Position,
    ply: u16,
    id: usize,
    s: &SbkState,
) -> Result<(), BookError> {
    let mut moves = Vec::with_capacity(s.moves.len());
    for m in &s.moves {
        let raw = read_word(m.word).ok_or_else(|| wrong(id, format_args!("{:#x} is no move", m.word)))?;
        moves.push(BookMove::new(raw).with_count((m.weight != 0).then_some(m.weight.max(0) as u64)));
    }
    unread.evals += s.evals.len();
    unread.weights += s.moves.iter().filter(|m| m.weight < 0).count();
    unread.marks += s.moves.iter().filter(|m| m.evaluation != 0).count();
    unread.games += usize::from((s.games, s.won_black, s.won_white) != (0, 0, 0));
    // problems without a king have no packed position
    if let Some(packed) = PackedPosition::of(pos) {
        b.push(packed, ply, &moves);
        b.remark(Remark { packed, ply, mv: 0, text: s.comment.clone().unwrap_or_default() });
    }
    Ok(())
}

/// Writes a book: roots first, each with its position; then the states that they lead to; then the leaves
/// without moves, which readers expect. Returns the numbers of positions and moves, without leaves.
///
/// # Errors
/// The output cannot be written; a position is against the rules.
pub fn write(book: Book, out: &mut impl Write) -> Result<(usize, usize), BookError> {
    let (book, _) = book.without_other_plies();
    let mut children: Vec<Vec<(i32, BookMove, PackedPosition)>> = Vec::with_capacity(book.len());
    let mut reached: HashSet<PackedPosition> = HashSet::new();
    for e in book.entries() {
        let mut pos = e.position()?;
        let mut moves = e.moves.to_vec();
        moves.sort_by_key(BookMove::rank);
        let mut own = Vec::new();
        for m in moves {
            let Some(legal) = m.on(&pos) else { continue };
            let word = word_of(&pos, legal);
            pos.do_move(legal);
            if let Some(packed) = PackedPosition::of(&pos) {
                own.push((word, m, packed));
                reached.insert(packed);
            }
            pos.undo_move();
        }
        children.push(own);
    }
    // a cycle that nothing else leads to needs a root, too: its first position
    let mut is_root: Vec<bool> = book.entries().map(|e| !reached.contains(&e.packed)).collect();
    mark_circles(&book, &children, &mut is_root);
    let mut order: Vec<usize> = (0..book.len()).collect();
    order.sort_by_key(|i| !is_root[*i]);
    let mut ids: HashMap<PackedPosition, i32> = HashMap::new();
    for i in &order {
        ids.insert(book.entry(*i).packed, ids.len() as i32);
    }
    let mut leaves = 0;
    for (_, _, packed) in order.iter().flat_map(|i| &children[*i]) {
        let id = ids.len() as i32;
        ids.entry(*packed).or_insert_with(|| {
            leaves += 1;
            id
        });
    }
    // author and description are required by the schema, but may be empty
    let head = Document { description: book.comment().to_string(), ..Document::default() };
    out.write_all(&head.encode_to_vec())?;
    let mut write_state = |state: SbkState| -> Result<(), BookError> {
        let mut bytes = vec![3 << 3 | 2];
        state.encode_length_delimited(&mut bytes).map_err(BookError::whole)?;
        out.write_all(&bytes)?;
        Ok(())
    };
    for i in &order {
        let e = book.entry(*i);
        let comment = book.remark(&e, 0);
        let moves = children[*i].iter().map(|(word, m, packed)| StateMove {
            word: *word,
            evaluation: 0,
            weight: m.count().unwrap_or(0).min(i32::MAX as u32) as i32,
            next: ids[packed],
        });
        write_state(SbkState {
            id: ids[&e.packed],
            // the format has no move numbers: ShogiGUI writes 1, and ShogiHome expects it
            position: is_root[*i].then(|| e.packed.position(1)).flatten().map(|pos| pos.sfen()),
            comment: (!comment.is_empty()).then(|| comment.to_string()),
            moves: moves.collect(),
            ..SbkState::default()
        })?;
    }
    let first_leaf = book.len() as i32;
    (first_leaf..first_leaf + leaves)
        .try_for_each(|id| write_state(SbkState { id, ..SbkState::default() }))?;
    let with_moves = children.iter().filter(|moves| !moves.is_empty()).count();
    Ok((with_moves, children.iter().map(Vec::len).sum()))
}

/// Makes roots until every position is reached from one.
fn mark_circles(book: &Book, children: &[Vec<(i32, BookMove, PackedPosition)>], is_root: &mut [bool]) {
    let mut seen = vec![false; book.len()];
    let mut walk = |start: usize| {
        let mut stack = vec![start];
        let new = !seen[start];
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                stack.extend(children[i].iter().flat_map(|(_, _, packed)| book.find(packed)));
            }
        }
        new
    };
    for (i, _) in is_root.iter().enumerate().filter(|(_, root)| **root) {
        walk(i);
    }
    for (i, root) in is_root.iter_mut().enumerate() {
        *root |= walk(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_written_with_move_number_1() {
        let text =
            "sfen lnsgkgsnl/1r5b1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1B5R1/LNSGKGSNL b - 5\n2f2e 8d8e\n";
        let mut bytes = Vec::new();
        write(super::super::db::read(text.as_bytes()).unwrap().0, &mut bytes).unwrap();
        let document = Document::decode(&bytes[..]).unwrap();
        assert_eq!(
            states(document.states).unwrap()[0].position.as_deref(),
            Some("lnsgkgsnl/1r5b1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1B5R1/LNSGKGSNL b - 1")
        );
    }

    /// A line in which a later state is a root, too: as other programs number it, and one move before the
    /// third.
    #[test]
    fn plies_count_from_numbered_roots() {
        let text = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n7g7f\n\
                    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2\n3c3d\n\
                    sfen lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3\n2g2f\n";
        let mut bytes = Vec::new();
        write(super::super::db::read(text.as_bytes()).unwrap().0, &mut bytes).unwrap();
        let whole = states(Document::decode(&bytes[..]).unwrap().states).unwrap();
        for (root, sfen) in [
            (1, "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 1"),
            (2, "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 9"),
        ] {
            let mut changed = whole.clone();
            let id = (1..changed.len())
                .find(|&id| {
                    let reached = |s: &SbkState| s.moves.iter().any(|m| m.next == id as i32);
                    changed.iter().position(reached) == Some(if root == 1 { 0 } else { 1 })
                })
                .unwrap();
            changed[id].position = Some(sfen.into());
            let states = changed.iter().map(Message::encode_to_vec).collect();
            let (book, ..) = read(&Document { states, ..Document::default() }.encode_to_vec()).unwrap();
            let mut plies: Vec<u16> = book.entries().map(|e| e.ply).collect();
            plies.sort_unstable();
            assert_eq!(plies, [1, 2, 3], "{sfen}");
        }
    }

    /// Two bytes for a state would become 150 in memory.
    #[test]
    fn states_without_their_fields_are_refused() {
        let error = read(&[0x1a, 0].repeat(1000)).err().unwrap().to_string();
        assert!(error.contains("state 0: required fields are missing"), "{error}");
    }

    #[test]
    fn move_words_round_trip() {
        let mut pos = Position::startpos();
        for text in ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"] {
            let m = pos.parse_move(text).unwrap();
            assert_eq!(read_word(word_of(&pos, m)), Some(m.raw16()), "{text}");
            pos.do_move(m);
        }
        assert_eq!(read_word(0), None);
        assert_eq!(read_word(-1), None);
    }
}
