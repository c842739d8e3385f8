//! `/mcp`: agents. What a tool shows and changes is what its token may see and change.

use hyper::Method;
use rollcall::entity::Timestamp;
use rollcall::entity::token::Scope;
use serde_json::json;

use crate::harness::agent::{ask, call, post, text, tools};
use crate::harness::app::{TestApp, data};
use crate::harness::webhook::Endpoint;

/// A catalogue of a team with two services, of which one depends on the other, and a deploy.
async fn catalogue(app: &TestApp) {
    data(app, r#"mutation { teamCreate(input: { name: "Payments" }) { team { id } errors { message } } }"#).await;
    for (name, alias) in [("Shopping Cart", "payments"), ("Checkout", "payments")] {
        let create = format!(
            r#"mutation {{ serviceCreate(input: {{ name: "{name}", ownerInput: {{ alias: "{alias}" }}, tierAlias: "tier_1" }})
                {{ service {{ id }} errors {{ message }} }} }}"#
        );
        let created = data(app, &create).await;
        assert_eq!(created["serviceCreate"]["errors"], json!([]), "{created}");
    }
    let depend = r#"mutation { serviceDependencyCreate(inputV2: { dependencyKey: {
        sourceIdentifier: { alias: "checkout" }, destinationIdentifier: { alias: "shopping_cart" } } })
        { errors { message } } }"#;
    let depended = data(app, depend).await;
    assert_eq!(depended["serviceDependencyCreate"]["errors"], json!([]), "{depended}");
}

#[tokio::test]
async fn an_agent_finds_describes_and_asks() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let hello = ask(&app, &token, "initialize", hello).await;
    assert_eq!(hello["result"]["serverInfo"]["name"], "rollcall", "{hello}");
    assert!(hello["result"]["instructions"].as_str().is_some_and(|text| text.contains("find")));

    let found = call(&app, &token, "find", json!({ "text": "shoping" })).await.expect("an answer");
    assert_eq!(found[0]["name"], "Shopping Cart", "a mistyped word is found: {found}");
    for name in ["Shopping Cart", "shopping_cart"] {
        let service = call(&app, &token, "describe_service", json!({ "service": name })).await.expect("an answer");
        assert_eq!((&service["alias"], &service["owner"]["name"]), (&json!("shopping_cart"), &json!("Payments")));
        assert_eq!(service["dependents"][0]["alias"], "checkout", "{service}");
        assert_eq!(service.get("note").or(service.get("tags")), None, "what is empty is left out: {service}");
    }
    let team = call(&app, &token, "describe_team", json!({ "team": "Payments" })).await.expect("an answer");
    assert_eq!(team["services"].as_array().map(Vec::len), Some(2), "{team}");
    data(&app, r#"mutation { teamCreate(input: { name: "Refunds", parentTeam: { alias: "payments" } }) { errors { message } } }"#).await;
    let team = call(&app, &token, "describe_team", json!({ "team": "Payments" })).await.expect("an answer");
    assert_eq!(team["children"], json!([{ "name": "Refunds", "alias": "refunds" }]), "{team}");
    let part = call(&app, &token, "describe_team", json!({ "team": "refunds" })).await.expect("an answer");
    assert_eq!(part["parentTeam"]["alias"], "payments", "{part}");
    let impact = call(&app, &token, "impact", json!({ "service": "shopping_cart" })).await.expect("an answer");
    assert_eq!(impact["edges"][0]["node"]["alias"], "checkout", "{impact}");
    let deploys = call(&app, &token, "list_deploys", json!({ "service": "Checkout", "hours": 2208 })).await;
    let deploys = deploys.expect("an answer");
    assert_eq!((&deploys["total"], deploys.get("deploys")), (&json!(0), None), "{deploys}");
    assert!(deploys["now"].as_str() > deploys["since"].as_str(), "the present time is told: {deploys}");
    for arguments in [json!({}), json!({ "service": "checkout" })] {
        call(&app, &token, "what_is_missing", arguments).await.expect("an answer");
    }
    let excerpt = call(&app, &token, "search_schema", json!({ "words": "lifecycles" })).await.expect("an answer");
    assert!(excerpt.as_str().is_some_and(|text| text.contains("lifecycles")), "{excerpt}");
    let queried = json!({ "document": "query($a: String!) { account { service(alias: $a) { name } } }", "variables": { "a": "checkout" } });
    let queried = call(&app, &token, "query", queried).await.expect("an answer");
    assert_eq!(queried["data"]["account"]["service"]["name"], "Checkout");
}

