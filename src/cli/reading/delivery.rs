//! `rollcall delivery`: whether a team, a system, a domain, a service or all of them deliver better than before.

use super::output::{Column, print_rows, text};
use super::server;
use super::show::find;
use crate::cli::console::say;
use crate::config::Delivery;
use crate::entity::Timestamp;
use crate::mcp::delivery::{KINDS, document, figures, is_empty, variables};

const COLUMNS: [Column; 5] = [
    ("figure", "/figure"),
    ("last 12 weeks", "/now"),
    ("12 weeks before", "/before"),
    ("unit", "/unit"),
    ("change", "/change"),
];

pub(super) fn run(settings: &Delivery) -> Result<(), String> {
    let Delivery { words, asking } = settings;
    let server = server(&asking.remote, asking.deadline)?;
    let mut variables = variables(Timestamp::now());
    let kind = match words.is_empty() {
        true => None,
        false => {
            let (kind, node) = find(&server, words)?;
            if !KINDS.contains(&kind.word) {
                let (name, what) = (text(node.get("name")), kind.with_article());
                return Err(format!("{name} is {what}; a team, a system, a domain or a service is delivered"));
            }
            let alias = node.get("alias").or_else(|| node.pointer("/aliases/0"));
            variables["alias"] = alias.cloned().unwrap_or_default();
            Some(kind.word)
        }
    };
    let mut said = server.ask(document(kind), &variables)?;
    let found = if kind.is_some() { said["account"]["found"].take() } else { said["account"].take() };
    if is_empty(&found) {
        say("nothing was deployed to production in these 24 weeks");
    }
    print_rows(asking.output, &COLUMNS, &figures(&found))
}
