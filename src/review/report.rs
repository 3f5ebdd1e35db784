//! The analysis of a game, as it is stored in JSON; all other forms are made from it.

use super::analyst::Settings;
use super::book_moves::BookReport;
use super::judge::{Judgement, Side, black_view, judge, mate, percent, weights};
use super::reading::Reading;
use crate::engine::centipawns;
use crate::position::{Position, handicap};
use crate::record::floodgate::Evaluation;
use crate::record::{Ply, Record, Special};
use crate::support::lang::Lang;
use crate::types::{Color, Move, Square};
use serde::Serialize;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A game with the engine's readings and what follows from them. Serializes to JSON.
#[derive(Serialize)]
pub struct Report<'a> {
    /// What kind of file this is.
    pub format: &'static str,
    /// Of the format.
    pub version: u32,
    /// Name and version of the program.
    pub engine: String,
    /// How the positions were searched.
    pub settings: &'a Settings,
    /// Of the words, as a language tag.
    pub lang: &'static str,
    /// Black's and White's name.
    pub players: &'a [String; 2],
    /// The record's headings.
    pub headers: &'a [(String, String)],
    /// The starting position as SFEN.
    pub root: String,
    /// `black`, `white`, or none for a draw or an unknown end.
    pub winner: Option<&'static str>,
    /// KIF's word for the ending, as 投了.
    pub ending: Option<&'static str>,
    /// The positions, one more than moves.
    pub positions: Vec<PositionReport>,
    /// The game's moves with their judgement.
    pub moves: Vec<MoveReport>,
    /// Black's and White's game in figures.
    pub sides: [Side; 2],
    /// The moves that decided the game.
    pub turning_points: Vec<TurningPoint>,
    #[serde(skip)]
    /// The game itself.
    pub record: &'a Record,
    #[serde(skip)]
    /// The language of the words.
    pub words: Lang,
}

/// A position and its lines.
#[derive(Serialize)]
pub struct PositionReport {
    /// Black's, 0 to 1.
    pub win_rate: f64,
    /// Its standard error, 0 to 1.
    pub error: f64,
    /// Whether it was searched again with more nodes.
    pub again: bool,
    /// The engine's lines, the best first.
    pub lines: Vec<LineReport>,
}

/// A line that the engine expects. Scores are from Black's view.
#[derive(Serialize)]
pub struct LineReport {
    /// From the side to move, in the engine's unit, which resuming needs.
    pub value: i32,
    /// Centipawns.
    pub cp: i32,
    /// In plies, negative where White mates.
    pub mate: Option<i32>,
    /// Words for a score that stands for a repetition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition: Option<String>,
    pub depth: i32,
    pub seldepth: i32,
    pub nodes: u64,
    /// In USI.
    pub pv: Vec<String>,
    /// In the language's notation.
    pub text: Vec<String>,
}

/// A move as it was played.
#[derive(Serialize)]
pub struct MoveReport {
    /// From 1.
    pub ply: usize,
    /// `black` or `white`.
    pub side: &'static str,
    /// The move in USI.
    pub usi: String,
    /// In the language's notation.
    pub text: String,
    /// Seconds on the clock.
    pub time: Option<f64>,
    /// The record's comments on it.
    pub comments: Vec<String>,
    /// What it cost.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// What the engine would have played, in the language's notation.
    pub best: Option<String>,
    /// What the book has here; none where it does not know the position, or there is no book.
    pub book: Option<BookReport>,
    #[serde(skip)]
    /// The move.
    pub mv: Move,
}

/// A move that turned the game, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurningPoint {
    /// From 1.
    pub ply: usize,
    /// In the language's notation.
    pub text: String,
}

/// A turning point loses at least so much.
const TURNING: f64 = 0.15;
/// Where more moves lost so much, the list ends after this many of them, at the greatest gap between two
/// losses.
const TURNING_POINTS: RangeInclusive<usize> = 3..=6;

