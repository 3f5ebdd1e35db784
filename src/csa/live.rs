//! The line on the screen while a game is played: last move, what the player finds, both clocks.

use super::clock::Clock;
use super::game::ServerGame;
use crate::record::csa::move_text;
use crate::support::console;
use crate::types::{Color, Move};
use crate::usi_client::UsiScore;
use std::time::Duration;

/// The last line of play that our player has found.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Its move; none while the player ponders.
    pub best: Option<Move>,
    /// From our view.
    pub score: Option<UsiScore>,
    /// In plies.
    pub depth: Option<u32>,
}

impl Shown {
    /// `move 24 -3334FU  +2726FU +55 depth 18  Black 4:32  White 3:58`. The side to move has used `running` of its time.
    pub fn line(&self, game: &ServerGame, running: Duration) -> String {
        let last = game.record.moves.last().map(|ply| format!(" {}", move_text(ply.mv)));
        let mut parts = vec![format!("move {}{}", game.record.moves.len(), last.unwrap_or_default())];
        let score = self.score.map(|score| match score {
            UsiScore::Cp(cp) => format!("{cp:+}"),
            UsiScore::Mate(plies) => format!("mate {plies}"),
        });
        let found = [self.best.map(move_text), score, self.depth.map(|d| format!("depth {d}"))];
        let found: Vec<String> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            parts.push(found.join(" "));
        }
        for (color, name) in Color::ALL.into_iter().zip(["Black", "White"]) {
            let turn = color == game.position.side_to_move();
            let used = if turn { running } else { Duration::ZERO };
            parts.push(format!("{name} {}", time_left(&game.clock, color, used)));
        }
        parts.join("  ")
    }
}

/// Main time as minutes and seconds; in byoyomi what is left of the period.
fn time_left(clock: &Clock, color: Color, used: Duration) -> String {
    if clock.control(color).is_unlimited() {
        return "unlimited".into();
    }
    let used = used.as_millis() as u64;
    let main = clock.left(color).saturating_add(clock.control(color).increment);
    let left = match main.saturating_sub(used) {
        0 => clock.control(color).byoyomi.saturating_sub(used.saturating_sub(main)),
        left => left,
    };
    console::clock(left as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::super::clock::TimeControl;
    use super::super::summary::SummaryReader;
    use super::*;

    fn game() -> ServerGame {
        let text = "Game_ID:t+g-300-10F+a+b+1\nName+:a\nName-:b\nYour_Turn:+\nBEGIN Time\nTotal_Time:300\nByoyomi:0\nIncrement:0\nEND Time\nBEGIN Position\nPI\n+\n+7776FU,T12\n-3334FU,T30\nEND Position\nEND Game_Summary";
        let mut reader = SummaryReader::default();
        ServerGame::new(text.lines().find_map(|l| reader.line(l).unwrap()).unwrap())
    }

    #[test]
    fn the_line_shows_move_score_depth_and_clocks() {
        let game = game();
        let best = game.position.parse_move("2g2f").ok();
        let shown = Shown { best, score: Some(UsiScore::Cp(55)), depth: Some(18) };
        let line = shown.line(&game, Duration::from_millis(3600));
        assert_eq!(line, "move 2 -3334FU  +2726FU +55 depth 18  Black 4:44  White 4:30");
        let mated = Shown { best: None, score: Some(UsiScore::Mate(-4)), depth: None };
        assert!(mated.line(&game, Duration::ZERO).contains("  mate -4  Black 4:48"));
        assert_eq!(
            Shown::default().line(&game, Duration::from_secs(1000)),
            "move 2 -3334FU  Black 0:00  White 4:30"
        );
    }

    #[test]
    fn byoyomi_runs_when_the_main_time_is_used_up() {
        let control = TimeControl { total: Some(10_000), byoyomi: 60_000, ..TimeControl::default() };
        let clock = Clock::new([control, TimeControl::default()]);
        let left = |seconds| time_left(&clock, Color::Black, Duration::from_secs(seconds));
        assert_eq!([left(4), left(12), left(90)], ["0:06", "0:58", "0:00"]);
        assert_eq!(time_left(&clock, Color::White, Duration::ZERO), "unlimited");
    }
}
