//! The user's options: one table of names, types, defaults and ranges, and the values set so far.
//!
//! Adding an option is one variant of [`Opt`] and one row of the [`table`], in the order in which `usi` prints them.

use super::skill::{self, Skill};
use crate::book::choose::ChoiceOptions;
use crate::mate::Shorten;
use crate::position::EnteringKingRule;
use crate::search::SearchOptions;
use crate::support::numa::{self, NotAPolicy, Policy};
use crate::types::{Color, MAX_PLY};
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// How an empty string is written on the wire.
pub const EMPTY: &str = "<empty>";
/// The value of `EvalDir` and of `BookFile` that stands for what is inside the binary.
pub use crate::book::INTERNAL;
/// Most centipawns by which a move of the book inside may be worse than the first.
const INTERNAL_EVAL_DIFF: i32 = 10;
/// The least depth of a move of the book inside. Depths count the book moves that follow; the score of a leaf rests on
/// a search of a few thousand nodes.
const INTERNAL_LEAST_DEPTH: i32 = 1;
/// The value of `BookFile` that stands for no book.
pub const NO_BOOK: &str = "no_book";

/// Every option, in the order of [`table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Opt {
    /// Search threads.
    Threads,
    /// Which processors the threads are bound to.
    NumaPolicy,
    /// The GUI may let the engine ponder.
    UsiPonder,
    /// Ponder on the position before the opponent's move.
    StochasticPonder,
    /// Deepest iteration; 0 for no limit.
    DepthLimit,
    /// Most nodes of a search; 0 for no limit.
    NodesLimit,
    /// Log of the session.
    DebugLogFile,
    /// MiB of the transposition table.
    UsiHash,
    /// Lines to report.
    MultiPv,
    /// Score of a draw in centipawns for Black.
    DrawValueBlack,
    /// Likewise for White.
    DrawValueWhite,
    /// How strong to play: 0 to 20, which is full strength.
    SkillLevel,
    /// Play at `UCI_Elo` instead of `SkillLevel`.
    UciLimitStrength,
    /// How strong to play then.
    UciElo,
    /// Resign when the score falls to minus this.
    ResignValue,
    /// Draw when the game ply exceeds this; 0 for never.
    MaxMovesToDraw,
    /// Least milliseconds between two reports.
    PvInterval,
    /// Whole lines at every opportunity, for analysis.
    ConsiderationMode,
    /// Report fail-high and fail-low lines.
    OutputFailLhPv,
    /// Search pointless non-promotions, too.
    GenerateAllLegalMoves,
    /// The rule by which an entered king wins.
    EnteringKingRule,
    /// Per cent of a move's time for each call of the mate solver at the root; 0 for none.
    RootMatePercent,
    /// Usual lag in milliseconds.
    NetworkDelay,
    /// Worst lag in milliseconds.
    NetworkDelay2,
    /// Least milliseconds for a move.
    MinimumThinkingTime,
    /// Share of the planned time to use, in per cent.
    SlowMover,
    /// Think to the end of a full second.
    RoundUpToFullSecond,
    /// Whether the GUI's clocks include the increment.
    IncrementConvention,
    /// The network's directory.
    EvalDir,
    /// Divisor of the network's output.
    FvScale,
    /// How far a mate that was found is shortened.
    PostSearchLevel,
    /// Play from an opening book.
    UsiOwnBook,
    /// Ignore moves that were played in less than a tenth of the cases.
    NarrowBook,
    /// The last move number at which the book is used.
    BookMoves,
    /// Percentage of moves for which the book is not used.
    BookIgnoreRate,
    /// The book's file, `<internal>` for the one inside the binary, `no_book` for none.
    BookFile,
    /// Its directory.
    BookDir,
    /// Centipawns by which a move may be worse than the first.
    BookEvalDiff,
    /// Another number for Black; -1 for none.
    BookEvalBlackDiff,
    /// Another number for White; -1 for none.
    BookEvalWhiteDiff,
    /// Least score in centipawns of a move of Black.
    BookEvalBlackLimit,
    /// Likewise of White.
    BookEvalWhiteLimit,
    /// Least depth of a position's first move; 0 for any.
    BookDepthLimit,
    /// Another number for Black; -1 for none.
    BookDepthBlackLimit,
    /// Another number for White; -1 for none.
    BookDepthWhiteLimit,
    /// Leave the book on the disk.
    BookOnTheFly,
    /// Draw book moves by how often they were played.
    ConsiderBookMoveCount,
    /// Longest line of book moves to report.
    BookPvMoves,
    /// A position counts at any move number.
    IgnoreBookPly,
    /// A position counts with the board turned, too.
    FlippedBook,
}

