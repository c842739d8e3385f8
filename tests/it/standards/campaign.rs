//! Campaigns: what clients read back, how far one is, and how its checks count.

use rollcall::db::Write as _;
use rollcall::entity::campaign::MOST;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::tour::Tour;
use crate::harness::tour_checks;

/// All that clients select of a campaign.
const WHOLE: &str = "checkStats { total totalSuccessful } endedDate filter { id name } htmlUrl id name owner { alias id } projectBrief
    rawProjectBrief reminder { channels daysOfWeek defaultSlackChannel frequency frequencyUnit message nextOccurrence timeOfDay timezone }
    serviceStats { total totalSuccessful } startDate status targetDate checks { nodes { id name } totalCount }";

const EARLIER: &str = "2026-01-02T03:04:05Z";
const LATER: &str = "2999-01-02T03:04:05Z";

/// Runs a mutation with one input. Answers the payload.
async fn send(app: &TestApp, mutation: &str, ty: &str, input: Value) -> Value {
    let what = if ty == "DeleteInput" { "deletedId".to_owned() } else { format!("campaign {{ {WHOLE} }}") };
    let query =
        format!("mutation($input: {ty}!) {{ {mutation}(input: $input) {{ {what} errors {{ message path }} }} }}");
    let answer = app.query(&query, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"][mutation].clone()
}

async fn create(app: &TestApp, input: Value) -> Value {
    send(app, "campaignCreate", "CampaignCreateInput", input).await
}

async fn schedule(app: &TestApp, id: &Value, start: &str, target: &str) -> Value {
    let input = json!({ "id": id, "startDate": start, "targetDate": target });
    send(app, "campaignScheduleUpdate", "CampaignScheduleUpdateInput", input).await
}

async fn end(app: &TestApp, id: &Value) -> Value {
    send(app, "campaignEnd", "CampaignEndInput", json!({ "id": id })).await
}

/// A team, and a filter of what is written in Go. Answers their ids.
async fn catalogue(app: &TestApp) -> (Value, Value) {
    let made = data(
        app,
        r#"mutation {
        core: teamCreate(input: { name: "Core" }) { team { id } }
        written: filterCreate(input: { name: "In Go", predicates: [{ key: language, type: equals, value: "Go" }] }) { filter { id } }
    }"#,
    )
    .await;
    (made["core"]["team"]["id"].clone(), made["written"]["filter"]["id"].clone())
}

#[tokio::test]
async fn clients_read_back_every_field_of_a_campaign_as_they_set_it() {
    let app = TestApp::start().await;
    let (core, filter) = catalogue(&app).await;
    for input in [
        json!({ "name": "Least", "ownerId": core }),
        json!({ "name": "Least", "ownerId": core, "filterId": null, "projectBrief": null }),
    ] {
        let made = create(&app, input).await["campaign"].clone();
        assert_eq!(json!([made["filter"], made["projectBrief"], made["rawProjectBrief"]]), json!([null, null, null]));
    }
    let input = json!({ "name": "All to two", "ownerId": core, "filterId": filter, "projectBrief": "**Now**" });
    let made = create(&app, input).await["campaign"].clone();
    let id = made["id"].clone();
    let none = json!({ "total": 0, "totalSuccessful": 0 });
    let whole = json!({
        "checkStats": none, "endedDate": null, "filter": { "id": filter, "name": "In Go" }, "htmlUrl": made["htmlUrl"], "id": id,
        "name": "All to two", "owner": { "alias": "core", "id": core }, "projectBrief": "**Now**", "rawProjectBrief": "**Now**",
        "reminder": null, "serviceStats": none, "startDate": null, "status": "draft", "targetDate": null,
        "checks": { "nodes": [], "totalCount": 0 },
    });
    assert_eq!(made, whole);
    let url = format!("/standards/campaigns/{}", id.as_str().expect("an id"));
    assert!(made["htmlUrl"].as_str().expect("a URL").ends_with(&url), "{made}");
    let update = async |input| send(&app, "campaignUpdate", "CampaignUpdateInput", input).await["campaign"].clone();
    assert_eq!(update(json!({ "id": id })).await, whole);
    let changed =
        update(json!({ "id": id, "name": "Renamed", "ownerId": null, "filterId": null, "projectBrief": null })).await;
    assert_eq!(
        json!([changed["name"], changed["owner"], changed["filter"], changed["projectBrief"]]),
        json!(["Renamed", null, null, null])
    );
    let query = "query($id: ID) { account { campaign(id: $id) { name } campaigns(first: 2) { nodes { name } pageInfo { hasNextPage endCursor } totalCount } } }";
    let found = app.query(query, json!({ "id": id })).await["data"]["account"].clone();
    assert_eq!(
        json!([
            found["campaign"]["name"],
            found["campaigns"]["totalCount"],
            found["campaigns"]["pageInfo"]["hasNextPage"]
        ]),
        json!(["Renamed", 3, true])
    );
    let next =
        "query($after: String) { account { campaigns(after: $after) { nodes { name } pageInfo { hasNextPage } } } }";
    let after = found["campaigns"]["pageInfo"]["endCursor"].clone();
    let next = app.query(next, json!({ "after": after })).await["data"]["account"]["campaigns"].clone();
    assert_eq!(next, json!({ "nodes": [{ "name": "Renamed" }], "pageInfo": { "hasNextPage": false } }));
    let deleted = send(&app, "campaignDelete", "DeleteInput", json!({ "id": id })).await;
    assert_eq!(deleted, json!({ "deletedId": id, "errors": [] }));
    let found = app.query(query, json!({ "id": id })).await["data"]["account"].clone();
    assert_eq!(json!([found["campaign"], found["campaigns"]["totalCount"]]), json!([null, 2]));
}

