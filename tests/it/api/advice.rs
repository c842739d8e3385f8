//! Error messages suggest what the client probably meant.

use serde_json::{Value, json};

use crate::harness::app::TestApp;

/// The messages of a refused request.
async fn messages(app: &TestApp, query: &str, variables: Value) -> Vec<String> {
    let answer = app.query(query, variables).await;
    let errors = answer["errors"].as_array().unwrap_or_else(|| panic!("{query} is not refused: {answer}"));
    errors.iter().map(|error| error["message"].as_str().expect("a message").to_owned()).collect()
}

/// Fails unless `message` is among the errors of the request.
async fn assert_says(app: &TestApp, query: &str, variables: Value, message: &str) {
    let messages = messages(app, query, variables).await;
    assert!(messages.iter().any(|said| said == message), "{query}\n  expected {message}\n  {messages:#?}");
}

/// The advice about a sort order that is like none.
const SORTS: &str = "The values of `ServiceSortEnum` are `name_ASC`, `name_DESC`, `owner_ASC`, `owner_DESC`, \
    `tier_ASC`, `tier_DESC`, `lifecycle_ASC`, `lifecycle_DESC`, `language_ASC`, `language_DESC` and 6 more.";

#[tokio::test]
async fn the_error_for_a_misspelt_name_suggests_the_nearest_one() {
    let app = TestApp::start().await;
    for (query, message) in [
        ("{ acount { name } }", "type `Query` does not have a field `acount`. Did you mean `account`?"),
        (
            "{ account { services { nodes { naem } } } }",
            "type `Service` does not have a field `naem`. Did you mean `name`?",
        ),
        ("{ account { zzzzzz } }", "type `Account` does not have a field `zzzzzz`"),
        (
            r#"{ account { services(languag: "Rust") { totalCount } } }"#,
            "languag: the argument `languag` is not supported by `Account.services`. Did you mean `language`?",
        ),
        (
            "{ account { services(sortBy: ownr_ASC) { totalCount } } }",
            "sortBy: value `ownr_ASC` does not exist on `ServiceSortEnum`. Did you mean `owner_ASC`?",
        ),
        (
            r#"mutation { serviceCreate(input: { nmae: "Cart" }) { errors { message } } }"#,
            "input.nmae: field `nmae` does not exist on `ServiceCreateInput`. Did you mean `name`?",
        ),
        (
            "mutation($input: ServiceCreateInpt!) { serviceCreate(input: $input) { errors { message } } }",
            "cannot find type `ServiceCreateInpt` in the schema. Did you mean `ServiceCreateInput`?",
        ),
        (
            "{ ... on Querry { account { name } } }",
            "type condition `Querry` of inline fragment is not a type defined in the schema. Did you mean `Query`?",
        ),
        ("{ account @skp(if: true) { name } }", "cannot find directive `@skp` in the schema. Did you mean `@skip`?"),
    ] {
        assert_says(&app, query, json!({}), message).await;
    }
}

#[tokio::test]
async fn the_error_for_a_misspelt_name_in_a_variable_suggests_the_nearest_one() {
    let app = TestApp::start().await;
    let sorted = "query($by: ServiceSortEnum) { account { services(sortBy: $by) { totalCount } } }";
    let create = "mutation($input: ServiceCreateInput!) { serviceCreate(input: $input) { errors { message } } }";
    for (query, variables, message) in [
        (
            sorted,
            json!({ "by": "ownr_ASC" }),
            "$by: expected a value of ServiceSortEnum, found \"ownr_ASC\". Did you mean `owner_ASC`?",
        ),
        (
            create,
            json!({ "input": { "nmae": "Cart" } }),
            "$input.nmae: ServiceCreateInput has no such field. Did you mean `name`?",
        ),
    ] {
        assert_says(&app, query, variables, message).await;
    }
}

#[tokio::test]
async fn the_error_for_a_value_that_is_like_none_of_its_enum_lists_the_first_ones() {
    let app = TestApp::start().await;
    for (literal, said) in [
        ("zzzzzz", "value `zzzzzz` does not exist on `ServiceSortEnum`."),
        ("5", "expected value of type ServiceSortEnum, found an integer."),
        ("\"zzzzzz\"", "expected value of type ServiceSortEnum, found a string."),
    ] {
        let query = format!("{{ account {{ services(sortBy: {literal}) {{ totalCount }} }} }}");
        assert_says(&app, &query, json!({}), &format!("sortBy: {said} {SORTS}")).await;
    }
    for (literal, advice) in
        [("name_ASC", "Write it without quotes: `name_ASC`."), ("nam_ASC", "Did you mean `name_ASC`?")]
    {
        let query = format!("{{ account {{ services(sortBy: \"{literal}\") {{ totalCount }} }} }}");
        let said = "sortBy: expected value of type ServiceSortEnum, found a string.";
        assert_says(&app, &query, json!({}), &format!("{said} {advice}")).await;
    }
    let sorted = "query($by: ServiceSortEnum) { account { services(sortBy: $by) { totalCount } } }";
    for (value, found) in [(json!("zzzzzz"), "\"zzzzzz\""), (json!(5), "5"), (json!(["name_ASC"]), "[\"name_ASC\"]")] {
        let said = format!("$by: expected a value of ServiceSortEnum, found {found}. {SORTS}");
        assert_says(&app, sorted, json!({ "by": value }), &said).await;
    }
    // An enum with few values is listed whole.
    let invite = "mutation { userInvite(email: \"ada@example.com\", input: { role: zzzzzz }) { errors { message } } }";
    let said = "input.role: value `zzzzzz` does not exist on `UserRole`. The values of `UserRole` are ";
    let messages = messages(&app, invite, json!({})).await;
    assert!(messages[0].starts_with(said) && !messages[0].contains("more"), "{messages:?}");
}