/// The type of an option with its default and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // of the fields
pub enum Kind {
    /// `true` or `false`.
    Check { default: bool },
    /// A whole number in a range.
    Spin { default: i64, min: i64, max: i64 },
    /// One of several words.
    Combo { default: &'static str, choices: &'static [&'static str] },
    /// The usual names to choose from; any other text is taken, too.
    Name { default: &'static str, usual: &'static [&'static str] },
    /// Any text.
    Text { default: &'static str },
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its key.
    pub opt: Opt,
    /// Its USI name.
    pub name: &'static str,
    /// Its type, default and range.
    pub kind: Kind,
}

const RULES: &[&str] = &["NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule"];

/// The book inside, and the names that books of YaneuraOu and Apery go by.
const BOOKS: &[&str] = &[
    NO_BOOK,
    INTERNAL,
    "standard_book.db",
    "yaneura_book1.db",
    "yaneura_book2.db",
    "yaneura_book3.db",
    "yaneura_book4.db",
    "user_book1.db",
    "user_book2.db",
    "user_book3.db",
    "book.bin",
];

/// Whether `btime` and `wtime` include this move's increment: to be found out; no, as in USI; yes.
const INCREMENT_CONVENTIONS: &[&str] = &["auto", "usi", "included"];

const POST_SEARCH: &[&str] = &["None", "UpperBound", "MinLength"];

const fn check(opt: Opt, name: &'static str, default: bool) -> Spec {
    Spec { opt, name, kind: Kind::Check { default } }
}

const fn spin(opt: Opt, name: &'static str, default: i64, min: i64, max: i64) -> Spec {
    Spec { opt, name, kind: Kind::Spin { default, min, max } }
}

const fn combo(
    opt: Opt,
    name: &'static str,
    default: &'static str,
    choices: &'static [&'static str],
) -> Spec {
    Spec { opt, name, kind: Kind::Combo { default, choices } }
}

const fn text(opt: Opt, name: &'static str, default: &'static str) -> Spec {
    Spec { opt, name, kind: Kind::Text { default } }
}

/// The options as written; [`table`] fills in what depends on the machine (`Threads`).
const TABLE: &[Spec] = &[
    spin(Opt::Threads, "Threads", 1, 1, 1024),
    text(Opt::NumaPolicy, "NumaPolicy", "auto"),
    check(Opt::UsiPonder, "USI_Ponder", false),
    check(Opt::StochasticPonder, "Stochastic_Ponder", false),
    spin(Opt::DepthLimit, "DepthLimit", 0, 0, i32::MAX as i64),
    spin(Opt::NodesLimit, "NodesLimit", 0, 0, i64::MAX),
    text(Opt::DebugLogFile, "DebugLogFile", ""),
    spin(Opt::UsiHash, "USI_Hash", 1024, 1, 33_554_432),
    // as many as other engines allow, though a position has at most 593 moves
    spin(Opt::MultiPv, "MultiPV", 1, 1, 600),
    spin(Opt::DrawValueBlack, "DrawValueBlack", -2, -30000, 30000),
    spin(Opt::DrawValueWhite, "DrawValueWhite", -2, -30000, 30000),
    spin(Opt::SkillLevel, "SkillLevel", skill::FULL, 0, skill::FULL),
    check(Opt::UciLimitStrength, "UCI_LimitStrength", false),
    spin(Opt::UciElo, "UCI_Elo", skill::ELO_RANGE.1, skill::ELO_RANGE.0, skill::ELO_RANGE.1),
    spin(Opt::ResignValue, "ResignValue", 99999, 0, 99999),
    spin(Opt::MaxMovesToDraw, "MaxMovesToDraw", 0, 0, 100_000),
    spin(Opt::PvInterval, "PvInterval", 300, 0, 100_000_000),
    check(Opt::ConsiderationMode, "ConsiderationMode", false),
    check(Opt::OutputFailLhPv, "OutputFailLHPV", true),
    check(Opt::GenerateAllLegalMoves, "GenerateAllLegalMoves", false),
    combo(Opt::EnteringKingRule, "EnteringKingRule", "CSARule27", RULES),
    spin(Opt::RootMatePercent, "RootMatePercent", 1, 0, 50),
    spin(Opt::NetworkDelay, "NetworkDelay", 120, 0, 10_000),
    spin(Opt::NetworkDelay2, "NetworkDelay2", 1120, 0, 10_000),
    spin(Opt::MinimumThinkingTime, "MinimumThinkingTime", 2000, 1, 100_000),
    spin(Opt::SlowMover, "SlowMover", 100, 1, 1000),
    check(Opt::RoundUpToFullSecond, "RoundUpToFullSecond", true),
    combo(Opt::IncrementConvention, "IncrementConvention", "auto", INCREMENT_CONVENTIONS),
    text(Opt::EvalDir, "EvalDir", INTERNAL),
    spin(Opt::FvScale, "FV_SCALE", 16, 1, 128),
    // what `go mate` does after a first mate; name and choices as in KomoringHeights
    combo(Opt::PostSearchLevel, "PostSearchLevel", "MinLength", POST_SEARCH),
    // the opening book: names, defaults and meaning as in YaneuraOu, but for the file's default
    check(Opt::UsiOwnBook, "USI_OwnBook", true),
    check(Opt::NarrowBook, "NarrowBook", false),
    spin(Opt::BookMoves, "BookMoves", 16, 0, 10_000),
    spin(Opt::BookIgnoreRate, "BookIgnoreRate", 0, 0, 100),
    Spec { opt: Opt::BookFile, name: "BookFile", kind: Kind::Name { default: INTERNAL, usual: BOOKS } },
    text(Opt::BookDir, "BookDir", "book"),
    spin(Opt::BookEvalDiff, "BookEvalDiff", 30, 0, 99_999),
    spin(Opt::BookEvalBlackDiff, "BookEvalBlackDiff", -1, -1, 99_999),
    spin(Opt::BookEvalWhiteDiff, "BookEvalWhiteDiff", -1, -1, 99_999),
    spin(Opt::BookEvalBlackLimit, "BookEvalBlackLimit", 0, -99_999, 99_999),
    spin(Opt::BookEvalWhiteLimit, "BookEvalWhiteLimit", -140, -99_999, 99_999),
    spin(Opt::BookDepthLimit, "BookDepthLimit", 16, 0, 99_999),
    spin(Opt::BookDepthBlackLimit, "BookDepthBlackLimit", -1, -1, 99_999),
    spin(Opt::BookDepthWhiteLimit, "BookDepthWhiteLimit", -1, -1, 99_999),
    check(Opt::BookOnTheFly, "BookOnTheFly", false),
    check(Opt::ConsiderBookMoveCount, "ConsiderBookMoveCount", false),
    spin(Opt::BookPvMoves, "BookPvMoves", 8, 1, MAX_PLY as i64),
    check(Opt::IgnoreBookPly, "IgnoreBookPly", false),
    check(Opt::FlippedBook, "FlippedBook", true),
];

/// Names that GUIs and old scripts still send but that mean nothing here; accepted with a remark.
const RETIRED: &[&str] = &[
    "EvalHash",
    "EvalShare",
    "Contempt",
    "ContemptFromBlack",
    "nodestime",
    "WriteDebugLog",
    "SkipLoadingEval",
    "LargePageEnable",
    "ThreadIdOffset",
    "EngineNuma",
    "Clear Hash",
];

/// The table of options on this machine.
pub fn table() -> &'static [Spec] {
    static TABLE_HERE: OnceLock<Vec<Spec>> = OnceLock::new();
    TABLE_HERE.get_or_init(|| {
        let cores = numa::processors() as i64;
        let mut table = TABLE.to_vec();
        table[Opt::Threads as usize].kind = Kind::Spin { default: cores, min: 1, max: (4 * cores).max(1024) };
        table
    })
}

fn find(name: &str) -> Option<&'static Spec> {
    // as other engines call them; a file is as good as its directory here
    const ALIASES: [(&str, &str); 2] = [("EvalFile", "EvalDir"), ("Skill Level", "SkillLevel")];
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    table().iter().find(|s| s.name.eq_ignore_ascii_case(name))
}

impl fmt::Display for Kind {
    /// The values that people may give, and the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Check { default } => write!(f, "true or false, default {default}"),
            Kind::Spin { default, min, max } => write!(f, "{min} to {max}, default {default}"),
            Kind::Combo { default, choices } => write!(f, "{}, default {default}", choices.join(" | ")),
            Kind::Name { default: "", .. } | Kind::Text { default: "" } => write!(f, "text, default {EMPTY}"),
            Kind::Name { default, .. } | Kind::Text { default } => write!(f, "text, default {default}"),
        }
    }
}