#[tokio::test]
async fn a_result_has_at_most_64_kib() {
    let app = TestApp::start().await;
    let note = "n".repeat(900);
    for start in (0..90).step_by(30) {
        let one = |k| {
            format!(
                r#"s{k}: serviceCreate(input: {{ name: "S {k}", description: "{note}" }}) {{ errors {{ message }} }}"#
            )
        };
        let creates: Vec<String> = (start..start + 30).map(one).collect();
        data(&app, &format!("mutation {{ {} }}", creates.join(" "))).await;
    }
    let token = app.new_token(Scope::Read, None).await;
    let some = |first: u32| {
        let fields = "name description again: description";
        json!({ "document": format!("{{ account {{ services(first: {first}) {{ nodes {{ {fields} }} }} }} }}") })
    };
    let fits = call(&app, &token, "query", some(30)).await.expect("an answer");
    assert_eq!(fits["data"]["account"]["services"]["nodes"].as_array().map(Vec::len), Some(30));
    let refused = call(&app, &token, "query", some(90)).await.expect_err("too long");
    assert!(refused.contains("at most 65536 are given: ask for fewer rows or fields"), "{refused}");
}

#[tokio::test]
async fn the_services_of_a_folder_are_those_whose_directory_is_deepest() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let link = |service: &str, folder: &str| {
        format!(
            r#"mutation {{ serviceRepositoryCreate(input: {{ service: {{ alias: "{service}" }},
                repository: {{ alias: "github.com:shop/mono" }}, baseDirectory: "{folder}" }}) {{ errors {{ message }} }} }}"#
        )
    };
    let create = r#"mutation { repositoryCreate(input: { name: "mono", url: "https://github.com/shop/mono" }) { errors { message } } }"#;
    data(&app, create).await;
    data(&app, &link("checkout", "services/checkout")).await;
    data(&app, &link("shopping_cart", "services/cart")).await;
    let token = app.new_token(Scope::Read, None).await;
    let owner = |path: &'static str| {
        let (app, token) = (&app, &token);
        async move {
            let given = json!({ "repository": "github.com:shop/mono", "path": path });
            let found = call(app, token, "who_owns", given).await?;
            let services = found["services"].as_array().cloned().unwrap_or_default();
            Ok::<_, String>(services.iter().map(|service| service["alias"].clone()).collect::<Vec<_>>())
        }
    };
    assert_eq!(owner("services/cart/src/main.go").await, Ok(vec![json!("shopping_cart")]));
    assert_eq!(owner("services/checkout").await, Ok(vec![json!("checkout")]));
    assert_eq!(owner("README.md").await, Ok(vec![]));
    for address in ["https://github.com/shop/mono", "https://github.com/shop/mono.git", "git@github.com:shop/mono.git"]
    {
        let found = call(&app, &token, "who_owns", json!({ "repository": address })).await.expect("an answer");
        assert_eq!(found["services"].as_array().map(Vec::len), Some(2), "{address}: {found}");
    }
    let unknown = call(&app, &token, "who_owns", json!({ "repository": "github.com:no/qqqq" })).await;
    let said = "the catalogue knows no repository \"github.com:no/qqqq\"; write it like github.com:org/name, or as git remote \
                get-url prints it";
    assert_eq!(unknown, Err(said.to_owned()));
    let alike = call(&app, &token, "who_owns", json!({ "repository": "https://github.com/old/mono" })).await;
    let alike = alike.expect_err("another owner's");
    assert!(alike.ends_with("; similar are github.com:shop/mono"), "{alike}");
}

