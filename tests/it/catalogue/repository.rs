//! Repositories and their links to services.

use rollcall::db::{self, Db, Write};
use rollcall::entity::service;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::services::{repository, service};

/// Locks all services with a name, as a service file does.
async fn lock(db: &Db, name: &str) {
    let locked = db.write(async |db| {
        let services = service::Entity::update_many().filter(service::Column::Name.eq(name));
        db.exec(services.col_expr(service::Column::LockedBy, Expr::value("rollcall.yml"))).await?;
        Ok::<_, db::Error>(())
    });
    locked.await.expect("the service is locked");
}

/// Links a service and a repository by id, and returns the payload.
async fn link(app: &TestApp, service: &str, repository: &str) -> Value {
    let create = "mutation($service: ID!, $repository: ID!) {
        serviceRepositoryCreate(input: { service: { id: $service }, repository: { id: $repository } }) {
            serviceRepository { id baseDirectory displayName service { name } repository { name } }
            errors { message path }
        }
    }";
    let answer = app.query(create, json!({ "service": service, "repository": repository })).await;
    answer["data"]["serviceRepositoryCreate"].clone()
}

#[tokio::test]
async fn repository_create_takes_its_alias_from_the_url() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        repositoryCreate(input: {
            name: "alphagov/whitehall", url: "https://GitHub.com/alphagov/whitehall.git", defaultBranch: "main", private: true
        }) {
            repository { name defaultAlias defaultBranch private url visible archivedAt }
            errors { message path }
        }
    }"#;
    let expected = json!({ "data": { "repositoryCreate": {
        "repository": {
            "name": "alphagov/whitehall",
            "defaultAlias": "github.com:alphagov/whitehall",
            "defaultBranch": "main",
            "private": true,
            "url": "https://GitHub.com/alphagov/whitehall.git",
            "visible": true,
            "archivedAt": null,
        },
        "errors": [],
    } } });
    assert_eq!(app.query(create, json!({})).await, expected);
}

#[tokio::test]
async fn repository_create_takes_the_name_as_alias_without_a_url() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        plain: repositoryCreate(input: { name: "tools", private: null, visible: null, defaultAlias: null }) {
            repository { defaultAlias private visible defaultBranch url }
        }
        without_path: repositoryCreate(input: { name: "root", url: "https://git.example.com/" }) {
            repository { defaultAlias }
        }
        given: repositoryCreate(input: { name: "x", url: "https://github.com/o/n", defaultAlias: "mine" }) {
            repository { defaultAlias }
        }
    }"#;
    let expected = json!({ "data": {
        "plain": { "repository": {
            "defaultAlias": "tools", "private": false, "visible": true, "defaultBranch": null, "url": null,
        } },
        "without_path": { "repository": { "defaultAlias": "root" } },
        "given": { "repository": { "defaultAlias": "mine" } },
    } });
    assert_eq!(app.query(create, json!({})).await, expected);
}

#[tokio::test]
async fn repository_create_refuses_an_alias_that_is_taken() {
    let app = TestApp::start().await;
    repository(&app, "tools").await;
    let create = r#"mutation {
        repositoryCreate(input: { name: "other", defaultAlias: "tools" }) {
            repository { id }
            errors { message path }
        }
    }"#;
    let expected = json!({ "data": { "repositoryCreate": {
        "repository": null,
        "errors": [{ "message": "another repository has the alias \"tools\"", "path": ["defaultAlias"] }],
    } } });
    assert_eq!(app.query(create, json!({})).await, expected);
    let count = app.query("{ account { repositories { totalCount } } }", json!({})).await;
    assert_eq!(count, json!({ "data": { "account": { "repositories": { "totalCount": 1 } } } }));
}