impl<'a> Report<'a> {
    /// Puts record, readings (one for each position) and the moves of a book in each position (empty without
    /// a book) together.
    pub fn new(
        record: &'a Record,
        settings: &'a Settings,
        engine: &str,
        readings: &[Reading],
        book: &[Vec<Move>],
        lang: Lang,
    ) -> Report<'a> {
        let mut position = record.root.clone();
        let mut last = None;
        let mut positions = vec![];
        let mut moves = vec![];
        for (i, reading) in readings.iter().enumerate() {
            positions.push(position_report(&position, last, reading, lang));
            let (Some(ply), Some(after)) = (record.moves.get(i), readings.get(i + 1)) else { break };
            moves.push(MoveReport {
                ply: i + 1,
                side: color_name(position.side_to_move()),
                usi: ply.mv.to_string(),
                text: lang.spell(&position, last, ply.mv),
                time: ply.time.map(|t| t.as_secs_f64()),
                comments: comments(ply, &position, lang),
                judgement: judge(&ply.mv.to_string(), reading, after),
                best: positions[i].lines.first().and_then(|line| line.text.first().cloned()),
                book: book.get(i).filter(|moves| !moves.is_empty()).map(|moves| BookReport {
                    played: moves.contains(&ply.mv),
                    moves: moves.iter().map(|&m| lang.spell(&position, last, m)).collect(),
                }),
                mv: ply.mv,
            });
            position.do_move(ply.mv);
            last = Some(ply.mv.to());
        }
        let rates: Vec<f64> = positions.iter().map(|position| position.win_rate).collect();
        let weights = weights(&rates);
        let side = |color: Color| {
            let own = moves
                .iter()
                .zip(&weights)
                .zip(&record.moves)
                .filter(|((m, _), _)| m.side == color_name(color));
            let own: Vec<(Judgement, f64, Option<Duration>)> =
                own.map(|((m, weight), ply)| (m.judgement, *weight, ply.time)).collect();
            let known =
                |m: &&MoveReport| m.side == color_name(color) && m.book.as_ref().is_some_and(|b| b.played);
            Side { book_moves: moves.iter().filter(known).count(), ..Side::of(&own) }
        };
        let turn = record.mover(record.moves.len());
        let ending: Option<Special> = record.end.as_ref().map(|end| end.special);
        let sides = Color::ALL.map(side);
        let turning_points = turning_points(&moves, record, lang);
        Report {
            format: "toratsugumi-review",
            version: 2,
            engine: engine.into(),
            settings,
            lang: lang.code(),
            players: &record.names,
            headers: &record.headers,
            root: record.root.sfen(),
            winner: ending.and_then(|special| special.winner(turn)).map(color_name),
            ending: ending.map(|special| lang.pick(special.kif(turn), in_english(special))),
            positions,
            moves,
            sides,
            turning_points,
            record,
            words: lang,
        }
    }

    /// The best line after `plies` moves.
    pub fn score(&self, plies: usize) -> Option<&LineReport> {
        self.positions.get(plies)?.lines.first()
    }

    /// The handicap of the game in the report's language, if it has one that has a name.
    pub fn handicap(&self) -> Option<&'static str> {
        handicap::names(&self.record.root).map(|[japanese, english]| self.words.pick(japanese, english))
    }

    /// What a side is called in this game: 下手 and 上手 in a handicap game.
    pub fn side(&self, color: Color) -> &'static str {
        side_name(self.record, self.words, color)
    }

    /// The players with their names, where they have any.
    pub fn player(&self, color: Color) -> String {
        match self.players[color.index()].as_str() {
            "" => self.side(color).into(),
            name if self.handicap().is_some() => format!("{} {name}", self.side(color)),
            name => format!("{} {name}", if color == Color::Black { "▲" } else { "△" }),
        }
    }
}

fn side_name(record: &Record, lang: Lang, color: Color) -> &'static str {
    match (lang, handicap::names(&record.root).is_some()) {
        (Lang::Ja, true) if color == Color::Black => "下手",
        (Lang::Ja, true) => "上手",
        _ => lang.side(color),
    }
}

fn in_english(special: Special) -> &'static str {
    match special {
        Special::Resign => "resignation",
        Special::Interrupted => "interrupted",
        Special::Repetition => "repetition",
        Special::TimeUp => "time forfeit",
        Special::IllegalMove => "illegal move",
        Special::IllegalAction(_) => "illegal action",
        Special::Impasse => "entering kings",
        Special::Declaration => "declaration",
        Special::DrawDeclaration => "declared draw",
        Special::MaxMoves => "move limit",
        Special::Mate => "mate",
        Special::NoMate => "no mate",
        Special::WinByDefault => "win by default",
        Special::LossByDefault => "loss by default",
        Special::TakeBack => "move taken back",
        Special::Sealed => "sealed move",
        Special::Error => "error",
        Special::Other => "other",
    }
}

/// No score is as high as the number that other programs read as a mate.
const HIGHEST: i32 = 29_999;

