//! Service files: what they create, refuse and lock.

use std::io::Write;
use std::process::Stdio;

use rollcall::db::Read;
use rollcall::entity::repository;
use rollcall::service_file::{self, Options};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::deadline::Deadline;
use crate::harness::program::{Place, assert_refused};
use crate::harness::service_file::{apply, apply_text, done_with, run};

async fn problems(app: &TestApp, text: &str) -> Vec<String> {
    apply(app, &[("f.yml", text)]).await.expect_err("a file with a mistake")
}

async fn with_team() -> TestApp {
    let app = TestApp::start().await;
    data(&app, r#"mutation { teamCreate(input: { name: "Platform" }) { errors { message } } }"#).await;
    app
}

/// Every key of a service.
async fn service(app: &TestApp, alias: &str) -> Value {
    let query = format!(
        r#"{{ account {{ service(alias: "{alias}") {{
            name aliases managedAliases description owner {{ name }} tier {{ alias }} lifecycle {{ alias }} product
            language framework tags {{ nodes {{ key value }} }} repositories {{ nodes {{ defaultAlias }} }} locked
        }} }} }}"#
    );
    data(app, &query).await["account"]["service"].take()
}

async fn count(app: &TestApp) -> Value {
    data(app, "{ account { services { totalCount } repositories { totalCount } } }").await["account"].take()
}

const FULL: &str = r#"version: 1
service:
  name: Shopping Cart
  description: |
    Holds goods
  owner: platform
  tier: tier_1
  lifecycle: beta
  product: Shop
  language: Go
  framework: gin
  aliases: [cart, org/cart]
  tags: { env: prod, on-call: "24/7" }
  repositories:
    - github.com:org/cart
---
version: 1
repository:
  name: org/cart
  url: https://github.com/org/cart
  default_branch: main
  private: true
  tags: { env: prod }
"#;

#[tokio::test]
async fn a_file_creates_services_and_repositories_and_changes_nothing_the_second_time() {
    let app = with_team().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rollcall.yml");
    std::fs::write(&file, FULL).expect("a file");
    let files = [file];
    let first = run(&app.db, &files).await.expect("it is applied");
    assert_eq!(first, ["created service shopping_cart", "created repository github.com:org/cart"]);
    let expected = json!({
        "name": "Shopping Cart", "aliases": ["shopping_cart", "Shopping Cart", "cart", "org/cart"],
        "managedAliases": ["cart", "org/cart"], "description": "Holds goods\n", "owner": { "name": "Platform" },
        "tier": { "alias": "tier_1" }, "lifecycle": { "alias": "beta" }, "product": "Shop", "language": "Go",
        "framework": "gin",
        "tags": { "nodes": [{ "key": "env", "value": "prod" }, { "key": "on-call", "value": "24/7" }] },
        "repositories": { "nodes": [{ "defaultAlias": "github.com:org/cart" }] }, "locked": true,
    });
    assert_eq!(service(&app, "cart").await, expected);
    let everything = r#"{ account {
        services { nodes { id timestamps { createdAt updatedAt } tags { nodes { id } } serviceRepositories { nodes { id } } } }
        repositories { nodes { name defaultBranch private visible url tags { nodes { id key value } } } }
    } }"#;
    let before = data(&app, everything).await;
    let rows = app.db.read().all(repository::Entity::find()).await.expect("rows");
    let repository = &before["account"]["repositories"]["nodes"][0];
    assert_eq!((&repository["private"], &repository["visible"]), (&json!(true), &json!(true)));
    let second = run(&app.db, &files).await.expect("it is applied");
    assert_eq!(second, ["unchanged service shopping_cart", "unchanged repository github.com:org/cart"]);
    assert_eq!(data(&app, everything).await, before);
    assert_eq!(app.db.read().all(repository::Entity::find()).await.expect("rows"), rows);
}

