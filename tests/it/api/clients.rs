//! What existing clients of this API select in their first documents, minified as they send it, and what they rely on.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

/// The fields of a service that every document about services selects.
const SERVICE: &str = "apiDocumentPath,description,framework,htmlUrl,id,aliases,language,lifecycle{alias,description,id,index,name},locked,managedAliases,maturityReport{overallLevel{alias,checks{id,name},description,id,index,name}},name,note,owner{alias,id},parent{id,aliases},preferredApiDocument{id,htmlUrl,source{... on ApiDocIntegration{id,name,type},... on ServiceRepository{baseDirectory,displayName,id,repository{id,defaultAlias},service{id,aliases}}},timestamps{createdAt,updatedAt}},preferredApiDocumentSource,product,repos{edges{node{id,defaultAlias},serviceRepositories{baseDirectory,displayName,id,repository{id,defaultAlias},service{id,aliases}}},pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount},defaultServiceRepository{baseDirectory,displayName,id,repository{id,defaultAlias},service{id,aliases}},tags{nodes{id,key,value},pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount},tier{alias,description,id,index,name},timestamps{createdAt,updatedAt},tools{nodes{category,categoryAlias,displayName,environment,id,url,service{id,aliases}},pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount},type{id,aliases}";
const TEAM: &str = "alias,id,aliases,managedAliases,contacts{address,displayName,displayType,externalId,id,isDefault,type},htmlUrl,manager{id,email,contacts{address,displayName,displayType,externalId,id,isDefault,type},htmlUrl,name,provisionedBy,role},memberships{nodes{role,team{alias,id},user{id,email}},pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount},name,parentTeam{alias,id},responsibilities,tags{nodes{id,key,value},pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount}";

async fn shop(app: &TestApp) {
    let query = r#"mutation {
        Ada: userInvite(email: "ada@example.com", input: {}) { errors { message } }
        Core: teamCreate(input: { name: "Core", managerEmail: "ada@example.com", members: { user: { email: "ada@example.com" } } }) { errors { message } }
        Repository: repositoryCreate(input: { name: "org/cart", url: "https://github.com/org/cart" }) { errors { message } }
        Cart: serviceCreate(input: { name: "Cart", ownerAlias: "core", skipAliasesValidation: true }) { errors { message } }
        Link: serviceRepositoryCreate(input: {
            service: { alias: "cart" }, repository: { alias: "github.com:org/cart" }, baseDirectory: "/src/"
        }) { errors { message } }
    }"#;
    for (name, payload) in data(app, query).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
}

#[tokio::test]
async fn every_field_of_a_service_that_clients_select_has_a_value() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = format!("query ServiceGet($service:String!){{account{{service(alias: $service){{{SERVICE}}}}}}}");
    let answer = app.query(&query, json!({ "service": "cart" })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    let service = &answer["data"]["account"]["service"];
    assert_eq!((&service["owner"]["alias"], &service["type"]["aliases"]), (&json!("core"), &json!(["service"])));
    for null in ["maturityReport", "preferredApiDocument", "apiDocumentPath", "parent"] {
        assert_eq!(service[null], Value::Null, "{null}");
    }
    let link = &service["repos"]["edges"][0]["serviceRepositories"][0];
    assert_eq!(service["repos"]["edges"][0]["node"]["defaultAlias"], "github.com:org/cart");
    assert_eq!((&link["baseDirectory"], &service["repos"]["totalCount"]), (&json!("src"), &json!(1)));
    assert_eq!(service["defaultServiceRepository"], *link);
    let list = format!(
        "query ServiceList($after:String!$first:Int!){{account{{services(after: $after, first: $first){{nodes{{{SERVICE}}},pageInfo{{hasNextPage,hasPreviousPage,startCursor,endCursor}},totalCount}}}}}}"
    );
    let listed = app.query(&list, json!({ "after": "", "first": 500 })).await;
    assert_eq!(listed["data"]["account"]["services"]["nodes"], json!([service]));
}

#[tokio::test]
async fn every_field_of_a_team_that_clients_select_has_a_value() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = format!("query TeamGet($team:String!){{account{{team(alias: $team){{{TEAM}}}}}}}");
    let answer = app.query(&query, json!({ "team": "core" })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    let team = &answer["data"]["account"]["team"];
    assert_eq!((&team["contacts"], &team["parentTeam"]), (&json!([]), &Value::Null));
    let manager = &team["manager"];
    assert!(manager["htmlUrl"].as_str().is_some_and(|url| url.contains("/users/")), "{manager}");
    assert_eq!((&manager["provisionedBy"], &manager["role"]), (&json!("api_other"), &json!("user")));
}

