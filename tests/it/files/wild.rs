//! Files of other catalogues as they are found in repositories: what cannot be taken is a note, and the rest is applied.

use std::fs;
use std::path::Path;

use rollcall::service_file::{Done, Refused};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::program::Place;
use crate::harness::service_file::{done_of, lines};

/// A catalogue with the teams `couriers` and `bookkeepers`.
async fn catalogue() -> TestApp {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: teamCreate(input: { name: "couriers" }) { errors { message } }
        b: teamCreate(input: { name: "bookkeepers" }) { errors { message } }
    }"#;
    data(&app, query).await;
    app
}

/// Applies a file twice: the second time changes nothing. Returns the results and the notes of the first time.
async fn applied(app: &TestApp, path: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let done = |done: Result<Done, Refused>| done.unwrap_or_else(|refused| panic!("{text}\n{refused:?}"));
    let first = done(done_of(app, &[(path, text)]).await);
    let second = done(done_of(app, &[(path, text)]).await);
    let again: Vec<_> = lines(&second).into_iter().filter(|line| !line.starts_with("unchanged ")).collect();
    assert!(again.is_empty(), "{again:?} although nothing changed in\n{text}");
    assert_eq!(first.left_out, second.left_out, "{text}");
    (lines(&first), first.left_out.iter().map(ToString::to_string).collect())
}

/// The same for a file without a note.
async fn taken(app: &TestApp, path: &str, text: &str) -> Vec<String> {
    let (lines, notes) = applied(app, path, text).await;
    assert_eq!(notes, [""; 0], "{text}");
    lines
}

async fn service(app: &TestApp, alias: &str) -> Value {
    let query = format!(
        r#"{{ account {{ service(alias: "{alias}") {{
            name owner {{ aliases }} parent {{ aliases }} dependencies {{ nodes {{ name }} }} tier {{ alias }} lifecycle {{ alias }}
        }} }} }}"#
    );
    data(app, &query).await["account"]["service"].take()
}

/// The owner's aliases of a service that must exist.
async fn owner(app: &TestApp, alias: &str) -> Vec<String> {
    let service = service(app, alias).await;
    assert!(!service.is_null(), "there is no service {alias}");
    let aliases = service["owner"]["aliases"].as_array().cloned().unwrap_or_default();
    aliases.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// An entity in flow style.
fn entity(kind: &str, metadata: &str, spec: &str) -> String {
    format!("---\napiVersion: backstage.io/v1alpha1\nkind: {kind}\nmetadata: {{ {metadata} }}\nspec: {{ {spec} }}\n")
}

#[tokio::test]
async fn a_bare_reference_means_the_entitys_own_namespace() {
    let app = catalogue().await;
    let text = [
        entity("Group", "name: tide", "type: team"),
        entity("Group", "name: tide, namespace: bay", "type: team"),
        entity("Group", "name: moles, namespace: bay", "parent: tide"),
        entity("Group", "name: crew, namespace: bay", "children: [moles2]"),
        entity("Group", "name: moles2, namespace: bay", "type: team"),
        entity("Group", "name: moles2", "type: team"),
        entity("Domain", "name: water, namespace: bay", "owner: tide"),
        entity("System", "name: locks", "owner: tide"),
        entity("System", "name: locks, namespace: bay", "owner: tide, domain: water"),
        entity("Component", "name: gate, namespace: bay", "owner: tide, system: locks, dependsOn: [pump]"),
        entity("Component", "name: pump", "owner: tide, system: locks"),
        entity("Component", "name: pump, namespace: bay", "owner: group:default/tide, system: default/locks"),
        entity("Component", "name: other, namespace: bay", "owner: couriers, system: none, dependsOn: [none]"),
    ]
    .concat();
    let (_, notes) = applied(&app, "catalog-info.yaml", &text).await;
    let notes: Vec<&str> = notes.iter().map(String::as_str).filter(|note| !note.contains("spec.type")).collect();
    let last = text.lines().count();
    let expected = [
        format!("catalog-info.yaml:{last}:16: this is not taken: no team has the alias \"bay/couriers\""),
        format!("catalog-info.yaml:{last}:34: this is not taken: no system has the alias \"bay/none\""),
        format!("catalog-info.yaml:{last}:52: the dependency is not taken: no service has the alias \"bay/none\""),
    ];
    assert_eq!(notes, expected);
    let query = r#"{ account {
        teams { nodes { name aliases parentTeam { name } } }
        gate: service(alias: "bay/gate") { name owner { name } parent { name owner { name } parent { name owner { name } } } dependencies { nodes { name } } }
        pump: service(alias: "pump") { owner { name } parent { name } }
        far: service(alias: "bay/pump") { owner { name } parent { name } }
    } }"#;
    let found = data(&app, query).await["account"].take();
    let expected = json!({
        "name": "bay/gate", "owner": { "name": "bay/tide" },
        "parent": {
            "name": "bay/locks", "owner": { "name": "bay/tide" },
            "parent": { "name": "bay/water", "owner": { "name": "bay/tide" } },
        },
        "dependencies": { "nodes": [{ "name": "bay/pump" }] },
    });
    assert_eq!(found["gate"], expected);
    assert_eq!(found["pump"], json!({ "owner": { "name": "tide" }, "parent": { "name": "locks" } }));
    assert_eq!(found["far"], json!({ "owner": { "name": "tide" }, "parent": { "name": "locks" } }));
    let parents: Vec<(String, String)> = found["teams"]["nodes"]
        .as_array()
        .expect("teams")
        .iter()
        .filter_map(|team| Some((team["name"].as_str()?.into(), team["parentTeam"]["name"].as_str()?.into())))
        .collect();
    let expected = [("bay/moles", "bay/tide"), ("bay/moles2", "bay/crew")];
    assert_eq!(parents, expected.map(|(child, parent)| (child.to_owned(), parent.to_owned())));
}

