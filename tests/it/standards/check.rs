//! Checks: what each kind asks, what it says, and which level follows.

use rollcall::entity::Timestamp;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, ids, outcome, predicate, send, services};
use crate::harness::tour::Tour;

async fn delete(app: &TestApp, check: &Value) {
    let delete = "mutation($id: ID!) { checkDelete(input: { id: $id }) { errors { message } } }";
    assert_eq!(app.query(delete, json!({ "id": check["id"] })).await["data"]["checkDelete"]["errors"], json!([]));
}

#[tokio::test]
async fn each_kind_of_check_asks_the_catalogue() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let definition = ids(app).await["definition"].clone();
    let counted = |kind: &str, value: &str| json!({ "relationshipDefinitionId": definition, "relationshipCountPredicate": predicate(kind, value) });
    let of = |field: &str, comparison: Value| json!({ "serviceProperty": field, "propertyValuePredicate": comparison });
    let custom = |comparison: Value| {
        json!({
            "serviceProperty": "custom_property", "propertyDefinition": { "alias": "data_class" },
            "propertyValuePredicate": comparison,
        })
    };
    let env = |comparison: Value| json!({ "tagKey": "env", "tagPredicate": comparison });
    let runbook = |name: Value, url: Value, environment: Value| json!({ "toolCategory": "runbooks", "toolNamePredicate": name, "toolUrlPredicate": url, "environmentPredicate": environment });
    let (yes, shop, both, none) =
        ("passed passed passed", "passed failed failed", "passed passed failed", "failed failed failed");
    let unknown = "pending pending pending";
    for (kind, own, expected) in [
        ("ServiceOwnership", json!({}), both),
        ("ServiceOwnership", json!({ "requireContactMethod": true }), shop),
        ("ServiceOwnership", json!({ "requireContactMethod": true, "contactMethod": "ANY" }), shop),
        ("ServiceOwnership", json!({ "requireContactMethod": true, "contactMethod": "SLACK" }), shop),
        ("ServiceOwnership", json!({ "requireContactMethod": true, "contactMethod": "email" }), none),
        ("ServiceOwnership", json!({ "requireContactMethod": false, "contactMethod": "email" }), both),
        ("ServiceOwnership", json!({ "tagKey": "site" }), shop),
        ("ServiceOwnership", json!({ "tagKey": "site", "tagPredicate": predicate("equals", "south") }), none),
        ("ServiceOwnership", json!({ "tagKey": "site", "tagPredicate": predicate("matches_regex", "^n") }), shop),
        (
            "ServiceOwnership",
            json!({ "tagKey": "site", "tagPredicate": { "type": "does_not_exist" } }),
            "failed passed failed",
        ),
        ("ServiceProperty", of("language", Value::Null), both),
        ("ServiceProperty", of("language", predicate("equals", "Rust")), shop),
        ("ServiceProperty", of("language", predicate("does_not_equal", "Rust")), "failed passed passed"),
        ("ServiceProperty", of("language", predicate("does_not_match_regex", "^R")), "failed passed passed"),
        ("ServiceProperty", of("language", json!({ "type": "does_not_exist" })), "failed failed passed"),
        ("ServiceProperty", of("framework", predicate("satisfies_version_constraint", "^1.2")), shop),
        ("ServiceProperty", of("description", predicate("contains", "thing")), shop),
        ("ServiceProperty", of("name", predicate("ends_with", "l")), "failed passed failed"),
        ("ServiceProperty", of("note", Value::Null), shop),
        ("ServiceProperty", of("product", predicate("starts_with", "Sh")), shop),
        ("ServiceProperty", of("system", Value::Null), shop),
        ("ServiceProperty", of("system", predicate("matches_regex", "(?i)^till$")), shop),
        ("ServiceProperty", of("tier_index", Value::Null), both),
        ("ServiceProperty", of("tier_index", predicate("less_than_or_equal_to", "1")), shop),
        ("ServiceProperty", of("tier_index", predicate("equals", "3")), "failed passed failed"),
        ("ServiceProperty", of("tier_index", predicate("does_not_equal", "3")), "passed failed passed"),
        ("ServiceProperty", of("lifecycle_index", json!({ "type": "exists" })), shop),
        ("ServiceProperty", custom(Value::Null), shop),
        ("ServiceProperty", custom(predicate("equals", "personal")), shop),
        ("ServiceProperty", custom(predicate("equals", "public")), none),
        ("ServiceProperty", custom(json!({ "type": "does_not_exist" })), "failed passed passed"),
        ("TagDefined", env(Value::Null), both),
        ("TagDefined", env(predicate("equals", "prod")), shop),
        ("TagDefined", env(predicate("matches_regex", "^(prod|dev)$")), both),
        ("TagDefined", env(predicate("does_not_equal", "prod")), "failed passed failed"),
        ("TagDefined", env(json!({ "type": "does_not_exist" })), "failed failed passed"),
        ("TagDefined", json!({ "tagKey": "other" }), none),
        ("ToolUsage", runbook(Value::Null, Value::Null, Value::Null), both),
        ("ToolUsage", json!({ "toolCategory": "logs" }), none),
        ("ToolUsage", runbook(predicate("equals", "Runbook"), Value::Null, Value::Null), shop),
        (
            "ToolUsage",
            runbook(Value::Null, predicate("matches_regex", "^https://notes"), Value::Null),
            "failed passed failed",
        ),
        // Both of one tool.
        ("ToolUsage", runbook(predicate("equals", "Notes"), Value::Null, predicate("equals", "prod")), none),
        (
            "ToolUsage",
            runbook(predicate("matches_regex", "Not"), predicate("contains", "notes"), predicate("equals", "dev")),
            "failed passed failed",
        ),
        ("RepositoryIntegrated", json!({}), shop),
        ("ServiceDependency", json!({}), shop),
        ("ServiceConfiguration", json!({}), shop),
        ("Relationship", counted("greater_than_or_equal_to", "1"), shop),
        ("Relationship", counted("equals", "0"), "failed passed passed"),
        ("Relationship", counted("less_than_or_equal_to", "1"), yes),
        ("HasRecentDeploy", json!({ "days": 3 }), shop),
        ("HasRecentDeploy", json!({ "days": 1 }), none),
        ("HasRecentDeploy", json!({ "days": 41 }), both),
        // The shop needs mail, which is less critical. Nothing says how the deploys went, and from when their commits are.
        ("DependencyTier", json!({}), "failed passed pending"),
        ("DeployMetrics", json!({ "metric": "change_failure_rate", "maxAllowed": 100, "days": 90 }), unknown),
        ("DeployMetrics", json!({ "metric": "change_lead_time", "maxAllowed": 8760, "days": 90 }), unknown),
        ("CodeIssue", json!({ "constraint": "any" }), "passed failed passed"),
        ("CodeIssue", json!({ "constraint": "any", "maxAllowed": 1 }), "passed failed passed"),
        ("CodeIssue", json!({ "constraint": "any", "maxAllowed": 2 }), yes),
        (
            "CodeIssue",
            json!({ "constraint": "any", "severity": ["HIGH", "low"], "maxAllowed": 1 }),
            "passed failed passed",
        ),
        ("CodeIssue", json!({ "constraint": "any", "severity": ["critical"] }), yes),
        (
            "CodeIssue",
            json!({ "constraint": "any", "issueType": ["SNYK:vuln"], "severity": ["high"] }),
            "passed failed passed",
        ),
        ("CodeIssue", json!({ "constraint": "contains", "issueName": "PARSER" }), "passed failed passed"),
        ("CodeIssue", json!({ "constraint": "exact", "issueName": "Bad" }), yes),
        ("CodeIssue", json!({ "constraint": "exact", "issueName": "Bad parser" }), "passed failed passed"),
        (
            "CodeIssue",
            json!({ "constraint": "any", "resolutionTime": { "unit": "month", "value": 1 }, "maxAllowed": 1 }),
            yes,
        ),
        (
            "CodeIssue",
            json!({ "constraint": "any", "resolutionTime": { "unit": "week", "value": 1 } }),
            "passed failed passed",
        ),
        ("HasDocumentation", json!({ "documentType": "api", "documentSubtype": "openapi" }), shop),
        ("HasDocumentation", json!({ "documentType": "tech", "documentSubtype": "openapi" }), both),
        ("AlertSourceUsage", json!({}), shop),
        (
            "AlertSourceUsage",
            json!({ "alertSourceType": "custom", "alertSourceNamePredicate": predicate("matches_regex", "Mon") }),
            shop,
        ),
        ("AlertSourceUsage", json!({ "alertSourceType": "pagerduty" }), none),
        (
            "AlertSourceUsage",
            json!({ "alertSourceNamePredicate": { "type": "does_not_exist" } }),
            "failed passed passed",
        ),
        ("Manual", json!({ "updateRequiresComment": true }), unknown),
    ] {
        let check = create(app, kind, own.clone()).await;
        let (statuses, messages) = outcome(app, &check).await;
        assert_eq!(statuses, expected, "{kind} {own}: {messages:?}");
        // The report of the check counts the same.
        let report = "query($id: ID!) { account { checkReport(id: $id) {
            services passed failed pending failing { status message serviceAlias }
        } } }";
        let report = app.query(report, json!({ "id": check["id"] })).await["data"]["account"]["checkReport"].clone();
        let count = |status: &str| statuses.split(' ').filter(|own| *own == status).count();
        assert_eq!(
            (&report["services"], &report["passed"], &report["failed"], &report["pending"]),
            (&json!(3), &json!(count("passed")), &json!(count("failed")), &json!(count("pending"))),
            "{kind} {own}"
        );
        let failing: Vec<_> =
            report["failing"].as_array().expect("a list").iter().map(|one| one["message"].clone()).collect();
        let expected: Vec<_> = statuses
            .split(' ')
            .zip(messages)
            .filter(|(status, _)| *status != "passed")
            .map(|(_, message)| json!(message))
            .collect();
        assert_eq!(failing, expected, "{kind} {own}");
        delete(app, &check).await;
    }
}

