//! Events as mail, and digests.

use std::time::Duration;

use rollcall::api_document::hosts::Hosts;
use rollcall::db::{Read as _, Write as _};
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, event, event_delivery, event_receiver, event_subscription};
use rollcall::events::deliver::Sender;
use rollcall::events::digest::{BODY, LINES, TEXT};
use rollcall::events::mail::{Mailer, sender};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::app::{TestApp, data, soon};
use crate::harness::browser::Browser;
use crate::harness::database::is_postgres;
use crate::harness::receiver::Receiver;
use crate::harness::smtp::{Answers, Mail, MailServer, TAKEN};

const FROM: &str = "Catalogue <rollcall@example.com>";

/// A service that sends mail by this server, and may post to any of these hosts.
async fn service(server: &str, hosts: &str) -> TestApp {
    let mail = ["--smtp-url", server, "--mail-from", FROM, "--send-events-to", hosts];
    TestApp::with(&[&mail[..], &["--token-limit", "0", "--ip-limit", "0"]].concat()).await
}

/// The same, which sends events.
async fn started(server: &MailServer) -> (TestApp, JoinHandle<()>) {
    let app = service(&server.url(), "chat.internal").await;
    let sending = tokio::spawn(app.events.clone().run());
    (app, sending)
}

const CREATE: &str = "mutation($input: EventSubscriptionCreateInput!) { eventSubscriptionCreate(input: $input) {
    eventSubscription { id } errors { message path }
} }";

const UPDATE: &str = "mutation($input: EventSubscriptionUpdateInput!) { eventSubscriptionUpdate(input: $input) {
    eventSubscription { form digest receiver { host email } } errors { message path }
} }";

fn input(base: Value, more: &Value) -> Value {
    let mut input = base;
    input.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
    input
}

fn mail(more: &Value) -> Value {
    let base =
        json!({ "name": "All", "form": "email", "receiverEmail": "ada@example.com", "events": ["service_created"] });
    input(base, more)
}

async fn subscribed(app: &TestApp, input: Value) -> String {
    let made = app.query(CREATE, json!({ "input": input })).await["data"]["eventSubscriptionCreate"].clone();
    assert_eq!(made["errors"], json!([]), "{input}");
    // It gets events from about a second after it was made.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    made["eventSubscription"]["id"].as_str().expect("an id").to_owned()
}

/// What is said of an input that is refused: the first path and message.
async fn refused(app: &TestApp, input: &Value) -> (String, String) {
    let made = app.query(CREATE, json!({ "input": input })).await["data"]["eventSubscriptionCreate"].clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&made["errors"][0]["path"][0]), text(&made["errors"][0]["message"]))
}

async fn updated(app: &TestApp, id: &str, more: Value) -> Value {
    let input = input(json!({ "id": id }), &more);
    app.query(UPDATE, json!({ "input": input })).await["data"]["eventSubscriptionUpdate"].clone()
}

async fn created(app: &TestApp, name: &str) {
    let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
    let made = app.query(create, json!({ "name": name })).await;
    assert_eq!(made["data"]["serviceCreate"]["errors"], json!([]));
}

async fn described(app: &TestApp, alias: &str, text: &str) {
    let update = "mutation($alias: String!, $text: String!) {
        serviceUpdate(input: { alias: $alias, description: $text }) { errors { message } }
    }";
    let done = app.query(update, json!({ "alias": alias, "text": text })).await;
    assert_eq!(done["data"]["serviceUpdate"]["errors"], json!([]));
}

/// What the API shows of a subscription.
async fn shown(app: &TestApp, id: &str) -> Value {
    let query = format!(
        r#"{{ account {{ eventSubscription(id: "{id}") {{ form digest
            receiver {{ host email error waitingCount }}
            deliveries {{ nodes {{ state attempts status error message {{ id type about }} }} }}
        }} }} }}"#
    );
    data(app, &query).await["account"]["eventSubscription"].clone()
}

