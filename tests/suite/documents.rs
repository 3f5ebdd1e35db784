//! Checks of README and docs/: links exist, commands parse and run, both languages show the same commands.

use crate::support::program;
use clap::error::ErrorKind;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use toratsugumi::engine::{EMPTY, Kind, table};
use toratsugumi::usi_client::split_words;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page of the repository, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(root().join(dir)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let path = dir.join(&name);
            if entry.file_type().unwrap().is_dir() {
                // ignored by git: builds, and what lies beside a checkout
                if !name.starts_with('.') && !name.ends_with("target") && name != "shared" {
                    collect(&path, found);
                }
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    let mut pages = Vec::new();
    collect(Path::new(""), &mut pages);
    pages.sort();
    pages.into_iter().map(|p| (p.clone(), std::fs::read_to_string(root().join(p)).unwrap())).collect()
}

/// The targets of a page's links, pictures included.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The words in backquotes in a page's text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.starts_with("```")).flat_map(|l| l.split('`').skip(1).step_by(2))
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

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_have_targets() {
    let mut seen = 0;
    for (page, text) in pages() {
        for link in links(&text) {
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
fn commands_parse() {
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

/// All pages of a language are linked from its README, and every picture is used.
#[test]
fn every_page_is_linked() {
    let pages = pages();
    let mut reached = BTreeSet::new();
    let mut waiting = vec![PathBuf::from("README.md"), PathBuf::from("README.ja.md")];
    while let Some(page) = waiting.pop() {
        if !reached.insert(page.clone()) {
            continue;
        }
        let Some((_, text)) = pages.iter().find(|(p, _)| *p == page) else { continue };
        for link in links(text).filter(|l| !l.contains("://")) {
            let target = page.parent().unwrap().join(link.split('#').next().unwrap());
            if let Ok(target) = root().join(target).canonicalize() {
                waiting.push(target.strip_prefix(root().canonicalize().unwrap()).unwrap().to_owned());
            }
        }
    }
    for (page, _) in &pages {
        assert!(reached.contains(page), "no page leads to {}", page.display());
    }
    for picture in std::fs::read_dir(root().join("docs/images")).unwrap().map(Result::unwrap) {
        let name = Path::new("docs/images").join(picture.file_name());
        assert!(reached.contains(&name), "no page shows {}", name.display());
        assert!(picture.metadata().unwrap().len() < 150_000, "{} is large", name.display());
    }
}

/// Flags named in the text exist.
#[test]
fn flags_in_the_text_exist() {
    fn flags(command: &clap::Command, found: &mut BTreeSet<String>) {
        let own = command.get_arguments().flat_map(|a| a.get_long_and_visible_aliases().unwrap_or_default());
        found.extend(own.map(|f| format!("--{f}")));
        command.get_subcommands().for_each(|c| flags(c, found));
    }
    let mut known = BTreeSet::from(["--help".to_string()]);
    flags(&toratsugumi::cli::command(), &mut known);
    let mut seen = 0;
    for (page, text) in pages() {
        for span in quoted(&text).filter(|s| s.starts_with("--") && s.len() > 2) {
            let words = split_words(span).unwrap();
            for flag in words.iter().filter(|w| w.starts_with("--")) {
                let flag = flag.split('=').next().unwrap();
                assert!(known.contains(flag), "{}: `{span}`", page.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "only {seen} flags found");
}

/// The pages of options have a row for every option, with its default and its values, and no other rows.
#[test]
fn pages_of_options_are_the_table() {
    for (page, to, comma, text, cores, checks) in [
        ("docs/options.md", " to ", ", ", "text", "the machine's cores", "true or false"),
        ("docs/ja/options.md", "〜", "、", "文字列", "CPU の全コア", "true、false"),
    ] {
        let rows: Vec<String> = table()
            .iter()
            .map(|spec| {
                let (mut default, mut values) = match spec.kind {
                    Kind::Check { default } => (default.to_string(), checks.to_owned()),
                    Kind::Spin { default, min, max } => (default.to_string(), format!("{min}{to}{max}")),
                    Kind::Combo { default, choices } => (default.to_owned(), choices.join(comma)),
                    Kind::Name { default, .. } | Kind::Text { default } => {
                        (default.to_owned(), text.to_owned())
                    }
                };
                if spec.name == "Threads" {
                    (default, values) = (cores.to_owned(), format!("1{to}1024"));
                } else if default.is_empty() || default.starts_with('<') {
                    default = format!("`{}`", if default.is_empty() { EMPTY } else { &default });
                }
                format!("| `{}` | {default} | {values} | ", spec.name)
            })
            .collect();
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        let on_page: Vec<&str> = text.lines().filter(|l| l.starts_with("| `")).collect();
        for row in &rows {
            assert!(
                on_page.iter().any(|line| line.starts_with(row)),
                "{page} lacks a row that starts with {row}"
            );
        }
        assert_eq!(on_page.len(), rows.len(), "{page} has rows of other options");
    }
}

/// The engine has every option in the comparison with YaneuraOu.
#[test]
fn options_of_the_page_on_playing_exist() {
    use std::io::Write;
    let page = std::fs::read_to_string(root().join("docs/playing.md")).unwrap();
    let names: BTreeSet<&str> = page
        .lines()
        .filter(|l| l.starts_with('|'))
        .flat_map(|l| quoted(l).collect::<Vec<_>>())
        .filter(|n| n.starts_with(|c: char| c.is_ascii_uppercase()) || *n == "nodestime")
        .collect();
    assert!(names.len() > 12, "{names:?}");
    let mut engine =
        program().stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = engine.stdin.take().unwrap();
    for name in names.iter().chain(&["NoSuchThing"]) {
        writeln!(input, "setoption name {name} value 1").unwrap();
    }
    drop(input);
    let said = String::from_utf8(engine.wait_with_output().unwrap().stdout).unwrap();
    let refused: Vec<&str> = said.lines().filter(|l| l.contains("No such option")).collect();
    assert_eq!(refused, ["info string No such option: NoSuchThing"]);
}

/// Targets of make, test modules and fuzz targets named in the pages exist.
#[test]
fn targets_of_developers_commands_exist() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let is_target = |name: &str| makefile.lines().any(|l| l.split(':').next() == Some(name));
    let mut seen = 0;
    for (page, text) in pages() {
        let in_text = quoted(&text).map(str::to_string).collect::<Vec<_>>();
        for line in shell(&text).into_iter().chain(in_text.iter().map(String::as_str)) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let exists = match words[..] {
                ["make", target] => is_target(target),
                ["cargo", "test", .., "suite", module, _, "--ignored"]
                | ["cargo", "test", .., "suite", module, _, "--ignored", "--nocapture"] => {
                    let module = module.trim_end_matches("::");
                    root().join(format!("tests/suite/{module}.rs")).exists()
                }
                ["cargo", "+nightly", "fuzz", "run", target] => {
                    root().join(format!("fuzz/fuzz_targets/{target}.rs")).exists()
                }
                _ => continue,
            };
            assert!(exists, "{}: `{line}`", page.display());
            seen += 1;
        }
    }
    assert!(seen > 12, "only {seen} found");
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
        // these are in English only
        if ["docs/CHANGELOG.md", "docs/search-experiments.md"].map(Path::new).contains(&page.as_path()) {
            continue;
        }
        let translated = std::fs::read_to_string(root().join(&other)).unwrap();
        assert_eq!(shell(&text), shell(&translated), "{} and {}", page.display(), other.display());
    }
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man1");
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

/// Makes a command of the pages fast: the same command with small numbers.
fn cut_down(words: &mut Vec<String>) {
    const SMALL: [(&str, &str); 11] = [
        ("--movetime", "20"),
        ("--depth", "3"),
        ("--positions", "600"),
        ("--nodes", "50"),
        ("--games", "2"),
        ("--grow", "3"),
        ("--count", "1"),
        ("--min-count", "1"),
        ("--threads", "1"),
        ("--hash", "1"),
        ("-j", "1"),
    ];
    for i in 1..words.len() {
        let small = SMALL.iter().find(|(flag, _)| *flag == words[i - 1]);
        if let Some((_, value)) = small.filter(|_| words[i].split(',').all(|n| n.parse::<u64>().is_ok())) {
            words[i] = value.to_string();
        }
        for nodes in ["nodes=5000", "nodes=10000"] {
            let shorter = words[i].split(' ').map(|w| if w == nodes { "nodes=50" } else { w });
            words[i] = shorter.collect::<Vec<_>>().join(" ");
        }
        if words[i].starts_with("cmd=") {
            words[i] += " USI_Hash=1";
        }
    }
    let has = |flag: &str| words.iter().any(|w| w == flag);
    let more: &[(&str, &str)] = match words[1].as_str() {
        "analyse" if has("game.kif") || has("games") => {
            &[("--nodes", "50"), ("--mate-nodes", "0"), ("--threads", "1"), ("--hash", "1")]
        }
        "analyse" if has("--movetime") || has("--depth") => &[("--threads", "1"), ("--hash", "1")],
        "analyse" => &[("--movetime", "20"), ("--threads", "1"), ("--hash", "1")],
        "bench" if has("--movetime") => &[("--hash", "1")],
        "bench" => &[("--depth", "1"), ("--hash", "1")],
        "book" if words[2] == "think" => &[("--nodes", "50"), ("--threads", "1"), ("--hash", "1")],
        "datagen" => &[("--threads", "1"), ("--hash", "1")],
        "mate" => &[("--hash", "1")],
        "openings" => &[("--nodes", "200"), ("--move-nodes", "50"), ("--candidates", "2")],
        "train" => &[
            ("--arch", "kp_256x2-32-32"),
            ("--batch", "32"),
            ("--epochs", "1"),
            ("--threads", "1"),
            ("--validation", "0.3"),
        ],
        _ => &[],
    };
    let missing: Vec<_> = more.iter().filter(|(flag, _)| !has(flag)).collect();
    words.extend(missing.iter().flat_map(|(flag, value)| [flag.to_string(), value.to_string()]));
    if words[1] == "perft" {
        words[2] = "3".into();
    }
}

/// The commands of the English pages succeed, run in order in one directory, as a reader would type them.
#[test]
fn commands_run() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let data = |name: &str| std::fs::read_to_string(root().join("tests/data").join(name)).unwrap();
    let mut game = data("games/gps_normal_gps_l_2010.csa");
    // a short game is enough
    let cut = game.match_indices("\n+").nth(12).unwrap().0;
    game.truncate(cut);
    game.push_str("\n%TORYO\n");
    for folder in ["games", "records", "book"] {
        std::fs::create_dir(at(folder)).unwrap();
        std::fs::write(at(folder).join("a.csa"), &game).unwrap();
    }
    std::fs::write(at("game.csa"), &game).unwrap();
    for file in ["lines.txt", "openings.usi"] {
        std::fs::write(at(file), "startpos moves 7g7f 3c3d\n").unwrap();
    }
    std::fs::copy(root().join("book/handicaps.txt"), at("handicaps.txt")).unwrap();
    let table = data("mate_problems.tsv");
    let problems = table.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').next().unwrap());
    let problems: String = problems.take(3).map(|l| format!("{l}\n")).collect();
    for file in ["problems.txt", "positions.txt", "sfens"] {
        std::fs::write(at(file), &problems).unwrap();
    }
    let sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    std::fs::write(at("positions.tsv"), format!("{sfen}\t7g7f\t1\n")).unwrap();
    let bin = env!("CARGO_BIN_EXE_toratsugumi");
    let run = |words: &[String]| {
        let out = Command::new(bin).args(&words[1..]).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{words:?}: {said}");
    };
    let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
    // inputs that come from another page
    run(&words("toratsugumi convert game.csa -o game.kif"));
    std::fs::copy(at("game.kif"), at("problem.kif")).unwrap();
    run(&words("toratsugumi book make records -o mine.db"));
    run(&words("toratsugumi net bootstrap -o nn.bin"));
    std::fs::create_dir(at("DIR")).unwrap();
    std::fs::copy(at("nn.bin"), at("DIR/nn.bin")).unwrap();
    let mut done = 0;
    let mut pages = pages();
    // uses the data and the network of the page on training
    pages.sort_by_key(|(page, _)| page.ends_with("architectures.md"));
    for (page, text) in pages {
        if page.starts_with("docs/ja") || page == Path::new("README.ja.md") {
            continue;
        }
        for line in shell(&text) {
            let mut words = split_words(line.split(" > ").next().unwrap()).unwrap();
            let elsewhere = match words[..].iter().map(String::as_str).collect::<Vec<_>>()[..] {
                // plays for minutes; tests/suite/csa.rs covers it
                [_, "csa", ..] => true,
                // hours of work; tests/suite/learn.rs and train.rs
                [_, "learn", .., "--max-time", _] => true,
                ["toratsugumi", ..] => line.contains("cmd=./other"),
                _ => true,
            };
            if elsewhere {
                continue;
            }
            if words[1] == "man" {
                words[2] = "man1".into();
            }
            if let Some(i) = words.iter().position(|w| w == "games/*.csa") {
                words[i] = "games/a.csa".into();
            }
            if words[1] != "--help" {
                cut_down(&mut words);
            }
            for made in ["game.kif", "nn.bin", "mine.db"] {
                let output = words.iter().position(|w| w == "-o").map(|i| words[i + 1].as_str());
                if output == Some(made) {
                    let _ = std::fs::remove_file(at(made));
                }
            }
            run(&words);
            done += 1;
        }
    }
    assert!(done > 30, "only {done} commands");
    for made in ["game.analysis.html", "game.analysis.kifu", "mine.ybb", "mine.nn.zst", "net/nn.bin"] {
        assert!(at(made).exists(), "{made}");
    }
}