#[tokio::test]
async fn a_result_says_what_was_found_and_what_is_wanted() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let tag = create(app, "TagDefined", json!({ "tagKey": "env", "tagPredicate": predicate("equals", "prod") })).await;
    assert_eq!(tag["description"], json!("The service has a tag \"env\" whose value equals \"prod\"."));
    let wanted = "Wanted: a tag \"env\" whose value equals \"prod\".";
    let expected = [
        "Its tag \"env\" is \"prod\".".to_owned(),
        format!("Its tag \"env\" is \"dev\". {wanted}"),
        format!("It has no tag \"env\". {wanted}"),
    ];
    assert_eq!(outcome(app, &tag).await.1, expected);
    let owner =
        create(app, "ServiceOwnership", json!({ "requireContactMethod": true, "contactMethod": "slack" })).await;
    let wanted = "Wanted: an owner with a contact of the type slack.";
    let expected =
        ["Its owner is Core.".to_owned(), format!("Its owner is Lone. {wanted}"), format!("It has no owner. {wanted}")];
    assert_eq!(outcome(app, &owner).await.1, expected);
    let tools = create(
        app,
        "ToolUsage",
        json!({ "toolCategory": "runbooks", "environmentPredicate": predicate("equals", "prod") }),
    )
    .await;
    let wanted = "Wanted: a tool of the category runbooks whose environment equals \"prod\".";
    let expected = [
        "It has the tool \"Runbook\".".to_owned(),
        format!("It has the tool \"Notes\". {wanted}"),
        format!("It has no tool of the category runbooks. {wanted}"),
    ];
    assert_eq!(outcome(app, &tools).await.1, expected);
    // Pages call them links.
    let viewer = Browser::of(app, Role::Viewer).await;
    let told = "It has no link of the category runbooks. Wanted: a link of the category runbooks whose environment";
    for page in ["/services/bare", "/services/bare/standards"] {
        let page = viewer.page(page).await;
        assert!(page.contains(told) && !page.contains("no tool of"), "{page}");
    }
    let page = viewer.page(&format!("/standards/{}", tools["id"].as_str().expect("an id"))).await;
    assert!(page.contains("The service has a link of the category runbooks") && page.contains(told), "{page}");
}