#[tokio::test]
async fn the_dates_of_a_campaign_say_how_far_it_is() {
    let app = TestApp::start().await;
    let (core, _) = catalogue(&app).await;
    let id = create(&app, json!({ "name": "Push", "ownerId": core })).await["campaign"]["id"].clone();
    let refused = |payload: &Value, path: &str, message: &str| {
        assert_eq!(payload["errors"], json!([{ "message": message, "path": [path] }]));
        assert_eq!(payload["campaign"], Value::Null);
    };
    refused(&end(&app, &id).await, "id", "this campaign has not begun");
    for (start, target, status) in [
        ("2998-01-02T03:04:05Z", LATER, "scheduled"),
        (EARLIER, LATER, "in_progress"),
        (EARLIER, "2026-02-02T03:04:05Z", "delayed"),
    ] {
        let campaign = schedule(&app, &id, start, target).await["campaign"].clone();
        assert_eq!(
            json!([campaign["startDate"], campaign["targetDate"], campaign["status"]]),
            json!([start, target, status])
        );
        if status == "scheduled" {
            refused(&end(&app, &id).await, "id", "this campaign has not begun");
        }
    }
    refused(&schedule(&app, &id, LATER, EARLIER).await, "targetDate", "targetDate must be after startDate");
    let unschedule = async || send(&app, "campaignUnschedule", "CampaignUnscheduleInput", json!({ "id": id })).await;
    let draft = unschedule().await["campaign"].clone();
    assert_eq!(json!([draft["startDate"], draft["targetDate"], draft["status"]]), json!([null, null, "draft"]));
    schedule(&app, &id, EARLIER, LATER).await;
    let ended = end(&app, &id).await["campaign"].clone();
    assert_eq!((&ended["status"], ended["endedDate"].is_string()), (&json!("ended"), true));
    for payload in [end(&app, &id).await, schedule(&app, &id, EARLIER, LATER).await, unschedule().await] {
        refused(&payload, "id", "this campaign has ended");
    }
    let copy = json!({ "campaignId": id, "checkIds": [] });
    let copied = send(&app, "checksCopyToCampaign", "ChecksCopyToCampaignInput", copy).await;
    refused(&copied, "campaignId", "this campaign has ended");
}

