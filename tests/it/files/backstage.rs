//! Backstage's `catalog-info.yaml`, in the forms that public projects use: every value is used, or a note says that it is
//! not.

use std::fs;
use std::path::{Path, PathBuf};

use rollcall::service_file::{Done, Note};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::service_file::{apply_text, done_of};

/// A catalogue with the words that the files use, and a user.
async fn catalogue() -> TestApp {
    let app = TestApp::start().await;
    let query = r#"mutation {
        production: lifecycleCreate(input: { name: "Production", alias: "production" }) { errors { message } }
        experimental: lifecycleCreate(input: { name: "Experimental", alias: "experimental" }) { errors { message } }
        deprecated: lifecycleCreate(input: { name: "Deprecated", alias: "deprecated" }) { errors { message } }
        ada: userInvite(email: "ada@example.com", input: {}) { errors { message } }
    }"#;
    data(&app, query).await;
    app
}

/// Everything that files can write.
async fn everything(app: &TestApp) -> Value {
    let query = r#"{ account {
        services { nodes {
            name aliases description owner { aliases } lifecycle { alias } type { aliases } parent { aliases }
            tags { nodes { key value } } repositories { nodes { name url } } tools { nodes { displayName url category } }
            dependencies { nodes { aliases } }
        } }
        teams { nodes {
            name aliases responsibilities parentTeam { aliases } contacts { type address displayName }
            members { nodes { email } } tags { nodes { key value } }
        } }
        systems { nodes { name aliases description owner { aliases } parent { aliases } tags { nodes { key value } } } }
        domains { nodes { name aliases description owner { aliases } tags { nodes { key value } } } }
    } }"#;
    data(app, query).await
}

fn shapes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/files/catalog_info");
    let mut shapes: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    shapes.sort();
    shapes
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a note covers a line: it is about the line, a value that contains it, or the whole document.
fn is_noted(lines: &[&str], line: usize, notes: &[Note]) -> bool {
    notes.iter().any(|note| {
        let noted = usize::try_from(note.line).expect("a line") - 1;
        let is_document = noted == 0 || lines[noted - 1] == "---";
        let is_in_document = is_document && !lines[noted..=line.max(noted)].contains(&"---");
        let is_below = |line: &usize| {
            let (own, above) = (indent(lines[*line]), indent(lines[noted]));
            own > above || own == above && lines[*line].trim_start().starts_with("- ") && !lines[noted].contains("- ")
        };
        noted <= line && (noted == line || is_in_document || (noted + 1..=line).all(|line| is_below(&line)))
    })
}

/// The values of a line, without the kind and the namespace of references.
fn values(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches("- ");
    let value = line.split_once(": ").map_or(line, |(_, value)| value).trim();
    let value = value.trim_matches(['[', ']']);
    value
        .split(", ")
        .map(|value| {
            let value = value.trim_matches(['"', '\'']);
            let value = value.strip_prefix("&words ").unwrap_or(value);
            let kinds = ["component:", "Component:", "group:", "user:", "url:"];
            let value = kinds.iter().find_map(|kind| value.strip_prefix(kind)).unwrap_or(value);
            value.strip_prefix("default/").unwrap_or(value).to_owned()
        })
        .filter(|value| {
            !value.is_empty() && !value.ends_with(':') && !["|", ">-", "{}", "[]", "&meta"].contains(&&**value)
        })
        .collect()
}

#[tokio::test]
async fn every_value_of_a_catalog_info_file_is_used_or_noted() {
    let shapes = shapes();
    assert!(shapes.len() >= 30, "{}", shapes.len());
    for path in shapes {
        let app = catalogue().await;
        let text = fs::read_to_string(&path).expect("a file");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let Done { left_out, .. } =
            done_of(&app, &[("catalog-info.yaml", &text)]).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        // A flow collection on one line is noted or used as a whole.
        let stored = everything(&app).await.to_string().replace("\\\"", "\"");
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let key = line.trim().trim_start_matches("- ").split(':').next().unwrap_or_default();
            if ["apiVersion", "kind", "---", "type", "targetRef"].contains(&key) && indent(line) == 0
                || line.starts_with('{')
            {
                continue;
            }
            // Backstage writes these itself.
            if lines[..=number].iter().any(|line| line.starts_with("relations:")) {
                continue;
            }
            for value in values(line) {
                let is_taken = stored.contains(&value);
                assert!(
                    is_taken || is_noted(&lines, number, &left_out),
                    "{name}:{}: {value:?} is neither taken nor noted\n{stored}\n{left_out:#?}",
                    number + 1
                );
            }
        }
        let again = done_of(&app, &[("catalog-info.yaml", &text)]).await.expect("it applies again");
        assert_eq!(again.left_out, left_out, "{name}");
        let changed: Vec<_> = again.documents.iter().filter(|one| !one.changes.is_empty()).collect();
        assert!(changed.is_empty(), "{name}: {changed:?}");
    }
}

