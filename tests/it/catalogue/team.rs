//! Teams and their members.

use futures_util::future::join_all;
use rollcall::service_file::Note;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::database::Database;
use crate::harness::service_file::done_of;

/// Ada, Bob, and the team `Core` without members. Returns the team's id.
async fn people(app: &TestApp) -> Value {
    let query = r#"mutation {
        ada: userInvite(email: "Ada@example.com", input: {}) { errors { path } }
        bob: userInvite(email: "bob@example.com", input: {}) { errors { path } }
        teamCreate(input: { name: "Core" }) { team { id } }
    }"#;
    data(app, query).await["teamCreate"]["team"]["id"].take()
}

#[tokio::test]
async fn team_create_answers_every_given_value() {
    let app = TestApp::with(&["--app-url", "https://rollcall.example.com"]).await;
    people(&app).await;
    let query = r#"mutation {
        teamCreate(input: {
            name: "Platform Team", managerEmail: "ADA@example.com", responsibilities: "Everything",
            members: [{ user: { email: "bob@example.com" }, role: "lead" }, { user: { email: "ada@example.com" } }]
        }) {
            team {
                name alias aliases managedAliases responsibilities htmlUrl manager { email }
                members { totalCount nodes { email } }
                memberships { totalCount nodes { role user { name } team { name } } }
                services { totalCount } tags { totalCount }
            }
            errors { message path }
        }
    }"#;
    let expected = json!({
        "team": {
            "name": "Platform Team", "alias": "platform_team", "aliases": ["platform_team"], "managedAliases": [],
            "responsibilities": "Everything", "htmlUrl": "https://rollcall.example.com/teams/platform_team",
            "manager": { "email": "Ada@example.com" },
            "members": { "totalCount": 2, "nodes": [{ "email": "bob@example.com" }, { "email": "Ada@example.com" }] },
            "memberships": { "totalCount": 2, "nodes": [
                { "role": "lead", "user": { "name": "bob" }, "team": { "name": "Platform Team" } },
                { "role": null, "user": { "name": "Ada" }, "team": { "name": "Platform Team" } },
            ] },
            "services": { "totalCount": 0 }, "tags": { "totalCount": 0 },
        },
        "errors": [],
    });
    assert_eq!(data(&app, query).await["teamCreate"], expected);
}

#[tokio::test]
async fn team_create_reports_all_mistakes_at_once_and_creates_nothing() {
    let app = TestApp::start().await;
    people(&app).await;
    let query = r#"mutation {
        teamCreate(input: { name: "", managerEmail: "no@example.com", members: [
            { user: { email: "no@example.com" } }, { user: {} }, { user: { id: "no" } },
            { user: { email: "bob@example.com" } }, { user: { email: "BOB@example.com" } }
        ] }) { team { id } errors { message path } }
        taken: teamCreate(input: { name: "Core" }) { team { id } errors { message path } }
    }"#;
    let expected = json!({
        "teamCreate": { "team": null, "errors": [
            { "message": "name must not be empty", "path": ["name"] },
            { "message": "a user with the email address \"no@example.com\" does not exist on this account", "path": ["managerEmail"] },
            {
                "message": "a user with the email address \"no@example.com\" does not exist on this account",
                "path": ["members", "0", "user", "email"],
            },
            { "message": "exactly one of id and email must be given", "path": ["members", "1", "user"] },
            {
                "message": "a user with the id or email address \"no\" does not exist on this account",
                "path": ["members", "2", "user", "id"],
            },
            { "message": "this user is listed twice", "path": ["members", "4", "user"] },
        ] },
        "taken": { "team": null, "errors": [{ "message": "another team has the name \"Core\"", "path": ["name"] }] },
    });
    assert_eq!(data(&app, query).await, expected);
    let read = data(&app, "{ account { teams { totalCount nodes { name } } } }").await;
    assert_eq!(read["account"]["teams"], json!({ "totalCount": 1, "nodes": [{ "name": "Core" }] }));
}

