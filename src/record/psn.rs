//! PSN, the Portable Shogi Notation, as gshogi saves games: headings in brackets, then moves in western notation, `P7g-7f`,
//! `B8hx2b+`, `P*5e`, and comments in braces.

use super::builder::Builder;
use super::error::{RecordError, excerpt};
use super::game::Record;
use super::text::one_line;
use crate::position::{LETTERS, Position, handicap};
use crate::support::messages;
use crate::types::{Color, Move, PieceType, Square};

/// PSN's heading, the name that records keep it by.
const HEADINGS: [(&str, &str); 3] = [("Event", "EVENT"), ("Site", "SITE"), ("Date", "START_TIME")];

/// The values of the heading `Handicap`, and the Japanese names.
const HANDICAPS: [(&str, &str); 9] = [
    ("lance", "香落ち"),
    ("bishop", "角落ち"),
    ("rook", "飛車落ち"),
    ("rook+lance", "飛香落ち"),
    ("rook+bishop", "二枚落ち"),
    ("four piece", "四枚落ち"),
    ("six piece", "六枚落ち"),
    ("eight piece", "八枚落ち"),
    ("ten piece", "十枚落ち"),
];

/// Reads the games of a file. Every move must be legal; one that names no origin must be the only one of its kind.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read(text: &str) -> Result<Vec<Record>, RecordError> {
    let mut games = Vec::new();
    let mut reader = Reader::default();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let before = &text[..text.len() - rest.len()];
        let fail = |what: String| RecordError::new(1 + before.matches('\n').count(), what);
        if rest.is_empty() {
            break;
        } else if let Some(inside) = rest.strip_prefix('[') {
            if reader.game.is_some() {
                games.extend(std::mem::take(&mut reader).finish());
            }
            let this = inside.split('\n').next().unwrap_or(inside);
            let end = this.rfind(']').ok_or_else(|| fail(messages::open_heading()))?;
            reader.heading(&inside[..end]).map_err(fail)?;
            rest = &inside[end + 1..];
        } else if let Some(inside) = rest.strip_prefix('{') {
            let end = inside.find('}').ok_or_else(|| fail(messages::open_comment()))?;
            for line in inside[..end].split('\n') {
                reader.game().comment(line.trim_end_matches('\r').into());
            }
            rest = &inside[end + 1..];
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(rest.len());
            reader.word(&rest[..end]).map_err(fail)?;
            rest = &rest[end..];
        }
    }
    games.extend(reader.finish());
    if games.is_empty() { Err(RecordError::new(1, messages::no_game_in_it())) } else { Ok(games) }
}

/// A game under way.
#[derive(Default)]
struct Reader {
    names: [Option<String>; 2],
    headers: Vec<(String, String)>,
    root: Option<Position>,
    /// Whether there was a heading, which makes a game even without moves.
    headed: bool,
    game: Option<Builder>,
}

impl Reader {
    /// `Sente "a name"`, or as gshogi writes it, `Sente: a name"`.
    fn heading(&mut self, text: &str) -> Result<(), String> {
        self.headed = true;
        let (name, value) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let (name, value) = (name.trim_end_matches(':'), value.trim_start());
        let value = value.strip_prefix('"').unwrap_or(value);
        let value = value.trim_end().strip_suffix('"').unwrap_or(value.trim_end());
        match name {
            _ if name.is_empty() || value.is_empty() => {}
            "Sente" | "Black" => return self.name(Color::Black, value),
            "Gote" | "White" => return self.name(Color::White, value),
            "SFEN" => self.root = Some(Position::from_sfen(value).map_err(|e| e.to_string())?),
            "Handicap" if self.root.is_none() => {
                let known = HANDICAPS.iter().find(|(psn, _)| psn.eq_ignore_ascii_case(value));
                let start = known.and_then(|(_, japanese)| handicap::position(japanese));
                match start {
                    Some(Ok(start)) => self.root = Some(start),
                    _ if value.eq_ignore_ascii_case("none") => {}
                    _ => return Err(messages::no_such_handicap(excerpt(value))),
                }
            }
            _ => {
                let name = HEADINGS.iter().find(|(psn, _)| *psn == name).map_or(name, |(_, kept)| kept);
                self.headers.push((name.into(), value.into()));
            }
        }
        Ok(())
    }

    fn name(&mut self, color: Color, value: &str) -> Result<(), String> {
        match self.names[color.index()].replace(value.into()) {
            None => Ok(()),
            Some(_) => Err(messages::named_already(excerpt(value))),
        }
    }

    fn game(&mut self) -> &mut Builder {
        self.game.get_or_insert_with(|| {
            let root = self.root.take().unwrap_or_else(Position::startpos);
            let names = std::mem::take(&mut self.names).map(Option::unwrap_or_default);
            let headers = std::mem::take(&mut self.headers);
            Builder::new(Record { names, headers, ..Record::new(root) })
        })
    }

