//! The commands that read from a server: `show`, `open`, `list`, `search`, `deploys`, `who-owns`, `query`, and the contexts
//! that `login` keeps.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rollcall::entity::token::Scope;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::desk::{Desk, ended};
use crate::harness::program::Place;
use crate::harness::tour::Tour;
use crate::harness::webhook::Endpoint;

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_can_be_shown_and_listed_is_shown_and_listed_in_every_form() {
    let tour = Tour::start().await;
    let desk = Desk::at(&tour.endpoint.app, Scope::Read).await;
    for (kind, name, words) in [
        ("service", "shop", &["service Shop (shop)", "owner", "Core", "page"][..]),
        ("team", "core", &["team Core (core)", "service", "Shop"]),
        ("system", "till", &["system Till (till)", "domain", "Commerce"]),
        ("domain", "commerce", &["domain Commerce (commerce)", "system", "Till"]),
        ("user", "ada@example.com", &["user Ada", "role"]),
        ("repository", "github.com:org/shop", &["repository", "github.com:org/shop", "page"]),
        ("infrastructure", "base", &["infrastructure", "(base)", "type", "page"]),
    ] {
        let shown = desk.said(&["show", kind, name]).await;
        for word in words {
            assert!(shown.to_lowercase().contains(&word.to_lowercase()), "{kind}: {word}\n{shown}");
        }
        let whole = desk.json(&["show", kind, name]).await;
        assert!(whole["htmlUrl"].as_str().is_some_and(|url| url.starts_with("http")), "{whole}");
        assert_eq!(
            desk.said(&["open", kind, name]).await,
            format!("{}\n", whole["htmlUrl"].as_str().unwrap_or_default())
        );
        let opened = desk.json(&["open", kind, name]).await;
        assert_eq!((&opened["kind"], &opened["htmlUrl"]), (&json!(kind), &whole["htmlUrl"]));
    }
    for (list, heading) in [
        ("services", "NAME"),
        ("teams", "NAME"),
        ("systems", "NAME"),
        ("domains", "NAME"),
        ("repositories", "ALIAS"),
        ("users", "NAME"),
        ("infrastructure", "NAME"),
    ] {
        let table = desk.said(&["list", list]).await;
        let rows = desk.json(&["list", list]).await;
        let count = rows.as_array().expect("rows").len();
        assert!(table.starts_with(heading) && count > 0, "{table}");
        assert_eq!(table.lines().count(), count + 1, "{table}");
        let separated = desk.said(&["list", list, "-o", "csv"]).await;
        assert!(separated.lines().count() > count, "{separated}");
    }
    let deploys = desk.json(&["deploys", "--service", "shop"]).await;
    assert_eq!(deploys[0]["serviceAlias"], json!("shop"));
    let table = desk.said(&["deploys"]).await;
    assert!(table.starts_with("DEPLOYED AT") && !table.contains("Z ") && table.contains(" UTC  shop "), "{table}");
    let separated = desk.said(&["deploys", "-o", "csv"]).await;
    assert!(separated.contains(deploys[0]["deployedAt"].as_str().expect("a time")), "{separated}");
    let shown = desk.said(&["show", "service", "shop"]).await;
    for row in ["\n  level ", "\n  checks "] {
        assert!(shown.contains(row), "{shown}");
    }
    let separated = desk.said(&["show", "shop", "--output", "csv"]).await;
    assert!(separated.starts_with("field,value\nkind,service\nname,shop\nalias,shop\n"), "{separated}");
    assert!(separated.contains(deploys[0]["deployedAt"].as_str().expect("a time")), "times are exact: {separated}");
    let environment = deploys[0]["environment"].as_str().expect("an environment").to_uppercase();
    assert_eq!(
        desk.json(&["deploys", "--service", "shop", "-e", &environment]).await[0]["serviceAlias"],
        json!("shop")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn services_are_listed_by_conditions_that_are_named_as_people_name_them() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let made = r#"mutation {
        teamCreate(input: { name: "Payments" }) { errors { message } }
        a: serviceCreate(input: { name: "Cart", language: "Rust", tierAlias: "tier_1", ownerAlias: "payments" }) { errors { message } }
        b: serviceCreate(input: { name: "Ledger", language: "Go", tierAlias: "tier_2" }) { errors { message } }
    }"#;
    data(&app, made).await;
    for (arguments, expected) in [
        (&["--owner", "payments"][..], &["Cart"][..]),
        (&["--owner", "Payments"], &["Cart"]),
        (&["--tier", "1"], &["Cart"]),
        (&["--tier", "tier_2"], &["Ledger"]),
        (&["--filter", "tier=Mission critical"], &["Cart"]),
        (&["--filter", "!owner"], &["Ledger"]),
        (&["--filter", "owner"], &["Cart"]),
        (&["--filter", "language!=Go"], &["Cart"]),
        (&["--filter", "language=rust"], &["Cart"]),
        (&["--filter", "name~edge"], &["Ledger"]),
        (&["--filter", "name~LEDG"], &["Ledger"]),
        (&["--search", "car"], &["Cart"]),
        (&[], &["Cart", "Ledger"]),
    ] {
        let rows = desk.json(&[&["list", "services"], arguments].concat()).await;
        let names: Vec<&str> = rows.as_array().expect("rows").iter().filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(names, expected, "{arguments:?}");
    }
    let done = desk.run(&["list", "services", "--limit", "1"]).await;
    assert_eq!((done.status, done.out.lines().count(), &*done.err), (0, 2, "the first 1; --limit shows more\n"));
    for (arguments, sentence) in [
        (&["list", "services", "--tier", "gold"][..], "rollcall: no tier is called gold; there are tier_1, "),
        (
            &["list", "services", "--filter", "colour=red"],
            "rollcall: --filter has no key colour; its keys are owner, tier, ",
        ),
        (&["list", "teams", "--owner", "payments"], "rollcall: --owner is for services and infrastructure\n"),
        (&["list", "users", "--search", "a"], "rollcall: --search is for services, teams and infrastructure; "),
        (&["show", "service", "cratt"], "rollcall: no service is called cratt"),
        (
            &["show", "planet", "mars"],
            "rollcall: no service, team, system, domain, user, repository or infrastructure is called planet mars\n",
        ),
        (
            &["show", "Zzzz"],
            "rollcall: no service, team, system, domain, user, repository or infrastructure is called Zzzz\n",
        ),
    ] {
        let done = desk.run(arguments).await;
        assert_eq!((done.status, &*done.out), (1, ""), "{arguments:?}");
        assert!(done.err.starts_with(sentence), "{arguments:?}: {}", done.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn teams_are_listed_by_their_parent() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let made = r#"mutation {
        top: teamCreate(input: { name: "Top Team" }) { errors { message } }
        b: teamCreate(input: { name: "Bees", parentTeam: { alias: "top_team" } }) { errors { message } }
        a: teamCreate(input: { name: "Ants", parentTeam: { alias: "top_team" } }) { errors { message } }
    }"#;
    data(&app, made).await;
    for (condition, expected) in [
        ("parent=top_team", &["Ants", "Bees"][..]),
        ("parent=Top Team", &["Ants", "Bees"]),
        ("parent=bees", &[]),
        ("parent", &["Ants", "Bees"]),
        ("!parent", &["Top Team"]),
    ] {
        let done = desk.run(&["list", "teams", "--filter", condition, "--output", "json"]).await;
        let nothing = if expected.is_empty() { "no team fulfils all conditions\n" } else { "" };
        assert_eq!((done.status, &*done.err), (0, nothing), "{condition}");
        let rows: Value = serde_json::from_str(&done.out).expect("JSON");
        let names: Vec<&str> = rows.as_array().expect("rows").iter().filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(names, expected, "{condition}");
    }
    for (arguments, sentence) in [
        (&["list", "teams", "--filter", "parent=nope"][..], "nope"),
        (&["list", "teams", "--filter", "parent!=bees"], "takes parent=TEAM, parent or !parent, not parent!=bees"),
        (&["list", "teams", "--filter", "owner=bees"], "takes parent=TEAM, parent or !parent, not owner=bees"),
        (&["list", "users", "--filter", "parent=bees"], "--filter is for services, teams and infrastructure"),
        (&["list", "teams", "--tier", "1"], "--tier is for services"),
    ] {
        let done = desk.run(arguments).await;
        assert_eq!((done.status, &*done.out), (1, ""), "{arguments:?}: {}", done.err);
        assert!(done.err.contains(sentence), "{arguments:?}: {}", done.err);
    }
    let shown = desk.said(&["show", "team", "top_team"]).await;
    assert!(shown.contains("Ants") && shown.contains("Bees"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_names_nothing_is_refused_and_not_answered_with_an_empty_list() {
    let endpoint = Endpoint::start().await;
    let desk = Desk::at(&endpoint.app, Scope::Read).await;
    let made = r#"mutation {
        teamCreate(input: { name: "Payments" }) { errors { message } }
        serviceUpdate(input: { alias: "shop", language: "Rust", tierAlias: "tier_1" }) { errors { message } }
        serviceCreate(input: { name: "Mail", tierAlias: "tier_2" }) { errors { message } }
    }"#;
    data(&endpoint.app, made).await;
    let none = desk.run(&["deploys", "--environment", "production"]).await;
    assert_eq!(
        (none.status, &*none.out, &*none.err),
        (1, "", "rollcall: no deploy names the environment production; there are none\n")
    );
    assert_eq!(endpoint.post_with(json!({ "environment": "Production" })).await.status, 202);
    for (arguments, sentence) in [
        (&["deploys", "--service", "nope"][..], "no service is called nope"),
        (&["deploys", "-e", "prod"], "no deploy names the environment prod; there are Production"),
        (&["deploys", "-e", "production", "-e", "prod"], "no deploy names the environment prod; there are Production"),
        (&["list", "services", "--tier", "9"], "no tier is called 9; there are tier_1, "),
        (&["list", "services", "--filter", "tier!=9"], "no tier is called 9; there are tier_1, "),
        (&["list", "services", "--filter", "tier_index=9"], "no tier is called 9; there are tier_1, "),
        (&["list", "services", "--filter", "lifecycle=9"], "no lifecycle is called 9; there are "),
        (&["list", "services", "--filter", "level=gold"], "no level is called gold; there are none"),
        (&["list", "services", "--owner", "nobody"], "A team with the id or alias \"nobody\" does not exist"),
        (&["list", "services", "--owner", "paymets"], "\"paymets\" does not exist on this account; similar: payments"),
        (&["list", "services", "--filter", "owner!=paymets"], "; similar: payments"),
        (&["list", "services", "--filter", "tier=tier_11"], "no tier is called tier_11; there are tier_1, "),
        (&["list", "services", "--filter", "tier=tier_11"], "; the nearest is tier_1"),
        (&["list", "services", "--filter", "alert_status=warm"], "; the nearest is warn"),
        (&["list", "services", "--filter", "owner_id=nobody"], "A team with the id or alias \"nobody\" does not exist"),
        (&["list", "services", "--filter", "system=nope"], "A system with the id or alias \"nope\" does not exist"),
        (&["list", "services", "--filter", "domain=nope"], "A domain with the id or alias \"nope\" does not exist"),
        (&["list", "services", "--filter", "type=nope"], "A component type with the id or alias \"nope\" does not"),
        (&["list", "services", "--filter", "repository_ids=nope"], "A repository with the id or alias \"nope\""),
        (&["list", "services", "--filter", "property=nope:1"], "A property definition with the id or alias \"nope\""),
        (&["list", "services", "--filter", "filter_id=nope"], "no saved filter has the id nope"),
        (&["list", "services", "--filter", "deploy_environment=prod"], "no deploy names the environment prod; there"),
        (
            &["list", "services", "--filter", "creation_source=magic"],
            "no creation source is called magic; there are api",
        ),
        (&["list", "services", "--filter", "alert_status=red"], "no alert status is called red; there are alert"),
    ] {
        let done = desk.run(arguments).await;
        assert_eq!((done.status, &*done.out), (1, ""), "{arguments:?}: {}", done.err);
        assert!(done.err.to_lowercase().contains(&sentence.to_lowercase()), "{arguments:?}: {}", done.err);
    }
    for arguments in [
        &["deploys", "--service", "Shop", "-e", "PRODUCTION"][..],
        &["list", "services", "--filter", "deploy_environment=production"],
        &["list", "services", "--tier", "1", "--filter", "language=Rust"],
    ] {
        assert_eq!(desk.json(arguments).await.as_array().map(Vec::len), Some(1), "{arguments:?}");
    }
    // What exists and fits nothing is an empty list, and a condition that nothing fulfils is told.
    for (arguments, told) in [
        (&["list", "services", "--owner", "payments"][..], "no service fulfils owner=payments\n"),
        (&["list", "services", "--filter", "language=Cobol", "--tier", "1"], "no service fulfils language=Cobol\n"),
        (&["list", "teams", "--search", "zzzz"], "nothing is called like that\n"),
        (&["list", "systems"], "there are no systems yet\n"),
        (
            &["list", "services", "--filter", "language=Rust", "--filter", "tier!=1"],
            "no service fulfils all conditions at once\n",
        ),
        (
            &["list", "services", "--search", "zzzz", "--tier", "1"],
            "no service is called like that and fulfils all conditions\n",
        ),
        (&["deploys", "--since", "0s"], "no deploy fits\n"),
    ] {
        let done = desk.run(&[arguments, &["-o", "json"]].concat()).await;
        assert_eq!((done.status, &*done.out, &*done.err), (0, "[]\n", told), "{arguments:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_alone_is_found_and_a_doubtful_one_is_asked_about() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let made = r#"mutation {
        a: serviceCreate(input: { name: "Shopping Cart" }) { errors { message } }
        alias: aliasCreate(input: { ownerId: "shopping_cart", alias: "cart" }) { errors { message } }
        b: serviceCreate(input: { name: "Event Bus" }) { errors { message } }
        c: teamCreate(input: { name: "Event Bus" }) { errors { message } }
    }"#;
    data(&app, made).await;
    for name in ["cart", "shopping_cart", "Shopping Cart", "shopping cart"] {
        assert!(desk.said(&["show", name]).await.starts_with("service Shopping Cart (shopping_cart)\n"), "{name}");
    }
    // Several words are one name, in every command that takes a name.
    for words in [&["show", "Shopping", "Cart"][..], &["show", "service", "shopping", "cart"]] {
        assert!(desk.said(words).await.starts_with("service Shopping Cart (shopping_cart)\n"), "{words:?}");
    }
    assert!(desk.said(&["open", "shopping", "cart"]).await.ends_with("/services/shopping_cart\n"));
    assert!(desk.said(&["show", "team", "Event", "Bus"]).await.starts_with("team Event Bus (event_bus)\n"));
    let impact = desk.run(&["impact", "shopping", "cart"]).await;
    assert_eq!((impact.status, &*impact.err), (0, "no service depends on the service Shopping Cart\n"));
    let done = desk.run(&["show", "Event Bus"]).await;
    assert_eq!(done.status, 1);
    assert!(done.err.starts_with("rollcall: several are called Event Bus: "), "{}", done.err);
    assert!(desk.said(&["show", "team", "Event Bus"]).await.starts_with("team Event Bus (event_bus)\n"));
    let done = desk.run(&["show", "shoping crat"]).await;
    assert!(done.err.contains("similar: service Shopping Cart"), "{}", done.err);
    let found = desk.said(&["search", "shoping"]).await;
    assert!(found.contains("Shopping Cart"), "{found}");
    for (term, alias) in [
        ("Shopping Cart", "shopping_cart"),
        ("shopping", "shopping_cart"),
        ("cart", "cart"),
        ("Event Bus", "event_bus"),
        ("event", "event_bus"),
    ] {
        let results = desk.json(&["search", term]).await;
        assert_eq!((&results[0]["alias"], results[0].get("item")), (&json!(alias), None), "{term}: {results}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alias_is_found_although_others_share_the_name() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let made = r#"mutation {
        a: serviceCreate(input: { name: "shopping_cart" }) { errors { message } }
        b: serviceCreate(input: { name: "Shopping Cart" }) { errors { message } }
        c: teamCreate(input: { name: "Shopping Cart" }) { errors { message } }
        d: systemCreate(input: { name: "depot" }) { errors { message } }
        e: domainCreate(input: { name: "Depot" }) { errors { message } }
        x: aliasCreate(input: { ownerId: "shopping_cart", alias: "cart" }) { errors { message } }
        y: teamCreate(input: { name: "cart" }) { errors { message } }
        f: serviceCreate(input: { name: "Ledger" }) { errors { message } }
        g: serviceCreate(input: { name: "Ledger" }) { errors { message } }
        h: serviceCreate(input: { name: "ledger" }) { errors { message } }
    }"#;
    data(&app, made).await;
    for (name, shown) in [("ledger", "service Ledger (ledger)\n"), ("ledger_2", "service "), ("ledger_3", "service ")] {
        let said = desk.said(&["show", name]).await;
        assert!(said.starts_with(shown), "{name}: {said}");
        assert!(desk.said(&["open", name]).await.contains("/services/"), "{name}");
    }
    // These are aliases of several kinds, or what several are called.
    for (name, some) in [
        ("shopping_cart", "team Shopping Cart (shopping_cart)"),
        ("depot", "domain Depot (depot)"),
        ("cart", "team cart (cart)"),
        ("Ledger", "service Ledger (ledger)"),
    ] {
        let done = desk.run(&["show", name]).await;
        assert_eq!((done.status, done.err.contains(some)), (1, true), "{name}: {}", done.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_of_a_path_is_that_of_the_deepest_folder_that_holds_it() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let made = r#"mutation {
        a: teamCreate(input: { name: "Payments" }) { errors { message } }
        b: teamCreate(input: { name: "Platform" }) { errors { message } }
        c: serviceCreate(input: { name: "Cart", ownerAlias: "payments" }) { errors { message } }
        d: serviceCreate(input: { name: "Base", ownerAlias: "platform" }) { errors { message } }
    }"#;
    data(&app, made).await;
    let file = "version: 1\nrepository: { name: org/mono, url: \"https://github.com/org/mono\" }\n";
    let linked = r#"mutation($t: String!) {
        serviceFilesApply(input: { files: [{ path: "rollcall.yml", text: $t }] }) { errors { message } }
        a: serviceRepositoryCreate(input: {
            service: { alias: "cart" }, repository: { alias: "github.com:org/mono" }, baseDirectory: "cart"
        }) { errors { message } }
        b: serviceRepositoryCreate(input: {
            service: { alias: "base" }, repository: { alias: "github.com:org/mono" }
        }) { errors { message } }
    }"#;
    let done = app.query(linked, json!({ "t": file })).await;
    for field in ["serviceFilesApply", "a", "b"] {
        assert_eq!(done["data"][field]["errors"], json!([]), "{done}");
    }
    let checkout = desk.place.path().join("mono");
    std::fs::create_dir_all(checkout.join("cart").join("src")).expect("folders");
    for arguments in [&["init", "-q", "."][..], &["remote", "add", "origin", "git@github.com:org/mono.git"]] {
        let done = Command::new("git").current_dir(&checkout).args(arguments).status().expect("git runs");
        assert!(done.success());
    }
    for (path, owner, service) in [
        ("mono/cart/src", "Payments", "Cart"),
        ("mono/cart", "Payments", "Cart"),
        ("mono", "Platform", "Base"),
        ("github.com:org/mono", "Platform", "Base"),
        ("https://github.com/org/mono", "Platform", "Base"),
    ] {
        let rows = desk.json(&["who-owns", path]).await;
        assert_eq!((&rows[0]["owner"]["name"], &rows[0]["name"]), (&json!(owner), &json!(service)), "{path}: {rows}");
        assert_eq!(rows.as_array().map(Vec::len), Some(1), "{path}: {rows}");
    }
    let done = desk.run(&["who-owns", "github.com:org/qqqq"]).await;
    assert_eq!((done.status, &*done.err), (1, "rollcall: the catalogue knows no repository github.com:org/qqqq\n"));
    let done = desk.run(&["who-owns", "github.com:old/mono"]).await;
    let said = "rollcall: the catalogue knows no repository github.com:old/mono; similar: github.com:org/mono\n";
    assert_eq!((done.status, &*done.err), (1, said));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_run_and_its_errors_are_the_exit_status() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    desk.place.write("name.graphql", "query($n: Int) { account { name services(first: $n) { totalCount } } }");
    let said = desk.said(&["query", "name.graphql", "--variables", "{\"n\": 1}"]).await;
    assert_eq!(
        serde_json::from_str::<Value>(&said).expect("JSON")["data"]["account"]["services"]["totalCount"],
        json!(0)
    );
    assert!(desk.said(&["query", "{ account { name } }"]).await.contains("\"data\""));
    let done = desk.run(&["query", "{ account { nme } }"]).await;
    assert_eq!(done.status, 1);
    assert!(done.out.contains("errors") || done.err.contains("nme"), "{} {}", done.out, done.err);
    let done = desk.run(&["query", "missing.graphql"]).await;
    assert!(done.status == 1 && done.err.starts_with("rollcall: missing.graphql cannot be read: "), "{}", done.err);
    let done = desk.run(&["query", "{ account { name } }", "--variables", "{"]).await;
    assert!(done.status == 1 && done.err.starts_with("rollcall: --variables is not JSON: "), "{}", done.err);
    let done = desk.run(&["query", "mutation { teamCreate(input: { name: \"A\" }) { errors { message } } }"]).await;
    assert_eq!(done.status, 1, "a token for reading changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_keeps_a_server_and_its_token_where_only_its_owner_reads_them() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let done = ended(desk.bare(&["list", "teams"])).await;
    assert_eq!(
        (done.status, &*done.err),
        (1, "rollcall: there is no server to ask: run rollcall login, or give --server\n")
    );
    let login = |token: &str| {
        let mut command = desk.bare(&["login", "--server", &desk.url, "--name", "work"]);
        command.env("ROLLCALL_TOKEN", token);
        command
    };
    let done = ended(login("rc_wrong")).await;
    assert_eq!(done.status, 1, "{}", done.err);
    let file = desk.place.path().join("kept").join("contexts.json");
    assert!(!file.exists(), "a token that the server refuses is not kept");
    let done = ended(login(&desk.token)).await;
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(!done.err.contains(&desk.token) && done.out.is_empty(), "{}", done.err);
    #[cfg(unix)]
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let done = ended(desk.bare(&["list", "services"])).await;
    assert_eq!((done.status, &*done.err), (0, "there are no services yet\n"));
    let done = ended(desk.bare(&["context", "list"])).await;
    assert_eq!(done.out, format!("*\twork\t{}\n", desk.url));

    // The token of a context goes to no other server.
    let mut other = desk.bare(&["list", "services"]);
    other.env("ROLLCALL_SERVER", "http://127.0.0.1:1");
    let done = ended(other).await;
    assert!(
        done.status == 1 && done.err.starts_with("rollcall: there is no token for http://127.0.0.1:1"),
        "{}",
        done.err
    );

    #[cfg(unix)]
    {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("permissions");
        let done = ended(desk.bare(&["list", "services"])).await;
        assert!(done.status == 0 && done.err.starts_with("others can read "), "{}", done.err);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("permissions");
    }
    let done = ended(desk.bare(&["list", "services", "--context", "home"])).await;
    assert_eq!((done.status, &*done.err), (1, "rollcall: no context has the name home; there are work\n"));
    assert_eq!(ended(desk.bare(&["context", "delete", "work"])).await.status, 0);
    assert_eq!(ended(desk.bare(&["context", "use", "work"])).await.status, 1);
    desk.place.write("kept/contexts.json", "{");
    let done = ended(desk.bare(&["list", "services"])).await;
    assert!(done.status == 1 && done.err.contains("contexts.json cannot be read: "), "{}", done.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_file_is_applied_by_the_server_of_a_context() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Write).await;
    let mut login = desk.bare(&["login", "--server", &desk.url, "--name", "work"]);
    login.env("ROLLCALL_TOKEN", &desk.token);
    assert_eq!(ended(login).await.status, 0);
    desk.place.write("cart.yml", "version: 1\nservice: { name: Cart }\n");
    let done = ended(desk.bare(&["apply", "--context", "work", "cart.yml"])).await;
    assert_eq!((done.status, &*done.out), (0, "created service cart\n"), "{}", done.err);
}

#[test]
fn the_help_of_the_program_is_short_and_that_of_each_command_names_its_settings() {
    let place = Place::new();
    let help = place.run(&["--help"]).out;
    assert!(help.contains("Examples:") && help.contains("who-owns") && !help.contains("--query-timeout"), "{help}");
    assert!(help.lines().count() < 120, "{} lines", help.lines().count());
    // Where there is no terminal, lines have at most 100 columns.
    for line in help.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    for command in [
        &["show"][..],
        &["open"],
        &["impact"],
        &["list"],
        &["search"],
        &["deploys"],
        &["history"],
        &["revert"],
        &["delivery"],
        &["who-owns"],
        &["mcp"],
        &["query"],
        &["login"],
        &["context"],
        &["standards", "missing"],
        &["standards", "failing"],
        &["standards", "list"],
    ] {
        let help = place.run(&[command, &["--help"]].concat()).out;
        let (_, examples) = help.split_once("\nExample").unwrap_or_else(|| panic!("{command:?}: {help}"));
        assert!(examples.contains(&format!("rollcall {}", command.join(" "))), "{command:?}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command:?}: {help}");
    }
    assert!(place.run(&["serve", "--help"]).out.contains("--query-timeout"));
    assert_eq!(place.run(&["help", "list"]).out, place.run(&["list", "--help"]).out);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = place.run(&["completions", shell]);
        assert!(done.status == 0 && done.out.contains("who-owns"), "{shell}");
    }
}
