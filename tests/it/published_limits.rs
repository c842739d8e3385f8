//! The limits that README tells are those that the code has.

use rollcall::config::{self, Command};
use rollcall::deploy::record;
use rollcall::entity::text;
use rollcall::graphql::text::ENTRIES;
use rollcall::graphql::{cost, page};
use rollcall::http::connection::{HEAD_BYTES, PIECE, STREAMS};

/// 10,000.
fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or_default().to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[test]
fn readme_tells_the_limits_as_they_are() {
    let Ok(Command::Serve(settings)) = config::parse(["rollcall"]) else { panic!("no settings") };
    let edge = settings.edge;
    let cost = cost::Limits::default();
    let rows = [
        ("requests with one token", format!("{} in one minute (`--token-limit`)", number(edge.token_limit))),
        (
            "requests from one address, or one IPv6 network of 64 bits",
            format!("{} in five minutes (`--ip-limit`)", number(edge.ip_limit)),
        ),
        ("body of a GraphQL request", format!("{} bytes (`--max-body`)", number(edge.max_body))),
        ("body of a deploy", format!("{} bytes (`--max-webhook-body`)", number(edge.max_webhook_body))),
        ("head of a request", format!("{} bytes", number(HEAD_BYTES))),
        (
            "connections; requests at one time on one of HTTP/2",
            format!("{} (`--max-connections`); {STREAMS}", number(edge.max_connections)),
        ),
        (
            "time for the head of a first request; for a body",
            format!("{:?} (`--header-timeout`); {:?} (`--body-timeout`)", edge.header_timeout, edge.body_timeout),
        ),
        ("time for a query; a mutation is let finish", format!("{:?} (`--query-timeout`)", edge.query_timeout)),
        (
            &*format!("time without a request, or without taking {} bytes of answers that wait", number(PIECE)),
            format!("{:?} (`--idle-timeout`)", edge.idle_timeout),
        ),
        ("document", format!("{} words and marks; brackets {} deep", number(cost.tokens), cost.nesting)),
        (
            "operation, its fragments expanded",
            format!(
                "{} levels; {} fields; {} aliases; {} directives; {} lists of introspection in one another",
                cost.depth,
                number(cost.fields),
                cost.aliases,
                cost.directives,
                cost.lists
            ),
        ),
        ("page", format!("{} rows; a larger `first` is taken for that", page::MOST)),
        ("list in an input: tags, members, references, environments", format!("{} entries", number(ENTRIES))),
        ("aliases of a service or a team", format!("{}; another is not added", number(ENTRIES))),
        ("name, alias and other short text", format!("{} characters", text::SHORT)),
        ("text that services are searched for", format!("{} characters", text::SHORT)),
        (
            "description; note; URL",
            format!("{}; {}; {} characters", number(text::DESCRIPTION), number(text::NOTE), number(text::URL)),
        ),
        ("key of a tag; its value", format!("{}; {} characters", text::TAG_KEY, number(text::TAG_VALUE))),
        (
            "deploy: description and commit's message; URL and branch; anything else",
            format!("{}; {}; {} characters", number(record::MESSAGE), number(record::LONG), record::SHORT),
        ),
    ];
    let readme = include_str!("../../README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("Limits\n")).expect("the section");
    let table: Vec<_> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let expected: Vec<_> = rows.iter().map(|(of, limit)| format!("| {of} | {limit} |")).collect();
    assert_eq!(table, expected);
}