    /// A move, perhaps with its number before it, or a number alone, or a result, which is passed over.
    fn word(&mut self, word: &str) -> Result<(), String> {
        if matches!(word, "1-0" | "0-1" | "1/2-1/2" | "*") {
            return Ok(());
        }
        let numbered = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let mv = numbered.trim_start_matches('.');
        let number = &word[..word.len() - numbered.len()];
        if !number.is_empty() {
            if !mv.is_empty() && mv.len() == numbered.len() {
                return Err(messages::not_a_move(excerpt(word), "PSN"));
            }
            self.number(number)?;
        }
        if mv.is_empty() {
            return Ok(());
        }
        let game = self.game();
        let mv = read_move(game.position(), mv)?;
        game.play(mv);
        Ok(())
    }

    /// The number of the next move, by the starting position's own number or, as gshogi has it, from 1.
    fn number(&mut self, number: &str) -> Result<(), String> {
        let (next, first) = match (&self.game, &self.root) {
            (Some(game), _) => (game.ply() + 1, game.first_number()),
            (None, root) => (1, root.as_ref().map_or(1, |root| root.game_ply() as usize)),
        };
        match number.parse::<usize>() {
            Ok(n) if n == next || n + 1 == next + first => Ok(()),
            _ => Err(messages::move_missing(next)),
        }
    }

    fn finish(mut self) -> Option<Record> {
        if self.headed {
            self.game();
        }
        self.game.map(Builder::finish)
    }
}

/// Takes a square, `7f` or `76`, from the beginning of a text.
fn strip_square(text: &str) -> Option<(Square, &str)> {
    let square = match text.as_bytes() {
        [file, rank @ b'1'..=b'9', ..] => Square::from_usi(&[*file, rank - b'1' + b'a']),
        bytes => Square::from_usi(bytes.get(..2)?),
    };
    Some((square?, &text[2..]))
}

/// The letters of a piece, `P` or `+R`.
fn letters(kind: PieceType) -> String {
    let letter = char::from(LETTERS[kind.unpromoted().index()]);
    format!("{}{letter}", if kind.is_promoted() { "+" } else { "" })
}

fn read_move(position: &Position, text: &str) -> Result<Move, String> {
    let bad = || messages::not_a_move(excerpt(text), "PSN");
    let length = 1 + usize::from(text.starts_with('+'));
    let (piece, rest) = text.split_at_checked(length).ok_or_else(bad)?;
    if !LETTERS[1..].iter().any(|letter| piece.ends_with(char::from(*letter))) {
        return Err(bad());
    }
    let legal = |usi: String| position.parse_move(&usi).map_err(|e| e.to_string());
    if let Some(target) = rest.strip_prefix(['*', '\'']) {
        return match strip_square(target).ok_or_else(bad)? {
            (to, "") => legal(format!("{piece}*{to}")),
            _ => Err(bad()),
        };
    }
    let (from, to, rest) = match strip_square(rest) {
        Some((first, rest)) => match strip_square(rest.strip_prefix(['-', 'x']).unwrap_or(rest)) {
            Some((to, rest)) => (Some(first), to, rest),
            None => (None, first, rest),
        },
        None => {
            let target = rest.strip_prefix(['-', 'x']).ok_or_else(bad)?;
            let (to, rest) = strip_square(target).ok_or_else(bad)?;
            (None, to, rest)
        }
    };
    let promotes = match rest {
        "" | "=" => false,
        "+" => true,
        _ => return Err(bad()),
    };
    if let Some(from) = from {
        let there = position.piece_on(from);
        if there.is_some() && letters(there.kind()) != piece {
            return Err(messages::piece_there(excerpt(text), letters(there.kind())));
        }
        return legal(format!("{from}{to}{}", if promotes { "+" } else { "" }));
    }
    let moves = position.legal_moves(true);
    let fits = |m: &Move| !m.is_drop() && m.to() == to && m.is_promotion() == promotes;
    let named = |m: &Move| letters(m.piece_before().kind()) == piece;
    let found: Vec<Move> = moves.iter().map(|m| m.mv).filter(|m| fits(m) && named(m)).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(messages::move_text(excerpt(text), messages::no_piece_moves())),
        _ => Err(messages::move_text(excerpt(text), messages::ambiguous_move(found.len()))),
    }
}

