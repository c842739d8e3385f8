//! Scorecards: what clients read back, how their checks count, and who changes them.

use rollcall::db::Write as _;
use rollcall::entity::scorecard::MOST;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// All that clients select of a scorecard.
const WHOLE: &str = "aliases affectsOverallServiceLevels description filter { id name } href id name owner { alias id }
    passingChecks passingChecksPercentage serviceCount servicesReport { levelCounts { level { alias } serviceCount } }
    slug totalChecks categories { nodes { id name } edges { cursor node { id } } pageInfo { hasNextPage } totalCount }";

/// Two services in three levels: the shop has a tag, mail has none. Answers the ids that inputs need.
async fn catalogue(app: &TestApp) -> Value {
    let made = data(
        app,
        r#"mutation {
        a: levelCreate(input: { name: "Beginner" }) { level { id } errors { message } }
        b: levelCreate(input: { name: "Bronze" }) { level { id } errors { message } }
        c: levelCreate(input: { name: "Silver" }) { level { id } errors { message } }
        safety: categoryCreate(input: { name: "Safety" }) { category { id } errors { message } }
        core: teamCreate(input: { name: "Core" }) { team { id } errors { message } }
        shop: serviceCreate(input: { name: "Shop" }) { service { id } errors { message } }
        mail: serviceCreate(input: { name: "Mail", language: "Go" }) { service { id } errors { message } }
        tag: tagCreate(input: { alias: "shop", key: "env", value: "prod" }) { errors { message } }
        written: filterCreate(input: { name: "In Go", predicates: [{ key: language, type: equals, value: "Go" }] }) {
            filter { id } errors { message }
        }
    }"#,
    )
    .await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    json!({
        "bronze": made["b"]["level"]["id"], "silver": made["c"]["level"]["id"], "safety": made["safety"]["category"]["id"],
        "core": made["core"]["team"]["id"], "filter": made["written"]["filter"]["id"],
    })
}

/// Creates a scorecard. Answers the payload.
async fn create(app: &TestApp, input: Value) -> Value {
    let query = format!(
        "mutation($input: ScorecardInput!) {{ scorecardCreate(input: $input) {{ scorecard {{ {WHOLE} }} errors {{ message path }} }} }}"
    );
    app.query(&query, json!({ "input": input })).await["data"]["scorecardCreate"].clone()
}

async fn update(app: &TestApp, id: &Value, input: Value) -> Value {
    let query = format!(
        "mutation($of: IdentifierInput!, $input: ScorecardInput!) {{
            scorecardUpdate(scorecard: $of, input: $input) {{ scorecard {{ {WHOLE} }} errors {{ message path }} }} }}"
    );
    app.query(&query, json!({ "of": { "id": id }, "input": input })).await["data"]["scorecardUpdate"].clone()
}

async fn delete(app: &TestApp, id: &Value) -> Value {
    let query = "mutation($of: IdentifierInput!) { scorecardDelete(input: $of) { deletedScorecardId errors { message path } } }";
    app.query(query, json!({ "of": { "id": id } })).await["data"]["scorecardDelete"].clone()
}

/// Creates a check that asks for the tag `env`. Answers its id.
async fn check(app: &TestApp, category: &Value, level: &Value) -> Value {
    let query = "mutation($input: CheckTagDefinedCreateInput!) {
        checkTagDefinedCreate(input: $input) { check { id } errors { message } }
    }";
    let input = json!({ "name": "Tagged", "categoryId": category, "levelId": level, "enabled": true, "tagKey": "env" });
    let payload = app.query(query, json!({ "input": input })).await["data"]["checkTagDefinedCreate"].clone();
    assert_eq!(payload["errors"], json!([]));
    payload["check"]["id"].clone()
}

/// The overall levels of the shop and of mail.
async fn levels(app: &TestApp) -> Value {
    let query = "{ account { services { nodes { maturityReport { overallLevel { alias } } } } } }";
    let services = data(app, query).await["account"]["services"]["nodes"].clone();
    let levels = services.as_array().expect("services").iter();
    levels.map(|service| service["maturityReport"]["overallLevel"]["alias"].clone()).collect()
}