#[tokio::test]
async fn the_error_for_a_variable_of_a_wrong_type_names_both_types() {
    let app = TestApp::start().await;
    for (query, message) in [
        (
            "query($by: String) { account { services(sortBy: $by) { totalCount } } }",
            "sortBy: variable `$by` of type `String` cannot be used for argument `sortBy` of type `ServiceSortEnum`",
        ),
        (
            "mutation($name: Int!) { serviceCreate(input: { name: $name }) { errors { message } } }",
            "input.name: variable `$name` of type `Int!` cannot be used for type `String!`",
        ),
        (
            "query One($first: String) { account { services(first: $first) { totalCount } } }
             query Two($first: String) { account { teams(first: $first) { totalCount } } }",
            "first: variable `$first` of type `String` cannot be used for argument `first` of type `Int`",
        ),
    ] {
        let said = messages(&app, query, json!({})).await;
        assert_eq!(said.first().map(String::as_str), Some(message), "{said:?}");
    }
}

#[tokio::test]
async fn a_field_in_the_wrong_place_gets_advice_about_the_right_place() {
    let app = TestApp::start().await;
    for (query, message) in [
        (
            r#"{ search(term: "x") { name } }"#,
            "type `Query` does not have a field `search`. `search` is a field of `account`: \
             write { account { search … } }",
        ),
        (
            "{ name }",
            "type `Query` does not have a field `name`. `name` is a field of `account`: write { account { name } }",
        ),
        (
            "{ serivces { totalCount } }",
            "type `Query` does not have a field `serivces`. Did you mean `services` of `account`? \
             Write { account { services … } }",
        ),
        (
            r#"{ serviceCreate(input: { name: "Cart" }) { errors { message } } }"#,
            "type `Query` does not have a field `serviceCreate`. `serviceCreate` is a mutation: \
             write mutation { serviceCreate … }",
        ),
        (
            "mutation { account { name } }",
            "type `Mutation` does not have a field `account`. `account` is a query: write query { account … }",
        ),
        (
            r#"{ account { search(term: "x") { item { responsibilities } } } }"#,
            "type `SearchItem` does not have a field `responsibilities`. `responsibilities` is a field of `Team`: \
             write ... on Team { responsibilities }",
        ),
    ] {
        assert_says(&app, query, json!({}), message).await;
    }
}

#[tokio::test]
async fn the_error_for_a_missing_selection_shows_the_field_with_braces() {
    let app = TestApp::start().await;
    let message = "the field `services` needs a selection. Select fields of it: services { … }";
    for query in [
        "{ account { services } }",
        "{ account { all: services(first: 3) } }",
        "{ account { all : services @include(if: true) } }",
    ] {
        assert_says(&app, query, json!({}), message).await;
    }
    let message = "field selection of scalar type `String` must not have subselections. Remove the braces after it.";
    assert_says(&app, "{ account { name { first } } }", json!({}), message).await;
}

#[tokio::test]
async fn a_syntax_error_shows_tokens_as_they_are_written() {
    let app = TestApp::start().await;
    for (query, message) in [
        ("{ account { name }", "syntax error: expected `}`, found the end of the document"),
        ("{ account { services(first: 1", "syntax error: expected `)`, found the end of the document"),
        ("{ account { } }", "syntax error: expected a field, found `}`"),
        ("# nothing", "syntax error: the document is empty"),
        ("{ account { name } } }", "syntax error: expected `query`, `mutation`, `fragment` or `{`, found `}`"),
        (
            "qeury { account { name } }",
            "syntax error: expected `query`, `mutation`, `fragment` or `{`, found `qeury`. Did you mean `query`?",
        ),
    ] {
        let answer = app.query(query, json!({})).await;
        let error = &answer["errors"][0];
        assert_eq!(error["message"], message, "{query}");
        assert_eq!(error["extensions"]["code"], "GRAPHQL_PARSE_FAILED", "{query}");
        assert_eq!(error["locations"].as_array().map(Vec::len), Some(1), "{query}");
    }
}

#[tokio::test]
async fn of_many_mistakes_the_first_twenty_are_reported_with_advice() {
    let app = TestApp::start().await;
    let fields: String = (0..2_000).map(|n| format!("a{n}: naem ")).collect();
    let said = messages(&app, &format!("{{ account {{ {fields} }} }}"), json!({})).await;
    let message = "type `Account` does not have a field `naem`. Did you mean `name`?";
    assert_eq!(said, vec![message; 20]);

    let declared: String = (0..40).map(|n| format!("$v{n}: ServiceSortEnum = name_ASC ")).collect();
    let used: String = (0..40).map(|n| format!("s{n}: services(sortBy: $v{n}) {{ totalCount }} ")).collect();
    let variables: Value = (0..40).map(|n| (format!("v{n}"), json!("nam_ASC"))).collect();
    let said = messages(&app, &format!("query({declared}) {{ account {{ {used} }} }}"), variables).await;
    assert_eq!(said.len(), 20);
    assert!(said.iter().all(|said| said.ends_with("Did you mean `name_ASC`?")), "{said:?}");
}
