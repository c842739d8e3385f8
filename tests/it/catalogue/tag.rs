//! Tags on services, repositories, teams, users, systems, domains and infrastructure.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

/// One of each that can carry tags, by the id of each.
async fn owners(app: &TestApp) -> Value {
    let query = r#"mutation {
        Service: serviceCreate(input: { name: "Cart" }) { it: service { id } }
        Repository: repositoryCreate(input: { name: "org/cart" }) { it: repository { id } }
        Team: teamCreate(input: { name: "Core" }) { it: team { id } }
        User: userInvite(email: "ada@example.com", input: {}) { it: user { id } }
        System: systemCreate(input: { name: "Shop" }) { it: system { id } }
        Domain: domainCreate(input: { name: "Commerce" }) { it: domain { id } }
    }"#;
    data(app, query).await
}

#[tokio::test]
async fn tag_assign_creates_the_tags_and_answers_them_in_order() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation {
        tagAssign(input: { alias: "cart", tags: [{ key: "zone", value: "eu" }, { key: "env", value: "" }] }) {
            tags { key value } errors { message path }
        }
    }"#;
    let tags = json!([{ "key": "zone", "value": "eu" }, { "key": "env", "value": "" }]);
    assert_eq!(data(&app, query).await["tagAssign"], json!({ "tags": tags, "errors": [] }));
    let read =
        data(&app, r#"{ account { service(alias: "cart") { tags { totalCount nodes { key value } } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"], json!({ "totalCount": 2, "nodes": tags }));
}

#[tokio::test]
async fn tag_assign_updates_the_tag_with_the_same_key() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation {
        before: tagAssign(input: { alias: "cart", tags: [{ key: "env", value: "dev" }, { key: "k", value: "v" }] }) { tags { id } }
        after: tagAssign(input: { alias: "cart", tags: [{ key: "env", value: "prod" }] }) { tags { id key value } errors { message } }
    }"#;
    let answer = data(&app, query).await;
    let tag = json!({ "id": answer["before"]["tags"][0]["id"], "key": "env", "value": "prod" });
    assert_eq!(answer["after"], json!({ "tags": [tag], "errors": [] }));
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { totalCount } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"]["totalCount"], 2);
}

#[tokio::test]
async fn tag_assign_takes_a_single_tag_for_a_list_of_one() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = "mutation($tags: [TagInput!]!) { tagAssign(input: { alias: \"cart\", tags: $tags }) { tags { key } } }";
    let answer = app.query(query, json!({ "tags": { "key": "env", "value": "dev" } })).await;
    assert_eq!(answer, json!({ "data": { "tagAssign": { "tags": [{ "key": "env" }] } } }));
}

