//! Subscriptions that name several teams, services, tiers and environments, and what becomes of them when something that
//! they name is deleted.

use rollcall::db::Read as _;
use rollcall::entity::audit;
use rollcall::entity::event_subscription::NAMED;
use rollcall::entity::user::Role;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::receiver::{CREATE, Receiver, changed, input, subscribed};
use crate::harness::webhook::Endpoint;

const URL: &str = "https://hooks.example.com/a";

const UPDATE: &str = "mutation($input: EventSubscriptionUpdateInput!) {
    eventSubscriptionUpdate(input: $input) { errors { message path } }
}";

/// What a subscription names.
async fn named(app: &TestApp, id: &str) -> Value {
    let query = format!(
        r#"{{ account {{ eventSubscription(id: "{id}") {{
            teams {{ alias }} services {{ alias }} tiers {{ alias }} environments
            deleted {{ teamCount serviceCount tierCount }}
        }} }} }}"#
    );
    data(app, &query).await["account"]["eventSubscription"].clone()
}

/// The teams Own and Other. Returns their ids.
async fn teams(app: &TestApp) -> [Value; 2] {
    let made = data(
        app,
        r#"mutation {
            own: teamCreate(input: { name: "Own" }) { team { id } errors { message } }
            other: teamCreate(input: { name: "Other" }) { team { id } errors { message } }
        }"#,
    )
    .await;
    ["own", "other"].map(|name| {
        assert_eq!(made[name]["errors"], json!([]), "{made}");
        made[name]["team"]["id"].clone()
    })
}