#[tokio::test]
async fn an_absent_key_changes_nothing_null_clears_and_lists_are_complete() {
    let app = with_team().await;
    apply_text(&app, FULL).await;
    let less = r#"
version: 1
service: { name: Shopping Cart, owner: null, framework: "", aliases: [cart, new], tags: { env: dev }, repositories: }
"#;
    assert_eq!(
        apply(&app, &[("other.yml", less)]).await,
        Ok(vec!["updated service shopping_cart".to_owned()]),
        "the name is what finds it"
    );
    let expected = json!({
        "name": "Shopping Cart", "aliases": ["shopping_cart", "Shopping Cart", "cart", "new"],
        "managedAliases": ["cart", "new"], "description": "Holds goods\n", "owner": null,
        "tier": { "alias": "tier_1" }, "lifecycle": { "alias": "beta" }, "product": "Shop", "language": "Go",
        "framework": null, "tags": { "nodes": [{ "key": "env", "value": "dev" }] }, "repositories": { "nodes": [] },
        "locked": true,
    });
    assert_eq!(service(&app, "cart").await, expected);
    assert_eq!(count(&app).await["repositories"]["totalCount"], json!(1), "the link went, not the repository");
}

#[tokio::test]
async fn every_mistake_is_reported_with_its_location_and_nothing_is_changed() {
    let app = with_team().await;
    let long = "x".repeat(256);
    let good = "version: 1\nservice: { name: good }\n";
    let bad = format!(
        r#"version: 2
service:
  name: Cart
  ownr: platform
  owner: nobody
  tier: tier_9
  lifecycle: never
  language: 1.10
  framework: {long}
  tier: tier_1
  aliases: [a, [b], a, ""]
  tags:
    Env: prod
    size: 4
  repositories: [github.com:org/none, "ftp://x/y"]
--- [not, a, mapping]
---
service: {{ description: no name }}
repository: {{ name: both }}
---
version: 1
service: {{ description: no name }}
---
version: 1
repository: {{ name: r, private: "yes", url: "javascript:x" }}
---
version: 1
service: {{ name: open
"#
    );
    let found = apply(&app, &[("good.yml", good), ("bad.yml", &bad)]).await.expect_err("mistakes");
    let expected = [
        "bad.yml:1:10: this program does not support this version: write version: 1",
        "bad.yml:4:3: a service has no key \"ownr\"; its keys are name, description, owner, tier, lifecycle, system, type, product, language, framework, api_document_url, aliases, tags, repositories, tools, contacts, dependencies, properties, relationships",
        "bad.yml:6:9: no tier has the alias \"tier_9\"",
        "bad.yml:7:14: no lifecycle has the alias \"never\"",
        "bad.yml:8:13: language must be a string, not a number; put it in quotes",
        "bad.yml:9:14: framework has 256 characters; at most 255 are allowed",
        "bad.yml:10:3: the key \"tier\" occurs twice",
        "bad.yml:11:16: an alias must be a string, not a list",
        "bad.yml:11:21: \"a\" occurs twice",
        "bad.yml:11:24: alias must not be empty",
        "bad.yml:13:5: key must begin with a lowercase letter and go on with lowercase letters, digits, _, -, ., / and \\",
        "bad.yml:14:11: the value of a tag must be a string, not a number; put it in quotes",
        "bad.yml:15:39: url must begin with http:// or https:// and name a host",
        "bad.yml:16:5: a document must be a mapping, not a list",
        "bad.yml:18:1: the version is missing: write version: 1",
        "bad.yml:18:1: a document has exactly one of the keys service, component, repository, team, system, domain",
        "bad.yml:22:10: a service needs a name",
        "bad.yml:25:33: private must be true or false, not a string",
        "bad.yml:25:45: url must begin with http:// or https:// and name a host",
        "bad.yml:28:10: the YAML cannot be read: unclosed bracket '{'",
    ];
    assert_eq!(found, expected);
    assert_eq!(count(&app).await, json!({ "services": { "totalCount": 0 }, "repositories": { "totalCount": 0 } }));
}

#[tokio::test]
async fn an_unknown_repository_is_a_mistake() {
    let app = TestApp::start().await;
    let text = "version: 1\nservice:\n  name: Cart\n  repositories: [github.com:org/none]\n";
    let expected = ["f.yml:4:18: no repository has the alias \"github.com:org/none\""];
    assert_eq!(problems(&app, text).await, expected);
}

#[tokio::test]
async fn an_alias_of_another_service_is_a_mistake() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Redis" }) { errors { message } } }"#).await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let text = "version: 1\nservice: { name: Cart, aliases: [redis] }\n";
    assert_eq!(problems(&app, text).await, ["f.yml:2:34: another service has the alias \"redis\": \"Redis\""]);
    let two = "version: 1\nservice: { name: New, aliases: [redis, cart] }\n";
    let expected = [
        "f.yml:2:40: the aliases are those of two services, \"Redis\" and \"Cart\"",
        "f.yml:2:40: another service has the alias \"cart\": \"Cart\"",
    ];
    assert_eq!(problems(&app, two).await, expected);
}

#[tokio::test]
async fn an_alias_can_move_between_two_services_in_one_go() {
    let app = TestApp::start().await;
    let file = |first: &str, second: &str| {
        format!(
            "version: 1\nservice: {{ name: A, aliases: [{first}] }}\n---\nversion: 1\nservice: {{ name: B, aliases: [{second}] }}\n"
        )
    };
    apply_text(&app, &file("x", "y")).await;
    let both = problems(&app, &file("x", "x")).await;
    assert_eq!(both, ["f.yml:5:31: another service has the alias \"x\": \"A\""]);
    apply_text(&app, &file("y", "x")).await;
    assert_eq!(service(&app, "x").await["name"], json!("B"));
    assert_eq!(service(&app, "y").await["name"], json!("A"));
}

#[tokio::test]
async fn a_service_is_renamed_if_a_listed_alias_belongs_to_it() {
    let app = TestApp::start().await;
    let file = |name: &str| format!("version: 1\nservice: {{ name: {name}, aliases: [cart-service] }}\n");
    let folder = tempfile::tempdir().expect("a folder");
    let path = [folder.path().join("cart.yml")];
    std::fs::write(&path[0], file("Cart")).expect("a file");
    run(&app.db, &path).await.expect("it is applied");
    std::fs::write(&path[0], file("Basket")).expect("a file");
    assert_eq!(run(&app.db, &path).await.expect("it is applied"), ["updated service basket"]);
    let aliases = json!(["cart", "Cart", "cart-service", "basket", "Basket"]);
    assert_eq!(service(&app, "cart").await["aliases"], aliases);
    // From another file it is more likely a copy than a rename.
    let copy = problems(&app, &file("Copy")).await;
    assert_eq!(copy.len(), 1);
    assert!(
        copy[0].ends_with("governs the service \"basket\": it has this alias; release it, or use its name \"Basket\""),
        "{copy:?}"
    );
}

#[tokio::test]
async fn two_documents_cannot_describe_the_same_object() {
    let app = TestApp::start().await;
    let service = "version: 1\nservice: { name: Cart }\n";
    let again = apply(&app, &[("a.yml", service), ("b.yml", service)]).await;
    let sentence = "b.yml:2:18: this is the service of another document, at a.yml:2:18; put both into one document";
    assert_eq!(again, Err(vec![sentence.to_owned()]));
    let repository = "version: 1\nrepository: { name: r }\n";
    let again = apply(&app, &[("a.yml", repository), ("b.yml", repository)]).await;
    assert_eq!(again, Err(vec!["b.yml:2:21: this repository is already described at a.yml:2:21".to_owned()]));
    let slug = "version: 1\nservice: { name: cart }\n";
    let taken = apply(&app, &[("a.yml", service), ("b.yml", slug)]).await;
    assert_eq!(taken, Err(vec!["b.yml:2:18: \"cart\" is an alias of the service \"Cart\"".to_owned()]));
}

#[tokio::test]
async fn a_service_managed_by_a_file_refuses_every_write_until_it_is_released() {
    let app = with_team().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rollcall.yml");
    std::fs::write(&path, FULL).expect("a file");
    run(&app.db, std::slice::from_ref(&path)).await.expect("it is applied");
    let ids =
        r#"{ account { service(alias: "cart") { id tags { nodes { id } } serviceRepositories { nodes { id } } } } }"#;
    let ids = data(&app, ids).await["account"]["service"].take();
    let variables = json!({
        "service": ids["id"], "tag": ids["tags"]["nodes"][0]["id"],
        "link": ids["serviceRepositories"]["nodes"][0]["id"],
    });
    let writes = r#"mutation($service: ID!, $tag: ID!, $link: ID!) {
        update: serviceUpdate(input: { alias: "cart", note: "x" }) { errors { message path } }
        assign: tagAssign(input: { alias: "cart", tags: { key: "k", value: "w" } }) { errors { message path } }
        create: tagCreate(input: { id: $service, key: "l", value: "w" }) { errors { message path } }
        change: tagUpdate(input: { id: $tag, value: "w" }) { errors { message path } }
        remove: tagDelete(input: { id: $tag }) { errors { message path } }
        alias: aliasCreate(input: { ownerId: $service, alias: "x" }) { errors { message path } }
        unalias: aliasDelete(input: { ownerType: service, alias: "cart" }) { errors { message path } }
        unlink: serviceRepositoryDelete(input: { id: $link }) { errors { message path } }
        link: serviceRepositoryCreate(input: { service: { alias: "shopping_cart" }, repository: { alias: "github.com:org/cart" } }) { errors { message path } }
        delete: serviceDelete(input: { id: $service }) { errors { message path } }
    }"#;
    let sentence = format!("the service is locked: its service file {} governs it; change it there", path.display());
    let refused = json!({ "errors": [{ "message": sentence, "path": ["locked"] }] });
    let before = service(&app, "cart").await;
    let answer = app.query(writes, variables.clone()).await;
    let payloads = answer["data"].as_object().expect("data");
    assert_eq!(payloads.len(), 10);
    for (field, payload) in payloads {
        assert_eq!(payload, &refused, "{field}");
    }
    assert_eq!(service(&app, "cart").await, before);

    assert_eq!(
        service_file::release(&app.db, "org/cart").await.expect("it is there"),
        ("shopping_cart".to_owned(), true)
    );
    assert_eq!(service_file::release(&app.db, "cart").await.expect("it is there"), ("shopping_cart".to_owned(), false));
    let answer = app.query(writes, variables).await;
    for (field, payload) in answer["data"].as_object().expect("data") {
        assert_eq!(payload, &json!({ "errors": [] }), "{field}");
    }
}

