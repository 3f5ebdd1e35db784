//! The arguments of `toratsugumi analyse`.

use crate::record::Format;
use crate::support::numa::processors;
use std::path::PathBuf;

/// Analyse whole games, move by move, or a position
///
/// With games (CSA, KIF, KI2, JKF, PSN or USI files, or directories of them), every position is searched
/// and every move judged: best (`◎`), good, inaccuracy (loses 5 % of win rate or more), mistake (10 %),
/// blunder (20 %). The positions around bad moves are searched again with more nodes; `?` marks a bad move that
/// may be a good one. The analysis goes to standard output as text, or to files called
/// NAME.analysis.html and so on with --html, --svg, --kif, --csa, --json, --text or --out-dir.
/// NAME.analysis.json keeps the results: the same command continues a stopped analysis, and writes further
/// files without searching again.
///
/// Without games, the position of --sfen and --moves is analysed.
///
/// Example: toratsugumi analyse game.kif --nodes 500000 --html --kif
#[derive(clap::Args)]
pub struct Args {
    /// Games to read: files, directories, `-` for standard input
    #[arg(value_name = "GAME", conflicts_with_all = ["sfen", "moves"])]
    pub games: Vec<PathBuf>,
    /// The position [default: the initial position]
    #[arg(long)]
    pub sfen: Option<String>,
    /// Moves from there, in USI text (7g7f 3c3d ...)
    #[arg(long, num_args = 1.., value_name = "MOVE", value_delimiter = ' ')]
    pub moves: Vec<String>,
    /// Milliseconds to think [default: 3000 for a position]
    #[arg(long, value_name = "MS", conflicts_with_all = ["depth", "nodes"], value_parser = clap::value_parser!(u64).range(1..))]
    pub movetime: Option<u64>,
    /// Plies to think ahead, instead of a time
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(i32).range(1..))]
    pub depth: Option<i32>,
    /// Nodes to search, instead of a time; in a game on average for each position [default: 200000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Lines to show
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=600))]
    pub multipv: u16,
    /// Threads to search with. At fixed nodes or depth, the analysis of a game does not
    /// depend on them [default: one per logical processor]
    #[arg(long)]
    pub threads: Option<u16>,
    /// MiB of the transposition table; for games, of that of each thread
    /// [default: 256 for a position, 32 for games]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub hash: Option<u32>,
    /// Positions that the mate solver may visit for each position of a game, beside the search; 0 leaves it out
    /// [default: 20000]
    #[arg(long, value_name = "NODES")]
    pub mate_nodes: Option<u64>,
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    pub eval_dir: Option<PathBuf>,
    /// Opening book (.db, .ybb, .bin, .sbk) whose moves are marked in games
    #[arg(long, value_name = "FILE")]
    pub book: Option<PathBuf>,
    /// Refuse a file instead of skipping what cannot be understood
    #[arg(long)]
    pub strict: bool,
    /// Format of the games: csa, kif, ki2, jkf, psn, usi [default: detected by name or content]
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<Format>,
    /// Directory for the files; it keeps the structure of directories that are read [default: the working
    /// directory]
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Write a page for a browser: board, graph, moves and best lines, all in one file
    #[arg(long)]
    pub html: bool,
    /// Write the graph alone
    #[arg(long)]
    pub svg: bool,
    /// Write the record with comments that ShogiHome and ShogiGUI show as analysis, as KIF (UTF-8)
    #[arg(long)]
    pub kif: bool,
    /// Write the same as CSA
    #[arg(long)]
    pub csa: bool,
    /// Write the analysis as JSON; it accompanies all other files, too
    #[arg(long)]
    pub json: bool,
    /// Write the text that otherwise goes to standard output
    #[arg(long)]
    pub text: bool,
    /// Analyse games again that were analysed with other settings, and overwrite files
    #[arg(long)]
    pub force: bool,
    /// For a position on a terminal: print a line for every depth, and complete variations, as in a pipe
    #[arg(long, short)]
    pub verbose: bool,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

impl Args {
    /// Whether the analysis goes to files.
    pub fn to_files(&self) -> bool {
        self.json || self.out_dir.is_some() || self.forms().next().is_some()
    }

    /// What is written of a game beside the JSON.
    pub fn forms(&self) -> impl Iterator<Item = Form> {
        let forms = [
            (Form::Html, self.html),
            (Form::Svg, self.svg),
            (Form::Kif, self.kif),
            (Form::Csa, self.csa),
            (Form::Text, self.text),
        ];
        forms.into_iter().filter_map(|(form, asked)| asked.then_some(form))
    }

    /// The first option given that a position alone has no use for.
    pub fn of_games(&self) -> Option<&'static str> {
        let given = [
            ("--book", self.book.is_some()),
            ("--from", self.from.is_some()),
            ("--mate-nodes", self.mate_nodes.is_some()),
            ("--force", self.force),
            ("--quiet", self.quiet),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// The threads to search with.
    pub fn threads(&self) -> u16 {
        self.threads.unwrap_or_else(|| u16::try_from(processors()).unwrap_or(u16::MAX))
    }
}

/// A form of the analysis of a game, a file each.
#[derive(Clone, Copy)]
pub enum Form {
    Html,
    Svg,
    Kif,
    Csa,
    Text,
}

impl Form {
    /// The ending of its file.
    pub fn ending(self) -> &'static str {
        match self {
            Form::Html => "html",
            Form::Svg => "svg",
            Form::Kif => "kifu",
            Form::Csa => "csa",
            Form::Text => "txt",
        }
    }
}