#[tokio::test]
async fn clients_read_back_every_field_of_a_scorecard_as_they_set_it() {
    let app = TestApp::start().await;
    let ids = catalogue(&app).await;
    let least = create(&app, json!({ "name": "Least", "ownerId": ids["core"] })).await;
    assert_eq!(least["errors"], json!([]));
    let none = json!({ "name": "None", "ownerId": ids["core"], "affectsOverallServiceLevels": null, "description": null, "filterId": null });
    for scorecard in [&least["scorecard"], &create(&app, none).await["scorecard"]] {
        assert_eq!(
            json!([scorecard["affectsOverallServiceLevels"], scorecard["description"], scorecard["filter"]]),
            json!([false, null, null])
        );
    }
    let input = json!({
        "name": "Fit for Go", "ownerId": ids["core"], "affectsOverallServiceLevels": true, "description": "d", "filterId": ids["filter"],
    });
    let made = create(&app, input).await["scorecard"].clone();
    let (id, category) = (made["id"].clone(), made["categories"]["nodes"][0]["id"].clone());
    let zero = |alias| json!({ "level": { "alias": alias }, "serviceCount": 0 });
    assert_eq!(
        made,
        json!({
            "aliases": ["fit_for_go"], "affectsOverallServiceLevels": true, "description": "d",
            "filter": { "id": ids["filter"], "name": "In Go" }, "href": made["href"], "id": id, "name": "Fit for Go",
            "owner": { "alias": "core", "id": ids["core"] }, "passingChecks": 0, "passingChecksPercentage": 0,
            "serviceCount": 1, "slug": "fit_for_go", "totalChecks": 0,
            "servicesReport": { "levelCounts": [zero("beginner"), zero("bronze"), zero("silver")] },
            "categories": {
                "nodes": [{ "id": category, "name": "Fit for Go" }],
                "edges": [{ "cursor": made["categories"]["edges"][0]["cursor"], "node": { "id": category } }],
                "pageInfo": { "hasNextPage": false }, "totalCount": 1,
            },
        })
    );
    assert!(made["href"].as_str().expect("a URL").ends_with("/standards/scorecards/fit_for_go"), "{made}");
    // Absent and null leave and clear.
    let same =
        update(&app, &id, json!({ "name": "Fit for Go", "ownerId": ids["core"], "affectsOverallServiceLevels": null }))
            .await;
    assert_eq!((&same["errors"], &same["scorecard"]), (&json!([]), &made));
    let cleared = json!({ "name": "Fitter", "ownerId": ids["core"], "description": null, "filterId": null, "affectsOverallServiceLevels": false });
    let cleared = update(&app, &id, cleared).await["scorecard"].clone();
    assert_eq!(
        json!([
            cleared["description"],
            cleared["filter"],
            cleared["affectsOverallServiceLevels"],
            cleared["serviceCount"],
            cleared["slug"]
        ]),
        json!([null, null, false, 2, "fitter"])
    );
    // Its category has its name.
    assert_eq!(cleared["categories"]["nodes"][0]["name"], json!("Fitter"));
    let query = "query($id: ID, $alias: String) { account {
        a: scorecard(input: { id: $id }) { name } b: scorecard(input: { alias: $alias }) { name } c: scorecard(input: { alias: \"no\" }) { name }
        scorecards(first: 2) { nodes { name } pageInfo { hasNextPage } totalCount } rubric { categories { nodes { name } } }
    } }";
    let found = app.query(query, json!({ "id": id, "alias": "fit_for_go" })).await["data"]["account"].clone();
    assert_eq!(
        found,
        json!({
            "a": { "name": "Fitter" }, "b": { "name": "Fitter" }, "c": null,
            "scorecards": { "nodes": [{ "name": "Least" }, { "name": "None" }], "pageInfo": { "hasNextPage": true }, "totalCount": 3 },
            "rubric": { "categories": { "nodes": [{ "name": "Safety" }] } },
        })
    );
    assert_eq!(delete(&app, &id).await, json!({ "deletedScorecardId": id, "errors": [] }));
    let gone = app.query(query, json!({ "id": id, "alias": "fitter" })).await["data"]["account"].clone();
    assert_eq!(json!([gone["a"], gone["b"], gone["scorecards"]["totalCount"]]), json!([null, null, 2]));
}

