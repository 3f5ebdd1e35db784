//! A small CSA server on this machine: [`Loopback`]. It pairs two clients that wait for the same game, judges
//! by our own rules, and answers like the Ruby shogi-server.

mod server;

pub use server::Rules;

use super::connection::Splitter;
use server::{ConnectionId, Event, Server};
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A running server; it ends when dropped.
pub struct Loopback {
    port: u16,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Loopback {
    /// Starts a server on 127.0.0.1.
    ///
    /// # Errors
    /// When no port is free.
    pub fn start(rules: Rules) -> io::Result<Loopback> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let stop = Arc::new(AtomicBool::new(false));
        let (send, events) = channel();
        let (accepting, serving) = (stop.clone(), stop.clone());
        let accept = std::thread::spawn(move || {
            for (id, stream) in listener.incoming().enumerate() {
                if accepting.load(Relaxed) {
                    break;
                }
                if let Ok(stream) = stream {
                    accept(id as ConnectionId, stream, &send);
                }
            }
        });
        let serve = std::thread::spawn(move || Server::new(rules).run(&events, &serving));
        Ok(Loopback { port, stop, threads: vec![accept, serve] })
    }

    /// The address of the server.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        // wakes the accepting thread
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn accept(id: ConnectionId, stream: TcpStream, send: &Sender<Event>) {
    let (Ok(mut input), Ok(())) = (stream.try_clone(), stream.set_nodelay(true)) else { return };
    if send.send(Event::Opened(id, stream)).is_err() {
        return;
    }
    let send = send.clone();
    std::thread::spawn(move || {
        let mut splitter = Splitter::default();
        let mut chunk = [0; 1024];
        while let Ok(n @ 1..) = input.read(&mut chunk) {
            splitter.feed(&chunk[..n], |line| {
                let _ = send.send(Event::Line(id, line));
            });
        }
        let _ = send.send(Event::Closed(id));
    });
}
