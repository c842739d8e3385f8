//! Compares the executor with graphql-js: `tests/graphql-js/record.mjs` has recorded its responses to the same queries
//! over the same schema and data.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_graphql::{Request, ServerError, Variables};
use rollcall::engine::cost::DocumentLimits;
use rollcall::engine::document::Documents;
use rollcall::engine::{self, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::project::library::Counter;
use crate::project::library::generated::{Mutation, Query, info};
use crate::project::library::types::State;

/// Requests that we refuse before execution, while graphql-js starts and reports the mistake at a field: a nullable
/// variable is null in a non-null position with a default. The specification allows both. Here a request is fully
/// validated before its first resolver runs, so that a mutation is refused as a whole.
const REFUSED_EARLIER: [&str; 13] = [
    "arguments fail/locations of merged arguments",
    "arguments fail/null variable below a list",
    "arguments fail/null variable below a list of films",
    "arguments fail/null variable for non-null argument with default",
    "arguments fail/null variable for nullable field",
    "arguments fail/null variable for nullable field without default",
    "arguments fail/null variable in input object",
    "arguments fail/null variable in nested input object",
    "directives/variable null with default at root",
    "directives/variable null with default below",
    "directives/variable null with default below list",
    "mutation/argument fails",
    "mutation/argument fails non-null",
];

/// A request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    query: String,
    #[serde(default)]
    variables: Value,
    operation_name: Option<String>,
}

/// The response of graphql-js.
#[derive(Debug, Deserialize)]
struct Answer {
    name: String,
    kind: Kind,
    /// The text of `data`.
    body: Option<String>,
    #[serde(default)]
    errors: Vec<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ok,
    /// Executed, with errors.
    Execution,
    /// Refused before execution.
    Request,
}

/// An error without our own extensions.
#[derive(Debug, PartialEq, Deserialize)]
struct Fault {
    message: String,
    #[serde(default)]
    path: Vec<Value>,
    #[serde(default)]
    locations: Vec<Location>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Location {
    line: usize,
    column: usize,
}

macro_rules! recorded {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphql-js/", $file))
    };
}

fn read<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("JSON of this shape")
}

fn documents() -> Documents {
    let limits = DocumentLimits { depth: 100, fields: 100_000, ..DocumentLimits::default() };
    Documents::new(recorded!("schema.graphql"), &info::Query, Some(&info::Mutation), info::SCALARS, limits)
}

async fn ask(documents: &Documents, case: &Case) -> Result<Response, Vec<ServerError>> {
    let mut request = Request::new(&case.query).variables(Variables::from_json(case.variables.clone()));
    request.operation_name.clone_from(&case.operation_name);
    let prepared = documents.prepare(&request)?;
    let counter = Arc::new(Mutex::new(Counter::default()));
    let state = State { schema: Arc::clone(documents.schema()), counter };
    Ok(match prepared.plan.serial {
        true => engine::run(&Mutation, &prepared.plan, &prepared.arguments, &state).await,
        false => engine::run(&Query, &prepared.plan, &prepared.arguments, &state).await,
    })
}

/// The text of `data`, cut out of the response.
fn body(response: &Response) -> &str {
    let errors = engine::errors_json(&response.errors);
    let text = std::str::from_utf8(&response.text).expect("UTF-8");
    let errors = std::str::from_utf8(&errors).expect("UTF-8");
    let rest = match response.errors.is_empty() {
        true => text.strip_prefix("{"),
        false => text.strip_prefix("{\"errors\":").and_then(|rest| rest.strip_prefix(errors)?.strip_prefix(",")),
    };
    let data = rest.and_then(|rest| rest.strip_prefix("\"data\":")?.strip_suffix("}"));
    data.unwrap_or_else(|| panic!("not the shape of a response: {text}"))
}