#[tokio::test]
async fn what_is_wrong_is_said_to_the_agent() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    for (tool, arguments, said) in [
        ("find", json!({}), "text is required"),
        ("find", json!({ "text": "  " }), "text is required"),
        ("find", json!({ "text": 7 }), "text must be a string, not a number: What to look for"),
        ("find", json!({ "text": "x".repeat(256) }), "text is longer than 255 bytes"),
        ("find", json!({ "txt": "x" }), "find has no argument \"txt\"; the nearest is text; its arguments are text"),
        (
            "describe_service",
            json!({ "name": "x" }),
            "describe_service has no argument \"name\"; its arguments are service",
        ),
        ("describe_service", json!({}), "service is required, a JSON string: A service, by its name or an alias"),
        ("list_deploys", json!({ "hours": "24" }), "hours must be an integer, not a string: How far to look back"),
        ("list_deploys", json!({ "environment": "prod" }), "no deploy names the environment \"prod\", and none of"),
        ("describe_service", json!({ "service": "nope" }), "there is no service \"nope\"; look for it with find"),
        ("describe_service", json!({ "service": "chekout" }), "there is no service \"chekout\"; similar are checkout"),
        ("list_deploys", json!({ "hours": 0 }), "hours must be 1 to 2208"),
        (
            "list_deploys",
            json!({ "status": "red" }),
            "status must be one of succeeded, failed, running, queued, cancelled",
        ),
        ("list_deploys", json!({ "status": "faild" }), "cancelled, none, not \"faild\"; the nearest is failed"),
        ("history", json!({ "name": "checkout", "kind": "servce" }), "not \"servce\"; the nearest is service"),
        ("list_deploys", json!({ "since": "soon" }), "since must be a date such as 2026-11-28, or an instant"),
        ("list_deploys", json!({ "since": "2026-11-28", "hours": 1 }), "give hours or since, not both"),
        ("list_deploys", json!({ "since": "2026-11-28", "until": "2026-11-27" }), "until must be after since"),
        ("list_deploys", json!({ "team": "nobody" }), "there is no team \"nobody\""),
        ("history", json!({ "name": "checkout", "kind": "user" }), "kind must be one of service, team, system, domain"),
        ("history", json!({ "name": "nope", "kind": "domain" }), "there is no domain \"nope\""),
        ("delivery", json!({ "kind": "team" }), "name is required beside kind"),
        ("delivery", json!({ "kind": "user", "name": "x" }), "kind must be one of team, system, domain, service"),
        ("query", json!({ "document": "{ account { nothing } }" }), "nothing"),
        (
            "query",
            json!({ "document": "mutation { teamCreate(input: { name: \"X\" }) { team { id } } }" }),
            "this tool runs queries; the document has a mutation",
        ),
        ("query", json!({ "document": "{ account { name } }", "variables": [] }), "variables must be an object"),
    ] {
        let refused = call(&app, &token, tool, arguments).await.expect_err(said);
        assert!(refused.contains(said), "{tool}: {refused}");
    }
    for (method, params, code) in [
        ("tools/call", json!({ "name": "nothing" }), -32_602),
        ("tools/call", json!({ "name": "mutate", "arguments": { "document": "{ x }" } }), -32_602),
        ("prompts/get", json!({ "name": "incident" }), -32_602),
        ("resources/read", json!({ "uri": "x" }), -32_601),
        ("nothing/at_all", json!({}), -32_601),
    ] {
        let answer = ask(&app, &token, method, params).await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    for (method, params, said) in [
        (
            "tools/call",
            json!({ "name": "imapct", "arguments": {} }),
            "there is no tool \"imapct\"; the nearest is impact; the tools are find, ",
        ),
        (
            "prompts/get",
            json!({ "name": "incidnt" }),
            "there is no prompt \"incidnt\"; the nearest is incident; the prompts are incident, onboarding",
        ),
        (
            "prompts/get",
            json!({ "name": "incident", "arguments": { "servce": "x" } }),
            "the prompt incident has no argument \"servce\"; it takes service",
        ),
    ] {
        let answer = ask(&app, &token, method, params).await;
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains(said), "{message}");
    }
    let prompt =
        ask(&app, &token, "prompts/get", json!({ "name": "incident", "arguments": { "service": "cart" } })).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().expect("a text");
    assert!(text.starts_with("The service cart is failing."), "{text}");
}

#[tokio::test]
async fn a_failed_deploy_to_production_is_not_hidden_by_a_later_one_to_staging() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    catalogue(app).await;
    for (service, hours, environment, status) in [
        ("checkout", 3, "production", "failed"),
        ("checkout", 2, "staging", "success"),
        ("shop", 1, "production", "success"),
    ] {
        let at = Timestamp::from_micros(Timestamp::now().as_micros() - hours * 3_600_000_000).to_string();
        let posted = json!({ "service": service, "deployed_at": at, "environment": environment, "status": status });
        assert_eq!(endpoint.post_with(posted).await.status, 202, "{service}");
    }
    let token = app.new_token(Scope::Read, None).await;
    let service = call(app, &token, "describe_service", json!({ "service": "checkout" })).await.expect("an answer");
    assert_eq!(service["lastDeploy"]["environment"], "staging", "{service}");
    assert_eq!(service["lastProductionDeploy"]["deployStatus"], "failure", "{service}");
    let team = call(app, &token, "describe_team", json!({ "team": "Payments" })).await.expect("an answer");
    let services = team["services"].as_array().expect("services");
    assert!(services.iter().any(|one| one["lastProductionDeploy"]["deployStatus"] == "failure"), "{team}");
    for (arguments, total) in [
        (json!({}), 3),
        (json!({ "status": "failed" }), 1),
        (json!({ "status": "FAILED", "environment": "production" }), 1),
        (json!({ "status": "success" }), 2),
        (json!({ "team": "Payments" }), 2),
        (json!({ "team": "payments", "status": "succeeded" }), 1),
        (json!({ "hours": 2208, "service": "shop" }), 1),
        (json!({ "since": "2020-01-01", "until": "2020-01-02" }), 0),
    ] {
        let told = call(app, &token, "list_deploys", arguments.clone()).await.expect("an answer");
        assert_eq!(told["total"], total, "{arguments}: {told}");
        assert_eq!(told["deploys"].as_array().map_or(0, Vec::len) as i64, total, "{arguments}: {told}");
    }
}

