//! Service files describe the whole graph: teams, systems, domains, and a service's tools, contacts and dependencies.

use rollcall::db::Read;
use rollcall::entity::audit;
use rollcall::entity::user::Role;
use rollcall::service_file::{Done, Options, Origin, Outcome, Refused};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::service_file::{apply, apply_text, done_of, done_with, lines};

const GRAPH: &str = r##"version: 1
service:
  name: Cart
  owner: platform
  system: checkout
  type: website
  tools:
    - { name: Runbook, category: runbooks, url: "https://wiki.example.com/cart" }
    - { name: Logs, category: logs, environment: prod, url: "https://logs.example.com/cart" }
  contacts:
    - { type: slack, address: "#cart", display_name: Cart }
    - { type: slack, address: "#cart-alerts" }
  dependencies:
    - { alias: mail, notes: to confirm orders }
    - pay
---
version: 1
service: [{ name: Mail }, { name: Pay, dependencies: [cart] }]
---
version: 1
system: { name: Checkout, description: Sells, owner: platform, domain: commerce, aliases: [till], tags: { site: north } }
---
version: 1
domain: { name: Commerce, description: Money, owner: platform, aliases: [shop], tags: { site: north } }
---
version: 1
team:
  name: Platform
  manager: ada@example.com
  parent_team: engineering
  responsibilities: All of it
  aliases: [kernel]
  members: [bob@example.com, { email: ada@example.com, role: lead }]
  contacts: [{ type: email, address: platform@example.com }]
  tags: { site: north }
---
version: 1
team: { name: Engineering }
"##;

async fn with_people() -> TestApp {
    let app = TestApp::start().await;
    let query = r#"mutation {
        ada: userInvite(email: "ada@example.com", input: {}) { errors { message } }
        bob: userInvite(email: "bob@example.com", input: {}) { errors { message } }
    }"#;
    data(&app, query).await;
    app
}

async fn graph(app: &TestApp) -> Value {
    let query = r#"{ account {
        service(alias: "cart") {
            owner { name } parent { name } type { name } locked
            tools { nodes { displayName category environment url } }
            contacts { type address displayName isDefault } dependencies { edges { notes node { name } } }
        }
        system(input: { alias: "till" }) { name description owner { name } parent { name } tags { nodes { key value } } }
        domain(input: { alias: "shop" }) { name description owner { name } tags { nodes { key value } } }
        team(alias: "kernel") {
            name manager { email } parentTeam { name } responsibilities members { nodes { email } } memberships { nodes { role } }
            contacts { type address } tags { nodes { key value } }
        }
    } }"#;
    data(app, query).await["account"].take()
}

#[tokio::test]
async fn files_describe_the_whole_graph_in_any_order() {
    let app = with_people().await;
    let first = [
        "created service cart",
        "created service mail",
        "created service pay",
        "created system checkout",
        "created domain commerce",
        "created team platform",
        "created team engineering",
    ];
    assert_eq!(apply_text(&app, GRAPH).await, first);
    let site = json!({ "nodes": [{ "key": "site", "value": "north" }] });
    let expected = json!({
        "service": {
            "owner": { "name": "Platform" }, "parent": { "name": "Checkout" }, "type": { "name": "Website" }, "locked": true,
            "tools": { "nodes": [
                { "displayName": "Runbook", "category": "runbooks", "environment": null, "url": "https://wiki.example.com/cart" },
                { "displayName": "Logs", "category": "logs", "environment": "prod", "url": "https://logs.example.com/cart" },
            ] },
            "contacts": [
                { "type": "slack", "address": "#cart", "displayName": "Cart", "isDefault": true },
                { "type": "slack", "address": "#cart-alerts", "displayName": null, "isDefault": false },
            ],
            "dependencies": { "edges": [
                { "notes": "to confirm orders", "node": { "name": "Mail" } }, { "notes": null, "node": { "name": "Pay" } },
            ] },
        },
        "system": {
            "name": "Checkout", "description": "Sells", "owner": { "name": "Platform" }, "parent": { "name": "Commerce" },
            "tags": site,
        },
        "domain": { "name": "Commerce", "description": "Money", "owner": { "name": "Platform" }, "tags": site },
        "team": {
            "name": "Platform", "manager": { "email": "ada@example.com" }, "parentTeam": { "name": "Engineering" },
            "responsibilities": "All of it", "members": { "nodes": [{ "email": "bob@example.com" }, { "email": "ada@example.com" }] },
            "memberships": { "nodes": [{ "role": null }, { "role": "lead" }] },
            "contacts": [{ "type": "email", "address": "platform@example.com" }], "tags": site,
        },
    });
    assert_eq!(graph(&app).await, expected);
    let again = apply_text(&app, GRAPH).await;
    assert!(again.len() == 7 && again.iter().all(|line| line.starts_with("unchanged ")), "{again:?}");
    assert_eq!(graph(&app).await, expected);
}