#[test]
fn folders_files_and_standard_input_are_applied_together() {
    let place = Place::with_database();
    std::fs::create_dir_all(place.path().join("services/more.yml")).expect("a folder");
    place.write("services/b.yaml", "version: 1\nservice: { name: B, repositories: [r] }\n");
    place.write("services/a.yml", "# nothing else\nversion: 1\nservice: { name: A }\n");
    place.write("services/notes.txt", "no YAML: [");
    place.write("last.yml", "version: 1\nservice: { name: Last }\n");
    let mut command = place.command(&["apply", "services", "-", "last.yml"]);
    let mut command =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let mut input = command.stdin.take().expect("standard input");
    input.write_all(b"version: 1\nrepository: { name: r }\n---\n").expect("it is read");
    drop(input);
    let _deadline = Deadline::of(&command);
    let done = command.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    let lines = "created service a\ncreated service b\ncreated repository r\ncreated service last\n";
    assert_eq!(String::from_utf8_lossy(&done.stdout), lines);
    assert!(done.status.success());

    let again = place.run(&["apply", "./services", "last.yml"]);
    let lines = "unchanged service a\nunchanged service b\nunchanged service last\n";
    assert_eq!((again.status, &*again.out, &*again.err), (0, lines, ""), "the same files");
    let moved = place.run(&["apply", &place.path().join("services").display().to_string()]);
    let lines = "updated service a\nupdated service b\n";
    assert_eq!((moved.status, &*moved.out, &*moved.err), (0, lines, ""), "another name of the file, another lock");
    let released = place.run(&["release", "last"]);
    assert_eq!((released.status, &*released.out, &*released.err), (0, "released service last\n", ""));
    let released = place.run(&["release", "last"]);
    assert_eq!((released.status, &*released.out, &*released.err), (0, "", "the service last was not locked\n"));
    assert_refused(&place.run(&["release", "none"]), "no service has the alias \"none\"");
}

