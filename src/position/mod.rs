//! The rules of shogi: [`Position`] with its moves, legality, repetition, declaration, exchanges and one-ply
//! mates.
//!
//! - [`Position`]: the board, the hands, and a stack of states, one for every ply since the root SFEN.
//! - [`Bitboard`], [`attacks`]: sets of squares and where pieces reach.
//! - [`DirtyPieces`], [`Slot`]: what a move changed, for incremental evaluations.
//! - [`Repetition`], [`GameRepetition`], [`EnteringKingRule`]: the rules beyond the single move.
//! - [`SfenError`], [`MoveError`]: errors of text input.
//!
//! ```
//! use toratsugumi::position::{Position, perft};
//!
//! let mut position = Position::startpos();
//! assert_eq!(perft(&mut position, 2), 900);
//! let m = position.parse_move("7g7f")?;
//! position.do_move(m);
//! assert_eq!(position.sfen(), "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2");
//! assert!(position.parse_move("7g7f").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod attacks;
mod bitboard;
mod checks;
mod convert;
mod declaration;
mod dirty_pieces;
mod do_move;
mod exchange_map;
pub mod handicap;
mod keys;
mod legality;
mod mate1;
pub mod material;
mod mates;
mod move_text;
mod movegen;
mod occurrences;
mod perft;
mod repetition;
mod see;
mod sfen;
mod steppers;
mod wide;
mod zobrist;

pub use bitboard::{Bitboard, Squares};
pub use declaration::{EnteringKingRule, UnknownRule};
pub use dirty_pieces::{DirtyPieces, Slot};
pub use exchange_map::ExchangeMap;
pub use legality::Illegal;
pub use move_text::MoveError;
pub use perft::{MAX_PERFT_DEPTH, PerftError, divide, perft};
pub use repetition::{GameRepetition, Repetition};
pub use sfen::{LETTERS, SET, STARTPOS, SfenError, SfenParts, beginning};

use crate::types::{Color, Hand, Key, Move, Piece, PieceType, Square};
use keys::{Keys, MINORS, PAWNS};
use occurrences::{EarlierOccurrences, Occurrences};
use steppers::Steppers;
use wide::Wide;

/// A position and the moves that led to it.
///
/// Cloning keeps the history, so repetitions are found across the root of a search.
#[derive(Clone)]
pub struct Position {
    board: [Piece; Square::NUM],
    /// By kind, both colours; [`ALL`] holds every piece and [`GOLDS`] all that move like gold. Longer than
    /// needed, so that masked indices need no bounds check.
    kinds: [Bitboard; 32],
    colors: [Bitboard; 2],
    hands: [Hand; 2],
    kings: [Square; 2],
    side: Color,
    ply: u32,
    /// One a ply, the root's first; never empty.
    states: Vec<State>,
    occurrences: Occurrences,
}

const ALL: usize = 0;
const GOLDS: usize = 15;
/// Where kinds without a second set are counted a second time, without a branch; never read.
const UNUSED: usize = 16;

/// Indices of [`State::check_lines`].
const NO_LINE: usize = 0;
const LANCE_LINE: usize = 1;
const BISHOP_LINE: usize = 2;
const ROOK_LINE: usize = 3;

/// What undoing a move needs besides the move, and what is computed once a position.
#[derive(Clone, Copy)]
struct State {
    keys: Keys,
    /// Pieces that give check to the side to move.
    checkers: Bitboard,
    /// By colour: the pieces (of either colour) that alone shield that colour's king from a slider.
    blockers: [Bitboard; 2],
    /// By colour: that colour's sliders which pin a piece of the other.
    pinners: [Bitboard; 2],
    /// The squares from which sliders would check the king of the side not to move, by [`NO_LINE`] to
    /// [`ROOK_LINE`].
    check_lines: [Bitboard; 4],
    /// The last move and what it captured.
    mv: Move,
    captured: Piece,
    plies_from_null: u32,
    /// By colour: over how many plies up to here all of that colour's moves gave check.
    continuous_check: [u32; 2],
    repetition: EarlierOccurrences,
}

