//! How Kakinoki's formats name pieces, ranks, files and players.

use crate::types::{Color, PieceType};

/// The kinds in diagrams (BOD), by `PieceType::index`. The format has 龍 there; texts have 竜, as the official
/// notation.
pub(super) const KINDS: [&str; 15] =
    ["", "歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "杏", "圭", "全", "馬", "龍"];
/// The kinds in moves.
pub(super) const MOVE_KINDS: [&str; 15] =
    ["", "歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "成香", "成桂", "成銀", "馬", "竜"];
/// Other spellings, longest first.
const VARIANTS: [(&str, PieceType); 8] = [
    ("成歩", PieceType::PRO_PAWN),
    ("成角", PieceType::HORSE),
    ("成飛", PieceType::DRAGON),
    ("王", PieceType::KING),
    ("龍", PieceType::DRAGON),
    ("杏", PieceType::PRO_LANCE),
    ("圭", PieceType::PRO_KNIGHT),
    ("全", PieceType::PRO_SILVER),
];
pub(super) const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];
pub(super) const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];

/// The full-width form of an ASCII character as that character; others stay.
pub(super) fn half_width(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(u32::from(c) - u32::from('！') + u32::from('!')).unwrap_or(c),
        _ => c,
    }
}

/// The kind at the beginning of a text, and what follows it.
pub(super) fn strip_kind(text: &str) -> Option<(PieceType, &str)> {
    let spelled = MOVE_KINDS.iter().enumerate().skip(1).map(|(i, name)| (*name, PieceType(i as u8)));
    let (name, kind) = VARIANTS
        .into_iter()
        .chain(spelled)
        .filter(|(name, _)| text.starts_with(name))
        .max_by_key(|(name, _)| name.len())?;
    Some((kind, &text[name.len()..]))
}

/// What the players are called: 先手 and 後手, with a handicap 下手 and 上手.
pub(super) fn player(color: Color, handicap: bool) -> &'static str {
    match (color, handicap) {
        (Color::Black, false) => "先手",
        (Color::White, false) => "後手",
        (Color::Black, true) => "下手",
        (Color::White, true) => "上手",
    }
}
