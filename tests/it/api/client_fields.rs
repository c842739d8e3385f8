//! Small fields and arguments that published documents for this API select.

use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::tour::Tour;

/// The names of the nodes of a connection.
fn names(connection: &Value) -> Vec<String> {
    let nodes = connection["nodes"].as_array().unwrap_or_else(|| panic!("no nodes: {connection}"));
    nodes.iter().map(|node| node["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn services_definitions_and_types_say_their_alias_and_repositories_that_of_their_owner() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        teamCreate(input: { name: "Core Team" }) { errors { message } }
        a: serviceCreate(input: { name: "Shopping Cart" }) { service { alias htmlUrl } errors { message } }
        b: serviceCreate(input: { name: "Shopping cart" }) { service { alias } errors { message } }
        c: serviceUpdate(input: { alias: "shopping_cart", name: "Basket" }) { service { alias } errors { message } }
        d: propertyDefinitionCreate(input: { name: "Data Class", schema: "{}" }) { definition { alias aliases } errors { message } }
        e: componentTypeCreate(input: { name: "Web Page", category: "front" }) { componentType { alias aliases category } errors { message } }
        f: repositoryCreate(input: { name: "org/a", ownerId: "core_team" }) { repository { ownerAlias } errors { message } }
        g: repositoryCreate(input: { name: "org/b" }) { repository { ownerAlias } errors { message } }
        h: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Q" } }) { infrastructureResource { id href } errors { message } }
    }"#;
    let made = data(&app, query).await;
    let service = &made["a"]["service"];
    assert_eq!(service["alias"], "shopping_cart");
    assert!(service["htmlUrl"].as_str().is_some_and(|url| url.ends_with("/services/shopping_cart")), "{service}");
    assert_eq!(
        (&made["b"]["service"]["alias"], &made["c"]["service"]["alias"]),
        (&json!("shopping_cart_2"), &json!("basket"))
    );
    assert_eq!(made["d"]["definition"], json!({ "alias": "data_class", "aliases": ["data_class"] }));
    assert_eq!(
        made["e"]["componentType"],
        json!({ "alias": "web_page", "aliases": ["web_page"], "category": "front" })
    );
    assert_eq!(made["f"]["repository"]["ownerAlias"], "core_team");
    assert_eq!(made["g"]["repository"]["ownerAlias"], Value::Null);
    let resource = &made["h"]["infrastructureResource"];
    let page = format!("/infrastructure/{}", resource["id"].as_str().expect("an id"));
    let href = resource["href"].as_str().expect("a URL");
    assert!(href.ends_with(&page), "{href}");
    assert_eq!(app.get(&page).await.status, 303, "a page for who is signed in");
}

#[tokio::test]
async fn a_tag_says_what_kind_of_object_has_it() {
    let tour = Tour::start().await;
    let query = "{ account {
        services { nodes { tags { nodes { owner } } } } teams { nodes { tags { edges { node { key owner } } } } }
        repositories { nodes { tags { nodes { key owner value } } } } users { nodes { tags { nodes { owner } } } }
        systems { nodes { tags { nodes { owner } } } } domains { nodes { tags { nodes { owner } } } }
        infrastructureResources { nodes { tags { nodes { owner } } } }
    } }";
    let account = data(&tour.endpoint.app, query).await["account"].clone();
    for (list, kind) in [
        ("services", "Service"),
        ("teams", "Team"),
        ("repositories", "Repository"),
        ("users", "User"),
        ("systems", "System"),
        ("domains", "Domain"),
        ("infrastructureResources", "InfrastructureResource"),
    ] {
        let text = account[list].to_string();
        assert!(text.matches("\"owner\":").count() > 0, "{list} have tags");
        assert_eq!(
            text.matches("\"owner\":").count(),
            text.matches(&format!("\"owner\":\"{kind}\"")).count(),
            "{list}: {text}"
        );
    }
}