#[tokio::test]
async fn the_checks_of_a_scorecard_count_towards_levels_only_if_it_says_so() {
    let app = TestApp::start().await;
    let ids = catalogue(&app).await;
    let input = json!({ "name": "Tags", "ownerId": ids["core"] });
    let made = create(&app, input.clone()).await["scorecard"].clone();
    check(&app, &made["categories"]["nodes"][0]["id"], &ids["silver"]).await;
    // No check of the rubric counts, so nothing is measured.
    assert_eq!(levels(&app).await, json!([null, null]));
    check(&app, &ids["safety"], &ids["bronze"]).await;
    assert_eq!(levels(&app).await, json!(["silver", "beginner"]));
    let of = "{ account { scorecard(input: { alias: \"tags\" }) {
        passingChecks totalChecks passingChecksPercentage serviceCount servicesReport { levelCounts { level { alias } serviceCount } }
        reports { check { name } services passed failing { serviceAlias } }
    } servicesReport {
        totalServices levelCounts { level { alias } serviceCount } categoryLevelCounts { category { name } level { alias } serviceCount }
    } rubric { reports { services passed } } } }";
    let account = data(&app, of).await["account"].clone();
    let count = |alias: &str, services: i32| json!({ "level": { "alias": alias }, "serviceCount": services });
    assert_eq!(
        account["scorecard"],
        json!({
            "passingChecks": 1, "totalChecks": 2, "passingChecksPercentage": 50, "serviceCount": 2,
            "servicesReport": { "levelCounts": [count("beginner", 0), count("bronze", 1), count("silver", 1)] },
            "reports": [{ "check": { "name": "Tagged" }, "services": 2, "passed": 1, "failing": [{ "serviceAlias": "mail" }] }],
        })
    );
    assert_eq!(account["rubric"]["reports"], json!([{ "services": 2, "passed": 1 }]));
    let in_safety = |alias: &str, services: i32| json!({ "category": { "name": "Safety" }, "level": { "alias": alias }, "serviceCount": services });
    assert_eq!(
        account["servicesReport"],
        json!({
            "totalServices": 2, "levelCounts": [count("beginner", 1), count("bronze", 0), count("silver", 1)],
            "categoryLevelCounts": [in_safety("beginner", 1), in_safety("bronze", 0), in_safety("silver", 1)],
        })
    );
    // Mail has a tag too; what it lacks now is what the shop has not either: a language.
    data(&app, r#"mutation { tagCreate(input: { alias: "mail", key: "env", value: "dev" }) { errors { message } } }"#)
        .await;
    assert_eq!(levels(&app).await, json!(["silver", "silver"]));
    let missed = r#"mutation($input: CheckServicePropertyCreateInput!) { checkServicePropertyCreate(input: $input) { errors { message } } }"#;
    let missed_input = json!({
        "name": "Written", "categoryId": made["categories"]["nodes"][0]["id"], "levelId": ids["silver"], "enabled": true,
        "serviceProperty": "language",
    });
    app.query(missed, json!({ "input": missed_input })).await;
    assert_eq!(levels(&app).await, json!(["silver", "silver"]));
    let with = |more: Value| {
        let mut all = input.clone();
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        all
    };
    update(&app, &made["id"], with(json!({ "affectsOverallServiceLevels": true }))).await;
    assert_eq!(levels(&app).await, json!(["bronze", "silver"]));
    // Only for the services of its filter: mail is in Go, the shop is not.
    update(&app, &made["id"], with(json!({ "filterId": ids["filter"] }))).await;
    assert_eq!(levels(&app).await, json!(["silver", "silver"]));
    let scorecard = data(&app, of).await["account"]["scorecard"].clone();
    assert_eq!(
        json!([scorecard["serviceCount"], scorecard["totalChecks"], scorecard["passingChecks"]]),
        json!([1, 2, 2])
    );
    assert_eq!(
        scorecard["servicesReport"]["levelCounts"],
        json!([count("beginner", 0), count("bronze", 0), count("silver", 1)])
    );
}

