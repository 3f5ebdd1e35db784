//! The words of a game's analysis, in Japanese and English.

use super::book_moves::BookReport;
use super::judge::{Class, Judgement};
use super::reading::PvLine;
use crate::engine::Diagram;
use crate::position::Position;
use crate::record::kakinoki::relative_of;
use crate::record::notation;
use crate::support::console;
use crate::support::lang::Lang;
use crate::types::{Color, Move, PieceType, Square, VALUE_SUPERIOR};

impl Lang {
    /// Words for the score of a line that ends in a repetition other than a draw; `side` is to move.
    pub(super) fn repetition(self, line: &PvLine, side: Color) -> Option<String> {
        let better = match line.value {
            VALUE_SUPERIOR => side,
            v if v == -VALUE_SUPERIOR => !side,
            _ => return None,
        };
        let name = self.side(better);
        // a game that is over was decided by perpetual check
        Some(if line.pv.is_empty() {
            self.pick(format!("連続王手の千日手（{name}の勝ち）"), format!("perpetual check ({name} wins)"))
        } else {
            self.pick(format!("{name}の優等局面"), format!("superior repetition for {name}"))
        })
    }

    /// What a class of moves is called.
    pub fn class(self, class: Class) -> &'static str {
        match class {
            Class::Best => self.pick("最善手", "best"),
            Class::Good => self.pick("良手", "good"),
            Class::Inaccuracy => self.pick("緩手", "inaccuracy"),
            Class::Mistake => self.pick("疑問手", "mistake"),
            Class::Blunder => self.pick("悪手", "blunder"),
        }
    }

    /// The class of a move, with a question mark where a bad move may be a good one.
    pub fn verdict(self, judgement: &Judgement) -> String {
        let doubt = if judgement.is_doubtful() { self.pick("？", "?") } else { "" };
        format!("{}{doubt}", self.class(judgement.class))
    }

    /// What a side is called.
    pub fn side(self, color: Color) -> &'static str {
        match color {
            Color::Black => self.pick("先手", "Black"),
            Color::White => self.pick("後手", "White"),
        }
    }

    /// A time on the clock; short ones with their tenths.
    pub fn clock(self, seconds: f64) -> String {
        if seconds < 10.0 && seconds.fract() > 0.0 {
            self.pick(format!("{seconds:.1}秒"), format!("{seconds:.1} s"))
        } else {
            console::clock(seconds)
        }
    }

    /// The book's moves, where another one was played.
    pub fn book_instead(self, book: &BookReport) -> String {
        let moves = book.moves[..book.moves.len().min(3)].join(" ");
        self.pick(format!("定跡は{moves}"), format!("book: {moves}"))
    }

    /// The board as people draw it: in kanji, or in the letters of SFEN.
    pub fn board(self, position: &Position) -> String {
        match self {
            Lang::Ja => Diagram(position).to_string(),
            Lang::En => letters(position),
        }
    }

    /// A move in this language's notation; `last` is the target of the move before.
    pub fn spell(self, position: &Position, last: Option<Square>, m: Move) -> String {
        match self {
            Lang::Ja => notation::spell(position, last, m, "同"),
            Lang::En => western(position, m),
        }
    }

    /// The moves of a line that begins in `position`.
    pub fn spell_line(self, position: &Position, last: Option<Square>, moves: &[Move]) -> Vec<String> {
        let (mut position, mut last) = (position.clone(), last);
        moves
            .iter()
            .map(|&m| {
                let text = self.spell(&position, last, m);
                position.do_move(m);
                last = Some(m.to());
                text
            })
            .collect()
    }
}

/// The board in the letters of SFEN, capitals for Black.
fn letters(position: &Position) -> String {
    let hand = |color: Color| {
        let hand = position.hand(color);
        let held: Vec<String> = PieceType::HAND
            .iter()
            .filter(|kind| hand.has(**kind))
            .map(|kind| {
                format!("{}{}", ["", "P", "L", "N", "S", "B", "R", "G"][kind.index()], hand.count(*kind))
            })
            .collect();
        if held.is_empty() { "none".into() } else { held.join(" ") }
    };
    let sfen = position.sfen();
    let mut board = String::new();
    for (rank, row) in sfen.split(' ').next().unwrap_or_default().split('/').enumerate() {
        let mut promoted = false;
        for c in row.chars() {
            match c {
                '+' => promoted = true,
                '1'..='9' => board += &"  .".repeat(c as usize - '0' as usize),
                _ => {
                    board += &format!(" {}{c}", if promoted { '+' } else { ' ' });
                    promoted = false;
                }
            }
        }
        board += &format!("   {}\n", rank + 1);
    }
    format!(
        "White in hand: {}\n  9  8  7  6  5  4  3  2  1\n{board}Black in hand: {}\n{} to move, move {}{}",
        hand(Color::White),
        hand(Color::Black),
        Lang::En.side(position.side_to_move()),
        position.game_ply(),
        if position.in_check() { ", in check" } else { "" },
    )
}

/// Western notation with squares in digits: P-76, Bx22+, G68-58 where another gold could go there, N*45.
fn western(position: &Position, m: Move) -> String {
    const KINDS: [&str; 15] =
        ["", "P", "L", "N", "S", "B", "R", "G", "K", "+P", "+L", "+N", "+S", "+B", "+R"];
    let digits = |sq: Square| format!("{}{}", sq.file() + 1, sq.rank() + 1);
    let kind = m.piece_before().kind();
    let name = KINDS.get(kind.index()).copied().unwrap_or_default();
    if m.is_drop() {
        return format!("{name}*{}", digits(m.to()));
    }
    let relative = relative_of(position, m);
    let origin = if relative == Default::default() { String::new() } else { digits(m.from()) };
    let how = if position.piece_on(m.to()).is_some() { "x" } else { "-" };
    let in_zone = |sq: Square| match position.side_to_move() {
        Color::Black => sq.rank() < 3,
        Color::White => sq.rank() > 5,
    };
    let promotion = match m.is_promotion() {
        true => "+",
        false if kind.can_promote() && (in_zone(m.from()) || in_zone(m.to())) => "=",
        false => "",
    };
    format!("{name}{origin}{how}{}{promotion}", digits(m.to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_have_tenths() {
        let times = [0.25, 3.0, 9.96, 75.5, 3601.0].map(|seconds| Lang::En.clock(seconds));
        assert_eq!(times, ["0.2 s", "0:03", "10.0 s", "1:15", "1:00:01"]);
        assert_eq!(Lang::Ja.clock(0.3), "0.3秒");
    }

    #[test]
    fn lines_in_both_languages() {
        let start = Position::startpos();
        let mut position = start.clone();
        let moves: Vec<Move> = "7g7f 3c3d 8h2b+ 3a2b B*4e"
            .split(' ')
            .map(|text| {
                let m = position.parse_move(text).unwrap();
                position.do_move(m);
                m
            })
            .collect();
        let line = |lang: Lang| lang.spell_line(&start, None, &moves).join(" ");
        assert_eq!(line(Lang::Ja), "▲７六歩 △３四歩 ▲２二角成 △同銀 ▲４五角");
        assert_eq!(line(Lang::En), "P-76 P-34 Bx22+ Sx22 B*45");
        let golds = Position::from_sfen("4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1").unwrap();
        assert_eq!(Lang::En.spell(&golds, None, golds.parse_move("6h5h").unwrap()), "G68-58");
    }
}
