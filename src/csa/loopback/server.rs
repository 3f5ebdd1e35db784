//! The server behind [`Loopback`](super::Loopback): logins, pairing, clocks, moves, ends.

use crate::csa::clock::{Clock, TimeControl};
use crate::csa::protocol::ServerLine;
use crate::position::{EnteringKingRule, GameRepetition, Position};
use crate::record::csa::{read_move, sign, write_position};
use crate::types::Color;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The rules of the server's games.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The maximum number of moves of a game.
    pub max_moves: usize,
    /// The position before the first move.
    pub root: Position,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { max_moves: 256, root: Position::startpos() }
    }
}

/// Numbers connections.
pub type ConnectionId = u64;

/// An event that the thread of a connection reports.
pub enum Event {
    Opened(ConnectionId, TcpStream),
    Line(ConnectionId, String),
    Closed(ConnectionId),
}

/// All connections and games.
pub struct Server {
    rules: Rules,
    streams: HashMap<ConnectionId, TcpStream>,
    /// The connection that waits for a game, by its name.
    waiting: HashMap<String, (ConnectionId, String)>,
    matches: Vec<Match>,
    /// The number of games so far.
    games: u64,
}

/// A game between two connections.
struct Match {
    id: String,
    /// The connections of Black and White.
    players: [ConnectionId; 2],
    agreed: [bool; 2],
    position: Position,
    clock: Clock,
    /// When the side to move began to think.
    since: Instant,
    moves: usize,
}

impl Server {
    /// A server without connections.
    pub fn new(rules: Rules) -> Server {
        Server { rules, streams: HashMap::new(), waiting: HashMap::new(), matches: Vec::new(), games: 0 }
    }