#[tokio::test]
async fn inputs_of_scorecards_are_refused_at_their_fields() {
    let app = TestApp::start().await;
    let ids = catalogue(&app).await;
    let (core, filter) = (&ids["core"], &ids["filter"]);
    for (input, path) in [
        (json!({ "name": " ", "ownerId": core }), "name"),
        (json!({ "name": "n".repeat(256), "ownerId": core }), "name"),
        (json!({ "name": "N", "ownerId": core, "description": "d".repeat(5_001) }), "description"),
        (json!({ "name": "N", "ownerId": filter }), "ownerId"),
        (json!({ "name": "N", "ownerId": core, "filterId": core }), "filterId"),
    ] {
        let payload = create(&app, input.clone()).await;
        assert_eq!((&payload["scorecard"], &payload["errors"][0]["path"]), (&Value::Null, &json!([path])), "{input}");
    }
    let made = create(&app, json!({ "name": "N", "ownerId": core, "filterId": filter })).await["scorecard"].clone();
    let category = &made["categories"]["nodes"][0]["id"];
    let in_use = check(&app, category, &ids["bronze"]).await;
    let used = |noun: &str, by: &str| json!(format!("{by} refer to this {noun}: change or delete them first"));
    assert_eq!(delete(&app, &made["id"]).await["errors"][0]["message"], used("scorecard", "checks"));
    let others = "mutation($filter: ID!, $category: ID!) {
        filterDelete(input: { id: $filter }) { errors { message } } categoryDelete(input: { id: $category }) { errors { message } }
    }";
    let refused =
        async |query: &str| app.query(query, json!({ "filter": filter, "category": category })).await["data"].clone();
    let answer = refused(others).await;
    assert_eq!(answer["filterDelete"]["errors"][0]["message"], used("filter", "checks, scorecards or campaigns"));
    let message = "this is the category of a scorecard: delete the scorecard";
    assert_eq!(answer["categoryDelete"]["errors"][0]["message"], json!(message));
    let remove = "mutation($id: ID!) { checkDelete(input: { id: $id }) { errors { message } } }";
    app.query(remove, json!({ "id": in_use })).await;
    assert_eq!(delete(&app, &made["id"]).await["errors"], json!([]));
    // There is room for so many.
    let values: Vec<_> = (1..=MOST).map(|place| format!("('N', 'n{place}', false, 1, 1)")).collect();
    let insert = format!(
        "INSERT INTO scorecard (name, slug, affects_overall_service_levels, created_at, updated_at) VALUES {}",
        values.join(", ")
    );
    app.db.write(async |tx| tx.script(&insert).await).await.expect("stored");
    let full = create(&app, json!({ "name": "One more", "ownerId": core })).await;
    assert_eq!(full["errors"][0]["message"], json!("no scorecard can be added: there are at most 500"));
}

