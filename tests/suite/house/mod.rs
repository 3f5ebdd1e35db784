//! The source tree as a graph: [`House`], its files, and which file uses which.

pub mod rust;

use rust::{NamedPath, code_only, functions, paths, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// One file of `src/`.
pub struct SourceFile {
    /// Below `src/`, with `/`.
    pub name: String,
    /// `search/tt.rs` is `[search, tt]`, `search/mod.rs` is `[search]`, `lib.rs` and `main.rs` are nothing.
    pub module: Vec<String>,
    pub text: String,
    pub code: String,
    paths: Vec<NamedPath>,
}

impl SourceFile {
    /// The module of the top level that the file belongs to.
    pub fn top(&self) -> &str {
        self.module.first().map_or(self.name.trim_end_matches(".rs"), String::as_str)
    }
}

/// A use of one file by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub line: usize,
}

pub struct House {
    pub files: Vec<SourceFile>,
    pub edges: Vec<Edge>,
}

impl House {
    /// Reads every file below a folder such as `src/`.
    pub fn read(src: &Path) -> House {
        let mut names = Vec::new();
        collect(src, &mut names);
        names.sort();
        let texts = names.into_iter().map(|path| {
            let inside = path.strip_prefix(src).unwrap();
            let name = inside.iter().map(|p| p.to_str().unwrap()).collect::<Vec<_>>().join("/");
            (name, fs::read_to_string(&path).unwrap())
        });
        House::of(texts.collect())
    }

    /// A house of these files (name below `src/`, text).
    pub fn of(texts: Vec<(String, String)>) -> House {
        let modules: Vec<Vec<String>> = texts.iter().map(|(name, _)| module_of(name)).collect();
        let files: Vec<SourceFile> = texts
            .into_iter()
            .zip(&modules)
            .map(|((name, text), module)| {
                let code = code_only(&text);
                let children: Vec<&str> = modules
                    .iter()
                    .filter(|m| m.len() == module.len() + 1 && m.starts_with(module) && owns_folder(&name))
                    .map(|m| m[m.len() - 1].as_str())
                    .collect();
                let heads: Vec<&str> =
                    ["crate", "toratsugumi", "super", "self"].into_iter().chain(children).collect();
                let paths = paths(&tokens(&code), &heads);
                SourceFile { name, module: module.clone(), text, code, paths }
            })
            .collect();
        let edges = Resolver::new(&files).edges();
        House { files, edges }
    }

    /// The circles: sets of files each of which reaches all others of its set.
    pub fn circles(&self) -> Vec<Vec<usize>> {
        let n = self.files.len();
        let mut reaches = vec![BTreeSet::new(); n];
        for (start, reached) in reaches.iter_mut().enumerate() {
            let mut ahead = vec![start];
            while let Some(file) = ahead.pop() {
                for e in self.edges.iter().filter(|e| e.from == file) {
                    if reached.insert(e.to) {
                        ahead.push(e.to);
                    }
                }
            }
        }
        let mut circles = BTreeSet::new();
        for a in 0..n {
            let together: Vec<usize> =
                reaches[a].iter().copied().filter(|&b| b != a && reaches[b].contains(&a)).collect();
            if !together.is_empty() {
                let mut circle = together;
                circle.push(a);
                circle.sort_unstable();
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// Functions of more lines than that: file, function, lines.
    pub fn functions_over(&self, lines: usize) -> Vec<(String, String, usize)> {
        let mut found = Vec::new();
        for f in &self.files {
            let long = functions(&tokens(&f.code)).into_iter().filter(|function| function.lines > lines);
            found.extend(long.map(|function| (f.name.clone(), function.name, function.lines)));
        }
        found
    }
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn module_of(name: &str) -> Vec<String> {
    let path = name.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" | "main" => Vec::new(),
        _ => path.split('/').map(String::from).collect(),
    }
}

/// Whether modules may lie below this file.
fn owns_folder(name: &str) -> bool {
    name == "lib.rs" || name.ends_with("mod.rs")
}

/// Finds the files that paths lead to.
struct Resolver<'a> {
    files: &'a [SourceFile],
    by_module: BTreeMap<&'a [String], usize>,
}

impl<'a> Resolver<'a> {
    fn new(files: &'a [SourceFile]) -> Resolver<'a> {
        let by_module = files
            .iter()
            .enumerate()
            .filter(|(_, f)| f.name != "main.rs")
            .map(|(i, f)| (f.module.as_slice(), i))
            .collect();
        Resolver { files, by_module }
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = BTreeSet::new();
        for (from, file) in self.files.iter().enumerate() {
            for path in file.paths.iter().filter(|p| !p.handed_on) {
                for to in self.targets(from, path) {
                    if to != from {
                        edges.insert(Edge { from, to, line: path.line });
                    }
                }
            }
        }
        edges.into_iter().collect()
    }

    /// A path from the crate's root; none for one that leads into an inline module of the file itself.
    fn absolute(&self, from: usize, path: &NamedPath) -> Option<Vec<String>> {
        let file = &self.files[from];
        let mut base: Vec<String> = file.module.iter().chain(&path.inside).cloned().collect();
        let mut words = path.words.iter().peekable();
        match words.peek()?.as_str() {
            "crate" | "toratsugumi" => {
                base.clear();
                words.next();
            }
            "self" => drop(words.next()),
            "super" => {
                while words.next_if(|w| *w == "super").is_some() {
                    base.pop()?;
                }
            }
            _ => {}
        }
        base.extend(words.cloned());
        Some(base)
    }

    /// The files in which what a path names is defined.
    fn targets(&self, from: usize, path: &NamedPath) -> Vec<usize> {
        match self.absolute(from, path) {
            Some(absolute) => self.find(&absolute, 0),
            None => Vec::new(),
        }
    }

    fn find(&self, path: &[String], depth: usize) -> Vec<usize> {
        // the longest beginning that is a module
        let Some(len) = (0..=path.len()).rev().find(|&n| self.by_module.contains_key(&path[..n])) else {
            return Vec::new();
        };
        let module = self.by_module[&path[..len]];
        let file = &self.files[module];
        let Some(name) = path.get(len) else { return vec![module] };
        // a chain of names handed on that is longer than this is a circle of its own
        if depth > 8 {
            return vec![module];
        }
        let handed: Vec<&NamedPath> = file.paths.iter().filter(|p| p.handed_on).collect();
        if name == "*" {
            // everything that the module hands on, and what it defines itself
            let mut all: Vec<usize> = handed
                .iter()
                .filter_map(|p| self.absolute(module, p))
                .flat_map(|p| self.find(&p, depth + 1))
                .collect();
            all.push(module);
            return all;
        }
        let known_as = |p: &&&NamedPath| p.alias.as_ref().or(p.words.last()) == Some(name);
        if let Some(p) = handed.iter().find(known_as) {
            return self.absolute(module, p).map_or(Vec::new(), |p| self.find(&p, depth + 1));
        }
        vec![module]
    }
}