#[test]
fn unreadable_documents_are_reported_beside_other_mistakes() {
    let place = Place::with_database();
    std::fs::create_dir(place.path().join("empty")).expect("a folder");
    place.write("good.yml", "version: 1\nservice: { name: Good }\n");
    place.write("nothing.yml", "# nothing\n");
    place.write("bytes.yml", b"version: 1\n# \xff\n");
    place.write("wrong.yml", "version: 1\nservice: { name: [] }\n");
    let done = place.run(&["apply", "good.yml", "none.yml", "empty", "nothing.yml", "bytes.yml", "wrong.yml", "-"]);
    let problems = [
        "none.yml: it cannot be read: No such file or directory (os error 2)",
        "empty: there is no .yml or .yaml file in this folder",
        "nothing.yml:1:1: there is no document in this file",
        "bytes.yml:2:3: this is not UTF-8",
        "wrong.yml:2:18: name must be a string, not a list",
        "standard input:1:1: there is no document in this file",
    ];
    assert_eq!((done.status, &*done.out, &*done.err), (1, "", &*format!("{}\n", problems.join("\n"))));
    assert_refused(&place.run(&["release", "good"]), "no service has the alias \"good\"");
    assert_eq!(place.run(&["apply"]).status, 2);
}

#[test]
fn folders_are_walked_by_name_without_hidden_ones_packages_and_links() {
    let place = Place::with_database();
    let service = |name: &str| format!("version: 1\nservice: {{ name: {name} }}\n");
    for folder in ["all/b/deep", "all/.git", "all/b/node_modules/p", "outside"] {
        std::fs::create_dir_all(place.path().join(folder)).expect("a folder");
    }
    for (file, name) in [
        ("all/c.yaml", "C"),
        ("all/a.yml", "A"),
        ("all/b/deep/b.yml", "B"),
        ("all/.hidden.yml", "Hidden"),
        ("all/.git/git.yml", "Git"),
        ("all/b/node_modules/p/p.yml", "Package"),
        ("outside/linked.yml", "Linked"),
    ] {
        place.write(file, service(name));
    }
    let link = |target: &str, link: &str| {
        std::os::unix::fs::symlink(target, place.path().join(link)).expect("a link");
    };
    link("../outside/linked.yml", "all/linked.yml");
    link("../outside", "all/linked");
    let done = place.run(&["apply", "all"]);
    let lines = "created service a\ncreated service b\ncreated service c\n";
    assert_eq!((done.status, &*done.out, &*done.err), (0, lines, ""));

    link("outside/linked.yml", "link.yml");
    link("outside", "folder");
    std::fs::create_dir(place.path().join("links")).expect("a folder");
    link("../outside/linked.yml", "links/a.yml");
    let done = place.run(&["apply", "link.yml", "folder/", "links"]);
    let refused = "this is a symbolic link, and links are not followed; name its target";
    let expected = [
        format!("link.yml: {refused}"),
        format!("folder/: {refused}"),
        "links: there is no .yml or .yaml file in this folder; symbolic links are not followed".to_owned(),
    ];
    assert_eq!((done.status, &*done.out, &*done.err), (1, "", &*format!("{}\n", expected.join("\n"))));
}