#[tokio::test]
async fn a_service_has_the_level_below_the_lowest_check_that_it_misses() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let standing = async || {
        let query = "{ account { services { nodes { alias
            maturityReport { overallLevel { name } categoryBreakdown { category { name } level { name } } }
            checkStats { totalChecks totalPassingChecks }
            serviceStats { rubric { level { name } checkResults { nextLevel { level { name } } byLevel { totalCount nodes {
                level { name } items { totalCount nodes { check { name } status service { alias } } }
            } } } } }
        } } } }";
        let services = data(app, query).await["account"]["services"]["nodes"].clone();
        let of = |service: &Value| {
            let (report, rubric) = (&service["maturityReport"], &service["serviceStats"]["rubric"]);
            assert_eq!(report["overallLevel"], rubric["level"]);
            let name = |level: &Value| level["name"].as_str().unwrap_or("-").to_owned();
            let categories = report["categoryBreakdown"].as_array().map(Vec::as_slice).unwrap_or_default();
            let categories: Vec<_> =
                categories.iter().map(|one| format!("{}={}", name(&one["category"]), name(&one["level"]))).collect();
            let next = name(&rubric["checkResults"]["nextLevel"]["level"]);
            let (total, passing) =
                (&service["checkStats"]["totalChecks"], &service["checkStats"]["totalPassingChecks"]);
            format!("{} {} next {next} {passing}/{total}", name(&report["overallLevel"]), categories.join(" "))
        };
        services.as_array().expect("services").iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(standing().await, vec!["-  next - 0/0"; 3], "no check counts");
    let with = |level: &str, category: &str, more: Value| {
        let mut input = json!({ "levelId": ids[level], "categoryId": ids[category] });
        input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        input
    };
    let owner = create(app, "ServiceOwnership", with("Bronze", "Safety", json!({}))).await;
    create(
        app,
        "TagDefined",
        with("Silver", "Care", json!({ "tagKey": "env", "tagPredicate": predicate("equals", "prod") })),
    )
    .await;
    let expected = [
        "Silver Safety=Silver Care=Silver next - 2/2",
        "Bronze Safety=Silver Care=Bronze next Silver 1/2",
        "Beginner Safety=Beginner Care=Bronze next Bronze 0/2",
    ];
    assert_eq!(standing().await, expected);
    // The lowest level is where a service begins.
    let lowest = create(app, "RepositoryIntegrated", with("Beginner", "Safety", json!({}))).await;
    let expected = [
        "Silver Safety=Silver Care=Silver next - 3/3",
        "Beginner Safety=Beginner Care=Bronze next Bronze 1/3",
        "Beginner Safety=Beginner Care=Bronze next Bronze 0/3",
    ];
    assert_eq!(standing().await, expected);
    delete(app, &lowest).await;
    // A check does not concern services that its filter leaves out.
    let filter = r#"mutation { filterCreate(input: { name: "Owned", predicates: [{ key: owner_ids, type: exists }] }) { filter { id } errors { message } } }"#;
    let filter = data(app, filter).await["filterCreate"]["filter"]["id"].clone();
    let changed = send(app, "checkServiceOwnershipUpdate", json!({ "id": owner["id"], "filterId": filter })).await;
    assert_eq!(changed["errors"], json!([]));
    let bare = "Bronze Safety=Silver Care=Bronze next Silver 0/1";
    assert_eq!(standing().await[2], bare);
    let message = "checks, scorecards or campaigns refer to this filter: change or delete them first";
    let refused = app
        .query(
            "mutation($id: ID!) { filterDelete(input: { id: $id }) { errors { message path } } }",
            json!({ "id": filter }),
        )
        .await;
    assert_eq!(refused["data"]["filterDelete"]["errors"], json!([{ "message": message, "path": ["base"] }]));
    for (mutation, ty, id, noun) in [
        ("levelDelete", "LevelDeleteInput", &ids["Silver"], "level"),
        ("categoryDelete", "CategoryDeleteInput", &ids["Care"], "category"),
    ] {
        let document = format!("mutation($input: {ty}!) {{ {mutation}(input: $input) {{ errors {{ message }} }} }}");
        let refused = app.query(&document, json!({ "input": { "id": id } })).await;
        let message = format!("checks refer to this {noun}: change or delete them first");
        assert_eq!(refused["data"][mutation]["errors"], json!([{ "message": message }]));
    }
}

