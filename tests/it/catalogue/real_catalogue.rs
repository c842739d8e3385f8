//! Imports a real catalogue through the API and reads it back, in pages, unchanged.
//!
//! The catalogue is the GOV.UK programme's list of its applications (`data/repos.yml` of
//! alphagov/govuk-developer-docs). It is not part of this project: `ROLLCALL_TEST_CATALOGUE` names the file. Without
//! it, the test is skipped with a message.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::app::TestApp;

/// A repository of the list. If a repository occurs more than once, the last entry counts.
#[derive(Deserialize)]
struct Entry {
    repo_name: String,
    team: String,
    #[serde(rename = "type")]
    kind: String,
    description: Option<String>,
    production_hosted_on: Option<String>,
    #[serde(default)]
    private_repo: bool,
    #[serde(default)]
    argo_cd_apps: Vec<String>,
}

/// The expected service.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    description: Option<String>,
    owner: String,
    tier: Option<&'static str>,
    tags: BTreeMap<String, String>,
    repository: (String, bool),
    aliases: BTreeSet<String>,
}

impl Entry {
    /// What runs in production matters to customers.
    fn tier(&self) -> Option<&'static str> {
        self.production_hosted_on.as_ref().map(|_| "tier_2")
    }

    fn tags(&self) -> BTreeMap<String, String> {
        let mut tags = BTreeMap::from([("type".to_owned(), self.kind.clone())]);
        if let Some(host) = &self.production_hosted_on {
            tags.insert("hosted_on".to_owned(), host.clone());
        }
        tags
    }

    fn url(&self) -> String {
        format!("https://github.com/alphagov/{}", self.repo_name)
    }
}

fn catalogue() -> Option<Vec<Entry>> {
    let Ok(path) = std::env::var("ROLLCALL_TEST_CATALOGUE") else {
        crate::harness::say_aloud("left out: the real catalogue; ROLLCALL_TEST_CATALOGUE names its file");
        return None;
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let entries: Vec<Entry> = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut by_name = BTreeMap::new();
    for entry in entries {
        by_name.insert(entry.repo_name.clone(), entry);
    }
    Some(by_name.into_values().collect())
}

/// Runs a mutation, which must succeed, and returns its payload.
async fn change(app: &TestApp, mutation: &str, input: Value) -> Value {
    let name = mutation.split(['(', ' ', '{']).find(|word| !word.is_empty()).expect("a mutation").to_owned();
    let kind = format!("{}{}Input", name[..1].to_uppercase(), &name[1..]);
    let query =
        format!("mutation($input: {kind}!) {{ {} }}", mutation.replacen(&name, &format!("{name}(input: $input)"), 1));
    let answer = app.query(&query, json!({ "input": input })).await;
    let payload = answer["data"][&name].clone();
    assert_eq!(payload["errors"], json!([]), "{answer}");
    payload
}

#[tokio::test]
async fn a_real_catalogue_is_read_back_unchanged() {
    let Some(entries) = catalogue() else { return };
    // More requests than a token's rate limit.
    let app = TestApp::with(&["--token-limit", "0"]).await;
    let teams: BTreeSet<_> = entries.iter().map(|entry| entry.team.as_str()).collect();
    let mut team_aliases = BTreeMap::new();
    for name in teams {
        let payload =
            change(&app, "teamCreate { team { alias } errors { message path } }", json!({ "name": name })).await;
        team_aliases.insert(name, payload["team"]["alias"].as_str().expect("an alias").to_owned());
    }
    for entry in &entries {
        let payload = change(
            &app,
            "serviceCreate { service { id } errors { message path } }",
            json!({
                "name": entry.repo_name,
                "description": entry.description,
                "tierAlias": entry.tier(),
                "ownerInput": { "alias": team_aliases[entry.team.as_str()] },
            }),
        )
        .await;
        let service = payload["service"]["id"].clone();
        let tags: Vec<_> = entry.tags().into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
        let assign = json!({ "alias": entry.repo_name, "tags": tags });
        change(&app, "tagAssign { tags { id } errors { message path } }", assign).await;
        let repository = json!({
            "name": format!("alphagov/{}", entry.repo_name), "url": entry.url(), "private": entry.private_repo,
            "defaultBranch": "main",
        });
        let payload = change(&app, "repositoryCreate { repository { id } errors { message path } }", repository).await;
        let link = json!({ "service": { "id": service }, "repository": { "id": payload["repository"]["id"] } });
        change(&app, "serviceRepositoryCreate { errors { message path } }", link).await;
        for alias in &entry.argo_cd_apps {
            // An application often has the name of its repository, which is already an alias.
            if *alias != entry.repo_name {
                let alias = json!({ "ownerId": service, "alias": format!("argo:{alias}") });
                change(&app, "aliasCreate { aliases errors { message path } }", alias).await;
            }
        }
    }

    let expected: BTreeMap<String, Expected> = entries
        .iter()
        .map(|entry| {
            let apps = entry.argo_cd_apps.iter().filter(|alias| **alias != entry.repo_name);
            let managed = apps.map(|alias| format!("argo:{alias}"));
            let expected = Expected {
                description: entry.description.clone(),
                owner: entry.team.clone(),
                tier: entry.tier(),
                tags: entry.tags(),
                repository: (format!("github.com:alphagov/{}", entry.repo_name), entry.private_repo),
                aliases: managed.collect(),
            };
            (entry.repo_name.clone(), expected)
        })
        .collect();
    assert_eq!(read_back(&app).await, expected);
}

/// Every service, in pages of 50.
async fn read_back(app: &TestApp) -> BTreeMap<String, Expected> {
    let query = "query($after: String) { account { services(first: 50, after: $after) {
        nodes {
            name description owner { name } tier { alias } managedAliases
            tags { nodes { key value } } repositories { nodes { defaultAlias private } totalCount }
        }
        pageInfo { hasNextPage endCursor }
        totalCount
    } } }";
    let (mut services, mut after) = (BTreeMap::new(), Value::Null);
    loop {
        let answer = app.query(query, json!({ "after": after })).await;
        let page = &answer["data"]["account"]["services"];
        for node in page["nodes"].as_array().expect("nodes") {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let tags = node["tags"]["nodes"].as_array().expect("tags").iter();
            let tags = tags.map(|tag| (text(&tag["key"]).expect("a key"), text(&tag["value"]).expect("a value")));
            let repository = &node["repositories"]["nodes"][0];
            assert_eq!(node["repositories"]["totalCount"], json!(1));
            let service = Expected {
                description: text(&node["description"]),
                owner: text(&node["owner"]["name"]).expect("an owner"),
                tier: node["tier"]["alias"].as_str().map(|alias| if alias == "tier_2" { "tier_2" } else { "another" }),
                tags: tags.collect(),
                repository: (
                    text(&repository["defaultAlias"]).expect("an alias"),
                    repository["private"].as_bool().expect("a boolean"),
                ),
                aliases: node["managedAliases"].as_array().expect("aliases").iter().filter_map(text).collect(),
            };
            let twice = services.insert(text(&node["name"]).expect("a name"), service);
            assert!(twice.is_none(), "a service stands on two pages");
        }
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            assert_eq!(page["totalCount"], json!(services.len()));
            return services;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}
