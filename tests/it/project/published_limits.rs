//! The limits in docs/limits.md are those in the code: this test compares them, and writes the page's tables if
//! `UPDATE_DOCS` is set.
//!
//! To publish a limit, add one line to the section that it belongs to: what is limited, and the constant that holds the
//! limit. Never write the number itself.

use std::fmt::Write;
use std::time::Duration;

use rollcall::api_document::pull;
use rollcall::app::openid::{exchange, provider};
use rollcall::app::{MAX_FORM, MAX_STRANGERS_FORM, limits as pages, refusals};
use rollcall::budget::Limits;
use rollcall::cli;
use rollcall::cli::check::tree;
use rollcall::cli::reading::{impact, known};
use rollcall::cli::sender;
use rollcall::config::{self, Command, Serve};
use rollcall::db::{LONG_LOG, LONGEST_WINDOW, MOST_AT_ONCE, MOST_CHANGED, QUICK_READS, SLOW_READS, find};
use rollcall::deploy::figures::{self, build};
use rollcall::deploy::{commit, delivery as weeks, event, failing, list};
use rollcall::engine::plan::MOST_FIELDS;
use rollcall::engine::write::MOST_ERRORS;
use rollcall::engine::{cost, faults, page};
use rollcall::entity::change::kept;
use rollcall::entity::relationship_definition::RULES;
use rollcall::entity::service_dependency::{FOLLOWED, FOUND, STEPS};
use rollcall::entity::text::{self, ENTRIES, FEW};
use rollcall::entity::{
    audit, campaign, custom_event, custom_event_outcome, delivery, event_delivery, event_subscription, favourite, feed,
    idempotency_key, saved_view, scorecard, service_file_note, service_file_refusal, session, sign_in_link,
    standing_change, team,
};
use rollcall::evaluation;
use rollcall::events::{FIELDS, SUBJECT, VALUE, deliver, digest, mail, overdue, receiver};
use rollcall::graphql::filter::predicate;
use rollcall::graphql::repository::suggestion_undo;
use rollcall::graphql::repository::suggestions;
use rollcall::graphql::request::context;
use rollcall::graphql::request::idempotency;
use rollcall::graphql::request::places::{
    CHANGES, CHANGES_SHARE, COMMITS, COMMITS_SHARE, LONG_CHANGES, LONG_CHANGES_SHARE, QUICK_SHARE, SLOW_SHARE,
};
use rollcall::graphql::service::service_file;
use rollcall::graphql::service::service_filter;
use rollcall::graphql::standards::check;
use rollcall::graphql::team::user;
use rollcall::graphql::{revert, search};
use rollcall::http::activity::{CANCELLED, PIECE, UNPAID};
use rollcall::http::connection::{HEAD_BYTES, HEADERS, STREAMS};
use rollcall::http::handlers::app as download;
use rollcall::http::handlers::badge;
use rollcall::http::handlers::feed as atom;
use rollcall::http::handlers::graphql::{LONGEST_KEY, MOST_PARTS};
use rollcall::http::{BACKLOG, METRICS_CONNECTIONS, body, heads, limits, metrics, outbox, proxy_header};
use rollcall::json_schema;
use rollcall::mcp;
use rollcall::scim;
use rollcall::service_file::{
    MISTAKES, NOTES, PROPERTIES_TEXT, REHEARSED, STANDARDS, TOLD_MISTAKES, TOLD_SERVICES, YAML_ANCHORED, YAML_ANCHORS,
    YAML_DOCUMENTS, YAML_TEXT, YAML_VALUES,
};
use rollcall::spans;
use rollcall::transfer;

/// A row of a table.
struct Row {
    /// What is limited.
    of: String,
    /// How much is allowed, with its unit.
    limit: String,
    /// What happens beyond it, where that is not a refusal.
    beyond: &'static str,
}

impl Row {
    /// The setting that changes the limit.
    fn flag(mut self, flag: &str) -> Self {
        let _ = write!(self.limit, " (`{flag}`)");
        self
    }

    fn beyond(mut self, beyond: &'static str) -> Self {
        self.beyond = beyond;
        self
    }
}

/// A limit on a number of things, as `10,000`.
fn count(of: impl Into<String>, limit: impl TryInto<u64>) -> Row {
    Row { of: of.into(), limit: number(limit), beyond: "" }
}

/// A limit on a size, as `65,536 bytes (64 KiB)`.
fn bytes(of: impl Into<String>, limit: impl TryInto<u64>) -> Row {
    let limit = limit.try_into().unwrap_or_default();
    let round = match limit {
        0 => String::new(),
        limit if limit % (1 << 20) == 0 => format!(" ({} MiB)", number(limit >> 20)),
        limit if limit % (1 << 10) == 0 => format!(" ({} KiB)", number(limit >> 10)),
        _ => String::new(),
    };
    Row { of: of.into(), limit: format!("{} bytes{round}", number(limit)), beyond: "" }
}

/// A limit on the length of a text.
fn characters(of: impl Into<String>, limit: usize) -> Row {
    Row { of: of.into(), limit: format!("{} characters", number(limit)), beyond: "" }
}