/// How our response to a case differs, if it does.
fn disagreement(name: &str, answer: &Answer, got: Result<Response, Vec<ServerError>>) -> Option<String> {
    let kind = if REFUSED_EARLIER.contains(&name) { Kind::Request } else { answer.kind };
    let expected = format!("  graphql-js {} {:?}", answer.body.as_deref().unwrap_or("(refused)"), answer.errors);
    match (kind, got) {
        (Kind::Request, Err(_)) => None,
        (_, Err(errors)) => {
            let messages: Vec<_> = errors.iter().map(|error| &error.message).collect();
            Some(format!("{expected}\n  we refuse {messages:?}"))
        }
        (kind, Ok(response)) => {
            let errors: Vec<Fault> = read(&serde_json::to_string(&response.errors).expect("errors are JSON"));
            let body = body(&response);
            let agree = kind != Kind::Request && answer.body.as_deref() == Some(body) && answer.errors == errors;
            (!agree).then(|| format!("{expected}\n  we         {body} {errors:?}"))
        }
    }
}

#[tokio::test]
async fn responses_equal_those_of_graphql_js() {
    let cases: Vec<Case> = read(recorded!("queries.json"));
    let answers: Vec<Answer> = read(recorded!("answers.json"));
    let answers: HashMap<_, _> = answers.iter().map(|answer| (answer.name.as_str(), answer)).collect();
    assert!(cases.len() >= 300, "{} cases", cases.len());
    let documents = documents();
    let mut disagreements = Vec::new();
    // Twice, because the second response uses the cached document.
    for round in ["new", "remembered"] {
        for case in &cases {
            let Case { name, query, .. } = case;
            let answer = answers.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not recorded"));
            if let Some(how) = disagreement(name, answer, ask(&documents, case).await) {
                disagreements.push(format!("{name} ({round}): {query}\n{how}"));
            }
        }
    }
    let count = disagreements.len();
    assert!(count == 0, "{count} disagreements with graphql-js\n{}", disagreements.join("\n"));
}

/// The same text with other digits, and with other letters in its strings.
fn with_other_literals(text: &str) -> String {
    let mut in_string = false;
    let other = |letter: char| {
        in_string ^= letter == '"';
        match letter {
            '0'..='8' => char::from(letter as u8 + 1),
            '9' => '0',
            'a'..='y' if in_string => char::from(letter as u8 + 1),
            letter => letter,
        }
    };
    text.chars().map(other).collect()
}

#[tokio::test]
async fn the_cached_shape_of_a_text_does_not_change_responses_to_other_literals() {
    let told = |got: Result<Response, Vec<ServerError>>| match got {
        Ok(response) => (String::from_utf8(response.text).expect("UTF-8"), Vec::new()),
        Err(errors) => (String::new(), errors),
    };
    let twice = |first: &str, second: &str| {
        let query = format!("{{ a: node(id: \"{first}\") {{ id }} a: node(id: \"{second}\") {{ __typename }} }}");
        Case { name: format!("{first} {second}"), query, variables: Value::Null, operation_name: None }
    };
    let mut cases: Vec<Case> = read(recorded!("queries.json"));
    cases.extend([twice("ab", "ab"), twice("ab", "bc"), twice("cd", "cd")]);
    let documents = documents();
    for mut case in cases {
        for _ in 0..3 {
            let (seen, new) = (ask(&documents, &case).await, ask(&self::documents(), &case).await);
            assert_eq!(told(seen), told(new), "{}: {}", case.name, case.query);
            case.query = with_other_literals(&case.query);
        }
    }
}

#[test]
fn requests_refused_earlier_have_arguments_that_graphql_js_refuses_later() {
    let answers: Vec<Answer> = read(recorded!("answers.json"));
    let late = |answer: &&Answer| {
        answer.kind == Kind::Execution && answer.errors.iter().any(|error| error.message.starts_with("Argument "))
    };
    let mut late: Vec<_> = answers.iter().filter(late).map(|answer| answer.name.as_str()).collect();
    late.sort_unstable();
    assert_eq!(late, REFUSED_EARLIER);
}