#[tokio::test]
async fn a_list_is_replaced_if_its_key_is_present_and_unchanged_otherwise() {
    let app = with_people().await;
    apply_text(&app, GRAPH).await;
    let bare = "version: 1\nservice: { name: Cart }\n---\nversion: 1\nteam: { name: Platform }\n";
    let before = graph(&app).await;
    assert_eq!(apply_text(&app, bare).await, ["unchanged service cart", "unchanged team platform"]);
    assert_eq!(graph(&app).await, before);
    let less = r##"version: 1
service:
  name: Cart
  tools: [{ name: Logs, category: logs, environment: prod, url: "https://logs.example.com/cart" }]
  contacts: [{ type: slack, address: "#cart-alerts" }]
  dependencies: [{ alias: mail, notes: for receipts }]
---
version: 1
team: { name: Platform, members: [bob@example.com], contacts: , tags: null, parent_team: null }
"##;
    assert_eq!(apply_text(&app, less).await, ["updated service cart", "updated team platform"]);
    let after = graph(&app).await;
    let service = json!([
        after["service"]["tools"]["nodes"][0]["displayName"],
        after["service"]["tools"]["nodes"][1],
        after["service"]["contacts"],
        after["service"]["dependencies"]["edges"],
    ]);
    let expected = json!([
        "Logs", null, [{ "type": "slack", "address": "#cart-alerts", "displayName": null, "isDefault": true }],
        [{ "notes": "for receipts", "node": { "name": "Mail" } }],
    ]);
    assert_eq!(service, expected);
    let team = &after["team"];
    let team = json!([team["members"], team["contacts"], team["tags"], team["parentTeam"], team["responsibilities"]]);
    let expected = json!([{ "nodes": [{ "email": "bob@example.com" }] }, [], { "nodes": [] }, null, "All of it"]);
    assert_eq!(team, expected);
}

#[tokio::test]
async fn the_lists_of_a_locked_service_are_not_changed_through_the_api() {
    let app = with_people().await;
    apply_text(&app, GRAPH).await;
    let ids = r#"{ account { service(alias: "cart") {
        id tools { nodes { id } } contacts { id } dependencies { edges { id } }
    } } }"#;
    let ids = data(&app, ids).await["account"]["service"].take();
    let variables = json!({
        "service": ids["id"], "tool": ids["tools"]["nodes"][0]["id"], "contact": ids["contacts"][0]["id"],
        "dependency": ids["dependencies"]["edges"][0]["id"],
    });
    let writes = r##"mutation($service: ID!, $tool: ID!, $contact: ID!, $dependency: ID!) {
        a: toolCreate(input: { serviceId: $service, category: logs, displayName: "x", url: "https://x.example.com" }) { errors { path } }
        b: toolUpdate(input: { id: $tool, displayName: "x" }) { errors { path } }
        c: toolDelete(input: { id: $tool }) { errors { path } }
        d: contactCreate(input: { ownerId: $service, type: slack, address: "#x" }) { errors { path } }
        e: contactDelete(input: { id: $contact }) { errors { path } }
        f: serviceDependencyDelete(input: { id: $dependency }) { errors { path } }
    }"##;
    let before = graph(&app).await;
    let answer = app.query(writes, variables).await;
    let payloads = answer["data"].as_object().expect("data");
    assert_eq!(payloads.len(), 6);
    for (field, payload) in payloads {
        // The fields of the errors differ, but each mutation is refused.
        assert_ne!(payload["errors"], json!([]), "{field}");
    }
    assert_eq!(graph(&app).await, before);
}

