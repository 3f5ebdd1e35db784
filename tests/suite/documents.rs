//! README and docs/ stay true: links lead somewhere, commands are understood, both languages show the same commands.

use clap::error::ErrorKind;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use toratsugumi::usi_client::split_words;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages =
        ["README.md", "README.ja.md", "eval/README.md", "book/README.md"].map(PathBuf::from).to_vec();
    for dir in ["docs", "docs/ja"] {
        let files = std::fs::read_dir(root().join(dir)).unwrap().map(|f| f.unwrap().path());
        let text = files.filter(|f| f.extension().is_some_and(|e| e == "md"));
        pages.extend(text.map(|f| f.strip_prefix(root()).unwrap().to_owned()));
    }
    pages.sort();
    pages.into_iter().map(|p| (p.clone(), std::fs::read_to_string(root().join(p)).unwrap())).collect()
}

/// The lines of a page's shell blocks, without comments.
fn shell(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim_end() {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => lines.push(line.split(" #").next().unwrap().trim_end()),
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// The name that a heading has in links.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for (page, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').map_or((link, None), |(f, h)| (f, Some(h)));
            let target = root().join(&page).parent().unwrap().join(file);
            let target = if file.is_empty() { root().join(&page) } else { target };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            if let Some(heading) = heading {
                let text = std::fs::read_to_string(target).unwrap();
                let known = text
                    .lines()
                    .filter_map(|l| l.strip_prefix('#'))
                    .map(|l| anchor(l.trim_start_matches('#')));
                assert!(known.into_iter().any(|a| a == heading), "{}: no heading {link}", page.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} links found");
}

#[test]
fn commands_are_understood() {
    let mut seen = BTreeSet::new();
    for (page, text) in pages() {
        for line in shell(&text) {
            let words = split_words(line.split(" > ").next().unwrap()).unwrap();
            let arguments = match words.iter().position(|w| w == "--") {
                Some(end) if words[0] == "cargo" && words[1] == "run" => &words[end..],
                _ if words[0] == "toratsugumi" => &words[..],
                _ => continue,
            };
            let parsed = toratsugumi::cli::command().try_get_matches_from(arguments);
            let name = match parsed {
                Ok(matches) => matches.subcommand_name().map(String::from),
                Err(e) if e.kind() == ErrorKind::DisplayHelp => None,
                Err(e) => panic!("{}: `{line}`: {e}", page.display()),
            };
            seen.extend(name);
        }
    }
    let all: BTreeSet<String> =
        toratsugumi::cli::command().get_subcommands().map(|c| c.get_name().into()).collect();
    assert_eq!(seen, all, "every subcommand is shown");
}

#[test]
fn both_languages_show_the_same_commands() {
    for (page, text) in pages() {
        let other = match page.strip_prefix("docs") {
            Ok(name) if !name.starts_with("ja") => {
                Path::new("docs/ja").join(name.to_str().unwrap().to_lowercase())
            }
            _ if page == Path::new("README.md") => PathBuf::from("README.ja.md"),
            _ => continue,
        };
        if page == Path::new("docs/CHANGELOG.md") {
            continue;
        }
        let translated = std::fs::read_to_string(root().join(&other)).unwrap();
        assert_eq!(shell(&text), shell(&translated), "{} and {}", page.display(), other.display());
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man1");
    let program = || Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    let script = program().args(["completions", "bash"]).output().unwrap();
    let text = String::from_utf8(script.stdout).unwrap();
    assert!(script.status.success() && text.contains("--multipv") && text.contains("perft"), "{text}");
    assert!(program().arg("man").arg(&pages).status().unwrap().success());
    for command in toratsugumi::cli::command().get_subcommands() {
        let page = pages.join(format!("toratsugumi-{}.1", command.get_name()));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        assert!(text.contains(".SH SYNOPSIS"), "{text}");
    }
}