#[tokio::test]
async fn checks_of_every_kind_are_copied_and_count_within_the_campaign_alone() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let before = "{ account { service(alias: \"shop\") {
        maturityReport { overallLevel { alias } latestCheckResults { check { name } status message } } checkStats { totalChecks }
    } } }";
    let standing = data(app, before).await;
    let made = create(app, json!({ "name": "Push", "ownerId": tour.id("Core") })).await;
    let id = made["campaign"]["id"].clone();
    let ids: Vec<Value> = tour_checks::NAMES.iter().chain(["tagged"].iter()).map(|name| tour.id(name)).collect();
    let input = json!({ "campaignId": id, "checkIds": ids });
    let copied = send(app, "checksCopyToCampaign", "ChecksCopyToCampaignInput", input).await;
    assert_eq!(copied["errors"], json!([]));
    // One that is named twice is copied once.
    assert_eq!(copied["campaign"]["checks"]["totalCount"], json!(tour_checks::NAMES.len()));
    let fields = "description type enabled enableOn category { id } level { id } filter { id } owner { ... on Team { id } } notes: rawNotes name
        ... on ManualCheck { updateRequiresComment updateFrequency { frequencyValue } } ... on TagDefinedCheck { tagKey tagPredicate { value } }
        ... on RelationshipCheck { relationshipDefinition { id } } ... on ServicePropertyCheck { propertyDefinition { id } }";
    let copies = copied["campaign"]["checks"]["nodes"].as_array().expect("checks").clone();
    for (copy, name) in copies.iter().zip(tour_checks::NAMES) {
        let query = format!(
            "query($a: ID, $b: ID) {{ account {{ a: check(id: $a) {{ {fields} }} b: check(id: $b) {{ {fields} }} }} }}"
        );
        let both = app.query(&query, json!({ "a": tour.id(name), "b": copy["id"] })).await["data"]["account"].clone();
        let mut expected = both["a"].clone();
        expected["enableOn"] = Value::Null;
        expected["enabled"] = json!(true);
        assert_eq!(both["b"], expected, "{name}");
    }
    // They count here, and nowhere else.
    assert_eq!(data(app, before).await, standing);
    let query = format!(
        "query($id: ID) {{ account {{ campaign(id: $id) {{ {WHOLE} reports {{ check {{ name }} services passed failing {{ serviceAlias }} }} }} }} }}"
    );
    let campaign = app.query(&query, json!({ "id": id })).await["data"]["account"]["campaign"].clone();
    let reports = campaign["reports"].as_array().expect("reports");
    let sum = |field: &str| reports.iter().map(|report| report[field].as_i64().expect("a number")).sum::<i64>();
    assert_eq!(reports.len(), tour_checks::NAMES.len());
    assert_eq!(campaign["checkStats"], json!({ "total": sum("services"), "totalSuccessful": sum("passed") }));
    assert!(0 < sum("passed") && sum("passed") < sum("services"), "{campaign}");
    let failing: std::collections::BTreeSet<&str> = reports
        .iter()
        .flat_map(|report| report["failing"].as_array().expect("services"))
        .map(|result| result["serviceAlias"].as_str().expect("an alias"))
        .collect();
    let total = data(app, "{ account { services { totalCount } } }").await["account"]["services"]["totalCount"].clone();
    let total = total.as_i64().expect("a number");
    let complete = total - i64::try_from(failing.len()).expect("few");
    assert_eq!(campaign["serviceStats"], json!({ "total": total, "totalSuccessful": complete }));
    // A copy is changed on its own.
    let input = json!({ "id": copies[0]["id"], "name": "Changed" });
    let change = "mutation($input: CheckServiceOwnershipUpdateInput!) { checkServiceOwnershipUpdate(input: $input) { errors { message } } }";
    assert_eq!(
        app.query(change, json!({ "input": input })).await["data"]["checkServiceOwnershipUpdate"]["errors"],
        json!([])
    );
    let name =
        app.query("query($id: ID) { account { check(id: $id) { name } } }", json!({ "id": tour.id("owned") })).await;
    assert_eq!(name["data"]["account"]["check"]["name"], json!("Owned"));
    let page = Browser::of(app, Role::Viewer)
        .await
        .page(&format!("/standards/campaigns/{}", id.as_str().expect("an id")))
        .await;
    for text in
        ["<h1>Push</h1>", "draft", "Changed", "pass all checks", "href=\"/services/shop\"", "href=\"/teams/core\""]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    let deleted = send(app, "campaignDelete", "DeleteInput", json!({ "id": id })).await;
    assert_eq!(deleted["errors"], json!([]));
    let gone =
        app.query("query($id: ID) { account { check(id: $id) { name } } }", json!({ "id": copies[1]["id"] })).await;
    assert_eq!(gone["data"]["account"]["check"], Value::Null);
}