#[tokio::test]
async fn every_mistake_in_a_list_has_its_location() {
    let app = with_people().await;
    let text = r#"version: 1
service:
  name: Cart
  tools: [{ name: X, category: runbok, url: "ftp://x" }, { url: "https://x.example.com" }, 7]
  contacts: [{ type: pigeon, address: x }, { type: web, address: x }, { address: x }]
  dependencies: [cart, { notes: x }, { alias: nobody }]
---
version: 1
team:
  name: Platform
  members: [eve@example.com, { role: lead }]
  parent_team: platform
  colour: blue
"#;
    let found = apply(&app, &[("f.yml", text)]).await.expect_err("mistakes");
    let words = "admin, api_documentation, architecture_diagram, backlog, code, continuous_integration, deployment, \
        design_documentation, errors, feature_flag, health_checks, incidents, issue_tracking, logs, metrics, observability, \
        orchestrator, other, resiliency, runbooks, security_scans, status_page, wiki";
    let expected = [
        "f.yml:4:32: category is \"runbok\", but must be one of ".to_owned() + words,
        "f.yml:4:45: url must begin with http:// or https:// and name a host".to_owned(),
        "f.yml:4:58: a tool needs a name".to_owned(),
        "f.yml:4:92: a tool must be a mapping, not a number".to_owned(),
        "f.yml:5:22: type is \"pigeon\", but must be one of email, github, microsoft_teams, slack, slack_handle, web".to_owned(),
        "f.yml:5:44: url must begin with http:// or https:// and name a host".to_owned(),
        "f.yml:5:71: a contact has no type".to_owned(),
        "f.yml:6:18: a service cannot depend on itself".to_owned(),
        "f.yml:6:24: a dependency needs an alias".to_owned(),
        "f.yml:11:13: no user has the email address \"eve@example.com\"".to_owned(),
        "f.yml:11:30: a member needs an email".to_owned(),
        "f.yml:12:16: a team cannot be a part of itself, or of one of its parts".to_owned(),
        "f.yml:13:3: a team has no key \"colour\"; its keys are name, manager, parent_team, responsibilities, aliases, tags, members, contacts, properties".to_owned(),
    ];
    let found: Vec<_> = found.into_iter().collect();
    assert_eq!(found, expected);
    assert_eq!(data(&app, "{ account { teams { totalCount } } }").await["account"]["teams"]["totalCount"], json!(0));
}

#[tokio::test]
async fn a_dependency_on_an_unknown_service_is_skipped_with_a_note_until_the_service_exists() {
    let app = TestApp::start().await;
    let cart = "version: 1\nservice: { name: Cart, dependencies: [mail] }\n";
    let Done { documents, left_out } = done_of(&app, &[("cart.yml", cart)]).await.expect("it applies");
    assert_eq!(documents.len(), 1);
    let notes: Vec<_> = left_out.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["cart.yml:2:39: the dependency is not taken: no service has the alias \"mail\""]);
    apply_text(&app, "version: 1\nservice: { name: Mail, dependencies: [cart] }\n").await;
    assert_eq!(apply(&app, &[("cart.yml", cart)]).await.expect("it applies"), ["updated service cart"]);
}