/// The comments on a move; what engines sent to floodgate's server in words.
fn comments(ply: &Ply, before: &Position, lang: Lang) -> Vec<String> {
    let mut position = before.clone();
    position.do_move(ply.mv);
    let spell = |comment: &String| match Evaluation::read(comment, &position) {
        None => comment.clone(),
        Some(found) => {
            let name = lang.pick("対局時の評価値", "evaluation in the game:");
            let line = lang.spell_line(&position, Some(ply.mv.to()), &found.line).join(" ");
            let mates = |color| {
                lang.pick(format!("{}の詰み", lang.side(color)), format!("{} mates", lang.side(color)))
            };
            let score = found.mates().map_or_else(|| format!("{:+}", found.score), mates);
            format!("{name} {score} {line}").trim_end().to_string()
        }
    };
    ply.comments.iter().map(spell).collect()
}

fn color_name(color: Color) -> &'static str {
    if color == Color::Black { "black" } else { "white" }
}

fn position_report(
    position: &Position,
    last: Option<Square>,
    reading: &Reading,
    lang: Lang,
) -> PositionReport {
    let side = position.side_to_move();
    let sign = if side == Color::Black { 1 } else { -1 };
    let lines = reading.lines.iter().map(|line| LineReport {
        value: line.value,
        cp: centipawns(black_view(line.value, side)).clamp(-HIGHEST, HIGHEST),
        repetition: lang.repetition(line, side),
        mate: mate(line.value)
            .map(|n| sign * n)
            .or(mate(-line.value).map(|n| -sign * n))
            .filter(|_| !line.declares()),
        depth: line.depth,
        seldepth: line.seldepth,
        nodes: line.nodes,
        pv: line.pv.clone(),
        text: match line.declares() {
            true => vec![lang.pick("入玉宣言", "declaration").into()],
            false => lang.spell_line(position, last, &parse(position, &line.pv)),
        },
    });
    let own = reading.win_rate();
    PositionReport {
        win_rate: if side == Color::Black { own } else { 1.0 - own },
        error: reading.error,
        again: reading.again,
        lines: lines.collect(),
    }
}

/// The moves of a line, as far as they are legal.
pub(super) fn parse(position: &Position, pv: &[String]) -> Vec<Move> {
    let mut position = position.clone();
    let mut moves = Vec::new();
    for text in pv {
        let Ok(m) = position.parse_move(text) else { break };
        position.do_move(m);
        moves.push(m);
    }
    moves
}

/// The moves that lost most. The list ends at a gap, so that no name on it hangs on a small difference.
fn turning_points(moves: &[MoveReport], record: &Record, lang: Lang) -> Vec<TurningPoint> {
    let drop = |m: &MoveReport| m.judgement.before - m.judgement.after;
    let mut worst: Vec<&MoveReport> = moves.iter().filter(|m| m.judgement.loss >= TURNING).collect();
    worst.sort_by(|a, b| drop(b).total_cmp(&drop(a)));
    if worst.len() > *TURNING_POINTS.end() {
        let gap = |n: &usize| drop(worst[n - 1]) - drop(worst[*n]);
        let count = TURNING_POINTS.max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(worst.len());
        worst.truncate(count);
    }
    worst.sort_by_key(|m| m.ply);
    worst.into_iter().map(|m| TurningPoint { ply: m.ply, text: in_words(m, record, lang) }).collect()
}

/// `49手目 △５五銀（悪手）で勝率は72%から31%に。最善は△３三角。`
fn in_words(m: &MoveReport, record: &Record, lang: Lang) -> String {
    let Judgement { before, after, missed_mate, allowed_mate, .. } = m.judgement;
    let shown = |rate: f64| format!("{}%", percent(rate));
    let side = side_name(record, lang, record.mover(m.ply - 1));
    let mut text = lang.pick(
        format!(
            "{}手目 {}（{}）で{}の勝率は{}から{}に。",
            m.ply,
            m.text,
            lang.verdict(&m.judgement),
            side,
            shown(before),
            shown(after)
        ),
        format!(
            "Move {}, {} ({}): {}'s win rate falls from {} to {}.",
            m.ply,
            m.text,
            lang.verdict(&m.judgement),
            side,
            shown(before),
            shown(after)
        ),
    );
    let ply = |n| if n == 1 { "ply" } else { "plies" };
    if let Some(plies) = missed_mate {
        text += &lang.pick(
            format!("{plies}手の詰みを逃した。"),
            format!(" It misses a mate in {plies} {}.", ply(plies)),
        );
    }
    if let Some(plies) = allowed_mate {
        text += &lang.pick(
            format!("{plies}手の詰みが生じた。"),
            format!(" It allows a mate in {plies} {}.", ply(plies)),
        );
    }
    if let Some(best) = &m.best {
        text += &lang.pick(format!("最善は{best}。"), format!(" Best was {best}."));
    }
    text
}
