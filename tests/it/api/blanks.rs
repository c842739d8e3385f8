//! Blanks at the edges of names and the like, and control characters inside of them, on every way in.

use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;
use crate::harness::service_file::apply;

/// Texts that are the same name as the one between the blanks.
const AROUND: [&str; 6] =
    ["NAME\n", " NAME ", "\u{feff}NAME", "\tNAME\r\n", "\u{a0}NAME\u{3000}", "\u{200b}NAME\u{200e}"];

/// Texts that no short text may contain, and what the message says of them.
const CONTROLS: [(&str, &str); 7] = [
    ("a\nb", "U+000A (a line break)"),
    ("a\tb", "U+0009 (a tab)"),
    ("a\u{1b}[31mb", "U+001B (escape)"),
    ("a\u{9b}2Jb", "U+009B (a control character)"),
    ("a\u{2028}b", "U+2028 (a line separator)"),
    ("a\u{202e}b", "U+202E (which changes the direction of the text)"),
    ("a\u{2066}b", "U+2066 (which changes the direction of the text)"),
];

const CREATE: &str = "mutation($input: ServiceCreateInput!) {
    serviceCreate(input: $input) { service { id name product aliases description } errors { message path } } }";

/// The data of an answer without an error.
fn data(answer: &Value) -> &Value {
    assert_eq!(answer.get("errors"), None, "{answer}");
    &answer["data"]
}

async fn create(app: &TestApp, input: Value) -> Value {
    let answer = app.query(CREATE, json!({ "input": input })).await;
    data(&answer)["serviceCreate"].clone()
}

#[tokio::test]
async fn names_aliases_and_short_texts_are_stored_and_found_without_the_blanks_around_them() {
    let app = TestApp::start().await;
    for (place, around) in AROUND.iter().enumerate() {
        let name = format!("shop {place}");
        let made =
            create(&app, json!({ "name": around.replace("NAME", &name), "product": around.replace("NAME", "store") }))
                .await;
        assert_eq!((&made["service"]["name"], &made["service"]["product"]), (&json!(name), &json!("store")), "{made}");
        let add = "mutation($owner: ID!, $alias: String!) {
            aliasCreate(input: { ownerId: $owner, alias: $alias }) { aliases errors { message } } }";
        let alias = format!("org/shop-{place}");
        let added = json!({ "owner": made["service"]["id"], "alias": around.replace("NAME", &alias) });
        let aliases = data(&app.query(add, added).await)["aliasCreate"]["aliases"].clone();
        assert!(aliases.as_array().is_some_and(|aliases| aliases.contains(&json!(alias))), "{aliases}");
        let found = "query($alias: String!) { account { service(alias: $alias) { name } } }";
        let slug = format!("shop_{place}");
        let found = app.query(found, json!({ "alias": around.replace("NAME", &slug) })).await;
        assert_eq!(data(&found)["account"]["service"]["name"], json!(name));
        let assign = "mutation($alias: String!, $key: String!, $value: String!) {
            tagAssign(input: { alias: $alias, type: Service, tags: [{ key: $key, value: $value }] }) {
                tags { key value } errors { message path } } }";
        let given = json!({ "alias": around.replace("NAME", &slug), "key": around.replace("NAME", "env"), "value": around.replace("NAME", "a b") });
        let tags = app.query(assign, given).await;
        assert_eq!(data(&tags)["tagAssign"]["tags"], json!([{ "key": "env", "value": "a b" }]), "{tags}");
    }
    let blank = create(&app, json!({ "name": "\u{feff} \n" })).await;
    assert_eq!(blank["errors"], json!([{ "message": "name must not be empty", "path": ["name"] }]));
    let blank = create(&app, json!({ "name": "blank", "product": " \u{a0}" })).await;
    assert_eq!(blank["service"]["product"], Value::Null);
}

#[tokio::test]
async fn a_long_text_keeps_its_blanks_and_line_breaks() {
    let app = TestApp::start().await;
    for (place, text) in
        ["# Title\n\n\tcode\n", " indented", "two\r\nlines\r\n", "\n", "\u{2067}שלום\u{2069}", "heredoc\n"]
            .iter()
            .enumerate()
    {
        let made = create(&app, json!({ "name": format!("cart {place}"), "description": text })).await;
        assert_eq!(made["service"]["description"], json!(text), "{made}");
    }
    let made = create(&app, json!({ "name": "cart", "description": "a\u{1b}[2Jb" })).await;
    let said = "description must not contain the character U+001B (escape)";
    assert_eq!(made["errors"], json!([{ "message": said, "path": ["description"] }]));
}

#[tokio::test]
async fn a_control_character_in_a_name_is_refused_by_its_code_point() {
    let app = TestApp::start().await;
    let mut browser = Browser::of(&app, Role::Admin).await;
    for (text, said) in CONTROLS {
        let said = format!("must not contain the character {said}");
        for field in ["name", "product", "language"] {
            let mut input = json!({ "name": "cart" });
            input[field] = json!(text);
            let made = create(&app, input).await;
            assert_eq!(made["errors"], json!([{ "message": format!("{field} {said}"), "path": [field] }]), "{made}");
        }
        // YAML itself refuses some of them unless they are escaped.
        let escaped: String = text.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
        let file = format!("version: 1\nservice:\n  name: \"{escaped}\"\n");
        let refused = apply(&app, &[("rollcall.yml", &file)]).await.expect_err("a name of several lines");
        assert!(refused.iter().any(|mistake| mistake.contains(&said)), "{refused:?}");
        if !text.contains('\n') {
            let page = browser.post("/new/service", &[("name", text)]).await;
            assert!(page.text().contains(&said), "{}", page.text());
        }
    }
}

#[tokio::test]
async fn a_token_is_read_without_the_blanks_around_it() {
    let app = TestApp::start().await;
    let query = json!({ "query": "{ account { id } }" });
    let token = app.new_token(rollcall::entity::token::Scope::Read, None).await;
    for header in [
        format!("Bearer {token}"),
        format!("Bearer  {token} "),
        format!(" Bearer {token}"),
        format!("bearer {token}\t"),
    ] {
        let answer =
            app.post_with(query["query"].as_str().expect("a query"), json!({}), &[("authorization", &header)]).await;
        assert_eq!(answer.status, 200, "{header:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn the_edges_of_what_pages_send_are_trimmed_too() {
    let app = TestApp::start().await;
    let mut browser = Browser::of(&app, Role::Admin).await;
    for (place, around) in AROUND.iter().enumerate() {
        let form = [("name", &*around.replace("NAME", &format!("page {place}"))), ("description", " kept \r\n")];
        let made = browser.post("/new/service", &form).await;
        assert_eq!(made.status, 303, "{}", made.text());
        let found = "query($alias: String!) { account { service(alias: $alias) { name description } } }";
        let found = app.query(found, json!({ "alias": format!("page_{place}") })).await;
        let expected = json!({ "name": format!("page {place}"), "description": " kept \n" });
        assert_eq!(data(&found)["account"]["service"], expected);
    }
}