#[tokio::test]
async fn a_check_counts_from_a_moment_on_and_until_it_is_switched_off() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let own = |enabled: bool, on: Value| json!({ "tagKey": "none", "enabled": enabled, "enableOn": on });
    let selection = "query($id: ID!) { account { check(id: $id) { enabled enableOn } } }";
    // Another check, so that there is a report.
    create(app, "RepositoryIntegrated", json!({})).await;
    let (past, future) = (json!("2020-01-02T03:04:05Z"), json!("2999-01-02T03:04:05Z"));
    for (enabled, on, expected, is_enabled) in [
        (false, Value::Null, "-", false),
        (true, Value::Null, "failed", true),
        (false, past.clone(), "failed", true),
        (true, past.clone(), "failed", true),
        (false, future.clone(), "upcoming", false),
        (true, future.clone(), "upcoming", true),
    ] {
        let check = create(app, "TagDefined", own(enabled, on.clone())).await;
        let (statuses, _) = outcome(app, &check).await;
        assert_eq!(statuses, [expected; 3].join(" "), "{enabled} {on}");
        let answer = app.query(selection, json!({ "id": check["id"] })).await;
        assert_eq!(answer["data"]["account"]["check"], json!({ "enabled": is_enabled, "enableOn": on }));
        let off = send(app, "checkTagDefinedUpdate", json!({ "id": check["id"], "enabled": false })).await;
        assert_eq!(off["errors"], json!([]));
        let expected = if expected == "upcoming" { "upcoming" } else { "-" };
        assert_eq!(outcome(app, &check).await.0, [expected; 3].join(" "), "{enabled} {on}");
        delete(app, &check).await;
    }
}