#[test]
fn the_bytes_files_and_depth_of_a_run_are_bounded() {
    let place = Place::with_database();
    let deep = (0..33).fold("deep".to_owned(), |path, _| path + "/d");
    std::fs::create_dir_all(place.path().join(&deep)).expect("folders");
    place.write(&format!("{deep}/a.yml"), "version: 1\nservice: { name: A }\n");
    std::fs::create_dir(place.path().join("many")).expect("a folder");
    for number in 0..10_001 {
        place.write(&format!("many/{number}.yml"), "");
    }
    let sparse = std::fs::File::create(place.path().join("long.yml")).expect("a file");
    sparse.set_len((64 << 20) + 1).expect("a length");
    let told = |file: &str| {
        let done = place.run(&["apply", file]);
        assert_eq!((done.status, &*done.out), (1, ""));
        done.err
    };
    assert!(told("deep").contains("/d: the folders are nested more than 32 deep\n"));
    assert!(told("many").contains("many: there are more than 10000 files\n"));
    assert_eq!(told("long.yml"), "long.yml: it cannot be read: the files are larger than 64 MiB in total\n");
}

#[test]
fn a_file_that_is_no_service_file_is_not_quoted() {
    let place = Place::with_database();
    let files = [
        (
            "key.yml",
            "geheim: geheim\nother: [geheim]\n",
            "1:1: this is not a service file: write version: 1, and one of service, component, repository, team, system, domain",
        ),
        ("text.yml", "TOKEN=geheim\n", "1:1: a document must be a mapping, not a string"),
        (
            "compose.yml",
            "version: '3'\nservices: { geheim: 1 }\ngeheim: 1\n",
            "1:1: a document has exactly one of the keys service, component, repository, team, system, domain",
        ),
        ("serverless.yml", "service: { geheim: geheim }\ngeheim: 1\n", "1:1: the version is missing: write version: 1"),
        ("open.yml", "geheim: 'geheim\n", ""),
        ("alias.yml", "a: *geheim\n", ""),
        ("tag.yml", "a: !geheim!x geheim\n", ""),
        ("directive.yml", "%geheim geheim\n%YAML geheim\n", ""),
        ("mixed.yml", "a: geheim: geheim\n", ""),
        ("binary.yml", "a: !!binary geheim?\n", ""),
        ("number.yml", "a: !!int geheim\n", ""),
    ];
    for (file, text, expected) in files {
        place.write(file, text);
        let done = place.run(&["apply", file]);
        assert_eq!((done.status, &*done.out), (1, ""), "{file}");
        assert!(!done.err.contains("geheim"), "{file}: {}", done.err);
        assert!(done.err.contains(expected), "{file}: {}", done.err);
    }
}