#[tokio::test]
async fn campaigns_are_listed_in_every_order_and_by_every_filter() {
    let app = TestApp::start().await;
    let (core, filter) = catalogue(&app).await;
    let made = data(
        &app,
        r#"mutation {
        apart: teamCreate(input: { name: "Apart" }) { team { id } }
        level: levelCreate(input: { name: "Bronze" }) { level { id } }
        category: categoryCreate(input: { name: "Safety" }) { category { id } }
        mail: serviceCreate(input: { name: "Mail", language: "Go" }) { errors { message } }
        shop: serviceCreate(input: { name: "Shop" }) { errors { message } }
    }"#,
    )
    .await;
    let of = async |name: &str, input: Value| {
        let mut all = json!({ "name": name });
        all.as_object_mut().expect("an object").extend(input.as_object().expect("an object").clone());
        create(&app, all).await["campaign"]["id"].clone()
    };
    let b = of("b", json!({ "ownerId": core, "filterId": filter })).await;
    let a = of("A", json!({ "ownerId": made["apart"]["team"]["id"] })).await;
    of("c", json!({ "ownerId": core })).await;
    schedule(&app, &b, EARLIER, LATER).await;
    schedule(&app, &a, "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z").await;
    let check = "mutation($input: CheckServicePropertyCreateInput!) { checkServicePropertyCreate(input: $input) { check { id } errors { message } } }";
    let input = json!({
        "name": "Written", "categoryId": made["category"]["category"]["id"], "levelId": made["level"]["level"]["id"],
        "serviceProperty": "language",
    });
    let check =
        app.query(check, json!({ "input": input })).await["data"]["checkServicePropertyCreate"]["check"]["id"].clone();
    for id in [&a, &b] {
        let input = json!({ "campaignId": id, "checkIds": [check] });
        let copied = send(&app, "checksCopyToCampaign", "ChecksCopyToCampaignInput", input).await;
        assert_eq!(copied["errors"], json!([]));
    }
    end(&app, &a).await;
    let query = "query($sort: CampaignSortEnum, $filter: [CampaignFilterInput!]) { account { campaigns(sortBy: $sort, filter: $filter) { nodes { name } totalCount } } }";
    let list = async |sort: Value, filter: Value| {
        let answer = app.query(query, json!({ "sort": sort, "filter": filter })).await;
        let nodes =
            answer["data"]["account"]["campaigns"]["nodes"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        nodes.iter().map(|node| node["name"].as_str().expect("a name").to_owned()).collect::<String>()
    };
    for (sort, ascending, descending) in [
        ("name", "Abc", "cbA"),
        ("owner", "Abc", "bcA"),
        ("filter", "bAc", "bAc"),
        // Of c, which has no checks, there is no share of results, and no service is complete.
        ("checks_passing", "Abc", "bAc"),
        ("services_complete", "cAb", "bAc"),
        ("start_date", "Abc", "bAc"),
        ("target_date", "Abc", "bAc"),
        ("ended_date", "Abc", "Abc"),
        ("status", "cbA", "Abc"),
    ] {
        assert_eq!(list(json!(format!("{sort}_ASC")), Value::Null).await, ascending, "{sort}");
        assert_eq!(list(json!(format!("{sort}_DESC")), Value::Null).await, descending, "{sort}");
    }
    let one = |key: &str, arg: &Value, ty: Value| json!([{ "key": key, "arg": arg, "type": ty }]);
    for (filter, expected) in [
        (json!(null), "bAc"),
        (json!([]), "bAc"),
        (one("id", &a, Value::Null), "A"),
        (one("id", &a, json!("does_not_equal")), "bc"),
        (one("owner", &core, json!("equals")), "bc"),
        (one("owner", &json!("apart"), json!("equals")), "A"),
        (one("owner", &json!("nobody"), json!("equals")), ""),
        (one("status", &json!("in_progress"), json!("equals")), "b"),
        (one("status", &json!("ended"), json!("does_not_equal")), "bc"),
        (json!([{ "key": "owner", "arg": "core" }, { "key": "status", "arg": "draft" }]), "c"),
    ] {
        assert_eq!(list(Value::Null, filter.clone()).await, expected, "{filter}");
    }
    for (filter, path) in [
        (json!([{ "key": "status", "arg": "over" }]), json!(["filter", "0", "arg"])),
        (json!([{ "key": "id", "arg": a }, { "key": "owner" }]), json!(["filter", "1", "arg"])),
    ] {
        let answer = app.query(query, json!({ "sort": null, "filter": filter })).await;
        assert!(
            answer["errors"][0]["message"].as_str().is_some_and(|message| message.contains("arg must be")),
            "{answer} {path}"
        );
    }
    let many: Vec<Value> = (0..51).map(|_| json!({ "key": "status", "arg": "draft" })).collect();
    let answer = app.query(query, json!({ "sort": null, "filter": many })).await;
    assert!(
        answer["errors"][0]["message"].as_str().is_some_and(|message| message.contains("at most 50 filters")),
        "{answer}"
    );
}