/// Waits until a subscription is shown as `is` says.
async fn becomes(app: &TestApp, id: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    soon(what, async {
        loop {
            let shown = shown(app, id).await;
            if is(&shown) {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
}

fn states(shown: &Value) -> Vec<&str> {
    let nodes = shown["deliveries"]["nodes"].as_array().expect("deliveries");
    nodes.iter().map(|one| one["state"].as_str().expect("a state")).collect()
}

/// Lets the time of all digests come: as if they were made an hour ago.
async fn their_time_comes(app: &TestApp) {
    let past = Timestamp::from_micros(Timestamp::now().as_micros() - 3_600_000_000);
    let moved = event_delivery::Entity::update_many()
        .col_expr(event_delivery::Column::DigestAt, Expr::value(past))
        .col_expr(event_delivery::Column::NextAt, Expr::value(past))
        .filter(event_delivery::Column::NextAt.is_not_null())
        .filter(event_delivery::Column::DigestAt.is_not_null());
    app.db.write(async |tx| tx.exec(moved).await).await.expect("moved");
}

/// The lines of a digest that tell events, without their times.
fn lines(text: &str) -> Vec<&str> {
    let told = text.lines().filter_map(|line| line.strip_prefix("- "));
    told.map(|line| line.splitn(3, ' ').nth(2).expect("a sentence after the day and the time")).collect()
}

#[tokio::test]
async fn an_event_arrives_as_mail_with_the_same_id_after_a_temporary_error() {
    let server = MailServer::that(|_, before| if before == 0 { "451 4.3.0 not now" } else { TAKEN });
    let (app, _sending) = started(&server).await;
    let id = subscribed(&app, mail(&json!({ "name": "New ones" }))).await;
    created(&app, "Cart").await;
    let got = server.exactly(2).await;
    let ids: Vec<&str> = got.iter().map(|mail| mail.header("message-id")).collect();
    assert_eq!(ids[0], ids[1]);
    assert!(ids[0].starts_with("<evt_") && ids[0].ends_with("@127.0.0.1>"), "{ids:?}");
    let last = &got[1];
    assert_eq!(last.to, ["ada@example.com"]);
    assert_eq!(last.header("to"), "ada@example.com");
    assert!(last.header("from").ends_with("Catalogue <rollcall@example.com>"), "{last:#?}");
    assert_eq!(last.header("subject"), "The service Cart was created by a test.");
    assert_eq!(last.header("auto-submitted"), "auto-generated");
    assert_eq!(last.header("content-type"), "text/plain; charset=utf-8");
    assert!(last.header("date").ends_with("+0000"), "{last:#?}");
    let text = last.text();
    let url = format!("http://{}", app.address);
    for part in [
        "The service Cart was created by a test.\n".to_owned(),
        format!("\n{url}/services/cart\n"),
        "the subscription \"New ones\"".to_owned(),
        format!("\n{url}/events/{id}\n"),
    ] {
        assert!(text.contains(&part), "{part:?} in {text}");
    }
    let own = becomes(&app, &id, "it is taken", |own| states(own) == ["delivered"]).await;
    let delivery = &own["deliveries"]["nodes"][0];
    assert_eq!(
        (&delivery["attempts"], &delivery["status"], &delivery["error"]),
        (&json!(2), &json!(250), &Value::Null)
    );
    let receiver = json!({ "host": "example.com", "email": "ada@example.com", "error": null, "waitingCount": 0 });
    assert_eq!(own["receiver"], receiver);
    // Another subscription tells the same event in a mail of its own.
    subscribed(&app, mail(&json!({ "name": "Again" }))).await;
    created(&app, "K\u{e4}se").await;
    let got = server.exactly(4).await;
    let (one, other) = (&got[2], &got[3]);
    assert_ne!(one.header("message-id"), other.header("message-id"));
    assert!(one.header("subject").contains("=?utf-8?") && one.header("subject").is_ascii(), "{one:#?}");
    assert!(one.text().starts_with("The service K\u{e4}se was created by a test.\n"), "{}", one.text());
}

#[tokio::test]
async fn the_address_of_a_page_is_written_as_people_write_it() {
    let server = MailServer::taking();
    let (app, _sending) = started(&server).await;
    subscribed(&app, mail(&json!({}))).await;
    created(&app, "Session Store").await;
    let text = server.exactly(1).await[0].text();
    let url = format!("http://{}/services/session_store", app.address);
    assert!(text.contains(&format!("\n{url}\n")), "{text}");
    // The API says the same.
    let service = data(&app, r#"{ account { service(alias: "session_store") { htmlUrl } } }"#).await;
    assert_eq!(service["account"]["service"]["htmlUrl"], json!(url));
}

#[tokio::test]
async fn a_mail_tells_every_field_from_what_to_what_by_whom_and_when() {
    let server = MailServer::taking();
    let (app, _sending) = started(&server).await;
    let made = r#"mutation {
        one: teamCreate(input: { name: "Orders" }) { errors { message } }
        other: teamCreate(input: { name: "Payments" }) { errors { message } }
        service: serviceCreate(input: { name: "Cart", ownerInput: { alias: "orders" }, language: "Go" }) { errors { message } }
    }"#;
    data(&app, made).await;
    let events = json!(["service_owner_changed", "service_changed", "service_deleted", "object_changed"]);
    subscribed(&app, mail(&json!({ "events": events }))).await;
    let change = r#"mutation {
        one: serviceUpdate(input: { alias: "cart", ownerInput: { alias: "payments" }, description: "Holds goods",
            language: "Rust" }) { errors { message } }
        other: serviceUpdate(input: { alias: "cart", name: "Basket", framework: "a", language: "b", product: "c",
            note: "d", tierAlias: "tier_1", lifecycleAlias: "beta" }) { errors { message } }
        tags: tagCreate(input: { alias: "cart", key: "lane", value: "fast" }) { errors { message } }
        gone: serviceDelete(input: { alias: "cart" }) { errors { message } }
    }"#;
    let done = data(&app, change).await;
    for name in ["one", "other", "tags", "gone"] {
        assert_eq!(done[name]["errors"], json!([]), "{name}: {done}");
    }
    let got = server.exactly(4).await;
    let texts: Vec<String> = got.iter().map(Mail::text).collect();
    // When a mail is written, the service may have another alias, or be gone.
    let urls = ["/cart", "/basket", ""].map(|part| format!("http://{}/services{part}\n", app.address));
    let parts = |text: &str| text.split("\n-- \n").next().expect("a text").to_owned();
    let moved = "The service Cart now belongs to payments, and no longer to orders.\n\n- changed by a test\n\
                 - description: nothing \u{2192} Holds goods\n- language: Go \u{2192} Rust\n\n20";
    assert!(texts[0].starts_with(moved), "{}", texts[0]);
    let many = "The service Basket was changed by a test.\n\n- framework: nothing \u{2192} a\n\
                - language: Rust \u{2192} b\n- lifecycle: nothing \u{2192} beta\n\
                - name: Cart \u{2192} Basket\n- note: nothing \u{2192} d\n- and 4 more\n\n20";
    assert!(texts[1].starts_with(many), "{}", texts[1]);
    assert!(texts[2].contains("- tags lane: nothing \u{2192} fast\n"), "{}", texts[2]);
    let gone =
        "The service basket was deleted by a test.\n\nUntil then:\n- owner: payments\n- description: Holds goods\n";
    assert!(texts[3].starts_with(gone), "{}", texts[3]);
    for text in &texts {
        let own = parts(text);
        assert!(own.contains(" UTC\n"), "{own}");
        assert!(urls.iter().any(|url| format!("{own}\n").ends_with(&format!(" UTC\n{url}\n"))), "{own}");
    }
}

#[tokio::test]
async fn a_refused_mail_holds_back_its_own_subject_alone_and_is_given_up() {
    let is_bad = |mail: &Mail| mail.header("subject").to_lowercase().contains("bad");
    let server = MailServer::that(move |mail, _| if is_bad(mail) { "550 5.7.1 not this" } else { TAKEN });
    let (app, _sending) = started(&server).await;
    let id = subscribed(&app, mail(&json!({ "events": ["service_created", "service_changed"] }))).await;
    created(&app, "Bad").await;
    described(&app, "bad", "later").await;
    created(&app, "Good").await;
    let has = |part: &str| server.got().iter().any(|mail| mail.header("subject").contains(part));
    soon("others get theirs", async {
        while !has("Good was created") || !has("Bad was created") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(!server.got().iter().any(|mail| mail.header("subject").contains("was changed")), "it came too early");
    // Three days later.
    let past = Timestamp::from_micros(Timestamp::now().as_micros() - 4 * 86_400_000_000);
    let old = event_delivery::Entity::update_many()
        .col_expr(event_delivery::Column::CreatedAt, Expr::value(past))
        .col_expr(event_delivery::Column::NextAt, Expr::value(past))
        .filter(event_delivery::Column::NextAt.is_not_null());
    app.db.write(async |tx| tx.exec(old).await).await.expect("old");
    let is_over = |own: &Value| states(own).iter().filter(|state| **state == "failed").count() == 2;
    let own = becomes(&app, &id, "they are given up", is_over).await;
    let nodes = own["deliveries"]["nodes"].as_array().expect("deliveries");
    let failed = nodes.iter().find(|one| one["state"] == "failed").expect("a delivery");
    assert_eq!(
        (&failed["status"], &failed["error"]),
        (&json!(550), &json!("the mail server answered 550: 5.7.1 not this"))
    );
    assert_eq!(own["receiver"]["waitingCount"], 0);
}

#[tokio::test]
async fn a_mail_server_that_refuses_hangs_or_is_away_is_named_and_holds_up_no_other_receiver() {
    let server = MailServer::with(Answers {
        recipient: |to| match to {
            "gone@example.com" => ("550 5.1.1 no such user", Duration::ZERO),
            "full@example.com" => ("452 4.2.2 mailbox full", Duration::ZERO),
            "slow@example.com" => (TAKEN, Duration::from_secs(3_600)),
            _ => (TAKEN, Duration::ZERO),
        },
        message: Box::new(|_, _| TAKEN),
    });
    let (app, _sending) = started(&server).await;
    let mut ids = Vec::new();
    for name in ["gone", "full", "slow", "good"] {
        let more = json!({ "name": name, "receiverEmail": format!("{name}@example.com") });
        ids.push(subscribed(&app, mail(&more)).await);
    }
    created(&app, "Cart").await;
    let got = server.exactly(1).await;
    assert_eq!(got[0].to, ["good@example.com"]);
    for (id, error, status) in [
        (&ids[0], "the mail server answered 550: 5.1.1 no such user", json!(550)),
        (&ids[1], "the mail server answered 452: 4.2.2 mailbox full", json!(452)),
        (&ids[2], "no answer from the mail server within 10 s", Value::Null),
    ] {
        let own = becomes(&app, id, error, |own| own["receiver"]["error"] == error).await;
        let delivery = &own["deliveries"]["nodes"][0];
        assert_eq!((&delivery["state"], &delivery["status"]), (&json!("waiting"), &status), "{delivery}");
    }

    // A server that is not there, and then none at all.
    let away = service("smtp://127.0.0.1:1", "chat.internal").await;
    let id = subscribed(&away, mail(&json!({}))).await;
    created(&away, "Cart").await;
    let sending = tokio::spawn(away.events.clone().run());
    let is_away = |own: &Value| {
        let error = own["receiver"]["error"].as_str().unwrap_or_default();
        error.starts_with("the mail server cannot be used: ") && !error.contains("smtp://")
    };
    becomes(&away, &id, "the error is shown", is_away).await;
    sending.abort();
    let none = Sender::new(away.db.clone(), away.wanted.clone(), &Hosts::default(), "http://127.0.0.1:1");
    let sending = tokio::spawn(none.run());
    let why = "this server sends no mail any more: --smtp-url is not set";
    becomes(&away, &id, "the missing setting is named", |own| own["receiver"]["error"] == why).await;
    sending.abort();
}

#[tokio::test]
async fn mail_that_waits_for_other_mail_has_not_failed_and_is_sent_once() {
    let server =
        MailServer::with(Answers { recipient: |_| (TAKEN, Duration::from_secs(4)), message: Box::new(|_, _| TAKEN) });
    let (app, _sending) = started(&server).await;
    // More than twice as many as are handed over at a time.
    for number in 0..20 {
        subscribed(&app, mail(&json!({ "receiverEmail": format!("ada{number}@example.com") }))).await;
    }
    created(&app, "Cart").await;
    server.exactly(20).await;
    let stored = async || app.db.read().all(event_delivery::Entity::find()).await.expect("deliveries");
    soon("all are delivered", async {
        while stored().await.iter().any(|one| one.next_at.is_some()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(stored().await.iter().all(|one| one.attempts == 1), "{:#?}", stored().await);
    let receivers = app.db.read().all(event_receiver::Entity::find()).await.expect("receivers");
    assert!(receivers.iter().all(|one| one.failures == 0 && one.error.is_none()), "{receivers:?}");
}

#[tokio::test]
async fn a_server_that_is_too_slow_gets_no_text_that_it_might_take_twice() {
    let server = MailServer::with(Answers {
        recipient: |_| (TAKEN, Duration::from_millis(8_500)),
        message: Box::new(|_, _| TAKEN),
    });
    let (app, _sending) = started(&server).await;
    let id = subscribed(&app, mail(&json!({}))).await;
    created(&app, "Cart").await;
    let error = "the mail server is too slow: within 10 s it left no time for the text";
    becomes(&app, &id, "it is too slow", |own| own["receiver"]["error"] == error).await;
    server.exactly(0).await;
}

#[tokio::test]
async fn an_address_that_is_refused_is_asked_with_one_mail_at_a_time() {
    let server = MailServer::with(Answers {
        recipient: |_| ("550 5.1.1 no such user", Duration::ZERO),
        message: Box::new(|_, _| TAKEN),
    });
    let app = service(&server.url(), "chat.internal").await;
    subscribed(&app, mail(&json!({}))).await;
    for name in ["A", "B", "C", "D", "E"] {
        created(&app, name).await;
    }
    let _sending = tokio::spawn(app.events.clone().run());
    let failures = soon("it is asked again", async {
        loop {
            let receivers = app.db.read().all(event_receiver::Entity::find()).await.expect("receivers");
            if receivers[0].failures >= 3 {
                return receivers[0].failures;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let stored = app.db.read().all(event_delivery::Entity::find()).await.expect("deliveries");
    // The first two were sent at once.
    let attempts: Vec<i32> = stored.iter().map(|one| one.attempts).collect();
    assert!(attempts.iter().sum::<i32>() <= failures + 1, "{attempts:?} after {failures}");
    assert!(attempts.len() == 5 && attempts.iter().filter(|attempts| **attempts == 0).count() >= 3, "{attempts:?}");
    assert!(stored.iter().all(|one| one.state == event_delivery::State::Waiting), "{stored:#?}");
}

#[tokio::test]
async fn a_hostile_name_adds_neither_headers_nor_recipients_to_a_mail() {
    let server = MailServer::taking();
    let app = service(&server.url(), "chat.internal").await;
    let hostile = "Cart\r\nBcc: eve@example.com\r\n\r\n.\r\nRCPT TO:<eve@example.com>\u{202e}\u{2028}end";
    let name = json!({ "name": hostile });
    let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { path } } }";
    let made = app.query(create, name.clone()).await;
    assert_eq!(made["data"]["serviceCreate"]["errors"][0]["path"], json!(["name"]), "the API refuses it");
    subscribed(&app, mail(&json!({}))).await;
    // As if it had come in another way.
    let receivers = app.db.read().all(event_receiver::Entity::find()).await.expect("receivers");
    let subscription = receivers[0].subscription_id;
    let now = Timestamp::now();
    let stored = app.db.write(async |tx| {
        let event = event::ActiveModel {
            at: Set(now),
            what: Set(event::What::Created),
            subject_class: Set("Service".to_owned()),
            subject_name: Set(Some(hostile.to_owned())),
            detail: Set(json!({ "alias": "cart", "by": { "name": "a\nb" } }).to_string()),
            ..Default::default()
        };
        let event = tx.insert(event).await?;
        tx.insert(rollcall::events::delivery(subscription, &event, event::Kind::ServiceCreated, now)).await
    });
    stored.await.expect("a delivery");
    let _sending = tokio::spawn(app.events.clone().run());
    let got = server.exactly(1).await.remove(0);
    assert_eq!(got.to, ["ada@example.com"]);
    assert_eq!((got.header("to"), got.all("bcc").len(), got.all("cc").len()), ("ada@example.com", 0, 0));
    let subject = got.header("subject");
    assert!(subject.starts_with("The service Cart  Bcc: eve@example.com"), "{subject}");
    assert!(!subject.contains(['\u{202e}', '\u{2028}']), "{subject}");
    let sentence = got.text().lines().next().unwrap_or_default().to_owned();
    assert!(sentence.ends_with("end was created by a b."), "{sentence}");
    assert!(sentence.contains("RCPT TO:<eve@example.com>"), "it is a part of the sentence, and nothing else");
}

#[tokio::test]
async fn a_subscription_names_one_place_that_fits_its_form() {
    let app = TestApp::start().await;
    let (path, message) = refused(&app, &mail(&json!({}))).await;
    assert!(path == "form" && message.contains("--smtp-url"), "{path} {message}");
    let app = service("smtp://127.0.0.1:1", "chat.internal").await;
    let url = "https://hooks.example.com/a";
    for (more, expected) in [
        (json!({ "receiverEmail": null }), "receiverEmail"),
        (json!({ "receiverEmail": " " }), "receiverEmail"),
        (json!({ "receiverEmail": "ada" }), "receiverEmail"),
        (json!({ "receiverEmail": "ada@example.com,bob@example.com" }), "receiverEmail"),
        (json!({ "receiverEmail": "Ada <ada@example.com>" }), "receiverEmail"),
        (json!({ "receiverEmail": "ada@example.com\r\nBcc: eve@example.com" }), "receiverEmail"),
        (json!({ "receiverEmail": "ada@\u{fc}ber.example" }), "receiverEmail"),
        (json!({ "receiverEmail": format!("{}@example.com", "a".repeat(250)) }), "receiverEmail"),
        (json!({ "receiverUrl": url }), "receiverUrl"),
        (json!({ "form": "slack" }), "receiverEmail"),
        (json!({ "form": "slack", "receiverEmail": null }), "receiverUrl"),
        (json!({ "form": "slack", "receiverUrl": url }), "receiverEmail"),
        (json!({ "form": "cloud_event", "receiverEmail": null, "receiverUrl": url, "digest": "daily" }), "digest"),
    ] {
        let (path, message) = refused(&app, &mail(&more)).await;
        assert_eq!(path, expected, "{more}: {message}");
    }
    let id = subscribed(&app, mail(&json!({ "receiverEmail": " ada@example.com ", "digest": "weekly" }))).await;
    let own = shown(&app, &id).await;
    assert_eq!((&own["form"], &own["digest"]), (&json!("email"), &json!("weekly")));
    // What is absent stays.
    let same = json!({ "form": "email", "digest": "weekly", "receiver": { "host": "example.com", "email": "ada@example.com" } });
    assert_eq!(updated(&app, &id, json!({ "name": "Renamed" })).await["eventSubscription"], same);
    for (more, path) in [
        (json!({ "receiverEmail": null }), "receiverEmail"),
        (json!({ "receiverUrl": url }), "receiverUrl"),
        (json!({ "form": "slack" }), "receiverUrl"),
        (json!({ "form": "standard_webhook", "receiverUrl": url }), "digest"),
    ] {
        assert_eq!(updated(&app, &id, more.clone()).await["errors"][0]["path"][0], path, "{more}");
    }
    let moved = updated(&app, &id, json!({ "form": "slack", "receiverUrl": url, "digest": "daily" })).await;
    let slack =
        json!({ "form": "slack", "digest": "daily", "receiver": { "host": "hooks.example.com", "email": null } });
    assert_eq!(moved["eventSubscription"], slack);
    // The address is forgotten, and must be given again.
    assert_eq!(updated(&app, &id, json!({ "form": "email" })).await["errors"][0]["path"][0], "receiverEmail");
    let back = updated(&app, &id, json!({ "form": "email", "receiverEmail": "bob@example.org", "digest": null })).await;
    let mailed =
        json!({ "form": "email", "digest": null, "receiver": { "host": "example.org", "email": "bob@example.org" } });
    assert_eq!(back["eventSubscription"], mailed);
}

#[tokio::test]
async fn only_administrators_send_mail_to_people_who_are_no_users() {
    let app = service("smtp://127.0.0.1:1", "chat.internal").await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let user = Browser::of(&app, Role::User).await;
    let admin = Browser::of(&app, Role::Admin).await;
    let team = data(
        &app,
        r#"mutation { teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { team { id } } }"#,
    )
    .await["teamCreate"]["team"]["id"]
        .clone();
    let asked = |email: &str| json!({ "input": mail(&json!({ "receiverEmail": email, "teamIds": [team] })) });
    let errors = |answer: Value| answer["data"]["eventSubscriptionCreate"]["errors"].clone();
    for (browser, email, is_allowed) in [
        (&member, "eve@outside.example", false),
        (&member, "Admin@Example.com", true),
        (&user, "eve@outside.example", false),
        (&user, "teammember@example.com", true),
        (&admin, "eve@outside.example", true),
    ] {
        let errors = errors(browser.query(CREATE, asked(email)).await);
        assert_eq!(errors == json!([]), is_allowed, "{email}: {errors}");
        if !is_allowed {
            assert_eq!(errors[0]["path"], json!(["receiverEmail"]));
        }
    }
    let token = format!("Bearer {}", app.new_token(Scope::Write, None).await);
    let answer = app.post_with(CREATE, asked("eve@outside.example"), &[("authorization", &token)]).await;
    assert_eq!(errors(answer.json())[0]["path"], json!(["receiverEmail"]));
    // Nor is one's own subscription a way out.
    let own = member.query(CREATE, asked("teammember@example.com")).await;
    let id = own["data"]["eventSubscriptionCreate"]["eventSubscription"]["id"].clone();
    let moved = json!({ "input": { "id": id, "receiverEmail": "eve@outside.example" } });
    let answer = member.query(UPDATE, moved).await["data"]["eventSubscriptionUpdate"].clone();
    assert_eq!(answer["errors"][0]["path"], json!(["receiverEmail"]), "{answer}");
    assert_eq!(shown(&app, id.as_str().expect("an id")).await["receiver"]["email"], "teammember@example.com");
}

#[tokio::test]
async fn an_address_that_is_not_changed_is_not_checked_again() {
    let app = service("smtp://127.0.0.1:1", "chat.internal").await;
    let mut member = Browser::of(&app, Role::TeamMember).await;
    let made = data(
        &app,
        r#"mutation { teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { team { id } } }"#,
    )
    .await;
    let team = &made["teamCreate"]["team"]["id"];
    let id = subscribed(&app, mail(&json!({ "receiverEmail": "list@outside.example", "teamIds": [team] }))).await;
    // It has failed, and is tried again later.
    use event_receiver::Column::{Failures, RetryAt};
    let later = Timestamp::from_micros(Timestamp::now().as_micros() + 600_000_000);
    let failed =
        event_receiver::Entity::update_many().col_expr(Failures, Expr::value(3)).col_expr(RetryAt, Expr::value(later));
    app.db.write(async |tx| tx.exec(failed).await).await.expect("failed");
    let form = |email: &'static str| {
        [
            ("name", "Renamed"),
            ("form", "email"),
            ("receiverUrl", ""),
            ("receiverEmail", email),
            ("digest", ""),
            ("events", "service_created"),
            ("teamIds", "own"),
        ]
    };
    let edit = format!("/events/{id}/edit");
    let done = member.post(&edit, &form("list@outside.example")).await;
    assert_eq!(done.status, 303, "{}", done.text());
    let receivers = app.db.read().all(event_receiver::Entity::find()).await.expect("receivers");
    assert_eq!((receivers[0].failures, receivers[0].retry_at), (3, Some(later)), "it fails as before");
    let own = app.db.read().all(event_subscription::Entity::find()).await.expect("subscriptions").remove(0);
    assert_eq!((&*own.name, own.enabled, own.email.as_deref()), ("Renamed", false, Some("list@outside.example")));
    let refused = member.post(&edit, &form("eve@outside.example")).await;
    assert!(refused.text().contains("only an administrator can send mail to others"), "{}", refused.text());

    // Nor does a change need a mail server that is gone.
    let gone = TestApp::with(&["--send-events-to", "chat.internal"]).await;
    let slack = json!({ "name": "Mail", "form": "slack", "receiverUrl": "https://hooks.example.com/a", "events": ["service_created"] });
    let id = subscribed(&gone, slack).await;
    let own = gone.db.read().all(event_subscription::Entity::find()).await.expect("subscriptions").remove(0);
    let mailed = event_subscription::ActiveModel {
        form: Set(event_subscription::Form::Email),
        email: Set(Some("ada@example.com".to_owned())),
        ..own.into()
    };
    gone.db.write(async |tx| tx.update(mailed).await).await.expect("a subscription by mail");
    let same = json!({ "form": "email", "receiverEmail": "ada@example.com", "enabled": false });
    assert_eq!(updated(&gone, &id, same).await["errors"], json!([]));
    let other = updated(&gone, &id, json!({ "receiverEmail": "bob@example.com" })).await;
    assert_eq!(other["errors"][0]["path"], json!(["form"]), "{other}");
}

#[tokio::test]
async fn a_digest_tells_events_by_subject_once_and_nothing_when_there_are_none() {
    let server = MailServer::that(|_, before| if before == 0 { "451 4.3.0 not now" } else { TAKEN });
    let (app, sending) = started(&server).await;
    let events = json!(["service_created", "service_changed"]);
    let id = subscribed(&app, mail(&json!({ "name": "Daily news", "digest": "daily", "events": events }))).await;
    subscribed(&app, mail(&json!({ "name": "Nothing", "digest": "weekly", "events": ["team_deleted"] }))).await;
    created(&app, "Cart").await;
    created(&app, "Mail").await;
    described(&app, "cart", "new").await;
    let own = becomes(&app, &id, "they wait", |own| own["receiver"]["waitingCount"] == 3).await;
    assert_eq!(states(&own), ["waiting"; 3]);
    server.exactly(0).await;
    their_time_comes(&app).await;
    // The first attempt fails. Another process goes on.
    becomes(&app, &id, "it was tried", |own| own["receiver"]["error"].is_string()).await;
    sending.abort();
    let mailer = Mailer::new(&server.url(), sender(FROM).expect("a sender")).expect("a server");
    let url = format!("http://{}", app.address);
    let other = Sender::new(app.db.clone(), app.wanted.clone(), &Hosts::default(), &url).with_mail(Some(mailer));
    let _sending = tokio::spawn(other.run());
    let got = server.exactly(2).await;
    assert_eq!(got[0].header("message-id"), got[1].header("message-id"));
    assert!(got[1].header("message-id").starts_with("<dig_"), "{got:#?}");
    assert_eq!(got[1].header("subject"), "Daily digest of Daily news: 3 events");
    let text = got[1].text();
    assert_eq!(
        lines(&text),
        [
            "The service Cart was created by a test.",
            "The service Cart was changed by a test: description: nothing \u{2192} new.",
            "The service Mail was created by a test.",
        ]
    );
    assert!(text.contains(&format!("\n  {url}/services/cart\n\n- ")), "{text}");
    assert!(text.contains(&format!("\n{url}/events/{id}\n")) && !text.contains("more: "), "{text}");
    let own = becomes(&app, &id, "all are delivered", |own| states(own) == ["delivered"; 3]).await;
    assert_eq!((&own["receiver"]["waitingCount"], &own["receiver"]["error"]), (&json!(0), &Value::Null));
    // The next one has what comes later, and a test is not collected.
    described(&app, "mail", "new").await;
    becomes(&app, &id, "it waits", |own| own["receiver"]["waitingCount"] == 1).await;
    data(&app, &format!(r#"mutation {{ eventSubscriptionTest(input: {{ id: "{id}" }}) {{ errors {{ message }} }} }}"#))
        .await;
    let got = server.exactly(3).await;
    assert_eq!(got[2].header("subject"), "This is a test of the subscription Daily news.");
    their_time_comes(&app).await;
    let got = server.exactly(4).await;
    assert_eq!(got[3].header("subject"), "Daily digest of Daily news: 1 event");
    assert_ne!(got[3].header("message-id"), got[1].header("message-id"));
}

#[tokio::test]
async fn a_digest_that_is_refused_is_given_up_after_its_own_three_days() {
    let server = MailServer::that(|_, _| "554 5.6.0 no digests");
    let (app, _sending) = started(&server).await;
    let id = subscribed(&app, mail(&json!({ "digest": "weekly" }))).await;
    created(&app, "Cart").await;
    becomes(&app, &id, "it waits", |own| own["receiver"]["waitingCount"] == 1).await;
    // It happened almost a week before the digest, which is no reason to give up.
    let before = Timestamp::from_micros(Timestamp::now().as_micros() - 6 * 86_400_000_000);
    let old = event_delivery::Entity::update_many().col_expr(event_delivery::Column::CreatedAt, Expr::value(before));
    app.db.write(async |tx| tx.exec(old).await).await.expect("old");
    their_time_comes(&app).await;
    let own = becomes(&app, &id, "it was refused", |own| own["deliveries"]["nodes"][0]["status"] == 554).await;
    assert_eq!(states(&own), ["waiting"]);
    let old = event_delivery::Entity::update_many()
        .col_expr(event_delivery::Column::DigestAt, Expr::value(before))
        .col_expr(event_delivery::Column::NextAt, Expr::value(before));
    app.db.write(async |tx| tx.exec(old).await).await.expect("old");
    becomes(&app, &id, "it is given up", |own| states(own) == ["failed"]).await;
    let again =
        format!(r#"mutation {{ eventDeliveriesResend(input: {{ id: "{id}" }}) {{ resent errors {{ message }} }} }}"#);
    let before = server.got().len();
    assert_eq!(data(&app, &again).await["eventDeliveriesResend"], json!({ "resent": 1, "errors": [] }));
    soon("it is sent again", async {
        while server.got().len() == before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Stores deliveries of this many events for the only subscription, each of a subject of its own, whose digest is due.
async fn due(app: &TestApp, number: usize, name: &str) {
    let receivers = app.db.read().all(event_receiver::Entity::find()).await.expect("receivers");
    let (subscription, now) = (receivers[0].subscription_id, Timestamp::now());
    let stored = app.db.write(async |tx| {
        for place in 0..number {
            let event = event::ActiveModel {
                at: Set(now),
                what: Set(event::What::Created),
                subject_class: Set("Service".to_owned()),
                subject_name: Set(Some(format!("{name}{place}"))),
                detail: Set(json!({ "alias": format!("s{place}") }).to_string()),
                ..Default::default()
            };
            let event = tx.insert(event).await?;
            let row = event_delivery::ActiveModel {
                digest_at: Set(Some(now)),
                ..rollcall::events::delivery(subscription, &event, event::Kind::ServiceCreated, now)
            };
            tx.insert(row).await?;
        }
        Ok::<_, rollcall::db::Error>(())
    });
    stored.await.expect("deliveries");
}

#[tokio::test]
async fn a_digest_has_an_end_and_says_how_many_more_there_are() {
    let server = MailServer::taking();
    let receiver = Receiver::taking();
    let app = service(&server.url(), &receiver.host()).await;
    let id = subscribed(&app, mail(&json!({ "digest": "daily" }))).await;
    due(&app, LINES + 137, "Service ").await;
    let _sending = tokio::spawn(app.events.clone().run());
    let text = server.exactly(1).await[0].text();
    assert_eq!(lines(&text).len(), LINES);
    assert!(text.starts_with("Daily digest of All: 237 events\n"), "{text}");
    assert!(text.contains(&format!("\nand 137 more: http://{}/events/{id}\n", app.address)), "{text}");
    // More than are kept have ended, and are removed.
    becomes(&app, &id, "none waits", |own| own["receiver"]["waitingCount"] == 0).await;
    soon("the oldest are removed", async {
        while app.db.read().count(event_delivery::Entity::find()).await.expect("a count") != event_delivery::KEPT {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    // In a chat, the text has an end too.
    let slack = json!({ "form": "slack", "receiverUrl": receiver.url(), "digest": "weekly" });
    assert_eq!(updated(&app, &id, slack).await["errors"], json!([]));
    due(&app, LINES, &"long ".repeat(50)).await;
    let text = receiver.exactly(1).await[0].body()["text"].as_str().expect("a text").to_owned();
    assert!(text.chars().count() < TEXT + 500, "{}", text.chars().count());
    assert!(text.starts_with("Weekly digest of All: 100 events\n"), "{text}");
    let told = lines(&text).len();
    assert!(told > 10 && told < LINES, "{told}");
    assert!(text.contains(&format!("and {} more: <http://", LINES - told)) && text.contains("|see the subscription>"));
    assert!(text.contains("/services/s0|long long "), "{text}");
}

#[tokio::test]
async fn a_digest_for_a_chat_has_an_end_in_bytes() {
    let receiver = Receiver::taking();
    let app = service("smtp://127.0.0.1:1", &receiver.host()).await;
    let teams =
        json!({ "form": "microsoft_teams", "receiverEmail": null, "receiverUrl": receiver.url(), "digest": "daily" });
    subscribed(&app, mail(&teams)).await;
    due(&app, LINES, &"\u{9577}".repeat(200)).await;
    let _sending = tokio::spawn(app.events.clone().run());
    let body = receiver.exactly(1).await[0].body();
    let size = body.to_string().len();
    assert!(size > BODY / 2 && size < BODY + 1_000, "{size}");
    let text = body["attachments"][0]["content"]["body"][0]["text"].as_str().expect("a text");
    let told = lines(text).len();
    assert!(told > 10 && text.contains(&format!("and {} more: ", LINES - told)), "{text}");
}

#[tokio::test]
async fn a_large_digest_that_was_given_up_is_kept_whole_to_be_sent_again() {
    let server = MailServer::that(|_, before| if before == 0 { "554 5.6.0 no digests" } else { TAKEN });
    let app = service(&server.url(), "chat.internal").await;
    let id = subscribed(&app, mail(&json!({ "digest": "daily" }))).await;
    let number = event_delivery::KEPT as usize + 50;
    due(&app, number, "Service ").await;
    // Its three days are over.
    let before = Timestamp::from_micros(Timestamp::now().as_micros() - 4 * 86_400_000_000);
    let old = event_delivery::Entity::update_many()
        .col_expr(event_delivery::Column::DigestAt, Expr::value(before))
        .col_expr(event_delivery::Column::NextAt, Expr::value(before));
    app.db.write(async |tx| tx.exec(old).await).await.expect("old");
    let _sending = tokio::spawn(app.events.clone().run());
    becomes(&app, &id, "it is given up", |own| own["receiver"]["waitingCount"] == 0).await;
    server.exactly(1).await;
    let again =
        format!(r#"mutation {{ eventDeliveriesResend(input: {{ id: "{id}" }}) {{ resent errors {{ message }} }} }}"#);
    assert_eq!(data(&app, &again).await["eventDeliveriesResend"], json!({ "resent": number, "errors": [] }));
    let got = server.exactly(2).await;
    assert_eq!(got[1].header("subject"), format!("Daily digest of All: {number} events"));
}

#[tokio::test]
async fn an_event_joins_no_digest_that_ends_while_it_is_made_out() {
    let server = MailServer::taking();
    let (app, _sending) = started(&server).await;
    let id = subscribed(&app, mail(&json!({ "digest": "daily" }))).await;
    created(&app, "Cart").await;
    // The digest ends in a transaction that takes a while, in which the event is made out.
    let ended = app.db.write(async |tx| {
        let own = tx.all(event_subscription::Entity::find()).await?.remove(0);
        let (subscription, now) = (own.id, Timestamp::now());
        tx.update(event_subscription::ActiveModel { digest: Set(None), ..own.into() }).await?;
        event_delivery::reschedule(tx, subscription, now, now).await?;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        Ok::<_, rollcall::db::Error>(())
    });
    ended.await.expect("no digest");
    becomes(&app, &id, "it is delivered", |own| states(own) == ["delivered"]).await;
    server.exactly(1).await;
}

#[tokio::test]
async fn what_was_collected_is_sent_at_once_when_the_digest_ends() {
    let (server, receiver) = (MailServer::taking(), Receiver::taking());
    let app = service(&server.url(), &receiver.host()).await;
    let _sending = tokio::spawn(app.events.clone().run());
    let id = subscribed(&app, mail(&json!({ "digest": "daily" }))).await;
    created(&app, "A").await;
    created(&app, "B").await;
    becomes(&app, &id, "they wait", |own| own["receiver"]["waitingCount"] == 2).await;
    // Another digest has another time.
    let times = async || {
        let waiting = event_delivery::Entity::find().filter(event_delivery::Column::NextAt.is_not_null());
        let all = app.db.read().all(waiting).await.expect("deliveries");
        all.into_iter().map(|one| (one.digest_at, one.next_at)).collect::<Vec<_>>()
    };
    let daily = times().await;
    assert_eq!(updated(&app, &id, json!({ "digest": "weekly" })).await["errors"], json!([]));
    let weekly = times().await;
    assert!(daily.iter().zip(&weekly).all(|(daily, weekly)| daily <= weekly && weekly.0 == weekly.1), "{weekly:?}");
    server.exactly(0).await;
    assert_eq!(updated(&app, &id, json!({ "digest": null })).await["errors"], json!([]));
    let got = server.exactly(1).await;
    assert_eq!(got[0].header("subject"), "Digest of All: 2 events");
    created(&app, "C").await;
    let got = server.exactly(2).await;
    assert_eq!(got[1].header("subject"), "The service C was created by a test.");
    // A program gets a message for each.
    assert_eq!(updated(&app, &id, json!({ "digest": "daily" })).await["errors"], json!([]));
    created(&app, "D").await;
    created(&app, "E").await;
    becomes(&app, &id, "they wait", |own| own["receiver"]["waitingCount"] == 2).await;
    let program = json!({ "form": "standard_webhook", "receiverUrl": receiver.url(), "digest": null });
    assert_eq!(updated(&app, &id, program).await["errors"], json!([]));
    let got = receiver.exactly(2).await;
    let mut names: Vec<String> =
        got.iter().map(|got| got.body()["data"]["subject"]["name"].as_str().expect("a name").to_owned()).collect();
    names.sort();
    assert_eq!(names, ["D", "E"]);
}

#[tokio::test]
async fn two_processes_send_a_digest_once() {
    if !is_postgres() {
        return crate::harness::say_aloud(
            "two processes that send digests: left out, because an SQLite file has one server",
        );
    }
    let server = MailServer::with(Answers {
        recipient: |_| (TAKEN, Duration::from_millis(300)),
        message: Box::new(|_, _| TAKEN),
    });
    let (app, _sending) = started(&server).await;
    let mailer = Mailer::new(&server.url(), sender(FROM).expect("a sender")).expect("a server");
    let other = Sender::new(app.db.clone(), app.wanted.clone(), &Hosts::default(), "http://other.example.com");
    let other = tokio::spawn(other.with_mail(Some(mailer)).run());
    let id = subscribed(&app, mail(&json!({ "digest": "daily" }))).await;
    for number in 0..5 {
        created(&app, &format!("S{number}")).await;
    }
    becomes(&app, &id, "they wait", |own| own["receiver"]["waitingCount"] == 5).await;
    their_time_comes(&app).await;
    let got = server.exactly(1).await;
    assert_eq!(got[0].header("subject"), "Daily digest of All: 5 events");
    other.abort();
}

#[tokio::test]
async fn the_pages_make_a_subscription_by_mail_and_send_a_test() {
    let server = MailServer::taking();
    let (app, _sending) = started(&server).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let page = admin.page("/new/event-subscription").await;
    assert!(page.contains("value=\"email\"") && page.contains("every Monday at 07:00 UTC"), "{page}");
    let form = |email: &'static str| {
        [
            ("name", "Mail"),
            ("form", "email"),
            ("receiverUrl", ""),
            ("receiverEmail", email),
            ("digest", "daily"),
            ("events", "service_created"),
            ("enabled", "on"),
        ]
    };
    let refused = admin.post("/new/event-subscription", &form("nobody")).await;
    assert!(refused.text().contains("Email address must be one address"), "{}", refused.text());
    let made = admin.post("/new/event-subscription", &form("admin@example.com")).await;
    let own = made.place().to_owned();
    assert!(own.starts_with("/events/"), "mail has no secret to show: {own}");
    let page = admin.page(&own).await;
    assert!(page.contains("Email to admin@example.com") && page.contains("every day at 07:00 UTC"), "{page}");
    assert!(!page.contains("New secret"), "{page}");
    assert_eq!(admin.post(&format!("{own}/test"), &[]).await.status, 303);
    let got = server.exactly(1).await;
    assert_eq!(got[0].header("subject"), "This is a test of the subscription Mail.");
    assert!(admin.page(&own).await.contains("delivered"));
    assert!(admin.page("/events").await.contains("admin@example.com"));
    // The form shows the address; the other field counts for other forms alone.
    let page = admin.page(&format!("{own}/edit")).await;
    assert!(page.contains("value=\"admin@example.com\""), "{page}");
    let changed = [
        ("name", "Chat"),
        ("form", "slack"),
        ("receiverUrl", "https://hooks.example.com/a"),
        ("receiverEmail", "admin@example.com"),
        ("digest", ""),
        ("events", "service_created"),
    ];
    assert_eq!(admin.post(&format!("{own}/edit"), &changed).await.status, 303);
    let page = admin.page(&own).await;
    assert!(page.contains("Slack at hooks.example.com") && page.contains("at once"), "{page}");
}
