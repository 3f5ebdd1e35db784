//! Endings of games other than by a move.

use super::error::excerpt;
use crate::support::messages;
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
    /// 封じ手: the game is adjourned with a sealed move.
    Sealed,
    /// An error of the program.
    Error,
    /// An ending that no format can express.
    Other,
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

/// What KIF and KI2 call the players.
const PLAYERS: [(&str, Color); 4] =
    [("先手", Color::Black), ("下手", Color::Black), ("後手", Color::White), ("上手", Color::White)];

/// The winner by a text such as `時間切れにより先手の勝ち`, if it names a player. The last name counts: the first may be
/// that of the player who broke a rule.
fn named_winner(text: &str) -> Option<Color> {
    let found = PLAYERS.into_iter().filter_map(|(name, color)| Some((text.rfind(name)?, color)));
    let (_, player) = found.max_by_key(|(at, _)| *at)?;
    if text.ends_with(['ち', '勝']) {
        Some(player)
    } else {
        text.ends_with(['け', '敗']).then_some(!player)
    }
}

impl Special {
    /// Reads `%TORYO` and the like.
    pub fn from_csa(text: &str) -> Option<Special> {
        if text.is_empty() {
            return None;
        }
        NAMES.iter().find(|(_, csa, _)| *csa == text).map(|(special, ..)| *special)
    }

    /// `%TORYO` and the like; `%CHUDAN` for endings that CSA cannot express.
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

    /// Reads endings that are not KIF's, as other programs write them.
    pub fn from_words(text: &str) -> Special {
        if text.starts_with("投了") {
            Special::Resign
        } else if text.contains("時間切れ") || text.contains("切れ負け") {
            Special::TimeUp
        } else if text.contains("宣言") {
            Special::Declaration
        } else {
            Special::Other
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
            Special::Other => "中断",
            _ => NAMES.iter().find(|(special, ..)| *special == self).map_or("エラー", |(.., kif)| kif),
        }
    }

    /// KI2's last line, without its line end, after `plies` moves; `players` are the words for Black and
    /// White.
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

    /// Reads the text after `まで95手で`; `None` if it is not an ending.
    ///
    /// # Errors
    /// When the named player cannot have won or lost in this way.
    pub fn from_ki2(text: &str, turn: Color) -> Option<Result<Special, String>> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let words = ["反則勝ち", "反則負け", "入玉勝ち", "宣言勝ち", "不戦勝", "不戦敗"];
        let word = if text.contains("時間切れ") || text.contains("切れ負け") {
            "切れ負け"
        } else if let Some(word) = words.into_iter().find(|word| text.ends_with(word)) {
            word
        } else if text.ends_with("勝ち") {
            if text.contains("反則") { "反則負け" } else { "投了" }
        } else {
            &text
        };
        let special = Special::from_kif(word, turn)?;
        if named_winner(&text).is_none_or(|winner| special.winner(turn) == Some(winner)) {
            return Some(Ok(special));
        }
        // KIF's words are about the side to move; these endings name the player
        Some(match special {
            Special::IllegalMove => Ok(Special::IllegalAction(!turn)),
            Special::IllegalAction(_) => Ok(Special::IllegalMove),
            Special::WinByDefault => Ok(Special::LossByDefault),
            Special::LossByDefault => Ok(Special::WinByDefault),
            _ => Err(messages::not_this_turn(excerpt(&text), messages::word(&format!("{turn:?}")))),
        })
    }

    /// The winner; `turn` is the side to move. `None` for a draw or no result.
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
                let how = text.strip_prefix("まで95手で").unwrap();
                assert_eq!(Special::from_ki2(how, turn), back.map(Ok), "{text}");
            }
        }
        assert_eq!(Special::from_ki2("先手の勝ち", Color::White), Some(Ok(Special::Resign)));
        assert_eq!(Special::from_ki2("封じ込め", Color::White), None);
        assert_eq!((Special::from_csa("%TORY0"), Special::from_csa("")), (None, None));
        assert_eq!(Special::from_kif("", Color::Black), None);
    }
    #[test]
    fn the_player_that_ki2_names_wins() {
        let (black, white) = (Color::Black, Color::White);
        for (text, turn, expected) in [
            ("後手の勝ち", black, Special::Resign),
            ("井上の勝ち", black, Special::Resign),
            ("下手の勝ち", white, Special::Resign),
            ("後手の反則勝ち", black, Special::IllegalMove),
            ("先手の反則勝ち", black, Special::IllegalAction(white)),
            ("後手の反則負け", black, Special::IllegalAction(white)),
            ("上手の反則負け", black, Special::IllegalAction(white)),
            ("先手の反則負け", black, Special::IllegalMove),
            ("先手の反則により後手の勝ち", white, Special::IllegalAction(black)),
            ("先手の入玉勝ち", black, Special::Declaration),
            ("時間切れにより後手の勝ち", black, Special::TimeUp),
            ("先手の時間切れ負け", black, Special::TimeUp),
            ("先手の不戦勝", black, Special::WinByDefault),
            ("後手の不戦勝", black, Special::LossByDefault),
            ("後手の不戦敗", black, Special::WinByDefault),
        ] {
            assert_eq!(Special::from_ki2(text, turn), Some(Ok(expected)), "{text}");
        }
        for text in ["先手の勝ち", "先手勝ち", "後手の入玉勝ち", "時間切れにより先手の勝ち", "後手の切れ負け"]
        {
            let error = Special::from_ki2(text, black).unwrap().unwrap_err();
            assert_eq!(error, format!("`{text}` cannot be: Black is to move"));
        }
    }
}