    /// Serves until `stop` is set.
    pub fn run(&mut self, events: &Receiver<Event>, stop: &AtomicBool) {
        const LOOK: Duration = Duration::from_millis(20);
        while !stop.load(Relaxed) {
            match events.recv_timeout(LOOK) {
                Ok(Event::Opened(id, stream)) => {
                    self.streams.insert(id, stream);
                }
                Ok(Event::Line(id, line)) => self.line(id, &line),
                Ok(Event::Closed(id)) => self.closed(id),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_at_flags();
        }
        self.streams.values().for_each(|s| {
            let _ = s.shutdown(Shutdown::Both);
        });
    }

    /// Sends lines. Errors are ignored: a broken connection is reported when it closes.
    fn tell(&mut self, id: ConnectionId, text: &str) {
        if let Some(stream) = self.streams.get_mut(&id) {
            let _ = stream.write_all(text.as_bytes());
        }
    }

    fn hang_up(&mut self, id: ConnectionId) {
        if let Some(stream) = self.streams.remove(&id) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn line(&mut self, id: ConnectionId, line: &str) {
        let mut words = line.split_whitespace();
        match words.next() {
            None => self.tell(id, "\n"),
            Some("LOGIN") => match (words.next(), words.next()) {
                (Some(name), Some(password)) => self.login(id, name, password),
                _ => self.tell(id, "LOGIN:incorrect\n"),
            },
            Some("LOGOUT") => {
                self.tell(id, "LOGOUT:completed\n");
                self.closed(id);
                self.hang_up(id);
            }
            Some("AGREE") => self.agree(id),
            Some("REJECT") => self.reject(id),
            Some(_) => self.play(id, line),
        }
    }

    /// Logs in. The password is the game's name, a comma and a trip.
    fn login(&mut self, id: ConnectionId, name: &str, password: &str) {
        let game = password.split(',').next().unwrap_or_default();
        let Some(control) = time_control(game) else { return self.tell(id, "LOGIN:incorrect\n") };
        self.tell(id, &format!("LOGIN:{name} OK\n"));
        match self.waiting.remove(game) {
            None => {
                self.waiting.insert(game.into(), (id, name.into()));
            }
            Some(other) => self.pair(game, control, [other, (id, name.into())]),
        }
    }

    fn pair(&mut self, game: &str, control: TimeControl, mut players: [(ConnectionId, String); 2]) {
        players.sort_by(|a, b| a.1.cmp(&b.1));
        if self.games % 2 == 1 {
            players.reverse();
        }
        self.games += 1;
        let [(black, black_name), (white, white_name)] = players;
        let game_id = format!("loopback+{game}+{black_name}+{white_name}+{}", self.games);
        let root = self.rules.root.clone();
        let seconds = |ms: u64| ms / 1000;
        for (color, id) in Color::ALL.into_iter().zip([black, white]) {
            let mut text = format!(
                "BEGIN Game_Summary\nProtocol_Version:1.2\nProtocol_Mode:Server\nFormat:Shogi 1.0\nDeclaration:Jishogi 1.1\nGame_ID:{game_id}\nName+:{black_name}\nName-:{white_name}\nYour_Turn:{}\nRematch_On_Draw:NO\nTo_Move:{}\nMax_Moves:{}\n",
                sign(color),
                sign(root.side_to_move()),
                self.rules.max_moves
            );
            // writing to a string cannot fail
            let _ = write!(
                text,
                "BEGIN Time\nTime_Unit:1sec\nTotal_Time:{}\nByoyomi:{}\nIncrement:{}\nLeast_Time_Per_Move:0\nEND Time\nBEGIN Position\n{}END Position\nEND Game_Summary\n",
                seconds(control.total.unwrap_or(0)),
                seconds(control.byoyomi),
                seconds(control.increment),
                write_position(&root)
            );
            self.tell(id, &text);
        }
        self.matches.push(Match {
            id: game_id,
            players: [black, white],
            agreed: [false; 2],
            position: root,
            clock: Clock::new([control; 2]),
            since: Instant::now(),
            moves: 0,
        });
    }

    /// The game of a connection, and its colour.
    fn seat(&self, id: ConnectionId) -> Option<(usize, Color)> {
        self.matches.iter().enumerate().find_map(|(i, m)| {
            let color = Color::ALL.into_iter().find(|c| m.players[c.index()] == id)?;
            Some((i, color))
        })
    }

    fn agree(&mut self, id: ConnectionId) {
        let Some((i, color)) = self.seat(id) else { return };
        let m = &mut self.matches[i];
        m.agreed[color.index()] = true;
        if m.agreed == [true; 2] {
            m.since = Instant::now();
            let (text, players) = (format!("START:{}\n", m.id), m.players);
            players.into_iter().for_each(|p| self.tell(p, &text));
        }
    }

    fn reject(&mut self, id: ConnectionId) {
        let Some((i, color)) = self.seat(id) else { return };
        let m = self.matches.swap_remove(i);
        let text = format!("REJECT:{} by {}\n", m.id, sign(color));
        for player in m.players {
            self.tell(player, &text);
            self.hang_up(player);
        }
    }

    /// A player that leaves a game loses it.
    fn closed(&mut self, id: ConnectionId) {
        self.waiting.retain(|_, (other, _)| *other != id);
        self.streams.remove(&id);
        if let Some((i, color)) = self.seat(id) {
            self.end(i, "%TORYO\n#RESIGN\n", Some(!color));
        }
    }

    /// Ends a match; without a winner it is a draw.
    fn end(&mut self, index: usize, text: &str, winner: Option<Color>) {
        let m = self.matches.swap_remove(index);
        for (color, player) in Color::ALL.into_iter().zip(m.players) {
            let verdict = match winner {
                _ if text.contains("#MAX_MOVES") => "#CENSORED",
                None => "#DRAW",
                Some(winner) if winner == color => "#WIN",
                Some(_) => "#LOSE",
            };
            self.tell(player, &format!("{text}{verdict}\n"));
            self.hang_up(player);
        }
    }

    fn play(&mut self, id: ConnectionId, line: &str) {
        let Some((i, color)) = self.seat(id) else { return };
        let m = &mut self.matches[i];
        if m.agreed != [true; 2] {
            return;
        }
        let ours = m.position.side_to_move() == color;
        let time = m.since.elapsed().as_secs();
        let over = m.clock.budget(color).is_some_and(|budget| time * 1000 >= budget);
        match ServerLine::parse(line) {
            ServerLine::Special { text: "%TORYO", .. } => self.end(i, "%TORYO\n#RESIGN\n", Some(!color)),
            _ if !ours => {}
            _ if over => self.end(i, "#TIME_UP\n", Some(!color)),
            ServerLine::Special { text: "%KACHI", .. } => {
                let wins = m.position.declaration_win(EnteringKingRule::CsaRule27).is_some();
                let (reason, winner) = if wins { ("#JISHOGI", color) } else { ("#ILLEGAL_MOVE", !color) };
                self.end(i, &format!("%KACHI,T{time}\n%KACHI\n{reason}\n"), Some(winner));
            }
            ServerLine::Move { text, .. } => match read_move(&m.position, text) {
                Ok(mv) => {
                    m.position.do_move(mv);
                    m.clock.charge(color, time);
                    m.since = Instant::now();
                    m.moves += 1;
                    let (players, text) = (m.players, format!("{text},T{time}\n"));
                    players.into_iter().for_each(|p| self.tell(p, &text));
                    self.judge(i);
                }
                Err(_) => self.end(i, "#ILLEGAL_MOVE\n", Some(!color)),
            },
            _ => self.end(i, "#ILLEGAL_MOVE\n", Some(!color)),
        }
    }

    /// Whether the last move ended the game.
    fn judge(&mut self, index: usize) {
        let m = &self.matches[index];
        match m.position.game_repetition() {
            Some(GameRepetition::Draw) => self.end(index, "#SENNICHITE\n", None),
            Some(GameRepetition::PerpetualCheck { loser }) => {
                self.end(index, "#OUTE_SENNICHITE\n", Some(!loser));
            }
            None if m.moves >= self.rules.max_moves => self.end(index, "#MAX_MOVES\n", None),
            None => {}
        }
    }

    fn look_at_flags(&mut self) {
        let fallen = self.matches.iter().position(|m| {
            let time = m.since.elapsed().as_secs() * 1000;
            m.agreed == [true; 2]
                && m.clock.budget(m.position.side_to_move()).is_some_and(|budget| time >= budget)
        });
        if let Some(i) = fallen {
            let loser = self.matches[i].position.side_to_move();
            self.end(i, "#TIME_UP\n", Some(!loser));
        }
    }
}

/// `NAME-300-10F` (increment) or `NAME-300-10` (byoyomi), in seconds.
fn time_control(game: &str) -> Option<TimeControl> {
    let mut parts = game.rsplitn(3, '-');
    let (extra, total, _name) = (parts.next()?, parts.next()?, parts.next()?);
    let ms = |text: &str| text.parse().ok().filter(|s: &u64| *s < 1 << 20).map(|s| s * 1000);
    let total = Some(ms(total)?);
    let control = TimeControl { total, ..TimeControl::default() };
    Some(match extra.strip_suffix('F') {
        Some(increment) => TimeControl { increment: ms(increment)?, ..control },
        None => TimeControl { byoyomi: ms(extra)?, ..control },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_from_names() {
        let read = |game| time_control(game).map(|t| (t.total, t.byoyomi, t.increment));
        assert_eq!(read("floodgate-300-10F"), Some((Some(300_000), 0, 10_000)));
        assert_eq!(read("a-b-60-5"), Some((Some(60_000), 5000, 0)));
        for bad in ["", "a", "a-5", "a-x-5", "a-5-xF"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
