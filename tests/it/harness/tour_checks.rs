//! The checks of the tour: one of each kind, and a call of every mutation about them with every field of its input.

use rollcall::db::{Read, Write};
use rollcall::entity::{Timestamp, check, service, standing_change};
use rollcall::graphql::standards::check::history;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Value, json};

use crate::harness::app::TestApp;

/// The ids that [`CHECKS`] needs.
pub const ROWS: &[&str] = &["bronze", "security", "vital", "Core", "billing", "Jenkins"];

/// The names of checks, one of each kind.
pub const NAMES: [&str; 21] = [
    "owned",
    "sourced",
    "tagged",
    "tooled",
    "alerted",
    "clean",
    "documented",
    "deployed",
    "asked",
    "related",
    "coded",
    "described",
    "depending",
    "filed",
    "grepped",
    "searched",
    "packed",
    "protected",
    "evented",
    "tiered",
    "measured",
];

/// Creates a check of each kind, with a value in every field.
pub const CHECKS: &str = r#"
    owned: checkServiceOwnershipCreate(input: {
        name: "Owned", categoryId: $security, levelId: $bronze, enabled: true, filterId: $vital, ownerId: $Core, notes: "n",
        contactMethod: "slack", requireContactMethod: true, tagKey: "site", tagPredicate: { type: equals, value: "north" }
    }) { check { id } errors { message } }
    sourced: checkServicePropertyCreate(input: {
        name: "Lanes", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", serviceProperty: custom_property, propertyDefinition: { alias: "lanes" },
        propertyValuePredicate: { type: contains, value: "1" }
    }) { check { id } errors { message } }
    tagged: checkTagDefinedCreate(input: {
        name: "Tagged", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", tagKey: "env", tagPredicate: { type: equals, value: "prod" }
    }) { check { id } errors { message } }
    tooled: checkToolUsageCreate(input: {
        name: "Tooled", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", toolCategory: runbooks, toolNamePredicate: { type: equals, value: "Runbook" },
        toolUrlPredicate: { type: starts_with, value: "https" }, environmentPredicate: { type: exists, value: "x" }
    }) { check { id } errors { message } }
    alerted: checkAlertSourceUsageCreate(input: {
        name: "Alerted", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", alertSourceType: custom, alertSourceNamePredicate: { type: equals, value: "Monitor" }
    }) { check { id } errors { message } }
    clean: checkCodeIssueCreate(input: {
        name: "Clean", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", constraint: contains, issueName: "bad", issueType: ["vuln"], severity: ["high"], maxAllowed: 0,
        resolutionTime: { unit: day, value: 7 }
    }) { check { id } errors { message } }
    documented: checkHasDocumentationCreate(input: {
        name: "Documented", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", documentType: tech, documentSubtype: openapi
    }) { check { id } errors { message } }
    deployed: checkHasRecentDeployCreate(input: {
        name: "Deployed", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", days: 30
    }) { check { id } errors { message } }
    asked: checkManualCreate(input: {
        name: "Asked", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", updateRequiresComment: false,
        updateFrequency: { frequencyTimeScale: week, frequencyValue: 2, startingDate: "2026-01-02T03:04:05Z" }
    }) { check { id } errors { message } }
    related: checkRelationshipCreate(input: {
        name: "Related", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", relationshipDefinitionId: $billing,
        relationshipCountPredicate: { type: greater_than_or_equal_to, value: "1" }
    }) { check { id } errors { message } }
    coded: checkRepositoryIntegratedCreate(input: {
        name: "Coded", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n"
    }) { check { id } errors { message } }
    described: checkServiceConfigurationCreate(input: {
        name: "Described", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n"
    }) { check { id } errors { message } }
    depending: checkServiceDependencyCreate(input: {
        name: "Depending", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n"
    }) { check { id } errors { message } }
    filed: checkRepositoryFileCreate(input: {
        name: "Filed", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", filePaths: ["README.md"], directorySearch: false, useAbsoluteRoot: true,
        fileContentsPredicate: { type: contains, value: "shop" }
    }) { check { id } errors { message } }
    grepped: checkRepositoryGrepCreate(input: {
        name: "Grepped", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", filePaths: ["**/*.rs"], directorySearch: false,
        fileContentsPredicate: { type: does_not_contain, value: "todo" }
    }) { check { id } errors { message } }
    searched: checkRepositorySearchCreate(input: {
        name: "Searched", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", fileExtensions: ["rs"], fileContentsPredicate: { type: contains, value: "main" }
    }) { check { id } errors { message } }
    packed: checkPackageVersionCreate(input: {
        name: "Packed", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", packageConstraint: matches_version, packageManager: cargo, packageName: "serde",
        packageNameIsRegex: false, missingPackageResult: passed,
        versionConstraintPredicate: { type: satisfies_version_constraint, value: "^1" }
    }) { check { id } errors { message } }
    protected: checkGitBranchProtectionCreate(input: { name: "Protected", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n" }) {
        check { id } errors { message }
    }
    evented: checkCustomEventCreate(input: {
        name: "Evented", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", integrationId: $Jenkins, serviceSelector: ".service", successCondition: ".ok", resultMessage: "m",
        passPending: true
    }) { check { id } errors { message } }
    tiered: checkDependencyTierCreate(input: {
        name: "Tiered", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n"
    }) { check { id } errors { message } }
    measured: checkDeployMetricsCreate(input: {
        name: "Measured", categoryId: $security, levelId: $bronze, enabled: true, enableOn: "2026-01-02T03:04:05Z", filterId: $vital,
        ownerId: $Core, notes: "n", metric: change_failure_rate, maxAllowed: 15, days: 14, environments: ["production"]
    }) { check { id } errors { message } }
    later: checkServiceDependencyCreate(input: {
        name: "Later", categoryId: $security, levelId: $bronze, enableOn: "2999-01-02T03:04:05Z", ownerId: $Core, filterId: $vital, notes: "n"
    }) { check { id } errors { message } }
    ready: scorecardCreate(input: { name: "Ready", ownerId: $Core, filterId: $vital, description: "d" }) {
        scorecard { id } errors { message }
    }
    over: campaignCreate(input: { name: "Over", ownerId: $Core, filterId: $vital, projectBrief: "b" }) { campaign { id } errors { message } }
    running: campaignCreate(input: { name: "Running", ownerId: $Core }) { campaign { id } errors { message } }
    drafted: campaignCreate(input: { name: "Drafted", ownerId: $Core }) { campaign { id } errors { message } }
    oldScorecard: scorecardCreate(input: { name: "Old", ownerId: $Core }) { scorecard { id } errors { message } }
    oldCheck: checkServiceDependencyCreate(input: { name: "Old", categoryId: $security, levelId: $bronze }) {
        check { id } errors { message }
    }
"#;

/// The ids that [`IN_SCORECARD`] needs.
pub const SCORECARD: &[&str] = &["ready", "readyCategory", "bronze", "over", "running", "tagged", "depending"];

/// Describes the category of the scorecard, and creates a check in it.
pub const IN_SCORECARD: &str = r#"
    readyAlias: aliasCreate(input: { ownerId: $ready, alias: "prepared" }) { aliases errors { message } }
    about: categoryUpdate(input: { id: $readyCategory, description: "d" }) { category { id } errors { message } }
    readied: checkServiceDependencyCreate(input: { name: "Readied", categoryId: $readyCategory, levelId: $bronze, enabled: true }) {
        check { id } errors { message }
    }
    begun: campaignScheduleUpdate(input: { id: $over, startDate: "2026-01-02T03:04:05Z", targetDate: "2026-02-02T03:04:05Z" }) {
        campaign { id } errors { message }
    }
    beginning: campaignScheduleUpdate(input: { id: $running, startDate: "2026-01-02T03:04:05Z", targetDate: "2999-02-02T03:04:05Z" }) {
        campaign { id } errors { message }
    }
    copied: checksCopyToCampaign(input: { campaignId: $over, checkIds: [$tagged, $depending] }) { campaign { id } errors { message } }
    ended: campaignEnd(input: { id: $over }) { campaign { id } errors { message } }
"#;

/// What each kind asks: the SDL's word, the name of its check, and the fields of its inputs.
fn kinds(id: &dyn Fn(&str) -> Value) -> Vec<(&'static str, &'static str, Value)> {
    let exists = json!({ "type": "exists", "value": "1" });
    vec![
        (
            "ServiceOwnership",
            "owned",
            json!({ "contactMethod": "ANY", "requireContactMethod": true, "tagKey": "site", "tagPredicate": exists }),
        ),
        (
            "ServiceProperty",
            "sourced",
            json!({
                "componentType": { "alias": "service" }, "serviceProperty": "custom_property",
                "propertyDefinition": { "alias": "lanes" }, "propertyValuePredicate": exists,
            }),
        ),
        ("TagDefined", "tagged", json!({ "tagKey": "env", "tagPredicate": exists })),
        (
            "ToolUsage",
            "tooled",
            json!({
                "toolCategory": "logs", "toolNamePredicate": exists, "toolUrlPredicate": exists, "environmentPredicate": exists,
            }),
        ),
        ("AlertSourceUsage", "alerted", json!({ "alertSourceType": "custom", "alertSourceNamePredicate": exists })),
        (
            "CodeIssue",
            "clean",
            json!({
                "constraint": "any", "issueName": "bad", "issueType": ["vuln"], "severity": ["high"], "maxAllowed": 3,
                "resolutionTime": { "unit": "month", "value": 2 },
            }),
        ),
        ("HasDocumentation", "documented", json!({ "documentType": "api", "documentSubtype": "openapi" })),
        ("HasRecentDeploy", "deployed", json!({ "days": 3 })),
        (
            "Manual",
            "asked",
            json!({
                "updateRequiresComment": false,
                "updateFrequency": { "frequencyTimeScale": "month", "frequencyValue": 3, "startingDate": "2026-01-02T03:04:05Z" },
            }),
        ),
        (
            "Relationship",
            "related",
            json!({ "relationshipDefinitionId": id("billing"), "relationshipCountPredicate": exists }),
        ),
        ("RepositoryIntegrated", "coded", json!({})),
        ("ServiceConfiguration", "described", json!({})),
        ("ServiceDependency", "depending", json!({})),
        (
            "RepositoryFile",
            "filed",
            json!({
                "directorySearch": true, "fileContentsPredicate": exists, "filePaths": ["docs"], "useAbsoluteRoot": false,
            }),
        ),
        (
            "RepositoryGrep",
            "grepped",
            json!({ "directorySearch": true, "fileContentsPredicate": exists, "filePaths": ["src"] }),
        ),
        ("RepositorySearch", "searched", json!({ "fileContentsPredicate": exists, "fileExtensions": ["md"] })),
        (
            "PackageVersion",
            "packed",
            json!({
                "missingPackageResult": "failed", "packageConstraint": "exists", "packageManager": "npm", "packageName": "left.*",
                "packageNameIsRegex": true, "versionConstraintPredicate": exists,
            }),
        ),
        ("GitBranchProtection", "protected", json!({})),
        (
            "CustomEvent",
            "evented",
            json!({
                "integrationId": id("Jenkins"), "serviceSelector": ".services", "successCondition": ".good", "resultMessage": "n",
                "passPending": false,
            }),
        ),
        ("DependencyTier", "tiered", json!({})),
        (
            "DeployMetrics",
            "measured",
            json!({ "metric": "change_lead_time", "maxAllowed": 48, "days": 7, "environments": ["staging"] }),
        ),
    ]
}

/// One call of every mutation about checks with every field of its input.
pub fn steps(id: &dyn Fn(&str) -> Value) -> Vec<(&'static str, Value)> {
    let common = json!({
        "name": "New", "categoryId": id("security"), "levelId": id("bronze"), "enabled": true, "enableOn": "2026-01-02T03:04:05Z",
        "filterId": id("vital"), "ownerId": id("Core"), "notes": "m",
    });
    let with = |more: &Value| {
        let mut input = common.clone();
        input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        input
    };
    let mut steps = Vec::new();
    for repository in [json!({ "alias": "github.com:org/shop" }), json!({ "id": id("repository") })] {
        let result = json!({
            "checkId": id("filed"), "serviceId": id("shop"), "fingerprint": id("fingerprint"), "passed": repository["id"].is_null(),
            "message": "It has the file.", "path": "src/README.md",
        });
        let report = json!({ "commit": "0123456789abcdef", "repository": repository, "results": [result] });
        steps.push(("repositoryCheckResultsReport", json!({ "input": report })));
    }
    // Before a change of the check, after which the results are outdated.
    for (kind, name, own) in kinds(id) {
        let named = |verb: &str| &*format!("check{kind}{verb}").leak();
        steps.push((named("Create"), json!({ "input": with(&own) })));
        let mut changed = with(&own);
        changed["id"] = id(name);
        steps.push((named("Update"), json!({ "input": changed })));
    }
    let by = |service: Value| json!({ "input": { "checkId": id("asked"), "service": service, "passed": true, "comment": "c" } });
    steps.push(("checkManualAnswer", by(json!({ "alias": "shop" }))));
    steps.push(("checkManualAnswer", by(json!({ "id": id("shop") }))));
    let scorecard = json!({
        "affectsOverallServiceLevels": true, "description": "e", "filterId": id("vital"), "name": "Fit", "ownerId": id("Core"),
    });
    steps.push(("scorecardCreate", json!({ "input": scorecard })));
    steps.push(("scorecardUpdate", json!({ "scorecard": { "alias": "ready" }, "input": scorecard })));
    steps.push(("scorecardUpdate", json!({ "scorecard": { "id": id("ready") }, "input": scorecard })));
    steps.push(("scorecardDelete", json!({ "input": { "id": id("oldScorecard") } })));
    steps.push(("aliasDelete", json!({ "input": { "ownerType": "scorecard", "alias": "prepared" } })));
    let campaign = json!({ "name": "Push", "ownerId": id("Core"), "filterId": id("vital"), "projectBrief": "p" });
    steps.push(("campaignCreate", json!({ "input": campaign })));
    let mut changed = campaign;
    changed["id"] = id("running");
    steps.push(("campaignUpdate", json!({ "input": changed })));
    steps.push((
        "checksCopyToCampaign",
        json!({ "input": { "campaignId": id("running"), "checkIds": [id("owned"), id("clean")] } }),
    ));
    let dates =
        json!({ "id": id("drafted"), "startDate": "2026-03-02T03:04:05Z", "targetDate": "2026-04-02T03:04:05Z" });
    steps.push(("campaignScheduleUpdate", json!({ "input": dates })));
    steps.push(("campaignUnschedule", json!({ "input": { "id": id("drafted") } })));
    steps.push(("campaignEnd", json!({ "input": { "id": id("running") } })));
    steps.push(("campaignDelete", json!({ "input": { "id": id("running") } })));
    steps.push(("checkDelete", json!({ "input": { "id": id("oldCheck") } })));
    steps
}

/// Applies a standards file with one of each, and a check of each kind.
pub async fn govern(app: &TestApp) {
    let names = "Owned, Lanes, Tagged, Tooled, Alerted, Clean, Documented, Deployed, Asked, Related, Coded, Described, Depending, \
                 Filed, Grepped, Searched, Packed, Protected, Evented, Tiered, Measured";
    let file = format!(
        "version: 1\nstandards:\n  levels: [{{ name: Governed }}]\n  categories: [{{ name: Governed }}]\n  \
         filters: [{{ name: Governed }}]\n  scorecards: [{{ name: Governed, owner: core }}]\n  \
         campaigns: [{{ name: Governed, owner: core, checks: [{names}] }}]\n"
    );
    let apply = "mutation($input: StandardsApplyInput!) { standardsApply(input: $input) { errors { message } } }";
    let input = json!({ "files": [{ "path": "standards.yml", "text": file }] });
    let answer = app.query(apply, json!({ "input": input })).await;
    assert_eq!(answer["data"]["standardsApply"]["errors"], json!([]), "{answer}");
}

/// Stores how the services stand, and a change of that for the shop.
pub async fn stood(app: &TestApp) {
    history::settle(&app.db, &app.wanted).await.expect("evaluated");
    let (db, now) = (app.db.read(), Timestamp::now());
    let check = db.all(check::Entity::find()).await.expect("checks").remove(0).id;
    let shop =
        db.all(service::Entity::find().filter(service::Column::Slug.eq("shop"))).await.expect("the shop").remove(0).id;
    let change = standing_change::ActiveModel {
        service_id: Set(shop),
        check_id: Set(Some(check)),
        at: Set(now),
        before: Set(Some("failed".to_owned())),
        after: Set(Some("passed".to_owned())),
        message: Set(Some("It has a tag.".to_owned())),
        cause: Set("a deploy".to_owned()),
        ..Default::default()
    };
    app.db.write(async |tx| tx.insert(change).await).await.expect("stored");
}