#[tokio::test]
async fn a_file_of_another_catalogue_is_read_as_it_is() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { teamCreate(input: { name: "Order Management" }) { errors { message } } }"#).await;
    data(&app, r#"mutation { systemCreate(input: { name: "Sales" }) { errors { message } } }"#).await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Ledger" }) { errors { message } } }"#).await;
    let regulated = r#"mutation { propertyDefinitionCreate(input: { name: "Regulated", schema: { type: "boolean" } }) { errors { message } } }"#;
    data(&app, regulated).await;
    let text = r#"---
version: 1
component:
  name: Order Book
  lifecycle: beta
  tier: tier_1
  product: Sales
  language: Ruby
  framework: Rails
  description: |
    Keeps the orders.
  owner: order_management
  system: sales
  aliases:
    - orders
  tags:
    - key: env
      value: production
    - key: env
      value: staging
    - key: lonely
  tools:
    - name: Errors
      category: errors
      environment: production
      url: https://errors.example.com/orders
    - name: Builds
      category: continuous_integration
      url: https://ci.example.com/orders
  dependencies:
    - alias: ledger
      notes: books every order
  repositories:
    - name: example/orders
      provider: github
      path: services/orders
      display_name: Orders
    - name: example/shared
      provider: gitlab
  properties:
    regulated: true
"#;
    let done = done_of(&app, &[("original.yml", text)]).await.expect("it applies");
    let expected = [
        "created service order_book",
        "created repository github.com:example/orders",
        "created repository gitlab.com:example/shared",
    ];
    assert_eq!(lines(&done), expected);
    assert_eq!(done.left_out, []);
    let query = r#"{ account { service(alias: "orders") {
        name lifecycle { alias } tier { alias } product language framework description owner { name } parent { name }
        tags { nodes { key value } } tools { nodes { displayName category environment } }
        dependencies { edges { notes node { name } } }
        serviceRepositories { nodes { baseDirectory displayName repository { defaultAlias url } } }
        properties { nodes { definition { name } value } }
    } } }"#;
    let expected = json!({
        "name": "Order Book", "lifecycle": { "alias": "beta" }, "tier": { "alias": "tier_1" }, "product": "Sales",
        "language": "Ruby", "framework": "Rails", "description": "Keeps the orders.\n",
        "owner": { "name": "Order Management" }, "parent": { "name": "Sales" },
        "tags": { "nodes": [
            { "key": "env", "value": "production" }, { "key": "env", "value": "staging" }, { "key": "lonely", "value": "" },
        ] },
        "tools": { "nodes": [
            { "displayName": "Errors", "category": "errors", "environment": "production" },
            { "displayName": "Builds", "category": "continuous_integration", "environment": null },
        ] },
        "dependencies": { "edges": [{ "notes": "books every order", "node": { "name": "Ledger" } }] },
        "serviceRepositories": { "nodes": [
            { "baseDirectory": "services/orders", "displayName": "Orders",
              "repository": { "defaultAlias": "github.com:example/orders", "url": "https://github.com/example/orders" } },
            { "baseDirectory": "", "displayName": null,
              "repository": { "defaultAlias": "gitlab.com:example/shared", "url": "https://gitlab.com/example/shared" } },
        ] },
        "properties": { "nodes": [{ "definition": { "name": "Regulated" }, "value": "true" }] },
    });
    assert_eq!(data(&app, query).await["account"]["service"], expected);
    assert_eq!(apply(&app, &[("original.yml", text)]).await.expect("it applies"), ["unchanged service order_book"]);
    let one = text.replace("      value: staging\n", "      value: test\n");
    assert_eq!(apply(&app, &[("original.yml", &one)]).await.expect("it applies"), ["updated service order_book"]);
}

fn from(repository: &str, commit: &str) -> Options<'static> {
    let origin = Origin::new(Some(repository), Some(commit)).expect("an origin");
    Options { origin, ..Options::default() }
}