#[tokio::test]
async fn a_check_that_cannot_be_evaluated_is_pending_and_says_why() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let own = json!({ "serviceProperty": "custom_property", "propertyDefinition": { "alias": "data_class" } });
    let property = create(app, "ServiceProperty", own).await;
    let nameless = create(app, "ServiceProperty", json!({ "serviceProperty": "custom_property" })).await;
    let jq = r#"mutation { filterCreate(input: { name: "Odd", predicates: [{ key: name, type: satisfies_jq_expression, value: "$x" }] }) { filter { id } } }"#;
    let filter = data(app, jq).await["filterCreate"]["filter"]["id"].clone();
    let filtered = create(app, "RepositoryIntegrated", json!({ "filterId": filter })).await;
    data(app, r#"mutation { propertyDefinitionDelete(resource: { alias: "data_class" }) { errors { message } } }"#)
        .await;
    let definition = "This check cannot be evaluated: it has no property definition, or that was deleted.";
    for (check, message) in [
        (property, definition),
        (nameless, definition),
        (
            filtered,
            "This check cannot be evaluated: its filter is wrong: the jq \
             expression cannot be evaluated: the variable $x is not defined.",
        ),
    ] {
        let (statuses, messages) = outcome(app, &check).await;
        assert_eq!((statuses.as_str(), &*messages[0]), ("pending pending pending", message));
    }
}