#[tokio::test]
async fn entities_of_two_namespaces_are_told_apart_from_one_run_to_the_next() {
    let app = catalogue().await;
    let files = [
        entity("Group", "name: tide", ""),
        // Titles, and names in another case, are no identity.
        entity("Group", "name: tide, namespace: bay, title: tide", "")
            + &entity("Component", "name: gate, namespace: bay", "owner: tide"),
        entity("Group", "name: Tide, namespace: Shore", ""),
        entity("Group", "name: ebb, title: Tide", ""),
        entity("Component", "name: gate", "owner: tide"),
        entity("Component", "name: gate, namespace: shore", "owner: tide"),
        entity("Component", "name: door, title: gate", "owner: ebb"),
    ];
    for _ in 0..2 {
        for text in &files {
            applied(&app, "catalog-info.yaml", text).await;
        }
    }
    for (alias, team) in [("bay/gate", "bay/tide"), ("gate", "tide"), ("shore/gate", "shore/tide"), ("door", "ebb")] {
        let whole = match team.split_once('/') {
            Some(_) => format!("group:{team}"),
            None => format!("group:default/{team}"),
        };
        let owner = owner(&app, alias).await;
        assert!(owner.contains(&whole), "{alias} belongs to {owner:?}");
    }
    let counts = data(&app, "{ account { services { totalCount } teams { totalCount } } }").await["account"].take();
    assert_eq!(counts, json!({ "services": { "totalCount": 4 }, "teams": { "totalCount": 6 } }));
}

#[tokio::test]
async fn an_entity_is_the_same_in_any_case_and_by_its_whole_reference() {
    let app = catalogue().await;
    let gate = |name: &str, owner: &str| entity("component", &format!("name: {name}"), &format!("owner: {owner}"));
    assert_eq!(taken(&app, "catalog-info.yaml", &gate("Gate", "couriers")).await, ["created service gate"]);
    for (name, owner) in [
        ("gate", "Couriers"),
        ("GATE", "Group:Default/Couriers"),
        ("gate", "GROUP:couriers"),
        ("gAte", "{ name: couriers }"),
        ("gate", "{ kind: Group, namespace: default, name: COURIERS }"),
        ("gate", "default/couriers"),
    ] {
        applied(&app, "catalog-info.yaml", &gate(name, owner)).await;
        assert!(self::owner(&app, "component:default/gate").await.contains(&"couriers".to_owned()), "{owner}");
    }
    let count = data(&app, "{ account { services { totalCount } } }").await;
    assert_eq!(count["account"]["services"]["totalCount"], 1);
}