#[tokio::test]
async fn services_are_listed_without_filters_by_domain_and_by_the_category_of_their_type() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: domainCreate(input: { name: "Trade" }) { errors { message } }
        b: domainCreate(input: { name: "Empty" }) { errors { message } }
        c: systemCreate(input: { name: "Till", parent: { alias: "trade" } }) { errors { message } }
        d: systemCreate(input: { name: "Stock", parent: { alias: "trade" } }) { errors { message } }
        e: systemCreate(input: { name: "Lone" }) { errors { message } }
        f: componentTypeCreate(input: { name: "Page", category: "front" }) { errors { message } }
        g: componentTypeCreate(input: { name: "Widget", category: "front" }) { errors { message } }
        h: serviceCreate(input: { name: "One", parent: { alias: "till" }, type: { alias: "page" } }) { errors { message } }
        i: serviceCreate(input: { name: "Two", parent: { alias: "stock" }, type: { alias: "widget" } }) { errors { message } }
        j: serviceCreate(input: { name: "Three", parent: { alias: "lone" } }) { errors { message } }
        k: serviceCreate(input: { name: "Four", parent: { alias: "till" } }) { errors { message } }
        l: serviceCreate(input: { name: "Five" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let query = r#"{ account {
        allServices { nodes { name } totalCount }
        first: allServices(first: 2) { nodes { name } pageInfo { hasNextPage endCursor } }
        domains { nodes { name descendantServices(first: 2) { nodes { name } totalCount pageInfo { hasNextPage endCursor } } } }
        front: services(componentCategory: "front") { nodes { name } totalCount }
        none: services(componentCategory: "back") { totalCount }
    } }"#;
    let account = data(&app, query).await["account"].clone();
    assert_eq!(names(&account["allServices"]), ["One", "Two", "Three", "Four", "Five"]);
    assert_eq!(account["allServices"]["totalCount"], 5);
    assert_eq!(names(&account["front"]), ["One", "Two"]);
    assert_eq!((&account["front"]["totalCount"], &account["none"]["totalCount"]), (&json!(2), &json!(0)));
    let domains = &account["domains"]["nodes"];
    assert_eq!(names(&domains[0]["descendantServices"]), ["One", "Two"]);
    assert_eq!(
        (&domains[0]["descendantServices"]["totalCount"], &domains[1]["descendantServices"]["totalCount"]),
        (&json!(3), &json!(0))
    );
    let next = "query($all: String, $domain: String) { account {
        allServices(after: $all, first: 1) { nodes { name } }
        domain(input: { alias: \"trade\" }) { descendantServices(after: $domain) { nodes { name } pageInfo { hasNextPage } } }
    } }";
    let all = &account["first"]["pageInfo"]["endCursor"];
    let domain = &domains[0]["descendantServices"]["pageInfo"]["endCursor"];
    let account = app.query(next, json!({ "all": all, "domain": domain })).await["data"]["account"].clone();
    assert_eq!(names(&account["allServices"]), ["Three"]);
    let of_domain = &account["domain"]["descendantServices"];
    assert_eq!((names(of_domain), &of_domain["pageInfo"]["hasNextPage"]), (vec!["Four".to_owned()], &json!(false)));
    // Services without a type have the category of the default type.
    let query = r#"mutation {
        componentTypeUpdate(componentType: { alias: "service" }, input: { category: "back" }) { componentType { category } errors { message } }
    }"#;
    data(&app, query).await;
    let query = r#"{ account { services(componentCategory: "back") { nodes { name } } } }"#;
    assert_eq!(names(&data(&app, query).await["account"]["services"]), ["Three", "Four", "Five"]);
}