#[tokio::test]
async fn repository_create_names_every_field_that_is_wrong() {
    let app = TestApp::start().await;
    let create = "mutation($input: RepositoryCreateInput!) {
        repositoryCreate(input: $input) { repository { id } errors { path } }
    }";
    let long = "x".repeat(256);
    for (input, paths) in [
        (json!({ "name": " " }), json!([["name"]])),
        (json!({ "name": long }), json!([["name"]])),
        (json!({ "name": "n", "defaultAlias": "" }), json!([["defaultAlias"]])),
        (json!({ "name": "n", "url": "javascript:alert(1)" }), json!([["url"]])),
        (json!({ "name": "n", "url": "ssh://git@github.com/o/n" }), json!([["url"]])),
        (json!({ "name": "n", "url": format!("https://h/{long}") }), json!([["defaultAlias"]])),
        (
            json!({ "name": "", "defaultAlias": long, "defaultBranch": long }),
            json!([["name"], ["defaultBranch"], ["defaultAlias"]]),
        ),
    ] {
        let errors = paths.as_array().into_iter().flatten().map(|path| json!({ "path": path })).collect::<Vec<_>>();
        let expected = json!({ "data": { "repositoryCreate": { "repository": null, "errors": errors } } });
        assert_eq!(app.query(create, json!({ "input": input })).await, expected, "{input}");
    }
    let count = app.query("{ account { repositories { totalCount } } }", json!({})).await;
    assert_eq!(count, json!({ "data": { "account": { "repositories": { "totalCount": 0 } } } }));
}

#[tokio::test]
async fn repository_update_keeps_absent_fields_and_clears_null_ones() {
    let app = TestApp::start().await;
    let answer = app.query(
        r#"mutation {
            repositoryCreate(input: { name: "o/n", url: "https://github.com/o/n", defaultBranch: "main" }) {
                repository { id }
            }
            set: repositoryUpdate(input: { alias: "github.com:o/n", archivedAt: "2026-01-02 03:04:05", name: "o/m" }) {
                repository { name defaultAlias url defaultBranch archivedAt private visible }
            }
            clear: repositoryUpdate(input: {
                alias: "github.com:o/n", archivedAt: null, url: null, defaultBranch: null, private: true, visible: false
            }) {
                repository { name defaultAlias url defaultBranch archivedAt private visible }
            }
        }"#,
        json!({}),
    );
    let answer = answer.await;
    let set = json!({
        "name": "o/m",
        "defaultAlias": "github.com:o/n",
        "url": "https://github.com/o/n",
        "defaultBranch": "main",
        "archivedAt": "2026-01-02T03:04:05Z",
        "private": false,
        "visible": true,
    });
    let clear = json!({
        "name": "o/m",
        "defaultAlias": "github.com:o/n",
        "url": null,
        "defaultBranch": null,
        "archivedAt": null,
        "private": true,
        "visible": false,
    });
    assert_eq!(answer["data"]["set"]["repository"], set);
    assert_eq!(answer["data"]["clear"]["repository"], clear);
}

#[tokio::test]
async fn repository_update_refuses_null_for_required_fields() {
    let app = TestApp::start().await;
    repository(&app, "tools").await;
    let update = r#"mutation {
        repositoryUpdate(input: { alias: "tools", name: null, private: null, visible: null, url: "ftp://h/p" }) {
            repository { id }
            errors { message path }
        }
    }"#;
    let expected = json!({ "data": { "repositoryUpdate": {
        "repository": null,
        "errors": [
            { "message": "name must not be null", "path": ["name"] },
            { "message": "url must begin with http:// or https:// and name a host", "path": ["url"] },
            { "message": "private must not be null", "path": ["private"] },
            { "message": "visible must not be null", "path": ["visible"] },
        ],
    } } });
    assert_eq!(app.query(update, json!({})).await, expected);
}

#[tokio::test]
async fn a_mutation_names_a_repository_by_exactly_one_of_id_and_alias() {
    let app = TestApp::start().await;
    let id = repository(&app, "tools").await;
    let service = service(&app, "cart").await;
    let delete = "mutation($input: RepositoryDeleteInput!) {
        repositoryDelete(input: $input) { deletedRepositoryId errors { message path } }
    }";
    for (input, message, path) in [
        (json!({}), "exactly one of id and alias must be given", "base"),
        (json!({ "id": id, "alias": "tools" }), "exactly one of id and alias must be given", "base"),
        (
            json!({ "alias": "nothing" }),
            "a repository with the alias \"nothing\" does not exist on this account",
            "alias",
        ),
        (
            json!({ "id": service }),
            "a repository with this id does not exist on this account: it is the id of a Service",
            "id",
        ),
    ] {
        let expected = json!({ "data": { "repositoryDelete": {
            "deletedRepositoryId": null,
            "errors": [{ "message": message, "path": [path] }],
        } } });
        assert_eq!(app.query(delete, json!({ "input": input })).await, expected, "{input}");
    }
}