#[tokio::test]
async fn an_event_passes_if_each_list_names_one_of_its_places() {
    let (changes, deploys) = (Receiver::taking(), Receiver::taking());
    let hosts = [changes.host(), deploys.host()].join(",");
    let endpoint = Endpoint::with(&["--send-events-to", &hosts]).await;
    let app = &endpoint.app;
    let _sending = tokio::spawn(app.events.clone().run());
    for team in ["Own", "Other", "Third"] {
        changed(app, &format!(r#"teamCreate(input: {{ name: "{team}" }})"#)).await;
    }
    for (name, team, tier) in
        [("A", "own", "tier_1"), ("B", "other", "tier_2"), ("C", "third", "tier_1"), ("D", "own", "tier_3")]
    {
        let of = format!(r#"name: "{name}", ownerInput: {{ alias: "{team}" }}, tierAlias: "{tier}""#);
        changed(app, &format!("serviceCreate(input: {{ {of} }})")).await;
    }
    let own = json!({
        "events": ["service_changed"], "teamIds": ["own", "other"], "tierAliases": ["tier_1", "tier_2"],
        // Only deploys have environments.
        "environments": ["production"],
    });
    subscribed(app, &changes.url(), own).await;
    let own = json!({
        "events": ["deploy_recorded"], "serviceIds": ["shop", "a"], "environments": ["Production", "STAGING"],
    });
    subscribed(app, &deploys.url(), own).await;

    // Neither the third team nor the third tier is named.
    for alias in ["c", "d", "a", "b"] {
        changed(app, &format!(r#"serviceUpdate(input: {{ alias: "{alias}", language: "Go" }})"#)).await;
    }
    let got = changes.exactly(2).await;
    let mut told: Vec<Value> = got.iter().map(|got| got.body()["data"]["subject"]["alias"].clone()).collect();
    told.sort_by_key(Value::to_string);
    assert_eq!(told, ["a", "b"]);

    let posts = [
        ("shop", json!("test")),
        ("b", json!("production")),
        ("shop", Value::Null),
        ("shop", json!("production")),
        ("shop", json!("Staging")),
        ("a", json!("staging")),
    ];
    for (minute, (service, environment)) in posts.into_iter().enumerate() {
        let at = format!("2026-11-21 01:{minute:02}:00");
        let post = json!({ "service": service, "environment": environment, "deployed_at": at });
        assert_eq!(endpoint.post_with(post).await.status, 202);
    }
    let got = deploys.exactly(3).await;
    let mut told: Vec<String> = got
        .iter()
        .map(|got| {
            let data = got.body()["data"].clone();
            format!("{} {}", data["subject"]["alias"], data["deploy"]["environment"]).replace('"', "")
        })
        .collect();
    told.sort();
    assert_eq!(told, ["a staging", "shop Staging", "shop production"]);
}

#[tokio::test]
async fn what_was_deleted_matches_nothing_and_stays_named() {
    let (all, some) = (Receiver::taking(), Receiver::taking());
    let app = TestApp::with(&["--send-events-to", &[all.host(), some.host()].join(",")]).await;
    let _sending = tokio::spawn(app.events.clone().run());
    teams(&app).await;
    let made = data(
        &app,
        r#"mutation {
            one: tierCreate(input: { name: "One", index: 1 }) { tier { id } }
            two: tierCreate(input: { name: "Two", index: 2 }) { tier { id } }
            cart: serviceCreate(input: { name: "Cart", tierAlias: "one" }) { service { id } }
        }"#,
    )
    .await;
    let wants = |filter: Value| {
        let mut more = filter;
        more["events"] = json!(["service_created", "service_changed"]);
        more
    };
    subscribed(&app, &all.url(), wants(json!({}))).await;
    let (tiers, _) = subscribed(&app, &some.url(), wants(json!({ "tierAliases": ["one", "two"] }))).await;
    let (services, _) = subscribed(&app, &some.url(), wants(json!({ "serviceIds": ["cart"] }))).await;
    let (several, _) = subscribed(&app, &some.url(), wants(json!({ "teamIds": ["own", "other"] }))).await;
    // The owner goes, and the subscription with it.
    let (single, _) = subscribed(&app, &some.url(), wants(json!({ "teamIds": ["other"] }))).await;

    changed(&app, r#"teamDelete(input: { alias: "other" })"#).await;
    assert_eq!(named(&app, &single).await, Value::Null);
    let left = named(&app, &several).await;
    assert_eq!((&left["teams"], &left["deleted"]["teamCount"]), (&json!([{ "alias": "own" }]), &json!(1)));
    changed(&app, r#"teamDelete(input: { alias: "own" })"#).await;
    changed(&app, r#"serviceDelete(input: { alias: "cart" })"#).await;
    for tier in ["one", "two"] {
        changed(&app, &format!("tierDelete(input: {{ id: {} }})", made[tier]["tier"]["id"])).await;
    }
    for (id, deleted) in [(&several, [2, 0, 0]), (&services, [0, 1, 0]), (&tiers, [0, 0, 2])] {
        let [teams, services, tiers] = deleted;
        let expected = json!({
            "teams": [], "services": [], "tiers": [], "environments": [],
            "deleted": { "teamCount": teams, "serviceCount": services, "tierCount": tiers },
        });
        assert_eq!(named(&app, id).await, expected);
    }
    changed(&app, r#"serviceCreate(input: { name: "New" })"#).await;
    all.exactly(1).await;
    some.exactly(0).await;

    // The page says so, and a form that is sent for another reason does not change it.
    let mut admin = Browser::of(&app, Role::Admin).await;
    assert!(admin.page("/events").await.contains("2 deleted teams"));
    let page = admin.page(&format!("/events/{tiers}")).await;
    assert!(page.contains("2 deleted tiers") && page.contains("no event passes"), "{page}");
    let edit = format!("/events/{tiers}/edit");
    let page = admin.page(&edit).await;
    assert!(page.contains("It also names 2 deleted tiers") && page.contains("tierAliases.forget"), "{page}");
    let form = [
        ("name", "Renamed"),
        ("form", "standard_webhook"),
        ("events", "service_created"),
        ("tierAliases.before", ""),
        ("enabled", "on"),
    ];
    assert_eq!(admin.post(&edit, &form).await.status, 303);
    assert_eq!(named(&app, &tiers).await["deleted"]["tierCount"], 2);
    let forget = [&form[..], &[("tierAliases.forget", "on")]].concat();
    assert_eq!(admin.post(&edit, &forget).await.status, 303);
    assert_eq!(named(&app, &tiers).await["deleted"]["tierCount"], 0);
    changed(&app, r#"serviceCreate(input: { name: "Newer" })"#).await;
    some.exactly(1).await;
}

#[tokio::test]
async fn a_form_keeps_what_was_deleted_until_its_list_is_changed() {
    let app = TestApp::start().await;
    data(
        &app,
        r#"mutation {
            a: serviceCreate(input: { name: "A" }) { errors { message } }
            b: serviceCreate(input: { name: "B" }) { errors { message } }
            gone: serviceCreate(input: { name: "Gone" }) { errors { message } }
        }"#,
    )
    .await;
    let (id, _) = subscribed(&app, URL, json!({ "serviceIds": ["gone", "b"] })).await;
    changed(&app, r#"serviceDelete(input: { alias: "gone" })"#).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let edit = format!("/events/{id}/edit");
    assert!(admin.page(&edit).await.contains("It also names 1 deleted service"));
    for (first, more, expected, deleted) in [
        ("b", "", json!([{ "alias": "b" }]), 1),
        ("B", "a\r\nb\r\n", json!([{ "alias": "b" }, { "alias": "a" }]), 0),
        ("", "", json!([]), 0),
    ] {
        let form = [
            ("name", "Some"),
            ("form", "standard_webhook"),
            ("events", "service_created"),
            ("serviceIds", first),
            ("serviceIds.more", more),
            ("serviceIds.before", "b"),
        ];
        let done = admin.post(&edit, &form).await;
        assert_eq!(done.status, 303, "{}", done.text());
        let own = named(&app, &id).await;
        assert_eq!((&own["services"], &own["deleted"]["serviceCount"]), (&expected, &json!(deleted)), "{first} {more}");
    }
    let form = [
        ("name", "Some"),
        ("form", "slack"),
        ("events", "service_created"),
        ("serviceIds", "a"),
        ("serviceIds.more", "nobody"),
    ];
    let refused = admin.post(&edit, &form).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("nobody"), "{}", refused.text());
}

#[tokio::test]
async fn a_subscription_for_several_teams_belongs_to_none_of_them() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let [own, other] = teams(&app).await;
    let member_of = r#"members: [{ email: "teammember@example.com" }]"#;
    changed(&app, &format!("teamMembershipCreate(input: {{ teamId: {own}, {member_of} }})")).await;
    let refusal = async |more: Value| {
        let answer = member.query(CREATE, json!({ "input": input(URL, more) })).await;
        answer["data"]["eventSubscriptionCreate"]["errors"].clone()
    };
    let of_all = refusal(json!({})).await;
    assert!(of_all[0]["message"].as_str().is_some_and(|why| why.ends_with("what no team owns")), "{of_all}");
    assert_eq!(refusal(json!({ "teamIds": [own, other] })).await, of_all);
    assert_eq!(refusal(json!({ "teamIds": [own] })).await, json!([]));

    let (id, _) = subscribed(&app, URL, json!({ "name": "Both", "teamIds": [own, other] })).await;
    let renamed = async || {
        let answer = member.query(UPDATE, json!({ "input": { "id": id, "name": "Mine" } })).await;
        answer["data"]["eventSubscriptionUpdate"]["errors"].clone()
    };
    assert_eq!(renamed().await, of_all);
    // Nor can a member take it, or tell their own one of everything.
    let own_one = app.query("{ account { eventSubscriptions { nodes { id teams { id } } } } }", json!({})).await;
    let own_one = own_one["data"]["account"]["eventSubscriptions"]["nodes"][0]["id"].clone();
    for (subscription, teams) in
        [(json!(id), json!([own])), (own_one.clone(), json!([])), (own_one, json!([own, other]))]
    {
        let input = json!({ "id": subscription, "teamIds": teams });
        let answer = member.query(UPDATE, json!({ "input": input })).await;
        assert_eq!(answer["data"]["eventSubscriptionUpdate"]["errors"][0]["path"], json!(["teamIds"]), "{answer}");
    }
    // Nor does it become theirs when the other team goes.
    changed(&app, r#"teamDelete(input: { alias: "other" })"#).await;
    assert_eq!(renamed().await, of_all);
    let answer = app.query(UPDATE, json!({ "input": { "id": id, "teamIds": [own] } })).await;
    assert_eq!(answer["data"]["eventSubscriptionUpdate"]["errors"], json!([]));
    assert_eq!(renamed().await, json!([]));
}

#[tokio::test]
async fn a_list_has_an_end_and_the_audit_tells_it_by_names() {
    let app = TestApp::start().await;
    let [own, other] = teams(&app).await;
    let most: Vec<String> = (0..NAMED).map(|number| format!("env-{number}")).collect();
    let (id, _) = subscribed(&app, URL, json!({ "teamIds": [own], "environments": most })).await;
    assert_eq!(named(&app, &id).await["environments"], json!(most));
    let update = async |more: Value| {
        let mut input = json!({ "id": id });
        input.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        app.query(UPDATE, json!({ "input": input })).await["data"]["eventSubscriptionUpdate"]["errors"].clone()
    };
    let more: Vec<&str> = most.iter().map(String::as_str).chain(["one more"]).collect();
    let refused = update(json!({ "environments": more })).await;
    let message = format!("environments has {} entries; at most {NAMED} are allowed", NAMED + 1);
    assert_eq!(refused, json!([{ "message": message, "path": ["environments"] }]));

    let several = json!({
        "teamIds": [other, own, other], "tierAliases": ["tier_2", "tier_1"], "environments": ["test"],
    });
    assert_eq!(update(several).await, json!([]));
    let entries = audit::Entity::find().filter(audit::Column::Action.eq("eventSubscriptionUpdate"));
    let entry = app.db.read().all(entries.order_by_desc(audit::Column::Id)).await.expect("entries").remove(0);
    let detail: Value = serde_json::from_str(&entry.detail).expect("JSON");
    let told = &detail["changed"];
    assert_eq!(told["team"], json!({ "old": "own", "new": null }), "{detail}");
    assert_eq!(told["teams"], json!({ "old": null, "new": ["other", "own"] }), "{detail}");
    assert_eq!(told["tiers"], json!({ "old": null, "new": ["tier_2", "tier_1"] }), "{detail}");
    assert_eq!(told["environments"]["new"], "[\"test\"]", "{detail}");
}
