//! The tunable numbers of the search, by name. Depths from which a step applies, and the shares of several
//! tables in one update, are constants where they are used.
//!
//! The first values were those that YaneuraOu and Stockfish publish for a pawn of about 90 and an `FV_SCALE`
//! of 16; the commit of a later change gives its match. [`TABLE`] lists them with their ranges, for the tuner
//! (`toratsugumi tune`). With the feature `tune` a process can [`set`] others and each thread can [`load`]
//! its own; without it they are constants.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use thiserror::Error;

/// One tunable number.
#[derive(Debug)]
pub struct Param {
    /// Its name here.
    pub name: &'static str,
    /// Its value without tuning.
    pub default: i32,
    /// The least value to try.
    pub min: i32,
    /// The greatest value to try.
    pub max: i32,
}

/// Whether this build can [`load`] other numbers.
pub const TUNABLE: bool = cfg!(feature = "tune");

macro_rules! params {
    ($($name:ident = $value:literal in $min:literal ..= $max:literal;)*) => {
        /// All tunable numbers.
        pub const TABLE: &[Param] =
            &[$(Param { name: stringify!($name), default: $value, min: $min, max: $max }),*];

        #[cfg(feature = "tune")]
        mod live {
            use std::cell::Cell;
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy)]
            pub(super) enum Index { $($name),* }
            thread_local! {
                pub(super) static VALUES: [Cell<i32>; super::TABLE.len()] = const { [$(Cell::new($value)),*] };
                /// Whether this thread has loaded others than the defaults.
                pub(super) static LOADED: Cell<bool> = const { Cell::new(false) };
            }
        }
        $(
            #[cfg(not(feature = "tune"))]
            #[inline(always)]
            pub(super) const fn $name() -> i32 { $value }
            #[cfg(feature = "tune")]
            #[inline(always)]
            pub(super) fn $name() -> i32 { live::VALUES.with(|v| v[live::Index::$name as usize].get()) }
        )*
    };
}

/// The values of [`set`].
static BASE: OnceLock<Vec<i32>> = OnceLock::new();

/// The numbers of searches on threads that have not loaded their own, in the order of [`TABLE`].
pub fn values() -> Vec<i32> {
    BASE.get().cloned().unwrap_or_else(defaults)
}

fn defaults() -> Vec<i32> {
    TABLE.iter().map(|p| p.default).collect()
}

/// Why the numbers of a file were not [`set`].
#[derive(Debug, Error)]
#[allow(missing_docs)] // the messages say it
pub enum ParamsError {
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}: line {line}: {problem}", path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    #[error("the search parameters are already set")]
    AlreadySet,
}

/// Sets the numbers of the whole process to those in a file, lines such as `lmr_base = 691` (`tune` writes
/// them); others keep their defaults. For the start of a process, before the first search. Needs [`TUNABLE`].
///
/// # Errors
/// An unreadable file; an unknown number, a value outside its range, a number twice; a second call.
pub fn set(path: &Path) -> Result<(), ParamsError> {
    let file = || path.to_owned();
    let text =
        std::fs::read_to_string(path).map_err(|error| ParamsError::Unreadable { path: file(), error })?;
    let values = read(&text).map_err(|(line, problem)| ParamsError::Line { path: file(), line, problem })?;
    BASE.set(values).map_err(|_| ParamsError::AlreadySet)
}

/// Reads a text of numbers, see [`set`]; an error has the line's number.
fn read(text: &str) -> Result<Vec<i32>, (usize, String)> {
    let mut values = defaults();
    let mut seen = vec![false; TABLE.len()];
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let (name, rest) = text.split_once('=').ok_or((line, "not `name = value`".to_owned()))?;
        let (name, value) = (name.trim(), rest.split_whitespace().next().unwrap_or("").trim_end_matches(';'));
        let i = TABLE.iter().position(|p| p.name == name).ok_or((line, format!("no number `{name}`")))?;
        let Param { min, max, .. } = TABLE[i];
        values[i] = value
            .parse()
            .ok()
            .filter(|value| (min..=max).contains(value))
            .ok_or((line, format!("{name} must be a whole number from {min} to {max}, not `{value}`")))?;
        if std::mem::replace(&mut seen[i], true) {
            return Err((line, format!("{name} for the second time")));
        }
    }
    Ok(values)
}

/// Sets the numbers of all searches on this thread, in the order of [`TABLE`]. Needs [`TUNABLE`].
pub fn load(values: &[i32]) {
    assert_eq!(values.len(), TABLE.len());
    #[cfg(feature = "tune")]
    {
        live::LOADED.set(true);
        live::VALUES.with(|live| live.iter().zip(values).for_each(|(l, &v)| l.set(v)));
    }
}

