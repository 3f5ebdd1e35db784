//! How games end besides by a move.

use crate::types::Color;
use std::fmt;

/// The special moves of CSA's record format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// 投了
    Resign,
    /// 中断
    Interrupted,
    /// 千日手
    Repetition,
    /// 切れ負け: the side to move has no time left.
    TimeUp,
    /// 反則負け: the side to move played something illegal.
    IllegalMove,
    /// An illegal action of that colour, in its own or its opponent's turn; it loses.
    IllegalAction(Color),
    /// 持将棋
    Impasse,
    /// 入玉勝ち: the side to move declares a win.
    Declaration,
    /// The side to move declares a draw by entering kings.
    DrawDeclaration,
    /// Drawn by the number of moves.
    MaxMoves,
    /// 詰み
    Mate,
    /// 不詰
    NoMate,
    /// 不戦勝: the side to move wins without play.
    WinByDefault,
    /// 不戦敗
    LossByDefault,
    /// 待った
    TakeBack,
    /// 封じ手: play goes on another day with a move in an envelope.
    Sealed,
    /// An error of the program.
    Error,
}

/// CSA's and KIF's names.
const NAMES: [(Special, &str, &str); 18] = [
    (Special::Resign, "%TORYO", "投了"),
    (Special::Interrupted, "%CHUDAN", "中断"),
    (Special::Repetition, "%SENNICHITE", "千日手"),
    (Special::TimeUp, "%TIME_UP", "切れ負け"),
    (Special::IllegalMove, "%ILLEGAL_MOVE", "反則負け"),
    (Special::IllegalAction(Color::Black), "%+ILLEGAL_ACTION", ""),
    (Special::IllegalAction(Color::White), "%-ILLEGAL_ACTION", ""),
    (Special::Impasse, "%JISHOGI", "持将棋"),
    (Special::Declaration, "%KACHI", "入玉勝ち"),
    (Special::DrawDeclaration, "%HIKIWAKE", "引き分け"),
    (Special::MaxMoves, "%MAX_MOVES", "最大手数"),
    (Special::Mate, "%TSUMI", "詰み"),
    (Special::NoMate, "%FUZUMI", "不詰"),
    // CSA has no word for these
    (Special::WinByDefault, "", "不戦勝"),
    (Special::LossByDefault, "", "不戦敗"),
    (Special::Sealed, "", "封じ手"),
    (Special::TakeBack, "%MATTA", "待った"),
    (Special::Error, "%ERROR", "エラー"),
];

impl Special {
    /// Reads `%TORYO` and the like.
    pub fn from_csa(text: &str) -> Option<Special> {
        if text.is_empty() {
            return None;
        }
        NAMES.iter().find(|(_, csa, _)| *csa == text).map(|(special, ..)| *special)
    }

    /// `%TORYO` and the like; `%CHUDAN` for what CSA has no word for.
    pub fn csa(self) -> &'static str {
        let known = NAMES.iter().find(|(special, csa, _)| *special == self && !csa.is_empty());
        known.map_or("%CHUDAN", |(_, csa, _)| csa)
    }

    /// Reads KIF's word; `turn` is the side to move.
    pub fn from_kif(text: &str, turn: Color) -> Option<Special> {
        match text {
            // the player before has broken a rule
            "反則勝ち" => Some(Special::IllegalAction(!turn)),
            "入玉宣言" | "宣言勝ち" => Some(Special::Declaration),
            "詰" => Some(Special::Mate),
            "引分" => Some(Special::DrawDeclaration),
            "" => None,
            _ => NAMES.iter().find(|(.., kif)| *kif == text).map(|(special, ..)| *special),
        }
    }

    /// Whether nobody wins.
    pub fn is_draw(self) -> bool {
        matches!(self, Special::Repetition | Special::Impasse | Special::DrawDeclaration | Special::MaxMoves)
    }

    /// KIF's word; `turn` is the side to move.
    pub fn kif(self, turn: Color) -> &'static str {
        match self {
            Special::IllegalAction(loser) if loser == turn => "反則負け",
            Special::IllegalAction(_) => "反則勝ち",
            _ => NAMES.iter().find(|(special, ..)| *special == self).map_or("エラー", |(.., kif)| kif),
        }
    }

    /// KI2's last line, without its end, after so many moves; `players` are the words for Black and White.
    pub fn ki2(self, turn: Color, plies: usize, players: [&str; 2]) -> String {
        let (next, last) = (players[turn.index()], players[(!turn).index()]);
        let how = match self {
            Special::Resign => format!("{last}の勝ち"),
            Special::TimeUp => format!("時間切れにより{last}の勝ち"),
            Special::IllegalMove | Special::IllegalAction(_) | Special::Declaration => {
                format!("{next}の{}", self.kif(turn))
            }
            _ => self.kif(turn).to_string(),
        };
        format!("まで{plies}手で{how}")
    }

    /// Reads what follows `まで95手で`.
    pub fn from_ki2(text: &str, turn: Color) -> Option<Special> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if text.starts_with("時間切れ") || text.starts_with("切れ負け") {
            return Some(Special::TimeUp);
        }
        for word in ["反則勝ち", "反則負け", "入玉勝ち", "宣言勝ち"] {
            if text.ends_with(word) {
                return Special::from_kif(word, turn);
            }
        }
        if text.ends_with("勝ち") { Some(Special::Resign) } else { Special::from_kif(&text, turn) }
    }

    /// Who won, if that follows; `turn` is the side to move. `None` is a draw or no result.
    pub fn winner(self, turn: Color) -> Option<Color> {
        match self {
            Special::Resign | Special::TimeUp | Special::IllegalMove | Special::Mate => Some(!turn),
            Special::IllegalAction(loser) => Some(!loser),
            Special::Declaration | Special::WinByDefault => Some(turn),
            Special::LossByDefault => Some(!turn),
            _ => None,
        }
    }
}

impl fmt::Display for Special {
    /// CSA's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.csa())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_reads_back() {
        for (special, csa, _) in NAMES {
            if csa.is_empty() {
                assert_eq!(special.csa(), "%CHUDAN");
            } else {
                assert_eq!((Special::from_csa(csa), special.csa()), (Some(special), csa));
            }
            for turn in Color::ALL {
                let back = Special::from_kif(special.kif(turn), turn);
                // KIF has one word for both
                let expected =
                    if special == Special::IllegalAction(turn) { Special::IllegalMove } else { special };
                assert_eq!(back, Some(expected));
                assert_eq!(back.unwrap().winner(turn), special.winner(turn));
                let text = special.ki2(turn, 95, ["先手", "後手"]);
                assert_eq!(Special::from_ki2(text.strip_prefix("まで95手で").unwrap(), turn), back, "{text}");
            }
        }
        assert_eq!(Special::from_ki2("先手の勝ち", Color::White), Some(Special::Resign));
        assert_eq!(Special::from_ki2("封じ込め", Color::White), None);
        assert_eq!((Special::from_csa("%TORY0"), Special::from_csa("")), (None, None));
        assert_eq!(Special::from_kif("", Color::Black), None);
    }
}
