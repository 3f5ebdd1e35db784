//! [`Args`] come from the command line and from a TOML file; together they make [`Settings`].

use crate::commands::toml_file;
use crate::commands::values::parse_duration;
use crate::csa::secret::Secret;
use crate::csa::settings::{Settings, SettingsError};
use crate::record::encoding::decode;
use crate::usi_client::split_words;
use jiff::civil::{DateTime, Time};
use jiff::{Span, Timestamp, Zoned};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Play on floodgate or another CSA server
///
/// Logs in, waits for a game, plays it, saves the record and logs in again. Reconnects after a broken
/// connection. Ctrl-C (or SIGTERM) stops after the current game, a second one immediately.
///
/// Example: toratsugumi csa --host HOST --id MyEngine --password-file trip.txt --game floodgate-300-10F
#[derive(clap::Args, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Args {
    /// The server's name or address
    #[arg(long)]
    host: Option<String>,
    /// The server's port [default: 4081]
    #[arg(long)]
    port: Option<u16>,
    /// Name to log in with
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Password (on floodgate: the trip, without the game's name). Other users of this machine can see the
    /// command line; --password-file and TORATSUGUMI_CSA_PASSWORD are safer
    #[arg(long)]
    password: Option<Secret>,
    /// File whose first line is the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Game to wait for, for instance floodgate-300-10F
    #[arg(long, value_name = "GAME")]
    game: Option<String>,
    /// Settings in TOML: the names of these options, and a table `[option]` of USI options. The command line
    /// overrides them
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// A USI engine to play with, program and arguments quoted as in a shell [default: this one]
    #[arg(long, value_name = "CMD")]
    engine: Option<String>,
    /// A USI option for the engine; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_option)]
    #[serde(deserialize_with = "option_table")]
    option: Vec<(String, String)>,
    /// Do not think on the opponent's time
    #[arg(long)]
    no_ponder: bool,
    /// Do not send score and principal variation with the moves
    #[arg(long)]
    no_comment: bool,
    /// Resign after --resign-moves consecutive scores of minus this or less, in centipawns [default: never]
    #[arg(long, value_name = "CP")]
    resign: Option<i32>,
    /// With --resign: number of consecutive scores [default: 3]
    #[arg(long, value_name = "N")]
    resign_moves: Option<u32>,
    /// Stop after N games [default: never; 1 with --dry-run]
    #[arg(long, value_name = "N")]
    games: Option<u32>,
    /// Start no game after this: a time of day (18:00), a date and time (2026-12-31T18:00), both local, or a
    /// duration (8h)
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Directory for records (CSA) and games.jsonl [default: csa-games]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Log the dialogue with the server to this file, without the password
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Send an empty line after this many seconds of silence, at least 30 [default: 45]
    #[arg(long, value_name = "SECONDS")]
    keep_alive: Option<u64>,
    /// Milliseconds of the clock to keep in reserve; more where the connection is slower [default: 100]
    #[arg(long, value_name = "MS")]
    margin: Option<u64>,
    /// Longest wait between two attempts to connect [default: 60s]
    #[arg(long, value_name = "TIME")]
    max_wait: Option<String>,
    /// Play one game against itself on a server inside this process, without --host and --id
    #[arg(long, conflicts_with_all = ["host", "id"])]
    dry_run: bool,
    /// Print only errors on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Name and environment variable of the password.
pub const PASSWORD_VARIABLE: &str = "TORATSUGUMI_CSA_PASSWORD";

fn parse_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}`: write NAME=VALUE"))?;
    Ok((name.trim().into(), value.into()))
}

/// `[option]` with values of any simple kind.
fn option_table<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<(String, String)>, D::Error> {
    let table = BTreeMap::<String, toml::Value>::deserialize(d)?;
    let text = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(table.into_iter().map(|(name, value)| (name, text(value))).collect())
}

impl Args {
    /// The command line first, then the file, then the defaults.
    pub fn settings(self, environment: impl Fn(&str) -> Option<String>) -> Result<Settings, SettingsError> {
        let file = match &self.config {
            Some(path) => {
                toml_file::read(path).map_err(|reason| SettingsError::File { path: path.clone(), reason })?
            }
            None => Args::default(),
        };
        let dry_run = self.dry_run || file.dry_run;
        let password = match (self.password.clone(), self.password_file.as_deref()) {
            (Some(password), _) => Some(password),
            (None, Some(path)) => Some(read_password(path)?),
            (None, None) => environment(PASSWORD_VARIABLE).map(Secret::from),
        };
        // a dry run needs no password
        let password = match (password, file.password, file.password_file.as_deref()) {
            (Some(password), ..) | (None, Some(password), _) => password,
            (None, None, Some(path)) if !dry_run => read_password(path)?,
            (None, None, _) => Secret::default(),
        };
        let host = self.host.or(file.host);
        let id = self.id.or(file.id);
        let (host, id) = match dry_run {
            true => ("127.0.0.1".into(), "toratsugumi".into()),
            false => (host.ok_or(SettingsError::Missing("host"))?, id.ok_or(SettingsError::Missing("id"))?),
        };
        let usual_game = if dry_run { "dry-run-10-1F" } else { "" };
        let game = self.game.or(file.game).unwrap_or_else(|| usual_game.into());
        if !dry_run && game.is_empty() && password.reveal().is_empty() {
            return Err(SettingsError::Missing("game, or --password"));
        }
        one_word("id", &id)?;
        one_word("game", &game)?;
        one_word("password", password.reveal()).map_err(|_| SettingsError::Value {
            name: "password",
            reason: "blanks are not allowed: the protocol separates words by them".into(),
        })?;
        let wrong = |name| move |reason| SettingsError::Value { name, reason };
        let engine = self.engine.or(file.engine);
        let engine = engine.map(|text| split_words(&text)).transpose().map_err(wrong("engine"))?;
        // the last of several values counts
        let mut options = file.option;
        options.extend(self.option);
        let until = self.until.or(file.until);
        let until =
            until.map(|text| parse_until(&text, &Zoned::now())).transpose().map_err(wrong("until"))?;
        let max_wait = self.max_wait.or(file.max_wait).unwrap_or_else(|| "60s".into());
        let keep_alive = self.keep_alive.or(file.keep_alive).unwrap_or(45);
        if !(30..=3600).contains(&keep_alive) {
            let reason = "servers want at least 30 seconds between two lines; at most an hour".into();
            return Err(SettingsError::Value { name: "keep-alive", reason });
        }
        let resign = self.resign.or(file.resign);
        if resign.is_some_and(|cp| cp <= 0) {
            return Err(SettingsError::Value { name: "resign", reason: "write a number above 0".into() });
        }
        Ok(Settings {
            host,
            port: self.port.or(file.port).unwrap_or(4081),
            id,
            password,
            game,
            engine,
            options,
            ponder: !(self.no_ponder || file.no_ponder),
            comments: !(self.no_comment || file.no_comment),
            resign,
            resign_moves: self.resign_moves.or(file.resign_moves).unwrap_or(3).max(1),
            games: self.games.or(file.games).or(dry_run.then_some(1)),
            until,
            out: self.out.or(file.out).unwrap_or_else(|| "csa-games".into()),
            log: self.log.or(file.log),
            keep_alive: Duration::from_secs(keep_alive),
            answer: Duration::from_secs(30),
            margin: self.margin.or(file.margin).unwrap_or(100).min(10_000),
            max_wait: parse_duration(&max_wait).map_err(wrong("max-wait"))?.max(Duration::from_secs(1)),
            dry_run,
            quiet: self.quiet || file.quiet,
        })
    }
}

fn read_password(path: &Path) -> Result<Secret, SettingsError> {
    let failed = |reason: String| SettingsError::File { path: path.into(), reason };
    // editors on Windows write a byte order mark, or UTF-16
    let text = decode(&std::fs::read(path).map_err(|e| failed(e.to_string()))?).text;
    match text.lines().next().unwrap_or_default().trim() {
        "" => Err(failed("the first line is empty; the password (trip) belongs there".into())),
        password => Ok(Secret::from(password.to_string())),
    }
}

fn one_word(name: &'static str, text: &str) -> Result<(), SettingsError> {
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(SettingsError::Value { name, reason: format!("`{text}` has blanks in it") });
    }
    Ok(())
}

/// Parses [`Args::until`].
fn parse_until(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let at = |when: DateTime| {
        when.to_zoned(now.time_zone().clone()).map(|z| z.timestamp()).map_err(|e| e.to_string())
    };
    if let Ok(when) = text.replace(' ', "T").parse::<DateTime>() {
        return at(when);
    }
    if text.contains(':') {
        let time: Time = text.parse().map_err(|_| format!("`{text}` is not a time of day"))?;
        let today = now.date().to_datetime(time);
        let next = if today <= now.datetime() {
            now.date().tomorrow().map_err(|e| e.to_string())?.to_datetime(time)
        } else {
            today
        };
        return at(next);
    }
    let span = parse_duration(text)?;
    let span = Span::new().try_seconds(span.as_secs() as i64).map_err(|e| e.to_string())?;
    now.checked_add(span).map(|z| z.timestamp()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn settings(words: &[&str], env: Option<&str>) -> Result<Settings, SettingsError> {
        let line = Line::try_parse_from(std::iter::once(&"csa").chain(words)).unwrap();
        line.args.settings(|_| env.map(String::from))
    }

    #[test]
    fn the_command_line_overrides_the_file_and_the_file_the_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let (config, trip) = (dir.path().join("c.toml"), dir.path().join("trip"));
        std::fs::write(&trip, "from-file\nmore\n").unwrap();
        std::fs::write(
            &config,
            "host = 'h'\nid = 'i'\ngame = 'g-60-1F'\npassword = 'p'\nno-ponder = true\nresign = 900\nkeep-alive = 60\n[option]\nThreads = 2\nEvalDir = 'x'\n",
        )
        .unwrap();
        let config = config.to_str().unwrap();
        let s = settings(&["--config", config, "--id", "me", "--option", "Threads=3"], None).unwrap();
        assert_eq!((s.host.as_str(), s.id.as_str(), s.port, s.ponder), ("h", "me", 4081, false));
        assert_eq!((s.resign, s.resign_moves, s.keep_alive.as_secs()), (Some(900), 3, 60));
        let options = [("EvalDir", "x"), ("Threads", "2"), ("Threads", "3")];
        assert_eq!(s.options, options.map(|(a, b)| (a.to_string(), b.to_string())));
        assert_eq!(s.password.reveal(), "p");
        assert_eq!(settings(&["--config", config], Some("env")).unwrap().password.reveal(), "env");
        let trip = ["--config", config, "--password-file", trip.to_str().unwrap()];
        assert_eq!(settings(&trip, Some("env")).unwrap().password.reveal(), "from-file");
        assert!(!format!("{s:?}").contains("\"p\""));
        let file = dir.path().join("windows");
        let trip = ["--config", config, "--password-file", file.to_str().unwrap()];
        let wide = |text: &str| {
            [&[0xff, 0xfe], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()[..]].concat()
        };
        for bytes in ["\u{feff}from-windows\r\n".as_bytes().to_vec(), wide("from-windows\r\n")] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(settings(&trip, None).unwrap().password.reveal(), "from-windows");
        }
        std::fs::write(&file, "\nfrom-windows\n").unwrap();
        assert!(settings(&trip, None).unwrap_err().to_string().contains("the first line is empty"));
        std::fs::write(config, "host = 'h'\nid = 'i'\ngame = 'g-60-1F'\npassword-file = 'not there'\n")
            .unwrap();
        assert!(settings(&["--config", config], None).is_err());
        assert!(settings(&["--config", config, "--dry-run"], None).unwrap().dry_run);
    }

    #[test]
    fn every_setting_of_the_example_exists() {
        let example = include_str!("../../../docs/floodgate.toml");
        // commented-out settings count, too
        let all: String =
            example.lines().map(|l| format!("{}\n", l.trim_start_matches("# "))).skip(1).collect();
        for text in [example, &all] {
            let args: Args = toml::from_str(text).unwrap();
            assert_eq!((args.port, args.option.len()), (Some(4081), 3));
        }
    }

    #[test]
    fn errors_do_not_show_the_password() {
        let say = |words: &[&str]| settings(words, None).unwrap_err().to_string();
        assert_eq!(say(&[]), "give --host");
        assert_eq!(say(&["--host", "h"]), "give --id");
        assert!(say(&["--host", "h", "--id", "i"]).contains("--game"));
        assert!(say(&["--host", "h", "--id", "a b", "--game", "g"]).contains("--id"));
        let text = say(&["--host", "h", "--id", "i", "--password", "se cret"]);
        assert!(text.contains("--password") && !text.contains("cret"), "{text}");
        assert!(say(&["--host", "h", "--id", "i", "--game", "g", "--keep-alive", "5"]).contains("30"));
        assert!(say(&["--host", "h", "--id", "i", "--game", "g", "--until", "soon"]).contains("until"));
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("c.toml");
        std::fs::write(&config, "host = 'h'\npassword = 'secret' oops\n").unwrap();
        let text = say(&["--config", config.to_str().unwrap()]);
        assert!(text.contains("line 2") && !text.contains("secret"), "{text}");
        std::fs::write(&config, "hots = 'h'\n").unwrap();
        assert!(say(&["--config", config.to_str().unwrap()]).contains("hots"));
    }

    #[test]
    fn until_parses_times_dates_and_durations() {
        let now: Zoned = "2026-07-17T16:30:00[Asia/Tokyo]".parse().unwrap();
        let until =
            |text| parse_until(text, &now).unwrap().to_zoned(now.time_zone().clone()).datetime().to_string();
        assert_eq!(until("18:00"), "2026-07-17T18:00:00");
        assert_eq!(until("09:15"), "2026-07-18T09:15:00");
        assert_eq!(until("2026-12-31T18:00"), "2026-12-31T18:00:00");
        assert_eq!(until("2026-12-31 18:00"), "2026-12-31T18:00:00");
        assert_eq!(until("8h"), "2026-07-18T00:30:00");
        assert!(parse_until("25:00", &now).is_err() && parse_until("", &now).is_err());
    }
}