#[tokio::test]
async fn the_lock_has_repository_path_and_commit_and_the_page_links_to_the_file() {
    let app = TestApp::start().await;
    let files = [("services/cart.yml", "version: 1\nservice: { name: Cart }\n")];
    let shop = "https://ci:secret@github.com/org/shop.git";
    done_with(&app, &files, &from(shop, "c0ffee01")).await.expect("it applies");
    let query = r#"{ account { service(alias: "cart") { timestamps { updatedAt } serviceFile { path repository commit url } } } }"#;
    let service = data(&app, query).await["account"]["service"].take();
    let url = "https://github.com/org/shop/blob/c0ffee01/services/cart.yml";
    let expected = json!({
        "path": "services/cart.yml", "repository": "https://github.com/org/shop", "commit": "c0ffee01", "url": url,
    });
    assert_eq!(service["serviceFile"], expected);
    let page = Browser::of(&app, Role::Viewer).await.page("/services/cart").await;
    assert!(page.contains(&format!("<a href=\"{url}\" rel=\"noopener noreferrer\">services/cart.yml</a>")), "{page}");
    // A new commit alone is not a change.
    let again = done_with(&app, &files, &from(shop, "c0ffee02")).await.expect("it applies");
    assert_eq!(lines(&again), ["unchanged service cart"]);
    let after = data(&app, query).await["account"]["service"].take();
    assert_eq!(after["timestamps"], service["timestamps"]);
    assert_eq!(after["serviceFile"]["commit"], json!("c0ffee02"));
    let entries = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    assert_eq!(entries.iter().filter(|entry| entry.action == "apply").count(), 1);
}

#[tokio::test]
async fn files_move_and_are_renamed_within_their_repository_and_no_other_takes_their_services() {
    let app = TestApp::start().await;
    let text = "version: 1\nservice: { name: Cart, aliases: [basket] }\n";
    let shop = from("https://github.com/org/shop", "c0ffee01");
    done_with(&app, &[("a/cart.yml", text)], &shop).await.expect("it applies");
    let moved = done_with(&app, &[("b/basket.yml", text)], &shop).await.expect("it applies");
    assert_eq!(lines(&moved), ["updated service cart"]);
    let fields: Vec<_> = moved.documents[0].changes.iter().map(|change| change.field.as_str()).collect();
    assert_eq!(fields, ["lockedBy"]);
    let refused = |done: Result<Done, Refused>| match done {
        Err(Refused::Problems(notes)) => notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let elsewhere = "the service file b/basket.yml of https://github.com/org/shop governs the service \"cart\"; release the service first";
    for options in [from("https://github.com/org/other", "c0ffee01"), Options::default()] {
        let found = refused(done_with(&app, &[("cart.yml", text)], &options).await);
        assert_eq!(found, [format!("cart.yml:2:18: {elsewhere}")]);
    }
    rollcall::service_file::release(&app.db, "cart").await.expect("a service");
    done_with(&app, &[("cart.yml", text)], &from("https://github.com/org/other", "c0ffee01"))
        .await
        .expect("it is free");
}

#[tokio::test]
async fn services_without_a_document_are_released_on_request() {
    let app = TestApp::start().await;
    let file = |name: &str| format!("version: 1\nservice: {{ name: {name} }}\n");
    let shop = from("https://github.com/org/shop", "c0ffee01");
    let (cart, mail) = (file("Cart"), file("Mail"));
    done_with(&app, &[("cart.yml", &cart), ("mail.yml", &mail)], &shop).await.expect("it applies");
    done_with(&app, &[("other.yml", &file("Other"))], &from("https://github.com/org/other", "c0ffee01"))
        .await
        .expect("it applies");
    done_with(&app, &[("own.yml", &file("Own"))], &Options::default()).await.expect("it applies");
    let kept = done_with(&app, &[("cart.yml", &cart)], &shop).await.expect("it applies");
    assert_eq!(lines(&kept), ["unchanged service cart"]);
    let all = Options { releases_missing: true, ..shop };
    let dry = Options { is_dry_run: true, ..all.clone() };
    for options in [&dry, &all] {
        let done = done_with(&app, &[("cart.yml", &cart)], options).await.expect("it applies");
        assert_eq!(lines(&done), ["unchanged service cart", "released service mail"]);
        assert_eq!(done.documents[1].outcome, Outcome::Released);
    }
    let query = "{ account { services { nodes { name locked } } } }";
    let locked = |name: &str, locked: bool| json!({ "name": name, "locked": locked });
    let expected = json!([locked("Cart", true), locked("Mail", false), locked("Other", true), locked("Own", true)]);
    assert_eq!(data(&app, query).await["account"]["services"]["nodes"], expected);
    let entries = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let released: Vec<_> = entries.iter().filter(|entry| entry.action == "release").collect();
    assert_eq!((released.len(), released[0].subject_name.as_deref()), (1, Some("mail")));
}

#[tokio::test]
async fn a_repository_that_a_link_creates_is_audited_and_needs_permission() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let team = r#"mutation { teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } } }"#;
    data(&app, team).await;
    let text = |name: &str| {
        format!(
            "version: 1\ncomponent: {{ name: {name}, owner: own, repositories: [{{ name: org/mono, provider: github }}] }}\n"
        )
    };
    let by_member = async |text: String| {
        let query = "mutation($text: String!) { serviceFilesApply(input: { files: { path: \"f.yml\", text: $text } }) { errors { message } } }";
        member.query(query, json!({ "text": text })).await["data"]["serviceFilesApply"]["errors"].take()
    };
    let message = "the repository \"github.com:org/mono\": you can change only your own teams and what they own; this would \
                   change what no team owns";
    assert_eq!(by_member(text("Mine")).await, json!([{ "message": message }]));
    let count = "{ account { services { totalCount } repositories { totalCount } } }";
    let none = json!({ "services": { "totalCount": 0 }, "repositories": { "totalCount": 0 } });
    assert_eq!(data(&app, count).await["account"], none);

    let done = apply(&app, &[("f.yml", &text("Mine"))]).await.expect("it applies");
    assert_eq!(done, ["created service mine", "created repository github.com:org/mono"]);
    let entries = audit::Entity::find().filter(audit::Column::SubjectClass.eq("Repository"));
    let entries = app.db.read().all(entries).await.expect("entries");
    assert_eq!(entries.len(), 1);
    assert_eq!((&*entries[0].action, entries[0].subject_name.as_deref()), ("apply", Some("github.com:org/mono")));
    let detail: Value = serde_json::from_str(&entries[0].detail).expect("JSON");
    assert_eq!(detail["changed"]["url"], json!({ "old": null, "new": "https://github.com/org/mono" }));
    // A link to a repository that is there creates none.
    assert_eq!(by_member(text("Also")).await, json!([]));
}

