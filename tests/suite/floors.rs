//! The house has floors: a module uses only what lies on floors below its own, and files use one another in one
//! direction, within a folder too. This test reads the paths to `crate::`, `super::` and child modules in `src/`, sees
//! through what a `mod.rs` hands on, and fails on an edge that runs upward, sideways or round. It also keeps the lists of
//! long files and functions, each with its reason.
//!
//! `cargo test --test suite floors:: -- --nocapture` prints the figures.

use crate::house::House;
use crate::house::rust::{code_only, functions, paths, tokens};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// Every top-level module and its floor. A new module gets a line here, one that goes loses it.
const FLOORS: &[(&str, u8)] = &[
    // the command line over everything; main.rs is the roof
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

static HOUSE: LazyLock<House> =
    LazyLock::new(|| House::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")));

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

#[test]
fn every_edge_runs_downward() {
    let house = &*HOUSE;
    assert!(house.files.len() > 10);
    let mut wrong = Vec::new();
    for edge in &house.edges {
        let (from, to) = (&house.files[edge.from], &house.files[edge.to]);
        let (Some(own), Some(other)) = (floor(from.top()), floor(to.top())) else { continue };
        if from.top() != to.top() && own <= other {
            wrong.push(format!("src/{}:{}: F{own} uses F{other} {}", from.name, edge.line, to.name));
        }
    }
    println!(
        "{} files, {} edges, {} of them upward or sideways",
        house.files.len(),
        house.edges.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_use_one_another_in_one_direction() {
    let house = &*HOUSE;
    let mut wrong = Vec::new();
    for circle in house.circles() {
        wrong.push(format!("a circle of {} files:", circle.len()));
        for edge in house.edges.iter().filter(|e| circle.contains(&e.from) && circle.contains(&e.to)) {
            let (from, to) = (&house.files[edge.from], &house.files[edge.to]);
            wrong.push(format!("  src/{}:{} uses src/{}", from.name, edge.line, to.name));
        }
    }
    println!("{} circles", wrong.iter().filter(|l| !l.starts_with(' ')).count());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_list_of_floors_is_that_of_the_tree() {
    let there: BTreeSet<&str> = HOUSE.files.iter().map(|f| f.top()).collect();
    let listed: BTreeSet<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    assert_eq!(FLOORS.len(), listed.len(), "a module has two floors");
    let missing: Vec<_> = there.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&there).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "without a floor: {missing:?}; a floor for nothing: {gone:?}"
    );
}

#[test]
fn long_files_and_functions_have_a_reason() {
    let long: Vec<(&str, usize)> = HOUSE
        .files
        .iter()
        .map(|f| (f.name.as_str(), f.text.lines().count()))
        .filter(|(_, lines)| *lines > LONG_FILE)
        .collect();
    let functions = HOUSE.functions_over(LONG_FUNCTION);
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
    assert!(unexplained.is_empty(), "split it, or give a reason in tests/suite/floors.rs: {unexplained:?}");
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let (mut blocks, mut unsafe_functions, mut silent) = (0, 0, Vec::new());
    for file in &HOUSE.files {
        let lines: Vec<&str> = file.text.lines().collect();
        let code = tokens(&file.code);
        for pair in code.windows(2).filter(|pair| pair[0].text == "unsafe") {
            match pair[1].text {
                "fn" | "extern" => unsafe_functions += 1,
                "{" | "impl" => {
                    blocks += 1;
                    // on the lines above, as far as the comment and the statement's own beginning reach
                    let above = &lines[pair[0].line.saturating_sub(8)..pair[0].line];
                    if !above.iter().any(|l| l.contains("SAFETY:")) {
                        silent.push(format!("src/{}:{}", file.name, pair[0].line));
                    }
                }
                _ => {}
            }
        }
    }
    println!(
        "{blocks} unsafe blocks and impls, {} without SAFETY; {unsafe_functions} unsafe functions",
        silent.len()
    );
    assert!(silent.is_empty(), "\n{}", silent.join("\n"));
}

fn house(files: &[(&str, &str)]) -> House {
    House::of(files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect())
}

#[test]
fn the_reader_sees_through_rust() {
    let code = code_only(
        "use crate::{a, b::{c, d as x, self}, e::*};\n// crate::no\nlet s = \"crate::no \\\" crate::no\"; '\"'; '{';\n\
         crate::g::h::<crate::i::J>(); r#\"crate::no\"#;\npub(crate) use super::super::usi::x; mod tests { super::y; }",
    );
    let found: Vec<String> = paths(&tokens(&code), &["crate", "super"])
        .iter()
        .map(|p| {
            format!("{}{}{}", p.words.join("::"), if p.handed_on { " on" } else { "" }, p.inside.join(""))
        })
        .collect();
    let expected = [
        "crate::a",
        "crate::b::c",
        "crate::b::d",
        "crate::b",
        "crate::e::*",
        "crate::g::h",
        "crate::i::J",
        "super::super::usi::x on",
        "super::ytests",
    ];
    assert_eq!(found, expected);
    let code = code_only("fn a() {\n}\nfn b(x: [u8; 2]);\nimpl X { fn c() -> Y\n{\n { } '}'\n}\n }");
    let lengths: Vec<(String, usize)> =
        functions(&tokens(&code)).into_iter().map(|f| (f.name, f.lines)).collect();
    assert_eq!(lengths, [("a".to_string(), 2), ("c".to_string(), 4)]);
}

#[test]
fn circles_are_seen_through_what_a_folder_hands_on() {
    let circle = house(&[
        ("lib.rs", "pub mod a;"),
        ("a/mod.rs", "mod x; mod y; pub use x::X; pub use y::{Y as Z};"),
        ("a/x.rs", "use super::Z; pub struct X;"),
        ("a/y.rs", "pub struct Y(crate::a::X);"),
    ]);
    assert_eq!(circle.circles(), [vec![2, 3]]);
    let line = house(&[
        ("lib.rs", "pub mod a;"),
        ("a/mod.rs", "mod x; mod y; pub use x::X; pub use y::*;"),
        ("a/x.rs", "use super::Y; pub struct X;"),
        ("a/y.rs", "pub struct Y; mod tests { use super::Y; }"),
    ]);
    assert_eq!(line.circles(), [[0usize; 0]; 0]);
    // a folder's own definitions make its mod.rs a file like any other
    let folder = house(&[
        ("lib.rs", "pub mod a;"),
        ("a/mod.rs", "mod x; pub struct A(x::X);"),
        ("a/x.rs", "use super::A; pub struct X;"),
    ]);
    assert_eq!(folder.circles(), [vec![1, 2]]);
}
