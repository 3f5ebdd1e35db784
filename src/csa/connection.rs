//! A line-by-line connection over any pair of `Read` and `Write`.

use super::log::Log;
use super::protocol::ClientLine;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer lines are no lines of the protocol; a game summary's are below 100 bytes.
const LONGEST_LINE: usize = 64 << 10;
/// A server that has not read for so long counts as gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// A server that sends more lines than this within [`FLOOD_TIME`] is not waited for: the lines would fill the memory.
const FLOOD: u32 = 20_000;
const FLOOD_TIME: Duration = Duration::from_secs(10);

/// What comes from the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A line without its end, and when it came.
    Line(String, Instant),
    /// There will be no more lines.
    Closed(String),
}

/// The sending half; a thread of its own receives.
pub struct Connection {
    output: Box<dyn Write + Send>,
    /// Ends the receiving thread's wait.
    hang_up: Box<dyn Fn() + Send>,
    log: Arc<Log>,
}

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    /// Those of name resolution and TCP.
    pub fn open(
        host: &str,
        port: u16,
        log: Arc<Log>,
        sink: impl FnMut(Incoming) + Send + 'static,
    ) -> io::Result<Connection> {
        let mut error = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => {
                    // a move must not wait for more data
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
                    let (input, control) = (stream.try_clone()?, stream.try_clone()?);
                    let hang_up = move || {
                        // it may be closed already
                        let _ = control.shutdown(Shutdown::Both);
                    };
                    return Ok(Connection::over(input, stream, hang_up, log, sink));
                }
                Err(e) => error = e,
            }
        }
        Err(error)
    }

    /// A connection over any two halves. `hang_up` makes the reading half return.
    pub fn over(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        hang_up: impl Fn() + Send + 'static,
        log: Arc<Log>,
        sink: impl FnMut(Incoming) + Send + 'static,
    ) -> Connection {
        let listener = log.clone();
        std::thread::spawn(move || receive(input, &listener, sink));
        Connection { output: Box::new(output), hang_up: Box::new(hang_up), log }
    }

    /// Sends a line.
    ///
    /// # Errors
    /// When the other end is gone.
    pub fn send(&mut self, line: &ClientLine<'_>) -> io::Result<()> {
        let mut text = line.to_string();
        self.log.sent(&text);
        text.push('\n');
        self.output.write_all(text.as_bytes())?;
        self.output.flush()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        (self.hang_up)();
    }
}

/// Reads until the end. A last line without a line end is dropped: it may be incomplete.
fn receive(mut input: impl Read, log: &Log, mut sink: impl FnMut(Incoming)) {
    let mut splitter = Splitter::default();
    let mut chunk = [0; 4096];
    let (mut since, mut lines) = (Instant::now(), 0);
    let reason = loop {
        if since.elapsed() > FLOOD_TIME {
            (since, lines) = (Instant::now(), 0);
        }
        if lines > FLOOD {
            break format!("the server sends more than {FLOOD} lines in {} s", FLOOD_TIME.as_secs());
        }
        match input.read(&mut chunk) {
            Ok(0) => break "closed by the server".to_string(),
            Ok(n) => splitter.feed(&chunk[..n], |line| {
                lines += 1;
                log.received(&line);
                sink(Incoming::Line(line, Instant::now()));
            }),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => break e.to_string(),
        }
    };
    sink(Incoming::Closed(reason));
}

/// Splits bytes that come in any portions into lines.
#[derive(Default)]
pub struct Splitter {
    rest: Vec<u8>,
    /// The line under way is too long and not kept.
    overlong: bool,
}

impl Splitter {
    /// Takes bytes and passes on the lines that they complete, without LF or CR LF. Too long ones are left out.
    pub fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(String)) {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            if self.rest.len() + part.len() > LONGEST_LINE {
                self.overlong = true;
                self.rest.clear();
            }
            if !self.overlong {
                self.rest.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                if !std::mem::take(&mut self.overlong) {
                    let text = String::from_utf8_lossy(&self.rest);
                    line(text.trim_end_matches(['\n', '\r']).to_string());
                }
                self.rest.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(portions: &[&[u8]]) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut lines = Vec::new();
        for portion in portions {
            splitter.feed(portion, |line| lines.push(line));
        }
        lines
    }

    #[test]
    fn lines_are_put_together() {
        assert_eq!(lines(&[b"LOG", b"IN:a OK\r\n\n+77", b"76FU,T1\nhalf"]), ["LOGIN:a OK", "", "+7776FU,T1"]);
        let long = vec![b'x'; LONGEST_LINE];
        assert_eq!(lines(&[&long, &long, b"x\nok\n"]), ["ok"]);
    }

    proptest! {
        #[test]
        fn portions_do_not_matter(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), size in 1usize..20) {
            let portions: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(lines(&portions), lines(&[&bytes]));
        }
    }
}
