//! The source tree as a graph: its files, and which file uses which ([`ModuleGraph`]).
//!
//! A file uses another if it names something that is defined there, also through what a `mod.rs` re-exports,
//! or calls a method whose `impl` block stands there: `Type::method`, or `x.y.method()` where `x` is `self`
//! or a parameter and the fields have plain types.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One file of `src/`.
pub struct SourceFile {
    /// Below `src/`, with `/`.
    pub name: String,
    /// `search/tt.rs` is `[search, tt]`, `search/mod.rs` is `[search]`, `lib.rs` and `main.rs` are nothing.
    pub module: Vec<String>,
    pub lines: usize,
    contents: Contents,
}

impl SourceFile {
    fn new(name: String, text: &str) -> SourceFile {
        let syntax = syn::parse_file(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut contents = Contents::default();
        contents.visit_file(&syntax);
        SourceFile { module: module_of(&name), name, lines: text.lines().count(), contents }
    }

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

pub struct ModuleGraph {
    pub files: Vec<SourceFile>,
    pub edges: Vec<Edge>,
}

impl ModuleGraph {
    /// Reads every file below a folder such as `src/`.
    pub fn read(src: &Path) -> ModuleGraph {
        let mut paths = Vec::new();
        collect(src, &mut paths);
        paths.sort();
        let files = paths.into_iter().map(|path| {
            let inside = path.strip_prefix(src).unwrap();
            let name = inside.iter().map(|p| p.to_str().unwrap()).collect::<Vec<_>>().join("/");
            SourceFile::new(name, &fs::read_to_string(&path).unwrap())
        });
        ModuleGraph::of(files.collect())
    }

    /// The graph of these files: name below `src/`, text.
    pub fn of_texts(files: &[(&str, &str)]) -> ModuleGraph {
        ModuleGraph::of(files.iter().map(|(name, text)| SourceFile::new(name.to_string(), text)).collect())
    }

    fn of(files: Vec<SourceFile>) -> ModuleGraph {
        let edges = Resolver::new(&files).edges();
        ModuleGraph { files, edges }
    }

    /// The cycles: sets of files each of which reaches all others of its set.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let n = self.files.len();
        let mut uses = vec![BTreeSet::new(); n];
        for edge in &self.edges {
            uses[edge.from].insert(edge.to);
        }
        let mut reaches = vec![BTreeSet::new(); n];
        for (start, reached) in reaches.iter_mut().enumerate() {
            let mut ahead = vec![start];
            while let Some(file) = ahead.pop() {
                ahead.extend(uses[file].iter().filter(|&&to| reached.insert(to)));
            }
        }
        let mutual = |a: usize, b: usize| a == b || reaches[a].contains(&b) && reaches[b].contains(&a);
        let cycles: BTreeSet<Vec<usize>> =
            (0..n).map(|a| (0..n).filter(|&b| mutual(a, b)).collect()).collect();
        cycles.into_iter().filter(|cycle| cycle.len() > 1).collect()
    }

    /// Functions of more lines than that: file, function, lines.
    pub fn functions_over<'a>(&'a self, lines: usize) -> Vec<(&'a str, &'a str, usize)> {
        let functions = |f: &'a SourceFile| {
            f.contents.functions.iter().map(move |(name, length)| (f.name.as_str(), name.as_str(), *length))
        };
        self.files.iter().flat_map(functions).filter(|(.., length)| *length > lines).collect()
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

/// A path as it stands in the code, such as `super::a::B`. The last word of a glob is `*`.
#[derive(Clone, Debug)]
struct NamedPath {
    words: Vec<String>,
    line: usize,
    /// Inline modules around it, from the outside in.
    inside: Vec<String>,
}

struct Import {
    path: NamedPath,
    /// By which the file knows it: the path's last word, or that after `as`.
    name: String,
    /// A `pub use` of any visibility is handed on, not used.
    public: bool,
}

/// `x.y.method()`, where `x` has the type `head`.
struct Call {
    head: NamedPath,
    fields: Vec<String>,
    method: String,
    line: usize,
}

/// What a file defines, and what it uses.
#[derive(Default)]
struct Contents {
    items: BTreeSet<String>,
    imports: Vec<Import>,
    paths: Vec<NamedPath>,
    calls: Vec<Call>,
    /// Functions in `impl` blocks, with the block's type.
    methods: Vec<(NamedPath, String)>,
    /// Types of fields by struct and field.
    fields: BTreeMap<(String, String), NamedPath>,
    /// Every function with a body, and its length in lines.
    functions: Vec<(String, usize)>,
    // where the visitor is
    inside: Vec<String>,
    /// Types of `self` and of the parameters in scope.
    locals: Vec<(String, NamedPath)>,
}

impl Contents {
    fn named(&self, words: Vec<String>, line: usize) -> NamedPath {
        // `Self::x` is a path of the block's type
        let own = words.first().filter(|w| *w == "Self").and_then(|_| self.local("self"));
        let words = match own {
            Some(own) => own.words.iter().cloned().chain(words.into_iter().skip(1)).collect(),
            None => words,
        };
        NamedPath { words, line, inside: self.inside.clone() }
    }

