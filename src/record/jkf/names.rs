//! JKF's names of starting positions, and its letters for the origin of a piece.

use crate::record::kakinoki::{Relative, Side, Way};

/// JKF's presets and KIF's names of the same positions.
pub(super) const PRESETS: [(&str, &str); 16] = [
    ("HIRATE", "平手"),
    ("KY", "香落ち"),
    ("KY_R", "右香落ち"),
    ("KA", "角落ち"),
    ("HI", "飛車落ち"),
    ("HIKY", "飛香落ち"),
    ("2", "二枚落ち"),
    ("3", "三枚落ち"),
    ("4", "四枚落ち"),
    ("5", "五枚落ち"),
    ("5_L", "左五枚落ち"),
    ("6", "六枚落ち"),
    ("7_L", "左七枚落ち"),
    ("7_R", "右七枚落ち"),
    ("8", "八枚落ち"),
    ("10", "十枚落ち"),
];

/// Reads `L`, `RU`, `H`, ...; none for other letters.
pub(super) fn read_relative(text: &str) -> Option<Relative> {
    let mut relative = Relative::default();
    for letter in text.chars() {
        match letter {
            'L' => relative.side = Some(Side::Left),
            'C' => relative.side = Some(Side::Straight),
            'R' => relative.side = Some(Side::Right),
            'U' => relative.way = Some(Way::Forward),
            'M' => relative.way = Some(Way::Sideways),
            'D' => relative.way = Some(Way::Back),
            'H' => relative.drop = true,
            _ => return None,
        }
    }
    Some(relative)
}

/// The letters of [`read_relative`]; none for no words.
pub(super) fn write_relative(relative: Relative) -> Option<String> {
    let side = relative.side.map(|side| match side {
        Side::Left => 'L',
        Side::Straight => 'C',
        Side::Right => 'R',
    });
    let way = relative.way.map(|way| match way {
        Way::Forward => 'U',
        Way::Sideways => 'M',
        Way::Back => 'D',
    });
    let drop = relative.drop.then_some('H');
    let text: String = side.into_iter().chain(way).chain(drop).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_read_back() {
        for text in ["L", "C", "R", "U", "M", "D", "LU", "RD", "H"] {
            assert_eq!(write_relative(read_relative(text).unwrap()).as_deref(), Some(text));
        }
        assert_eq!(read_relative("X"), None);
        assert_eq!(write_relative(Relative::default()), None);
    }
}