#[tokio::test]
async fn everything_that_carries_tags_is_named_by_id_or_by_alias_with_a_type() {
    let app = TestApp::start().await;
    let owners = owners(&app).await;
    for (r#type, alias) in [
        ("Service", "Cart"),
        ("Repository", "org/cart"),
        ("Team", "core"),
        ("User", "ADA@example.com"),
        ("System", "shop"),
        ("Domain", "commerce"),
    ] {
        let id = &owners[r#type]["it"]["id"];
        let query = "mutation($id: ID!, $alias: String!, $type: TaggableResource!) {
            by_id: tagAssign(input: { id: $id, tags: { key: \"a\", value: \"1\" } }) { errors { message } }
            by_alias: tagAssign(input: { alias: $alias, type: $type, tags: { key: \"b\", value: \"2\" } }) { errors { message } }
            create: tagCreate(input: { alias: $alias, type: $type, key: \"c\", value: \"3\" }) { errors { message } }
        }";
        let none = json!({ "errors": [] });
        let answer = app.query(query, json!({ "id": id, "alias": alias, "type": r#type })).await;
        assert_eq!(answer, json!({ "data": { "by_id": none, "by_alias": none, "create": none } }), "{type}");
    }
    let query = r#"{ account {
        service(alias: "cart") { tags { nodes { key } } }
        repository(alias: "org/cart") { tags { nodes { key } } }
        team(alias: "core") { tags { nodes { key } } }
        user(input: { email: "ada@example.com" }) { tags { nodes { key } } }
        system(input: { alias: "shop" }) { tags { nodes { key } } }
        domain(input: { alias: "commerce" }) { tags { nodes { key } } }
    } }"#;
    let tags = json!({ "tags": { "nodes": [{ "key": "a" }, { "key": "b" }, { "key": "c" }] } });
    let expected =
        json!({ "service": tags, "repository": tags, "team": tags, "user": tags, "system": tags, "domain": tags });
    assert_eq!(data(&app, query).await["account"], expected);
}

#[tokio::test]
async fn one_bad_tag_refuses_them_all() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation($key: String!, $value: String!) {
        tagAssign(input: { alias: "cart", tags: [
            { key: "fine", value: "" }, { key: "Not", value: "" }, { key: "fine", value: "" }, { key: $key, value: $value }
        ] }) { tags { id } errors { path message } }
    }"#;
    let answer = app.query(query, json!({ "key": "k".repeat(65), "value": "v".repeat(1001) })).await;
    let rule = "key must begin with a lowercase letter and go on with lowercase letters, digits, _, -, ., / and \\";
    let expected = json!({ "tags": null, "errors": [
        { "path": ["tags", "1", "key"], "message": rule },
        { "path": ["tags", "2", "key"], "message": "the key \"fine\" is given twice" },
        { "path": ["tags", "3", "key"], "message": "key has 65 characters; at most 64 are allowed" },
        { "path": ["tags", "3", "value"], "message": "value has 1001 characters; at most 1000 are allowed" },
    ] });
    assert_eq!(answer["data"]["tagAssign"], expected);
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { totalCount } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"]["totalCount"], 0);
}

#[tokio::test]
async fn a_key_starts_with_a_lowercase_letter_and_has_allowed_characters() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = "mutation($key: String!) { tagAssign(input: { alias: \"cart\", tags: { key: $key, value: \"\" } }) { errors { path } } }";
    for (key, accepted) in [
        ("a", true),
        ("a1_b-c.d/e\\f", true),
        ("", false),
        ("A", false),
        ("1a", false),
        ("_a", false),
        ("a b", false),
        ("a\n", true),
        ("a\nb", false),
        ("é", false),
    ] {
        let answer = app.query(query, json!({ "key": key })).await;
        let expected = if accepted { json!([]) } else { json!([{ "path": ["tags", "0", "key"] }]) };
        assert_eq!(answer["data"]["tagAssign"]["errors"], expected, "{key:?}");
    }
}

#[tokio::test]
async fn tag_create_adds_a_second_tag_of_one_key_and_refuses_the_same_twice() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation {
        first: tagCreate(input: { alias: "cart", key: "env", value: "dev" }) { tag { key value } errors { message path } }
        second: tagCreate(input: { alias: "cart", key: "env", value: "prod" }) { tag { key value } errors { message path } }
        again: tagCreate(input: { alias: "cart", key: "env", value: "prod" }) { tag { key value } errors { message path } }
        elsewhere: tagCreate(input: { alias: "core", type: Team, key: "env", value: "dev" }) { errors { message path } }
    }"#;
    let message = "the tag with the key \"env\" and the value \"prod\" already exists";
    let expected = json!({
        "first": { "tag": { "key": "env", "value": "dev" }, "errors": [] },
        "second": { "tag": { "key": "env", "value": "prod" }, "errors": [] },
        "again": { "tag": null, "errors": [{ "message": message, "path": ["value"] }] },
        "elsewhere": { "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn tag_assign_leaves_one_tag_of_each_key_that_it_names() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation {
        a: tagCreate(input: { alias: "cart", key: "db", value: "mysql" }) { tag { id } }
        b: tagCreate(input: { alias: "cart", key: "db", value: "redis" }) { tag { id } }
        c: tagCreate(input: { alias: "cart", key: "db", value: "kafka" }) { tag { id } }
        other: tagCreate(input: { alias: "cart", key: "env", value: "dev" }) { tag { id } }
        assign: tagAssign(input: { alias: "cart", tags: [{ key: "zone", value: "eu" }, { key: "db", value: "redis" }] }) {
            tags { id key value } errors { message }
        }
        again: tagAssign(input: { alias: "cart", tags: [{ key: "db", value: "mysql" }] }) { tags { id value } errors { message } }
    }"#;
    let answer = data(&app, query).await;
    let kept = &answer["b"]["tag"]["id"];
    let tags = answer["assign"]["tags"].as_array().expect("tags");
    assert_eq!((&tags[0]["key"], &tags[1]), (&json!("zone"), &json!({ "id": kept, "key": "db", "value": "redis" })));
    assert_eq!(answer["again"], json!({ "tags": [{ "id": kept, "value": "mysql" }], "errors": [] }));
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { nodes { key value } } } } }"#).await;
    let expected = json!([
        { "key": "db", "value": "mysql" }, { "key": "env", "value": "dev" }, { "key": "zone", "value": "eu" },
    ]);
    assert_eq!(read["account"]["service"]["tags"]["nodes"], expected);
}

#[tokio::test]
async fn an_owner_has_at_most_1000_tags() {
    let app = TestApp::start().await;
    owners(&app).await;
    let assign =
        "mutation($tags: [TagInput!]!) { tagAssign(input: { alias: \"cart\", tags: $tags }) { errors { message } } }";
    let query = "mutation {
        more: tagAssign(input: { alias: \"cart\", tags: { key: \"one-more\", value: \"\" } }) { errors { message path } }
        one: tagCreate(input: { alias: \"cart\", key: \"k1\", value: \"w\" }) { errors { message path } }
    }";
    let tags: Vec<Value> = (0..1000).map(|n| json!({ "key": format!("k{n}"), "value": "v" })).collect();
    for _ in 0..2 {
        let answer = app.query(assign, json!({ "tags": tags })).await;
        assert_eq!(answer["data"], json!({ "tagAssign": { "errors": [] } }), "{}", answer["errors"]);
    }
    let full = json!({ "errors": [
        { "message": "no more tags can be added: an owner has at most 1000", "path": ["base"] },
    ] });
    assert_eq!(data(&app, query).await, json!({ "more": full, "one": full }));
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { totalCount } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"]["totalCount"], 1000);
}

#[tokio::test]
async fn tag_update_changes_only_the_given_fields() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation { tagAssign(input: { alias: "cart", tags: [{ key: "a", value: "1" }, { key: "b", value: "2" }] }) { tags { id } } }"#;
    let id = data(&app, query).await["tagAssign"]["tags"][0]["id"].clone();
    let query = r#"mutation($id: ID!) {
        value: tagUpdate(input: { id: $id, value: "" }) { tag { key value } errors { message path } }
        key: tagUpdate(input: { id: $id, key: "c" }) { tag { key value } errors { message path } }
        nothing: tagUpdate(input: { id: $id }) { tag { key value } errors { message path } }
        two: tagUpdate(input: { id: $id, value: "2" }) { tag { key value } errors { message path } }
        taken: tagUpdate(input: { id: $id, key: "b" }) { tag { key value } errors { message path } }
        null: tagUpdate(input: { id: $id, key: null, value: null }) { tag { key value } errors { message path } }
    }"#;
    let expected = json!({
        "value": { "tag": { "key": "a", "value": "" }, "errors": [] },
        "key": { "tag": { "key": "c", "value": "" }, "errors": [] },
        "nothing": { "tag": { "key": "c", "value": "" }, "errors": [] },
        "two": { "tag": { "key": "c", "value": "2" }, "errors": [] },
        "taken": { "tag": null, "errors": [{ "message": "the tag with the key \"b\" and the value \"2\" already exists", "path": ["key"] }] },
        "null": { "tag": null, "errors": [
            { "message": "key must not be null", "path": ["key"] }, { "message": "value must not be null", "path": ["value"] },
        ] },
    });
    assert_eq!(app.query(query, json!({ "id": id })).await["data"], expected);
}

#[tokio::test]
async fn tag_delete_answers_the_id_and_the_second_time_an_error() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation { tagCreate(input: { alias: "cart", key: "env", value: "dev" }) { tag { id } } }"#;
    let id = data(&app, query).await["tagCreate"]["tag"]["id"].clone();
    let query = "mutation($id: ID!) {
        first: tagDelete(input: { id: $id }) { deletedTagId errors { message path } }
        second: tagDelete(input: { id: $id }) { deletedTagId errors { message path } }
    }";
    let expected = json!({
        "first": { "deletedTagId": id, "errors": [] },
        "second": { "deletedTagId": null, "errors": [{ "message": "a tag with this id does not exist on this account", "path": ["id"] }] },
    });
    assert_eq!(app.query(query, json!({ "id": id })).await["data"], expected);
}

#[tokio::test]
async fn an_unknown_owner_is_an_error_at_its_field() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        neither: tagAssign(input: { tags: [] }) { errors { message path } }
        service: tagAssign(input: { alias: "no", type: null, tags: [] }) { errors { message path } }
        repository: tagAssign(input: { alias: "no", type: Repository, tags: [] }) { errors { message path } }
        team: tagAssign(input: { alias: "no", type: Team, tags: [] }) { errors { message path } }
        user: tagAssign(input: { alias: "no", type: User, tags: [] }) { errors { message path } }
        tier: tagAssign(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGllci8x", tags: [] }) { errors { message path } }
        assign: tagAssign(input: { id: "nonsense", tags: [] }) { errors { message path } }
        create: tagCreate(input: { id: "nonsense", key: "k", value: "v" }) { errors { message path } }
    }"#;
    let malformed = "a service with the id or alias \"nonsense\" does not exist on this account";
    let error = |field: &str, message: &str| json!({ "errors": [{ "message": message, "path": [field] }] });
    let expected = json!({
        "neither": error("base", "exactly one of id and alias must be given"),
        "service": error("alias", "a service with the alias \"no\" does not exist on this account"),
        "repository": error("alias", "a repository with the alias \"no\" does not exist on this account"),
        "team": error("alias", "a team with the alias \"no\" does not exist on this account"),
        "user": error("alias", "a user with the email address \"no\" does not exist on this account"),
        "tier": error("id", "a service, repository, team, user, system, domain or infrastructure resource with this id does not exist on this account: it is the id of a Tier"),
        "assign": error("id", malformed),
        "create": error("id", malformed),
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn of_64_who_assign_the_same_key_at_once_one_tag_is_left() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = "mutation($a: String!, $b: String!) {
        tagAssign(input: { alias: \"cart\", tags: [{ key: $a, value: \"1\" }, { key: $b, value: \"1\" }] }) { errors { message } }
    }";
    let assign = |i| {
        let (a, b) = if i % 2 == 0 { ("left", "right") } else { ("right", "left") };
        app.query(query, json!({ "a": a, "b": b }))
    };
    for answer in futures_util::future::join_all((0..64).map(assign)).await {
        assert_eq!(answer, json!({ "data": { "tagAssign": { "errors": [] } } }));
    }
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { totalCount } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"]["totalCount"], 2);
}
