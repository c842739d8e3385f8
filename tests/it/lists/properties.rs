//! Properties that hold for every cursor, id, slug and alias, not only for chosen examples.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rollcall::deploy::Record;
use rollcall::engine::page::Cursor;
use rollcall::entity::Timestamp;
use rollcall::entity::alias::slug;
use rollcall::entity::text;
use rollcall::graphql::field::id::{Id, decode};
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::webhook::{Endpoint, record};

fn cursors() -> impl Strategy<Value = Cursor> {
    (any::<Option<i64>>(), any::<i64>()).prop_map(|(order, id)| Cursor { order, ..Cursor::id(id) })
}

/// Texts like names that people choose: any letters, with those of aliases more often.
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

/// A date and time in one of the accepted formats, and its microseconds since 1970.
fn dates() -> impl Strategy<Value = (String, i64)> {
    let zones = prop_oneof![
        Just((String::new(), 0)),
        prop::sample::select(vec!["Z", "z", "UTC", " UTC"]).prop_map(|zone| (zone.to_owned(), 0)),
        (any::<bool>(), 0..24i64, 0..60i64, 0..7u8).prop_map(|(west, hours, minutes, form)| {
            let sign = if west { '-' } else { '+' };
            let minutes = if form == 3 { 0 } else { minutes };
            let text = match form {
                0 => format!("{sign}{hours:02}:{minutes:02}"),
                1 => format!("{sign}{hours:02}{minutes:02}"),
                2 => format!(" {sign}{hours:02}{minutes:02}"),
                4 => format!(" {sign}{hours:02}{minutes:02} CEST"),
                5 => format!(" {sign}{hours:02}{minutes:02} {sign}{hours:02}{minutes:02}"),
                6 => format!(" {sign}{hours:02}{minutes:02} EST m={sign}{minutes}.{hours:09}"),
                _ => format!("{sign}{hours:02}"),
            };
            (text, (hours * 60 + minutes) * if west { -60 } else { 60 })
        }),
    ];
    let separators = prop::sample::select(vec!['T', 't', ' ']);
    // Days of the proleptic calendar, computed without a library: 1 January of year 2 to 30 December 9998.
    let days = -718_797..2_932_166i64;
    (days, 0..86_400i64, prop::option::of("[0-9]{1,9}"), separators, zones).prop_map(
        |(day, second, fraction, separator, (zone, offset))| {
            let (year, month, date) = civil(day);
            let (hour, minute, rest) = (second / 3600, second / 60 % 60, second % 60);
            let digits = fraction.as_ref().map(|digits| format!(".{digits}")).unwrap_or_default();
            let text =
                format!("{year:04}-{month:02}-{date:02}{separator}{hour:02}:{minute:02}:{rest:02}{digits}{zone}");
            let micros = format!("{:0<6.6}", fraction.unwrap_or_default()).parse::<i64>().expect("digits");
            (text, (day * 86_400 + second - offset) * 1_000_000 + micros)
        },
    )
}

