//! What the roles of users may change.

use std::time::Duration;

use rollcall::db::Read;
use rollcall::entity::audit;
use rollcall::entity::user::Role;
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data, soon};
use crate::harness::browser::Browser;
use crate::harness::refusal::{NOT_OWN, rules_alone};

/// The first error of each mutation, or nothing: its rule alone.
async fn refused(browser: &Browser<'_>, query: &str) -> Value {
    let answer = browser.query(query, json!({})).await;
    let payloads = answer["data"].as_object().unwrap_or_else(|| panic!("{answer}"));
    rules_alone(
        payloads.iter().map(|(name, payload)| (name.clone(), payload["errors"][0]["message"].clone())).collect(),
    )
}

#[tokio::test]
async fn a_team_member_changes_their_own_teams_and_what_those_own() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } }
        led: teamCreate(input: { name: "Led", managerEmail: "teammember@example.com" }) { errors { message } }
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
        till: systemCreate(input: { name: "Till" }) { errors { message } }
    }"#;
    data(&app, made).await;
    let changes = r#"mutation {
        note: serviceNoteUpdate(input: { service: { alias: "cart" }, note: "n" }) { errors { message } }
        tag: tagCreate(input: { alias: "cart", key: "a", value: "b" }) { errors { message } }
        tool: toolCreate(input: { serviceAlias: "cart", category: logs, displayName: "L", url: "https://l" }) { errors { message } }
        depends: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "mail" }
        } }) { errors { message } }
        contact: contactCreate(input: { teamAlias: "own", type: slack, address: "x" }) { errors { message } }
        team: teamUpdate(input: { alias: "led", responsibilities: "r" }) { errors { message } }
        create: serviceCreate(input: { name: "New", ownerInput: { alias: "led" } }) { errors { message } }
    }"#;
    let none: Value = ["note", "tag", "tool", "depends", "contact", "team", "create"]
        .iter()
        .map(|name| ((*name).to_owned(), Value::Null))
        .collect();
    assert_eq!(refused(&member, changes).await, none);
    let changes = r#"mutation {
        note: serviceNoteUpdate(input: { service: { alias: "mail" }, note: "n" }) { errors { message } }
        take: serviceUpdate(input: { alias: "mail", ownerInput: { alias: "own" } }) { errors { message } }
        tag: tagCreate(input: { alias: "mail", key: "a", value: "b" }) { errors { message } }
        depends: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "mail" }, destinationIdentifier: { alias: "cart" }
        } }) { errors { message } }
        team: teamUpdate(input: { alias: "other", responsibilities: "r" }) { errors { message } }
        found: teamCreate(input: { name: "New" }) { errors { message } }
        create: serviceCreate(input: { name: "Ownerless" }) { errors { message } }
        assign: systemChildAssign(system: { alias: "till" }, childServices: [{ alias: "mail" }]) { errors { message } }
        tier: tierCreate(input: { name: "T" }) { errors { message } }
    }"#;
    let all: Value = ["note", "take", "tag", "depends", "team", "found", "create", "assign", "tier"]
        .iter()
        .map(|name| ((*name).to_owned(), json!(NOT_OWN)))
        .collect();
    assert_eq!(refused(&member, changes).await, all);
    let query =
        r#"{ account { service(alias: "mail") { note owner { alias } tags { totalCount } } teams { totalCount } } }"#;
    let left = data(&app, query).await["account"].clone();
    let expected = json!({
        "service": { "note": null, "owner": { "alias": "other" }, "tags": { "totalCount": 0 } }, "teams": { "totalCount": 3 },
    });
    assert_eq!(left, expected);
}

#[tokio::test]
async fn an_alias_that_looks_like_an_id_does_not_change_who_may_do_what() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } }
        other: teamCreate(input: { name: "Other" }) { team { id } errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" } }) { service { id } errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { service { id } errors { message } }
    }"#;
    let made = data(&app, made).await;
    let tag = r#"mutation { tagCreate(input: { alias: "cart", key: "a", value: "b" }) { tag { id } } }"#;
    let tag = member.query(tag, json!({})).await["data"]["tagCreate"]["tag"]["id"].clone();
    let create = "mutation($owner: ID!, $alias: String!) {
        aliasCreate(input: { ownerId: $owner, alias: $alias }) { aliases errors { message } }
    }";
    for owner in [&made["mail"]["service"]["id"], &made["other"]["team"]["id"]] {
        for alias in [&tag, &made["cart"]["service"]["id"]] {
            let variables = json!({ "owner": owner, "alias": alias });
            let refused = member.query(create, variables.clone()).await["data"]["aliasCreate"]["errors"].clone();
            assert_eq!(rules_alone(refused), json!([{ "message": NOT_OWN }]));
            // Somebody else gave it the alias.
            app.query(create, variables).await;
        }
    }
    for alias in [&tag, &made["cart"]["service"]["id"]] {
        let delete = "mutation($alias: String!) {
            service: serviceDelete(input: { alias: $alias }) { errors { message } }
            team: teamDelete(input: { alias: $alias }) { errors { message } }
            alias: aliasDelete(input: { alias: $alias, ownerType: service }) { errors { message } }
        }";
        let answer = member.query(delete, json!({ "alias": alias })).await["data"].clone();
        for part in ["service", "team", "alias"] {
            assert_eq!(
                rules_alone(answer[part]["errors"].clone()),
                json!([{ "message": NOT_OWN }]),
                "{part}: {answer}"
            );
        }
    }
    // The audit names what was deleted.
    let delete = "mutation($alias: String!) { serviceDelete(input: { alias: $alias }) { errors { message } } }";
    app.query(delete, json!({ "alias": tag })).await;
    let page = Browser::of(&app, Role::Admin).await.page("/audit").await;
    assert!(page.contains("serviceDelete") && page.contains("Mail"), "{page}");
}