/// The text of the main line, with the initial position as SFEN.
pub fn write(record: &Record) -> String {
    let mut out = String::new();
    let mut heading = |name: &str, value: &str| {
        if !value.is_empty() {
            let name = name.replace([' ', '\u{3000}', '[', ']'], "_");
            out += &format!("[{} \"{}\"]\n", one_line(&name), one_line(value));
        }
    };
    for (name, value) in &record.headers {
        heading(HEADINGS.iter().find(|(_, kept)| kept == name).map_or(name, |(psn, _)| psn), value);
    }
    heading("Sente", &record.names[0]);
    heading("Gote", &record.names[1]);
    heading("SFEN", &record.root.sfen());
    let comments = |out: &mut String, comments: &[String]| {
        for text in comments {
            *out += &format!("{{{}}}\n", text.replace('}', ")"));
        }
    };
    comments(&mut out, &record.comments);
    let mut position = record.root.clone();
    for ply in &record.moves {
        let m = ply.mv;
        let (piece, sign) =
            (letters(m.piece_before().kind()), if position.is_capture(m) { 'x' } else { '-' });
        let number = position.game_ply();
        out += &if m.is_drop() {
            format!("{number}.{piece}*{}\n", m.to())
        } else {
            let promotion = if m.is_promotion() { "+" } else { "" };
            format!("{number}.{piece}{}{sign}{}{promotion}\n", m.from(), m.to())
        };
        comments(&mut out, &ply.comments);
        position.do_move(m);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game as gshogi 0.5.1 saves it.
    const SAVED: &str = "[]\n[Date: ]\n[Black:  ]\n[White: somebody\"]\n\
        [SFEN \"lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\"]\n1.P7g-7f\n2.P3c-3d\n\
        {a\nremark}3.B8hx2b+\n4.S3ax2b\n5.B*5e\n{white: game over}\n";

    #[test]
    fn a_game_of_gshogi_reads_and_goes_round() {
        let games = read(SAVED).unwrap();
        let [game] = games.as_slice() else { panic!("one game") };
        let moves: Vec<String> = game.moves.iter().map(|p| p.mv.to_string()).collect();
        assert_eq!(moves, ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"]);
        assert_eq!(game.names, ["", "somebody"]);
        assert_eq!(game.moves[1].comments, ["a", "remark"]);
        let text = write(game);
        assert!(text.contains("\n3.B8hx2b+\n4.S3ax2b\n5.B*5e\n"), "{text}");
        let again = read(&text).unwrap();
        assert!(again[0].moves == game.moves && again[0].names == game.names);
    }

    #[test]
    fn origins_may_be_left_out_and_games_follow_each_other() {
        let two =
            "[Sente \"a\"]\n1. P-7f 2. P-34 3. Bx2b+ 4. Sx2b 5. B'5e 1-0\n[Handicap \"lance\"]\n1. P-3d\n";
        let games = read(two).unwrap();
        assert_eq!(games.iter().map(|g| g.moves.len()).collect::<Vec<_>>(), [5, 1]);
        assert_eq!(games[1].root.sfen(), "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
        assert!(read("\n\n").is_err());
    }

    #[test]
    fn moves_are_numbered_from_1_or_by_the_position() {
        let sfen = "[SFEN \"lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 41\"]\n";
        for (first, second, fits) in [(1, 2, true), (41, 42, true), (41, 43, false), (40, 41, false)] {
            let games = read(&format!("{sfen}{first}.P7g-7f\n{second}.P3c-3d\n"));
            assert_eq!(games.is_ok(), fits, "{first}");
        }
    }

    #[test]
    fn empty_lines_of_comments_stay() {
        let mut record = Record::new(Position::startpos());
        record.comments = ["", "a", "", "b", ""].map(String::from).to_vec();
        assert_eq!(read(&write(&record)).unwrap()[0].comments, record.comments);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, what) in [
            ("[Sente \"a\"]\n1.P7g-7f\n2.P7g-7f\n", 3, "no piece on the origin"),
            ("[Sente \"a\"]\n1.G-5h\n", 2, "2 pieces"),
            ("[Sente \"a\"]\n1.S7g-7f\n", 2, "the piece there is P"),
            ("[Sente \"a\"]\n1.7g7f\n", 2, "not a move in PSN"),
            ("[Sente \"a\"]\n1P-7f\n", 2, "not a move in PSN"),
            ("1.P7g-7f\n3.P3c-3d\n", 2, "move 2 is missing"),
            ("1. P-7f\n1. P-3d\n", 2, "move 2 is missing"),
            ("1.P7g-7f\n99999999999999999999.P3c-3d\n", 2, "move 2 is missing"),
            ("[Sente \"a\"]\n[Black \"b\"]\n", 2, "already"),
            ("[Sente \"a\"\n", 1, "without `]`"),
            ("[Handicap \"queen\"]", 1, "queen"),
            ("[SFEN \"9/9\"]", 1, ""),
            ("1.P7g-7f {never", 1, "without `}`"),
        ] {
            let error = read(text).err().unwrap();
            assert!(error.line == line && error.what.contains(what), "{text}: {error}");
        }
    }
}