/// The date this many days after 1 January 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Random JSON, preferring the attributes of deploys.
fn json_values() -> impl Strategy<Value = Value> {
    let texts = prop_oneof![
        any::<String>(),
        dates().prop_map(|(text, _)| text),
        prop::sample::select(vec!["", " ", "shop", "success", "a\0b", "2026-02-30 00:00:00"]).prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        texts.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((attributes(), inner), 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn attributes() -> impl Strategy<Value = String> {
    let known = vec![
        "service",
        "description",
        "deployed_at",
        "deployer",
        "started_at",
        "deploy_url",
        "dedup_id",
        "environment",
        "deploy_number",
        "status",
        "commit",
        "email",
        "name",
        "id",
        "sha",
        "message",
        "branch",
        "date",
        "author_name",
    ];
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()]
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
        // Every accepted cursor is one that was issued, apart from letter case.
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
    fn a_date_in_an_accepted_form_is_the_moment_it_stands_for_and_is_written_as_that((text, micros) in dates()) {
        let moment = Timestamp::parse(&text);
        prop_assert_eq!(moment.map(Timestamp::as_micros), Ok(micros), "{}", text);
        let written = Timestamp::from_micros(micros).to_string();
        prop_assert_eq!(Timestamp::parse(&written), moment, "{}", written);
    }

    #[test]
    fn any_other_date_is_a_mistake_about_it(
        (text, _) in dates(), at in any::<prop::sample::Index>(), with in "[0-9TZ:+. -]|\\PC{0,3}", whole in any::<bool>(), any in any::<String>()
    ) {
        // A date with something inserted, or any text.
        let text = if whole { any } else {
            let at = at.index(text.len());
            format!("{}{with}{}", &text[..at], &text[at + 1..])
        };
        let read = Record::read(&record(json!({ "deployed_at": text })).to_string(), false);
        match (read, Timestamp::parse(&text)) {
            (Ok(read), Ok(moment)) => {
                prop_assert_eq!(read.record.deployed_at, moment);
                prop_assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
            }
            // The webhook reads more forms.
            (Ok(read), Err(_)) => {
                let moment = read.record.deployed_at;
                prop_assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
            }
            (Err(mistakes), Err(_)) => {
                let missing = "param is missing or the value is empty: deployed_at";
                let unread = format!("deployed_at {} is ", rollcall::error::quoted(&text));
                let expected = if text.trim().is_empty() { missing } else { &unread };
                prop_assert_eq!(mistakes.len(), 1);
                prop_assert_eq!(&*mistakes[0].title, "Deployed at Error");
                prop_assert!(mistakes[0].detail.starts_with(expected), "{}", mistakes[0].detail);
            }
            (read, moment) => prop_assert!(false, "{:?}: {:?}, {:?}", text, read, moment),
        }
    }

    #[test]
    fn any_bytes_are_read_as_a_record_or_have_a_mistake(body in vec(any::<u8>(), 0..200)) {
        let body = String::from_utf8_lossy(&body);
        prop_assert!(Record::read(&body, true).is_err_and(|mistakes| mistakes.len() == 1));
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

/// Checks a property of a running service. Fewer cases, because each takes several requests.
async fn holds<S: Strategy>(strategy: S, mut check: impl AsyncFnMut(S::Value)) {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..32 {
        check(strategy.new_tree(&mut runner).expect("a value").current()).await;
    }
}

#[tokio::test]
async fn an_alias_is_refused_or_finds_its_service_until_it_is_deleted() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let made = app.query("mutation { serviceCreate(input: { name: \"Cart\" }) { service { id } } }", json!({})).await;
    let id = made["data"]["serviceCreate"]["service"]["id"].clone();
    holds(names(), async |alias| {
        let query = "mutation($id: ID!, $alias: String!) { aliasCreate(input: { ownerId: $id, alias: $alias }) { aliases errors { path } } }";
        let mut answer = app.query(query, json!({ "id": id, "alias": alias })).await;
        if alias.contains('\0') {
            let message = "$alias: a string must not contain the null character";
            assert_eq!(answer["errors"][0]["message"], message, "{alias:?}");
            return;
        }
        let payload = answer["data"]["aliasCreate"].take();
        let alias = text::trim(&alias);
        if alias.is_empty() || alias.contains(text::is_control) {
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
async fn a_service_is_found_by_its_name_and_by_every_alias_derived_from_it() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    holds(names(), async |name| {
        let query = "mutation($name: String!) { serviceCreate(input: { name: $name }) { service { id name aliases } errors { path } } }";
        let mut answer = app.query(query, json!({ "name": name })).await;
        if name.contains('\0') {
            let message = "$name: a string must not contain the null character";
            assert_eq!(answer["errors"][0]["message"], message, "{name:?}");
            return;
        }
        let payload = answer["data"]["serviceCreate"].take();
        let name = text::trim(&name);
        if name.is_empty() || name.contains(text::is_control) {
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

#[tokio::test]
async fn any_json_is_recorded_as_a_deploy_or_refused_in_the_documented_format() {
    let endpoint = Endpoint::start().await;
    let check = async |body: String| {
        let answer = endpoint.post(&body).await;
        let said = answer.json();
        if answer.status == 202 {
            let result = said["result"].as_str().expect("a result");
            assert!(["ok", "no_service_found", "duplicate_deploy"].contains(&result), "{body}: {said}");
            assert_eq!(said["message"].is_string(), result != "ok", "{body}: {said}");
            return;
        }
        assert_eq!(answer.status, 400, "{body}: {said}");
        let errors = said["errors"].as_array().expect("errors");
        assert!(!errors.is_empty() && said.as_object().is_some_and(|said| said.len() == 1), "{body}: {said}");
        for error in errors {
            // Some say what to set.
            let members = 3 + usize::from(error["hint"].is_string());
            assert_eq!(
                (error.as_object().map(|error| error.len()), &error["status"]),
                (Some(members), &json!(400)),
                "{said}"
            );
            assert!(error["title"].as_str().is_some_and(|title| title.ends_with(" Error")), "{said}");
            assert!(error["detail"].is_string(), "{said}");
        }
    };
    holds(json_values(), async |value| check(value.to_string()).await).await;
    // Few of those are nearly valid, so change a single part of a valid record.
    let changed = (attributes(), json_values()).prop_map(|(name, value)| record(json!({ name: value })));
    holds(changed, async |value| check(value.to_string()).await).await;
}