#[tokio::test]
async fn a_team_member_applies_service_files_of_services_that_their_teams_own() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } }
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
    }"#;
    data(&app, made).await;
    let apply = async |text: &str, is_dry_run: bool| {
        let query = "mutation($text: String!, $dry: Boolean) {
            apply: serviceFilesApply(input: { files: { path: \"f.yml\", text: $text }, dryRun: $dry }) {
                documents { name outcome } errors { message path }
            }
        }";
        let answer = member.query(query, json!({ "text": text, "dry": is_dry_run })).await;
        answer["data"]["apply"].clone()
    };
    let own = "version: 1\nservice:\n  name: Cart\n  owner: own\n---\nversion: 1\nteam:\n  name: Own\n  responsibilities: r\n";
    let done = apply(own, false).await;
    assert_eq!(done["errors"], json!([]), "{done}");
    assert_eq!(done["documents"].as_array().map(Vec::len), Some(2), "{done}");
    let others = "version: 1\nservice:\n  name: Mail\n  owner: own\n---\nversion: 1\nteam:\n  name: Other\n  responsibilities: r\n---\n\
        version: 1\nservice:\n  name: Ownerless\n---\nversion: 1\nservice:\n  name: Cart\n  owner: own\n  language: Rust\n";
    let not_own = |what: &str| {
        let message = format!("the {what}: {NOT_OWN}");
        json!({ "message": message, "path": ["files"] })
    };
    let all = json!([not_own("service \"mail\""), not_own("team \"other\""), not_own("service \"ownerless\"")]);
    for is_dry_run in [true, false] {
        assert_eq!(rules_alone(apply(others, is_dry_run).await["errors"].clone()), all);
    }
    let adopting = "apiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: { name: own }\nspec: { type: team, children: [other] }\n";
    let refused = rules_alone(apply(adopting, false).await["errors"].clone());
    assert_eq!(refused, json!([not_own("team \"other\"")]), "its parent is its own");
    let query = r#"{ account {
        mail: service(alias: "mail") { owner { alias } } cart: service(alias: "cart") { language }
        ownerless: service(alias: "ownerless") { id } other: team(alias: "other") { responsibilities parentTeam { id } }
    } }"#;
    let expected = json!({
        "mail": { "owner": { "alias": "other" } }, "cart": { "language": null }, "ownerless": null,
        "other": { "responsibilities": null, "parentTeam": null },
    });
    assert_eq!(data(&app, query).await["account"], expected, "a refused file changes nothing");
    // A dry run gives the alias an id of its own, and not that of an alias which it has not copied.
    data(&app, r#"mutation { serviceCreate(input: { name: "Zoo" }) { errors { message } } }"#).await;
    for is_dry_run in [true, false] {
        let done = apply("version: 1\nservice: { name: Cart, aliases: [basket] }\n", is_dry_run).await;
        assert_eq!(done, json!({ "documents": [{ "name": "cart", "outcome": "updated" }], "errors": [] }));
    }
}

#[tokio::test]
async fn standards_are_changed_by_a_standards_administrator() {
    let app = TestApp::start().await;
    let change = r#"mutation {
        level: levelCreate(input: { name: "Gold" }) { errors { message } }
        category: categoryCreate(input: { name: "Safety" }) { errors { message } }
        service: serviceCreate(input: { name: "Cart" }) { errors { message } }
    }"#;
    let message = "only a standards administrator or an administrator can change levels, categories, checks, scorecards and campaigns";
    let user = Browser::of(&app, Role::User).await;
    assert_eq!(refused(&user, change).await, json!({ "level": message, "category": message, "service": null }));
    let administrator = Browser::of(&app, Role::StandardsAdmin).await;
    let change = change.replace("Cart", "Mail");
    assert_eq!(refused(&administrator, &change).await, json!({ "level": null, "category": null, "service": null }));
    // Users and their roles are not standards.
    let answer = administrator
        .query("mutation { userDelete(user: { email: \"x@y\" }) { errors { message } } }", json!({}))
        .await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "FORBIDDEN", "{answer}");
}