/// Before a search: the process's numbers, unless this thread has its own.
#[cfg(feature = "tune")]
pub(super) fn apply() {
    if let (false, Some(base)) = (live::LOADED.get(), BASE.get()) {
        load(base);
    }
}

params! {
    // aspiration windows
    aspiration_delta = 5 in 2..=30;
    aspiration_score_div = 9000 in 2000..=40000;
    // late move reductions, in 1/1024 ply; the table is base/128 × ln(i)
    reduction_base = 2763 in 1500..=4500;
    reduction_offset = 1133 in 0..=3000;
    reduction_window = 585 in 0..=1500;
    reduction_not_improving = 206 in 0..=600;
    lmr_tt_pv_entry = 1013 in 0..=3000;
    lmr_tt_pv = 3200 in 0..=6000;
    lmr_tt_pv_node = 973 in 0..=3000;
    lmr_tt_pv_value = 905 in 0..=3000;
    lmr_tt_pv_depth = 935 in 0..=3000;
    lmr_tt_pv_depth_cut = 959 in 0..=3000;
    lmr_base = 691 in -1000..=2500;
    lmr_move_count = 65 in 0..=200;
    lmr_correction_div = 25600 in 8000..=80000;
    lmr_cut_node = 3611 in 1000..=7000;
    lmr_cut_node_no_tt = 985 in 0..=3000;
    lmr_tt_capture = 1054 in 0..=3000;
    lmr_cutoffs = 251 in 0..=2000;
    lmr_many_cutoffs = 1124 in 0..=3000;
    lmr_cutoffs_all_node = 1042 in 0..=3000;
    lmr_tt_move = 2239 in 0..=5000;
    lmr_stat_score = 428 in 100..=1200;
    lmr_captured_value = 863 in 200..=2000;
    lmr_all_node = 273 in 0..=800;
    lmr_full_no_tt = 1057 in 0..=3000;
    lmr_full_one = 4628 in 2000..=8000;
    lmr_full_two = 5772 in 3000..=9000;
    lmr_deeper = 48 in 10..=150;
    lmr_shallower = 9 in 0..=50;
    post_lmr_bonus = 1426 in 0..=4000;
    // node pruning
    razor_base = 502 in 100..=1200;
    razor_depth = 306 in 50..=700;
    futility_mult = 40 in 10..=150;
    futility_mult_depth = 4 in 0..=20;
    futility_mult_max = 80 in 30..=200;
    futility_mult_no_tt = 21 in 0..=80;
    futility_improving = 2686 in 500..=6000;
    futility_worsening = 362 in 0..=1500;
    futility_correction_div = 180600 in 50000..=600000;
    null_depth = 16 in 0..=60;
    null_improving = 53 in 0..=200;
    null_offset = 378 in 50..=900;
    null_reduction = 7 in 3..=11;
    hindsight_eval = 173 in 20..=500;
    probcut_margin = 224 in 60..=600;
    probcut_improving = 61 in 0..=200;
    small_probcut_margin = 416 in 100..=1000;
    // move pruning
    capture_futility_base = 218 in 0..=600;
    capture_futility_depth = 223 in 50..=600;
    capture_futility_history = 131 in 0..=400;
    capture_see_depth = 193 in 50..=400;
    capture_see_history = 34 in 0..=120;
    history_prune = 4097 in 1500..=9000;
    history_main_weight = 71 in 0..=160;
    history_depth_div = 3220 in 1500..=7000;
    futility_move_base = 22 in -100..=250;
    futility_move_no_best = 151 in 0..=400;
    futility_move_depth = 102 in 40..=300;
    futility_move_above = 86 in 0..=250;
    quiet_see = 25 in 5..=80;
    // extensions
    singular_margin = 60 in 10..=150;
    singular_margin_div = 55 in 20..=150;
    singular_tt_pv = 66 in 0..=160;
    double_base = 6 in -100..=100;
    double_pv = 212 in 50..=500;
    double_not_capture = 182 in 0..=500;
    double_tt_history = 906 in 0..=2500;
    double_tt_history_div = 116517 in 30000..=400000;
    double_deep = 44 in 0..=150;
    triple_base = 73 in -50..=250;
    triple_pv = 320 in 100..=700;
    triple_not_capture = 218 in 0..=500;
    triple_tt_pv = 92 in 0..=250;
    triple_deep = 45 in 0..=150;
    extension_correction_div = 210590 in 60000..=700000;
    // histories
    stat_bonus_mult = 146 in 40..=300;
    stat_bonus_offset = 77 in 0..=250;
    stat_bonus_max = 1529 in 600..=3500;
    stat_bonus_tt = 353 in 0..=900;
    stat_malus_mult = 882 in 200..=1600;
    stat_malus_offset = 204 in 0..=600;
    stat_malus_max = 2122 in 700..=4500;
    quiet_bonus_scale = 806 in 300..=1800;
    quiet_malus_scale = 1113 in 300..=2200;
    quiet_malus_decay = 977 in 800..=1024;
    capture_bonus_scale = 1286 in 300..=2500;
    capture_malus_scale = 1559 in 300..=3000;
    refuted_malus_scale = 616 in 100..=1500;
    low_ply_scale = 761 in 200..=1600;
    cont_scale = 955 in 200..=1800;
    pawn_bonus_scale = 850 in 200..=1800;
    pawn_malus_scale = 550 in 100..=1500;
    tt_cut_bonus_mult = 130 in 30..=300;
    tt_cut_bonus_offset = 71 in 0..=250;
    tt_cut_bonus_max = 1043 in 300..=2500;
    tt_cut_refuted = 2142 in 500..=4500;
    eval_history_scale = 10 in 0..=30;
    eval_pawn_history_scale = 12 in 0..=40;
    eval_swing_worst = 214 in 50..=600;
    eval_swing_best = 171 in 50..=600;
    eval_swing_offset = 60 in -50..=200;
    prior_capture_bonus = 1018 in 200..=2500;
    prior_quiet_offset = 232 in 0..=700;
    prior_quiet_stat_div = 108 in 30..=400;
    prior_quiet_depth = 59 in 15..=180;
    prior_quiet_depth_max = 454 in 150..=1200;
    prior_quiet_late = 169 in 0..=500;
    prior_quiet_worse = 145 in 0..=450;
    prior_quiet_worse_margin = 110 in 0..=350;
    prior_quiet_better = 154 in 0..=450;
    prior_quiet_better_margin = 73 in 0..=250;
    prior_quiet_bonus_mult = 135 in 40..=300;
    prior_quiet_bonus_offset = 80 in 0..=250;
    prior_quiet_bonus_max = 1400 in 500..=3000;
    prior_quiet_cont_scale = 221 in 50..=600;
    prior_quiet_main_scale = 235 in 50..=700;
    prior_quiet_pawn_scale = 290 in 70..=800;
    tt_move_bonus = 805 in 200..=2000;
    tt_move_malus = 787 in 200..=2000;
    multi_cut_malus_offset = 424 in 0..=1200;
    multi_cut_malus_mult = 107 in 20..=300;
    multi_cut_malus_max = 3375 in 1000..=7000;
    // correction histories: how much a node teaches, in 1/1024; weights in 1/131072
    correction_rate = 12 in 3..=40;
    correction_rate_no_best = 17 in 4..=50;
    correction_rate_multi_cut = 21 in 4..=60;
    correction_scale = 1069 in 300..=2500;
    correction_pawn = 12153 in 3000..=25000;
    correction_minor = 8620 in 2000..=20000;
    correction_non_pawn = 12355 in 3000..=25000;
    correction_continuation = 7982 in 2000..=20000;
    // ordering
    order_check_bonus = 16384 in 2000..=30000;
    order_low_ply = 8 in 0..=30;
    order_captured_value = 7 in 2..=20;
    order_capture_see_div = 18 in 6..=60;
    order_losing_malus = 24000 in 2000..=60000;
    order_good_quiet = -14000 in -30000..=-4000;
    order_sort_depth = 3560 in 1000..=8000;
    // quiescence
    qs_futility = 328 in 80..=700;
    qs_see = -73 in -300..=50;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_named() {
        let values = read("razor_base = 300 in 100..=1200;\n\nlmr_base=-5\n").unwrap();
        for (i, p) in TABLE.iter().enumerate() {
            let expected = match p.name {
                "razor_base" => 300,
                "lmr_base" => -5,
                _ => p.default,
            };
            assert_eq!(values[i], expected, "{}", p.name);
        }
        for (text, line) in [
            ("lmr_base", 1),
            ("\nlmr_bass = 3", 2),
            ("qs_see = 9999", 1),
            ("qs_see = x", 1),
            ("qs_see =", 1),
            ("qs_see = 1\nqs_see = 2", 2),
        ] {
            assert_eq!(read(text).map_err(|(line, _)| line), Err(line), "{text}");
        }
    }
}
