//! The limits in README.md are those in the code.

use rollcall::api_document::pull;
use rollcall::app::openid::exchange;
use rollcall::app::{MAX_FORM, MAX_STRANGERS_FORM};
use rollcall::budget::Limits;
use rollcall::config::{self, Command};
use rollcall::db::{QUICK_READS, SLOW_READS, find};
use rollcall::deploy::figures::{self, build};
use rollcall::engine::plan::MOST_FIELDS;
use rollcall::engine::write::MOST_ERRORS;
use rollcall::engine::{cost, faults, page};
use rollcall::entity::relationship_definition::RULES;
use rollcall::entity::service_dependency::{FOLLOWED, FOUND, STEPS};
use rollcall::entity::text::{self, ENTRIES, FEW};
use rollcall::entity::{idempotency_key, session};
use rollcall::graphql::places::{CHANGES, CHANGES_SHARE, QUICK_SHARE, SLOW_SHARE};
use rollcall::graphql::{predicate, search, service_file, service_filter, user};
use rollcall::http::connection::{HEAD_BYTES, HEADERS, PIECE, STREAMS};
use rollcall::http::handlers::graphql::{LONGEST_KEY, MOST_PARTS};
use rollcall::http::{body, outbox, proxy_header};
use rollcall::json_schema;
use rollcall::service_file::{
    MISTAKES, NOTES, PROPERTIES_TEXT, YAML_ANCHORED, YAML_ANCHORS, YAML_DOCUMENTS, YAML_TEXT, YAML_VALUES,
};
use rollcall::shares::Bounds;
use rollcall::spans;

/// 10,000.
fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or_default().to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// 64; 16 MiB
fn mebibytes(bounds: Bounds) -> String {
    format!("{}; {} MiB", bounds.most >> 20, bounds.share >> 20)
}

