//! `rollcall history` and `rollcall revert`: what was changed, and back.

use serde_json::{Value as Json, json};

use super::output::{Column, moment, print_rows, text};
use super::show::find;
use super::{MOST, pages, server};
use crate::cli::console::{print, say};
use crate::config::{History, Output, Revert};
use crate::entity::text::one_line;
use crate::mcp::questions::HISTORY;

const REVERT: &str = "mutation($id: ID!, $dryRun: Boolean) { changeRevert(input: { id: $id, dryRun: $dryRun }) {
    summary fields { field before after } errors { message path } } }";

const COLUMNS: [Column; 6] = [
    ("at", "/at"),
    ("who", "/actor"),
    ("what", "/summary"),
    ("of", "/subjectName"),
    ("details", "/details"),
    ("id", "/id"),
];

/// The fields of a revert.
const FIELDS: [Column; 3] = [("field", "/field"), ("before", "/before"), ("after", "/after")];

pub(super) fn run(settings: &History) -> Result<(), String> {
    let History { words, since, limit, asking } = settings;
    let server = server(&asking.remote, asking.deadline)?;
    let (kind, node) = find(&server, words)?;
    let name = text(node.get("name"));
    if !["service", "team", "system", "domain"].contains(&kind.word) {
        return Err(format!(
            "{name} is {}; a service, a team, a system or a domain has a history",
            kind.with_article()
        ));
    }
    let alias = node.get("alias").or_else(|| node.pointer("/aliases/0"));
    let since = since.as_ref().map(ToString::to_string);
    let variables = json!({ "kind": kind.word, "subject": { "alias": alias }, "start": since });
    let read = pages(&server, HISTORY, variables, ("/account/history", "nodes"), *limit)?;
    let (mut changes, total) = (read.entries, read.connection["totalCount"].as_u64().unwrap_or_default());
    if changes.is_empty() && *limit > 0 {
        say(&format!(
            "nothing was changed of the {} {name}{}",
            kind.word,
            if since.is_some() { " since then" } else { "" }
        ));
    }
    if asking.output == Output::Table {
        for change in &mut changes {
            change["at"] = moment(&text(change.get("at"))).into();
        }
    }
    print_rows(asking.output, &COLUMNS, &changes)?;
    if read.has_more {
        let more = if changes.len() < MOST { "; --limit shows more" } else { ", which is the most" };
        say(&format!("the first {} of {total}{more}", changes.len()));
    }
    Ok(())
}

pub(super) fn revert(settings: &Revert) -> Result<(), String> {
    let Revert { id, dry_run, output, remote, deadline } = settings;
    let mut said = server(remote, *deadline)?.ask(REVERT, &json!({ "id": id, "dryRun": dry_run }))?;
    let done = said["changeRevert"].take();
    let errors = done["errors"].as_array().map_or(&[][..], Vec::as_slice);
    if errors.is_empty() {
        return match output {
            Output::Table => print(&told(&done, *dry_run)),
            Output::Json => print(&format!("{:#}\n", json!({ "summary": done["summary"], "fields": done["fields"] }))),
            Output::Csv => print_rows(*output, &FIELDS, done["fields"].as_array().map_or(&[][..], Vec::as_slice)),
        };
    }
    let messages: Vec<String> = errors.iter().map(|error| text(error.get("message"))).collect();
    Err(format!("nothing is reverted: {}", messages.join("; ")))
}

/// What a revert did, or would do.
fn told(done: &Json, is_dry_run: bool) -> String {
    let head = if is_dry_run { "would be done: " } else { "" };
    let mut told = format!("{head}{}\n", one_line(&text(done.get("summary"))));
    for field in done["fields"].as_array().into_iter().flatten() {
        let value = |name: &str| match &*text(field.get(name)) {
            "" => "nothing".to_owned(),
            text => text.to_owned(),
        };
        let line = format!("  {}: {} → {}", text(field.get("field")), value("before"), value("after"));
        told.push_str(&format!("{}\n", one_line(&line)));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revert_is_told_field_by_field_a_line_each() {
        let done = json!({ "summary": "One field gets its value.", "fields": [
            { "field": "description", "before": "WRONG\nline", "after": null },
        ] });
        let told = told(&done, true);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "would be done: One field gets its value.");
        assert!(lines[1].starts_with("  description: WRONG") && lines[1].ends_with(" → nothing"), "{told}");
        assert_eq!(lines.len(), 2, "{told}");
    }
}
