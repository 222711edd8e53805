//! The line between what the log says and what one validator sees: an allow-list of what `protocol/` may name.

use std::fs;
use std::path::Path;

/// What the committed side may name after `crate::`. Not the local side, not the facade, and nothing by the crate's
/// root, which re-exports them.
const ALLOWED: [&str; 9] = ["committee", "hash", "id", "math", "params", "protocol", "rank", "signature", "wire"];

/// Files below `folder` and what in them crosses the line.
fn offenders(folder: &Path, found: &mut Vec<String>, seen: &mut usize) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            offenders(&path, found, seen);
            continue;
        }
        *seen += 1;
        let text = fs::read_to_string(&path).unwrap();
        found.extend(crossings(&text).into_iter().map(|what| format!("{}: {what}", path.display())));
    }
}

/// Every path in `text` that leaves `protocol/` for something that is not allowed. Comments do not count, and line
/// breaks are no more than spaces.
fn crossings(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let tokens = tokens(&code.join(" "));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        match tokens[at].as_str() {
            // `pub(crate)`.
            "crate" if tokens.get(at + 1).is_some_and(|next| next == ")") => {}
            "crate" => {
                let heads = heads(&tokens, at + 1);
                let bad = |head: &&String| !ALLOWED.contains(&head.as_str());
                found.extend(heads.iter().filter(bad).map(|head| format!("crate::{head}")));
                found.extend(heads.is_empty().then(|| String::from("crate")));
            }
            // One step up stays in `protocol/`, two may not.
            "super" => {
                let heads = heads(&tokens, at + 1);
                found.extend(heads.iter().filter(|head| *head == "super").map(|_| String::from("super::super")));
            }
            "flamingo_core" => found.push(String::from("flamingo_core")),
            _ => {}
        }
        at += 1;
    }
    found
}

/// Words, `::` and single characters.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in code.chars() {
        let is_word = c.is_alphanumeric() || c == '_';
        match tokens.last_mut() {
            Some(last) if is_word && in_word => last.push(c),
            Some(last) if c == ':' && last == ":" => last.push(c),
            _ if c.is_whitespace() => {}
            _ => tokens.push(c.into()),
        }
        in_word = is_word;
    }
    tokens
}

/// The first names of the path or of the group of paths that goes on at `at`; none when it does not go on.
fn heads(tokens: &[String], at: usize) -> Vec<String> {
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|token| token == what);
    if !is(at, "::") {
        return Vec::new();
    }
    if !is(at + 1, "{") {
        return tokens.get(at + 1).cloned().into_iter().collect();
    }
    let (mut heads, mut depth, mut first) = (Vec::new(), 1, true);
    for token in &tokens[at + 2..] {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => first = true,
            _ if first => {
                heads.push(token.clone());
                first = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

/// `protocol/` never imports the local side: nothing of it may enter the fold over the committed log.
#[test]
fn the_committed_side_does_not_see_the_local_side() {
    let (mut found, mut seen) = (Vec::new(), 0);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    offenders(&source.join("protocol"), &mut found, &mut seen);
    assert!(seen > 10, "only {seen} files found");
    assert!(found.is_empty(), "{found:#?}");
    // One step up from here is the crate's root.
    let root = fs::read_to_string(source.join("protocol/mod.rs")).unwrap();
    assert!(!tokens(&root).contains(&String::from("super")));
}

/// The check sees what it is for.
#[test]
fn every_form_of_import_is_seen() {
    for text in [
        "use crate::signal::LoadFields;",
        "use crate::{id::Round, policy::Decisions};",
        "use crate::{\n    id::{AccountId, Round},\n    signal,\n};",
        "use crate::{\n    id::Round,\n    policy::{Decisions, Report},\n};",
        "use crate::Balancer;",
        "use crate::{Evaluation, Flamingo};",
        "use crate::*;",
        "use crate::{id::Round, *};",
        "use crate as root;",
        "use crate\n    ::signal;",
        "extern crate flamingo_core;",
        "use super::super::balancer::Balancer;",
        "use super::{super::signal, index::Index};",
        "use super::\n    super::signal;",
        "fn f(x: crate::signal::window::TrackingWindow) {}",
        "use flamingo_core::policy;",
        "let policy = $crate::policy();",
    ] {
        assert!(!crossings(text).is_empty(), "{text}");
    }
    for text in [
        "use crate::signature::SignatureScheme;",
        "use crate::{\n    id::{AccountId, Round},\n    protocol::account::Account,\n};",
        "use super::index::{AccountIndex, Index};",
        "use super::{account::Account, index::Index};",
        "pub(crate) fn f() {}",
        "pub(in crate::protocol) fn f() {}",
        "pub(super) fn f() {}",
        "use super::*;",
        "// crate::signal is not for us",
        "let policy = 1;",
    ] {
        assert_eq!(crossings(text), <[String; 0]>::default(), "{text}");
    }
}

/// Types that derive `Deserialize` although a field of theirs is private, and why that lets in nothing that their
/// constructors refuse.
const PRIVATE_AND_DESERIALIZED: [(&str, &str); 2] = [
    ("EquivocationProof", "by way of `new`"),
    ("NonceWindow", "any two numbers are a window: `from_parts` takes them, too"),
];

/// Names of the structs in `text` that derive `Deserialize` and have a private field.
fn deserialized_past_the_constructor(text: &str) -> Vec<String> {
    let derived = text.split("serde::Deserialize").skip(1);
    let name = |after: &str| {
        let (attributes, item) = after.split_once("pub struct ")?;
        // The derive belongs to the next item, and that is an enum or a private type.
        if ["pub enum ", "\nstruct ", "\nenum "].iter().any(|other| attributes.contains(other)) {
            return None;
        }
        let body = item.split("\n}").next()?;
        let is_field = |line: &&str| line.contains(": ") && !line.starts_with("///") && !line.starts_with('#');
        let mut fields = body.lines().skip(1).map(str::trim).filter(is_field);
        let (head, tuple) = (body.lines().next()?, body.contains("(pub "));
        let hidden = if head.contains('(') { !tuple } else { fields.any(|field| !field.starts_with("pub ")) };
        let end = head.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')?;
        hidden.then(|| String::from(&head[..end]))
    };
    derived.filter_map(name).collect()
}

/// Deserialization goes round a constructor: a type that derives it has public fields only, so that there is no
/// invariant to go round, or it is listed with its reason.
#[test]
fn nothing_is_deserialized_past_a_constructor() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let (mut found, mut derives) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            derives += text.matches("serde::Deserialize").count();
            found.extend(deserialized_past_the_constructor(&text));
        }
    }
    found.sort();
    assert!(derives > 30, "only {derives} derives found");
    assert_eq!(found, PRIVATE_AND_DESERIALIZED.map(|(name, _)| name));
    for (text, hidden) in [
        ("derive(serde::Deserialize))]\npub struct A {\n    b: u8,\n}\n", true),
        ("derive(serde::Deserialize))]\npub struct A {\n    pub b: u8,\n    pub(crate) c: u8,\n}\n", true),
        ("derive(serde::Deserialize))]\npub struct A(u8);\n", true),
        ("derive(serde::Deserialize))]\npub struct A {\n    /// b: it\n    pub b: u8,\n}\n", false),
        ("derive(serde::Deserialize))]\npub struct A(pub u8);\n", false),
        ("derive(serde::Deserialize))]\npub enum A {\n}\npub struct B {\n    b: u8,\n}\n", false),
    ] {
        assert_eq!(deserialized_past_the_constructor(text).len(), usize::from(hidden), "{text}");
    }
}