#[tokio::test]
async fn a_team_update_keeps_absent_fields_and_clears_null_ones() {
    let app = TestApp::start().await;
    people(&app).await;
    let query = r#"mutation {
        set: teamUpdate(input: { alias: "core", managerEmail: "bob@example.com", responsibilities: "r" }) {
            team { name alias manager { email } responsibilities } errors { message path }
        }
        clear: teamUpdate(input: { alias: "core", managerEmail: null }) {
            team { name alias manager { email } responsibilities } errors { message path }
        }
        unknown: teamUpdate(input: { alias: "core", managerEmail: "no" }) { team { name } errors { message path } }
    }"#;
    let expected = json!({
        "set": {
            "team": { "name": "Core", "alias": "core", "manager": { "email": "bob@example.com" }, "responsibilities": "r" },
            "errors": [],
        },
        "clear": {
            "team": { "name": "Core", "alias": "core", "manager": null, "responsibilities": "r" }, "errors": [],
        },
        "unknown": {
            "team": null,
            "errors": [{ "message": "a user with the email address \"no\" does not exist on this account", "path": ["managerEmail"] }],
        },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_renamed_team_is_found_by_both_its_slugs() {
    let app = TestApp::start().await;
    people(&app).await;
    let query = r#"mutation {
        teamCreate(input: { name: "Other" }) { errors { path } }
        teamUpdate(input: { alias: "core", name: "New Core" }) { team { name alias aliases } errors { message path } }
        taken: teamUpdate(input: { alias: "core", name: "Other" }) { errors { message path } }
        null: teamUpdate(input: { alias: "core", name: null }) { errors { message path } }
    }"#;
    let answer = data(&app, query).await;
    let team = json!({ "name": "New Core", "alias": "new_core", "aliases": ["core", "new_core"] });
    assert_eq!(answer["teamUpdate"], json!({ "team": team, "errors": [] }));
    assert_eq!(
        answer["taken"]["errors"],
        json!([{ "message": "another team has the name \"Other\"", "path": ["name"] }])
    );
    assert_eq!(answer["null"]["errors"], json!([{ "message": "name must not be null", "path": ["name"] }]));
    let read =
        data(&app, r#"{ account { team(alias: "core") { name } new: team(alias: "new_core") { name } } }"#).await;
    assert_eq!(read["account"], json!({ "team": { "name": "New Core" }, "new": { "name": "New Core" } }));
}

#[tokio::test]
async fn a_deleted_team_leaves_its_services_without_an_owner() {
    let app = TestApp::start().await;
    let id = people(&app).await;
    let query = r#"mutation {
        serviceCreate(input: { name: "cart", ownerInput: { alias: "core" } }) { service { owner { name } } }
        teamDelete(input: { alias: "core" }) { deletedTeamId deletedTeamAlias errors { message path } }
        again: teamDelete(input: { alias: "core" }) { deletedTeamId errors { message path } }
    }"#;
    let expected = json!({
        "serviceCreate": { "service": { "owner": { "name": "Core" } } },
        "teamDelete": { "deletedTeamId": id, "deletedTeamAlias": "core", "errors": [] },
        "again": {
            "deletedTeamId": null, "errors": [{ "message": "a team with the alias \"core\" does not exist on this account", "path": ["alias"] }],
        },
    });
    assert_eq!(data(&app, query).await, expected);
    let read = data(&app, "{ account { services { nodes { name owner { name } } } teams { totalCount } } }").await;
    let expected =
        json!({ "services": { "nodes": [{ "name": "cart", "owner": null }] }, "teams": { "totalCount": 0 } });
    assert_eq!(read["account"], expected);
}

#[tokio::test]
async fn a_team_lists_the_services_it_owns() {
    let app = TestApp::start().await;
    people(&app).await;
    let query = r#"mutation {
        a: serviceCreate(input: { name: "a", ownerInput: { alias: "core" } }) { errors { path } }
        b: serviceCreate(input: { name: "b" }) { errors { path } }
        c: serviceCreate(input: { name: "c", ownerInput: { alias: "core" } }) { errors { path } }
    }"#;
    data(&app, query).await;
    let query = r#"{ account { team(alias: "core") { services(first: 1) { totalCount nodes { name } pageInfo { hasNextPage } } } } }"#;
    let expected = json!({ "totalCount": 2, "nodes": [{ "name": "a" }], "pageInfo": { "hasNextPage": true } });
    assert_eq!(data(&app, query).await["account"]["team"]["services"], expected);
}

