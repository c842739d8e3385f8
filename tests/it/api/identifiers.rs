//! Global ids: their form, and the errors for an id that does not exist.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::tour::Tour;

/// All objects in a response that have an id, with their type names.
fn objects(answer: &Value, found: &mut Vec<(String, String)>) {
    match answer {
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        Value::Object(fields) => {
            if let (Some(class), Some(id)) = (fields.get("__typename").and_then(Value::as_str), fields.get("id")) {
                found.push((class.to_owned(), id.as_str().expect("an id").to_owned()));
            }
            fields.values().for_each(|field| objects(field, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_id_is_base64url_without_padding_of_the_scheme_the_class_and_a_number() {
    let tour = Tour::start().await;
    let it = "{ nodes { __typename id } }";
    let query = format!(
        "{{ account {{ teams {it} users {it} repositories {it} integrations {it} deploys {it} serviceSuggestions {it}
            tiers {{ __typename id }} lifecycles {{ __typename id }}
            services {{ nodes {{ __typename id tags {it} serviceRepositories {it} codeIssues {it} codeIssueProjects {it} }} }} }} }}"
    );
    let mut found = Vec::new();
    objects(&data(&tour.endpoint.app, &query).await, &mut found);
    let mut classes: Vec<_> = found.iter().map(|(class, _)| class.as_str()).collect();
    classes.sort_unstable();
    classes.dedup();
    assert_eq!(classes.len(), 20, "{classes:?}");
    for (class, id) in found {
        assert!(!id.contains(['=', '+', '/']), "{id}");
        let plain = BASE64URL_NOPAD.decode(id.as_bytes()).expect("base64url without padding");
        let plain = String::from_utf8(plain).expect("text");
        // The interface's types share a class.
        let class = if class.ends_with("Integration") { "Integration" } else { &class };
        let number = plain.strip_prefix(&format!("gid://rollcall/{class}/")).unwrap_or_else(|| panic!("{plain}"));
        assert!(number.parse::<u32>().is_ok_and(|number| number > 0), "{plain}");
    }
}

/// Ids of no service, user and so on: of another class, deleted, and malformed.
fn strays(class: &str) -> [(String, &'static str); 6] {
    let id = |plain: String| BASE64URL_NOPAD.encode(plain.as_bytes());
    [
        (id("gid://rollcall/Tag/1".to_owned()), "another class"),
        (id(format!("gid://rollcall/{class}/987654321")), "gone"),
        (id(format!("gid://rollcall/{class}/-1")), "a number that no row has"),
        (id(format!("gid://elsewhere/{class}/1")), "of another system"),
        (format!("{}=", id(format!("gid://rollcall/{class}/12"))), "padded"),
        ("nonsense".to_owned(), "malformed"),
    ]
}

#[tokio::test]
async fn a_query_with_an_unknown_id_answers_null_without_an_error() {
    let tour = Tour::start().await;
    for (field, class) in [
        ("service", "Service"),
        ("repository", "Repository"),
        ("integration", "Integration"),
        ("user", "User"),
        ("codeIssueProject", "CodeIssueProject"),
    ] {
        for (id, what) in strays(class) {
            let query = format!("query($id: ID!) {{ account {{ {field}(id: $id) {{ id }} }} }}");
            let answer = tour.endpoint.app.query(&query, json!({ "id": id })).await;
            assert_eq!(answer, json!({ "data": { "account": { field: null } } }), "{field}: {what}");
        }
    }
}

#[tokio::test]
async fn an_unknown_team_is_null_with_an_error_that_has_its_path_and_alias() {
    let tour = Tour::start().await;
    let expected = [
        "a team with this id does not exist on this account: it is the id of a Tag",
        "a team with this id does not exist on this account",
    ]
    .map(str::to_owned);
    let malformed = strays("Team").into_iter().skip(2);
    let malformed =
        malformed.map(|(id, _)| format!("a team with the id or alias \"{id}\" does not exist on this account"));
    for ((id, what), message) in strays("Team").into_iter().zip(expected.into_iter().chain(malformed)) {
        let query = "query($id: ID!) { account { name team(id: $id) { id } } }";
        let answer = tour.endpoint.app.query(query, json!({ "id": id })).await;
        assert_eq!(answer["data"], json!({ "account": { "name": "rollcall", "team": null } }), "{what}");
        let error = &answer["errors"][0];
        assert_eq!((&error["message"], &error["path"]), (&json!(message), &json!(["account", "team"])), "{what}");
        assert_eq!(error["extensions"]["code"], "NOT_FOUND", "{what}");
    }
    let answer = tour.endpoint.app.query(r#"{ account { team(alias: "no") { id } } }"#, json!({})).await;
    assert_eq!(answer["data"], json!({ "account": { "team": null } }));
    assert_eq!(answer["errors"][0]["message"], "a team with the alias \"no\" does not exist on this account");
}

#[tokio::test]
async fn a_mutation_with_an_unknown_id_says_what_is_wrong_with_the_id() {
    let tour = Tour::start().await;
    for (mutation, class, noun, has_alias) in [
        ("serviceDelete", "Service", "service", true),
        ("teamDelete", "Team", "team", true),
        ("repositoryDelete", "Repository", "repository", true),
        ("tierDelete", "Tier", "tier", true),
        ("lifecycleDelete", "Lifecycle", "lifecycle", true),
        ("deployDelete", "Deploy", "deploy", false),
        ("serviceSuggestionIgnore", "ServiceSuggestion", "suggestion", false),
        ("serviceRepositoryDelete", "ServiceRepository", "link between a service and a repository", false),
    ] {
        let query =
            format!("mutation($id: ID!) {{ {mutation}(input: {{ id: $id }}) {{ errors {{ message path }} }} }}");
        let absent = format!("a {noun} with this id does not exist on this account");
        let malformed = strays(class).into_iter().skip(2).map(|(id, _)| match has_alias {
            true => format!("a {noun} with the id or alias \"{id}\" does not exist on this account"),
            false => format!("{absent}: \"{id}\" is not a valid id"),
        });
        let expected = [format!("{absent}: it is the id of a Tag"), absent.clone()];
        for ((id, what), message) in strays(class).into_iter().zip(expected.into_iter().chain(malformed)) {
            let answer = tour.endpoint.app.query(&query, json!({ "id": id })).await;
            let expected = json!({ "errors": [{ "message": message, "path": ["id"] }] });
            assert_eq!(answer["data"][mutation], expected, "{mutation}: {what}");
        }
    }
}

#[tokio::test]
async fn a_message_shortens_a_long_name() {
    let app = TestApp::start().await;
    let query = "mutation($alias: String!, $id: ID!) {
        alias: serviceDelete(input: { alias: $alias }) { errors { message } }
        id: serviceDelete(input: { id: $id }) { errors { message } }
    }";
    let id = BASE64URL_NOPAD.encode(format!("gid://rollcall/{}/1", "é".repeat(1_000)).as_bytes());
    let answer = app.query(query, json!({ "alias": "é".repeat(1_000), "id": id })).await;
    let name = format!("{}…", "é".repeat(255));
    let expected = json!({
        "alias": { "errors": [{ "message": format!("a service with the alias \"{name}\" does not exist on this account") }] },
        "id": { "errors": [{ "message": format!("a service with this id does not exist on this account: it is the id of a {}…", "é".repeat(253)) }] },
    });
    assert_eq!(answer, json!({ "data": expected }));

    let answer = app
        .query(
            "query($first: Int) { account { services(first: $first) { totalCount } } }",
            json!({ "first": "é".repeat(1_000) }),
        )
        .await;
    let message = format!("$first: expected a 32-bit integer, found \"{}…", "é".repeat(254));
    assert_eq!(answer["errors"][0]["message"], message);
}