#[tokio::test]
async fn what_was_applied_before_entities_had_whole_references_is_found_again() {
    let app = catalogue().await;
    // As the last release left it: the short alias is an alias that somebody gave, or the name.
    let before = "version: 1\nteam: [{ name: Bay, aliases: [bay/tide] }, { name: Ebb }]\n---\nversion: 1\n\
        service: [{ name: The Gate, aliases: [Gate] }, { name: pump, aliases: [bay/Pump] }, { name: crane-api }]\n---\nversion: 1\n\
        system: [{ name: Locks, aliases: [bay/locks] }]\n";
    done_of(&app, &[("rollcall.yml", before)]).await.expect("it applies");
    let text = [
        entity("Group", "name: tide, namespace: bay, title: Bay", ""),
        entity("Group", "name: ebb", ""),
        entity("Component", "name: Gate, title: The Gate", "owner: ebb"),
        entity("Component", "name: Pump, namespace: bay", "owner: tide"),
        entity("Component", "name: crane-api", "owner: ebb"),
        entity("System", "name: locks, namespace: bay", "owner: tide"),
    ]
    .concat();
    let done = done_of(&app, &[("rollcall.yml", &text)]).await.expect("it applies");
    assert!(lines(&done).iter().all(|line| line.starts_with("updated ")), "{:?}", lines(&done));
    applied(&app, "rollcall.yml", &text).await;
}

#[tokio::test]
async fn documents_of_unknown_kinds_are_noted_and_the_rest_is_applied() {
    let app = catalogue().await;
    let component = entity("Component", "name: printer", "owner: couriers");
    for (number, (other, why)) in [
        ("apiVersion: scaffolder.backstage.io/v1beta3\nkind: Template\nmetadata: { name: x }\nspec: { steps: [{ input: \"${{ parameters.name }}\" }] }\n", "templates make new projects"),
        ("apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: x }\n", "the catalogue knows none of \"apps/v1\""),
        ("apiVersion: backstage.io/v1alpha1\nkind: Robot\nmetadata: { name: x }\n", "this kind is not known"),
        ("apiVersion: acme.example.com/v2\nkind: Component\nmetadata: { name: x }\n", "the catalogue knows none of"),
        ("apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: { name: x }\nspec: { targets: [./a.yaml] }\n", "are not followed"),
        ("apiVersion: 2\nkind: List\nitems: []\n", "is no text"),
        ("apiVersion: catalog.example.com/v1\nkind: Secret\ndata: { geheim: geheim }\n", "the document of kind \"Secret\" is not taken"),
    ]
    .into_iter()
    .enumerate()
    {
        for text in [format!("{component}---\n{other}"), format!("{other}{component}")] {
            let (lines, notes) = applied(&app, &format!("{number}.yaml"), &text).await;
            assert_eq!(lines.len(), 1, "{text}");
            assert!(notes.len() == 1 && notes[0].contains(why) && !notes[0].contains("geheim"), "{notes:?}");
        }
    }
}

#[tokio::test]
async fn skeletons_of_scaffolders_are_skipped_with_a_note() {
    let app = catalogue().await;
    let entity = |name: &str| {
        format!(
            "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: {name}\nspec:\n  owner: couriers\n"
        )
    };
    let names = [
        "${{ values.name }}",
        "x-${{ values.name }}",
        "\"{{ name }}\"",
        "{{ name }}",
        "<NAME>",
        "<your service>",
        "{{cookiecutter.slug}}",
        "${NAME}",
        "\"{% if a %}a{% endif %}\"",
        "{% if a %}a{% endif %}",
    ];
    for name in names {
        let files = [
            ("catalog-info.yaml", entity(name)),
            ("skeleton/component.yaml", entity(name)),
            ("opslevel.yml", format!("version: 1\nservice:\n  name: {name}\n")),
        ];
        for (path, text) in files {
            let (lines, notes) = applied(&app, path, &text).await;
            assert!(lines.is_empty(), "{text}: {lines:?}");
            assert!(notes.len() == 1 && notes[0].contains("a scaffolder makes files from it"), "{text}: {notes:?}");
        }
    }
    // Where only a value is a placeholder, the rest is taken.
    let text = self::entity(
        "Component",
        "name: real, title: \"{{ title }}\", annotations: { github.com/project-slug: \"${{ values.owner }}/real\" }",
        "owner: \"${{ values.owner }}\", system: <SYSTEM>, dependsOn: [\"component:{{ x }}\"]",
    );
    let (lines, notes) = applied(&app, "catalog-info.yaml", &text).await;
    assert_eq!((lines, notes.len()), (vec!["created service real".to_owned()], 5), "{notes:?}");
    for url in ["a b", "acme/a b", "https://github.com/acme/a b", "{{ org }}/x", "<org>/<repo>", "${{ values.repo }}"] {
        let slug = self::entity(
            "Component",
            &format!("name: real, annotations: {{ github.com/project-slug: \"{url}\" }}"),
            "",
        );
        let other =
            format!("version: 1\nservice:\n  name: other\n  repositories: [{{ name: \"{url}\", provider: github }}]\n");
        for (path, text) in [("catalog-info.yaml", slug), ("opslevel.yml", other)] {
            let (_, notes) = applied(&app, path, &text).await;
            assert!(notes.len() == 1 && notes[0].contains("repositor"), "{text}: {notes:?}");
        }
    }
    let count = data(&app, "{ account { repositories { totalCount } services { totalCount } } }").await;
    assert_eq!(count["account"], json!({ "repositories": { "totalCount": 0 }, "services": { "totalCount": 2 } }));
}