#[tokio::test]
async fn members_join_with_a_role_and_keep_it_until_another_is_given() {
    let app = TestApp::start().await;
    let id = people(&app).await;
    let query = r#"mutation($team: ID!) {
        join: teamMembershipCreate(input: { teamId: $team, members: [
            { user: { email: "bob@example.com" }, role: "lead" }, { user: { email: "ada@example.com" }, role: "help" }
        ] }) { members { email } memberships { role user { email } } errors { message path } }
        again: teamMembershipCreate(input: { teamId: $team, members: [
            { user: { email: "ada@example.com" } }, { user: { email: "bob@example.com" }, role: null }
        ] }) { memberships { role user { email } } errors { message path } }
    }"#;
    let (ada, bob) = (json!({ "email": "Ada@example.com" }), json!({ "email": "bob@example.com" }));
    let expected = json!({
        "join": {
            "members": [bob, ada],
            "memberships": [{ "role": "lead", "user": bob }, { "role": "help", "user": ada }],
            "errors": [],
        },
        "again": { "memberships": [{ "role": "help", "user": ada }, { "role": null, "user": bob }], "errors": [] },
    });
    assert_eq!(app.query(query, json!({ "team": id })).await["data"], expected);
    let read = data(&app, r#"{ account { team(alias: "core") { members { totalCount } } } }"#).await;
    assert_eq!(read["account"]["team"]["members"]["totalCount"], 2);
}

#[tokio::test]
async fn one_user_who_is_not_a_member_refuses_the_whole_removal() {
    let app = TestApp::start().await;
    let id = people(&app).await;
    let query = r#"mutation($team: ID!) {
        teamMembershipCreate(input: { teamId: $team, members: { user: { email: "bob@example.com" } } }) { errors { path } }
        both: teamMembershipDelete(input: { teamId: $team, members: [
            { user: { email: "bob@example.com" } }, { user: { email: "ada@example.com" } }
        ] }) { deletedMembers { email } errors { message path } }
        bob: teamMembershipDelete(input: { teamId: $team, members: [{ user: { email: "bob@example.com" } }] }) {
            deletedMembers { email } errors { message path }
        }
    }"#;
    let expected = json!({
        "teamMembershipCreate": { "errors": [] },
        "both": { "deletedMembers": null, "errors": [
            { "message": "a membership of this user in the team does not exist on this account", "path": ["members", "1", "user"] },
        ] },
        "bob": { "deletedMembers": [{ "email": "bob@example.com" }], "errors": [] },
    });
    assert_eq!(app.query(query, json!({ "team": id })).await["data"], expected);
}

#[tokio::test]
async fn members_can_only_join_an_existing_team() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        teamMembershipCreate(input: { teamId: "Z2lkOi8vcm9sbGNhbGwvVGVhbS8x", members: [] }) { members { id } errors { message path } }
        teamMembershipDelete(input: { teamId: "x", members: [] }) { deletedMembers { id } errors { path } }
    }"#;
    let expected = json!({
        "teamMembershipCreate": {
            "members": null, "errors": [{ "message": "a team with this id does not exist on this account", "path": ["teamId"] }],
        },
        "teamMembershipDelete": { "deletedMembers": null, "errors": [{ "path": ["teamId"] }] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn teams_are_listed_by_their_manager_and_by_a_part_of_a_name_or_an_alias() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        userInvite(email: "lead@example.com", input: {}) { errors { message } }
        a: teamCreate(input: { name: "Platform Core", managerEmail: "lead@example.com" }) { team { id } errors { message } }
        b: teamCreate(input: { name: "Shop 100%" }) { team { id } errors { message } }
        c: teamCreate(input: { name: "Core shop" }) { team { id } errors { message } }
    }"#;
    let made = data(&app, query).await;
    let alias = "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"KERNEL\" }) { errors { message } } }";
    app.query(alias, json!({ "id": made["b"]["team"]["id"] })).await;
    let query = "query($manager: String, $term: String) {
        account { teams(managerEmail: $manager, searchTerm: $term) { totalCount nodes { name } } }
    }";
    for (manager, term, expected) in [
        (None, None, vec!["Platform Core", "Shop 100%", "Core shop"]),
        (Some("Lead@Example.com"), None, vec!["Platform Core"]),
        (Some("nobody@example.com"), None, vec![]),
        (Some(""), Some(""), vec!["Platform Core", "Shop 100%", "Core shop"]),
        (None, Some("CORE"), vec!["Platform Core", "Core shop"]),
        (None, Some("kern"), vec!["Shop 100%"]),
        (None, Some("0%"), vec!["Shop 100%"]),
        (None, Some("_"), vec!["Platform Core", "Shop 100%", "Core shop"]),
        (Some("lead@example.com"), Some("shop"), vec![]),
    ] {
        let answer = app.query(query, json!({ "manager": manager, "term": term })).await;
        let nodes: Vec<Value> = expected.iter().map(|name| json!({ "name": name })).collect();
        let expected = json!({ "totalCount": nodes.len(), "nodes": nodes });
        assert_eq!(answer["data"]["account"]["teams"], expected, "{manager:?} {term:?}");
    }
    let long = app.query(query, json!({ "term": "x".repeat(256) })).await;
    assert!(long["errors"][0]["message"].is_string(), "{long}");
}