    fn local(&self, name: &str) -> Option<&NamedPath> {
        self.locals.iter().rev().find(|(local, _)| local == name).map(|(_, path)| path)
    }

    fn path(&self, path: &syn::Path) -> NamedPath {
        let words = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.named(words, path.span().start().line)
    }

    /// The path of a type, seen through references, `Arc` and `Box`.
    fn type_path(&self, ty: &syn::Type) -> Option<NamedPath> {
        match ty {
            syn::Type::Reference(r) => self.type_path(&r.elem),
            syn::Type::Path(p) => {
                let last = p.path.segments.last()?;
                match &last.arguments {
                    syn::PathArguments::AngleBracketed(inner)
                        if last.ident == "Arc" || last.ident == "Box" =>
                    {
                        let inner = inner.args.first()?;
                        let syn::GenericArgument::Type(inner) = inner else { return None };
                        self.type_path(inner)
                    }
                    _ => Some(self.path(&p.path)),
                }
            }
            _ => None,
        }
    }

    /// Visits what stands in a block of `self_type`.
    fn within(&mut self, self_type: Option<NamedPath>, visit: impl FnOnce(&mut Contents)) {
        let outside = self.locals.len();
        self.locals.extend(self_type.map(|path| ("self".to_string(), path)));
        visit(self);
        self.locals.truncate(outside);
    }

    fn function(
        &mut self,
        signature: &syn::Signature,
        end: Option<proc_macro2::Span>,
        visit: impl FnOnce(&mut Contents),
    ) {
        let first = signature.fn_token.span.start().line;
        if let Some(end) = end {
            self.functions.push((signature.ident.to_string(), end.end().line + 1 - first));
        }
        let outside = self.locals.len();
        for input in &signature.inputs {
            if let syn::FnArg::Typed(input) = input
                && let syn::Pat::Ident(name) = &*input.pat
                && let Some(path) = self.type_path(&input.ty)
            {
                self.locals.push((name.ident.to_string(), path));
            }
        }
        visit(self);
        self.locals.truncate(outside);
    }

    fn call(&mut self, head: &str, fields: Vec<String>, method: String, line: usize) {
        if let Some(head) = self.local(head).cloned() {
            self.calls.push(Call { head, fields, method, line });
        }
    }

    fn imports(&mut self, tree: &syn::UseTree, prefix: &[String], public: bool) {
        let (last, name) = match tree {
            syn::UseTree::Path(path) => {
                let prefix = [prefix, &[path.ident.to_string()]].concat();
                return self.imports(&path.tree, &prefix, public);
            }
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.imports(tree, prefix, public));
            }
            syn::UseTree::Name(name) => (name.ident.to_string(), None),
            syn::UseTree::Rename(rename) => (rename.ident.to_string(), Some(rename.rename.to_string())),
            syn::UseTree::Glob(_) => ("*".to_string(), None),
        };
        let mut words = prefix.to_vec();
        // `a::{self}` is `a`
        if last != "self" || words.is_empty() {
            words.push(last);
        }
        let name = name.or_else(|| words.last().cloned()).unwrap_or_default();
        let path = NamedPath { words, line: tree.span().start().line, inside: self.inside.clone() };
        self.imports.push(Import { path, name, public });
    }

    /// The paths and calls in a macro that is not a list of expressions.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let sign =
            |i: usize, sign: char| matches!(tokens.get(i), Some(TokenTree::Punct(p)) if p.as_char() == sign);
        let word = |i: usize| match tokens.get(i) {
            Some(TokenTree::Ident(word)) => Some(word.to_string()),
            _ => None,
        };
        let mut i = 0;
        while let Some(token) = tokens.get(i) {
            let line = token.span().start().line;
            i += 1;
            if let TokenTree::Group(group) = token {
                self.tokens(group.stream());
                continue;
            }
            let Some(first) = word(i - 1) else { continue };
            let mut words = vec![first];
            while sign(i, ':')
                && sign(i + 1, ':')
                && let Some(next) = word(i + 2)
            {
                words.push(next);
                i += 3;
            }
            if words.len() > 1 {
                let path = self.named(words, line);
                self.paths.push(path);
                continue;
            }
            let mut fields = Vec::new();
            while sign(i, '.')
                && let Some(next) = word(i + 1)
            {
                fields.push(next);
                i += 2;
            }
            let called =
                matches!(tokens.get(i), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
            if called && let Some(method) = fields.pop() {
                self.call(&words[0], fields, method, line);
            }
        }
    }
}