impl Position {
    #[inline]
    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// Whose turn it is.
    #[inline]
    pub fn side_to_move(&self) -> Color {
        self.side
    }

    /// The piece on a square of the board.
    #[inline]
    pub fn piece_on(&self, sq: Square) -> Piece {
        self.board[sq.index()]
    }

    /// The pieces by [`Square::index`].
    #[inline]
    pub fn board(&self) -> &[Piece; Square::NUM] {
        &self.board
    }

    /// A player's pieces in hand.
    #[inline]
    pub fn hand(&self, color: Color) -> Hand {
        self.hands[color.index()]
    }

    /// Number of pieces in both players' hands.
    #[inline]
    pub fn pieces_in_hand(&self) -> usize {
        let of = |owner: Color| PieceType::HAND.into_iter().map(move |kind| self.hand(owner).count(kind));
        Color::ALL.into_iter().flat_map(of).sum::<u32>() as usize
    }

    /// The king's square, [`Square::NONE`] when that king is missing (mate problems).
    #[inline]
    pub fn king_square(&self, color: Color) -> Square {
        self.kings[color.index()]
    }

    /// The move number as in the last field of SFEN, one more with every move.
    #[inline]
    pub fn game_ply(&self) -> u32 {
        self.ply
    }

    /// All pieces on the board.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.kinds[ALL]
    }

    /// All pieces of a colour.
    #[inline]
    pub fn pieces(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// The pieces of one kind and colour.
    #[inline]
    pub fn pieces_of(&self, color: Color, kind: PieceType) -> Bitboard {
        self.kinds[kind.index()] & self.colors[color.index()]
    }

    /// Gold, and the promoted pieces that move like it.
    #[inline]
    fn golds(&self) -> Bitboard {
        self.kinds[GOLDS]
    }

    #[inline]
    fn of_kind(&self, kind: PieceType) -> Bitboard {
        self.kinds[kind.index()]
    }

    /// The pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.state().checkers
    }

    /// Whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.state().checkers.any()
    }

    /// Pieces of either colour that alone stand between the king of `color` and an enemy slider.
    #[inline]
    pub fn blockers(&self, color: Color) -> Bitboard {
        self.state().blockers[color.index()]
    }

    /// Sliders of `color` that pin a piece of the other colour to its king.
    #[inline]
    pub fn pinners(&self, color: Color) -> Bitboard {
        self.state().pinners[color.index()]
    }

    /// The squares from which that kind of the side to move would check the opponent's king.
    #[inline]
    pub fn check_squares(&self, kind: PieceType) -> Bitboard {
        /// Which of the lines a kind slides along.
        const LINE: [u8; PieceType::NUM] = {
            let mut t = [NO_LINE as u8; PieceType::NUM];
            t[PieceType::LANCE.index()] = LANCE_LINE as u8;
            t[PieceType::BISHOP.index()] = BISHOP_LINE as u8;
            t[PieceType::HORSE.index()] = BISHOP_LINE as u8;
            t[PieceType::ROOK.index()] = ROOK_LINE as u8;
            t[PieceType::DRAGON.index()] = ROOK_LINE as u8;
            t
        };
        let them = !self.side;
        let king = self.kings[them.index()];
        // a king gives no check itself
        let stepper = if kind == PieceType::KING { Piece::NONE } else { kind.of(them) };
        let line = LINE[kind.index() & 15] as usize & 3;
        attacks::steps(stepper, king) | self.state().check_lines[line]
    }

    /// The key of board, side to move and hands.
    #[inline]
    pub fn key(&self) -> Key {
        self.state().keys.board ^ self.state().keys.hand
    }

    /// The key of the board and the side to move.
    #[inline]
    pub fn board_key(&self) -> Key {
        self.state().keys.board
    }

    /// The key of both hands.
    #[inline]
    pub fn hand_key(&self) -> Key {
        self.state().keys.hand
    }

    /// The key of the pawns on the board.
    #[inline]
    pub fn pawn_key(&self) -> Key {
        self.state().keys.by_group[PAWNS]
    }

    /// The key of lances, knights, silvers, golds and all that move like gold on the board.
    #[inline]
    pub fn minor_key(&self) -> Key {
        self.state().keys.by_group[MINORS]
    }

    /// The key of all pieces of a colour on the board but its pawns.
    #[inline]
    pub fn non_pawn_key(&self, color: Color) -> Key {
        self.state().keys.by_group[1 + color.index()]
    }

    /// The key of all pieces of a colour, on the board and in hand.
    #[inline]
    pub fn color_key(&self, color: Color) -> Key {
        self.state().keys.by_color[color.index()]
    }

    /// The last move, [`Move::NULL`] after a null move, [`Move::NONE`] at the root.
    #[inline]
    pub fn last_move(&self) -> Move {
        self.state().mv
    }

    /// What the last move captured.
    #[inline]
    pub fn captured(&self) -> Piece {
        self.state().captured
    }

    /// Plies since the last null move or the root SFEN.
    #[inline]
    pub fn plies_from_null(&self) -> usize {
        self.state().plies_from_null as usize
    }

    /// Plies played since the root SFEN.
    #[inline]
    pub fn history_len(&self) -> usize {
        self.states.len() - 1
    }

    /// The pieces of `by` that attack `sq` under an occupancy (sliders see through squares cleared in it).
    #[inline]
    pub fn attackers(&self, by: Color, sq: Square, occupied: Bitboard) -> Bitboard {
        self.attackers_of_both(sq, occupied, by) & self.colors[by.index()]
    }

    /// Attackers by the pieces of `by`, possibly with pieces of the other colour among them.
    #[inline]
    fn attackers_of_both(&self, sq: Square, occupied: Bitboard, by: Color) -> Bitboard {
        let file = attacks::rook_file(sq, occupied).into();
        (self.forward_attackers(by, sq, file) | self.even_attackers(sq, occupied, file)).into()
    }

    /// The pieces, of either colour, that attack `sq` if they move the way of `by`, among those to which
    /// forward is not backward; `file` is what a rook on `sq` reaches on its file.
    #[inline(always)]
    fn forward_attackers(&self, by: Color, sq: Square, file: Wide) -> Wide {
        use PieceType as P;
        let of = |kind: P| Wide::from(self.of_kind(kind));
        // `by` attacks where a piece of the other colour on `sq` would
        let reverse = |kind: P| attacks::steps(kind.of(!by), sq);
        (of(P::PAWN) & reverse(P::PAWN))
            | (of(P::KNIGHT) & reverse(P::KNIGHT))
            | (of(P::SILVER) & reverse(P::SILVER))
            | (Wide::from(self.golds()) & reverse(P::GOLD))
            | (of(P::LANCE) & file & attacks::forward(!by, sq))
    }

    /// The other pieces of both colours that attack `sq`: kings, bishops, rooks, horses and dragons.
    #[inline(always)]
    fn even_attackers(&self, sq: Square, occupied: Bitboard, file: Wide) -> Wide {
        use PieceType as P;
        let of = |kind: P| Wide::from(self.of_kind(kind));
        let (horses, dragons) = (of(P::HORSE), of(P::DRAGON));
        ((of(P::KING) | dragons | horses) & attacks::king(sq))
            | ((of(P::BISHOP) | horses) & attacks::bishop(sq, occupied))
            | ((of(P::ROOK) | dragons) & (file | attacks::rook_rank(sq, occupied)))
    }

    /// Whether any piece of `by` attacks `sq`.
    #[inline]
    fn is_attacked(&self, by: Color, sq: Square, occupied: Bitboard) -> bool {
        self.attackers(by, sq, occupied).any()
    }

    /// All squares that `color` attacks, its own pieces' squares included where they are guarded.
    #[inline]
    pub(crate) fn attack_map(&self, color: Color, occupied: Bitboard) -> Bitboard {
        self.step_map(color) | self.slide_map(color, occupied)
    }

    /// The squares attacked by steps: all short-range pieces and the king-like part of horse and dragon.
    #[inline(always)]
    fn step_map(&self, color: Color) -> Bitboard {
        use PieceType as P;
        let own = self.colors[color.index()];
        let steppers = Steppers {
            pawns: self.of_kind(P::PAWN) & own,
            knights: self.of_kind(P::KNIGHT) & own,
            silvers: self.of_kind(P::SILVER) & own,
            golds: self.golds() & own,
            kings: (self.of_kind(P::KING) | self.of_kind(P::HORSE) | self.of_kind(P::DRAGON)) & own,
        };
        steppers.reach(color)
    }

    /// The squares attacked by slides.
    #[inline(always)]
    fn slide_map(&self, color: Color, occupied: Bitboard) -> Bitboard {
        use PieceType as P;
        let own = self.colors[color.index()];
        let mut map = Bitboard::EMPTY;
        let bishops = (self.of_kind(P::BISHOP) | self.of_kind(P::HORSE)) & own;
        bishops.into_iter().for_each(|sq| map |= attacks::bishop(sq, occupied));
        let rooks = (self.of_kind(P::ROOK) | self.of_kind(P::DRAGON)) & own;
        rooks.into_iter().for_each(|sq| map |= attacks::rook(sq, occupied));
        let lances = self.of_kind(P::LANCE) & own;
        lances.into_iter().for_each(|sq| map |= attacks::lance(color, sq, occupied));
        map
    }

    /// The blockers of `color`'s king and the sliders that pin among them.
    #[inline]
    fn find_blockers(&self, color: Color) -> (Bitboard, Bitboard) {
        use PieceType as P;
        let king = self.kings[color.index()];
        let them = self.colors[(!color).index()];
        let of = |kind: P| Wide::from(self.of_kind(kind));
        let aligned = ((of(P::ROOK) | of(P::DRAGON)) & attacks::cross(king))
            | ((of(P::BISHOP) | of(P::HORSE)) & attacks::diagonals(king))
            | (of(P::LANCE) & attacks::forward(color, king));
        let mut snipers = Bitboard::from(aligned & them);
        let (mut blockers, mut pinners) = (Bitboard::EMPTY, Bitboard::EMPTY);
        while snipers.any() {
            let sniper = snipers.pop();
            let shield = attacks::between(king, sniper) & self.occupied();
            if shield.any() && !shield.more_than_one() {
                blockers |= shield;
                if (shield & self.colors[color.index()]).any() {
                    pinners |= Bitboard::of(sniper);
                }
            }
        }
        (blockers, pinners)
    }

    /// The squares from which sliders check the king of the side not to move.
    #[inline]
    fn find_check_lines(&self) -> [Bitboard; 4] {
        let them = !self.side;
        let king = self.kings[them.index()];
        let file = Wide::from(attacks::rook_file(king, self.occupied()));
        [
            Bitboard::EMPTY,
            (file & attacks::forward(them, king)).into(),
            attacks::bishop(king, self.occupied()),
            (file | attacks::rook_rank(king, self.occupied())).into(),
        ]
    }

    #[inline]
    fn put(&mut self, piece: Piece, sq: Square) {
        self.board[sq.index()] = piece;
        self.toggle(piece, Bitboard::of(sq));
    }

    /// Adds a piece to the sets or removes it from them.
    #[inline]
    fn toggle(&mut self, piece: Piece, b: Bitboard) {
        /// Where a kind is counted a second time; without a branch.
        const CLASS: [u8; PieceType::NUM] = {
            let mut t = [UNUSED as u8; PieceType::NUM];
            let mut kind = 0;
            while kind < PieceType::NUM {
                if PieceType(kind as u8).moves_like_gold() {
                    t[kind] = GOLDS as u8;
                }
                kind += 1;
            }
            t
        };
        let kind = piece.kind().index();
        self.kinds[ALL] ^= b;
        self.kinds[kind] ^= b;
        self.kinds[CLASS[kind] as usize & 31] ^= b;
        self.colors[piece.color().index()] ^= b;
    }
}