#[tokio::test]
async fn a_service_lists_its_alert_sources_and_what_it_is_related_to_in_both_directions() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: serviceCreate(input: { name: "Cart" }) { errors { message } }
        b: serviceCreate(input: { name: "Mail" }) { errors { message } }
        c: teamCreate(input: { name: "Core" }) { errors { message } }
        d: domainCreate(input: { name: "Trade" }) { errors { message } }
        e: customIntegrationCreate(input: { name: "Watch" }) { integration { id } errors { message } }
        f: relationshipCreate(relationshipDefinition: { source: { alias: "cart" }, target: { alias: "core" }, type: related_to }) { errors { message } }
        g: relationshipCreate(relationshipDefinition: { source: { alias: "trade" }, target: { alias: "cart" }, type: related_to }) { errors { message } }
        h: relationshipCreate(relationshipDefinition: { source: { alias: "cart" }, target: { alias: "mail" }, type: related_to }) { errors { message } }
        i: relationshipCreate(relationshipDefinition: { source: { alias: "mail" }, target: { alias: "cart" }, type: related_to }) { errors { message } }
        j: relationshipCreate(relationshipDefinition: { source: { alias: "mail" }, target: { alias: "core" }, type: related_to }) { errors { message } }
    }"#;
    let made = data(&app, query).await;
    let integration = made["e"]["integration"]["id"].clone();
    let watch = "mutation($id: ID!, $one: String!, $service: String!) {
        alertSourceUpsert(input: { identifier: { integration: { id: $id }, externalId: $one }, name: $one }) { errors { message } }
        alertSourceServiceCreate(input: { alertSourceExternalIdentifier: { type: custom, externalId: $one }, service: { alias: $service } }) { errors { message } }
    }";
    for (one, service) in [("disk", "cart"), ("cpu", "cart"), ("net", "mail")] {
        let none = json!({ "errors": [] });
        let answer = app.query(watch, json!({ "id": integration, "one": one, "service": service })).await;
        assert_eq!(answer["data"], json!({ "alertSourceUpsert": none, "alertSourceServiceCreate": none }));
    }
    let name = "__typename ... on Service { name } ... on Team { name } ... on Domain { name }";
    let query = format!(
        "query($after: String, $first: Int) {{ account {{ services(first: 2) {{ nodes {{
            alertSources(first: $first) {{ nodes {{ name externalId type }} totalCount pageInfo {{ hasNextPage }} }}
            relatedResources(after: $after, first: $first) {{
                nodes {{ {name} }} edges {{ cursor node {{ {name} }} relationship {{ type }} }}
                totalCount pageInfo {{ hasNextPage endCursor }}
            }}
        }} }} }} }}"
    );
    let services = app.query(&query, json!({})).await["data"]["account"]["services"]["nodes"].clone();
    let sources: Vec<_> = [0, 1].iter().map(|place| names(&services[place]["alertSources"]).join(" ")).collect();
    assert_eq!(sources, ["disk cpu", "net"]);
    let related: Vec<_> = [0, 1].iter().map(|place| names(&services[place]["relatedResources"]).join(" ")).collect();
    assert_eq!(related, ["Core Trade Mail Mail", "Cart Cart Core"]);
    let of_cart = &services[0]["relatedResources"];
    assert_eq!((&of_cart["totalCount"], &of_cart["pageInfo"]["hasNextPage"]), (&json!(4), &json!(false)));
    assert!(
        of_cart["edges"]
            .as_array()
            .is_some_and(|edges| edges.iter().all(|edge| edge["relationship"]["type"] == "related_to"))
    );
    // Whatever the length of a page, the pages together are the list.
    for first in [1, 2, 3, 4, 5] {
        let (mut after, mut seen) = (Value::Null, Vec::new());
        loop {
            let answer = app.query(&query, json!({ "after": after, "first": first })).await;
            let page = answer["data"]["account"]["services"]["nodes"][0]["relatedResources"].clone();
            seen.extend(names(&page));
            assert_eq!(
                (&page["totalCount"], page["edges"].as_array().map(Vec::len)),
                (&json!(4), page["nodes"].as_array().map(Vec::len))
            );
            if page["pageInfo"]["hasNextPage"] != true {
                break;
            }
            after = page["pageInfo"]["endCursor"].clone();
        }
        assert_eq!(seen.join(" "), "Core Trade Mail Mail", "{first} at a time");
    }
    let wrong = app.query(&query, json!({ "after": "x" })).await;
    assert!(wrong["errors"][0]["message"].is_string(), "{wrong}");
}