#[tokio::test]
async fn null_and_unknown_keys_of_an_opslevel_file_are_noted() {
    let app = catalogue().await;
    let nulls = "---\nversion: 1\nservice:\n  name: reader\n  lifecycle:\n  tier:\n  product:\n  owner: couriers\n  system:\n  language: python\n  description:\n  aliases:\n  tags:\n  repositories:\n  - name: harbour/reader\n    path: \"/\"\n    provider: github\n  tools:\n  dependencies:\n  alert_sources:\n";
    let (lines, notes) = applied(&app, "b.yml", nulls).await;
    assert_eq!(lines, ["created service reader", "created repository github.com:harbour/reader"]);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0] == "b.yml:20:3: the key \"alert_sources\" of a service is not applied", "{notes:?}");
    for (rest, number) in [
        ("alert sources:\n  alert_sources: [{ type: pagerduty, external_id: ABC }]\n  properties: { none: }", 3),
        ("on_call: nobody", 1),
        (
            "tools: [{ name: Pager, category: incidents, url: \"https://pager.example.com\", environment: }, { name: X }, { category: x }, 7]",
            5,
        ),
        (
            "tags: [{ key: PagerId, value: P1 }, { key: 7 }, { value: x }, { key: a, value: true }, { key: b, value: 1.5 }]",
            3,
        ),
        (
            "repositories: [{ name: a/b, provider: sourceforge }, { path: x }, \"a b://c d\", { name: c/d, provider: GitHub, more: 1 }]",
            4,
        ),
        ("owner: 7\n  tier: true\n  description: 12\n  product: 1.5", 2),
        ("dependencies: [reader, { name: x }, { alias: none, notes: 7 }]\n  contacts: nobody\n  relationships: [x]", 5),
        ("aliases: one\n  tags: none", 1),
        ("name: twice", 1),
    ] {
        let text = format!("---\nversion: 1\nservice:\n  name: x\n  {rest}\n");
        let (lines, notes) = applied(&app, "opslevel.yml", &text).await;
        assert!(lines[0].ends_with(" service x"), "{text}: {lines:?}");
        assert_eq!(notes.len(), number, "{text}: {notes:#?}");
    }
}