#[tokio::test]
async fn teams_are_listed_by_their_parent_and_a_team_lists_its_children() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        top: teamCreate(input: { name: "Top" }) { team { id } errors { message } }
        free: teamCreate(input: { name: "Free" }) { errors { message } }
        z: teamCreate(input: { name: "zebra", parentTeam: { alias: "top" } }) { errors { message } }
        a: teamCreate(input: { name: "Ant", parentTeam: { alias: "top" } }) { errors { message } }
        b: teamCreate(input: { name: "bee", parentTeam: { alias: "top" } }) { errors { message } }
        below: teamCreate(input: { name: "Below", parentTeam: { alias: "bee" } }) { errors { message } }
    }"#;
    let made = data(&app, query).await;
    let id = &made["top"]["team"]["id"];
    let list = "query($parent: IdentifierInput, $has: Boolean) { account {
        teams(sortBy: name_ASC, parentTeam: $parent, hasParentTeam: $has) { totalCount nodes { name } }
    } }";
    for (parent, has, expected) in [
        (json!({ "alias": "top" }), json!(null), &["Ant", "bee", "zebra"][..]),
        (json!({ "id": id }), json!(true), &["Ant", "bee", "zebra"]),
        (json!({ "alias": "top" }), json!(false), &[]),
        (json!({ "alias": "free" }), json!(null), &[]),
        (json!(null), json!(false), &["Free", "Top"]),
        (json!(null), json!(true), &["Ant", "bee", "Below", "zebra"]),
    ] {
        let answer = app.query(list, json!({ "parent": parent, "has": has })).await;
        let nodes: Vec<Value> = expected.iter().map(|name| json!({ "name": name })).collect();
        let expected = json!({ "totalCount": nodes.len(), "nodes": nodes });
        assert_eq!(answer["data"]["account"]["teams"], expected, "{parent} {has}");
    }
    for (parent, message) in [
        (json!({ "alias": "nope" }), "does not exist on this account"),
        (json!({ "id": "nope" }), "does not exist on this account"),
        (json!({}), "exactly one of id and alias must be given"),
    ] {
        let refused = app.query(list, json!({ "parent": parent })).await;
        let told = refused["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(told.contains(message), "{parent}: {refused}");
    }

    // All parents at once, a page at a time: by name, whoever was made first.
    let children = "query($first: Int, $after: String) { account { teams(sortBy: name_ASC) { nodes {
        name children(first: $first, after: $after) { totalCount nodes { name } pageInfo { hasNextPage endCursor } }
    } } } }";
    let read = async |first: i64, after: &Value| {
        let answer = app.query(children, json!({ "first": first, "after": after })).await;
        assert_eq!(answer["errors"], Value::Null, "{answer}");
        answer["data"]["account"]["teams"]["nodes"].clone()
    };
    let of = |teams: &Value, name: &str| {
        let all = teams.as_array().expect("teams");
        all.iter().find(|team| team["name"] == name).expect("the team")["children"].clone()
    };
    let teams = read(100, &Value::Null).await;
    for (name, names) in [
        ("Top", json!([{ "name": "Ant" }, { "name": "bee" }, { "name": "zebra" }])),
        ("bee", json!([{ "name": "Below" }])),
        ("Ant", json!([])),
    ] {
        let own = of(&teams, name);
        assert_eq!((&own["nodes"], &own["totalCount"]), (&names, &json!(names.as_array().map(Vec::len))), "{name}");
    }
    let (mut names, mut after) = (Vec::new(), Value::Null);
    loop {
        let page = of(&read(1, &after).await, "Top");
        names.push(page["nodes"][0]["name"].as_str().expect("a name").to_owned());
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(names, ["Ant", "bee", "zebra"]);
    // A cursor of the list in order of creation is none of this list.
    let page = data(&app, "{ account { teams(first: 1) { pageInfo { endCursor } } } }").await;
    let other = app.query(children, json!({ "after": page["account"]["teams"]["pageInfo"]["endCursor"] })).await;
    assert!(other["errors"][0]["message"].as_str().is_some_and(|told| told.contains("another list")), "{other}");
}

