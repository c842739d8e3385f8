//! The limits in docs/limits.md are those in the code.

use rollcall::api_document::pull;
use rollcall::app::openid::exchange;
use rollcall::app::{MAX_FORM, MAX_STRANGERS_FORM, refusals};
use rollcall::budget::Limits;
use rollcall::config::{self, Command};
use rollcall::db::{LONG_LOG, QUICK_READS, SLOW_READS, find};
use rollcall::deploy::commit::LOCK_WAIT;
use rollcall::deploy::figures::{self, build};
use rollcall::engine::plan::MOST_FIELDS;
use rollcall::engine::write::MOST_ERRORS;
use rollcall::engine::{cost, faults, page};
use rollcall::entity::relationship_definition::RULES;
use rollcall::entity::service_dependency::{FOLLOWED, FOUND, STEPS};
use rollcall::entity::text::{self, ENTRIES, FEW};
use rollcall::entity::{audit, delivery, idempotency_key, session, sign_in_link};
use rollcall::graphql::places::{CHANGES, CHANGES_SHARE, COMMITS, COMMITS_SHARE, QUICK_SHARE, SLOW_SHARE};
use rollcall::graphql::{idempotency, predicate, search, service_file, service_filter, user};
use rollcall::http::BACKLOG;
use rollcall::http::connection::{HEAD_BYTES, HEADERS, PIECE, STREAMS};
use rollcall::http::handlers::graphql::{LONGEST_KEY, MOST_PARTS};
use rollcall::http::{body, metrics, outbox, proxy_header};
use rollcall::json_schema;
use rollcall::service_file::{
    MISTAKES, NOTES, PROPERTIES_TEXT, YAML_ANCHORED, YAML_ANCHORS, YAML_DOCUMENTS, YAML_TEXT, YAML_VALUES,
};
use rollcall::shares::Bounds;
use rollcall::spans;
use rollcall::transfer;

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
fn the_page_of_limits_has_those_of_the_code() {
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
            "bodies that wait for that: of all callers; of one; how long",
            format!("{}; {} MiB; 5s", body::BOUNDS.waiting >> 20, body::BOUNDS.waiting_share >> 20),
        ),
        (
            "body of a refused request that is read and discarded; time for it; how many at one time",
            "4,194,304 bytes; 1s; 256; the rest is not read".to_owned(),
        ),
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
        ("answer of an OpenID provider; time for it", "1,048,576 bytes; 10s".to_owned()),
        ("head of a request", format!("{} bytes; {HEADERS} headers", number(HEAD_BYTES))),
        (
            "PROXY header of a trusted proxy, within the time for the head of a first request",
            format!("{} bytes", number(proxy_header::LONGEST)),
        ),
        (
            "connections; those that may wait to be accepted; requests at one time on one of HTTP/2",
            format!(
                "{} (`--max-connections`); {} on a port, or fewer if `net.core.somaxconn` is; {STREAMS}",
                number(edge.max_connections),
                number(BACKLOG),
            ),
        ),
        (
            "connections from one address, or one IPv6 network of 64 bits; not from trusted proxies or on a Unix socket",
            format!("{}, a quarter of all; further ones are closed", number(edge.connections_of_address())),
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
            "on SQLite, those that have written beside them and wait for the disk or are answered; of one caller",
            format!("{COMMITS}; {COMMITS_SHARE}"),
        ),
        (
            "write-ahead log of the SQLite file",
            format!("{} pages of 4,096 bytes; then new reads wait until it can start over", number(LONG_LOG)),
        ),
        (
            "what pages read beside the API, at one time; for one person",
            format!("{SLOW_READS}; {SLOW_SHARE}; others wait"),
        ),
        ("time for the writes of a mutation, on PostgreSQL; of `serviceFilesApply`", "30s; 600s".to_owned()),
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
        (
            "session; session without use; sign-in link",
            format!(
                "{} days; 7 days; {} minutes",
                session::LIFETIME_MICROS / 86_400_000_000,
                sign_in_link::LIFETIME_MICROS / 60_000_000
            ),
        ),
        ("teams above a team", "20".to_owned()),
        ("contacts of one owner; component types; levels; categories", format!("{0}; {0}; {0}; {0}", number(FEW))),
        ("property definitions; of one component type; of teams", format!("{}; {FEW}; {FEW}", number(ENTRIES))),
        (
            "relationships of one source; relationship definitions; management rules of a definition",
            format!("{}; {FEW}; {RULES}", number(ENTRIES)),
        ),
        (
            "JSON Schema; with its references expanded",
            format!(
                "{} bytes, {} levels; {} bytes, {} objects, {} patterns of {} bytes together and {} bytes compiled each",
                number(json_schema::SCHEMA),
                json_schema::LEVELS,
                number(json_schema::EXPANDED),
                json_schema::SCHEMA_OBJECTS,
                json_schema::PATTERNS,
                number(json_schema::PATTERNS_TEXT),
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
        (
            "checks of the values of properties, or of schemas, in one mutation or one run of `rollcall apply`",
            format!("{:?} of processor time; otherwise nothing is changed", json_schema::CHECKING),
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
            "picture of dependencies around a service: steps each way; boxes; boxes in a column; arrows",
            "2; 60; 24; 300".to_owned(),
        ),
        ("the same on the page of the service", "1; 20; 8; 300".to_owned()),
        (
            "picture of a system or a team: its services; dependencies read each way; columns; boxes; arrows",
            "500; 5,000; 6; 60; 300".to_owned(),
        ),
        (
            "lists counted on a page; what a search finds among services",
            "10,000; 1,000; the count then says so".to_owned(),
        ),
        ("text shown on a page: API document; Markdown", "262,144 bytes; 24,000 bytes; the rest is cut off".to_owned()),
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
            "text that the schema reference is searched for; its words that count; results",
            format!("{} characters; 10; 100", text::SHORT),
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
            "deploys that wait to be stored; those set aside because their service is locked; how long",
            "1,024; 256; 20s".to_owned(),
        ),
        (
            "on PostgreSQL, how long deploys that are stored together wait for locked services before they are set aside",
            format!("{LOCK_WAIT:?} in all"),
        ),
        (
            "deliveries shown of an endpoint; newest deploys that are searched for them",
            format!("{}; 50,000", delivery::KEPT),
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
            "time after which a request with an idempotency key counts as dead; one with `serviceFilesApply`",
            format!("{:?}; 660s", idempotency::CLAIM_TIMEOUT),
        ),
        (
            "line of an import; its first line; the texts of a row",
            format!("{}; {}; {} bytes", number(transfer::LINE), number(transfer::FIRST_LINE), number(transfer::TEXTS)),
        ),
        (
            "spans of one request; spans that wait for the collector",
            format!("{}; {}; others are left out and [counted](../ops/tracing.md)", spans::MOST, number(spans::QUEUE)),
        ),
        (
            "details of an entry of the audit; entries for refused attempts in an hour",
            format!("{} bytes; {}", number(audit::DETAIL), refusals::ENTRIES),
        ),
        (
            "operations with a name of their own in the metrics; connections to the port of the metrics",
            format!("{}; 16", metrics::NAMES),
        ),
        ("answer that `rollcall deploy` reads; time for one attempt", "65,536 bytes; 20s".to_owned()),
    ];
    let page = include_str!("../../docs/limits.md");
    let table: Vec<_> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let expected: Vec<_> = rows.iter().map(|(of, limit)| format!("| {of} | {limit} |")).collect();
    assert_eq!(table, expected);
}
