//! A catalogue that checks judge, and the mutations and answers of checks.

use rollcall::api_document;
use rollcall::entity::{Timestamp, integration};
use rollcall::graphql::field::id;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::services::lock;
use crate::harness::webhook::Endpoint;

/// Three services: the shop has everything, mail a little, bare nothing.
pub async fn services() -> Endpoint {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let query = r#"mutation {
        l0: levelCreate(input: { name: "Beginner" }) { errors { message } }
        l1: levelCreate(input: { name: "Bronze" }) { errors { message } }
        l2: levelCreate(input: { name: "Silver" }) { errors { message } }
        safety: categoryCreate(input: { name: "Safety" }) { errors { message } }
        care: categoryCreate(input: { name: "Care" }) { errors { message } }
        core: teamCreate(input: { name: "Core", contacts: [{ type: slack, address: "@core" }] }) { errors { message } }
        lone: teamCreate(input: { name: "Lone" }) { errors { message } }
        till: systemCreate(input: { name: "Till" }) { errors { message } }
        repository: repositoryCreate(input: { name: "org/shop" }) { errors { message } }
        site: tagCreate(input: { alias: "core", type: Team, key: "site", value: "north" }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", language: "Go", ownerAlias: "lone", tierAlias: "tier_3" }) { errors { message } }
        bare: serviceCreate(input: { name: "Bare" }) { errors { message } }
        shop: serviceUpdate(input: {
            alias: "shop", description: "Sells things", language: "Rust", framework: "1.4.2", product: "Shop", note: "n",
            ownerAlias: "core", tierAlias: "tier_1", lifecycleAlias: "beta", parent: { alias: "till" }
        }) { errors { message } }
        prod: tagCreate(input: { alias: "shop", key: "env", value: "prod" }) { errors { message } }
        dev: tagCreate(input: { alias: "mail", key: "env", value: "dev" }) { errors { message } }
        runbook: toolCreate(input: {
            serviceAlias: "shop", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com/shop", environment: "prod"
        }) { errors { message } }
        second: toolCreate(input: {
            serviceAlias: "mail", category: runbooks, displayName: "Notes", url: "https://notes.example.com", environment: "dev"
        }) { errors { message } }
        link: serviceRepositoryCreate(input: { service: { alias: "shop" }, repository: { alias: "org/shop" } }) { errors { message } }
        needs: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "shop" }, destinationIdentifier: { alias: "mail" }
        } }) { errors { message } }
        class: propertyDefinitionCreate(input: { name: "Data class", schema: {} }) { errors { message } }
        shopClass: propertyAssign(input: { owner: { alias: "shop" }, definition: { alias: "data_class" }, value: "\"personal\"" }) { errors { message } }
        billing: relationshipDefinitionCreate(input: { name: "Billed to", componentType: { alias: "service" } }) { errors { message } }
        billed: relationshipCreate(relationshipDefinition: {
            type: related_to, relationshipDefinition: { alias: "billed_to" }, source: { alias: "shop" }, target: { alias: "core" }
        }) { errors { message } }
        docs: eventIntegrationCreate(input: { type: apiDoc }) { integration { id } errors { message } }
        scanner: customIntegrationCreate(input: { name: "Scanner" }) { integration { id } errors { message } }
    }"#;
    let made = data(app, query).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let docs = made["docs"]["integration"]["id"].as_str().expect("an id");
    let docs = id::number::<integration::Entity>(docs).expect("an integration");
    let text = "openapi: 3.0.0\ninfo: { title: Shop API, version: '1' }\npaths: {}\n".to_owned();
    api_document::store(&app.db, docs, "shop", text).await.expect("stored");
    let scanned = "mutation($scanner: ID!) {
        source: alertSourceUpsert(input: { identifier: { integration: { id: $scanner }, externalId: \"m\" }, name: \"Monitor\" }) {
            alertSource { id } errors { message }
        }
        project: codeIssueProjectUpsert(input: { identifier: { integration: { id: $scanner }, externalId: \"p\" }, name: \"Mail\" }) { errors { message } }
        new: codeIssueUpsert(input: {
            identifier: { codeIssueProject: { integration: { id: $scanner }, externalId: \"p\" }, externalId: \"i\" }
            name: \"Bad parser\", issueCategory: \"c\", issueType: \"snyk:Vuln\", severity: \"High\"
        }) { errors { message } }
        old: codeIssueUpsert(input: {
            identifier: { codeIssueProject: { integration: { id: $scanner }, externalId: \"p\" }, externalId: \"j\" }
            name: \"Old licence\", issueCategory: \"c\", issueType: \"licence\", severity: \"low\", introducedAt: \"2020-01-02T03:04:05Z\"
        }) { errors { message } }
    }";
    let answer = app.query(scanned, json!({ "scanner": made["scanner"]["integration"]["id"] })).await;
    let watch = "mutation($source: ID!) { alertSourceServiceCreate(input: { alertSourceId: $source, service: { alias: \"shop\" } }) { errors { message } } }";
    let source = answer["data"]["source"]["alertSource"]["id"].clone();
    assert_eq!(
        app.query(watch, json!({ "source": source })).await["data"]["alertSourceServiceCreate"]["errors"],
        json!([])
    );
    lock(app, "shop").await;
    for (service, days) in [("shop", 2), ("mail", 40)] {
        let at = Timestamp::from_micros(Timestamp::now().as_micros() - days * 86_400_000_000).to_string();
        assert_eq!(endpoint.post_with(json!({ "service": service, "deployed_at": at })).await.status, 202);
    }
    endpoint
}

/// The ids of what inputs refer to by ids.
pub async fn ids(app: &TestApp) -> Value {
    let query = "{ account {
        rubric { levels { nodes { id name } } categories { nodes { id name } } }
        team(alias: \"core\") { id } relationshipDefinition(input: { alias: \"billed_to\" }) { id }
    } }";
    let account = data(app, query).await["account"].clone();
    let mut ids = json!({ "team": account["team"]["id"], "definition": account["relationshipDefinition"]["id"] });
    for list in ["levels", "categories"] {
        for node in account["rubric"][list]["nodes"].as_array().expect("nodes") {
            ids[node["name"].as_str().expect("a name")] = node["id"].clone();
        }
    }
    ids
}

/// The mutations of each kind.
pub const KINDS: [(&str, &str, &str); 21] = [
    ("AlertSourceUsage", "checkAlertSourceUsageCreate", "checkAlertSourceUsageUpdate"),
    ("CodeIssue", "checkCodeIssueCreate", "checkCodeIssueUpdate"),
    ("CustomEvent", "checkCustomEventCreate", "checkCustomEventUpdate"),
    ("DependencyTier", "checkDependencyTierCreate", "checkDependencyTierUpdate"),
    ("DeployMetrics", "checkDeployMetricsCreate", "checkDeployMetricsUpdate"),
    ("GitBranchProtection", "checkGitBranchProtectionCreate", "checkGitBranchProtectionUpdate"),
    ("HasDocumentation", "checkHasDocumentationCreate", "checkHasDocumentationUpdate"),
    ("HasRecentDeploy", "checkHasRecentDeployCreate", "checkHasRecentDeployUpdate"),
    ("Manual", "checkManualCreate", "checkManualUpdate"),
    ("PackageVersion", "checkPackageVersionCreate", "checkPackageVersionUpdate"),
    ("Relationship", "checkRelationshipCreate", "checkRelationshipUpdate"),
    ("RepositoryFile", "checkRepositoryFileCreate", "checkRepositoryFileUpdate"),
    ("RepositoryGrep", "checkRepositoryGrepCreate", "checkRepositoryGrepUpdate"),
    ("RepositoryIntegrated", "checkRepositoryIntegratedCreate", "checkRepositoryIntegratedUpdate"),
    ("RepositorySearch", "checkRepositorySearchCreate", "checkRepositorySearchUpdate"),
    ("ServiceConfiguration", "checkServiceConfigurationCreate", "checkServiceConfigurationUpdate"),
    ("ServiceDependency", "checkServiceDependencyCreate", "checkServiceDependencyUpdate"),
    ("ServiceOwnership", "checkServiceOwnershipCreate", "checkServiceOwnershipUpdate"),
    ("ServiceProperty", "checkServicePropertyCreate", "checkServicePropertyUpdate"),
    ("TagDefined", "checkTagDefinedCreate", "checkTagDefinedUpdate"),
    ("ToolUsage", "checkToolUsageCreate", "checkToolUsageUpdate"),
];

/// Creates or changes a check. Answers the payload.
pub async fn send(app: &TestApp, mutation: &str, input: Value) -> Value {
    let ty = format!("C{}Input", &mutation[1..]);
    let document = format!(
        "mutation($input: {ty}!) {{ {mutation}(input: $input) {{ check {{ id description }} errors {{ message path }} }} }}"
    );
    let answer = app.query(&document, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"][mutation].clone()
}

/// Creates a check that counts, of the level Bronze.
pub async fn create(app: &TestApp, kind: &str, own: Value) -> Value {
    let ids = ids(app).await;
    let mut input = json!({ "name": kind, "levelId": ids["Bronze"], "categoryId": ids["Safety"], "enabled": true });
    input.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
    let (_, create, update) = KINDS.iter().find(|(own, ..)| *own == kind).expect("a kind");
    let payload = send(app, create, input).await;
    assert_eq!(payload["errors"], json!([]), "{kind} {own}");
    // A change of nothing changes nothing.
    let mut same = json!({ "id": payload["check"]["id"] });
    if kind == "CodeIssue" {
        same["constraint"] = own["constraint"].clone();
    }
    let again = send(app, update, same).await;
    assert_eq!(again, payload, "{kind} {own}");
    payload["check"].clone()
}

/// The statuses of shop, mail and bare, and the messages.
pub async fn outcome(app: &TestApp, check: &Value) -> (String, Vec<String>) {
    let query = "{ account { services { nodes { alias maturityReport { latestCheckResults { check { id } status message serviceAlias createdAt lastUpdated } } } } } }";
    let services = data(app, query).await["account"]["services"]["nodes"].clone();
    let (mut statuses, mut messages) = (Vec::new(), Vec::new());
    for service in services.as_array().expect("services") {
        let results = service["maturityReport"]["latestCheckResults"].as_array().map(Vec::as_slice).unwrap_or_default();
        let own = results.iter().find(|result| result["check"]["id"] == check["id"]);
        statuses.push(own.map_or("-", |own| own["status"].as_str().expect("a status")).to_owned());
        messages.push(own.map_or("", |own| own["message"].as_str().expect("a message")).to_owned());
        assert!(own.is_none_or(|own| own["serviceAlias"] == service["alias"]));
    }
    (statuses.join(" "), messages)
}

pub fn predicate(kind: &str, value: &str) -> Value {
    json!({ "type": kind, "value": value })
}