/// Two repositories of one team with the services of another, and a service that a file governs.
async fn linked(app: &TestApp) -> Browser<'_> {
    let member = Browser::of(app, Role::TeamMember).await;
    let query = r#"mutation {
        a: teamCreate(input: { name: "Old", members: { email: "teammember@example.com" } }) { errors { message } }
        b: teamCreate(input: { name: "New" }) { errors { message } }
        c: repositoryCreate(input: { name: "org/a", ownerId: "old" }) { errors { message } }
        d: repositoryCreate(input: { name: "org/b", ownerId: "old" }) { errors { message } }
        e: repositoryCreate(input: { name: "org/held" }) { errors { message } }
        f: serviceCreate(input: { name: "Cart", ownerAlias: "old" }) { errors { message } }
        g: serviceCreate(input: { name: "Mail" }) { errors { message } }
        h: serviceCreate(input: { name: "Lone", ownerAlias: "old" }) { errors { message } }
        i: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "org/a" } }) { errors { message } }
        j: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "org/a" }, baseDirectory: "b" }) { errors { message } }
        k: serviceRepositoryCreate(input: { service: { alias: "mail" }, repository: { alias: "org/b" } }) { errors { message } }
        l: serviceFilesApply(input: { files: [{ path: "held.yml", text: "version: 1\nservice: { name: Held, repositories: [org/held] }" }] }) { errors { message } }
    }"#;
    for (name, payload) in data(app, query).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    member
}