#[test]
fn readme_has_the_limits_of_the_code() {
    let Ok(Command::Serve(settings)) = config::parse(["rollcall"]) else { panic!("no settings") };
    let edge = settings.edge;
    let cost = cost::Limits::default();
    let period = figures::period::Limits::default();
    let budget = settings.budget.limits();
    assert_eq!(budget, Limits::default());
    assert_eq!(settings.budget.max_estimate, cost.estimate);
    let rows = [
        ("requests with one token", format!("{} in one minute (`--token-limit`)", number(edge.token_limit))),
        (
            "requests from one address, or one IPv6 network of 64 bits",
            format!("{} in five minutes (`--ip-limit`)", number(edge.ip_limit)),
        ),
        ("body of a GraphQL request, or of an API document", format!("{} bytes (`--max-body`)", number(edge.max_body))),
        ("body of a deploy", format!("{} bytes (`--max-webhook-body`)", number(edge.max_webhook_body))),
        (
            "form of a page; of somebody who is not signed in",
            format!("{}; {} bytes", number(MAX_FORM), number(MAX_STRANGERS_FORM)),
        ),
        ("bodies that are being read: of all callers; of one", mebibytes(body::BOUNDS)),
        (
            &*format!(
                "answers of more than {} bytes that wait to be sent: of all callers; of one",
                number(outbox::SMALL)
            ),
            mebibytes(outbox::BOUNDS),
        ),
        (
            "sign-ins that an OpenID provider is asked about at one time; from one address",
            format!("{}; {}", exchange::BOUNDS.most, exchange::BOUNDS.share),
        ),
        ("head of a request", format!("{} bytes; {HEADERS} headers", number(HEAD_BYTES))),
        (
            "PROXY header of a trusted proxy, within the time for the head of a first request",
            format!("{} bytes", number(proxy_header::LONGEST)),
        ),
        (
            "connections; requests at one time on one of HTTP/2",
            format!("{} (`--max-connections`); {STREAMS}", number(edge.max_connections)),
        ),
        (
            "time for the head of a first request; for a body",
            format!("{:?} (`--header-timeout`); {:?} (`--body-timeout`)", edge.header_timeout, edge.body_timeout),
        ),
        (
            "time for a query or a page, waiting included; a mutation that has begun is never cut off",
            format!("{:?} (`--query-timeout`)", budget.time),
        ),
        ("processor time of a query or a page", format!("{:?} (`--query-processor-time`)", budget.processor)),
        (
            "objects that a request asks for, by the sizes of its pages",
            format!("{} (`--max-estimate`)", number(settings.budget.max_estimate)),
        ),
        (
            "objects of an answer; its bytes; bytes of the rows read for it",
            format!(
                "{} (`--max-objects`); {} (`--max-answer`); {} (`--max-rows`)",
                number(budget.objects),
                number(budget.answer),
                number(budget.rows)
            ),
        ),
        (
            "requests that read at one time; of one caller",
            format!(
                "{QUICK_READS} quick and {SLOW_READS} slow; {QUICK_SHARE} quick and {SLOW_SHARE} slow; others wait"
            ),
        ),
        (
            "requests with mutations that run at one time; of one caller",
            format!("{CHANGES}; {CHANGES_SHARE}; others wait"),
        ),
        (
            &*format!("time without a request, or without taking {} bytes of answers that wait", number(PIECE)),
            format!("{:?} (`--idle-timeout`)", edge.idle_timeout),
        ),
        (
            "document",
            format!("{} words, marks and gaps between them; brackets {} deep", number(cost.tokens), cost.nesting),
        ),
        (
            "operation, its fragments expanded",
            format!(
                "{} levels; {} fields; {} aliases; {} directives; introspection lists nested {} deep",
                cost.depth,
                number(cost.fields),
                cost.aliases,
                cost.directives,
                cost.lists
            ),
        ),
        (
            "fragments within each other; fields of an operation, counted for every possible type",
            format!("{}; {}", cost.spreads, number(MOST_FIELDS)),
        ),
        (
            "document, all operations together, its fragments expanded",
            format!("{} operations; {} fields and values", cost.operations, number(cost.parts)),
        ),
        (
            "values in variables; given to arguments",
            format!(
                "{}; {}, with texts of {} bytes, or twice `--max-body` if that is more",
                number(MOST_PARTS),
                number(cost.values),
                number(cost.text)
            ),
        ),
        ("mutations in a request, with the entries of the lists that they are given", number(cost.changes)),
        ("errors of an answer; of a refusal", format!("{MOST_ERRORS}, and how many more there are; {}", faults::MOST)),
        ("page", format!("{} rows; a larger `first` is taken for that", page::MOST)),
        ("list in an input: tags, members, references, environments", format!("{} entries", number(ENTRIES))),
        (
            "service files in a request; their documents; the entries of all their lists, and the parts of the values of their properties",
            format!("{}; {}; {}", number(ENTRIES), number(service_file::DOCUMENTS), number(service_file::ENTRIES)),
        ),
        (
            "YAML of the service files of a request, aliases expanded: keys and values; their text; the values of \
             properties, as JSON",
            format!("{}; {} bytes; {} bytes", number(YAML_VALUES), number(YAML_TEXT), number(PROPERTIES_TEXT)),
        ),
        (
            "YAML of one service file: documents; anchors; keys and values that its anchors hold",
            format!("{}; {}; {}", number(YAML_DOCUMENTS), number(YAML_ANCHORS), number(YAML_ANCHORED)),
        ),
        (
            "mistakes in service files that are reported at once; notes about what is not taken",
            format!("{}; {}; the rest is not listed", number(MISTAKES), number(NOTES)),
        ),
        (
            "fields that the service files of a request change, each tag and each property for itself",
            format!("{}; otherwise nothing is applied", number(service_file::CHANGES)),
        ),
        (
            "aliases of one owner; tags of one owner; tools and dependencies of a service",
            format!("{0}; {0}; {0} each; another is not added", number(ENTRIES)),
        ),
        ("tokens; sessions of a user", format!("{}; {}, another one ends the oldest", number(ENTRIES), session::MOST)),
        ("contacts of one owner; component types; levels; categories", format!("{0}; {0}; {0}; {0}", number(FEW))),
        ("property definitions; of one component type; of teams", format!("{}; {FEW}; {FEW}", number(ENTRIES))),
        (
            "relationships of one source; relationship definitions; management rules of a definition",
            format!("{}; {FEW}; {RULES}", number(ENTRIES)),
        ),
        (
            "JSON Schema; with its references expanded",
            format!(
                "{} bytes, {} levels; {} bytes, {} objects, {} patterns of {} bytes compiled",
                number(json_schema::SCHEMA),
                json_schema::LEVELS,
                number(json_schema::EXPANDED),
                json_schema::SCHEMA_OBJECTS,
                json_schema::PATTERNS,
                number(json_schema::PATTERN)
            ),
        ),
        (
            "value of a property, data of a resource; sentences about what is wrong with it",
            format!(
                "{} bytes, {} levels, {} parts; {}",
                number(json_schema::VALUE),
                json_schema::LEVELS,
                json_schema::VALUE_PARTS,
                json_schema::FAULTS
            ),
        ),
        ("services or systems that are assigned at once", number(FEW)),
        (
            "links between a service and a repository; languages of a repository; people on call for a service",
            format!("{0}; {0}; {0}", number(FEW)),
        ),
        (
            "predicates of a filter of services, or of a request, those of filters among them; conditions of a filter of users",
            format!("{}; {}", service_filter::MOST, user::CONDITIONS),
        ),
        (
            "predicates, or filters, within each other; a regular expression in one",
            format!(
                "{} levels; {} bytes compiled, groups {} deep",
                service_filter::DEPTH,
                number(predicate::REGEX),
                predicate::REGEX_DEPTH
            ),
        ),
        (
            "API document that is pulled; time for it; how many are pulled at one time",
            format!("{} bytes; {:?}; {}", number(pull::LONGEST), pull::TIMEOUT, pull::AT_ONCE),
        ),
        (
            "time between two pulls of an API document; after a first failure; after several",
            format!(
                "about {} hour; {} minutes; at most {} hours",
                pull::INTERVAL.as_secs() / 3_600,
                pull::FIRST_RETRY.as_secs() / 60,
                pull::LONGEST_RETRY.as_secs() / 3_600
            ),
        ),
        (
            "services that `Service.impact` finds; dependencies that it follows; its steps",
            format!("{}; {}; {STEPS}; `isComplete` is then false", number(FOUND), number(FOLLOWED)),
        ),
        (
            "metrics of all services: periods of the past with figures; deploys read beside figures; late changes looked at; \
             those computed at one time",
            format!(
                "{}; {}; {}; beyond that all deploys of the window are read; {}",
                number(build::PERIODS),
                number(figures::ROWS),
                number(figures::CHANGES),
                figures::AT_ONCE
            ),
        ),
        (
            "figures of a period of three hours: its deploys; its environments; changes that are not taken into account yet",
            format!(
                "{}; {}; {}; beyond that deploys are read",
                number(period.deploys),
                number(period.environments),
                number(figures::SEEN)
            ),
        ),
        ("name, alias and other short text", format!("{} characters", text::SHORT)),
        ("text that services are searched for", format!("{} characters", text::SHORT)),
        (
            "term of a search over everything; its words that count; results",
            format!("{} characters; {}; {}", text::SHORT, find::WORDS, search::MOST),
        ),
        (
            "description; note; URL",
            format!("{}; {}; {} characters", number(text::DESCRIPTION), number(text::NOTE), number(text::URL)),
        ),
        ("key of a tag; its value", format!("{}; {} characters", text::TAG_KEY, number(text::TAG_VALUE))),
        (
            "deploy: description and commit's message; URL and branch; anything else",
            format!("{}; {}; {} characters", number(text::MESSAGE), number(text::URL), text::SHORT),
        ),
        (
            "idempotency key; keys of a token or a user; answer that is kept",
            format!(
                "{LONGEST_KEY} bytes; {}, for {} hours; {} bytes",
                number(idempotency_key::MAX_KEYS),
                idempotency_key::LIFETIME.as_secs() / 3_600,
                number(idempotency_key::MAX_ANSWER_BYTES)
            ),
        ),
        (
            "spans of one request; spans that wait for the collector",
            format!("{}; {}; others are left out and [counted](#tracing)", spans::MOST, number(spans::QUEUE)),
        ),
    ];
    let readme = include_str!("../../README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("Limits\n")).expect("the section");
    let table: Vec<_> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let expected: Vec<_> = rows.iter().map(|(of, limit)| format!("| {of} | {limit} |")).collect();
    assert_eq!(table, expected);
}
