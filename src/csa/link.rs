//! The line to the server while it lasts: [`Link`] sends, waits, and keeps the connection alive.

use super::connection::{Connection, Incoming};
use super::log::Log;
use super::player::Thought;
use super::protocol::ClientLine;
use super::settings::Settings;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the user's wish is checked.
const LOOK: Duration = Duration::from_millis(100);

/// What wakes a session.
#[derive(Debug)]
pub enum Event {
    /// From the connection of that number.
    Server(u64, Incoming),
    /// From the player.
    Thought(Thought),
}

/// What the user wants right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Play on.
    GoOn,
    /// Stop after this game.
    Finish,
    /// Stop now.
    Leave,
}

/// Why a link cannot be used any longer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The connection is gone; with the reason.
    #[error("connection lost: {0}")]
    Lost(String),
    /// What did not come, and the seconds waited.
    #[error("no {0} within {1} s")]
    Silent(&'static str, u64),
    /// The user wants to leave.
    #[error("asked to stop")]
    Stopped,
}

/// What a session works with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The user's settings.
    pub settings: &'a Settings,
    /// Where messages to the user go.
    pub log: &'a Log,
    /// Where the connection and the player report.
    pub events: &'a Receiver<Event>,
    /// Asked several times a second.
    pub wish: &'a dyn Fn() -> Wish,
}

/// A connection, and what the player reports meanwhile.
pub struct Link<'a> {
    /// Settings, log, events.
    pub context: Context<'a>,
    connection: Connection,
    /// Its number.
    number: u64,
    last_sent: Instant,
    last_received: Instant,
    /// Whether the server answers empty lines.
    echoes: bool,
}

/// What [`Link::wait`] waited for.
#[derive(Debug)]
pub enum Woken {
    /// A line of the server, and when it came.
    Line(String, Instant),
    /// There will be no more lines.
    Closed(String),
    /// The player reports.
    Thought(Thought),
    /// The deadline has passed.
    Timeout,
}

impl<'a> Link<'a> {
    /// Over the connection of that number; events of other connections are ignored.
    pub fn new(context: Context<'a>, number: u64, connection: Connection) -> Link<'a> {
        let now = Instant::now();
        Link { context, connection, number, last_sent: now, last_received: now, echoes: false }
    }

    /// Sends a line.
    ///
    /// # Errors
    /// [`LinkError::Lost`] when the other end is gone.
    pub fn send(&mut self, line: &ClientLine<'_>) -> Result<(), LinkError> {
        self.last_sent = Instant::now();
        self.connection.send(line).map_err(|e| LinkError::Lost(e.to_string()))
    }

    /// Waits for the next event, at most until `deadline`; without one, at most a moment. Keeps the line alive
    /// meanwhile.
    ///
    /// # Errors
    /// When the user wants to leave, or the server no longer answers.
    pub fn wait(&mut self, deadline: Option<Instant>) -> Result<Woken, LinkError> {
        loop {
            if (self.context.wish)() == Wish::Leave {
                return Err(LinkError::Stopped);
            }
            let now = Instant::now();
            if now.duration_since(self.last_sent) >= self.context.settings.keep_alive {
                self.send(&ClientLine::KeepAlive)?;
            }
            let silence = now.duration_since(self.last_received);
            if self.echoes && silence > 2 * self.context.settings.keep_alive + self.context.settings.answer {
                return Err(LinkError::Silent("answer to empty lines", silence.as_secs()));
            }
            let left = deadline.map_or(LOOK, |d| d.saturating_duration_since(now).min(LOOK));
            match self.context.events.recv_timeout(left) {
                Ok(Event::Server(number, _)) if number != self.number => {}
                Ok(Event::Server(_, Incoming::Closed(reason))) => return Ok(Woken::Closed(reason)),
                Ok(Event::Server(_, Incoming::Line(line, at))) => {
                    self.last_received = at;
                    self.echoes |= line.is_empty();
                    return Ok(Woken::Line(line, at));
                }
                Ok(Event::Thought(thought)) => return Ok(Woken::Thought(thought)),
                // without a deadline the caller has a wish to look at
                Err(RecvTimeoutError::Timeout) if deadline.is_none_or(|d| Instant::now() >= d) => {
                    return Ok(Woken::Timeout);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(LinkError::Lost("nobody listens".into()));
                }
            }
        }
    }
}