#[tokio::test]
async fn a_team_update_with_members_replaces_them() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: userInvite(email: "a@example.com", input: {}) { errors { message } }
        b: userInvite(email: "b@example.com", input: {}) { errors { message } }
        c: userInvite(email: "c@example.com", input: {}) { errors { message } }
        teamCreate(input: { name: "Core", group: { alias: "g" }, members: [
            { user: { email: "a@example.com" }, role: "lead" }, { email: "b@example.com" }
        ] }) { errors { message } }
    }"#;
    data(&app, query).await;
    let update = "mutation($members: [TeamMembershipUserInput!]) { teamUpdate(input: { alias: \"core\", members: $members, group: null }) {
        team { memberships { nodes { role user { email } } } } errors { path message }
    } }";
    let member = |email: &str, role: Option<&str>| json!({ "role": role, "user": { "email": email } });
    let set =
        async |members: Value| app.query(update, json!({ "members": members })).await["data"]["teamUpdate"].clone();
    let told =
        set(json!([{ "user": { "email": "a@example.com" } }, { "email": "c@example.com", "role": "guest" }])).await;
    let expected = json!([member("a@example.com", Some("lead")), member("c@example.com", Some("guest"))]);
    assert_eq!(told["team"]["memberships"]["nodes"], expected);
    for (members, path, message) in [
        (json!([{ "role": "x" }]), json!(["members", "0"]), "exactly one of email and user must be given"),
        (
            json!([{ "email": "a@example.com", "user": { "email": "a@example.com" } }]),
            json!(["members", "0", "email"]),
            "only one of email and user can be given",
        ),
        (
            json!([{ "email": "no@example.com" }]),
            json!(["members", "0", "email"]),
            "a user with the email address \"no@example.com\" does not exist on this account",
        ),
    ] {
        let told = set(members).await;
        assert_eq!(told["errors"], json!([{ "path": path, "message": message }]));
    }
    assert_eq!(set(Value::Null).await["team"]["memberships"]["nodes"], json!([]));
}

#[tokio::test]
async fn non_ascii_letters_are_found_on_every_database() {
    let app = TestApp::over(Database::with_a_locale().await, &[]).await;
    let made = data(
        &app,
        r#"mutation {
            teamCreate(input: { name: "Ärger" }) { errors { message } }
            serviceCreate(input: { name: "Cart", product: "Ärzte" }) { errors { message } }
        }"#,
    )
    .await;
    assert_eq!(made, json!({ "teamCreate": { "errors": [] }, "serviceCreate": { "errors": [] } }));
    for term in ["\u{c4}", "\u{c4}RG", "RGER"] {
        let query = "query($term: String!) { account { teams(searchTerm: $term) { nodes { name } } } }";
        let answer = app.query(query, json!({ "term": term })).await;
        assert_eq!(answer["data"]["account"]["teams"]["nodes"], json!([{ "name": "\u{c4}rger" }]), "{term}");
    }
    for (kind, arg) in
        [("contains", "\u{c4}RZ"), ("equals", "\u{c4}RZTE"), ("starts_with", "\u{c4}"), ("ends_with", "ZTE")]
    {
        let query =
            "query($filter: [ServiceFilterInput!]) { account { services(filter: $filter) { nodes { name } } } }";
        let filter = json!([{ "key": "product", "type": kind, "arg": arg, "caseSensitive": false }]);
        let answer = app.query(query, json!({ "filter": filter })).await;
        assert_eq!(answer["data"]["account"]["services"]["nodes"], json!([{ "name": "Cart" }]), "{kind} {arg}");
    }
}

