//! A module uses only modules of the layers below its own, and files use one another in one direction, within
//! a folder too. These tests read `src/` and fail on an edge that runs upward or sideways, and on a cycle.
//! They also keep the lists of long files and functions, each with its reason.
//!
//! `cargo test --test suite layers:: -- --nocapture` prints the figures.

use crate::module_graph::ModuleGraph;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// Every top-level module and its layer. A new module gets a line here, a deleted one loses it.
const LAYERS: &[(&str, u8)] = &[
    // the command line over everything; main.rs is on top
    ("main", 9),
    ("lib", 8),
    ("cli", 8),
    // the subcommands
    ("commands", 7),
    // the loop over what stands below
    ("learn", 6),
    // what people, GUIs and servers talk to; they do not know each other
    ("usi", 5),
    ("csa", 5),
    ("arena", 5),
    ("datagen", 5),
    ("book_growth", 5),
    ("review", 5),
    ("tune", 5),
    // the engine as a whole
    ("engine", 4),
    ("usi_client", 4),
    ("book", 3),
    ("record", 3),
    ("search", 3),
    ("train", 3),
    ("mate", 2),
    ("nnue", 2),
    ("data", 2),
    // the rules of shogi
    ("position", 1),
    ("resume", 0),
    ("support", 0),
    ("types", 0),
];

/// A file of more lines wants splitting, or a reason.
const LONG_FILE: usize = 500;

/// The files that are longer, and why.
const LONG_FILES: &[(&str, &str)] = &[
    ("engine/options.rs", "one table of options; a quarter of it is the tests"),
    (
        "search/alphabeta.rs",
        "a node's steps from top to bottom, and the null move and ProbCut that search it again",
    ),
    ("record/jkf/read.rs", "one pass over a nested format, with what other writers of it do"),
    (
        "record/kakinoki/read.rs",
        "the lines of KIF and KI2 with all that their writers do; a fifth of it is the tests",
    ),
    ("search/timeman.rs", "one plan for every kind of clock; a third of it is the tests"),
    ("support/messages.rs", "one table of messages in two languages"),
];

/// A function of more lines wants splitting, or a reason.
const LONG_FUNCTION: usize = 120;

/// The functions that are longer, and why.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[
    (
        "search/alphabeta.rs",
        "search",
        "the numbered steps of a node share a dozen variables; what has arithmetic of its own is a function",
    ),
    ("search/quiescence.rs", "quiescence", "the same for the nodes at the leaves"),
];

static GRAPH: LazyLock<ModuleGraph> =
    LazyLock::new(|| ModuleGraph::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")));

fn layer(module: &str) -> Option<u8> {
    LAYERS.iter().find(|(name, _)| *name == module).map(|(_, layer)| *layer)
}

/// The edges between modules that do not run to a lower layer.
fn upward_edges(graph: &ModuleGraph) -> Vec<String> {
    let mut upward = Vec::new();
    for edge in &graph.edges {
        let (from, to) = (&graph.files[edge.from], &graph.files[edge.to]);
        let (Some(own), Some(other)) = (layer(from.top()), layer(to.top())) else { continue };
        if from.top() != to.top() && own <= other {
            upward.push(format!("src/{}:{}: F{own} uses F{other} {}", from.name, edge.line, to.name));
        }
    }
    upward
}

#[test]
fn every_edge_runs_to_a_lower_layer() {
    assert!(GRAPH.files.len() > 10);
    let upward = upward_edges(&GRAPH);
    println!("{} files, {} edges, {} upward or sideways", GRAPH.files.len(), GRAPH.edges.len(), upward.len());
    assert!(upward.is_empty(), "\n{}", upward.join("\n"));
}

#[test]
fn files_use_one_another_in_one_direction() {
    let cycles = GRAPH.cycles();
    println!("{} cycles", cycles.len());
    let mut lines = Vec::new();
    for cycle in &cycles {
        lines.push(format!("a cycle of {} files:", cycle.len()));
        let mut shown = BTreeSet::new();
        for edge in GRAPH.edges.iter().filter(|e| cycle.contains(&e.from) && cycle.contains(&e.to)) {
            if !shown.insert((edge.from, edge.to)) {
                continue;
            }
            let (from, to) = (&GRAPH.files[edge.from], &GRAPH.files[edge.to]);
            lines.push(format!("  src/{}:{} uses src/{}", from.name, edge.line, to.name));
        }
    }
    assert!(cycles.is_empty(), "\n{}", lines.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    let there: BTreeSet<&str> = GRAPH.files.iter().map(|f| f.top()).collect();
    let listed: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(LAYERS.len(), listed.len(), "a module has two layers");
    let missing: Vec<_> = there.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&there).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "without a layer: {missing:?}; a layer without a module: {gone:?}"
    );
}

#[test]
fn long_files_and_functions_have_a_reason() {
    let long: Vec<(&str, usize)> = GRAPH
        .files
        .iter()
        .map(|f| (f.name.as_str(), f.lines))
        .filter(|(_, lines)| *lines > LONG_FILE)
        .collect();
    let functions = GRAPH.functions_over(LONG_FUNCTION);
    let mut found: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (name, lines) in &long {
        println!("src/{name}: {lines} lines");
        found.insert((name, ""));
    }
    for (file, name, lines) in &functions {
        println!("src/{file}: {name}: {lines} lines");
        found.insert((file, name));
    }
    let listed: BTreeSet<(&str, &str)> =
        LONG_FILES.iter().map(|l| (l.0, "")).chain(LONG_FUNCTIONS.iter().map(|l| (l.0, l.1))).collect();
    let unexplained: Vec<_> = found.difference(&listed).collect();
    assert!(unexplained.is_empty(), "split it, or give a reason in tests/suite/layers.rs: {unexplained:?}");
}