#[tokio::test]
async fn names_are_understood_where_one_matches_and_the_unknown_is_noted() {
    let app = catalogue().await;
    let query = r#"mutation {
        a: teamCreate(input: { name: "Night Shift" }) { errors { message } }
        b: systemCreate(input: { name: "Goods In" }) { errors { message } }
        d: propertyDefinitionCreate(input: { name: "Size", schema: { type: "integer" } }) { errors { message } }
    }"#;
    data(&app, query).await;
    let file = |rest: &str| format!("---\nversion: 1\nservice:\n  name: Flights\n{rest}");
    let text = file("  lifecycle: Alpha\n  tier: Tier_3\n  owner: Couriers\n  language: Python\n");
    assert_eq!(taken(&app, "names.yml", &text).await, ["created service flights"]);
    let expected = json!({
        "name": "Flights", "owner": { "aliases": ["couriers"] }, "parent": null, "dependencies": { "nodes": [] },
        "tier": { "alias": "tier_3" }, "lifecycle": { "alias": "alpha" },
    });
    assert_eq!(service(&app, "flights").await, expected);
    for rest in [
        "  tier: Tier 3\n",
        "  tier: TIER-3\n",
        "  lifecycle: generally available\n",
        "  lifecycle: Pre-Alpha\n",
        "  owner: night shift\n",
        "  owner: Night-Shift\n",
        "  owner: BOOKKEEPERS\n",
        "  system: goods-in\n",
        "  type: Database\n",
    ] {
        taken(&app, "opslevel.yml", &file(rest)).await;
    }
    for (rest, why) in [
        ("  owner: nobody\n", "no team has the alias \"nobody\""),
        ("  tier: tier_9\n", "no tier has the alias"),
        ("  lifecycle: maintenance\n", "no lifecycle has the alias"),
        ("  system: none\n", "no system has the alias"),
        ("  type: robot\n", "no component type has the alias"),
        ("  properties: { none: 1 }\n", "no property definition has the alias"),
        ("  properties: { size: large }\n", "integer"),
        ("  dependencies: [{ alias: none }]\n", "no service has the alias"),
    ] {
        let (lines, notes) = applied(&app, "opslevel.yml", &file(rest)).await;
        assert!(lines[0].ends_with(" service flights"), "{rest}: {lines:?}");
        assert!(notes.len() == 1 && notes[0].contains(why), "{rest}: {notes:?}");
    }
    // Two that are alike are ambiguous, and what is exactly an alias is not.
    let two = r#"mutation { a: teamCreate(input: { name: "Day-Shift" }) { errors { message } } b: teamCreate(input: { name: "day shift" }) { errors { message } } }"#;
    data(&app, two).await;
    let (_, notes) = applied(&app, "opslevel.yml", &file("  owner: DAY.SHIFT\n")).await;
    assert!(notes.len() == 1 && notes[0].contains("ambiguous"), "{notes:?}");
    taken(&app, "opslevel.yml", &file("  owner: Day-Shift\n")).await;
}

#[tokio::test]
async fn entities_that_contradict_themselves_or_others_fail_alone() {
    let app = catalogue().await;
    let good = entity("Component", "name: good", "owner: couriers");
    let long = "x".repeat(5_001);
    let tags = (0..1_100).map(|number| format!("t{number}")).collect::<Vec<_>>().join(", ");
    for (bad, least) in [
        (entity("Component", "name: good, description: other", "owner: bookkeepers"), 1),
        (entity("Group", "name: a", "parent: b") + &entity("Group", "name: b", "parent: a"), 1),
        (entity("Group", "name: c", "children: [c]"), 1),
        (
            entity("Group", "name: d", "children: [e]")
                + &entity("Group", "name: f", "children: [e]")
                + &entity("Group", "name: e", ""),
            1,
        ),
        (entity("Group", "name: g, title: Same", "") + &entity("Group", "name: h, title: Same", ""), 1),
        (entity("Component", &format!("name: long, description: {long}"), ""), 1),
        (entity("Component", &format!("name: long, title: {long}"), ""), 1),
        (entity("Component", &format!("name: many, tags: [{tags}]"), ""), 1),
        (
            entity(
                "Component",
                "name: self",
                "dependsOn: [\"component:self\", \"component:good\", \"component:GOOD\"]",
            ),
            1,
        ),
        (entity("Component", "title: nameless", ""), 1),
        (entity("Component", "name: ", ""), 1),
        (entity("Component", "name: [a]", ""), 1),
        (entity("Component", "name: a/b", ""), 1),
        (entity("Component", "name: '???'", ""), 1),
        (entity("Component", &format!("name: {}", "n".repeat(300)), ""), 1),
        (entity("Component", "name: a, namespace: [x]", ""), 1),
        ("---\napiVersion: backstage.io/v1alpha1\nkind: [Component]\n".to_owned(), 1),
        ("---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: x\nspec: y\n".to_owned(), 1),
        ("---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n\tname: x\n".to_owned(), 0),
        ("---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: *none\n".to_owned(), 1),
    ] {
        let after = entity("Component", "name: after", "owner: bookkeepers");
        let text = format!("{good}{bad}{after}");
        let (lines, notes) = applied(&app, "catalog-info.yaml", &text).await;
        for name in ["good", "after"] {
            assert!(lines.iter().any(|line| line.ends_with(&format!(" service {name}"))), "{text}: {lines:?}");
        }
        assert!(notes.len() >= least, "{text}: {notes:?}");
        assert!(owner(&app, "good").await.contains(&"couriers".to_owned()), "{text}");
    }
    // The parent that comes first is taken.
    let team = data(
        &app,
        r#"{ account { a: team(alias: "a") { parentTeam { name } } b: team(alias: "b") { parentTeam { name } } } }"#,
    )
    .await;
    assert_eq!(team["account"], json!({ "a": { "parentTeam": { "name": "b" } }, "b": { "parentTeam": null } }));
}