#[tokio::test]
async fn a_repository_is_found_by_alias_or_id_and_is_null_when_there_is_none() {
    let app = TestApp::start().await;
    let id = repository(&app, "tools").await;
    let service = service(&app, "cart").await;
    let query = "query($id: ID!, $other: ID!) { account {
        by_id: repository(id: $id) { name }
        by_alias: repository(alias: \"tools\") { name }
        of_another_class: repository(id: $other) { name }
        alias_as_id: repository(id: \"tools\") { name }
        malformed: repository(id: \"nonsense\") { name }
        unknown: repository(alias: \"nothing\") { name }
    } }";
    let expected = json!({ "data": { "account": {
        "by_id": { "name": "tools" },
        "by_alias": { "name": "tools" },
        "of_another_class": null,
        "alias_as_id": { "name": "tools" },
        "malformed": null,
        "unknown": null,
    } } });
    assert_eq!(app.query(query, json!({ "id": id, "other": service })).await, expected);
}

#[tokio::test]
async fn repositories_are_paged_in_order_of_creation() {
    let app = TestApp::start().await;
    for name in ["c", "a", "b"] {
        repository(&app, name).await;
    }
    let query = "query($after: String) { account { repositories(first: 2, after: $after) {
        nodes { name } pageInfo { hasNextPage endCursor } totalCount
    } } }";
    let first = app.query(query, json!({ "after": null })).await;
    let first = &first["data"]["account"]["repositories"];
    assert_eq!(first["nodes"], json!([{ "name": "c" }, { "name": "a" }]));
    assert_eq!((&first["pageInfo"]["hasNextPage"], &first["totalCount"]), (&json!(true), &json!(3)));
    let second = app.query(query, json!({ "after": first["pageInfo"]["endCursor"] })).await;
    let second = &second["data"]["account"]["repositories"];
    assert_eq!(second["nodes"], json!([{ "name": "b" }]));
    assert_eq!((&second["pageInfo"]["hasNextPage"], &second["totalCount"]), (&json!(false), &json!(3)));
}

#[tokio::test]
async fn a_repository_has_a_page_in_the_application() {
    let app = TestApp::start().await;
    repository(&app, "tools").await;
    let answer = app.query("{ account { repository(alias: \"tools\") { htmlUrl } } }", json!({})).await;
    let url = format!("http://{}/repositories/1", app.address);
    assert_eq!(answer, json!({ "data": { "account": { "repository": { "htmlUrl": url } } } }));
}

