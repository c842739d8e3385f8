//! Events: what is sent to whom, in which order, and what happens when a receiver fails.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rollcall::api_document::hosts::Hosts;
use rollcall::db::{Read as _, Write as _};
use rollcall::entity::event_delivery::{self, MOST_WAITING};
use rollcall::entity::event_subscription::{MOST, NAMED};
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, audit, event, event_receiver};
use rollcall::events::Wanted;
use rollcall::events::deliver::{self, Sender};
use sea_orm::sea_query::Expr;
use sea_orm::{EntityTrait, QueryFilter};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::task::JoinHandle;

use crate::harness::app::{TestApp, data, soon};
use crate::harness::browser::Browser;
use crate::harness::database::is_postgres;
use crate::harness::receiver::{CREATE, Got, Receiver, Reply, TAKEN, changed, input, subscribed};
use crate::harness::webhook::Endpoint;

/// A service whose events may go to these receivers, and are sent.
async fn started(receivers: &[&Receiver]) -> (TestApp, JoinHandle<()>) {
    let hosts: Vec<String> = receivers.iter().map(|receiver| receiver.host()).collect();
    let app = TestApp::with(&["--send-events-to", &hosts.join(","), "--token-limit", "0", "--ip-limit", "0"]).await;
    let sending = tokio::spawn(app.events.clone().run());
    (app, sending)
}

/// The mistakes of a subscription that is refused: message and path.
async fn mistakes(app: &TestApp, input: Value) -> Value {
    app.query(CREATE, json!({ "input": input })).await["data"]["eventSubscriptionCreate"]["errors"].clone()
}

async fn service(app: &TestApp, name: &str) {
    let made = app
        .query(
            "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }",
            json!({ "name": name }),
        )
        .await;
    assert_eq!(made["data"]["serviceCreate"]["errors"], json!([]));
}

async fn noted(app: &TestApp, alias: &str, note: &str) {
    let query = "mutation($alias: String!, $note: String!) {
        serviceUpdate(input: { alias: $alias, description: $note }) { errors { message } }
    }";
    let done = app.query(query, json!({ "alias": alias, "note": note })).await;
    assert_eq!(done["data"]["serviceUpdate"]["errors"], json!([]));
}