#[tokio::test]
async fn forms_that_other_parsers_take_are_taken() {
    let app = catalogue().await;
    let head = "apiVersion: backstage.io/v1alpha1\nkind: Component\n";
    let one = format!("{head}metadata:\n  name: one\nspec:\n  owner: couriers\n");
    let many = [
        format!("---\n{one}---\n"),
        format!("---\n---\n\n# nothing\n---\n{one}---\n---\n"),
        format!("\u{feff}{one}"),
        format!("\u{feff}---\n{one}").replace('\n', "\r\n"),
        format!("{one}...\n"),
        one.replace("owner: couriers", "owner: \"couriers\"\t# a tab"),
        format!(
            "{head}metadata: {{ name: one, tags: , labels: , annotations: , links: , description: , title: , namespace: }}\nspec: {{ owner: couriers }}\n"
        ),
        format!(
            "{head}metadata: {{ name: one, namespace: \"\" }}\nspec: {{ owner: couriers, dependsOn: , providesApis: }}\n"
        ),
        format!(
            "{head}metadata:\n  name: one\n  links:\n    - url: https://one.example.com\n    - https://two.example.com\nspec:\n  owner: couriers\n"
        ),
        format!(
            "{head}metadata:\n  name: one\n  links: {{ url: \"https://one.example.com\" }}\n  tags: java\nspec:\n  owner: couriers\n"
        ),
        format!(
            "{head}metadata:\n  name: one\n  annotations: {{ a.b/on: true, a.b/number: 7, a.b/float: 1.5 }}\n  labels: {{ tier: 1 }}\nspec: {{ owner: couriers }}\n"
        ),
        format!(
            "{head}metadata: &meta\n  name: one\n  labels: &labels {{ a: b }}\n  annotations: {{ <<: *labels, c: d }}\nspec: {{ owner: couriers }}\n"
        ),
        format!(
            "{head}metadata: {{ name: one }}\nspec: {{ owner: {{ kind: Group, name: couriers }}, dependsOn: component:two }}\n---\n{head}metadata: {{ name: two }}\nspec:\n"
        ),
        format!("{head}metadata: {{ name: one, title: 42, description: 7 }}\nspec: {{ owner: couriers }}\n"),
    ];
    for text in many {
        let lines = taken(&app, "catalog-info.yaml", &text).await;
        assert!(!lines.is_empty(), "{text}");
        assert!(owner(&app, "one").await.contains(&"couriers".to_owned()), "{text}");
    }
    let (_, notes) = applied(
        &app,
        "catalog-info.yaml",
        &format!("{head}metadata: {{ name: one, tags: [Java, c++, UPPER_case] }}\nspec: null\n"),
    )
    .await;
    assert_eq!(notes.len(), 3, "{notes:?}");
    let (lines, notes) = applied(&app, "catalog-info.yaml", "# nothing\n").await;
    assert_eq!((lines.len(), notes.len()), (0, 1));
}