#[test]
fn a_folder_with_other_yaml_says_once_how_to_name_the_files() {
    let place = Place::with_database();
    std::fs::create_dir_all(place.path().join("all")).expect("a folder");
    place.write("all/rollcall.yml", "version: 1\nservice: { name: Cart }\n");
    place.write("all/compose.yml", "services: {}\n");
    place.write("all/deployment.yml", "kind: Deployment\n");
    let hint = "not every YAML file of a folder is a service file: name the files to read with --name, or name a narrower folder\n";
    let done = place.run(&["apply", "all"]);
    assert_eq!((done.status, &*done.out), (1, ""));
    assert_eq!((done.err.lines().count(), done.err.matches(hint).count()), (3, 1), "{}", done.err);
    assert!(done.err.ends_with(hint), "{}", done.err);
    let done = place.run(&["apply", "all/compose.yml"]);
    assert!(done.status == 1 && !done.err.contains("--name"), "a file that was named: {}", done.err);
    let done = place.run(&["apply", "--name", "rollcall.yml", "all"]);
    assert_eq!((done.status, &*done.out, &*done.err), (0, "created service cart\n", ""));
}

#[test]
fn a_problem_is_printed_on_one_line() {
    let place = Place::with_database();
    place.write("a.yml", "version: 1\nservice:\n  name: A\n  \"\\n::error::x\\e[31m\": 1\n");
    let done = place.run(&["apply", "a.yml"]);
    assert_eq!((done.status, done.err.lines().count()), (1, 1), "{}", done.err);
    assert!(done.err.starts_with("a.yml:4:3: a service has no key \"\\n::error::x\\u{1b}[31m\"; "), "{}", done.err);
}

#[tokio::test]
async fn a_run_tells_how_many_documents_it_has_looked_at() {
    let app = TestApp::start().await;
    let progress = service_file::Progress::default();
    let options = Options { progress: Some(&progress), ..Options::default() };
    let services: String =
        (0..5).map(|number| format!("---\nversion: 1\nservice: {{ name: S{number}, owner: core }}\n")).collect();
    let files = [("core.yml", "version: 1\nteam: { name: Core }\n"), ("services.yml", &*services)];
    let done = done_with(&app, &files, &options).await.expect("applied");
    assert_eq!((done.documents.len(), progress.get()), (6, (6, 6)));
    // Again, it begins anew.
    done_with(&app, &files[..1], &options).await.expect("applied");
    assert_eq!(progress.get(), (1, 1));
}