#[tokio::test]
async fn the_value_of_a_tag_is_changed_by_adding_the_new_one_before_the_old_one_goes() {
    let app = TestApp::start().await;
    shop(&app).await;
    let create = "mutation($value: String!) { tagCreate(input: { alias: \"cart\", key: \"env\", value: $value }) { tag { id } errors { message } } }";
    let old = app.query(create, json!({ "value": "dev" })).await["data"]["tagCreate"]["tag"]["id"].clone();
    let new = app.query(create, json!({ "value": "prod" })).await["data"]["tagCreate"].clone();
    assert_eq!(new["errors"], json!([]));
    app.query("mutation($id: ID!) { tagDelete(input: { id: $id }) { errors { message } } }", json!({ "id": old }))
        .await;
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { nodes { id value } } } } }"#).await;
    let expected = json!([{ "id": new["tag"]["id"], "value": "prod" }]);
    assert_eq!(read["account"]["service"]["tags"]["nodes"], expected);
}

#[tokio::test]
async fn an_owner_can_be_named_by_the_older_field_owner_alias() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = r#"mutation {
        both: serviceUpdate(input: { alias: "cart", ownerAlias: "core", ownerInput: { alias: "core" } }) { errors { path message } }
        gone: serviceUpdate(input: { alias: "cart", ownerAlias: "no" }) { errors { path message } }
        none: serviceUpdate(input: { alias: "cart", ownerAlias: null }) { service { owner { alias } } errors { message } }
        set: serviceUpdate(input: { alias: "cart", ownerAlias: "core", ownerInput: null }) { service { owner { alias } } errors { message } }
    }"#;
    let expected = json!({
        "both": { "errors": [{ "path": ["ownerAlias"], "message": "only one of ownerAlias and ownerInput can be given" }] },
        "gone": { "errors": [{ "path": ["ownerAlias"], "message": "a team with the alias \"no\" does not exist on this account" }] },
        "none": { "service": { "owner": null }, "errors": [] },
        "set": { "service": { "owner": { "alias": "core" } }, "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn the_note_and_the_api_document_of_a_service_are_set_and_cleared() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = r#"mutation {
        note: serviceNoteUpdate(input: { service: { alias: "cart" }, note: "n" }) { service { note } errors { message } }
        bare: serviceNoteUpdate(input: { service: { alias: "cart" } }) { service { note } errors { message } }
        gone: serviceNoteUpdate(input: { service: { alias: "no" } }) { service { note } errors { path message } }
        document: serviceApiDocSettingsUpdate(service: { alias: "cart" }, apiDocumentPath: "openapi.yml", preferredApiDocumentSource: PULL) {
            service { apiDocumentPath preferredApiDocumentSource } errors { message }
        }
        clear: serviceApiDocSettingsUpdate(service: { alias: "cart" }, apiDocumentPath: null) {
            service { apiDocumentPath preferredApiDocumentSource } errors { message }
        }
    }"#;
    let expected = json!({
        "note": { "service": { "note": "n" }, "errors": [] },
        "bare": { "service": { "note": null }, "errors": [] },
        "gone": { "service": null, "errors": [{ "path": ["service", "alias"], "message": "a service with the alias \"no\" does not exist on this account" }] },
        "document": { "service": { "apiDocumentPath": "openapi.yml", "preferredApiDocumentSource": "PULL" }, "errors": [] },
        "clear": { "service": { "apiDocumentPath": null, "preferredApiDocumentSource": "PULL" }, "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_link_to_a_repository_is_changed() {
    let app = TestApp::start().await;
    shop(&app).await;
    let found = data(&app, r#"{ account { service(alias: "cart") { defaultServiceRepository { id } } } }"#).await;
    let id = &found["account"]["service"]["defaultServiceRepository"]["id"];
    let query = "mutation($id: ID!) {
        set: serviceRepositoryUpdate(input: { id: $id, baseDirectory: \"app\", displayName: \"Code\" }) {
            serviceRepository { baseDirectory displayName } errors { message }
        }
        clear: serviceRepositoryUpdate(input: { id: $id, baseDirectory: null, displayName: null }) {
            serviceRepository { baseDirectory displayName } errors { message }
        }
    }";
    let expected = json!({
        "set": { "serviceRepository": { "baseDirectory": "app", "displayName": "Code" }, "errors": [] },
        "clear": { "serviceRepository": { "baseDirectory": "", "displayName": null }, "errors": [] },
    });
    assert_eq!(app.query(query, json!({ "id": id })).await["data"], expected);
}

#[tokio::test]
async fn levels_and_categories_are_created_changed_and_deleted() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        bronze: levelCreate(input: { name: "Bronze Star", description: "d" }) { level { id alias name description index checks { id } } errors { message } }
        gold: levelCreate(input: { name: "Gold", index: 7 }) { level { id index } errors { message } }
        last: levelCreate(input: { name: "Platinum" }) { level { id index } errors { message } }
        taken: levelCreate(input: { name: "gold" }) { level { id } errors { path message } }
        security: categoryCreate(input: { name: "Security", description: "d" }) { category { id name description } errors { message } }
        again: categoryCreate(input: { name: "Security" }) { category { id } errors { path message } }
    }"#;
    let made = data(&app, query).await;
    let (bronze, security) = (&made["bronze"]["level"]["id"], &made["security"]["category"]["id"]);
    let level = json!({
        "id": bronze, "alias": "bronze_star", "name": "Bronze Star", "description": "d", "index": 0, "checks": [],
    });
    assert_eq!(made["bronze"], json!({ "level": level, "errors": [] }));
    assert_eq!(made["last"]["level"]["index"], 8);
    let taken = json!([{ "path": ["name"], "message": "another level has the alias \"gold\"" }]);
    assert_eq!(made["taken"], json!({ "level": null, "errors": taken }));
    let taken = json!([{ "path": ["name"], "message": "another category has the name \"Security\"" }]);
    assert_eq!(made["again"], json!({ "category": null, "errors": taken }));
    let query = "mutation($level: ID!, $category: ID!) {
        level: levelUpdate(input: { id: $level, name: \"Bronze\", description: null }) { level { alias name description } errors { message } }
        category: categoryUpdate(input: { id: $category, name: \"Safety\" }) { category { name description } errors { message } }
    }";
    let answer = app.query(query, json!({ "level": bronze, "category": security })).await;
    let expected = json!({
        "level": { "level": { "alias": "bronze_star", "name": "Bronze", "description": null }, "errors": [] },
        "category": { "category": { "name": "Safety", "description": "d" }, "errors": [] },
    });
    assert_eq!(answer["data"], expected);
    let query = "query($level: ID!, $category: ID!) { account {
        rubric { levels { totalCount nodes { name index } } categories { nodes { name } } }
        level(id: $level) { name } category(id: $category) { name }
        nothing: level(id: \"Z2lkOi8vcm9sbGNhbGwvTGV2ZWwvOTk\") { name }
    } }";
    let account = app.query(query, json!({ "level": bronze, "category": security })).await["data"]["account"].clone();
    let levels =
        json!([{ "name": "Bronze", "index": 0 }, { "name": "Gold", "index": 7 }, { "name": "Platinum", "index": 8 }]);
    assert_eq!(account["rubric"]["levels"], json!({ "totalCount": 3, "nodes": levels }));
    assert_eq!(account["rubric"]["categories"]["nodes"], json!([{ "name": "Safety" }]));
    assert_eq!((&account["level"]["name"], &account["category"]["name"]), (&json!("Bronze"), &json!("Safety")));
    assert_eq!(account["nothing"], Value::Null);
    let query = "mutation($level: ID!, $category: ID!) {
        level: levelDelete(input: { id: $level }) { deletedLevelId errors { message } }
        category: categoryDelete(input: { id: $category }) { deletedCategoryId errors { message } }
        gone: levelDelete(input: { id: $level }) { errors { path } }
    }";
    let answer = app.query(query, json!({ "level": bronze, "category": security })).await;
    let expected = json!({
        "level": { "deletedLevelId": bronze, "errors": [] },
        "category": { "deletedCategoryId": security, "errors": [] },
        "gone": { "errors": [{ "path": ["id"] }] },
    });
    assert_eq!(answer["data"], expected);
}

#[tokio::test]
async fn without_checks_no_service_has_a_maturity_report() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = r#"{ account { service(alias: "cart") {
        maturityReport { overallLevel { id } categoryBreakdown { category { id name } level { id } } }
    } } }"#;
    let expected = json!({ "maturityReport": null });
    assert_eq!(data(&app, query).await["account"]["service"], expected);
}