#[tokio::test]
async fn an_agent_reads_a_history_and_figures_with_their_units() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    catalogue(app).await;
    let update =
        r#"mutation { serviceUpdate(input: { alias: "checkout", description: "WRONG" }) { errors { message } } }"#;
    data(app, update).await;
    let token = app.new_token(Scope::Read, None).await;
    let told = call(app, &token, "history", json!({ "name": "Checkout" })).await.expect("an answer");
    let changes = told["changes"].as_array().expect("changes");
    assert_eq!(changes[0]["summary"], "changed service", "{told}");
    assert!(
        changes[0]["id"].is_string() && changes[0]["details"][0].as_str().is_some_and(|text| text.contains("WRONG"))
    );
    assert!(told["total"].as_u64() >= Some(2), "{told}");
    let team = call(app, &token, "history", json!({ "name": "Payments", "kind": "team" })).await.expect("an answer");
    assert_eq!(team["total"], 1, "{team}");

    for (weeks, status) in [(1, "success"), (2, "success"), (13, "success"), (14, "failed")] {
        let at = Timestamp::from_micros(Timestamp::now().as_micros() - weeks * 7 * 86_400_000_000).to_string();
        let posted = json!({ "service": "checkout", "deployed_at": at, "environment": "production", "status": status });
        assert_eq!(endpoint.post_with(posted).await.status, 202, "{weeks}");
    }
    for arguments in [json!({ "name": "Payments" }), json!({ "kind": "service", "name": "checkout" }), json!({})] {
        let told = call(app, &token, "delivery", arguments.clone()).await.expect("an answer");
        let figures = told["figures"].as_array().expect("figures");
        let failures = figures.iter().find(|one| one["figure"] == "change failure rate").expect("the figure");
        assert_eq!((&failures["now"], &failures["before"]), (&json!(0.0), &json!(50.0)), "{arguments}: {told}");
        assert_eq!(failures["change"], "better");
        assert!(figures.iter().all(|one| one["unit"].is_string()), "{told}");
        assert_eq!(told.get("note"), None, "{told}");
    }
    let none = call(app, &token, "delivery", json!({ "kind": "service", "name": "shop" })).await.expect("an answer");
    assert_eq!(none["note"], "nothing was deployed to production in these 24 weeks", "{none}");
}

#[tokio::test]
async fn a_token_is_required_and_a_session_is_none() {
    let app = TestApp::start().await;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for token in ["", "rollcall_nothing"] {
        assert_eq!(post(&app, token, hello).await.status, 401, "{token}");
    }
    assert_eq!(app.request(Method::GET, "/mcp", &[], "").await.status, 405);
    let token = app.new_token(Scope::Read, None).await;
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    assert_eq!(app.request(Method::POST, "/mcp", &headers, hello).await.status, 406, "both media types are required");
    assert_eq!(post(&app, &token, &"x".repeat(300_000)).await.status, 413);
    assert_eq!(post(&app, &token, "not JSON").await.status, 415);
    let told = post(&app, &token, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!((told.status, told.body.len()), (202, 0));
}

#[tokio::test]
async fn agents_write_only_where_the_server_and_the_token_let_them() {
    let create = |name: &str| {
        let document = format!(
            "mutation {{ teamCreate(input: {{ name: \"{name}\" }}) {{ team {{ alias }} errors {{ message }} }} }}"
        );
        json!({ "document": document })
    };
    let closed = TestApp::start().await;
    let open = TestApp::with(&["--mcp-writes"]).await;
    for scope in [Scope::Read, Scope::Write, Scope::Admin] {
        let token = closed.new_token(scope, None).await;
        assert!(!tools(&closed, &token).await.contains(&"mutate".to_owned()), "{scope:?}");
        let token = open.new_token(scope, None).await;
        assert_eq!(tools(&open, &token).await.contains(&"mutate".to_owned()), scope != Scope::Read, "{scope:?}");
    }
    let token = open.new_token(Scope::Write, None).await;
    let made = call(&open, &token, "mutate", create("Agents")).await.expect("an answer");
    assert_eq!(made["data"]["teamCreate"]["team"]["alias"], "agents", "{made}");
    let admin_only =
        json!({ "document": "mutation { userDelete(user: { email: \"a@b.c\" }) { errors { message } } }" });
    let refused = call(&open, &token, "mutate", admin_only).await;
    assert!(refused.as_ref().is_err_and(|why| why.contains("scope admin")) || refused.is_ok(), "{refused:?}");
}

#[tokio::test]
async fn llms_txt_says_what_is_where() {
    let app = TestApp::start().await;
    let file = app.request(Method::GET, "/llms.txt", &[], "").await;
    assert_eq!(file.status, 200);
    assert!(text(&file).starts_with("# rollcall\n") && text(&file).contains("/mcp"));
}