#[tokio::test]
async fn service_repository_create_links_the_two_on_both_sides() {
    let app = TestApp::start().await;
    let (service, repository) = (service(&app, "Cart").await, repository(&app, "tools").await);
    let made = link(&app, &service, &repository).await;
    let id = made["serviceRepository"]["id"].clone();
    let expected = json!({
        "serviceRepository": {
            "id": id,
            "baseDirectory": "",
            "displayName": null,
            "service": { "name": "Cart" },
            "repository": { "name": "tools" },
        },
        "errors": [],
    });
    assert_eq!(made, expected);
    let query = r#"{ account {
        service(alias: "cart") { repositories { nodes { name } totalCount } serviceRepositories { nodes { id } } }
        repository(alias: "tools") { services { nodes { name } totalCount } }
    } }"#;
    let expected = json!({ "data": { "account": {
        "service": {
            "repositories": { "nodes": [{ "name": "tools" }], "totalCount": 1 },
            "serviceRepositories": { "nodes": [{ "id": id }] },
        },
        "repository": { "services": { "nodes": [{ "name": "Cart" }], "totalCount": 1 } },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn service_repository_create_keeps_its_folder_and_name() {
    let app = TestApp::start().await;
    service(&app, "Cart").await;
    repository(&app, "tools").await;
    let create = r#"mutation {
        serviceRepositoryCreate(input: {
            service: { alias: "cart" }, repository: { alias: "tools" }, baseDirectory: "services/cart", displayName: "Cart code"
        }) { serviceRepository { baseDirectory displayName } }
    }"#;
    let expected = json!({ "data": { "serviceRepositoryCreate": {
        "serviceRepository": { "baseDirectory": "services/cart", "displayName": "Cart code" },
    } } });
    assert_eq!(app.query(create, json!({})).await, expected);
}

#[tokio::test]
async fn a_second_link_between_the_same_two_is_an_error() {
    let app = TestApp::start().await;
    let (service, repository) = (service(&app, "Cart").await, repository(&app, "tools").await);
    link(&app, &service, &repository).await;
    let expected = json!({
        "serviceRepository": null,
        "errors": [{ "message": "the service is already linked to this folder of the repository", "path": ["base"] }],
    });
    assert_eq!(link(&app, &service, &repository).await, expected);
}

#[tokio::test]
async fn service_repository_create_names_every_field_that_is_wrong() {
    let app = TestApp::start().await;
    let long = "x".repeat(256);
    let create = "mutation($long: String!) {
        serviceRepositoryCreate(input: {
            service: { alias: \"nothing\" }, repository: {}, baseDirectory: $long, displayName: $long
        }) { serviceRepository { id } errors { path } }
    }";
    let expected = json!({ "data": { "serviceRepositoryCreate": {
        "serviceRepository": null,
        "errors": [
            { "path": ["service", "alias"] },
            { "path": ["repository"] },
            { "path": ["baseDirectory"] },
            { "path": ["displayName"] },
        ],
    } } });
    assert_eq!(app.query(create, json!({ "long": long })).await, expected);
}

#[tokio::test]
async fn service_repository_delete_removes_only_the_link() {
    let app = TestApp::start().await;
    let (service, repository) = (service(&app, "Cart").await, repository(&app, "tools").await);
    let id = link(&app, &service, &repository).await["serviceRepository"]["id"].clone();
    let delete =
        "mutation($id: ID!) { serviceRepositoryDelete(input: { id: $id }) { deletedId errors { message path } } }";
    let expected = json!({ "data": { "serviceRepositoryDelete": { "deletedId": id, "errors": [] } } });
    assert_eq!(app.query(delete, json!({ "id": id })).await, expected);

    let gone = "a link between a service and a repository with this id does not exist on this account";
    let expected = json!({ "data": { "serviceRepositoryDelete": {
        "deletedId": null,
        "errors": [{ "message": gone, "path": ["id"] }],
    } } });
    assert_eq!(app.query(delete, json!({ "id": id })).await, expected);
    let query = r#"{ account { service(alias: "cart") { repositories { totalCount } } repositories { totalCount } } }"#;
    let expected = json!({ "data": { "account": {
        "service": { "repositories": { "totalCount": 0 } },
        "repositories": { "totalCount": 1 },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn a_locked_service_refuses_new_links_and_keeps_those_it_has() {
    let app = TestApp::start().await;
    let (service, first) = (service(&app, "Cart").await, repository(&app, "first").await);
    let second = repository(&app, "second").await;
    let id = link(&app, &service, &first).await["serviceRepository"]["id"].clone();
    lock(&app.db, "Cart").await;

    let message = "the service is locked: its service file rollcall.yml governs it; change it there";
    let errors = json!([{ "message": message, "path": ["locked"] }]);
    assert_eq!(link(&app, &service, &second).await, json!({ "serviceRepository": null, "errors": errors }));
    let delete =
        "mutation($id: ID!) { serviceRepositoryDelete(input: { id: $id }) { deletedId errors { message path } } }";
    let expected = json!({ "data": { "serviceRepositoryDelete": { "deletedId": null, "errors": errors } } });
    assert_eq!(app.query(delete, json!({ "id": id })).await, expected);
    let query = r#"{ account { service(alias: "cart") { repositories { nodes { name } } } } }"#;
    let expected =
        json!({ "data": { "account": { "service": { "repositories": { "nodes": [{ "name": "first" }] } } } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn repository_delete_takes_its_tags_and_links_with_it() {
    let app = TestApp::start().await;
    let (service, repository) = (service(&app, "Cart").await, repository(&app, "tools").await);
    link(&app, &service, &repository).await;
    let tag = r#"mutation {
        tagCreate(input: { alias: "tools", type: Repository, key: "k", value: "v" }) { tag { key } errors { message } }
    }"#;
    let expected = json!({ "data": { "tagCreate": { "tag": { "key": "k" }, "errors": [] } } });
    assert_eq!(app.query(tag, json!({})).await, expected);
    let query = r#"{ account { repository(alias: "tools") { tags { nodes { key value } } } } }"#;
    let expected =
        json!({ "data": { "account": { "repository": { "tags": { "nodes": [{ "key": "k", "value": "v" }] } } } } });
    assert_eq!(app.query(query, json!({})).await, expected);

    let delete = r#"mutation {
        repositoryDelete(input: { alias: "tools" }) {
            deletedRepositoryId deletedRepositoryAlias errors { message path }
        }
    }"#;
    let expected = json!({ "data": { "repositoryDelete": {
        "deletedRepositoryId": repository,
        "deletedRepositoryAlias": "tools",
        "errors": [],
    } } });
    assert_eq!(app.query(delete, json!({})).await, expected);
    let query = r#"{ account {
        repository(alias: "tools") { id }
        service(alias: "cart") { repositories { totalCount } }
    } }"#;
    let expected = json!({ "data": { "account": {
        "repository": null,
        "service": { "repositories": { "totalCount": 0 } },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn of_64_clients_that_create_one_repository_one_succeeds_and_the_others_get_an_error() {
    let app = TestApp::start().await;
    let create = r#"mutation { repositoryCreate(input: { name: "tools" }) { repository { name } errors { path } } }"#;
    let answers = futures_util::future::join_all((0..64).map(|_| app.query(create, json!({})))).await;
    let won = json!({ "data": { "repositoryCreate": { "repository": { "name": "tools" }, "errors": [] } } });
    let lost =
        json!({ "data": { "repositoryCreate": { "repository": null, "errors": [{ "path": ["defaultAlias"] }] } } });
    assert_eq!(answers.iter().filter(|answer| **answer == won).count(), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == lost).count(), 63);
}

#[tokio::test]
async fn a_repository_says_what_it_holds_who_owns_it_and_how_critical_it_is() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
            core: teamCreate(input: { name: "Core" }) { team { id } errors { message } }
            cart: serviceCreate(input: { name: "Cart", tierAlias: "tier_3" }) { errors { message } }
            mail: serviceCreate(input: { name: "Mail", tierAlias: "tier_1" }) { errors { message } }
            bare: serviceCreate(input: { name: "Bare" }) { errors { message } }
            repository: repositoryCreate(input: {
                name: "org/sub/shop", url: "https://gitlab.example.com/org/sub/shop", description: "Sells", forked: true,
                languages: [{ name: "Go", usage: 0.25 }, { name: "Rust", usage: 0.75 }]
            }) { repository { id owner { name } lastOwnerChangedAt } errors { message } }
            hidden: repositoryCreate(input: { name: "tools", visible: false }) { errors { message } }
            a: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "gitlab.example.com:org/sub/shop" } }) { errors { message } }
            b: serviceRepositoryCreate(input: { service: { alias: "mail" }, repository: { alias: "gitlab.example.com:org/sub/shop" } }) { errors { message } }
            c: serviceRepositoryCreate(input: { service: { alias: "bare" }, repository: { alias: "gitlab.example.com:org/sub/shop" } }) { errors { message } }
        }"#,
    )
    .await;
    let repository = &made["repository"]["repository"];
    assert_eq!((&repository["owner"], &repository["lastOwnerChangedAt"]), (&Value::Null, &Value::Null));
    let update = "mutation($id: ID!, $owner: ID) {
        owned: repositoryUpdate(input: { id: $id, ownerId: $owner, sbomGeneration: opt_in }) {
            repository {
                description forked languages { name usage } organization repoKey type owner { name } tier { alias } locked
                sbomGenerationConfiguration { state enabled disabledReason nextGenerationAt } lastOwnerChangedAt createdOn
            } errors { message }
        }
        same: repositoryUpdate(input: { id: $id, ownerId: $owner }) { repository { lastOwnerChangedAt } errors { message } }
        wrong: repositoryUpdate(input: { id: $id, languages: [{ name: \"\", usage: 2 }, { name: \"C\", usage: 0 }, { name: \"C\", usage: 0 }] }) {
            repository { id } errors { path }
        }
    }";
    let answer = app.query(update, json!({ "id": repository["id"], "owner": made["core"]["team"]["id"] })).await;
    let answer = &answer["data"];
    let owned = &answer["owned"]["repository"];
    assert!(owned["lastOwnerChangedAt"].is_string() && owned["createdOn"].is_string(), "{owned}");
    assert_eq!(owned["lastOwnerChangedAt"], answer["same"]["repository"]["lastOwnerChangedAt"]);
    let expected = json!({
        "description": "Sells", "forked": true, "languages": [{ "name": "Rust", "usage": 0.75 }, { "name": "Go", "usage": 0.25 }],
        "organization": "org/sub", "repoKey": "org/sub/shop", "type": "Repositories::Gitlab", "owner": { "name": "Core" },
        "tier": { "alias": "tier_1" }, "locked": null,
        "sbomGenerationConfiguration": { "state": "opt_in", "enabled": false, "disabledReason": "account", "nextGenerationAt": null },
        "lastOwnerChangedAt": owned["lastOwnerChangedAt"], "createdOn": owned["createdOn"],
    });
    assert_eq!(*owned, expected);
    let paths = json!([{ "path": ["languages", "0", "name"] }, { "path": ["languages", "0", "usage"] }, { "path": ["languages", "2", "name"] }]);
    assert_eq!(answer["wrong"], json!({ "repository": null, "errors": paths }));

    let counts = "hiddenCount organizationCount ownedCount visibleCount totalCount";
    let query = format!(
        "{{ account {{
            all: repositories {{ {counts} nodes {{ name }} edges {{ cursor node {{ name }} }} }}
            visible: repositories(visible: true) {{ {counts} }}
            hidden: repositories(visible: false) {{ {counts} nodes {{ name }} }}
            critical: repositories(tierAlias: \"tier_1\") {{ nodes {{ name }} }}
            less: repositories(tierAlias: \"tier_3\") {{ nodes {{ name }} totalCount }}
            service(alias: \"cart\") {{ repositories {{ {counts} nodes {{ name }} }} }}
        }} }}"
    );
    let account = data(&app, &query).await["account"].clone();
    let said = |hidden: i32, organizations: i32, owned: i32, visible: i32| {
        json!({
            "hiddenCount": hidden, "organizationCount": organizations, "ownedCount": owned, "visibleCount": visible,
            "totalCount": hidden + visible,
        })
    };
    for field in ["hiddenCount", "organizationCount", "ownedCount", "visibleCount", "totalCount"] {
        assert_eq!(account["all"][field], said(1, 1, 1, 1)[field], "{field}");
        assert_eq!(account["service"]["repositories"][field], said(0, 1, 1, 1)[field], "{field}");
        assert_eq!(account["hidden"][field], said(1, 0, 0, 0)[field], "{field}");
    }
    assert_eq!(account["visible"], said(0, 1, 1, 1));
    let shop = json!([{ "name": "org/sub/shop" }]);
    assert_eq!((&account["critical"]["nodes"], &account["hidden"]["nodes"]), (&shop, &json!([{ "name": "tools" }])));
    assert_eq!((&account["less"]["nodes"], &account["service"]["repositories"]["nodes"]), (&json!([]), &shop));
    assert_eq!(account["all"]["edges"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_service_is_linked_to_one_repository_by_several_folders() {
    let app = TestApp::start().await;
    data(
        &app,
        r#"mutation {
            cart: serviceCreate(input: { name: "Cart" }) { errors { message } }
            mail: serviceCreate(input: { name: "Mail" }) { errors { message } }
            mono: repositoryCreate(input: { name: "org/mono", url: "https://github.com/org/mono", defaultBranch: "main" }) { errors { message } }
            other: repositoryCreate(input: { name: "other" }) { errors { message } }
        }"#,
    )
    .await;
    let link = "mutation($service: String, $repository: String, $folder: String) {
        serviceRepositoryCreate(input: { service: { alias: $service }, repository: { alias: $repository }, baseDirectory: $folder }) {
            serviceRepository { id baseDirectory } errors { message }
        }
    }";
    let mono = "github.com:org/mono";
    for (service, repository, folder) in
        [("cart", mono, Some("/src/cart/")), ("mail", mono, None), ("cart", mono, Some("lib")), ("cart", "other", None)]
    {
        let variables = json!({ "service": service, "repository": repository, "folder": folder });
        let answer = app.query(link, variables).await["data"]["serviceRepositoryCreate"].clone();
        assert_eq!(answer["errors"], json!([]));
        let stored = folder.map(|folder| folder.trim_matches('/')).unwrap_or_default();
        assert_eq!(answer["serviceRepository"]["baseDirectory"], stored);
    }
    let again = json!({ "service": "cart", "repository": mono, "folder": "src/cart" });
    let answer = app.query(link, again).await["data"]["serviceRepositoryCreate"].clone();
    let message = "the service is already linked to this folder of the repository";
    assert_eq!(answer["errors"], json!([{ "message": message }]));

    let query = "{ account {
        service(alias: \"cart\") {
            repositories { totalCount nodes { name } }
            repos { totalCount nodes { name } edges { node { name } serviceRepositories { id baseDirectory } } }
            first: repos(first: 1) { nodes { name } pageInfo { hasNextPage endCursor } }
            serviceRepositories { totalCount }
            defaultServiceRepository { baseDirectory }
        }
        repository(alias: \"github.com:org/mono\") { services {
            totalCount nodes { name } edges { atRoot paths { path href } node { name } serviceRepositories { baseDirectory } }
        } }
        other: repository(alias: \"other\") { id services { edges { atRoot paths { path href } } } }
    } }";
    let account = data(&app, query).await["account"].clone();
    let service = &account["service"];
    let names = json!([{ "name": "org/mono" }, { "name": "other" }]);
    assert_eq!(service["repositories"], json!({ "totalCount": 2, "nodes": names }));
    let edges = service["repos"]["edges"].as_array().expect("edges");
    assert_eq!((&service["repos"]["totalCount"], &service["repos"]["nodes"]), (&json!(2), &names));
    let folders = |links: &Value| -> Vec<Value> {
        links.as_array().expect("links").iter().map(|link| link["baseDirectory"].clone()).collect()
    };
    assert_eq!(folders(&edges[0]["serviceRepositories"]), ["src/cart", "lib"]);
    assert_eq!(folders(&edges[1]["serviceRepositories"]), [""]);
    assert_eq!(service["serviceRepositories"]["totalCount"], 3);
    assert_eq!(service["defaultServiceRepository"]["baseDirectory"], "src/cart");
    assert_eq!(service["first"]["pageInfo"]["hasNextPage"], true);
    let next = "query($after: String) { account { service(alias: \"cart\") { repos(first: 1, after: $after) { nodes { name } pageInfo { hasNextPage } } } } }";
    let answer = app.query(next, json!({ "after": service["first"]["pageInfo"]["endCursor"] })).await;
    let expected = json!({ "nodes": [{ "name": "other" }], "pageInfo": { "hasNextPage": false } });
    assert_eq!(answer["data"]["account"]["service"]["repos"], expected);

    let services = &account["repository"]["services"];
    assert_eq!(services["totalCount"], 2);
    let address = |folder: &str| format!("https://github.com/org/mono/tree/main/{folder}");
    let expected = json!([
        { "atRoot": false, "paths": [{ "path": "src/cart", "href": address("src/cart") }, { "path": "lib", "href": address("lib") }],
          "node": { "name": "Cart" }, "serviceRepositories": [{ "baseDirectory": "src/cart" }, { "baseDirectory": "lib" }] },
        { "atRoot": true, "paths": [{ "path": "", "href": "https://github.com/org/mono" }], "node": { "name": "Mail" },
          "serviceRepositories": [{ "baseDirectory": "" }] },
    ]);
    assert_eq!(services["edges"], expected);
    let path = &account["other"]["services"]["edges"][0]["paths"][0];
    assert!(path["href"].as_str().is_some_and(|href| href.contains("/repositories/")), "{path}");

    // A folder that another link between the two has.
    let update = "mutation($id: ID!) { serviceRepositoryUpdate(input: { id: $id, baseDirectory: \"lib/\" }) {
        serviceRepository { id } errors { path message }
    } }";
    let answer = app.query(update, json!({ "id": edges[0]["serviceRepositories"][0]["id"] })).await;
    let expected = json!([{ "path": ["baseDirectory"], "message": "the service is already linked to this folder of the repository" }]);
    assert_eq!(answer["data"]["serviceRepositoryUpdate"]["errors"], expected);
}