/// Files whose edges all run downward and in one direction.
const SOUND: [(&str, &str); 5] = [
    ("lib.rs", "pub mod search; pub mod types;"),
    ("types/mod.rs", "pub struct Value;"),
    ("search/mod.rs", "mod tree; mod leaves; mod worker; pub use worker::Worker;"),
    (
        "search/worker.rs",
        "use crate::types::*; pub struct Worker { value: Value } impl Worker { pub fn stop(&self) {} }",
    ),
    ("search/leaves.rs", "use super::worker::Worker; impl Worker { pub fn leaf(&self) { self.stop() } }"),
];

/// What is wrong with [`SOUND`] files and others: upward edges, cycles by the files' names.
fn faults(planted: &[(&str, &str)]) -> (Vec<String>, Vec<Vec<String>>) {
    let graph = ModuleGraph::of_texts(&[&SOUND, planted].concat());
    let name = |i: usize| graph.files[i].name.trim_start_matches("search/").to_string();
    let cycles = graph.cycles().into_iter().map(|cycle| cycle.into_iter().map(name).collect());
    (upward_edges(&graph), cycles.collect())
}

#[test]
fn sound_files_have_no_fault() {
    let tree = "use super::worker::Worker; impl Worker { pub fn tree(&self) { self.leaf(); self.stop() } }";
    assert_eq!(faults(&[("search/tree.rs", tree)]), (vec![], vec![]));
}

#[test]
fn an_upward_import_is_found() {
    let (upward, cycles) = faults(&[("types/bound.rs", "\nuse crate::search::Worker;")]);
    assert_eq!(
        (&upward[..], cycles.len()),
        (&["src/types/bound.rs:2: F0 uses F3 search/worker.rs".to_string()][..], 0)
    );
    // engine and usi_client stand side by side
    let (upward, _) =
        faults(&[("engine.rs", "pub fn go() {}"), ("usi_client.rs", "fn go() { crate::engine::go(); }")]);
    assert_eq!(upward, ["src/usi_client.rs:1: F4 uses F4 engine.rs"]);
}

#[test]
fn a_cycle_of_imports_is_found() {
    // through what the folder re-exports, and with an alias
    let x = ("search/x.rs", "use super::Z; pub struct X;");
    let y = ("search/y.rs", "pub struct Y(crate::search::X);");
    let folder = ("search/mod.rs", "mod x; mod y; pub use x::X; pub use y::Y as Z;");
    let graph = ModuleGraph::of_texts(&[SOUND[0], folder, x, y]);
    assert_eq!(graph.cycles(), [[2, 3]]);
    // a folder's own definitions make its mod.rs a file like any other
    let folder = ("search/mod.rs", "mod x; pub struct Z(x::X);");
    assert_eq!(ModuleGraph::of_texts(&[SOUND[0], folder, x]).cycles(), [[1, 2]]);
    // re-exports alone do not
    let folder = ("search/mod.rs", "mod x; mod y; pub use x::*; pub use y::{Y as Z};");
    let y = ("search/y.rs", "pub struct Y; mod tests { use super::Y; }");
    assert_eq!(ModuleGraph::of_texts(&[SOUND[0], folder, x, y]).cycles(), [[0usize; 0]; 0]);
}

/// `leaves.rs` calls a method that `tree.rs` defines, and the other way round.
#[test]
fn a_cycle_of_methods_is_found_whatever_the_call_looks_like() {
    let calls = [
        "impl Worker { fn back(&self) { self.tree() } }",
        "impl Worker { fn back(&self) { Self::tree(self) } }",
        "impl Worker { fn back(&self) { Worker::tree(self) } }",
        "impl Worker { fn back(&self) { assert!(self.tree(), \"{}\", 1) } }",
        "impl Worker { fn back(&self) { vec![self.tree(); 2]; } }",
        "impl Worker { fn back(&self) { let f = Worker::tree; } }",
        "fn back(worker: &mut Worker) { worker.tree() }",
        "struct Pool { first: std::sync::Arc<Worker> } impl Pool { fn back(&self) { self.first.tree() } }",
        "mod tests { use super::*; fn back() { Worker::tree(&w) } }",
    ];
    let tree = "use super::Worker; impl Worker { pub fn tree(&self) { self.leaf() } }";
    for call in calls {
        let more = format!("use super::worker::Worker; impl Worker {{ pub fn leaf(&self) {{}} }} {call}");
        let leaves = ("search/leaves.rs", more.as_str());
        let graph = ModuleGraph::of_texts(&[
            SOUND[0],
            SOUND[1],
            SOUND[2],
            SOUND[3],
            leaves,
            ("search/tree.rs", tree),
        ]);
        assert_eq!(graph.cycles(), [[4, 5]], "{call}");
    }
}

#[test]
fn functions_are_measured_from_fn_to_brace() {
    let text =
        "fn a() {\n}\ntrait T { fn b(x: [u8; 2]);\n }\nimpl X { /// d\n fn c() -> Y\n{\n { } '}'\n}\n }";
    let graph = ModuleGraph::of_texts(&[("lib.rs", text)]);
    assert_eq!(graph.functions_over(0), [("lib.rs", "a", 2), ("lib.rs", "c", 4)]);
}