#[tokio::test]
async fn inputs_of_checks_are_refused_at_their_fields() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    for (kind, own, path, message) in [
        (
            "TagDefined",
            json!({ "tagKey": "a", "tagPredicate": predicate("matches_regex", "(") }),
            json!(["tagPredicate", "value"]),
            "not a regular expression",
        ),
        (
            "TagDefined",
            json!({ "tagKey": "a", "tagPredicate": { "type": "equals" } }),
            json!(["tagPredicate"]),
            "this key and type need a value",
        ),
        (
            "TagDefined",
            json!({ "tagKey": "a", "tagPredicate": { "type": "satisfies_jq_expression" } }),
            json!(["tagPredicate"]),
            "this key and type need a value",
        ),
        (
            "ServiceOwnership",
            json!({ "contactMethod": "pigeon" }),
            json!(["contactMethod"]),
            "contactMethod must be ANY or a type of contact",
        ),
        ("HasRecentDeploy", json!({ "days": 0 }), json!(["days"]), "days must be from 1 to 3650"),
        (
            "DeployMetrics",
            json!({ "metric": "change_failure_rate", "maxAllowed": 101 }),
            json!(["maxAllowed"]),
            "maxAllowed must be from 0 to 100",
        ),
        (
            "DeployMetrics",
            json!({ "metric": "change_lead_time", "maxAllowed": 0 }),
            json!(["maxAllowed"]),
            "maxAllowed must be from 1 to 8760",
        ),
        (
            "DeployMetrics",
            json!({ "metric": "change_failure_rate", "maxAllowed": 0, "days": 91 }),
            json!(["days"]),
            "days must be from 1 to 90",
        ),
        (
            "DeployMetrics",
            json!({ "metric": "change_failure_rate", "maxAllowed": 0, "environments": [] }),
            json!(["environments"]),
            "environments must not be empty; without it, those of production count",
        ),
        (
            "DeployMetrics",
            json!({ "metric": "change_failure_rate", "maxAllowed": 0, "environments": vec!["a"; 101] }),
            json!(["environments"]),
            "environments has 101 words; at most 100 are allowed",
        ),
        (
            "CodeIssue",
            json!({ "constraint": "exact" }),
            json!(["issueName"]),
            "issueName must be given, unless constraint is any",
        ),
        (
            "ServiceProperty",
            json!({ "serviceProperty": "tier_index", "propertyValuePredicate": predicate("equals", "high") }),
            json!(["propertyValuePredicate", "value"]),
            "value must be a whole number",
        ),
        (
            "ServiceProperty",
            json!({ "serviceProperty": "name", "propertyDefinition": { "alias": "data_class" } }),
            json!(["propertyDefinition"]),
            "propertyDefinition can be given only if",
        ),
        (
            "Relationship",
            json!({ "relationshipDefinitionId": "nope", "relationshipCountPredicate": predicate("equals", "1") }),
            json!(["relationshipDefinitionId"]),
            "a relationship definition with the id or alias \"nope\" does not exist",
        ),
        (
            "RepositoryIntegrated",
            json!({ "ownerId": ids["Bronze"] }),
            json!(["ownerId"]),
            "a team with this id does not exist",
        ),
    ] {
        let mut input = json!({ "name": kind, "levelId": ids["Bronze"], "categoryId": ids["Safety"] });
        input.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
        let payload = send(app, &format!("check{kind}Create"), input).await;
        let error = &payload["errors"][0];
        assert_eq!((&payload["check"], &error["path"]), (&Value::Null, &path), "{kind} {own}: {payload}");
        assert!(error["message"].as_str().expect("a message").starts_with(message), "{error}");
    }
    let check = create(app, "TagDefined", json!({ "tagKey": "env" })).await;
    let payload = send(app, "checkToolUsageUpdate", json!({ "id": check["id"] })).await;
    let message = "this is a check of type tag_defined, not tool_usage";
    assert_eq!(payload["errors"], json!([{ "message": message, "path": ["id"] }]));
}

#[tokio::test]
async fn a_person_answers_a_manual_check_until_the_answer_expires() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let answer = async |check: &Value, passed: bool, comment: Value| {
        let document = "mutation($input: CheckManualAnswerInput!) { checkManualAnswer(input: $input) { service { alias } errors { message path } } }";
        let input =
            json!({ "checkId": check["id"], "service": { "alias": "shop" }, "passed": passed, "comment": comment });
        app.query(document, json!({ "input": input })).await["data"]["checkManualAnswer"].clone()
    };
    let done = json!({ "service": { "alias": "shop" }, "errors": [] });
    let check = create(app, "Manual", json!({ "updateRequiresComment": true })).await;
    let refused = answer(&check, true, Value::Null).await;
    assert_eq!(refused["errors"][0]["path"], json!(["comment"]));
    assert_eq!(answer(&check, true, json!("Drill of May")).await, done);
    let (statuses, messages) = outcome(app, &check).await;
    assert_eq!((&*statuses, &*messages[0]), ("passed pending pending", "A person has answered \"Drill of May\"."));
    // A second answer takes the place of the first.
    assert_eq!(answer(&check, false, json!("Drill failed")).await, done);
    assert_eq!(outcome(app, &check).await.0, "failed pending pending");
    // A period begins between the answer and now.
    let start = Timestamp::from_micros(Timestamp::now().as_micros() + 3_600_000_000 - 7 * 86_400_000_000).to_string();
    let frequency = json!({ "frequencyTimeScale": "week", "frequencyValue": 1, "startingDate": start });
    let changed = json!({ "id": check["id"], "updateRequiresComment": false, "updateFrequency": frequency });
    assert_eq!(send(app, "checkManualUpdate", changed).await["errors"], json!([]));
    assert_eq!(answer(&check, true, Value::Null).await, done);
    assert_eq!(outcome(app, &check).await.0, "passed pending pending");
    let later = Timestamp::from_micros(Timestamp::now().as_micros() - 1).to_string();
    let frequency = json!({ "startingDate": later });
    let changed = json!({ "id": check["id"], "updateFrequency": frequency });
    assert_eq!(send(app, "checkManualUpdate", changed).await["errors"], json!([]));
    assert_eq!(outcome(app, &check).await.0, "pending pending pending", "the period began after the answer");
    let tag = create(app, "TagDefined", json!({ "tagKey": "env" })).await;
    assert_eq!(answer(&tag, true, Value::Null).await["errors"][0]["path"], json!(["checkId"]));
}