#[tokio::test]
async fn a_component_becomes_a_service_with_all_its_values() {
    let app = catalogue().await;
    let text = r#"apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: planner
  title: The Planner
  description: Plans
  tags: [java]
  labels: { region: north }
  annotations:
    github.com/project-slug: harbour/planner
    pagerduty.com/service-id: PABC
    pagerduty.com/integration-key: geheim
  links:
    - { url: "https://wiki.example.com/planner", title: At night, type: runbook }
    - { url: "https://planner.example.com", icon: web }
spec:
  type: library
  lifecycle: production
  owner: group:default/planning
  system: terminal
  dependsOn: ["component:default/tides", "resource:default/db", "component:moon"]
  providesApis: [planner-api]
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: { name: tides }
spec: { type: service, lifecycle: production, owner: planning }
---
apiVersion: backstage.io/v1alpha1
kind: System
metadata: { name: terminal }
spec: { owner: planning, domain: logistics }
---
apiVersion: backstage.io/v1alpha1
kind: Domain
metadata: { name: logistics }
spec: { owner: planning }
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: { name: planning, description: Plan it }
spec: { type: team, profile: { displayName: Planning, email: plan@example.com }, children: [moon-team], members: [ada] }
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: { name: moon-team }
spec: { type: team, children: [] }
---
apiVersion: backstage.io/v1alpha1
kind: User
metadata: { name: ada }
spec: { profile: { email: ada@example.com }, memberOf: [moon-team] }
"#;
    let done = done_of(&app, &[("catalog-info.yaml", text)]).await.expect("it applies");
    let notes: Vec<String> = done.left_out.iter().map(ToString::to_string).collect();
    let expected = [
        "catalog-info.yaml:12:5: pagerduty.com/integration-key is not taken: it is a secret; keep it out of files",
        "catalog-info.yaml:15:51: \"web\" is not taken: it is not a category",
        "catalog-info.yaml:21:42: \"resource:default/db\" is not taken: it is not a component",
        "catalog-info.yaml:21:65: the dependency is not taken: no service has the alias \"moon\"",
        "catalog-info.yaml:22:18: the API \"planner-api\" is not taken: no file of this run describes it",
        "catalog-info.yaml:42:9: spec.type is not taken: the catalogue has no field for it",
        "catalog-info.yaml:47:9: spec.type is not taken: the catalogue has no field for it",
    ];
    assert_eq!(notes, expected);
    let query = r#"{ account {
        service(alias: "planner") {
            name aliases description owner { name } lifecycle { alias } type { name } parent { name parent { name owner { name } } }
            tags { nodes { key value } } repositories { nodes { name url defaultAlias } }
            tools { nodes { displayName category } } dependencies { nodes { name } } locked
        }
        team(alias: "planning") { name responsibilities contacts { type address } members { nodes { email } } }
        moon: team(alias: "moon-team") { parentTeam { name } members { nodes { email } } }
    } }"#;
    let expected = json!({
        "service": {
            "name": "The Planner", "aliases": ["the_planner", "The Planner", "component:default/planner", "planner"], "description": "Plans",
            "owner": { "name": "Planning" }, "lifecycle": { "alias": "production" }, "type": { "name": "Library" },
            "parent": { "name": "terminal", "parent": { "name": "logistics", "owner": { "name": "Planning" } } },
            "tags": { "nodes": [
                { "key": "github.com/project-slug", "value": "harbour/planner" }, { "key": "java", "value": "" },
                { "key": "pagerduty.com/service-id", "value": "PABC" }, { "key": "region", "value": "north" },
            ] },
            "repositories": { "nodes": [{
                "name": "harbour/planner", "url": "https://github.com/harbour/planner",
                "defaultAlias": "github.com:harbour/planner",
            }] },
            "tools": { "nodes": [
                { "displayName": "At night", "category": "runbooks" },
                { "displayName": "https://planner.example.com", "category": "other" },
            ] },
            "dependencies": { "nodes": [{ "name": "tides" }] }, "locked": true,
        },
        "team": {
            "name": "Planning", "responsibilities": "Plan it",
            "contacts": [{ "type": "email", "address": "plan@example.com" }],
            "members": { "nodes": [{ "email": "ada@example.com" }] },
        },
        "moon": { "parentTeam": { "name": "Planning" }, "members": { "nodes": [{ "email": "ada@example.com" }] } },
    });
    assert_eq!(data(&app, query).await["account"], expected);
    assert!(!everything(&app).await.to_string().contains("geheim"), "a secret is not stored");
    let again = crate::harness::service_file::apply(&app, &[("catalog-info.yaml", text)]).await.expect("it applies");
    assert!(again.len() == 6 && again.iter().all(|line| line.starts_with("unchanged ")), "{again:?}");
}

