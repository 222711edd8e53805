//! The line between what the log says and what one validator sees.

use std::fs;
use std::path::Path;

/// Files of the committed side that mention the local side.
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
        for (line, words) in text.lines().enumerate() {
            if crosses(words) {
                found.push(format!("{}:{}: {words}", path.display(), line + 1));
            }
        }
    }
}

/// Whether a line names a module of the local side in any form of path, grouped imports included: after a path's
/// root anywhere in the line, or as the start of a path of its own.
fn crosses(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let rooted = ["crate::", "super::", "flamingo_core::"].iter().any(|root| code.contains(root));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    ["signal", "policy", "balancer", "flamingo"].iter().any(|module| {
        code.match_indices(module).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + module.len()..]);
            let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            whole && (rooted || after.starts_with("::"))
        })
    })
}

/// `protocol/` never imports the local side: nothing of it may enter the fold over the committed log.
#[test]
fn the_committed_side_does_not_see_the_local_side() {
    let (mut found, mut seen) = (Vec::new(), 0);
    offenders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol"), &mut found, &mut seen);
    assert!(seen > 10, "only {seen} files found");
    assert!(found.is_empty(), "{found:#?}");
}

/// The check sees what it is for.
#[test]
fn every_form_of_import_is_seen() {
    for line in [
        "use crate::signal::LoadFields;",
        "use crate::{id::Round, policy::Decisions};",
        "use super::super::balancer::Balancer;",
        "fn f(x: crate::signal::window::TrackingWindow) {}",
        "use flamingo_core::policy;",
        "    policy::{Decisions, Report},",
    ] {
        assert!(crosses(line), "{line}");
    }
    for line in ["use crate::signature::SignatureScheme;", "// crate::signal is not for us", "let policy = 1;"] {
        assert!(!crosses(line), "{line}");
    }
}