#[tokio::test]
async fn inputs_of_campaigns_are_refused_at_their_fields() {
    let app = TestApp::start().await;
    let (core, filter) = catalogue(&app).await;
    for (input, path) in [
        (json!({ "name": " ", "ownerId": core }), "name"),
        (json!({ "name": "N", "ownerId": core, "projectBrief": "d".repeat(50_001) }), "projectBrief"),
        (json!({ "name": "N", "ownerId": filter }), "ownerId"),
        (json!({ "name": "N", "ownerId": core, "filterId": core }), "filterId"),
    ] {
        let payload = create(&app, input).await;
        assert_eq!((&payload["campaign"], &payload["errors"][0]["path"]), (&Value::Null, &json!([path])), "{payload}");
    }
    let id = create(&app, json!({ "name": "N", "ownerId": core, "filterId": filter })).await["campaign"]["id"].clone();
    let update = send(&app, "campaignUpdate", "CampaignUpdateInput", json!({ "id": id, "name": null })).await;
    assert_eq!(update["errors"][0]["path"], json!(["name"]));
    let copy = async |campaign: &Value, checks: Vec<Value>| {
        let input = json!({ "campaignId": campaign, "checkIds": checks });
        send(&app, "checksCopyToCampaign", "ChecksCopyToCampaignInput", input).await["errors"][0]["path"].clone()
    };
    assert_eq!(copy(&core, Vec::new()).await, json!(["campaignId"]));
    assert_eq!(copy(&id, vec![core.clone()]).await, json!(["checkIds"]));
    assert_eq!(copy(&id, vec![core.clone(); 101]).await, json!(["checkIds"]));
    let delete = "mutation($id: ID!) { filterDelete(input: { id: $id }) { errors { message } } }";
    let answer =
        app.query(delete, json!({ "id": filter })).await["data"]["filterDelete"]["errors"][0]["message"].clone();
    assert_eq!(answer, json!("checks, scorecards or campaigns refer to this filter: change or delete them first"));
    // There is room for so many.
    let values: Vec<_> = (1..=MOST).map(|_| "('N', 1, 1)").collect();
    let insert = format!("INSERT INTO campaign (name, created_at, updated_at) VALUES {}", values.join(", "));
    app.db.write(async |tx| tx.script(&insert).await).await.expect("stored");
    let full = create(&app, json!({ "name": "One more", "ownerId": core })).await;
    assert_eq!(full["errors"][0]["message"], json!("no campaign can be added: there are at most 500"));
}

#[tokio::test]
async fn campaigns_are_changed_by_a_standards_administrator() {
    let app = TestApp::start().await;
    let (core, _) = catalogue(&app).await;
    let query =
        "mutation($core: ID!) { campaignCreate(input: { name: \"Mine\", ownerId: $core }) { errors { message } } }";
    let message = "only a standards administrator or an administrator can change levels, categories, checks, scorecards and campaigns";
    for (role, allowed) in
        [(Role::Admin, true), (Role::StandardsAdmin, true), (Role::User, false), (Role::TeamMember, false)]
    {
        let payload =
            Browser::of(&app, role).await.query(query, json!({ "core": core })).await["data"]["campaignCreate"].clone();
        let expected = if allowed { json!([]) } else { json!([{ "message": message }]) };
        assert_eq!(payload["errors"], expected, "{role:?}");
    }
}