/// Creates the teams `PREFIX1`, `PREFIX2` and so on, each a part of the one before.
async fn tower(app: &TestApp, prefix: &str, height: usize) {
    for level in 1..=height {
        let parent = if level == 1 { json!(null) } else { json!({ "alias": format!("{prefix}{}", level - 1) }) };
        let input = json!({ "name": format!("{prefix}{level}"), "parentTeam": parent });
        let query = "mutation($input: TeamCreateInput!) { teamCreate(input: $input) { errors { message } } }";
        let made = app.query(query, json!({ "input": input })).await;
        assert_eq!(made["data"]["teamCreate"]["errors"], json!([]), "{prefix}{level}");
    }
}

#[tokio::test]
async fn a_team_has_at_most_twenty_teams_above_it() {
    let app = TestApp::start().await;
    tower(&app, "a", 21).await;
    tower(&app, "b", 2).await;
    let errors = json!([{ "path": ["parentTeam"], "message": "a team can have at most 20 teams above it" }]);
    let query = r#"mutation {
        made: teamCreate(input: { name: "c", parentTeam: { alias: "a21" } }) { errors { path message } }
        moved: teamUpdate(input: { alias: "b2", parentTeam: { alias: "a21" } }) { errors { path message } }
        withParts: teamUpdate(input: { alias: "b1", parentTeam: { alias: "a20" } }) { errors { path message } }
        last: teamUpdate(input: { alias: "b1", parentTeam: { alias: "a19" } }) { errors { path message } }
        alone: teamUpdate(input: { alias: "b2", parentTeam: { alias: "a20" } }) { errors { path message } }
    }"#;
    let expected = json!({
        "made": { "errors": errors }, "moved": { "errors": errors }, "withParts": { "errors": errors },
        "last": { "errors": [] }, "alone": { "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

/// Sends two moves at once, each a team and its new parent, ten times. One of them is refused each time.
async fn one_of_two_moves_is_refused(app: &TestApp, moves: [(&str, &str); 2], message: &str) {
    let query = "mutation($team: String!, $parent: IdentifierInput) {
        teamUpdate(input: { alias: $team, parentTeam: $parent }) { errors { path message } }
    }";
    for _ in 0..10 {
        let moved =
            moves.map(|(team, parent)| app.query(query, json!({ "team": team, "parent": { "alias": parent } })));
        let answers = join_all(moved).await;
        let errors: Vec<_> = answers.iter().map(|answer| answer["data"]["teamUpdate"]["errors"].clone()).collect();
        let refused = json!([{ "path": ["parentTeam"], "message": message }]);
        assert!(errors.contains(&json!([])) && errors.contains(&refused), "{errors:?}");
        for (team, _) in moves {
            app.query(query, json!({ "team": team, "parent": null })).await;
        }
    }
}

#[tokio::test]
async fn two_concurrent_moves_do_not_exceed_the_depth_together() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    for prefix in ["a", "b", "c"] {
        tower(&app, prefix, 10).await;
    }
    let message = "a team can have at most 20 teams above it";
    one_of_two_moves_is_refused(&app, [("b1", "a10"), ("c1", "b10")], message).await;
}

#[tokio::test]
async fn two_concurrent_moves_do_not_close_a_circle_together() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    for prefix in ["a", "b"] {
        tower(&app, prefix, 3).await;
    }
    let message = "a team cannot be a part of itself, or of one of its parts";
    one_of_two_moves_is_refused(&app, [("a1", "b3"), ("b1", "a3")], message).await;
}

#[tokio::test]
async fn a_service_file_keeps_the_depth_of_teams_too() {
    let app = TestApp::start().await;
    tower(&app, "a", 20).await;
    let adopt = |name: &str, part: &str| {
        format!(
            "apiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {{ name: {name} }}\n\
             spec: {{ type: team, children: [{part}] }}\n"
        )
    };
    done_of(&app, &[("catalog-info.yaml", &adopt("top", "a1"))]).await.expect("a tower of 21");
    let done = done_of(&app, &[("catalog-info.yaml", &adopt("higher", "top"))]).await.expect("no tower of 22");
    let is_noted = |note: &Note| note.message == "a team can have at most 20 teams above it";
    assert!(done.left_out.iter().any(is_noted), "{:?}", done.left_out);
    let read = data(&app, r#"{ account { team(alias: "top") { parentTeam { name } } } }"#).await;
    assert_eq!(read["account"]["team"]["parentTeam"], json!(null));
}