/// A limit on a time.
fn time(of: impl Into<String>, limit: Duration) -> Row {
    Row { of: of.into(), limit: span(limit), beyond: "" }
}

/// 900ms, 30s, 2 minutes, 24 hours, 7 days.
fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let whole = units.into_iter().find(|(unit, _)| seconds > *unit && seconds.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{span:?}"), |(unit, name)| format!("{} {name}s", seconds / unit))
}

/// 10,000.
fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or_default().to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

fn micros(micros: i64) -> Duration {
    Duration::from_micros(micros.unsigned_abs())
}

/// A heading and the rows of its table.
type Section = (&'static str, Vec<Row>);

fn connections(Serve { edge, .. }: &Serve) -> Section {
    let rows = vec![
        count("connections", edge.max_connections)
            .flag("--max-connections")
            .beyond("the longest idle one of whoever has most is closed for another"),
        count(
            "connections from one address, or one IPv6 network of 64 bits; a quarter of all; not from trusted proxies or on a Unix socket",
            edge.connections_of_address(),
        )
        .beyond("further ones are closed"),
        count("connections that may wait to be accepted on a port, or fewer if `net.core.somaxconn` is", BACKLOG),
        count("requests at one time on one connection of HTTP/2", STREAMS),
        bytes("what a connection sends that leads to nothing: pings, windows, settings, empty frames", UNPAID)
            .beyond("it is closed"),
        count("requests that a connection cancels, beyond those that it lets be answered", CANCELLED)
            .beyond("it is closed"),
        bytes(
            "requests and short answers of connections that have several at one time, of all addresses",
            outbox::SHARED.most,
        ),
        bytes("the same, of one address", outbox::SHARED.share).beyond("the connection is closed; that of a trusted proxy is answered 503 first"),
        bytes("head of a request", HEAD_BYTES),
        bytes(
            format!("heads of more than {} bytes, until their requests are answered, of all addresses", number(heads::FREE)),
            heads::BOUNDS.most,
        )
        .beyond("the connection is closed"),
        bytes("the same, of one address", heads::BOUNDS.share).beyond("the connection is closed"),
        count("headers of a request", HEADERS),
        bytes("PROXY header of a trusted proxy", proxy_header::LONGEST),
        time("time for the head of a first request, and for a PROXY header before it", edge.header_timeout)
            .flag("--header-timeout"),
        time("time for a body", edge.body_timeout).flag("--body-timeout"),
        time(
            format!("time without a request, or without taking {} bytes of answers that wait", number(PIECE)),
            edge.idle_timeout,
        )
        .flag("--idle-timeout"),
        count("connections to the port of the metrics", METRICS_CONNECTIONS),
        count("operations with a name of their own in the metrics", metrics::NAMES),
    ];
    ("Connections", rows)
}

fn requests(Serve { edge, .. }: &Serve) -> Section {
    let rows = vec![
        count(format!("requests with one token in {}", span(limits::TOKEN_WINDOW)), edge.token_limit)
            .flag("--token-limit"),
        count(format!("requests with the token of one feed in {}", span(limits::TOKEN_WINDOW)), edge.token_limit)
            .flag("--token-limit"),
        count(
            format!("requests from one address, or one IPv6 network of 64 bits, in {}", span(LONGEST_WINDOW)),
            edge.ip_limit,
        )
        .flag("--ip-limit"),
        bytes("body of a GraphQL request, or of an API document", edge.max_body).flag("--max-body"),
        bytes("body of a deploy", edge.max_webhook_body).flag("--max-webhook-body"),
        bytes("form of a page", MAX_FORM),
        bytes("form of somebody who is not signed in", MAX_STRANGERS_FORM),
        bytes("bodies that are being read, of all callers", body::BOUNDS.most).beyond("others wait"),
        bytes("bodies that are being read, of one caller", body::BOUNDS.share).beyond("others wait"),
        bytes("bodies that wait to be read, of all callers", body::BOUNDS.waiting),
        bytes("bodies that wait to be read, of one caller", body::BOUNDS.waiting_share),
        time("time that a body waits to be read", body::TURN),
        bytes("body of a refused request that is read and discarded", body::DISCARDED_BYTES)
            .beyond("the rest is not read"),
        time("time for discarding a body", body::DISCARD_TIME).beyond("the rest is not read"),
        count("bodies that are discarded at one time", body::DISCARDED).beyond("others are not read"),
        bytes(
            format!("answers of more than {} bytes that wait to be sent, of all callers", number(outbox::SMALL)),
            outbox::BOUNDS.most,
        ),
        bytes("the same, of one caller", outbox::BOUNDS.share),
        bytes("message of an agent", mcp::LONGEST_REQUEST),
        bytes("result of an agent's tool", mcp::LONGEST),
        bytes("idempotency key", LONGEST_KEY),
        count("idempotency keys that are kept, of a token or a user", idempotency_key::MAX_KEYS)
            .beyond("the oldest are forgotten"),
        time("time that an idempotency key is kept", idempotency_key::LIFETIME),
        bytes("answer that is kept for an idempotency key", idempotency_key::MAX_ANSWER_BYTES)
            .beyond("a retry is answered 409"),
        time("time after which a request with an idempotency key counts as dead", idempotency::CLAIM_TIMEOUT),
        time("the same, of a request with `serviceFilesApply`", idempotency::BULK_CLAIM_TIMEOUT),
    ];
    ("Requests", rows)
}

fn work(Serve { budget, .. }: &Serve) -> Section {
    let used = budget.limits();
    let rows = vec![
        count("objects that a request asks for, by the sizes of its pages", budget.max_estimate).flag("--max-estimate"),
        count("objects of an answer", used.objects).flag("--max-objects"),
        bytes("an answer", used.answer).flag("--max-answer"),
        bytes("rows that are read for an answer", used.rows).flag("--max-rows"),
        time("processor time of a query or a page", used.processor).flag("--query-processor-time"),
        time("time for a query or a page, waiting included; a mutation that has begun is never cut off", used.time)
            .flag("--query-timeout"),
        count("quick requests that read at one time", QUICK_READS).beyond("others wait"),
        count("the same, of one caller", QUICK_SHARE).beyond("others wait"),
        count("slow requests that read at one time", SLOW_READS).beyond("others wait"),
        count("the same, of one caller", SLOW_SHARE).beyond("others wait"),
        count("requests with one mutation that run at one time", CHANGES).beyond("others wait"),
        count("the same, of one caller", CHANGES_SHARE).beyond("others wait"),
        count("requests with several mutations, or with `serviceFilesApply`, that run at one time", LONG_CHANGES)
            .beyond("others wait"),
        count("the same, of one caller", LONG_CHANGES_SHARE).beyond("others wait"),
        count("rows that a mutation changes itself", MOST_CHANGED).beyond("it is refused"),
        count("rows of a table that are deleted or changed at once, along with what they refer to", MOST_AT_ONCE)
            .beyond("they are deleted in portions"),
        count(
            "deploys of mapped aliases that lose their service when suggestions are undone",
            suggestion_undo::MOST_LEFT,
        )
        .beyond("it is refused"),
        count("on SQLite, mutations beside them that wait for the disk or are answered", COMMITS).beyond("others wait"),
        count("the same, of one caller", COMMITS_SHARE).beyond("others wait"),
        count("write-ahead log of the SQLite file, in pages of 4,096 bytes", LONG_LOG)
            .beyond("new reads wait until it can start over"),
        time("on PostgreSQL, time for the writes of a mutation", context::WRITE_TIMEOUT),
        time("the same, of `serviceFilesApply`", context::BULK_WRITE_TIMEOUT),
        count("errors of an answer", MOST_ERRORS).beyond("the last one says how many more there are"),
        count("errors of a refusal", faults::MOST),
    ];
    ("The work of a request", rows)
}

fn documents() -> Section {
    let cost = cost::DocumentLimits::default();
    let rows = vec![
        count("words, marks and gaps between them in a document", cost.tokens),
        count("levels of brackets in a document", cost.nesting),
        count("operations in a document", cost.operations),
        count("fields and values in all operations of a document, fragments expanded", cost.parts),
        count("levels of an operation, fragments expanded", cost.depth),
        count("fields of an operation, fragments expanded", cost.fields),
        count("the same, counted for every possible type", MOST_FIELDS),
        count("aliases of an operation, fragments expanded", cost.aliases),
        count("directives of an operation, fragments expanded", cost.directives),
        count("fragments within each other", cost.spreads),
        count("lists of introspection within each other", cost.lists),
        count("values in variables", MOST_PARTS),
        count("values that are given to arguments", cost.values),
        bytes("texts that are given to arguments, or twice `--max-body` if that is more", cost.text),
        count("mutations in a request, with the entries of the lists that they are given", cost.changes),
    ];
    ("GraphQL documents", rows)
}

fn things() -> Section {
    let rows = vec![
        count("rows of a page", page::MOST).beyond("a larger `first` is taken for that"),
        count("entries of a list in an input: tags, members, references, environments", ENTRIES),
        count("aliases of one owner", ENTRIES),
        count("tags of one owner", ENTRIES),
        count("tools of a service", ENTRIES),
        count("dependencies of a service", ENTRIES),
        count("contacts of one owner", FEW),
        count("tools, dependencies, repositories and properties that a service is created with, of each", FEW),
        count("links between a service and a repository", FEW),
        count("languages of a repository", FEW),
        count("repositories that `repositoriesUpdate` changes at once", FEW),
        count("services that `servicesUpdate` changes at once, and tags that it sets in each", FEW),
        count("services that get the owner of their repository at once", ENTRIES)
            .beyond("the repository is left as it is"),
        count("code issue projects that are connected at once", ENTRIES),
        count("services, and repositories, that a code issue project is connected to by its name", ENTRIES)
            .beyond("the oldest are connected"),
        count("notes about its service file that a service shows", service_file_note::NOTES)
            .beyond("the last one says how many more there are"),
        count("people on call for a service", FEW),
        count("services or systems that are assigned at once", FEW),
        count("teams above a team", team::MAX_DEPTH),
        count("component types", FEW),
        count("levels", FEW),
        count("categories", FEW),
        count("checks", check::MOST),
        count("scorecards", scorecard::MOST),
        count("campaigns", campaign::MOST),
        count("event subscriptions", event_subscription::MOST),
        count("teams, services, tiers and environments, of each, that a subscription names", event_subscription::NAMED),
        count("deliveries of events that wait for a subscription", event_delivery::MOST_WAITING as usize)
            .beyond("further events are not kept for it, and counted"),
        count("deliveries of events that a subscription shows after they have ended", event_delivery::KEPT as usize)
            .beyond("the oldest are removed, but for the newest digest that was given up"),
        time("time for a receiver of events to answer", receiver::TIMEOUT).beyond("it is sent again"),
        time("time in which an event is sent again", deliver::GIVEN_UP_AFTER).beyond("the delivery has failed"),
        time("longest pause before an event is sent again", deliver::LONGEST_PAUSE),
        count("messages that are sent to a receiver of events at a time", deliver::AT_ONCE),
        count("messages that are sent to all receivers of events at a time", deliver::MOST_AT_ONCE),
        time("time for which the addresses of a receiver of events are used again", receiver::LOOKED_UP)
            .beyond("they are looked up and checked again"),
        count("hosts of receivers whose addresses are kept for that time", receiver::HOSTS)
            .beyond("those of another one are forgotten"),
        bytes("what is read of the answer of a receiver of events", receiver::RESPONSE).beyond("the rest is not read"),
        count("mails that are handed to the mail server at a time", mail::AT_ONCE).beyond("others wait"),
        count("mails of one subscription among them", mail::OF_SUBSCRIPTION).beyond("others wait"),
        characters("subject of a mail", SUBJECT).beyond("it is cut off"),
        count("changed fields that a message for people names", FIELDS).beyond("the others are counted"),
        characters("value of a field in a message for people", VALUE).beyond("it is cut off"),
        count("events that a digest tells", digest::LINES).beyond("the others are counted"),
        characters("text of a digest in a chat", digest::TEXT).beyond("the other events are counted"),
        bytes("message of a digest in a chat, as JSON", digest::BODY).beyond("the other events are counted"),
        count("overdue code issues that become events at once", overdue::AT_ONCE)
            .beyond("the rest follows, those that are open for longest first"),
        time("time between two looks for overdue code issues", deliver::LOOK),
        count("services that the events of a code issue concern", overdue::SERVICES).beyond("the oldest ones count"),
        count("services that are told of one request with refused service files", TOLD_SERVICES)
            .beyond("those that the files govern come first"),
        count("mistakes of a refused service file in an event", TOLD_MISTAKES)
            .beyond("the event says how many there are"),
        time("time between two refused service files that a service is told", service_file_refusal::PAUSE)
            .beyond("only an accepted one ends it sooner"),
        count("services that do not pass in the report of a check", check::NAMED),
        count("days of a history of checks or levels", check::history::MOST_DAYS),
        count("days that a change of a result or a level is kept", standing_change::KEPT as i32),
        count("days that a check of the last deploy looks back", check::DAYS),
        count("days that a check of the metrics of deploys looks back", check::METRIC_DAYS),
        count("hours from commit to deploy that such a check allows", check::LEAD_HOURS),
        count("environments of such a check", FEW),
        count("units in a period of a check", check::UNITS),
        count("results in a report of `rollcall check` to the server", check::RESULTS).beyond("it sends several"),
        count("services of a repository that `rollcall check` looks at", check::PLACES)
            .beyond("the oldest links count"),
        time("processor time of a jq expression or a message in Liquid", evaluation::TIME),
        time("processor time to read one of them", evaluation::READING),
        bytes("memory of one of them, beside the event", evaluation::MEMORY as u64),
        time("time for the checks of an event", evaluation::BATCH).beyond("the rest is evaluated within seconds"),
        time("time to read the expressions of a request with mutations", check::expressions::TIME)
            .beyond("the rest is refused"),
        time("processor time of a preview of standards, beside that of a query", check::PREVIEW),
        count("events, or lists of values, that are evaluated at a time", evaluation::AT_ONCE).beyond("others wait"),
        characters("message of a check of custom events", evaluation::MESSAGE).beyond("it is cut off"),
        count("services that an event names in a check", evaluation::NAMES),
        count("different values that a jq expression of a filter is evaluated on", predicate::JQ_TEXTS),
        bytes("these values", predicate::JQ_BYTES),
        count("outcomes of events that the page of an integration shows", custom_event_outcome::SHOWN),
        characters("label, or level, on a badge", badge::LENGTH).beyond("it is cut off"),
        count("services whose badge is remembered", badge::REMEMBERED),
        time("age of a badge", badge::AGE),
        characters("what a check found in a repository", check::MESSAGE).beyond("`rollcall check` cuts it off"),
        count("files that `rollcall check` sees", tree::FILES).beyond("the message says so"),
        bytes("what `rollcall check` reads of a file", tree::OF_FILE as usize).beyond("the message says so"),
        bytes("what `rollcall check` reads of a lock file", tree::OF_LOCK as usize).beyond("the message says so"),
        bytes("what `rollcall check` reads of all files", tree::OF_ALL as usize).beyond("the message says so"),
        time("time in which `rollcall check` lists and reads files", tree::TIME).beyond("the message says so"),
        count("relationships of one source", ENTRIES),
        count("relationship definitions", FEW),
        count("management rules of a relationship definition", RULES),
        count("services that `Service.impact` finds", FOUND).beyond("`isComplete` is then false"),
        count("dependencies that `Service.impact` follows", FOLLOWED).beyond("`isComplete` is then false"),
        count("steps of `Service.impact`", STEPS),
        count("systems and resources that `rollcall impact` follows", impact::MOST_PLACES)
            .beyond("the command says so"),
        count("relationships of each of them", impact::MOST_TIES).beyond("the command says so"),
        count("services at which `rollcall impact` goes on from there", impact::MOST_BEGINNINGS)
            .beyond("the command says so"),
        count("services that an agent's `impact` names", mcp::impact::ROWS).beyond("the number of all is told"),
        count("services of a system or a team at which an agent's `impact` begins", mcp::impact::BEGINNINGS)
            .beyond("`isComplete` is then false"),
        count("deploys whose environments `rollcall deploys` names when it refuses another", known::NEWEST),
        count("users among whom the nearest to a misspelt address is looked for", cli::MOST_ADDRESSES),
    ];
    ("What the catalogue holds", rows)
}

fn texts() -> Section {
    let rows = vec![
        characters("name, alias and other short text", text::SHORT),
        characters("description", text::DESCRIPTION),
        characters("note", text::NOTE),
        characters("URL", text::URL),
        characters("key of a tag", text::TAG_KEY),
        characters("value of a tag", text::TAG_VALUE),
    ];
    ("Texts", rows)
}

fn searches() -> Section {
    let rows = vec![
        characters("text that services are searched for", text::SHORT),
        characters("term of a search over everything", text::SHORT),
        count("words of the term that count", find::WORDS).beyond("others are ignored"),
        count("results of a search over everything", search::MOST),
        characters("term of a search for people", text::SHORT),
        count("results of a search for people", pages::PEOPLE_FOUND).beyond("the page says so"),
        count("users that a search on the page Users lists", pages::USERS_FOUND).beyond("the page says so"),
        count("memberships in teams that are read for the users on a page", pages::PEOPLE_MEMBERSHIPS),
        count("names and aliases that begin with its term, among which it looks for people", find::BEGINNING_TEXTS)
            .beyond("people are found by the words of their names"),
        characters("text that the schema reference is searched for", text::SHORT),
        count("words of it that count", pages::REFERENCE_WORDS).beyond("others are ignored"),
        count("results in the schema reference", pages::REFERENCE_RESULTS),
        count("predicates of a filter of services, or of a request, those of filters among them", service_filter::MOST),
        count("levels of predicates, or of filters, within each other", service_filter::DEPTH),
        count("suggestions that one mutation decides", suggestions::MOST),
        count("aliases and names, instead of ids, in the value of a predicate", predicate::NAMES),
        bytes("a regular expression in a predicate, compiled", predicate::REGEX),
        count("levels of groups in a regular expression", predicate::REGEX_DEPTH),
        count("conditions of a filter of users", user::CONDITIONS),
    ];
    ("Searches and filters", rows)
}

fn service_files() -> Section {
    let rows = vec![
        count("service files in a request", ENTRIES),
        count("documents in the service files of a request", service_file::DOCUMENTS),
        count("services that a request releases because no document describes them", service_file::DOCUMENTS),
        count("entries of all their lists, and parts of the values of their properties", service_file::ENTRIES),
        count("keys and values in the YAML of a request, aliases expanded", YAML_VALUES),
        bytes("their text", YAML_TEXT),
        bytes("the values of properties in a request, as JSON", PROPERTIES_TEXT),
        bytes("rows that the catalogue has of what the files of a request describe", REHEARSED),
        count(
            "levels, categories, filters, scorecards, checks and campaigns in the standards files of a request",
            STANDARDS,
        ),
        count("YAML documents of one file", YAML_DOCUMENTS),
        count("anchors of one file", YAML_ANCHORS),
        count("keys and values that the anchors of one file hold", YAML_ANCHORED),
        count(
            "fields that the service files of a request change, each tag and each property for itself",
            service_file::CHANGES,
        )
        .beyond("nothing is applied"),
        count("mistakes that are reported at once", MISTAKES).beyond("the rest is not listed"),
        count("notes about what is not taken", NOTES).beyond("the rest is not listed"),
    ];
    ("Service files", rows)
}

fn properties() -> Section {
    let rows = vec![
        count("property definitions", ENTRIES),
        count("property definitions of one component type", FEW),
        count("property definitions of teams", FEW),
        bytes("JSON Schema", json_schema::SCHEMA),
        count("levels of a JSON Schema", json_schema::LEVELS),
        bytes("JSON Schema with its references expanded", json_schema::EXPANDED),
        count("objects of a JSON Schema with its references expanded", json_schema::SCHEMA_OBJECTS),
        count("patterns of a JSON Schema", json_schema::PATTERNS),
        bytes("patterns of a JSON Schema together", json_schema::PATTERNS_TEXT),
        bytes("one of these patterns, compiled", json_schema::PATTERN),
        bytes("value of a property, or data of a resource", json_schema::VALUE),
        count("levels of a value", json_schema::LEVELS),
        count("parts of a value", json_schema::VALUE_PARTS),
        count("sentences about what is wrong with a value", json_schema::FAULTS).beyond("the rest is not listed"),
        time(
            "processor time for checking the values of properties, or schemas, in one mutation or one run of `rollcall apply`",
            json_schema::CHECKING,
        )
        .beyond("nothing is changed"),
    ];
    ("Properties and JSON Schemas", rows)
}

fn deploys() -> Section {
    let period = figures::period::FiguresLimits::default();
    let rows = vec![
        characters("description of a deploy, and message of its commit", text::MESSAGE).beyond("it is cut"),
        characters("URL and branch of a deploy", text::URL).beyond("it is cut"),
        characters("any other attribute of a deploy", text::SHORT)
            .beyond("see [deploys](deploys.md#what-may-be-wrong-with-a-post)"),
        count("deploys that wait to be stored", commit::QUEUE),
        count("deploys that are set aside because their service is locked", commit::MOST_ASIDE),
        time("time that a deploy is set aside", commit::ASIDE_TIMEOUT),
        time(
            "on PostgreSQL, time in all that deploys that are stored together wait for locked services",
            commit::LOCK_WAIT,
        )
        .beyond("they are set aside"),
        count("deliveries of an endpoint that are shown", delivery::KEPT),
        count("newest deploys that are searched for them", pages::DELIVERIES_SEARCHED),
        count("newest deploys that are searched for the last of each integration", pages::RECEIPTS_SEARCHED),
        bytes("custom event", event::LONGEST),
        count("custom events of an integration that are kept", custom_event::KEPT).beyond("the oldest is forgotten"),
        bytes("answer that `rollcall deploy` reads", sender::LONGEST_ANSWER),
        time("time for one attempt of `rollcall deploy`", sender::ATTEMPT),
        count("metrics of all services: periods of three hours in the past with figures", build::PERIODS)
            .beyond("all deploys of the window are read"),
        count("deploys that are read beside figures", figures::ROWS).beyond("all deploys of the window are read"),
        count("late changes that are looked at", figures::CHANGES).beyond("all deploys of the window are read"),
        count("metrics of all services that are computed at one time", figures::AT_ONCE).beyond("others wait"),
        count("deploys of a period with figures", period.deploys).beyond("deploys are read"),
        count("environments of a period with figures", period.environments).beyond("deploys are read"),
        count("changes that figures do not take into account yet", figures::SEEN).beyond("deploys are read"),
    ];
    ("Deploys and their metrics", rows)
}

fn api_documents() -> Section {
    let rows = vec![
        bytes("API document that is pulled", pull::LONGEST),
        time("time for a pull", pull::TIMEOUT),
        count("API documents that are pulled at one time", pull::AT_ONCE).beyond("others wait"),
        time("time between two pulls of an API document, about", pull::INTERVAL),
        time("time until the next pull after a first failure", pull::FIRST_RETRY),
        time("time until the next pull after several failures, at most", pull::LONGEST_RETRY),
    ];
    ("API documents", rows)
}

fn shown() -> Section {
    let boxes = |on: &str, limits: usize| count(format!("boxes {on}"), limits);
    let rows = vec![
        count("reads of pages beside the API at one time", SLOW_READS).beyond("others wait"),
        count("the same, for one person", SLOW_SHARE).beyond("others wait"),
        count("entries of a list that a page counts", pages::COUNTED).beyond("the count says `+`"),
        count("services that a search finds and a page counts", pages::FOUND).beyond("the count says `+`"),
        count("earlier pages of a list to which its address leads back", pages::TRAIL_PAGES)
            .beyond("there is the way to the first page"),
        bytes("what the address holds for that", pages::TRAIL_BYTES).beyond("it leads back fewer pages"),
        bytes("API document that a page shows", pages::DOCUMENT_SHOWN).beyond("the rest is cut off"),
        bytes("Markdown that a page shows", pages::MARKDOWN_SHOWN).beyond("the rest is cut off"),
        count("steps each way in the picture of dependencies around a service", pages::SHOWN_STEPS),
        boxes("in that picture, and in that of a system or a team", pages::LARGE.nodes)
            .beyond("one box counts the rest"),
        boxes("in a column of these pictures", pages::LARGE.in_layer).beyond("one box counts the rest"),
        count("steps each way in the picture on the page of a service", pages::SMALL_STEPS),
        boxes("in that picture", pages::SMALL.nodes).beyond("one box counts the rest"),
        boxes("in a column of that picture", pages::SMALL.in_layer).beyond("one box counts the rest"),
        count("services in the picture of a system or a team", pages::MEMBERS).beyond("the page says so"),
        count("their dependencies that are read, each way", pages::AROUND).beyond("the page says so"),
        count("columns of that picture", pages::LAYERS).beyond("the last one holds the rest"),
        count("arrows in a picture", pages::EDGES).beyond("the page says so"),
        count("services without a box that a page names below its picture", pages::LARGE.named)
            .beyond("the page says how many there are"),
        count("services of a picture that are compared for who gets a box", pages::RANKED).beyond("others come last"),
        count("rows of a list that is downloaded as CSV", pages::CSV_ROWS).beyond("the last row says so"),
        count("such files that a session downloads at once", download::DOWNLOADS).beyond("503"),
        count("such files that are downloaded at once", download::ALL_DOWNLOADS).beyond("503"),
        bytes("such a file", pages::CSV_BYTES).beyond("the last row says so"),
        time("time in which such a file is sent", pages::CSV_TIME).beyond("the last row says so"),
        count("choices that a field of a form lists", pages::CHOICES).beyond("the field takes the name of any other"),
        count("properties that the form for a new service asks for", pages::NEW_PROPERTIES)
            .beyond("the page of the service's properties has the others"),
        count("conditions of a saved filter that its form shows", pages::CONDITIONS_SHOWN)
            .beyond("they are changed through the API"),
        count("conditions of saved filters that are read for what uses a definition", pages::CONDITIONS_READ)
            .beyond("others are left out"),
        count("open suggestions that the navigation counts", pages::WAITING).beyond("it says that there are more"),
        time("time for which that count is shown, unless somebody sends a form", pages::WAITING_PERIOD)
            .beyond("it is made again"),
        time("time that a page waits for that count", pages::WAITING_PATIENCE).beyond("the last one is shown"),
        count("services of a team, a system or a domain whose deploys a page lists", list::SERVICES)
            .beyond("other services are left out"),
        count(
            "deploys that the home page and the pages of teams, systems, domains and people read for the last changes",
            pages::LATEST_DEPLOYS,
        )
        .beyond("such a change has fewer environments"),
        count(
            "teams, or other things of one kind, whose deploys a page of deploys lists together",
            pages::DEPLOYS_NAMED,
        )
        .beyond("the page says so"),
        count("deploys that a page of deploys searches for a status, a person or production", list::SEARCHED)
            .beyond("the next page goes on"),
        count("deploys that the page Delivery reads for a team, a system or a domain", weeks::READ)
            .beyond("it shows fewer weeks, and says so"),
        count("deploys of a service that this page and the service's own read", weeks::READ_OF_ONE)
            .beyond("they show fewer weeks, and say so"),
        count("deploys of a team that its page and the home page read for its figures", weeks::GLANCED)
            .beyond("they show fewer weeks, and say so"),
        count("code issues of a team that its page counts", pages::TEAM_ISSUES).beyond("the page says so"),
        count("of them, the most severe, that its page lists", pages::TEAM_WORST).beyond("the others are counted"),
        count("code issues of a service that its page lists", pages::SERVICE_ISSUES).beyond("the others are counted"),
        count("checks of a service that the page of its standing lists", pages::SERVICE_CHECKS)
            .beyond("the others are counted"),
        count("services that the page of a domain lists", pages::DOMAIN_SERVICES).beyond("the page says so"),
        count(
            "services and repositories that the page of an integration names for a project",
            pages::PROJECT_CONNECTED,
        )
        .beyond("it says that there are more"),
        count("things of a kind that a page names as uses of a definition", pages::USES_NAMED)
            .beyond("it says that there are more"),
        count("administrators that a refusal names to whoever lacks a role", pages::ADMINISTRATORS_NAMED)
            .beyond("others are left out"),
        count("teams in the tree of teams", pages::TREE_TEAMS).beyond("the list is flat"),
        count("systems, domains or services that a page lists as those of a team or a person", pages::TEAM_OWNED)
            .beyond("the page says so"),
        count("things of a kind that the form for deleting a team names", pages::LEAVES_NAMED)
            .beyond("the others are counted"),
        count("teams of a person that the home page is about", pages::HOME_TEAMS).beyond("other teams are left out"),
        count("results of checks of their services that it reads", pages::HOME_RESULTS).beyond("the page says so"),
        count("missed checks that it shows", pages::HOME_CHECKS).beyond("the page Standards has all of them"),
        count("teams whose delivery it shows", pages::HOME_MEASURED).beyond("other teams are left out"),
        count("suggestions up to which it says how many are new", pages::HOME_SUGGESTIONS)
            .beyond("it says that there are more"),
        count("days that the home page looks back for deploys and changes", pages::HOME_SINCE_DAYS),
        count("days that the home page looks back for failures", pages::HOME_FAILING_DAYS),
        count("production deploys that it searches for failures, for a person without a team", failing::SEARCHED),
        count("services that fail in production that it lists", pages::HOME_FAILING).beyond("the others are counted"),
        count("deploys that it counts", list::COUNTED).beyond("the count says `+`"),
        count("on-call entries that it reads", pages::HOME_ON_CALLS).beyond("others are left out"),
        count("people on call that it shows", pages::HOME_PEOPLE).beyond("the others are counted"),
        count("changes that it reads", pages::HOME_CHANGES).beyond("others are left out"),
        count("lines into which it folds them", pages::HOME_LINES).beyond("others are left out"),
        count(
            "entries of the audit, of the thing and of its parts, that a page of a history searches",
            pages::HISTORY_SEARCHED,
        )
        .beyond("the next page goes on"),
        count("entries of a feed", pages::FEED_ENTRIES).beyond("older ones are left out"),
        characters("summary of an entry of a feed", pages::FEED_SUMMARY).beyond("it is cut off"),
        count("services of a team that its feeds are about", list::SERVICES).beyond("other services are left out"),
        count("entries of the audit that a feed of all changes searches", pages::FEED_SEARCHED)
            .beyond("older ones are left out"),
        time("time that a feed reader may keep a feed", atom::AGE),
    ];
    ("Pages and pictures", rows)
}

fn people() -> Section {
    let rows = vec![
        count("tokens", ENTRIES),
        count("sessions of a user", session::MOST).beyond("another one ends the oldest"),
        time("session", micros(session::LIFETIME_MICROS)),
        time("session without use", micros(session::IDLE_MICROS)),
        time("sign-in link", micros(sign_in_link::LIFETIME_MICROS)),
        count("feeds of a user", feed::MOST),
        time("feed that nobody reads", feed::UNUSED).beyond("it is removed"),
        count("saved views of a user", saved_view::MOST),
        count("saved views that are shared", saved_view::MOST_SHARED),
        characters("name of a saved view", saved_view::NAME),
        bytes("filters, order and columns of a saved view", saved_view::QUERY),
        count("favourites of a user", favourite::MOST),
        count("sign-ins that an OpenID provider is asked about at one time", exchange::BOUNDS.most)
            .beyond("others wait"),
        count("the same, from one address", exchange::BOUNDS.share).beyond("others wait"),
        bytes("answer of an OpenID provider", provider::LONGEST_ANSWER),
        time("time for an OpenID provider to answer", provider::TIMEOUT),
        count("users that a catalogue may have for SCIM to create another one", scim::MOST_USERS),
        count("groups of SCIM", scim::MOST_GROUPS),
        count("members of such a group", scim::MEMBERS),
        count("members that a request of SCIM adds", scim::MEMBERS_AT_ONCE),
        count("such groups of a user", scim::GROUPS_OF_USER),
        count("things that a request of SCIM changes, with what groups give", scim::MOST_CHANGED),
        count("operations of a PATCH of SCIM", scim::MOST_OPERATIONS),
        count("resources of a page of SCIM", scim::MOST_RESULTS).beyond("the page is shorter"),
        count("members of groups, or groups of users, on a page of SCIM", scim::IN_PAGE)
            .beyond("the page is shorter, but has one resource"),
        bytes("filter or path of SCIM", scim::LONGEST_FILTER),
        count("comparisons of a filter of SCIM", scim::MOST_TERMS),
        count("parentheses in each other in a filter of SCIM", scim::DEEPEST),
        bytes("details of an entry of the audit", audit::DETAIL).beyond("texts and lists are cut"),
        bytes("values that an entry of the audit holds for a revert", kept::ENTRY).beyond("it cannot be reverted"),
        bytes("a text among these values", kept::VALUE).beyond("it cannot be reverted"),
        count("later entries among which a revert looks for who has changed a field", revert::SEARCHED as usize)
            .beyond("nobody is named"),
        count("entries of the audit for refused attempts in an hour", refusals::ENTRIES)
            .beyond("further ones share one entry"),
    ];
    ("People, sign-in and the audit", rows)
}

fn operation() -> Section {
    let rows = vec![
        bytes("line of an import", transfer::LINE),
        bytes("first line of an import", transfer::FIRST_LINE),
        bytes("texts of a row of an import", transfer::TEXTS),
        count("spans of one request", spans::MOST).beyond("others are left out and [counted](../ops/tracing.md)"),
        count("spans that wait for the collector", spans::QUEUE)
            .beyond("others are left out and [counted](../ops/tracing.md)"),
    ];
    ("Import and tracing", rows)
}

/// The tables, as the page has them.
fn tables() -> String {
    let Ok(Command::Serve(settings)) = config::parse(["rollcall"]) else { panic!("no settings") };
    assert_eq!(settings.budget.limits(), Limits::default());
    assert_eq!(settings.budget.max_estimate, cost::DocumentLimits::default().estimate);
    let sections = [
        connections(&settings),
        requests(&settings),
        work(&settings),
        documents(),
        things(),
        texts(),
        searches(),
        service_files(),
        properties(),
        deploys(),
        api_documents(),
        shown(),
        people(),
        operation(),
    ];
    let mut text = String::new();
    for (heading, rows) in sections {
        let _ = write!(text, "\n## {heading}\n\n| limit of | at most | beyond it |\n|---|---|---|\n");
        for Row { of, limit, beyond } in rows {
            let _ = writeln!(text, "| {of} | {limit} | {beyond} |");
        }
    }
    text
}

#[test]
fn the_page_of_limits_has_those_of_the_code() {
    const BEGIN: &str =
        "<!-- The tables below are written by: UPDATE_DOCS=1 cargo test --test it published_limits -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/limits.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (prose, tables_of_page) = page.split_once(BEGIN).expect("the place of the tables");
    let tables = tables();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{prose}{BEGIN}{tables}")).expect("the page is written");
    } else if tables_of_page != tables {
        let differs = tables.lines().zip(tables_of_page.lines()).find(|(code, page)| code != page);
        panic!("docs/limits.md differs from the code; run with UPDATE_DOCS=1. First difference: {differs:?}");
    }
}