#[tokio::test]
async fn a_standards_administrator_runs_a_campaign_on_the_pages() {
    let app = TestApp::start().await;
    let (_, filter) = catalogue(&app).await;
    let made = data(
        &app,
        r#"mutation {
        level: levelCreate(input: { name: "Bronze" }) { level { id } }
        category: categoryCreate(input: { name: "Safety" }) { category { id } }
        shop: serviceCreate(input: { name: "Shop" }) { errors { message } }
    }"#,
    )
    .await;
    let check = "mutation($input: CheckServicePropertyCreateInput!) { checkServicePropertyCreate(input: $input) { check { id } } }";
    let input = json!({
        "name": "Written", "categoryId": made["category"]["category"]["id"], "levelId": made["level"]["level"]["id"],
        "serviceProperty": "language",
    });
    let check =
        app.query(check, json!({ "input": input })).await["data"]["checkServicePropertyCreate"]["check"]["id"].clone();
    let check = check.as_str().expect("an id");
    let viewer = Browser::of(&app, Role::Viewer).await;
    assert!(!viewer.page("/standards").await.contains("/new/campaign"));
    assert_eq!(viewer.get("/new/campaign").await.status, 403);
    let mut ada = Browser::of(&app, Role::StandardsAdmin).await;
    assert!(ada.page("/standards").await.contains("href=\"/new/campaign\""));
    let filter = filter.as_str().expect("an id");
    assert!(ada.page("/new/campaign").await.contains(filter));
    for (form, text) in [
        ([("name", ""), ("ownerId", "core"), ("filterId", "")], "id=\"wrong-name\""),
        ([("name", "Push"), ("ownerId", "nobody"), ("filterId", "")], "No team has the alias &quot;nobody&quot;"),
        ([("name", "Push"), ("ownerId", "core"), ("filterId", "x")], "id=\"wrong-filterId\""),
    ] {
        let refused = ada.post("/new/campaign", &form).await;
        assert!(refused.status == 422 && refused.text().contains(text), "{text}: {refused:?}");
    }
    let form = [("name", "Push"), ("ownerId", "Core"), ("filterId", filter), ("projectBrief", "Say *why*.")];
    let made = ada.post("/new/campaign", &form).await;
    let edit = made.place();
    let page = edit.strip_suffix("/edit").expect("a form").to_owned();
    let shown = ada.page(edit).await;
    for text in ["value=\"Push\"", "value=\"Core\"", "Say *why*.", "It has no checks yet.", "Written (Bronze)"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let change = [("name", "Push on"), ("ownerId", "core"), ("filterId", ""), ("projectBrief", "")];
    assert_eq!(ada.post(edit, &change).await.location(), page);
    assert!(ada.post(&format!("{page}/check"), &[("checkIds", check)]).await.place().ends_with("/edit"));
    // The page of its check leads back to it. The original belongs to no campaign.
    let query = "query($id: ID) { account { campaign(id: $id) { checks { nodes { id } } } } }";
    let found = app.query(query, json!({ "id": page.rsplit('/').next() })).await["data"]["account"]["campaign"].clone();
    let copy = found["checks"]["nodes"][0]["id"].as_str().expect("an id");
    let shown = viewer.page(&format!("/standards/{copy}")).await;
    let fact = format!("<dt>Campaign</dt><dd><a href=\"{page}\">Push on</a></dd>");
    assert!(shown.contains(&fact), "{shown}");
    assert!(!viewer.page(&format!("/standards/{check}")).await.contains("<dt>Campaign</dt>"));
    let schedule = format!("{page}/schedule");
    for (form, text) in [
        ([("startDate", "2026-01-02"), ("targetDate", "soon")], "Write a day like 2026-11-21."),
        ([("startDate", "2026-01-02"), ("targetDate", "2025-01-02")], "Target must be after startDate"),
    ] {
        let refused = ada.post(&schedule, &form).await;
        assert!(refused.status == 422 && refused.text().contains(text), "{text}: {refused:?}");
        assert!(refused.text().contains("value=\"2026-01-02\""), "{refused:?}");
    }
    for (target, texts) in [("2999-01-02", ["in progress", " left"]), ("2026-01-03", ["delayed", " over"])] {
        let dates = [("startDate", "2026-01-02"), ("targetDate", target)];
        assert_eq!(ada.post(&schedule, &dates).await.location(), page);
        let shown = viewer.page(&page).await;
        for text in texts.into_iter().chain([
            "<h1>Push on</h1>",
            "2 Jan 2026",
            "0 of 1",
            "all services",
            "Written",
            "href=\"/services/shop\"",
        ]) {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains("/edit\""), "{shown}");
    }
    assert!(viewer.page("/standards").await.contains("Push on"));
    assert_eq!(ada.post(&format!("{page}/unschedule"), &[]).await.location(), page);
    assert!(ada.page(&page).await.contains("draft"));
    assert!(ada.post(&format!("{page}/end"), &[]).await.text().contains("this campaign has not begun"));
    ada.post(&schedule, &[("startDate", "2026-01-02"), ("targetDate", "2999-01-02")]).await;
    assert_eq!(ada.post(&format!("{page}/end"), &[]).await.location(), page);
    assert!(ada.page(edit).await.contains("It has ended."));
    let other = ada.post(&format!("{page}/check-delete"), &[("id", check)]).await;
    assert_eq!(other.status, 404, "the original is not of this campaign");
    assert_eq!(ada.post(&format!("{page}/delete"), &[]).await.location(), "/standards");
    assert_eq!(ada.get(&page).await.status, 404);
}