impl fmt::Display for Spec {
    /// The line that `usi` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match self.kind {
            Kind::Check { default } => write!(f, "check default {default}"),
            Kind::Spin { default, min, max } => write!(f, "spin default {default} min {min} max {max}"),
            Kind::Combo { default, choices } | Kind::Name { default, usual: choices } => {
                write!(f, "combo default {default}")?;
                choices.iter().try_for_each(|c| write!(f, " var {c}"))
            }
            Kind::Text { default } => {
                write!(f, "string default {}", if default.is_empty() { EMPTY } else { default })
            }
        }
    }
}

/// Why an option was not set. The old value stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum OptionError {
    #[error("No such option: {0}")]
    Unknown(String),
    #[error("{name} wants a whole number from {min} to {max}, not `{value}`")]
    NotANumber { name: &'static str, value: String, min: i64, max: i64 },
    #[error("{name} wants true or false, not `{value}`")]
    NotACheck { name: &'static str, value: String },
    #[error("NumaPolicy wants {0}")]
    NotAPolicy(NotAPolicy),
    #[error("{name} has no choice `{value}`; it has {choices}")]
    NotAChoice { name: &'static str, value: String, choices: String },
}

/// What setting an option did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The option has the value.
    Set(Opt),
    /// The name is accepted, the value has no effect. Holds the reason.
    Ignored(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Check(bool),
    Spin(i64),
    Text(String),
}

/// The values of all options.
#[derive(Clone, Debug)]
pub struct Options {
    values: Vec<Value>,
    /// Set by an option file: such a value is not changed by `setoption`.
    fixed: Vec<bool>,
    /// Set by anyone, possibly to the default.
    given: Vec<bool>,
    /// What `NumaPolicy` means.
    numa_policy: Policy,
}

impl Default for Options {
    fn default() -> Options {
        let values = table()
            .iter()
            .map(|spec| match spec.kind {
                Kind::Check { default } => Value::Check(default),
                Kind::Spin { default, .. } => Value::Spin(default),
                Kind::Combo { default, .. } | Kind::Name { default, .. } | Kind::Text { default } => {
                    Value::Text(default.into())
                }
            })
            .collect::<Vec<_>>();
        let unset = vec![false; values.len()];
        Options { values, fixed: unset.clone(), given: unset, numa_policy: Policy::default() }
    }
}

impl Options {
    /// Sets an option by its name, in any case; `<empty>` is the empty string.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Accepted, OptionError> {
        self.store(name, value, false)
    }

    /// As [`set`](Self::set), from an option file: later `setoption`s of the same name are ignored.
    pub fn fix(&mut self, name: &str, value: &str) -> Result<Accepted, OptionError> {
        self.store(name, value, true)
    }

    fn store(&mut self, name: &str, value: &str, fix: bool) -> Result<Accepted, OptionError> {
        let Some(spec) = find(name) else {
            let is_in = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
            if is_in(RETIRED) {
                return Ok(Accepted::Ignored(format!("{name} is no longer used and has no effect")));
            }
            return Err(OptionError::Unknown(name.into()));
        };
        let i = spec.opt as usize;
        if self.fixed[i] && !fix {
            return Ok(Accepted::Ignored(format!("{} is fixed by an option file", spec.name)));
        }
        let value = if value == EMPTY { "" } else { value };
        if spec.opt == Opt::NumaPolicy {
            self.numa_policy = value.parse().map_err(OptionError::NotAPolicy)?;
        }
        self.values[i] = match spec.kind {
            Kind::Check { .. } => match value.to_ascii_lowercase().as_str() {
                "true" => Value::Check(true),
                "false" => Value::Check(false),
                _ => return Err(OptionError::NotACheck { name: spec.name, value: value.into() }),
            },
            Kind::Spin { min, max, .. } => match value.parse() {
                Ok(n) if (min..=max).contains(&n) => Value::Spin(n),
                _ => {
                    return Err(OptionError::NotANumber { name: spec.name, value: value.into(), min, max });
                }
            },
            Kind::Combo { choices, .. } => match choices.iter().find(|c| c.eq_ignore_ascii_case(value)) {
                Some(choice) => Value::Text((*choice).into()),
                None => {
                    return Err(OptionError::NotAChoice {
                        name: spec.name,
                        value: value.into(),
                        choices: choices.join(", "),
                    });
                }
            },
            Kind::Name { .. } | Kind::Text { .. } => Value::Text(value.into()),
        };
        self.fixed[i] = fix;
        self.given[i] = true;
        Ok(Accepted::Set(spec.opt))
    }

    /// The number of a spin option; 0 for the other types.
    pub fn spin(&self, opt: Opt) -> i64 {
        match self.values[opt as usize] {
            Value::Spin(n) => n,
            _ => 0,
        }
    }

    /// The number of a spin option that somebody has set.
    pub fn given(&self, opt: Opt) -> Option<i64> {
        self.given[opt as usize].then(|| self.spin(opt))
    }

    /// The state of a check option; false for the other types.
    pub fn check(&self, opt: Opt) -> bool {
        self.values[opt as usize] == Value::Check(true)
    }

    /// The text of a string or combo option; empty for the other types.
    pub fn text(&self, opt: Opt) -> &str {
        match &self.values[opt as usize] {
            Value::Text(s) => s,
            _ => "",
        }
    }

    /// The row of an option, and its value as the wire spells it; none if there is no such option.
    pub fn show(&self, name: &str) -> Option<(&'static Spec, String)> {
        find(name).map(|spec| (spec, self.shown(spec)))
    }

    /// All options with their values, in the table's order.
    pub fn all(&self) -> impl Iterator<Item = (&'static Spec, String)> + '_ {
        table().iter().map(|spec| (spec, self.shown(spec)))
    }

    fn shown(&self, spec: &Spec) -> String {
        match &self.values[spec.opt as usize] {
            Value::Check(b) => b.to_string(),
            Value::Spin(n) => n.to_string(),
            Value::Text(s) if s.is_empty() => EMPTY.into(),
            Value::Text(s) => s.clone(),
        }
    }

    /// How threads are bound to processors.
    pub(super) fn numa_policy(&self) -> &Policy {
        &self.numa_policy
    }

    /// The level to play at; none for full strength.
    pub(super) fn skill(&self) -> Option<Skill> {
        let elo = self.check(Opt::UciLimitStrength).then(|| self.spin(Opt::UciElo) as i32);
        Skill::of(self.spin(Opt::SkillLevel), elo)
    }

    /// The options of the search.
    pub fn search(&self) -> SearchOptions {
        // every range above lies within the target type
        let unsigned = |opt| self.spin(opt) as u64;
        SearchOptions {
            multi_pv: self.spin(Opt::MultiPv) as usize,
            draw_value: [self.spin(Opt::DrawValueBlack) as i32, self.spin(Opt::DrawValueWhite) as i32],
            resign_value: self.spin(Opt::ResignValue) as i32,
            max_moves_to_draw: self.spin(Opt::MaxMovesToDraw) as u32,
            entering_king_rule: EnteringKingRule::from_str(self.text(Opt::EnteringKingRule))
                .unwrap_or(EnteringKingRule::CsaRule27),
            generate_all: self.check(Opt::GenerateAllLegalMoves),
            fv_scale: self.spin(Opt::FvScale) as i32,
            pv_interval: unsigned(Opt::PvInterval),
            consideration_mode: self.check(Opt::ConsiderationMode),
            output_fail_lh: self.check(Opt::OutputFailLhPv),
            network_delay: unsigned(Opt::NetworkDelay),
            network_delay2: unsigned(Opt::NetworkDelay2),
            minimum_thinking_time: unsigned(Opt::MinimumThinkingTime),
            slow_mover: unsigned(Opt::SlowMover),
            round_up_to_full_second: self.check(Opt::RoundUpToFullSecond),
            usi_ponder: self.check(Opt::UsiPonder),
            stochastic_ponder: self.check(Opt::StochasticPonder),
            root_mate_percent: unsigned(Opt::RootMatePercent),
        }
    }

    /// How the book's moves are chosen for a side.
    pub fn choice_options(&self, side: Color) -> ChoiceOptions {
        use Opt as O;
        let of_side = |black, white| self.spin(if side == Color::Black { black } else { white }) as i32;
        let or = |own: i32, shared| if own < 0 { self.spin(shared) as i32 } else { own };
        let eval_diff = or(of_side(O::BookEvalBlackDiff, O::BookEvalWhiteDiff), O::BookEvalDiff);
        let inside = self.text(O::BookFile) == INTERNAL;
        ChoiceOptions {
            narrow: self.check(O::NarrowBook),
            depth_limit: match inside {
                true => 0,
                false => or(of_side(O::BookDepthBlackLimit, O::BookDepthWhiteLimit), O::BookDepthLimit),
            },
            least_depth: if inside { INTERNAL_LEAST_DEPTH } else { 0 },
            // it holds worse moves, too, because opponents play them
            eval_diff: if inside { eval_diff.min(INTERNAL_EVAL_DIFF) } else { eval_diff },
            eval_limit: of_side(O::BookEvalBlackLimit, O::BookEvalWhiteLimit),
            by_count: self.check(O::ConsiderBookMoveCount),
        }
    }

    /// How far a mate search shortens what it found.
    pub fn shorten(&self) -> Shorten {
        match self.text(Opt::PostSearchLevel) {
            "None" => Shorten::Any,
            "UpperBound" => Shorten::UpperBound,
            _ => Shorten::Shortest,
        }
    }
}

/// Reads one line of an option file: `option name N type T default D ...`, `Name = value` or `Name value`.
/// None for blank lines and comments (`#`, `//`).
pub fn parse_file_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
        return None;
    }
    let mut tokens = line.split_whitespace();
    if tokens.next() == Some("option") && tokens.next() == Some("name") {
        let tokens: Vec<&str> = tokens.collect();
        let at = |word: &str| tokens.iter().position(|t| *t == word).unwrap_or(tokens.len());
        let (kind, default) = (at("type"), at("default"));
        let end = tokens.iter().position(|t| matches!(*t, "min" | "max" | "var")).unwrap_or(tokens.len());
        let value = tokens.get(default + 1..end.max(default + 1).min(tokens.len())).unwrap_or_default();
        return Some((tokens[..kind.min(default)].join(" "), value.join(" ")));
    }
    let (name, value) =
        line.split_once('=').or_else(|| line.split_once(char::is_whitespace)).unwrap_or((line, ""));
    Some((name.trim().into(), value.trim().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_keys() {
        for (i, spec) in table().iter().enumerate() {
            assert_eq!(spec.opt as usize, i, "{}", spec.name);
        }
    }

    #[test]
    fn defaults_are_those_of_the_search() {
        let (ours, search) = (Options::default().search(), SearchOptions::default());
        assert_eq!(format!("{ours:?}"), format!("{search:?}"));
    }

    #[test]
    fn every_default_can_be_set() {
        let mut options = Options::default();
        for (Spec { name, .. }, value) in Options::default().all() {
            assert!(
                matches!(options.set(&name.to_uppercase(), &value), Ok(Accepted::Set(_))),
                "{name} {value}"
            );
        }
        assert!(options.all().map(|o| o.1).eq(Options::default().all().map(|o| o.1)));
    }

    #[test]
    fn bad_values_leave_the_old_ones() {
        let mut options = Options::default();
        options.set("multipv", "3").unwrap();
        for (name, value) in [
            ("MultiPV", "0"),
            ("MultiPV", "601"),
            ("MultiPV", "x"),
            ("MultiPV", ""),
            ("USI_Ponder", "yes"),
            ("EnteringKingRule", "CSARule28"),
            ("NumaPolicy", "0-1:1"),
            ("Nonsense", "1"),
        ] {
            assert!(options.set(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(options.spin(Opt::MultiPv), 3);
        assert_eq!(options.text(Opt::EnteringKingRule), "CSARule27");
        assert_eq!(options.numa_policy(), &Policy::Auto);
        options.set("NumaPolicy", "Hardware").unwrap();
        assert!(options.set("NumaPolicy", "hard").is_err());
        assert_eq!(options.numa_policy(), &Policy::Hardware);
    }

    #[test]
    fn retired_names_have_no_effect_and_other_names_of_options_do() {
        let mut options = Options::default();
        for name in ["EvalHash", "contempt"] {
            assert!(matches!(options.set(name, "1"), Ok(Accepted::Ignored(_))), "{name}");
        }
        options.set("skill level", "3").unwrap();
        assert_eq!(options.spin(Opt::SkillLevel), 3);
        options.set("BookFile", "a book.db").unwrap();
        assert_eq!(options.text(Opt::BookFile), "a book.db");
        assert_eq!(options.given(Opt::EvalDir), None);
        options.set("evalfile", "a/nn.bin").unwrap();
        assert_eq!(options.text(Opt::EvalDir), "a/nn.bin");
        assert!(options.given(Opt::EvalDir).is_some());
    }

    #[test]
    fn a_file_fixes_its_values() {
        let mut options = Options::default();
        options.fix("Threads", "3").unwrap();
        assert!(matches!(options.set("Threads", "2"), Ok(Accepted::Ignored(_))));
        assert_eq!(options.spin(Opt::Threads), 3);
        options.fix("Threads", "1").unwrap();
        assert_eq!(options.spin(Opt::Threads), 1);
    }

    #[test]
    fn file_lines() {
        let read = |line: &str| parse_file_line(line).map(|(n, v)| format!("{n}|{v}"));
        assert_eq!(read("  # x"), None);
        assert_eq!(read("// x"), None);
        assert_eq!(read(""), None);
        assert_eq!(read("Threads 4").as_deref(), Some("Threads|4"));
        assert_eq!(read("FV_SCALE = 24").as_deref(), Some("FV_SCALE|24"));
        assert_eq!(read("EvalDir=my nets/a b").as_deref(), Some("EvalDir|my nets/a b"));
        assert_eq!(
            read("option name FV_SCALE type spin default 24 min 1 max 128").as_deref(),
            Some("FV_SCALE|24")
        );
        assert_eq!(
            read("option name Skill Level type string default a b").as_deref(),
            Some("Skill Level|a b")
        );
        assert_eq!(read("option name").as_deref(), Some("|"));
        assert_eq!(read("Threads").as_deref(), Some("Threads|"));
    }
}