#[tokio::test]
async fn a_link_without_a_folder_leaves_the_folders_that_other_entries_name() {
    let app = TestApp::start().await;
    let text = |entries: &str| {
        format!(
            "version: 1\nrepository: {{ name: org/mono, url: \"https://github.com/org/mono\" }}\n---\n\
             version: 1\nservice: {{ name: Cart, repositories: [{entries}] }}\n"
        )
    };
    let folder = |name: &str| format!("{{ name: org/mono, provider: github, path: a, display_name: {name} }}");
    let links = async || {
        let query = r#"{ account { service(alias: "cart") {
            serviceRepositories { nodes { baseDirectory displayName } }
        } } }"#;
        let mut links = data(&app, query).await["account"]["service"]["serviceRepositories"]["nodes"].take();
        links.as_array_mut().expect("links").sort_by_key(|link| link["baseDirectory"].to_string());
        links
    };
    let whole = json!({ "baseDirectory": "", "displayName": null });
    let expected = |name: &str| json!([whole, { "baseDirectory": "a", "displayName": name }]);
    let repository = "unchanged repository github.com:org/mono";
    let both = |name: &str| text(&format!("github.com:org/mono, {}", folder(name)));
    apply_text(&app, &both("One")).await;
    assert_eq!(links().await, expected("One"));
    assert_eq!(apply_text(&app, &both("One")).await, [repository, "unchanged service cart"]);
    assert_eq!(apply_text(&app, &both("Two")).await, [repository, "updated service cart"]);
    assert_eq!(links().await, expected("Two"));
    let reversed = text(&format!("{}, github.com:org/mono", folder("Two")));
    assert_eq!(apply_text(&app, &reversed).await, [repository, "unchanged service cart"]);
    // Alone, it keeps all folders.
    assert_eq!(apply_text(&app, &text("github.com:org/mono")).await, [repository, "unchanged service cart"]);
    assert_eq!(links().await, expected("Two"));
}
