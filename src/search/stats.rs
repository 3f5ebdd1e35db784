//! Counters of what happens in the tree. With the feature `stats` `bench` prints them; without it they
//! compile to nothing.

macro_rules! events {
    ($($name:ident $label:literal of $base:ident;)*) => {
        /// Something that happens at a node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Event { $($name),* }
        /// Each event with its label and the event of which it is a share.
        const EVENTS: &[(Event, &str, Event)] = &[$((Event::$name, $label, Event::$base)),*];
    };
}

events! {
    Node "nodes with moves" of Node;
    PvNode "... on the principal variation" of Node;
    CutNode "... expected to fail high" of Node;
    AllNode "... expected to fail low" of Node;
    InCheck "... in check" of Node;
    TtHit "table knows the position" of Node;
    TtCut "table ends it" of Node;
    MateInOne "mate in one" of Node;
    Evaluated "evaluated" of Node;
    Razored "razored" of Node;
    Futile "futility" of Node;
    NullTried "null move tried" of Node;
    NullCut "... holds" of NullTried;
    NoMoveReduced "without a table move: reduced" of Node;
    ProbCut "ProbCut" of Node;
    SmallProbCut "small ProbCut" of Node;
    SingularTried "singular search" of Node;
    Extended "... extended" of SingularTried;
    ExtendedTwice "... twice or more" of SingularTried;
    MultiCut "... several moves beat beta" of SingularTried;
    NegativelyExtended "... reduced" of SingularTried;
    MoveLoop "moves are looked at" of Node;
    FailHigh "... one beats beta" of MoveLoop;
    FailHighFirst "... ... the first" of FailHigh;
    FailHighTtMove "... ... the table's" of FailHigh;
    FailHighCapture "... ... a capture" of FailHigh;
    Move "moves" of Move;
    QuietsSkipped "count reached at" of Move;
    CapturePruned "capture or check pruned" of Move;
    HistoryPruned "quiet pruned: history" of Move;
    FutilePruned "quiet pruned: futility" of Move;
    SeePruned "quiet pruned: exchange" of Move;
    Searched "searched" of Move;
    Reduced "... with reduction" of Searched;
    ReducedBeatsAlpha "... ... beats alpha" of Reduced;
    ReducedAgain "... ... searched again" of Reduced;
    Quiescence "quiescence nodes" of Quiescence;
    QuiescenceInCheck "... in check" of Quiescence;
    QuiescenceTtHit "... table knows the position" of Quiescence;
    QuiescenceTtCut "... table ends it" of Quiescence;
    QuiescenceMate "... mate in one" of Quiescence;
    QuiescenceEvaluated "... evaluated" of Quiescence;
    StandPat "... stands pat" of Quiescence;
    QuiescenceSearched "... moves searched" of Quiescence;
}

#[cfg(feature = "stats")]
mod counters {
    use std::sync::atomic::AtomicU64;
    pub(super) static COUNTS: [AtomicU64; super::EVENTS.len()] =
        [const { AtomicU64::new(0) }; super::EVENTS.len()];
}

/// Counts an event.
#[inline(always)]
pub(super) fn count(event: Event) {
    count_if(event, true);
}

/// Counts an event if it happened.
#[inline(always)]
pub(super) fn count_if(event: Event, happened: bool) {
    #[cfg(feature = "stats")]
    if happened {
        counters::COUNTS[event as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    #[cfg(not(feature = "stats"))]
    let _ = (event, happened);
}

/// One line for each event: its count, and its share of the base event in per cent. Empty without the
/// feature.
pub fn report() -> Vec<String> {
    #[cfg(feature = "stats")]
    {
        let of = |e: Event| counters::COUNTS[e as usize].load(std::sync::atomic::Ordering::Relaxed);
        let line = |&(event, label, base): &(Event, &str, Event)| {
            let share = 100.0 * of(event) as f64 / of(base).max(1) as f64;
            let share = if event == base { String::new() } else { format!("{share:7.2} %") };
            format!("{label:<40} {:>12} {share}", of(event))
        };
        EVENTS.iter().map(line).collect()
    }
    #[cfg(not(feature = "stats"))]
    {
        let _ = EVENTS;
        Vec::new()
    }
}
