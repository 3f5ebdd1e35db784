//! The command line: the list of subcommands. Each subcommand defines its own arguments and its `run`.

use crate::commands::record_files::PartlyRead;
use crate::commands::{
    accuracy, analyse, bench, book, completions, convert, csa, data, datagen, eval, learn, man, match_, mate,
    net, openings, perft, toml_file, train, tune,
};
use crate::resume::interrupt::Unfinished;
use crate::support::console::{OutputClosed, note, say};
use crate::support::lang::Lang;
use crate::support::messages;
use crate::usi;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::error::Error;
use std::io::{self, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

/// A shogi engine. Without a subcommand it speaks USI on standard input and output.
#[derive(Parser)]
#[command(name = "toratsugumi", version = version(), max_term_width = 100)]
struct Cli {
    /// Search parameters to use, lines such as `lmr_base = 691` (params.txt of `tune`); needs a build with
    /// `--features tune`
    #[arg(long, value_name = "FILE")]
    numbers: Option<PathBuf>,
    /// Language of messages, ja or en, in the commands that have both [default: that of the locale]
    // above --help, which has 999
    #[arg(long, value_name = "LANG", global = true, display_order = 998)]
    lang: Option<Lang>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    // for players
    #[command(visible_alias = "analyze")]
    Analyse(analyse::Args),
    Mate(mate::Args),
    Convert(convert::Args),
    Book(book::Args),
    Csa(Box<csa::Args>),
    Match(Box<match_::Args>),
    Bench(bench::Args),
    // for developers: the engine, then its training
    Perft(perft::Args),
    Eval(eval::Args),
    Openings(openings::Args),
    Net(net::Args),
    Datagen(Box<datagen::Args>),
    Data(data::Args),
    Train(Box<train::Args>),
    Learn(learn::Args),
    Tune(Box<tune::Args>),
    Accuracy(accuracy::Args),
    // for the shell
    Completions(completions::Args),
    Man(man::Args),
}

/// The version; builds for download set `TORATSUGUMI_COMMIT` to their commit and its date.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let number = env!("CARGO_PKG_VERSION");
        option_env!("TORATSUGUMI_COMMIT").map_or(number.into(), |commit| format!("{number} ({commit})"))
    });
    &VERSION
}

/// The command line as clap knows it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and runs the command. The exit code is 1 after an error (one line on standard
/// error), 2 after a wrong command line, 3 when game records or training records could only be read in part,
/// and 75 when a long job stopped early and can be continued.
pub fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(e) => {
            note!("toratsugumi: {e}");
            return ExitCode::FAILURE;
        }
    };
    // USI's lines are English
    if cli.command.is_some() {
        cli.lang.unwrap_or_else(Lang::of_locale).choose();
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        // the output was closed (`| head`), which is not an error
        Err(e) if OutputClosed::caused(&*e) => ExitCode::SUCCESS,
        Err(e) if e.is::<Unfinished>() => {
            note!("toratsugumi: {}", messages::unfinished());
            Unfinished::exit_code()
        }
        Err(e) if e.is::<PartlyRead>() => {
            note!("toratsugumi: {e}");
            PartlyRead::exit_code()
        }
        Err(e) => {
            note!("toratsugumi: {e}");
            ExitCode::FAILURE
        }
    }
}

/// The command line, and for `match` the settings of its file.
fn parse() -> Result<Cli, String> {
    let (mut words, mut command) = (Vec::from_iter(std::env::args_os()), Cli::command());
    // without what the file says, this line may be wrong
    if words.iter().any(|word| word == "match")
        && let Ok(line) = Cli::command().ignore_errors(true).try_get_matches_from(&words)
        && let Some((name @ "match", given)) = line.subcommand()
        && let Some(path) = given.get_one::<PathBuf>("config")
        && let Some(subcommand) = command.find_subcommand(name)
    {
        let failed = |reason| format!("{}: {reason}", path.display());
        words.extend(toml_file::words(path, subcommand, given).map_err(failed)?.into_iter().map(Into::into));
        if let Err(e) = command.try_get_matches_from_mut(&words) {
            note!("toratsugumi: with the settings in {}:", path.display());
            e.exit();
        }
    }
    let matches = command.get_matches_from(words);
    Ok(Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit()))
}

fn run(cli: Cli) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &cli.numbers {
        tune::numbers(path)?;
    }
    match cli.command {
        None => {
            if io::stdin().is_terminal() && io::stdout().is_terminal() {
                say!(
                    "Toratsugumi {} speaks USI: try `go movetime 1000`, `d`, `quit`, and `help` for the rest.",
                    env!("CARGO_PKG_VERSION")
                )?;
            }
            usi::run(BufReader::new(io::stdin()), io::stdout(), usi_extras());
            Ok(())
        }
        Some(Command::Accuracy(args)) => accuracy::run(args),
        Some(Command::Analyse(args)) => analyse::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Book(args)) => book::run(args),
        Some(Command::Completions(args)) => completions::run(&args, command()),
        Some(Command::Convert(args)) => convert::run(args),
        Some(Command::Csa(args)) => csa::run(*args),
        Some(Command::Data(args)) => data::run(args),
        Some(Command::Datagen(args)) => datagen::run(*args),
        Some(Command::Eval(args)) => eval::run(args),
        Some(Command::Learn(args)) => learn::run(args),
        Some(Command::Man(args)) => man::run(&args, command()),
        Some(Command::Match(args)) => match_::run(*args),
        Some(Command::Mate(args)) => mate::run(&args),
        Some(Command::Net(args)) => net::run(args),
        Some(Command::Openings(args)) => openings::run(&args),
        Some(Command::Perft(args)) => perft::run(&args),
        Some(Command::Train(args)) => train::run(*args),
        Some(Command::Tune(args)) => tune::run(*args),
    }
}

/// The commands of this layer that the USI loop offers, too.
pub fn usi_extras() -> Vec<usi::Extra> {
    vec![usi::Extra { name: "bench", help: "search fixed positions: nodes and speed", run: bench::usi }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_settings_file_in_the_documents_is_valid() {
        let pages = [include_str!("../docs/training.md"), include_str!("../docs/ja/training.md")];
        let examples = pages.map(|page| page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap());
        assert_eq!(examples[0], examples[1]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("match.toml");
        std::fs::write(&path, examples[0]).unwrap();
        let (command, name) = (Cli::command(), "match");
        let given = command.clone().ignore_errors(true).get_matches_from(["toratsugumi", name]);
        let (command, given) = (command.find_subcommand(name), given.subcommand_matches(name));
        let words = toml_file::words(&path, command.unwrap(), given.unwrap()).unwrap();
        assert_eq!(words.len(), 9);
        Cli::try_parse_from(["toratsugumi", name].into_iter().chain(words.iter().map(|w| &**w))).unwrap();
    }

    #[test]
    fn every_argument_has_a_help_text() {
        fn without_help(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            for arg in command.get_arguments() {
                if arg.get_help().is_none() && !arg.is_hide_set() {
                    found.push(format!("{path} {}", arg.get_id()));
                }
            }
            for sub in command.get_subcommands() {
                without_help(sub, &format!("{path} {}", sub.get_name()), found);
            }
        }
        let mut found = Vec::new();
        without_help(&Cli::command(), "toratsugumi", &mut found);
        assert!(found.is_empty(), "no help for {found:?}");
    }
}
