//! Just enough of Rust's syntax to see which paths a file names: text without comments and literals, words, use trees.

/// The text with comments, strings and character literals blanked, line ends kept.
pub fn code_only(text: &str) -> String {
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
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(1, |n| n + 4)
        } else if let Some(n) = char_literal(rest) {
            n
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

/// The bytes of a literal like `'x'` at the beginning of the text; a lifetime is none.
fn char_literal(text: &str) -> Option<usize> {
    let behind = text.strip_prefix('\'')?;
    let c = behind.chars().next()?;
    behind[c.len_utf8()..].starts_with('\'').then_some(c.len_utf8() + 2)
}

/// A word or a sign, and its line (1-based).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub line: usize,
}

/// Words, `::`, and all other signs one by one.
pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut line, mut rest) = (Vec::new(), 1, code);
    while let Some(c) = rest.chars().next() {
        let len = match c {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        if !c.is_whitespace() {
            found.push(Token { text: &rest[..len], line });
        }
        line += usize::from(c == '\n');
        rest = &rest[len..];
    }
    found
}

/// A path in full, as it stands in the code: `super::a::B`. The last word of a glob is `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    pub words: Vec<String>,
    /// The name by which the file knows it (`as`), if it has another.
    pub alias: Option<String>,
    pub line: usize,
    /// Inline modules around it, from the outside in.
    pub inside: Vec<String>,
    /// Part of a `pub use` (of any visibility): handed on, not used here.
    pub handed_on: bool,
}

/// All paths of a file that begin with one of `heads`, use trees written out.
pub fn paths(tokens: &[Token<'_>], heads: &[&str]) -> Vec<NamedPath> {
    let mut found = Vec::new();
    let (mut depth, mut modules): (usize, Vec<(usize, &str)>) = (0, Vec::new());
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text);
    let (mut i, mut in_use, mut public) = (0, false, false);
    while i < tokens.len() {
        match text(i) {
            "mod" if text(i + 2) == "{" => modules.push((depth, text(i + 1))),
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                modules.retain(|(d, _)| *d < depth);
            }
            "use" => {
                in_use = true;
                public = i > 0 && matches!(text(i - 1), "pub" | ")");
            }
            ";" => in_use = false,
            head if heads.contains(&head) && text(i + 1) == "::" && (i == 0 || text(i - 1) != "::") => {
                let inside: Vec<String> = modules.iter().map(|m| m.1.to_string()).collect();
                let mut leaves = Vec::new();
                i = tree(tokens, i, &mut Vec::new(), &mut leaves);
                found.extend(leaves.into_iter().map(|(words, alias, line)| NamedPath {
                    words,
                    alias,
                    line,
                    inside: inside.clone(),
                    handed_on: in_use && public,
                }));
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

type Leaf = (Vec<String>, Option<String>, usize);

/// Reads one path or tree of paths at `i`; returns where it ends.
fn tree(tokens: &[Token<'_>], mut i: usize, prefix: &mut Vec<String>, leaves: &mut Vec<Leaf>) -> usize {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text);
    let (length, line) = (prefix.len(), tokens[i].line);
    loop {
        match text(i) {
            "{" => {
                i += 1;
                while !matches!(text(i), "}" | "") {
                    i = if text(i) == "," { i + 1 } else { tree(tokens, i, prefix, leaves) };
                }
                prefix.truncate(length);
                return i + 1;
            }
            word if word == "*" || word.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                // `a::{self}` is `a`
                if word != "self" || prefix.is_empty() {
                    prefix.push(word.to_string());
                }
                i += 1;
            }
            // `a::<T>` and the like
            _ => break,
        }
        if text(i) != "::" {
            break;
        }
        i += 1;
    }
    let alias = (text(i) == "as").then(|| text(i + 1).to_string());
    leaves.push((prefix.clone(), alias.clone(), line));
    prefix.truncate(length);
    if alias.is_some() { i + 2 } else { i }
}

/// A function's name, its first line and its length in lines, test modules left out.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// Every function with a body.
pub fn functions(tokens: &[Token<'_>]) -> Vec<Function> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text);
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        if text(i) != "fn" || !text(i + 1).starts_with(|c: char| c.is_alphabetic() || c == '_') {
            continue;
        }
        // a semicolon outside brackets ends a declaration without a body
        let (mut j, mut brackets) = (i, 0i32);
        while j < tokens.len() && !(brackets == 0 && matches!(text(j), "{" | ";")) {
            brackets += match text(j) {
                "(" | "[" => 1,
                ")" | "]" => -1,
                _ => 0,
            };
            j += 1;
        }
        if text(j) != "{" {
            continue;
        }
        let mut depth = 0;
        for end in &tokens[j..] {
            depth += match end.text {
                "{" => 1,
                "}" => -1,
                _ => 0,
            };
            if depth == 0 {
                let (line, lines) = (tokens[i].line, end.line - tokens[i].line + 1);
                found.push(Function { name: text(i + 1).to_string(), line, lines });
                break;
            }
        }
    }
    found
}