#[tokio::test]
async fn checks_are_changed_by_a_standards_administrator_and_answered_by_the_owners() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let check = create(app, "Manual", json!({ "updateRequiresComment": false })).await;
    let create =
        "mutation($input: CheckTagDefinedCreateInput!) { checkTagDefinedCreate(input: $input) { errors { message } } }";
    let input =
        json!({ "input": { "name": "n", "levelId": ids["Bronze"], "categoryId": ids["Safety"], "tagKey": "k" } });
    let user = Browser::of(app, Role::User).await;
    let message = "only a standards administrator or an administrator can change levels, categories, checks, scorecards and campaigns";
    let answer = user.query(create, input.clone()).await;
    assert_eq!(answer["data"]["checkTagDefinedCreate"]["errors"], json!([{ "message": message }]));
    let administrator = Browser::of(app, Role::StandardsAdmin).await;
    assert_eq!(administrator.query(create, input).await["data"]["checkTagDefinedCreate"]["errors"], json!([]));
    let document =
        "mutation($input: CheckManualAnswerInput!) { checkManualAnswer(input: $input) { errors { message } } }";
    let input = json!({ "input": { "checkId": check["id"], "service": { "alias": "shop" }, "passed": true } });
    assert_eq!(user.query(document, input.clone()).await["data"]["checkManualAnswer"]["errors"], json!([]));
    let member = Browser::of(app, Role::TeamMember).await;
    let answer = member.query(document, input).await;
    let message = &answer["data"]["checkManualAnswer"]["errors"][0]["message"];
    let expected = "you can change only your own teams and what they own; this would";
    assert!(message.as_str().is_some_and(|message| message.starts_with(expected)), "{answer}");
}