#[tokio::test]
async fn a_role_is_set_and_read_by_the_names_that_clients_use() {
    let app = TestApp::start().await;
    for role in ["admin", "standards_admin", "team_member", "user", "viewer"] {
        let query = "mutation($email: String!, $role: UserRole) { userInvite(email: $email, input: { role: $role }, forceSendInvite: true) {
            user { role lastSignInAt } errors { message }
        } }";
        let answer = app.query(query, json!({ "email": format!("{role}@example.com"), "role": role })).await;
        let expected = json!({ "user": { "role": role, "lastSignInAt": null }, "errors": [] });
        assert_eq!(answer["data"]["userInvite"], expected);
    }
    let query = "query($filter: [UsersFilterInput!]) { account { users(filter: $filter) { nodes { email } } } }";
    Browser::of(&app, Role::Viewer).await;
    data(&app, r#"mutation { tagCreate(input: { type: User, alias: "user@example.com", key: "site", value: "north" }) { errors { message } } }"#).await;
    for (filter, expected) in [
        (json!(null), 5),
        (json!([{ "key": "deactivated_at" }]), 5),
        (json!([{ "key": "deactivated_at", "type": "does_not_equal" }]), 0),
        (json!([{ "key": "email", "arg": "ADMIN@example.com" }]), 1),
        (json!([{ "key": "email", "arg": "admin@example.com", "type": "does_not_equal" }]), 4),
        (json!([{ "key": "role", "arg": "team_member" }]), 1),
        (json!([{ "key": "name", "arg": "Standards_Admin" }]), 1),
        (json!([{ "key": "last_sign_in_at" }]), 4),
        (json!([{ "key": "last_sign_in_at", "type": "does_not_equal" }]), 1),
        (json!([{ "key": "tag", "arg": "site:north" }]), 1),
        (json!([{ "key": "tag", "arg": "site" }, { "key": "role", "arg": "user" }]), 1),
        (json!([{ "key": "tag", "arg": "site:south" }]), 0),
    ] {
        let answer = app.query(query, json!({ "filter": filter })).await;
        let found = answer["data"]["account"]["users"]["nodes"].as_array().map(Vec::len);
        assert_eq!(found, Some(expected), "{filter} {answer}");
    }
    for (filter, message) in [
        (json!([{ "key": "email" }]), "arg must be given with this key"),
        (json!([{ "key": "last_sign_in_at", "arg": "x" }]), "arg must be a date and time"),
        (json!(vec![json!({ "key": "deactivated_at" }); 21]), "at most 20 conditions can be given"),
    ] {
        let answer = app.query(query, json!({ "filter": filter })).await;
        assert_eq!(answer["errors"][0]["message"], message);
    }
}

/// The class, name and changes of the entries of the audit with an action.
async fn told(app: &TestApp, action: &str) -> Vec<(String, Option<String>, Value)> {
    let rows = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let entry = |row: audit::Model| {
        let detail: Value = serde_json::from_str(&row.detail).expect("JSON");
        (row.subject_class.unwrap_or_default(), row.subject_name, detail["changed"].clone())
    };
    rows.into_iter().filter(|row| row.action == action).map(entry).collect()
}

#[tokio::test]
async fn what_goes_along_with_a_deleted_thing_is_audited() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } }
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
        depends: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "mail" }, destinationIdentifier: { alias: "cart" }
        } }) { errors { message } }
    }"#;
    data(&app, made).await;
    let delete = r#"mutation {
        service: serviceDelete(input: { alias: "cart" }) { errors { message } }
        team: teamDelete(input: { alias: "own" }) { errors { message } }
        mail: serviceDelete(input: { alias: "mail" }) { errors { message } }
    }"#;
    assert_eq!(refused(&member, delete).await, json!({ "service": null, "team": null, "mail": NOT_OWN }));
    let service = told(&app, "serviceDelete").await;
    // The entry of the mutation is stored last, with its commit.
    assert_eq!((service[1].0.as_str(), service[1].1.as_deref()), ("Service", Some("cart")), "{service:?}");
    let dependency = json!({ "source": { "old": "mail", "new": null }, "destination": { "old": "cart", "new": null } });
    assert_eq!(service[..1], [("ServiceDependency".to_owned(), None, dependency)]);
    let team = told(&app, "teamDelete").await;
    assert_eq!(team.len(), 1, "{team:?}");
    let members = json!({ "removed": ["teammember@example.com"], "added": [] });
    assert_eq!(team[0].2["members"], members);
}