#[tokio::test]
async fn scorecards_are_changed_by_a_standards_administrator() {
    let app = TestApp::start().await;
    let ids = catalogue(&app).await;
    let query = "mutation($core: ID!) { scorecardCreate(input: { name: \"Mine\", ownerId: $core }) { scorecard { id } errors { message } } }";
    let message = "only a standards administrator or an administrator can change levels, categories, checks, scorecards and campaigns";
    for (role, allowed) in
        [(Role::Admin, true), (Role::StandardsAdmin, true), (Role::User, false), (Role::TeamMember, false)]
    {
        let browser = Browser::of(&app, role).await;
        let payload = browser.query(query, json!({ "core": ids["core"] })).await["data"]["scorecardCreate"].clone();
        let expected = if allowed { json!([]) } else { json!([{ "message": message }]) };
        assert_eq!(payload["errors"], expected, "{role:?}");
        // Nor do others give one an alias.
        let alias =
            "mutation($id: ID!) { aliasCreate(input: { ownerId: \"mine\", alias: \"own\" }) { errors { message } }
            more: aliasDelete(input: { ownerType: scorecard, alias: \"own\" }) { errors { message } } }";
        let alias = alias.replace("\"mine\"", "$id");
        let scorecard =
            data(&app, "{ account { scorecards { nodes { id } } } }").await["account"]["scorecards"]["nodes"][0]["id"]
                .clone();
        let answer = browser.query(&alias, json!({ "id": scorecard })).await["data"].clone();
        assert_eq!((&answer["aliasCreate"]["errors"], &answer["more"]["errors"]), (&expected, &expected), "{role:?}");
    }
}

#[tokio::test]
async fn results_that_do_not_count_towards_levels_are_told_with_their_scorecard_or_campaign() {
    let app = TestApp::start().await;
    let ids = catalogue(&app).await;
    let aside =
        create(&app, json!({ "name": "Ready for the sale", "ownerId": ids["core"] })).await["scorecard"].clone();
    let counting = json!({ "name": "Base", "ownerId": ids["core"], "affectsOverallServiceLevels": true });
    let counting = create(&app, counting).await["scorecard"].clone();
    check(&app, &ids["safety"], &ids["bronze"]).await;
    let copied = check(&app, &aside["categories"]["nodes"][0]["id"], &ids["bronze"]).await;
    check(&app, &counting["categories"]["nodes"][0]["id"], &ids["bronze"]).await;
    let campaign = |name: &str| {
        let create = "mutation($name: String!, $owner: ID!) {
            campaignCreate(input: { name: $name, ownerId: $owner }) { campaign { id } errors { message } } }";
        let (app, variables) = (&app, json!({ "name": name, "owner": ids["core"] }));
        async move { app.query(create, variables).await["data"]["campaignCreate"]["campaign"]["id"].clone() }
    };
    let (running, draft) = (campaign("Tags everywhere").await, campaign("Later").await);
    for id in [&running, &draft] {
        let copy = "mutation($id: ID!, $check: ID!) {
            checksCopyToCampaign(input: { campaignId: $id, checkIds: [$check] }) { errors { message } } }";
        let done = app.query(copy, json!({ "id": id, "check": copied })).await;
        assert_eq!(done["data"]["checksCopyToCampaign"]["errors"], json!([]), "{done}");
    }
    let begin = "mutation($id: ID!) { campaignScheduleUpdate(input: {
        id: $id, startDate: \"2026-01-02T03:04:05Z\", targetDate: \"2999-01-02T03:04:05Z\" }) { errors { message } } }";
    let done = app.query(begin, json!({ "id": running })).await;
    assert_eq!(done["data"]["campaignScheduleUpdate"]["errors"], json!([]), "{done}");

    let query = "{ account { services { nodes { name
        maturityReport { latestCheckResults { status home { kind name htmlUrl } } }
        otherCheckResults { status check { name } home { kind name htmlUrl } } } } } }";
    let services = data(&app, query).await["account"]["services"]["nodes"].clone();
    for (place, name, status) in [(0, "Shop", "passed"), (1, "Mail", "failed")] {
        let service = &services[place];
        let told = |results: &Value| -> Vec<(String, String)> {
            let results = results.as_array().expect("results").iter();
            let word = |value: &Value| value.as_str().unwrap_or("none").to_owned();
            results.map(|one| (word(&one["home"]["kind"]), word(&one["home"]["name"]))).collect()
        };
        let pair = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        let overall = told(&service["maturityReport"]["latestCheckResults"]);
        assert_eq!(service["name"], name);
        assert_eq!(overall, [pair("none", "none"), pair("scorecard", "Base")], "{service}");
        let others = &service["otherCheckResults"];
        let expected = [pair("scorecard", "Ready for the sale"), pair("campaign", "Tags everywhere")];
        assert_eq!(told(others), expected, "{service}");
        assert!(others.as_array().expect("results").iter().all(|one| one["status"] == status), "{service}");
        let url = others[0]["home"]["htmlUrl"].as_str().expect("a URL");
        assert!(url.ends_with("/standards/scorecards/ready_for_the_sale"), "{url}");
    }
    let end = "mutation($id: ID!) { campaignEnd(input: { id: $id }) { errors { message } } }";
    app.query(end, json!({ "id": running })).await;
    let services = data(&app, query).await["account"]["services"]["nodes"].clone();
    assert_eq!(services[1]["otherCheckResults"].as_array().map(Vec::len), Some(1), "a campaign that has ended is over");
}