/// The documents that clients send: every field of a check, by fragments for its kind.
#[tokio::test]
async fn clients_read_back_every_field_of_a_check_as_they_set_it() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let check = "category{id,name},description,enableOn,enabled,filter{id,name},id,level{id,name},name,notes: rawNotes,owner{... on Team{alias,id}},type";
    let own = [
        "AlertSourceUsageCheck{alertSourceNamePredicate{type,value},alertSourceType}",
        "CodeIssueCheck{constraint,issueName,issueType,maxAllowed,resolutionTime{unit,value},severity}",
        "DeployMetricsCheck{metric,maxAllowed,days,environments}",
        "HasRecentDeployCheck{days}",
        "ManualCheck{updateFrequency{frequencyTimeScale,frequencyValue,startingDate},updateRequiresComment}",
        "ServiceOwnershipCheck{contactMethod,requireContactMethod,tagKey,tagPredicate{type,value}}",
        "ServicePropertyCheck{serviceProperty,propertyDefinition{aliases},propertyValuePredicate{type,value}}",
        "TagDefinedCheck{tagKey,tagPredicate{type,value}}",
        "ToolUsageCheck{environmentPredicate{type,value},toolCategory,toolNamePredicate{type,value},toolUrlPredicate{type,value}}",
        "HasDocumentationCheck{documentSubtype,documentType}",
        "CustomEventCheck{integration{id,name,type},passPending,resultMessage,serviceSelector,successCondition}",
        "RelationshipCheck{relationshipCountPredicate{type,value},relationshipDefinition{id}}",
    ];
    let fragments: String = own.iter().map(|own| format!(",... on {own}")).collect();
    let document = format!("query CheckGet($id:ID!){{account{{check(id: $id){{{check}{fragments}}}}}}}");
    let read = async |name: &str| {
        let answer = app.query(&document, json!({ "id": tour.id(name) })).await;
        assert_eq!(answer.get("errors"), None, "{answer}");
        answer["data"]["account"]["check"].clone()
    };
    let tagged = read("tagged").await;
    let expected = json!({
        "category": { "id": tour.id("security"), "name": "Security" },
        "description": "The service has a tag \"env\" whose value equals \"prod\".", "enableOn": "2026-01-02T03:04:05Z",
        "enabled": true, "filter": { "id": tour.id("vital"), "name": "Vital" }, "id": tour.id("tagged"),
        "level": { "id": tour.id("bronze"), "name": "Bronze" }, "name": "Tagged", "notes": "n",
        "owner": { "alias": "core", "id": tour.id("Core") }, "type": "tag_defined", "tagKey": "env",
        "tagPredicate": { "type": "equals", "value": "prod" },
    });
    assert_eq!(tagged, expected);
    // Null clears, an absent field stays, a value sets.
    let update = format!(
        "mutation CheckTagDefinedUpdate($input:CheckTagDefinedUpdateInput!){{checkTagDefinedUpdate(input: $input){{check{{{check}{fragments}}},errors{{message,path}}}}}}"
    );
    let input = json!({
        "id": tour.id("tagged"), "filterId": null, "ownerId": null, "notes": null, "enableOn": null, "enabled": false,
        "tagPredicate": null,
    });
    let answer = app.query(&update, json!({ "input": input })).await;
    let mut cleared = expected;
    for field in ["filter", "owner", "notes", "enableOn", "tagPredicate"] {
        cleared[field] = Value::Null;
    }
    cleared["enabled"] = json!(false);
    cleared["description"] = json!("The service has a tag \"env\".");
    assert_eq!(answer["data"]["checkTagDefinedUpdate"], json!({ "check": cleared, "errors": [] }));
    let again = app.query(&update, json!({ "input": { "id": tour.id("tagged") } })).await;
    assert_eq!(again["data"]["checkTagDefinedUpdate"]["check"], cleared, "an absent field stays");
    assert_eq!(read("tagged").await, cleared);
    let clean = read("clean").await;
    assert_eq!(
        (&clean["constraint"], &clean["issueName"], &clean["issueType"], &clean["severity"], &clean["maxAllowed"]),
        (&json!("contains"), &json!("bad"), &json!(["vuln"]), &json!(["high"]), &json!(0))
    );
    assert_eq!(clean["resolutionTime"], json!({ "unit": "day", "value": 7 }));
    let measured = read("measured").await;
    assert_eq!(
        (&measured["metric"], &measured["maxAllowed"], &measured["days"], &measured["environments"]),
        (&json!("change_failure_rate"), &json!(15), &json!(14), &json!(["production"]))
    );
    assert_eq!(read("tiered").await["type"], json!("dependency_tier"));
    let asked = read("asked").await;
    let frequency =
        json!({ "frequencyTimeScale": "week", "frequencyValue": 2, "startingDate": "2026-01-02T03:04:05Z" });
    assert_eq!((&asked["updateFrequency"], &asked["updateRequiresComment"]), (&frequency, &json!(false)));
    let list = "query CheckList($after:String!$first:Int!){account{rubric{checks(after: $after, first: $first){nodes{id},pageInfo{hasNextPage},totalCount}}}}";
    let answer = app.query(list, json!({ "after": "", "first": 100 })).await;
    assert_eq!(answer["data"]["account"]["rubric"]["checks"]["totalCount"], json!(24));
    assert!(app.query(&document, json!({ "id": "nope" })).await["data"]["account"]["check"].is_null());
}

#[tokio::test]
async fn a_level_lists_its_checks_and_the_rubric_counts_the_services_of_each() {
    let tour = Tour::start().await;
    let query = "{ account { rubric {
        levels { nodes { name checks { name } } }
        reports { check { name type } services passed failed pending failing { serviceAlias } }
    } } }";
    let rubric = data(&tour.endpoint.app, query).await["account"]["rubric"].clone();
    let levels = rubric["levels"]["nodes"].as_array().expect("levels");
    assert_eq!(levels[0]["checks"].as_array().map(Vec::len), Some(24));
    assert_eq!(levels[1]["checks"], json!([]));
    for report in rubric["reports"].as_array().expect("reports") {
        let number = |name: &str| report[name].as_u64().expect("a number");
        assert_eq!(number("passed") + number("failed") + number("pending"), number("services"), "{report}");
        let failing = report["failing"].as_array().expect("a list").len() as u64;
        assert_eq!(failing, number("failed") + number("pending"), "{report}");
    }
    let tagged = &rubric["reports"][2];
    let one = json!([{ "name": "Tagged", "type": "tag_defined" }, 1, 1, 0]);
    assert_eq!(json!([tagged["check"], tagged["services"], tagged["passed"], tagged["failed"]]), one);
}