#[test]
fn a_document_that_fails_among_many_is_reported_by_the_exit_status() {
    let place = Place::with_database();
    let mut text: String = (0..300).map(|number| entity("Component", &format!("name: s{number}"), "")).collect();
    text += &entity("Component", "title: nameless", "");
    text += &entity("Component", "name: last", "");
    place.write("catalog-info.yaml", &text);
    let done = place.run(&["apply", "catalog-info.yaml"]);
    assert_eq!((done.status, done.out.lines().count()), (4, 301), "{}", done.err);
    let expected = "catalog-info.yaml:1502:1: the entity of kind Component is not taken: it has no metadata.name\n\
        1 document was not applied; the rest was\n";
    assert_eq!(done.err, expected);
    // A file of our own is all or nothing, also beside another catalogue's.
    place.write("rollcall.yml", "version: 1\nservice: { name: own, owner: nobody }\n");
    let done = place.run(&["apply", "catalog-info.yaml", "rollcall.yml"]);
    assert_eq!((done.status, &*done.out), (1, ""));
    assert_eq!(done.err, "rollcall.yml:2:30: no team has the alias \"nobody\"\n");
    // What is skipped has not failed.
    place.write("catalog-info.yaml", entity("Component", "name: \"{{ name }}\"", "") + &entity("Robot", "name: x", ""));
    let done = place.run(&["apply", "catalog-info.yaml"]);
    assert_eq!((done.status, &*done.out, done.err.lines().count()), (0, "", 2), "{}", done.err);
}

#[test]
fn the_report_obeys_no_terminal() {
    let place = Place::with_database();
    place.write("rollcall.yml", "version: 1\nrepository: { name: \"a\\e[31mb\\ncreated service forged\" }\n");
    place.write("opslevel.yml", "version: 1\nservice: { name: x, owner: \"\\e]0;title\\a\", \"a\\nb\": 1 }\n");
    for arguments in [&["apply", "--dry-run"][..], &["apply"], &["apply"]] {
        for file in ["rollcall.yml", "opslevel.yml"] {
            let done = place.run(&[arguments, &[file]].concat());
            let said = done.out + &done.err;
            assert!(
                !said.is_empty() && !said.lines().any(|line| line.starts_with("created service forged")),
                "{said:?}"
            );
            assert!(!said.replace('\n', "").contains(char::is_control), "{said:?}");
        }
    }
}

#[tokio::test]
async fn which_form_a_file_has_is_said_by_its_name_or_by_what_it_has() {
    let app = catalogue().await;
    let unknown = "version: 1\nservice:\n  name: x\n  owner: nobody\n";
    for (path, text, is_lenient) in [
        ("opslevel.yml", unknown.to_owned(), true),
        ("a/b/OpsLevel.yaml", unknown.to_owned(), true),
        ("rollcall.yml", unknown.to_owned(), false),
        ("rollcall.yml", format!("---\n{unknown}"), false),
        ("x.yml", unknown.to_owned(), false),
        ("x.yml", format!("# as generated\n---\n{unknown}"), true),
        ("x.yml", format!("{unknown}  alert_sources:\n"), true),
        ("x.yml", format!("{unknown}  repositories: [{{ name: a/b, provider: github }}]\n"), true),
        ("x.yml", format!("---\n{unknown}  tags: {{ a: b }}\n"), false),
        ("x.yml", format!("---\n{unknown}  contacts: []\n"), false),
        ("x.yml", format!("---\n{unknown}---\nversion: 1\nteam: {{ name: X }}\n"), false),
        ("x.yml", format!("{unknown}  tags: [{{ key: a, value: b }}]\n"), false),
    ] {
        let done = done_of(&app, &[(path, &text)]).await;
        assert_eq!(done.is_ok(), is_lenient, "{path}: {text}");
    }
}

#[tokio::test]
async fn real_looking_files_apply_with_notes_and_twice_without_a_change() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/files/wild");
    let mut numbers = [0; 2];
    for (place, name) in ["catalog-info.yaml", "opslevel.yml"].into_iter().enumerate() {
        let shapes = fs::read_to_string(folder.join(name)).expect("a file");
        // One catalogue for each, and all of them in one.
        let all = catalogue().await;
        for shape in shapes.split("\n# ---- ").skip(1) {
            let (title, text) = shape.split_once('\n').expect("a title");
            let app = catalogue().await;
            for app in [&app, &all] {
                let (lines, notes) = applied(app, name, text).await;
                assert!(!lines.is_empty() || !notes.is_empty(), "{title}");
                assert!(!notes.iter().any(|note| note.contains("cannot be read")), "{title}: {notes:?}");
            }
            numbers[place] += 1;
        }
    }
    assert!(numbers[0] >= 40 && numbers[1] >= 20, "{numbers:?}");
}
