//! `toratsugumi csa`: plays on floodgate and other CSA servers.

mod args;

pub use args::Args;

use super::signals;
use crate::csa::client::{Client, ClientError, Tally};
use crate::csa::external::External;
use crate::csa::internal::Internal;
use crate::csa::link::{Event, Wish};
use crate::csa::log::{Log, Screen};
use crate::csa::loopback::{Loopback, Rules};
use crate::csa::player::{Player, PlayerError, Sink, Thought};
use crate::csa::settings::Settings;
use crate::resume::{ResumeError, interrupt};
use crate::support::console::{note, printable, say};
use crate::support::messages::Number;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Once};

/// Runs the command until it has played enough or is interrupted.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let settings = args.settings(|name| std::env::var(name).ok())?;
    signals::watch();
    if settings.dry_run {
        return dry_run(&settings);
    }
    let log = log(&settings, &Arc::new(Screen::new(settings.quiet)), "")?;
    // it may quote the server
    let shown = |e: ClientError| printable(&settings.password.hide_in(&e.to_string()));
    let tally = play(&settings, log, &|| wish(settings.quiet)).map_err(shown)?;
    if !settings.quiet {
        note!("{}", summary(&tally));
    }
    Ok(())
}

/// The request that the signals so far make.
fn wish(quiet: bool) -> Wish {
    match interrupt::requests() {
        0 => Wish::GoOn,
        1 => {
            static ANNOUNCED: Once = Once::new();
            if !quiet {
                ANNOUNCED
                    .call_once(|| note!("stopping after this game; press Ctrl-C again to stop immediately"));
            }
            Wish::Finish
        }
        _ => Wish::Leave,
    }
}

/// Messages begin with `label`.
fn log(settings: &Settings, screen: &Arc<Screen>, label: &str) -> Result<Log, ResumeError> {
    Log::new(settings.password.clone(), settings.log.as_deref(), screen.clone(), label)
}

/// Plays with these settings.
fn play(settings: &Settings, log: Log, wish: &dyn Fn() -> Wish) -> Result<Tally, ClientError> {
    let (send, events) = channel();
    let player = player(settings, send.clone())?;
    Client::new(settings, Arc::new(log), player, (send, events), wish)?.run()
}

fn player(settings: &Settings, send: Sender<Event>) -> Result<Box<dyn Player>, PlayerError> {
    let sink: Sink = Arc::new(move |thought: Thought| {
        // the client may have ended already
        let _ = send.send(Event::Thought(thought));
    });
    Ok(match &settings.engine {
        Some(command) => Box::new(External::new(command.clone(), &settings.options, settings.ponder, sink)?),
        None => Box::new(Internal::new(&settings.options, settings.ponder, sink)?),
    })
}

fn summary(tally: &Tally) -> String {
    let Tally { finished, broken, wins, losses, draws } = tally;
    let others = finished - wins - losses - draws;
    let finished = Number(finished);
    let mut text = format!("{finished} game{finished:#}: {wins} won, {losses} lost, {draws} drawn");
    if others > 0 {
        text += &format!(", {others} without result");
    }
    if *broken > 0 {
        text += &format!("; {broken} more broken off");
    }
    text
}

/// Both players of every game, over a server in this process. Each keeps its records in a directory of its
/// own.
fn dry_run(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let server = Loopback::start(Rules::default())?;
    let players = ["first", "second"].map(|name| Settings {
        port: server.port(),
        id: name.into(),
        out: settings.out.join(name),
        log: settings.log.as_ref().map(|path| path.with_extension(format!("{name}.log"))),
        options: frugal(settings),
        ..settings.clone()
    });
    // without its opponent a player would wait forever
    let alone = AtomicBool::new(false);
    let screen = Arc::new(Screen::new(settings.quiet));
    let [first, second] = players.each_ref().map(|s| log(s, &screen, &format!("{}: ", s.id)));
    // both play the same game, so one reports it
    let logs = [first?, second?.without_live()];
    let results = std::thread::scope(|scope| {
        let alone = &alone;
        let clients = players.iter().zip(logs).map(|(s, log)| {
            scope.spawn(move || {
                let wish = || if alone.load(Relaxed) { Wish::Leave } else { wish(s.quiet) };
                let result = play(s, log, &wish);
                alone.store(result.is_err(), Relaxed);
                result
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().map(|client| client.join()).collect::<Vec<_>>()
    });
    let mut tallies = Vec::new();
    for result in results {
        tallies.push(result.map_err(|_| "a client has failed unexpectedly")??);
    }
    if let [first, second] = tallies.as_slice() {
        if first.wins != second.losses || first.losses != second.wins || first.draws != second.draws {
            return Err("the two players do not agree on the results".into());
        }
        say!("{}", summary(first))?;
    }
    Ok(())
}

/// Two engines share this machine, so the defaults are small tables and one thread.
fn frugal(settings: &Settings) -> Vec<(String, String)> {
    let few =
        [("Threads", "1"), ("USI_Hash", "64")].map(|(name, value)| (name.to_string(), value.to_string()));
    // another engine may name them differently
    let few = few.into_iter().filter(|_| settings.engine.is_none());
    few.chain(settings.options.iter().cloned()).collect()
}
