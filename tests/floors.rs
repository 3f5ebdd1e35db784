//! The house has floors: a module uses only what lies on floors below its own. This test reads the paths to `crate::`
//! (and the `super::` that lead up to it) in `src/` and fails on an edge that runs upward or sideways.

use std::fs;
use std::path::{Path, PathBuf};

/// Every top-level module and its floor. A new module gets a line here.
const FLOORS: &[(&str, u8)] = &[
    // F8: the command line; main.rs is the roof
    ("main", 9),
    ("lib", 8),
    ("cli", 8),
    // F7: the subcommands
    ("commands", 7),
    // F5: what people and GUIs talk to; they do not know each other
    ("usi", 5),
    ("csa", 5),
    ("arena", 5),
    ("datagen", 5),
    ("tune", 5),
    // F4: the engine as a whole
    ("engine", 4),
    ("usi_client", 4),
    // F3
    ("record", 3),
    ("referee", 3),
    ("search", 3),
    ("train", 3),
    ("mate", 3),
    // F2
    ("nnue", 2),
    ("book", 2),
    ("data", 2),
    ("openings", 2),
    // F1: the rules of shogi
    ("position", 1),
    // F0
    ("chart", 0),
    ("interrupt", 0),
    ("memory", 0),
    ("progress", 0),
    ("random", 0),
    ("types", 0),
    ("whole_file", 0),
];

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The text with comments, strings and character literals blanked, line ends kept.
fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let rest = &text[i..];
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else if c == '"' {
            let mut escaped = false;
            rest[1..]
                .find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                })
                .map_or(rest.len(), |n| n + 2)
        } else if let Some(quoted) = rest.strip_prefix("r#\"") {
            quoted.find("\"#").map_or(rest.len(), |n| n + 5)
        } else if rest.starts_with("'\"'") || rest.starts_with("'/'") {
            3
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(1, |n| n + 4)
        } else {
            out.push(c);
            continue;
        };
        out.extend(rest[..skip].chars().filter(|c| *c == '\n'));
        while chars.peek().is_some_and(|(j, _)| *j < i + skip) {
            chars.next();
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn ident(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// The first names behind a path's head: of `a::b` it is `a`, of `{a, b::{c, d}}` they are `a` and `b`.
fn heads(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let Some(list) = text.strip_prefix('{') else { return vec![ident(text)] };
    let (mut depth, mut expects, mut names) = (1, true, Vec::new());
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => expects = true,
            c if depth == 1 && expects && is_word(c) => {
                names.push(ident(&list[i..]));
                expects = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The top-level modules that a file names, each with its line. `depth` is how many modules deep the file lies (1 for
/// `src/bench.rs`, 2 for `src/usi/parse.rs`).
fn uses(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for head in ["crate", "toratsugumi", "super"] {
        let mut from = 0;
        while let Some(i) = code[from..].find(head).map(|i| i + from) {
            from = i + head.len();
            if code[..i].chars().next_back().is_some_and(|c| is_word(c) || c == ':') {
                continue;
            }
            let mut rest = &code[from..];
            let mut climbed = usize::from(head == "super");
            while let Some(behind) = rest.strip_prefix("::super") {
                climbed += 1;
                rest = behind;
            }
            let Some(rest) = rest.strip_prefix("::") else { continue };
            if head == "super" && climbed < depth {
                continue;
            }
            let line = code[..i].matches('\n').count() + 1;
            // an inline module is deeper than its file, so a `super` path is an edge only where it meets a module's
            // name
            let names = heads(rest).into_iter().filter(|n| head == "crate" || floor(n).is_some());
            found.extend(names.map(|n| (line, n)));
        }
    }
    found
}

#[test]
fn every_edge_runs_downward() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 10);
    let mut wrong = Vec::new();
    for path in files {
        let inside = path.strip_prefix(&src).unwrap();
        let parts: Vec<&str> = inside.iter().map(|p| p.to_str().unwrap()).collect();
        let module = parts[0].trim_end_matches(".rs");
        let Some(own) = floor(module) else {
            wrong.push(format!("{}: give `{module}` a floor in tests/floors.rs", inside.display()));
            continue;
        };
        let depth = parts.len() - usize::from(parts.len() > 1 && parts[parts.len() - 1] == "mod.rs");
        let code = code_only(&fs::read_to_string(&path).unwrap());
        for (line, name) in uses(&code, depth) {
            // items of the crate root itself (macros) have no floor
            let Some(other) = floor(name) else {
                wrong.push(format!("{}:{line}: `{name}` has no floor", inside.display()));
                continue;
            };
            if name != module && own <= other {
                wrong.push(format!("{}:{line}: F{own} `{module}` uses F{other} `{name}`", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_reader_sees_through_rust() {
    let code = code_only(
        "use crate::{a, b::{c, d}, e as f};\n// crate::no\nlet s = \"crate::no \\\" crate::no\"; '\"'; crate::g::h(); r#\"crate::no\"#;\nsuper::super::usi::x; super::y;",
    );
    let mut names: Vec<&str> = uses(&code, 2).into_iter().map(|(_, n)| n).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "e", "g", "usi"]);
    assert_eq!(uses(&code, 2).iter().find(|(_, n)| *n == "usi"), Some(&(4, "usi")));
}