#[tokio::test]
async fn a_change_is_told_once_to_whom_it_concerns() {
    let receiver = Receiver::taking();
    let (app, _sending) = started(&[&receiver]).await;
    let made = data(
        &app,
        r#"mutation {
            own: teamCreate(input: { name: "Own" }) { team { id } }
            other: teamCreate(input: { name: "Other" }) { team { id } }
            tier: tierCreate(input: { name: "One", index: 1 }) { tier { id } }
        }"#,
    )
    .await;
    let own = &made["own"]["team"]["id"];
    let cases = [
        // A subscription, a change, and what it is told: types and names.
        (
            json!({ "events": ["service_created"] }),
            r#"serviceCreate(input: { name: "A" })"#,
            vec![("service.created", "A")],
        ),
        (json!({ "events": ["service_created"] }), r#"serviceUpdate(input: { alias: "a", language: "Go" })"#, vec![]),
        (
            json!({ "events": ["object_changed", "service_changed"] }),
            r#"serviceUpdate(input: { alias: "a", language: "Rust" })"#,
            vec![("service.changed", "a")],
        ),
        (
            json!({ "events": ["service_changed", "service_owner_changed"] }),
            r#"serviceUpdate(input: { alias: "a", ownerInput: { alias: "own" } })"#,
            vec![("service.owner_changed", "a")],
        ),
        (
            json!({ "events": ["service_changed"] }),
            r#"serviceUpdate(input: { alias: "a", ownerInput: { alias: "other" } })"#,
            vec![("service.changed", "a")],
        ),
        // It has left the team, which is told.
        (
            json!({ "events": ["service_owner_changed"], "teamIds": [own] }),
            r#"serviceUpdate(input: { alias: "a", ownerInput: { alias: "own" } })"#,
            vec![("service.owner_changed", "a")],
        ),
        (
            json!({ "events": ["service_owner_changed"], "teamIds": [own] }),
            r#"serviceUpdate(input: { alias: "a", ownerInput: { alias: "other" } })"#,
            vec![("service.owner_changed", "a")],
        ),
        (
            json!({ "events": ["service_changed"], "teamIds": [own] }),
            r#"serviceUpdate(input: { alias: "a", language: "C" })"#,
            vec![],
        ),
        (
            json!({ "events": ["service_changed"], "tierAliases": ["one"] }),
            r#"serviceUpdate(input: { alias: "a", language: "D" })"#,
            vec![],
        ),
        (
            json!({ "events": ["service_changed"], "tierAliases": ["one"] }),
            r#"serviceUpdate(input: { alias: "a", tierAlias: "one" })"#,
            vec![("service.changed", "a")],
        ),
        // What belongs to a service is of its tier.
        (
            json!({ "tierAliases": ["one"] }),
            r#"tagCreate(input: { alias: "a", key: "k", value: "v" })"#,
            vec![("object.changed", "a")],
        ),
        (json!({ "enabled": false }), r#"serviceUpdate(input: { alias: "a", language: "E" })"#, vec![]),
        (
            json!({ "events": ["team_changed"], "teamIds": [own] }),
            r#"teamUpdate(input: { alias: "own", name: "Ours" })"#,
            vec![("team.changed", "ours")],
        ),
        (
            json!({ "events": ["team_changed"], "teamIds": [own] }),
            r#"teamUpdate(input: { alias: "other", name: "Theirs" })"#,
            vec![],
        ),
        (json!({ "events": ["team_created"] }), r#"teamCreate(input: { name: "New" })"#, vec![("team.created", "New")]),
        (
            json!({ "events": ["team_deleted"] }),
            r#"teamDelete(input: { alias: "new" })"#,
            vec![("team.deleted", "new")],
        ),
        (
            json!({ "events": ["user_deleted"] }),
            r#"userInvite(email: "ada@example.com", input: { name: "Ada" })"#,
            vec![],
        ),
        (
            json!({ "events": ["user_deleted"] }),
            r#"userDelete(user: { email: "ada@example.com" })"#,
            vec![("user.deleted", "ada@example.com")],
        ),
        (
            json!({ "events": ["service_deleted"] }),
            r#"serviceDelete(input: { alias: "a" })"#,
            vec![("service.deleted", "a")],
        ),
    ];
    for (more, change, told) in cases {
        receiver.clear();
        let (id, _) = subscribed(&app, &receiver.url(), more.clone()).await;
        changed(&app, change).await;
        let got = receiver.exactly(told.len()).await;
        let got: Vec<(String, String)> = got.iter().map(Got::about).collect();
        let name = |name: &str| name.to_lowercase();
        let shown: Vec<(&str, String)> = got.iter().map(|(kind, about)| (&**kind, name(about))).collect();
        let told: Vec<(&str, String)> = told.into_iter().map(|(kind, about)| (kind, name(about))).collect();
        assert_eq!(shown, told, "{more} {change}");
        changed(&app, &format!(r#"eventSubscriptionDelete(input: {{ id: "{id}" }})"#)).await;
    }
    // Nobody wants anything any more, so nothing is kept.
    soon("events are forgotten", async {
        while app.db.read().count(event::Entity::find()).await.expect("a count") > 0 {
            app.db.write(event::sweep).await.expect("swept");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn messages_are_signed_and_a_rotated_secret_overlaps() {
    let receiver = Receiver::taking();
    let (app, _sending) = started(&[&receiver]).await;
    let (id, first) = subscribed(&app, &receiver.url(), json!({ "events": ["service_created"] })).await;
    service(&app, "Cart").await;
    let rotate = format!(r#"mutation {{ eventSubscriptionSecretRotate(input: {{ id: "{id}" }}) {{ secret }} }}"#);
    receiver.exactly(1).await;
    let second = data(&app, &rotate).await["eventSubscriptionSecretRotate"]["secret"].clone();
    let second = second.as_str().expect("a secret");
    assert_ne!(first, second);
    service(&app, "Mail").await;
    let got = receiver.exactly(2).await;
    let verified = |got: &Got, secret: &str| {
        let mut headers = hyper::HeaderMap::new();
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            headers.insert(name, got.headers[name].parse().expect("a header"));
        }
        Webhook::new(secret).expect("a secret").verify(got.text.as_bytes(), &headers).is_ok()
    };
    let expected = [(true, false), (true, true)];
    let is_signed: Vec<(bool, bool)> = got.iter().map(|got| (verified(got, &first), verified(got, second))).collect();
    assert_eq!(is_signed, expected);
    assert_eq!(got[0].headers["content-type"], "application/json");
    let body = got[0].body();
    assert_eq!(body["data"]["by"], json!({ "kind": "token", "name": "a test" }));
    assert_eq!(body["data"]["subject"]["alias"], "cart");
    // Neither the URL nor a secret is in the audit.
    let entries = app.db.read().all(audit::Entity::find()).await.expect("entries");
    let told: String = entries.iter().map(|entry| &*entry.detail).collect();
    assert!(told.contains("(secret)") && !told.contains("hook/secret") && !told.contains("whsec_"), "{told}");
}

#[tokio::test]
async fn each_form_is_what_its_receiver_takes() {
    let receiver = Receiver::taking();
    let (app, _sending) = started(&[&receiver]).await;
    let bodies = async |form: &str| {
        receiver.clear();
        let more = json!({ "events": ["service_created"], "form": form });
        let (id, _) = subscribed(&app, &receiver.url(), more).await;
        service(&app, form).await;
        let got = receiver.exactly(1).await.remove(0);
        changed(&app, &format!(r#"eventSubscriptionDelete(input: {{ id: "{id}" }})"#)).await;
        (got.headers["content-type"].clone(), got.body())
    };
    let (kind, event) = bodies("cloud_event").await;
    assert_eq!(kind, "application/cloudevents+json");
    let required = ["specversion", "id", "source", "type"].map(|name| event[name].is_string());
    assert_eq!((required, &event["specversion"]), ([true; 4], &json!("1.0")));
    assert_eq!(
        (&event["type"], &event["subject"]),
        (&json!("rollcall.service.created"), &json!("Service/cloud_event"))
    );
    let (_, slack) = bodies("slack").await;
    let text = slack["text"].as_str().expect("a text");
    assert!(
        text.starts_with("The service <http://")
            && text.contains("/services/slack|slack> was created by a test. (20")
            && text.ends_with(" UTC)"),
        "{text}"
    );
    let (_, mattermost) = bodies("mattermost").await;
    let text = mattermost["text"].as_str().expect("a text");
    assert!(text.starts_with("The service [mattermost](http://"), "{text}");
    let (_, teams) = bodies("microsoft_teams").await;
    let card = &teams["attachments"][0];
    assert_eq!(card["contentType"], "application/vnd.microsoft.card.adaptive");
    assert!(card["content"]["body"][0]["text"].as_str().expect("a text").contains("was created by a test"));
}

#[tokio::test]
async fn each_form_for_people_tells_from_what_to_what_by_whom_and_when() {
    let receiver = Receiver::taking();
    let (app, _sending) = started(&[&receiver]).await;
    for name in ["Orders", "Payments"] {
        changed(&app, &format!("teamCreate(input: {{ name: \"{name}\" }})")).await;
    }
    changed(&app, r#"serviceCreate(input: { name: "Cart", ownerInput: { alias: "orders" }, language: "Go" })"#).await;
    let page = format!("http://{}/services/cart", app.address);
    let (mut owners, mut languages) = (["payments", "orders"].iter().cycle(), ["Rust", "Go"].iter().cycle());
    for (form, link) in [
        ("slack", format!("<{page}|Cart>")),
        ("mattermost", format!("[Cart]({page})")),
        ("microsoft_teams", format!("[Cart]({page})")),
    ] {
        receiver.clear();
        let more = json!({ "events": ["service_changed", "service_owner_changed"], "form": form });
        let (id, _) = subscribed(&app, &receiver.url(), more).await;
        let (owner, language) = (owners.next().expect("an owner"), languages.next().expect("a language"));
        let both = format!(r#"{{ alias: "cart", ownerInput: {{ alias: "{owner}" }}, language: "{language}" }}"#);
        changed(&app, &format!("serviceUpdate(input: {both})")).await;
        let note = r#"serviceUpdate(input: { alias: "cart", description: "d", product: "p" })"#;
        changed(&app, note).await;
        let got = receiver.exactly(2).await;
        let texts: Vec<String> = got
            .iter()
            .map(|got| {
                let body = got.body();
                let card = &body["attachments"][0]["content"]["body"][0]["text"];
                body["text"].as_str().or(card.as_str()).expect("a text").to_owned()
            })
            .collect();
        let (old, before) = (owners.clone().next().expect("an owner"), languages.clone().next().expect("a language"));
        let moved = format!(
            "The service {link} now belongs to {owner}, and no longer to {old}; changed by a test; language: {before} \
             \u{2192} {language}. (20"
        );
        assert!(texts[0].starts_with(&moved), "{form}: {texts:?}");
        let noted = format!(
            "The service {link} was changed by a test: description: nothing \u{2192} d; product: nothing \u{2192} p. (20"
        );
        assert!(texts[1].starts_with(&noted), "{form}: {texts:?}");
        assert!(texts.iter().all(|text| text.ends_with(" UTC)")), "{form}: {texts:?}");
        changed(&app, &format!(r#"eventSubscriptionDelete(input: {{ id: "{id}" }})"#)).await;
        changed(&app, r#"serviceUpdate(input: { alias: "cart", description: null, product: null })"#).await;
    }
}

#[tokio::test]
async fn a_subscription_tells_nothing_that_was_before_it() {
    let (first, second) = (Receiver::taking(), Receiver::taking());
    let hosts = [first.host(), second.host()].join(",");
    let app = TestApp::with(&["--send-events-to", &hosts]).await;
    subscribed(&app, &first.url(), json!({ "events": ["service_created"] })).await;
    service(&app, "Cart").await;
    subscribed(&app, &second.url(), json!({ "events": ["service_created"] })).await;
    service(&app, "Orders").await;
    let _sending = tokio::spawn(app.events.clone().run());
    first.exactly(2).await;
    assert_eq!(second.exactly(1).await[0].about().1, "Orders");
}

#[tokio::test]
async fn deploys_are_told_by_how_they_went() {
    let receiver = Receiver::taking();
    let hosts = receiver.host();
    let endpoint = Endpoint::with(&["--send-events-to", &hosts]).await;
    let app = &endpoint.app;
    let _sending = tokio::spawn(app.events.clone().run());
    let all = json!({ "events": ["deploy_recorded", "deploy_failed", "deploy_recovered"] });
    subscribed(app, &receiver.url(), all).await;
    let only = json!({ "name": "Staging", "events": ["deploy_failed"], "environments": ["STAGING"] });
    subscribed(app, &receiver.url(), only).await;
    let (mut minute, mut expected) = (0, 0);
    // Status, environment, what is told.
    for (status, environment, told) in [
        ("succeeded", "production", vec!["deploy.recorded"]),
        ("failed", "production", vec!["deploy.failed"]),
        ("succeeded", "staging", vec!["deploy.recorded"]),
        ("running", "production", vec!["deploy.recorded"]),
        ("succeeded", "production", vec!["deploy.recovered"]),
        ("succeeded", "production", vec!["deploy.recorded"]),
        ("failed", "staging", vec!["deploy.failed", "deploy.failed"]),
    ] {
        let at = format!("2026-11-21 01:{minute:02}:00");
        minute += 1;
        let post = json!({ "status": status, "environment": environment, "deployed_at": at });
        assert_eq!(endpoint.post_with(post).await.status, 202);
        expected += told.len();
        let got = receiver.exactly(expected).await;
        let kinds: Vec<String> = got[expected - told.len()..].iter().map(|got| got.about().0).collect();
        assert_eq!(kinds, told, "{status} {environment}");
    }
    let last = receiver.got().pop().expect("a message").body();
    assert_eq!(last["data"]["deploy"]["environment"], "staging");
    // A duplicate is no deploy, and an unknown alias is a suggestion.
    subscribed(app, &receiver.url(), json!({ "name": "New", "events": ["suggestion_created"] })).await;
    for _ in 0..2 {
        endpoint.post_with(json!({ "service": "unknown", "dedup_id": "1" })).await;
    }
    endpoint.post_with(json!({ "service": "unknown", "dedup_id": "2" })).await;
    let got = receiver.exactly(expected + 3).await;
    let kinds: BTreeSet<(String, String)> = got[expected..].iter().map(Got::about).collect();
    let expected = [("deploy.recorded", "unknown"), ("suggestion.created", "unknown")];
    assert_eq!(kinds, expected.map(|(kind, name)| (kind.to_owned(), name.to_owned())).into());
}

#[tokio::test]
async fn what_is_rolled_back_or_refused_is_not_told() {
    let receiver = Receiver::taking();
    let (app, _sending) = started(&[&receiver]).await;
    let all = json!({ "events": ["object_changed"] });
    subscribed(&app, &receiver.url(), all).await;
    receiver.exactly(0).await;
    let refused = app
        .query(r#"mutation { serviceCreate(input: { name: "Cart", ownerInput: { alias: "nobody" } }) { errors { message } } }"#, json!({}))
        .await;
    assert_ne!(refused["data"]["serviceCreate"]["errors"], json!([]));
    let dry = r#"mutation { serviceFilesApply(input: { dryRun: true, files: { path: "a.yml", text: "version: 1\nservice:\n  name: Mail\n" } }) { errors { message } } }"#;
    data(&app, dry).await;
    receiver.exactly(0).await;
    data(&app, &dry.replace("dryRun: true, ", "")).await;
    let got = receiver.exactly(1).await;
    assert_eq!(got[0].about(), ("object.changed".to_owned(), "Mail".to_owned()));
    assert_eq!(got[0].body()["data"]["what"], "created");
}

#[tokio::test]
async fn a_receiver_that_fails_gets_everything_in_order() {
    let attempts = Mutex::new(0);
    let receiver = Receiver::that(move |_| {
        let mut attempts = attempts.lock().expect("whole");
        *attempts += 1;
        match *attempts {
            1 | 4 => Reply("503 Busy\r\nretry-after: 0", 0, Duration::ZERO),
            2 | 9 => Reply("500 Oops", 20, Duration::ZERO),
            _ => TAKEN,
        }
    });
    let (app, _sending) = started(&[&receiver]).await;
    service(&app, "Cart").await;
    service(&app, "Mail").await;
    subscribed(&app, &receiver.url(), json!({ "events": ["service_changed"] })).await;
    for number in 0..20 {
        noted(&app, if number % 2 == 0 { "cart" } else { "mail" }, &number.to_string()).await;
    }
    soon("everything is delivered", async {
        let waiting = event_delivery::Entity::find();
        loop {
            let all = app.db.read().all(waiting.clone()).await.expect("deliveries");
            if all.len() == 20 && all.iter().all(|one| one.state == event_delivery::State::Delivered) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    // The last time that each message came.
    let mut last: Vec<(String, String, i64)> = Vec::new();
    for got in receiver.got() {
        let body = got.body();
        let number =
            body["data"]["changed"]["description"]["new"].as_str().expect("a number").parse().expect("a number");
        last.retain(|(id, ..)| id != got.id());
        last.push((got.id().to_owned(), got.about().1, number));
    }
    assert_eq!(last.len(), 20);
    for name in ["cart", "mail"] {
        let own: Vec<i64> = last
            .iter()
            .filter(|(_, subject, _)| subject.eq_ignore_ascii_case(name))
            .map(|(.., number)| *number)
            .collect();
        assert!(own.len() == 10 && own.is_sorted(), "{name}: {own:?}");
    }
}

#[tokio::test]
async fn a_refused_message_holds_back_its_own_subject_alone_and_is_given_up() {
    let receiver = Receiver::that(|got| {
        if got.about().1.eq_ignore_ascii_case("bad") { Reply("400 No", 3, Duration::ZERO) } else { TAKEN }
    });
    let (app, _sending) = started(&[&receiver]).await;
    let (id, _) = subscribed(&app, &receiver.url(), json!({ "events": ["service_created", "service_changed"] })).await;
    service(&app, "Bad").await;
    noted(&app, "bad", "later").await;
    service(&app, "Good").await;
    let has = |kind: &str, name: &str| {
        receiver.got().iter().any(|got| got.about().0 == kind && got.about().1.eq_ignore_ascii_case(name))
    };
    soon("others get theirs", async {
        while !has("service.created", "good") || !has("service.created", "bad") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(!has("service.changed", "bad"), "it came before the one that waits");
    let shown = format!(
        r#"{{ account {{ eventSubscription(id: "{id}") {{
        receiver {{ host error waitingCount missedCount }}
        deliveries {{ nodes {{ state attempts status error createdAt endedAt message {{ id type about }} }} totalCount }}
    }} }} }}"#
    );
    // Three days later.
    let past = Timestamp::from_micros(Timestamp::now().as_micros() - 4 * 86_400_000_000);
    let old = event_delivery::Entity::update_many()
        .col_expr(event_delivery::Column::CreatedAt, Expr::value(past))
        .col_expr(event_delivery::Column::NextAt, Expr::value(past))
        .filter(sea_orm::ColumnTrait::is_not_null(&event_delivery::Column::NextAt));
    app.db.write(async |tx| tx.exec(old).await).await.expect("old");
    let ended = soon("they are given up", async {
        loop {
            let own = data(&app, &shown).await["account"]["eventSubscription"].clone();
            let nodes = own["deliveries"]["nodes"].as_array().expect("deliveries").clone();
            if nodes.iter().filter(|one| one["state"] == "failed").count() == 2 {
                return own;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let failed =
        ended["deliveries"]["nodes"].as_array().expect("deliveries").iter().find(|one| one["state"] == "failed");
    let failed = failed.expect("a delivery");
    assert!(failed["createdAt"].is_string() && failed["endedAt"].is_string(), "{failed}");
    assert_eq!((&failed["status"], &failed["error"]), (&json!(400), &json!("the receiver answered 400: xxx")));
    assert_eq!((&ended["receiver"]["host"], &ended["receiver"]["waitingCount"]), (&json!(receiver.host()), &json!(0)));
    let before = receiver.got().len();
    let again = data(
        &app,
        &format!(r#"mutation {{ eventDeliveriesResend(input: {{ id: "{id}" }}) {{ resent errors {{ message }} }} }}"#),
    )
    .await;
    assert_eq!(again["eventDeliveriesResend"], json!({ "resent": 2, "errors": [] }));
    soon("it is sent again", async {
        while receiver.got().len() == before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn messages_about_different_things_are_sent_a_few_at_a_time() {
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = (Arc::clone(&inside), Arc::clone(&most));
    let receiver = Receiver::that(move |_| {
        let (inside, most) = &counted;
        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(50));
        inside.fetch_sub(1, Ordering::SeqCst);
        TAKEN
    });
    let (app, _sending) = started(&[&receiver]).await;
    subscribed(&app, &receiver.url(), json!({ "events": ["service_created"] })).await;
    for number in 0..40 {
        service(&app, &format!("S{number}")).await;
    }
    receiver.exactly(40).await;
    assert_eq!(most.load(Ordering::SeqCst), deliver::AT_ONCE);
}

#[tokio::test]
async fn hostile_receivers_hold_up_neither_changes_nor_other_receivers() {
    let redirecting = Receiver::that(|_| Reply("307 Elsewhere\r\nlocation: http://127.0.0.1:1/", 0, Duration::ZERO));
    let long = Receiver::that(|_| Reply("200 OK", 10 << 20, Duration::ZERO));
    let hanging = Receiver::that(|_| Reply("200 OK", 0, Duration::from_secs(3_600)));
    let good = Receiver::taking();
    let (app, _sending) = started(&[&redirecting, &long, &hanging, &good]).await;
    for receiver in [&redirecting, &long, &hanging, &good] {
        subscribed(&app, &receiver.url(), json!({ "events": ["service_created"] })).await;
    }
    for number in 0..10 {
        service(&app, &format!("S{number}")).await;
    }
    good.exactly(10).await;
    soon("a long answer is a taken message", async {
        while long.got().len() < 10 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(hanging.got().len() <= deliver::AT_ONCE, "a few at a time");
    let shown = "{ account { eventSubscriptions { nodes { receiver { host error retryAt deliveredAt } } } } }";
    soon("the failures are shown", async {
        loop {
            let own = data(&app, shown).await["account"]["eventSubscriptions"]["nodes"].clone();
            let of = |receiver: &Receiver| {
                let own = own.as_array().expect("nodes").iter().find(|one| one["receiver"]["host"] == receiver.host());
                own.expect("a subscription")["receiver"].clone()
            };
            let error = |receiver: &Receiver| of(receiver)["error"].clone();
            if error(&redirecting) == "the receiver answered 307; redirects are not followed"
                && error(&hanging) == "no response within 10 s"
                && error(&long).is_null()
                && of(&hanging)["retryAt"].is_string()
                && of(&good)["deliveredAt"].is_string()
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_subscription_is_checked_and_changed_only_by_whose_it_is() {
    let app = TestApp::with(&["--send-events-to", "chat.internal"]).await;
    let public = "https://hooks.example.com/a";
    for (more, path) in [
        (json!({ "name": " " }), "name"),
        (json!({ "receiverUrl": "http://hooks.example.com/a" }), "receiverUrl"),
        (json!({ "receiverUrl": "https://169.254.169.254/" }), "receiverUrl"),
        (json!({ "receiverUrl": "https://localhost/" }), "receiverUrl"),
        (json!({ "receiverUrl": format!("https://hooks.example.com/{}", "a".repeat(2_000)) }), "receiverUrl"),
        (json!({ "events": [] }), "events"),
        (json!({ "teamIds": ["nobody"] }), "teamIds"),
        (json!({ "serviceIds": ["nobody"] }), "serviceIds"),
        (json!({ "tierAliases": ["tier_1", "nobody"] }), "tierAliases"),
        (json!({ "environments": ["production", "e".repeat(256)] }), "environments"),
        (json!({ "environments": [" "] }), "environments"),
        (json!({ "teamIds": vec!["x"; NAMED + 1] }), "teamIds"),
        (json!({ "serviceIds": vec!["x"; NAMED + 1] }), "serviceIds"),
        (json!({ "tierAliases": vec!["tier_1"; NAMED + 1] }), "tierAliases"),
        (json!({ "environments": vec!["test"; NAMED + 1] }), "environments"),
    ] {
        let mistakes = mistakes(&app, input(public, more.clone())).await;
        assert_eq!(mistakes[0]["path"][0], path, "{more}: {mistakes}");
    }
    let (all, _) = subscribed(&app, "http://chat.internal/hooks/a", json!({})).await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = data(
        &app,
        r#"mutation {
            own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { team { id } errors { message } }
            other: teamCreate(input: { name: "Other" }) { team { id } }
        }"#,
    )
    .await;
    assert_eq!(made["own"]["errors"], json!([]), "{made}");
    let by_member = async |more: Value| {
        let made =
            member.query(CREATE, json!({ "input": input(public, more) })).await["data"]["eventSubscriptionCreate"]
                .clone();
        (made["errors"] == json!([]), made["eventSubscription"]["id"].clone())
    };
    assert!(!by_member(json!({})).await.0, "of everything");
    let (own_team, other) = (&made["own"]["team"]["id"], &made["other"]["team"]["id"]);
    assert!(!by_member(json!({ "teamIds": [other] })).await.0, "of another team");
    assert!(!by_member(json!({ "teamIds": [own_team, other] })).await.0, "of several teams");
    let (is_made, own) = by_member(json!({ "teamIds": [own_team, own_team] })).await;
    assert!(is_made, "of the own team");
    for (id, is_own) in [(json!(all), false), (own, true)] {
        for mutation in [
            "eventSubscriptionTest",
            "eventSubscriptionSecretRotate",
            "eventDeliveriesResend",
            "eventSubscriptionDelete",
        ] {
            let query =
                format!("mutation($id: ID!) {{ done: {mutation}(input: {{ id: $id }}) {{ errors {{ message }} }} }}");
            let errors = member.query(&query, json!({ "id": id })).await["data"]["done"]["errors"].clone();
            assert_eq!(errors == json!([]), is_own, "{mutation} {errors}");
        }
    }
    for number in 1..MOST {
        subscribed(&app, public, json!({ "name": number.to_string() })).await;
    }
    let one_more = mistakes(&app, input(public, json!({}))).await;
    assert_eq!(one_more[0]["message"], format!("no subscription can be added: there are at most {MOST}"));
}

#[tokio::test]
async fn each_name_that_is_not_known_has_its_error_in_the_order_of_the_lists() {
    let app = TestApp::start().await;
    let public = "https://hooks.example.com/a";
    let made = data(&app, r#"mutation { own: teamCreate(input: { name: "Own" }) { team { id } } }"#).await;
    let team = &made["own"]["team"]["id"];
    let (all, _) = subscribed(&app, public, json!({})).await;
    let unknown = [
        ("teamIds", json!("nobody"), "\"nobody\""),
        ("teamIds", json!(all), "EventSubscription"),
        ("teamIds", json!(" no one "), "\"no one\""),
        ("serviceIds", team.clone(), "Team"),
        ("serviceIds", json!("nothing"), "\"nothing\""),
        ("tierAliases", json!("tier_9"), "\"tier_9\""),
        ("tierAliases", team.clone(), "Team"),
    ];
    // Between some that are known.
    let mut lists = json!({ "teamIds": ["own", team], "serviceIds": [], "tierAliases": ["tier_1"] });
    let mut expected = Vec::new();
    for (list, name, said) in unknown {
        let alone = mistakes(&app, input(public, json!({ (list): [name] }))).await;
        assert_eq!(alone[0]["path"], json!([list]), "{alone}");
        assert!(alone[0]["message"].as_str().is_some_and(|message| message.contains(said)), "{said}: {alone}");
        expected.push(alone[0].clone());
        lists[list].as_array_mut().expect("a list").push(name);
    }
    lists["teamIds"].as_array_mut().expect("a list").push(json!("own"));
    assert_eq!(mistakes(&app, input(public, lists)).await, json!(expected));
}

#[tokio::test]
async fn a_subscription_reads_back_as_it_was_set() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
            team: teamCreate(input: { name: "Own" }) { team { id } }
            other: teamCreate(input: { name: "Other" }) { team { id } }
            tier: tierCreate(input: { name: "One", index: 1 }) { tier { id } }
            service: serviceCreate(input: { name: "Cart" }) { service { id } }
        }"#,
    )
    .await;
    const SHOWN: &str =
        "id name form events enabled environments htmlUrl teams { alias } services { alias } tiers { alias }
        deleted { teamCount serviceCount tierCount } receiver { host }";
    let none_deleted = json!({ "teamCount": 0, "serviceCount": 0, "tierCount": 0 });
    let (id, _) =
        subscribed(&app, " https://hooks.example.com:8443/a ", json!({ "events": ["team_created", "team_created"] }))
            .await;
    let read = format!(r#"{{ account {{ eventSubscription(id: "{id}") {{ {SHOWN} }} }} }}"#);
    let own = data(&app, &read).await["account"]["eventSubscription"].clone();
    let url = own["htmlUrl"].as_str().expect("a URL");
    assert!(url.ends_with(&format!("/events/{id}")), "{url}");
    let plain = json!({
        "id": id, "name": "All", "form": "standard_webhook", "events": ["team_created"], "enabled": true, "environments": [],
        "htmlUrl": url, "teams": [], "services": [], "tiers": [], "deleted": none_deleted,
        "receiver": { "host": "hooks.example.com:8443" },
    });
    assert_eq!(own, plain);
    let update = format!(
        "mutation($input: EventSubscriptionUpdateInput!) {{ eventSubscriptionUpdate(input: $input) {{
            eventSubscription {{ {SHOWN} }} errors {{ message path }}
        }} }}"
    );
    let updated = async |more: Value| {
        let mut input = json!({ "id": id });
        input.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        app.query(&update, json!({ "input": input })).await["data"]["eventSubscriptionUpdate"].clone()
    };
    let all = json!({
        "name": "Some", "form": "slack", "events": ["deploy_failed", "object_changed"], "enabled": false,
        "environments": ["Staging", " Test ", "STAGING"], "teamIds": [made["team"]["team"]["id"], made["other"]["team"]["id"]],
        "serviceIds": [made["service"]["service"]["id"], "cart"], "tierAliases": ["tier_1", "one", "tier_1"],
        "receiverUrl": "https://chat.example.com/b",
    });
    let changed = updated(all).await;
    assert_eq!(changed["errors"], json!([]));
    let expected = json!({
        "id": id, "name": "Some", "form": "slack", "events": ["deploy_failed", "object_changed"], "enabled": false,
        "environments": ["Staging", "Test"], "htmlUrl": url, "teams": [{ "alias": "own" }, { "alias": "other" }],
        "services": [{ "alias": "cart" }], "tiers": [{ "alias": "tier_1" }, { "alias": "one" }], "deleted": none_deleted,
        "receiver": { "host": "chat.example.com" },
    });
    assert_eq!(changed["eventSubscription"], expected);
    // Absent leaves as it is, null or an empty list is all.
    assert_eq!(updated(json!({})).await["eventSubscription"], expected);
    let none = json!({ "teamIds": null, "serviceIds": [], "tierAliases": null, "environments": [] });
    let mut cleared = expected.clone();
    for field in ["teams", "services", "tiers", "environments"] {
        cleared[field] = json!([]);
    }
    assert_eq!(updated(none).await["eventSubscription"], cleared);
    for field in ["name", "form", "events", "enabled", "receiverUrl"] {
        let refused = updated(json!({ field: null })).await;
        assert_eq!(refused["errors"][0]["path"], json!([field]), "{refused}");
    }
}

#[tokio::test]
async fn what_waits_for_a_receiver_is_bounded() {
    let app = TestApp::start().await;
    let (id, _) = subscribed(&app, "https://hooks.example.com/a", json!({ "events": ["service_created"] })).await;
    let shown =
        format!(r#"{{ account {{ eventSubscription(id: "{id}") {{ receiver {{ waitingCount missedCount }} }} }} }}"#);
    // As if very many waited, and none could be sent.
    let now = Timestamp::now();
    let far = Timestamp::from_micros(now.as_micros() + 3_600_000_000);
    let own = app.db.read().all(event_receiver::Entity::find()).await.expect("receivers");
    let subscription = own[0].subscription_id;
    app.db
        .write(async |tx| {
            let event = event::ActiveModel {
                at: sea_orm::Set(now),
                what: sea_orm::Set(event::What::Tested),
                subject_class: sea_orm::Set("Service".to_owned()),
                detail: sea_orm::Set("{}".to_owned()),
                ..Default::default()
            };
            let event = tx.insert(event).await?;
            let row = |_| event_delivery::ActiveModel {
                next_at: sea_orm::Set(Some(far)),
                ..rollcall::events::delivery(subscription, &event, event::Kind::Test, now)
            };
            for _ in 0..MOST_WAITING / 500 {
                tx.exec(event_delivery::Entity::insert_many((0..500).map(row))).await?;
            }
            Ok::<(), rollcall::db::Error>(())
        })
        .await
        .expect("deliveries");
    service(&app, "Cart").await;
    let _sending = tokio::spawn(app.events.clone().run());
    soon("the event is missed", async {
        loop {
            let receiver = data(&app, &shown).await["account"]["eventSubscription"]["receiver"].clone();
            if receiver == json!({ "waitingCount": MOST_WAITING, "missedCount": 1 }) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_token_that_expires_soon_is_told_once() {
    let receiver = Receiver::taking();
    let app = TestApp::with(&["--send-events-to", &receiver.host()]).await;
    const DAY: i64 = 86_400_000_000;
    for days in [-1, 6, 8] {
        app.new_token(Scope::Read, Some(days * DAY)).await;
    }
    subscribed(&app, &receiver.url(), json!({ "events": ["token_expiring"], "form": "slack" })).await;
    for _ in 0..2 {
        let sending = tokio::spawn(app.events.clone().run());
        let got = receiver.exactly(1).await;
        let text = got[0].body()["text"].as_str().expect("a text").to_owned();
        assert!(text.starts_with("The API token ") && text.contains(" expires on 20"), "{text}");
        sending.abort();
    }
}

#[tokio::test]
async fn what_a_newer_process_has_stored_is_left_to_it_and_holds_up_nothing() {
    let receiver = Receiver::taking();
    let app = TestApp::with(&["--send-events-to", &receiver.host()]).await;
    subscribed(&app, &receiver.url(), json!({ "events": ["service_created"] })).await;
    let (other, _) =
        subscribed(&app, &receiver.url(), json!({ "name": "Newer", "events": ["service_created"], "form": "slack" }))
            .await;
    // Words that this version does not have: a form, what has happened, the kind of a delivery, and the scope of a token.
    use rollcall::entity::{event_subscription, token};
    use sea_orm::ColumnTrait;
    app.new_token(Scope::Read, None).await;
    let day = 86_400_000_000;
    app.new_token(Scope::Write, Some(day)).await;
    let now = Timestamp::now();
    let stored = app.db.write(async |tx| {
        let form = event_subscription::Entity::update_many()
            .col_expr(event_subscription::Column::Form, Expr::value("pigeon"))
            .filter(event_subscription::Column::Name.eq("Newer"));
        tx.exec(form).await?;
        let receivers = tx.all(event_receiver::Entity::find()).await?;
        let own = receivers.iter().map(|one| one.subscription_id).min().expect("a receiver");
        let row = |name: &str| event::ActiveModel {
            at: sea_orm::Set(now),
            waits_since: sea_orm::Set(Some(now)),
            what: sea_orm::Set(event::What::Created),
            subject_class: sea_orm::Set("Service".to_owned()),
            subject_name: sea_orm::Set(Some(name.to_owned())),
            detail: sea_orm::Set("{}".to_owned()),
            ..Default::default()
        };
        let dreamt = tx.insert(row("Dreamt")).await?;
        let what = event::Entity::update_many().col_expr(event::Column::What, Expr::value("dreamt"));
        tx.exec(what.filter(event::Column::Id.eq(dreamt.id))).await?;
        let told = event::ActiveModel { waits_since: sea_orm::Set(None), ..row("Told") };
        let told = tx.insert(told).await?;
        let delivery = rollcall::events::delivery(own, &told, event::Kind::ServiceCreated, now);
        let delivery = tx.insert(delivery).await?;
        let kind = event_delivery::Entity::update_many().col_expr(event_delivery::Column::Kind, Expr::value("sung"));
        tx.exec(kind.filter(event_delivery::Column::Id.eq(delivery.id))).await?;
        let scope = token::Entity::update_many().col_expr(token::Column::Scope, Expr::value("fly"));
        tx.exec(scope.filter(token::Column::ExpiresAt.is_not_null())).await
    });
    assert_eq!(stored.await.expect("newer rows"), 1);
    let _sending = tokio::spawn(app.events.clone().run());
    service(&app, "Cart").await;
    let got = receiver.exactly(1).await;
    assert_eq!(got[0].about(), ("service.created".to_owned(), "Cart".to_owned()));
    let shown =
        "{ account { eventSubscriptions { nodes { name deliveries { nodes { message { about } } } } totalCount } } }";
    let expected = json!({ "totalCount": 1, "nodes": [
        { "name": "All", "deliveries": { "nodes": [{ "message": { "about": "Service Cart" } }] } }
    ] });
    assert_eq!(data(&app, shown).await["account"]["eventSubscriptions"], expected);
    let admin = Browser::of(&app, Role::Admin).await;
    for path in ["/events", "/tokens"] {
        let page = admin.page(path).await;
        assert!(!page.contains("pigeon") && !page.contains(&other), "{path}: {page}");
    }
    // It is all there for a process that knows these words.
    let waiting = event_delivery::Entity::find().filter(event_delivery::Column::NextAt.is_not_null());
    assert_eq!(app.db.read().count(waiting).await.expect("a count"), 1);
    let waiting = event::Entity::find().filter(event::Column::WaitsSince.is_not_null());
    assert_eq!(app.db.read().count(waiting).await.expect("a count"), 1);
}

#[tokio::test]
async fn two_processes_send_each_event_once() {
    if !is_postgres() {
        return crate::harness::say_aloud(
            "two processes that send events: left out, because an SQLite file has one server",
        );
    }
    let receiver = Receiver::that(|_| Reply("204 Taken", 0, Duration::from_millis(5)));
    let (app, _sending) = started(&[&receiver]).await;
    let hosts = Hosts::from(vec![receiver.host().parse().expect("a host")]);
    let other = Sender::new(app.db.clone(), Wanted::all(), &hosts, "http://other.example.com");
    let other = tokio::spawn(other.run());
    subscribed(&app, &receiver.url(), json!({ "events": ["service_created"] })).await;
    for number in 0..30 {
        service(&app, &format!("S{number}")).await;
    }
    let got = receiver.exactly(30).await;
    let ids: BTreeSet<&str> = got.iter().map(Got::id).collect();
    assert_eq!(ids.len(), 30);
    other.abort();
}

#[tokio::test]
async fn the_pages_make_test_and_delete_a_subscription() {
    let receiver = Receiver::taking();
    let (app, _sending) = started(&[&receiver]).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    assert!(admin.page("/events").await.contains("No subscriptions yet."));
    let form = [
        ("name", "Chat"),
        ("form", "slack"),
        ("receiverUrl", &*receiver.url()),
        ("events", "service_created"),
        ("events", "deploy_failed"),
        ("enabled", "on"),
    ];
    let page = admin.page("/new/event-subscription").await;
    assert!(page.contains("deploy failed"), "{page}");
    assert_eq!(page.matches("<div class=\"pair\">").count(), 4, "{page}");
    let refused =
        admin.post("/new/event-subscription", &[("name", "Chat"), ("form", "slack"), ("receiverUrl", "/a")]).await;
    let text = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(text.contains("URL must be a URL") && text.contains("at least one kind"), "{text}");
    let made = admin.post("/new/event-subscription", &form).await;
    let text = String::from_utf8_lossy(&made.body).into_owned();
    assert!(text.contains("Copy the secret now.") && text.contains("whsec_"), "{text}");
    let read = data(&app, "{ account { eventSubscriptions { nodes { id } } } }").await;
    let id = read["account"]["eventSubscriptions"]["nodes"][0]["id"].as_str().expect("an id");
    let own = format!("/events/{id}");
    let tested = admin.post(&format!("{own}/test"), &[]).await;
    assert_eq!((tested.location(), tested.header("location")), (&*own, Some(&*format!("{own}?done=tested"))));
    assert!(admin.page(&format!("{own}?done=tested")).await.contains("A test is being sent."));
    let got = receiver.exactly(1).await;
    let link = format!("<http://{}{own}|Chat>", app.address);
    let text = got[0].body()["text"].as_str().expect("a text").to_owned();
    assert!(text.starts_with(&format!("This is a test of the subscription {link}. (20")), "{text}");
    let page = admin.page(&own).await;
    assert!(
        page.contains("<code>subscription.tested</code>")
            && page.contains("test <span class=\"soft\">event subscription <bdi>Chat</bdi></span>")
            && page.contains("delivered")
            && !page.contains("hook/secret"),
        "{page}"
    );
    let refused = admin.post(&format!("{own}/edit"), &[("name", "Chat"), ("form", "slack")]).await;
    assert_eq!(refused.status, 422);
    for page in [admin.page(&format!("{own}/edit")).await, String::from_utf8_lossy(&refused.body).into_owned()] {
        assert!(page.contains("value=\"Chat\"") && page.contains("Empty: still at "), "{page}");
        assert!(page.contains("name=\"tierAliases\" value=\"tier_1\""), "{page}");
    }
    assert_eq!(admin.get("/events/none/edit").await.status, 404);
    let changed =
        [("name", "Talk"), ("form", "mattermost"), ("events", "service_deleted"), ("environments", "production")];
    assert_eq!(admin.post(&format!("{own}/edit"), &changed).await.status, 303);
    let page = admin.page(&own).await;
    assert!(page.contains("Talk") && page.contains("Mattermost") && page.contains(">off<"), "{page}");
    let rotated = admin.post(&format!("{own}/rotate"), &[]).await;
    assert!(String::from_utf8_lossy(&rotated.body).contains("whsec_"));
    assert_eq!(admin.post(&format!("{own}/delete"), &[]).await.status, 303);
    assert!(admin.page("/events").await.contains("No subscriptions yet."));
    assert_eq!(admin.get(&own).await.status, 404);
}

#[tokio::test]
async fn results_and_levels_that_change_are_told_but_not_what_follows_from_a_new_check() {
    let endpoint = crate::harness::checks::services().await;
    let app = &endpoint.app;
    let receiver = Receiver::taking();
    let hosts = Hosts::from(vec![receiver.host().parse().expect("a host")]);
    let sending = Sender::new(app.db.clone(), app.wanted.clone(), &hosts, "http://127.0.0.1:1").run();
    let sending = tokio::spawn(sending);
    let kinds = ["check_passed", "check_failed", "level_reached", "level_lost"];
    // This service allows no private hosts: the subscription is made for a public one, and then moved.
    let made = mistakes(app, input("https://hooks.example.com/a", json!({ "events": kinds }))).await;
    assert_eq!(made, json!([]));
    let moved =
        event_receiver::Entity::update_many().col_expr(event_receiver::Column::Url, Expr::value(receiver.url()));
    app.db.write(async |tx| tx.exec(moved).await).await.expect("changed");
    let settle =
        || async { rollcall::graphql::standards::check::history::settle(&app.db, &app.wanted).await.expect("settled") };
    crate::harness::checks::create(app, "TagDefined", json!({ "name": "Has an env", "tagKey": "env" })).await;
    settle().await;
    changed(app, r#"tagCreate(input: { alias: "bare", type: Service, key: "env", value: "prod" })"#).await;
    settle().await;
    changed(app, r#"tagAssign(input: { alias: "bare", type: Service, tags: [{ key: "env", value: "dev" }] })"#).await;
    settle().await;
    let got = receiver.exactly(2).await;
    let about: BTreeSet<(String, String)> = got.iter().map(Got::about).collect();
    let expected = [("check.passed", "Bare"), ("service.level_reached", "Bare")];
    assert_eq!(about, BTreeSet::from(expected.map(|(kind, name)| (kind.to_owned(), name.to_owned()))));
    let check = got.iter().map(Got::body).find(|body| body["type"] == "check.passed").expect("a message");
    assert_eq!(check["data"]["check"]["name"], "Has an env");
    assert_eq!(check["data"]["cause"], "tagCreate by a test");
    let level = got.iter().map(Got::body).find(|body| body["type"] == "service.level_reached").expect("a message");
    assert_eq!(level["data"]["level"], json!({ "old": "Beginner", "new": "Silver", "hasRisen": true }));
    sending.abort();
}
