//! What holds for every cursor, id, slug and alias, not only for those that somebody thought of.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rollcall::entity::alias::slug;
use rollcall::graphql::id::{Id, decode};
use rollcall::graphql::page::Cursor;
use serde_json::json;

use crate::app::TestApp;

fn cursors() -> impl Strategy<Value = Cursor> {
    (any::<Option<i64>>(), any::<i64>()).prop_map(|(order, id)| Cursor { order, id })
}

/// Texts like those that people give to things: any letters, and more often than by chance what aliases are made of.
fn names() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        Just(' '),
        Just('_'),
        Just('-'),
        Just('/'),
        Just(':'),
        Just('.'),
        Just('"'),
        Just('\\'),
        Just('%'),
        Just('\u{301}'),
        prop::char::range('a', 'z'),
        prop::char::range('A', 'Z'),
        prop::char::range('0', '9'),
        any::<char>()
    ];
    vec(letters, 0..40).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_is_made_of_word_characters(cursor in cursors()) {
        let text = cursor.to_string();
        prop_assert!(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{}", text);
        prop_assert_eq!(Cursor::parse(&text), Some(cursor));
    }

    #[test]
    fn different_cursors_are_different_texts(one in cursors(), other in cursors()) {
        prop_assert_eq!(one == other, one.to_string() == other.to_string());
    }

    #[test]
    fn any_text_is_read_as_a_cursor_or_refused(text in any::<String>()) {
        // What is read is one that was given, whatever the case of its letters.
        if let Some(cursor) = Cursor::parse(&text) {
            prop_assert_eq!(cursor.to_string(), text.to_ascii_uppercase());
        }
    }

    #[test]
    fn a_damaged_cursor_is_refused_or_another(cursor in cursors(), at in any::<prop::sample::Index>(), letter in "[A-Z2-7]") {
        let mut text = cursor.to_string();
        let at = at.index(text.len());
        text.replace_range(at..=at, &letter);
        if let Some(read) = Cursor::parse(&text) {
            prop_assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn an_id_is_read_as_it_was_written_and_has_no_padding(
        class in prop::sample::select(vec!["Service", "Tag", "CodeIssueProject", "ServiceRepository"]), number in 1..=i64::MAX
    ) {
        let id = Id { class, number };
        let text = id.text();
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'), "{}", text);
        prop_assert_eq!(decode(&text), Some((class.to_owned(), number)));
    }

    #[test]
    fn any_text_is_read_as_an_id_or_refused(text in "[a-zA-Z0-9_=-]{0,60}") {
        if let Some((class, number)) = decode(&text) {
            let plain = format!("gid://rollcall/{class}/{number}");
            prop_assert_eq!(data_encoding::BASE64URL_NOPAD.encode(plain.as_bytes()), text);
        }
    }

    #[test]
    fn one_row_has_one_id(number in "[+-]?0{0,2}[0-9]{1,20}") {
        let text = data_encoding::BASE64URL_NOPAD.encode(format!("gid://rollcall/Service/{number}").as_bytes());
        if let Some((_, read)) = decode(&text) {
            prop_assert_eq!(read.to_string(), number);
        }
    }

    #[test]
    fn a_slug_is_its_own_slug(name in names()) {
        let once = slug(&name, "service");
        prop_assert_eq!(&slug(&once, "service"), &once, "{}", name);
    }

    #[test]
    fn a_slug_is_letters_and_digits_joined_by_single_underscores(name in names()) {
        let slug = slug(&name, "service");
        prop_assert!(!slug.is_empty());
        for part in slug.split('_') {
            prop_assert!(!part.is_empty() && part.chars().all(char::is_alphanumeric), "{:?}: {:?}", name, slug);
        }
    }

    #[test]
    fn a_slug_does_not_tell_letter_case_nor_what_stands_between_words(words in vec("[a-z0-9]{1,8}", 1..5), blank in "[ ./:_-]{1,3}") {
        let spaced = slug(&words.join(&blank).to_uppercase(), "service");
        prop_assert_eq!(spaced, words.join("_"));
    }
}

/// Runs a property of a service that is running: fewer cases, because each is a few requests.
async fn holds<S: Strategy>(strategy: S, mut check: impl AsyncFnMut(S::Value)) {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..32 {
        check(strategy.new_tree(&mut runner).expect("a value").current()).await;
    }
}

#[tokio::test]
async fn an_alias_is_refused_or_finds_its_service_exactly_until_it_is_deleted() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let made = app.query("mutation { serviceCreate(input: { name: \"Cart\" }) { service { id } } }", json!({})).await;
    let id = made["data"]["serviceCreate"]["service"]["id"].clone();
    holds(names(), async |alias| {
        let query = "mutation($id: ID!, $alias: String!) { aliasCreate(input: { ownerId: $id, alias: $alias }) { aliases errors { path } } }";
        let mut answer = app.query(query, json!({ "id": id, "alias": alias })).await;
        if alias.contains('\0') {
            assert_eq!(answer["errors"][0]["message"], "$alias: a text must not contain the null character", "{alias:?}");
            return;
        }
        let payload = answer["data"]["aliasCreate"].take();
        if alias.trim().is_empty() {
            assert_eq!(payload["errors"], json!([{ "path": ["alias"] }]), "{alias:?}");
            return;
        }
        assert_eq!(payload["errors"], json!([]), "{alias:?}");
        assert!(payload["aliases"].as_array().expect("aliases").contains(&json!(alias)), "{alias:?}: {payload}");
        let find = "query($alias: String!, $longer: String!) { account {
            found: service(alias: $alias) { name } longer: service(alias: $longer) { name }
        } }";
        let found = app.query(find, json!({ "alias": alias, "longer": format!("{alias}x") })).await;
        assert_eq!(found["data"]["account"], json!({ "found": { "name": "Cart" }, "longer": null }), "{alias:?}");
        let delete = "mutation($alias: String!) { aliasDelete(input: { ownerType: service, alias: $alias }) { deletedAlias } }";
        let deleted = app.query(delete, json!({ "alias": alias })).await;
        if alias != "cart" && alias != "Cart" {
            assert_eq!(deleted["data"]["aliasDelete"]["deletedAlias"], json!(alias));
            let found = app.query(find, json!({ "alias": alias, "longer": "x" })).await;
            assert_eq!(found["data"]["account"]["found"], json!(null), "{alias:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_service_is_found_by_its_name_and_by_every_alias_that_the_name_gave_it() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    holds(names(), async |name| {
        let query = "mutation($name: String!) { serviceCreate(input: { name: $name }) { service { id name aliases } errors { path } } }";
        let mut answer = app.query(query, json!({ "name": name })).await;
        if name.contains('\0') {
            assert_eq!(answer["errors"][0]["message"], "$name: a text must not contain the null character", "{name:?}");
            return;
        }
        let payload = answer["data"]["serviceCreate"].take();
        if name.trim().is_empty() {
            assert_eq!(payload["errors"], json!([{ "path": ["name"] }]), "{name:?}");
            return;
        }
        let service = &payload["service"];
        assert_eq!((&service["name"], &payload["errors"]), (&json!(name), &json!([])), "{name:?}");
        for alias in service["aliases"].as_array().expect("aliases") {
            let found = app.query("query($alias: String!) { account { service(alias: $alias) { id } } }", json!({ "alias": alias })).await;
            assert_eq!(found["data"]["account"]["service"]["id"], service["id"], "{name:?}: {alias}");
        }
    })
    .await;
}