/// The owner of each service.
async fn owners(app: &TestApp) -> String {
    let account = data(app, "{ account { services { nodes { name owner { alias } } } } }").await["account"].clone();
    let nodes = account["services"]["nodes"].as_array().expect("services").clone();
    let owner = |node: &Value| {
        format!("{} {}", node["name"].as_str().expect("a name"), node["owner"]["alias"].as_str().unwrap_or("-"))
    };
    nodes.iter().map(owner).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn a_repository_gives_its_owner_to_the_services_whose_code_it_holds() {
    let app = TestApp::start().await;
    let member = linked(&app).await;
    let update = "mutation($input: RepositoryUpdateInput!, $sync: Boolean) { repositoryUpdate(input: $input, syncLinkedServices: $sync) {
        repository { ownerAlias } errors { message path }
    } }";
    let to = |owner: Value| json!({ "alias": "org/a", "ownerId": owner });
    for (sync, expected) in [
        (Value::Null, "Cart old, Mail -, Lone old, Held -"),
        (json!(false), "Cart old, Mail -, Lone old, Held -"),
        (json!(true), "Cart new, Mail -, Lone old, Held -"),
    ] {
        let answer = app.query(update, json!({ "input": to(json!("new")), "sync": sync })).await;
        assert_eq!(answer["data"]["repositoryUpdate"], json!({ "repository": { "ownerAlias": "new" }, "errors": [] }));
        assert_eq!(owners(&app).await, expected, "{sync}");
    }
    // Also without another owner, and to none.
    let answer = app.query(update, json!({ "input": { "alias": "org/b" }, "sync": true })).await;
    assert_eq!(answer["data"]["repositoryUpdate"]["errors"], json!([]));
    app.query(update, json!({ "input": to(Value::Null), "sync": true })).await;
    assert_eq!(owners(&app).await, "Cart -, Mail old, Lone old, Held -");
    // A service file says who owns its service.
    let held = json!({ "input": { "alias": "org/held", "ownerId": "new" }, "sync": true });
    let answer = app.query(update, held).await["data"]["repositoryUpdate"].clone();
    assert_eq!((&answer["repository"], &answer["errors"][0]["path"]), (&Value::Null, &json!(["locked"])), "{answer}");
    // A team member gives away only what their team owns.
    let query = r#"mutation {
        repositoryUpdate(input: { alias: "org/b", ownerId: "old" }) { errors { message } }
        mine: serviceUpdate(input: { alias: "mail", ownerAlias: "new" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let mine = json!({ "input": { "alias": "org/b", "ownerId": "old" }, "sync": true });
    let answer = member.query(update, mine.clone()).await;
    let refused = answer["data"]["repositoryUpdate"]["errors"][0]["message"].as_str().expect("a message");
    assert!(refused.starts_with("you can change only your own teams and what they own; this would"), "{answer}");
    assert_eq!(app.query(update, mine).await["data"]["repositoryUpdate"]["errors"], json!([]));
    assert_eq!(owners(&app).await, "Cart -, Mail old, Lone old, Held -");
}

#[tokio::test]
async fn several_repositories_change_their_owner_and_visibility_at_once() {
    let app = TestApp::start().await;
    let member = linked(&app).await;
    let update = "mutation($repositories: [IdentifierInput!]!, $owner: IdentifierInput, $visible: Boolean, $syncLinkedServices: Boolean) {
        repositoriesUpdate(repositories: $repositories, owner: $owner, visible: $visible, syncLinkedServices: $syncLinkedServices) {
            errors { message path } updatedRepositories { name visible owner { alias } services { nodes { name owner { alias } } } }
            notUpdatedRepositories { repository { name } error }
        }
    }";
    let call = async |arguments: Value| app.query(update, arguments).await["data"]["repositoriesUpdate"].clone();
    let both = json!([{ "alias": "org/a" }, { "alias": "org/b" }]);
    let hidden = "mutation($repositories: [IdentifierInput!]!) { repositoriesUpdate(repositories: $repositories, visible: false) {
        updatedRepositories { name visible owner { alias } } notUpdatedRepositories { error } errors { path }
    } }";
    let made = app.query(hidden, json!({ "repositories": both })).await["data"]["repositoriesUpdate"].clone();
    let repository = |name: &str| json!({ "name": name, "visible": false, "owner": { "alias": "old" } });
    let expected = json!({ "updatedRepositories": [repository("org/a"), repository("org/b")], "notUpdatedRepositories": [], "errors": [] });
    assert_eq!(made, expected);
    assert_eq!(owners(&app).await, "Cart old, Mail -, Lone old, Held -");
    let named = json!([{ "alias": "org/a" }, { "alias": "org/no" }, { "alias": "org/held" }, { "alias": "org/b" }, { "alias": "org/a" }]);
    let made = call(
        json!({ "repositories": named, "owner": { "alias": "new" }, "visible": true, "syncLinkedServices": true }),
    )
    .await;
    let services = |name: &str| json!({ "nodes": [{ "name": name, "owner": { "alias": "new" } }] });
    let repository = |name: &str, service: &str| json!({ "name": name, "visible": true, "owner": { "alias": "new" }, "services": services(service) });
    let expected = [repository("org/a", "Cart"), repository("org/b", "Mail"), repository("org/a", "Cart")];
    assert_eq!((&made["updatedRepositories"], &made["errors"]), (&json!(expected), &json!([])), "{made}");
    let left = &made["notUpdatedRepositories"];
    assert_eq!((&left[0]["repository"], &left[1]["repository"]), (&Value::Null, &json!({ "name": "org/held" })));
    assert_eq!(left[0]["error"], "a repository with the alias \"org/no\" does not exist on this account");
    assert!(left[1]["error"].as_str().is_some_and(|error| error.contains("held.yml")), "{left}");
    assert_eq!(owners(&app).await, "Cart new, Mail new, Lone old, Held -");
    // The audit names the first of them.
    let query = r#"mutation { repositoriesUpdate(repositories: [{ alias: "org/b" }], owner: null) { updatedRepositories { owner { alias } } errors { message } } }"#;
    assert_eq!(data(&app, query).await["repositoriesUpdate"]["updatedRepositories"], json!([{ "owner": null }]));
    for (arguments, path) in [
        (json!({ "repositories": [] }), "repositories"),
        (json!({ "repositories": vec![json!({ "alias": "org/a" }); 101] }), "repositories"),
        (json!({ "repositories": both, "visible": null }), "visible"),
        (json!({ "repositories": both, "owner": { "alias": "no" } }), "owner"),
    ] {
        let refused = call(arguments.clone()).await;
        assert_eq!(
            (&refused["updatedRepositories"], &refused["errors"][0]["path"][0]),
            (&Value::Null, &json!(path)),
            "{arguments}"
        );
    }
    let answer = member.query(update, json!({ "repositories": both, "owner": { "alias": "old" } })).await;
    let refused = &answer["data"]["repositoriesUpdate"];
    let message = refused["errors"][0]["message"].as_str().expect("a message");
    assert!(message.starts_with("you can change only your own teams and what they own; this would"), "{answer}");
}