#[tokio::test]
async fn a_component_keeps_its_service_when_its_title_changes() {
    let app = catalogue().await;
    let file = |title: &str| {
        format!("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {{ name: gate, title: {title} }}\n")
    };
    assert_eq!(apply_text(&app, &file("Gate")).await, ["created service gate"]);
    assert_eq!(apply_text(&app, &file("Door")).await, ["updated service door"]);
    let services = data(&app, "{ account { services { nodes { name } } } }").await;
    assert_eq!(services["account"]["services"]["nodes"], json!([{ "name": "Door" }]));
}

#[tokio::test]
async fn an_entity_without_a_name_fails_and_a_document_that_is_no_entity_is_skipped() {
    let app = catalogue().await;
    for (text, expected, is_failure) in [
        (
            "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { title: x }\n",
            "f.yml:1:1: the entity of kind Component is not taken: it has no metadata.name",
            true,
        ),
        (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: geheim }\n",
            "f.yml:1:1: the document of kind \"Deployment\" is not taken: the catalogue knows none of \"apps/v1\"",
            false,
        ),
    ] {
        let done = done_of(&app, &[("f.yml", text)]).await.expect("it applies");
        let notes: Vec<_> = done.left_out.iter().map(|note| (note.to_string(), note.is_failure)).collect();
        assert_eq!((done.documents.len(), notes), (0, vec![(expected.to_owned(), is_failure)]));
    }
}

#[tokio::test]
async fn a_component_gets_the_url_of_the_api_that_it_provides() {
    let app = catalogue().await;
    let api = |name: &str, definition: &str| {
        format!(
            "---\napiVersion: backstage.io/v1alpha1\nkind: API\nmetadata: {{ name: {name} }}\n\
             spec:\n  type: openapi\n  owner: planning\n  definition: {definition}\n"
        )
    };
    let component = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: gate }\n\
                     spec:\n  providesApis: [none, near, default/gate-api, more]\n";
    let text = [
        component.to_owned(),
        api("near", "{ $text: ./openapi.yaml }"),
        api("gate-api", "{ $text: \"https://docs.example.com/gate.yml\" }"),
        api("more", "{ $text: \"https://docs.example.com/more.yml\" }"),
        api("written", "'openapi: 3.1.0'"),
        api("plain", "{ $text: \"http://docs.example.com/gate.yml\" }"),
    ]
    .concat();
    let done = done_of(&app, &[("catalog-info.yaml", &*text)]).await.expect("it applies");
    let notes: Vec<String> = done.left_out.iter().map(ToString::to_string).collect();
    let expected = [
        "catalog-info.yaml:5:18: the API \"none\" is not taken: no file of this run describes it",
        "catalog-info.yaml:5:24: the API \"near\" is not taken: its definition is no $text with an https URL",
        "catalog-info.yaml:5:48: the API \"more\" is not taken: a service has one API document that is pulled",
        "catalog-info.yaml:7:1: the API \"near\" is not taken: its definition is no $text with an https URL",
        "catalog-info.yaml:15:1: of the API \"gate-api\", only the URL of its definition is taken",
        "catalog-info.yaml:23:1: of the API \"more\", only the URL of its definition is taken",
        "catalog-info.yaml:31:1: the API \"written\" is not taken: its definition is no $text with an https URL",
        "catalog-info.yaml:39:1: the API \"plain\" is not taken: its definition is no $text with an https URL",
        "catalog-info.yaml:45:24: apiDocumentUrl must begin with https://; http:// is only for this machine",
    ];
    assert_eq!(notes, expected);
    let service = data(&app, "{ account { service(alias: \"gate\") { apiDocumentUrl } } }").await;
    assert_eq!(service["account"]["service"]["apiDocumentUrl"], "https://docs.example.com/gate.yml");
}