#[tokio::test]
async fn a_team_member_takes_what_has_no_owner_and_changes_nothing_else_of_it() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart" }) { errors { message } }
    }"#;
    data(&app, made).await;
    let change = r#"mutation {
        note: serviceNoteUpdate(input: { service: { alias: "cart" }, note: "n" }) { errors { message } }
        tag: tagCreate(input: { alias: "cart", key: "a", value: "b" }) { errors { message } }
        take: serviceUpdate(input: { alias: "cart", ownerInput: { alias: "own" } }) { errors { message } }
        own: serviceNoteUpdate(input: { service: { alias: "cart" }, note: "n" }) { errors { message } }
    }"#;
    let expected = json!({ "note": NOT_OWN, "tag": NOT_OWN, "take": null, "own": null });
    assert_eq!(refused(&member, change).await, expected);
}

#[tokio::test]
async fn a_mutation_that_a_role_forbids_is_audited() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let delete = r#"mutation { serviceDelete(input: { alias: "cart" }) { errors { message } } }"#;
    assert_eq!(refused(&member, delete).await, json!({ "serviceDelete": NOT_OWN }));
    let user = Browser::of(&app, Role::User).await;
    let message = "only a standards administrator or an administrator can change levels, categories, checks, scorecards and campaigns";
    let create = r#"mutation { levelCreate(input: { name: "Gold" }) { errors { message } } }"#;
    assert_eq!(refused(&user, create).await, json!({ "levelCreate": message }));
    // Nobody waits for these entries, which come in any order.
    let why = |row: &audit::Model| serde_json::from_str::<Value>(&row.detail).expect("JSON")["why"].clone();
    let noted = async {
        loop {
            let rows = app.db.read().all(audit::Entity::find()).await.expect("entries");
            let forbidden: Vec<Value> = rows.iter().filter(|row| row.action == "forbidden").map(why).collect();
            if forbidden.len() == 2 {
                return forbidden;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let forbidden = soon("refusals are noted", noted).await;
    for mutation in ["serviceDelete", "levelCreate"] {
        assert!(forbidden.contains(&json!(mutation)), "{forbidden:?}");
    }
}

#[tokio::test]
async fn a_team_member_does_not_follow_the_file_of_another_team() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
    }"#;
    data(&app, made).await;
    let apply = "mutation($commit: String) { serviceFilesApply(input: {
        files: { path: \"f.yml\", text: \"version: 1\\nservice:\\n  name: Mail\\n\" }, repository: \"https://github.com/org/mail\", commit: $commit
    }) { documents { outcome } errors { message } } }";
    let first = app.query(apply, json!({ "commit": "aaaaaaa" })).await;
    assert_eq!(first["data"]["serviceFilesApply"]["errors"], json!([]), "{first}");
    let file = r#"{ account { service(alias: "mail") { serviceFile { commit path } } } }"#;
    let before = data(&app, file).await;
    let second = member.query(apply, json!({ "commit": "bbbbbbb" })).await;
    assert_eq!(data(&app, file).await, before, "{second}");
}

#[tokio::test]
async fn a_team_member_does_not_take_over_by_a_file_what_people_wrote_on_the_service_of_another_team() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
        post: serviceCreate(input: { name: "Post", ownerInput: { alias: "other" } }) { errors { message } }
        grade: propertyDefinitionCreate(input: { name: "Grade", schema: { type: "string" } }) { errors { message } }
        reads: relationshipDefinitionCreate(input: { name: "Reads", componentType: { alias: "service" } }) { errors { message } }
        a: propertyAssign(input: { owner: { alias: "mail" }, definition: { alias: "grade" }, value: "\"a\"" }) { errors { message } }
        b: relationshipCreate(relationshipDefinition: {
            source: { alias: "mail" }, target: { alias: "post" }, type: related_to, relationshipDefinition: { alias: "reads" }
        }) { errors { message } }
    }"#;
    data(&app, made).await;
    let apply = "mutation($text: String!) { serviceFilesApply(input: {
        files: { path: \"f.yml\", text: $text }, repository: \"https://github.com/org/mail\"
    }) { documents { outcome } errors { message } } }";
    let same = "version: 1\nservice:\n  name: Mail\n  properties: { grade: a }\n  relationships: { reads: [post] }\n";
    let without = "version: 1\nservice:\n  name: Mail\n";
    let held = r#"{ account { service(alias: "mail") {
        properties { nodes { value } } relationships { nodes { id } }
    } } }"#;
    let before = data(&app, held).await;
    // Only what a file wrote is deleted once the file no longer has it.
    let by_member = member.query(apply, json!({ "text": same })).await;
    let applied = app.query(apply, json!({ "text": without })).await;
    assert_eq!(applied["data"]["serviceFilesApply"]["errors"], json!([]), "{applied}");
    assert_eq!(data(&app, held).await, before, "{by_member}");
}