/// `x.y` as `x` and its fields.
fn place(expr: &syn::Expr) -> Option<(String, Vec<String>)> {
    match expr {
        syn::Expr::Path(p) => Some((p.path.get_ident()?.to_string(), Vec::new())),
        syn::Expr::Field(f) => {
            let (head, mut fields) = place(&f.base)?;
            let syn::Member::Named(name) = &f.member else { return None };
            fields.push(name.to_string());
            Some((head, fields))
        }
        syn::Expr::Reference(r) => place(&r.expr),
        syn::Expr::Paren(p) => place(&p.expr),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Contents {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Const(i) => Some(&i.ident),
            syn::Item::Enum(i) => Some(&i.ident),
            syn::Item::Fn(i) => Some(&i.sig.ident),
            syn::Item::Macro(i) => i.ident.as_ref(),
            syn::Item::Static(i) => Some(&i.ident),
            syn::Item::Struct(i) => Some(&i.ident),
            syn::Item::Trait(i) => Some(&i.ident),
            syn::Item::Type(i) => Some(&i.ident),
            syn::Item::Union(i) => Some(&i.ident),
            _ => None,
        };
        self.items.extend(name.map(|name| name.to_string()));
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.inside.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.imports(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        for field in &item.fields {
            if let (Some(name), Some(path)) = (&field.ident, self.type_path(&field.ty)) {
                self.fields.insert((item.ident.to_string(), name.to_string()), path);
            }
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = self.type_path(&item.self_ty);
        for function in &item.items {
            if let (syn::ImplItem::Fn(function), Some(of)) = (function, &of) {
                self.methods.push((of.clone(), function.sig.ident.to_string()));
            }
        }
        self.within(of, |contents| visit::visit_item_impl(contents, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let of = self.named(vec![item.ident.to_string()], item.ident.span().start().line);
        self.within(Some(of), |contents| visit::visit_item_trait(contents, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let end = item.block.brace_token.span.close();
        self.function(&item.sig, Some(end), |contents| visit::visit_item_fn(contents, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let end = item.block.brace_token.span.close();
        self.function(&item.sig, Some(end), |contents| visit::visit_impl_item_fn(contents, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        let end = item.default.as_ref().map(|block| block.brace_token.span.close());
        self.function(&item.sig, end, |contents| visit::visit_trait_item_fn(contents, item));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // a single word is defined in the file or imported, which is seen there
        if path.segments.len() > 1 {
            self.paths.push(self.path(path));
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Some((head, fields)) = place(&call.receiver) {
            self.call(&head, fields, call.method.to_string(), call.method.span().start().line);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        type Arguments = Punctuated<syn::Expr, syn::Token![,]>;
        match mac.parse_body_with(Arguments::parse_terminated) {
            Ok(arguments) => arguments.iter().for_each(|argument| self.visit_expr(argument)),
            Err(_) => self.tokens(mac.tokens.clone()),
        }
    }
}

/// Something in a file: an item of it, and what follows in the path; nothing for the file as a whole.
type Target = (usize, Vec<String>);

/// Finds the files that paths lead to.
struct Resolver<'a> {
    files: &'a [SourceFile],
    by_module: BTreeMap<&'a [String], usize>,
    /// The files with `impl` blocks that have a method, by the type (the file that defines it, its name) and
    /// the method.
    methods: BTreeMap<(usize, String, String), BTreeSet<usize>>,
}

impl<'a> Resolver<'a> {
    fn new(files: &'a [SourceFile]) -> Resolver<'a> {
        let all = files.iter().enumerate();
        let by_module =
            all.filter(|(_, f)| f.name != "main.rs").map(|(i, f)| (f.module.as_slice(), i)).collect();
        let mut resolver = Resolver { files, by_module, methods: BTreeMap::new() };
        for (i, file) in files.iter().enumerate() {
            for (of, method) in &file.contents.methods {
                if let Some((defined, name)) = resolver.type_of(i, of) {
                    resolver.methods.entry((defined, name, method.clone())).or_default().insert(i);
                }
            }
        }
        resolver
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = BTreeSet::new();
        for (from, file) in self.files.iter().enumerate() {
            let mut add = |to: usize, line: usize| {
                if to != from {
                    edges.insert(Edge { from, to, line });
                }
            };
            for import in file.contents.imports.iter().filter(|i| !i.public) {
                let targets =
                    self.absolute(from, &import.path).map_or(Vec::new(), |path| self.find(&path, 0));
                targets.iter().for_each(|(to, _)| add(*to, import.path.line));
            }
            for path in &file.contents.paths {
                for (to, rest) in self.targets(from, path) {
                    add(to, path.line);
                    if let [name, method, ..] = &rest[..] {
                        self.method((to, name.clone()), method).for_each(|to| add(to, path.line));
                    }
                }
            }
            for call in &file.contents.calls {
                let head = self.type_of(from, &call.head);
                let receiver = call.fields.iter().try_fold(head, |of, field| {
                    let (defined, name) = of?;
                    let path = self.files[defined].contents.fields.get(&(name, field.clone()))?;
                    Some(self.type_of(defined, path))
                });
                if let Some(of) = receiver.flatten() {
                    self.method(of, &call.method).for_each(|to| add(to, call.line));
                }
            }
        }
        edges.into_iter().collect()
    }

    /// The files that define a method of a type.
    fn method(&self, of: (usize, String), method: &str) -> impl Iterator<Item = usize> {
        self.methods.get(&(of.0, of.1, method.to_string())).into_iter().flatten().copied()
    }

    /// The file that defines a type, and its name there.
    fn type_of(&self, from: usize, path: &NamedPath) -> Option<(usize, String)> {
        let (file, rest) = self.targets(from, path).into_iter().next()?;
        Some((file, rest.into_iter().next()?))
    }

    /// A path from the crate's root; its first word is `crate` or the like, or a module. None for one that
    /// leads out of the crate.
    fn absolute(&self, from: usize, path: &NamedPath) -> Option<Vec<String>> {
        let mut base: Vec<String> = self.files[from].module.iter().chain(&path.inside).cloned().collect();
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

    /// What a path in the code leads to.
    fn targets(&self, from: usize, path: &NamedPath) -> Vec<Target> {
        let contents = &self.files[from].contents;
        let first = &path.words[0];
        if contents.items.contains(first) {
            return vec![(from, path.words.clone())];
        }
        let known = self.through_imports(from, &path.words, 0);
        if !known.is_empty() {
            return known;
        }
        self.absolute(from, path).map_or(Vec::new(), |path| self.find(&path, 0))
    }

    /// What `words` are whose first is a name that a file imports, by itself or with a glob.
    fn through_imports(&self, file: usize, words: &[String], depth: usize) -> Vec<Target> {
        let imports = &self.files[file].contents.imports;
        if let Some(import) = imports.iter().find(|i| i.name == words[0]) {
            let path = self.absolute(file, &import.path).map(|path| [&path, &words[1..]].concat());
            return path.map_or(Vec::new(), |path| self.find(&path, depth + 1));
        }
        for glob in imports.iter().filter(|i| i.name == "*") {
            let Some(path) = self.absolute(file, &glob.path) else { continue };
            let found = self.find(&[&path[..path.len() - 1], words].concat(), depth + 1);
            let defined = |(to, rest): &Target| {
                rest.first().is_some_and(|name| self.files[*to].contents.items.contains(name))
            };
            if found.iter().any(defined) {
                return found;
            }
        }
        Vec::new()
    }

    fn find(&self, path: &[String], depth: usize) -> Vec<Target> {
        // the longest beginning that is a module
        let Some(len) = (0..=path.len()).rev().find(|&n| self.by_module.contains_key(&path[..n])) else {
            return Vec::new();
        };
        let module = self.by_module[&path[..len]];
        let rest = &path[len..];
        let itself = (module, rest.to_vec());
        let Some(name) = rest.first() else { return vec![itself] };
        let contents = &self.files[module].contents;
        // a chain of re-exports that is longer than this is a cycle of its own
        if depth > 8 || contents.items.contains(name) {
            return vec![itself];
        }
        if name == "*" {
            // everything that the module re-exports, and what it defines itself
            let public = contents.imports.iter().filter(|i| i.public);
            let paths = public.filter_map(|i| self.absolute(module, &i.path));
            return paths
                .flat_map(|path| self.find(&path, depth + 1))
                .chain([(module, Vec::new())])
                .collect();
        }
        let found = self.through_imports(module, rest, depth);
        if found.is_empty() { vec![itself] } else { found }
    }
}
