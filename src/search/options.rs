//! The user's settings that the search obeys, with the defaults of the USI options of the same names.

use crate::position::EnteringKingRule;
use crate::types::Value;

/// Settings of the search; times are milliseconds.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// How many lines to search and report.
    pub multi_pv: usize,
    /// Score of a draw in centipawns for the engine's side when it is Black, White.
    pub draw_value: [i32; 2],
    /// Resign when the printed centipawns fall to minus this or below; 99999 = never.
    pub resign_value: i32,
    /// Draw when the game ply exceeds this; 0 = never.
    pub max_moves_to_draw: u32,
    /// The rule by which an entered king wins.
    pub entering_king_rule: EnteringKingRule,
    /// Search pointless non-promotions, too.
    pub generate_all: bool,
    /// Divisor of the network's output.
    pub fv_scale: Value,
    /// Least time between two lines of the same rank.
    pub pv_interval: u64,
    /// Extend the PV with moves of the transposition table, and report how a repetition ends it.
    pub consideration_mode: bool,
    /// Report fail-high and fail-low lines.
    pub output_fail_lh: bool,
    /// Usual lag of the connection.
    pub network_delay: u64,
    /// Worst lag of the connection, kept in reserve.
    pub network_delay2: u64,
    /// Least time for a move.
    pub minimum_thinking_time: u64,
    /// Scales the planned time; per cent.
    pub slow_mover: u64,
    /// Think until just before a full second, for servers that charge whole seconds.
    pub round_up_to_full_second: bool,
    /// The GUI ponders: plan more time, because the opponent's time is used, too.
    pub usi_ponder: bool,
    /// Ponder on the position before the opponent's move.
    pub stochastic_ponder: bool,
    /// Per cent of a move's time for each call of the mate solver at the root; 0 for none.
    pub root_mate_percent: u64,
}

impl SearchOptions {
    /// For self-play, which reports no lines of analysis.
    pub fn self_play(fv_scale: Value) -> SearchOptions {
        SearchOptions { fv_scale, pv_interval: u64::MAX, ..SearchOptions::default() }
    }
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            multi_pv: 1,
            draw_value: [-2; 2],
            resign_value: 99999,
            max_moves_to_draw: 0,
            entering_king_rule: EnteringKingRule::CsaRule27,
            generate_all: false,
            fv_scale: 16,
            pv_interval: 300,
            consideration_mode: false,
            output_fail_lh: true,
            network_delay: 120,
            network_delay2: 1120,
            minimum_thinking_time: 2000,
            slow_mover: 100,
            round_up_to_full_second: true,
            usi_ponder: false,
            stochastic_ponder: false,
            root_mate_percent: 1,
        }
    }
}
