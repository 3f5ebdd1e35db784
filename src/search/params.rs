//! Every tunable number of the search, by name.
//!
//! The starting values are those that YaneuraOu and Stockfish publish for a pawn of about 90 and an `FV_SCALE` of 16; what a match
//! of ours changed says so in its commit. [`TABLE`] lists them with their ranges, for the tuner (`toratsugumi tune`). With the
//! feature `tune` each thread can [`load`] its own; without it they are constants.

/// One tunable number.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
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

/// Makes these the numbers of all searches on this thread, in the order of [`TABLE`]. Needs [`TUNABLE`].
pub fn load(values: &[i32]) {
    assert_eq!(values.len(), TABLE.len());
    #[cfg(feature = "tune")]
    live::VALUES.with(|live| live.iter().zip(values).for_each(|(l, &v)| l.set(v)));
}

params! {
    // aspiration windows
    aspiration_delta = 8 in 2..=30;
    aspiration_score_div = 6778 in 2000..=40000;
    // late move reductions, in 1/1024 ply; the table is base/128 × ln(i)
    reduction_base = 2598 in 1500..=4500;
    reduction_offset = 1065 in 0..=3000;
    reduction_window = 631 in 0..=1500;
    reduction_not_improving = 217 in 0..=600;
    lmr_tt_pv_entry = 848 in 0..=3000;
    lmr_tt_pv = 2973 in 0..=6000;
    lmr_tt_pv_node = 1133 in 0..=3000;
    lmr_tt_pv_value = 963 in 0..=3000;
    lmr_tt_pv_depth = 1037 in 0..=3000;
    lmr_tt_pv_depth_cut = 998 in 0..=3000;
    lmr_base = 565 in -1000..=2500;
    lmr_move_count = 64 in 0..=200;
    lmr_correction_div = 26067 in 8000..=80000;
    lmr_cut_node = 3695 in 1000..=7000;
    lmr_cut_node_no_tt = 1101 in 0..=3000;
    lmr_tt_capture = 1039 in 0..=3000;
    lmr_cutoffs = 231 in 0..=2000;
    lmr_many_cutoffs = 1083 in 0..=3000;
    lmr_cutoffs_all_node = 1097 in 0..=3000;
    lmr_tt_move = 2249 in 0..=5000;
    lmr_stat_score = 408 in 100..=1200;
    lmr_all_node = 288 in 0..=800;
    lmr_full_no_tt = 1153 in 0..=3000;
    lmr_full_one = 4732 in 2000..=8000;
    lmr_full_two = 5374 in 3000..=9000;
    lmr_deeper = 47 in 10..=150;
    lmr_shallower = 10 in 0..=50;
    post_lmr_bonus = 1305 in 0..=4000;
    // node pruning
    razor_base = 487 in 100..=1200;
    razor_depth = 308 in 50..=700;
    futility_mult = 54 in 20..=200;
    futility_mult_no_tt = 22 in 0..=80;
    futility_improving = 2491 in 500..=6000;
    futility_worsening = 385 in 0..=1500;
    futility_correction_div = 174381 in 50000..=600000;
    null_depth = 18 in 0..=60;
    null_improving = 47 in 0..=200;
    null_offset = 347 in 50..=900;
    hindsight_eval = 185 in 20..=500;
    probcut_margin = 206 in 60..=600;
    probcut_improving = 62 in 0..=200;
    small_probcut_margin = 387 in 100..=1000;
    // move pruning
    capture_futility_base = 225 in 0..=600;
    capture_futility_depth = 228 in 50..=600;
    capture_futility_history = 84 in 0..=400;
    capture_see_depth = 157 in 50..=400;
    capture_see_history = 37 in 0..=120;
    history_prune = 4263 in 1500..=9000;
    history_main_weight = 62 in 0..=160;
    history_depth_div = 3442 in 1500..=7000;
    futility_move_base = 35 in -100..=250;
    futility_move_no_best = 161 in 0..=400;
    futility_move_depth = 111 in 40..=300;
    futility_move_above = 79 in 0..=250;
    quiet_see = 22 in 5..=80;
    // extensions
    singular_margin = 60 in 10..=150;
    singular_tt_pv = 65 in 0..=160;
    double_base = -7 in -100..=100;
    double_pv = 205 in 50..=500;
    double_not_capture = 189 in 0..=500;
    double_tt_history = 895 in 0..=2500;
    double_deep = 45 in 0..=150;
    triple_base = 75 in -50..=250;
    triple_pv = 305 in 100..=700;
    triple_not_capture = 221 in 0..=500;
    triple_tt_pv = 98 in 0..=250;
    triple_deep = 45 in 0..=150;
    // histories
    stat_bonus_mult = 125 in 40..=300;
    stat_bonus_offset = 77 in 0..=250;
    stat_bonus_max = 1423 in 600..=3500;
    stat_bonus_tt = 376 in 0..=900;
    stat_malus_mult = 831 in 200..=1600;
    stat_malus_offset = 219 in 0..=600;
    stat_malus_max = 2103 in 700..=4500;
    quiet_bonus_scale = 787 in 300..=1800;
    quiet_malus_scale = 1003 in 300..=2200;
    quiet_malus_decay = 977 in 800..=1024;
    capture_bonus_scale = 1155 in 300..=2500;
    capture_malus_scale = 1592 in 300..=3000;
    refuted_malus_scale = 612 in 100..=1500;
    low_ply_scale = 717 in 200..=1600;
    cont_scale = 974 in 200..=1800;
    pawn_bonus_scale = 873 in 200..=1800;
    pawn_malus_scale = 488 in 100..=1500;
    tt_cut_bonus_mult = 128 in 30..=300;
    tt_cut_bonus_offset = 65 in 0..=250;
    tt_cut_bonus_max = 1014 in 300..=2500;
    tt_cut_refuted = 2314 in 500..=4500;
    eval_history_scale = 10 in 0..=30;
    eval_pawn_history_scale = 12 in 0..=40;
    prior_capture_bonus = 983 in 200..=2500;
    // correction histories, in 1/131072
    correction_pawn = 11011 in 3000..=25000;
    correction_minor = 7982 in 2000..=20000;
    correction_non_pawn = 10413 in 3000..=25000;
    correction_continuation = 7758 in 2000..=20000;
    // ordering
    order_check_bonus = 16623 in 2000..=30000;
    order_capture_see_div = 18 in 6..=60;
    order_good_quiet = -15729 in -30000..=-4000;
    order_sort_depth = 3766 in 1000..=8000;
    // quiescence
    qs_futility = 313 in 80..=700;
    qs_see = -80 in -300..=50;
}
