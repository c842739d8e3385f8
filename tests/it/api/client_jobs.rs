//! The jobs that clients do, each as a reconciler does it: create an object with all its fields, read it again, plan
//! without a difference, change it, clear its fields with explicit nulls, and delete it. Documents are minified, with
//! variables in order of their names.

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::tour::{object, schema};

/// A client with an account of its own.
struct Client {
    app: TestApp,
    schema: Valid<Schema>,
}

/// How a client finds an object again.
enum Read {
    /// By a field of the account.
    Root(&'static str),
    /// In a list of its parent, with the parent's id: `field{list{nodes{` leads to it.
    In(&'static str, Value),
}

/// What a client does with a kind of object.
struct Job {
    create: &'static str,
    update: &'static str,
    delete: &'static str,
    /// The payload's field with the object.
    payload: &'static str,
    /// The argument of an update that names the object. `input` means the input's `id`.
    target: &'static str,
    /// The argument of a deletion that names the object.
    gone: &'static str,
    read: Read,
    /// What the client selects of the object.
    selection: &'static str,
}

impl Client {
    async fn start() -> Self {
        Self { app: TestApp::start().await, schema: schema() }
    }

    /// Sends a mutation and returns its payload.
    async fn send(&self, mutation: &str, arguments: Value, payload: &str) -> Value {
        let field = &object(&self.schema, "Mutation").fields[mutation];
        let mut given: Vec<&String> = arguments.as_object().expect("arguments").keys().collect();
        given.sort();
        let declared = given.iter().map(|name| {
            let argument = field.arguments.iter().find(|argument| argument.name == name.as_str());
            format!("${name}:{}", argument.unwrap_or_else(|| panic!("{mutation} takes no {name}")).ty)
        });
        let declared: String = declared.collect();
        let passed: Vec<String> = given.iter().map(|name| format!("{name}: ${name}")).collect();
        let comma = if payload.is_empty() { "" } else { "," };
        let document = format!(
            "mutation M({declared}){{{mutation}({}){{{payload}{comma}errors{{message,path}}}}}}",
            passed.join(", ")
        );
        let answer = self.app.query(&document, arguments.clone()).await;
        assert_eq!(answer.get("errors"), None, "{document}\n{arguments}");
        answer["data"][mutation].clone()
    }

    /// Sends a mutation that must succeed, and returns the payload's field.
    async fn make(&self, mutation: &str, arguments: Value, field: &str, selection: &str) -> Value {
        let payload = self.send(mutation, arguments.clone(), &format!("{field}{{{selection}}}")).await;
        assert_eq!(payload["errors"], json!([]), "{mutation} {arguments}");
        payload[field].clone()
    }

    /// Sends a mutation that must succeed.
    async fn act(&self, mutation: &str, arguments: Value) {
        let payload = self.send(mutation, arguments.clone(), "").await;
        assert_eq!(payload["errors"], json!([]), "{mutation} {arguments}");
    }

    /// Reads a field of the account, which may take the variable `id`.
    async fn account(&self, field: &str, id: &Value, selection: &str) -> Value {
        let declared = if field.contains("$id") { "($id:ID!)" } else { "" };
        let open = field.matches('{').count() - field.matches(": {").count();
        let document = format!("query Q{declared}{{account{{{field}{{{selection}}}{}}}}}", "}".repeat(open));
        let answer = self.app.query(&document, json!({ "id": id })).await;
        if let Some(errors) = answer.get("errors") {
            // Only what is not there, and with the path that clients look at.
            let name = field.split(['(', '{']).next().expect("a name");
            assert_eq!(errors[0]["path"], json!(["account", name]), "{document}\n{errors}");
        }
        answer["data"]["account"].clone()
    }

    /// Reads the object again; null if it is gone.
    async fn read(&self, job: &Job, id: &Value) -> Value {
        match &job.read {
            Read::Root(field) => {
                let account = self.account(field, id, job.selection).await;
                account.as_object().expect("an account").values().next().expect("a field").clone()
            }
            Read::In(field, parent) => {
                let account = self.account(field, parent, job.selection).await;
                let mut list = &account;
                while let Some(object) = list.as_object() {
                    list = object.values().next().expect("a field");
                }
                let found = list.as_array().expect("a list").iter().find(|one| one["id"] == *id);
                found.cloned().unwrap_or(Value::Null)
            }
        }
    }

    /// Creates an object, reads it, changes it twice in the same way, clears it and returns it. Each input comes with what
    /// the object must then have.
    async fn reconcile(&self, job: &Job, [created, changed, cleared]: [(Value, Value); 3]) -> Value {
        let made = self.make(job.create, json!({ "input": created.0 }), job.payload, job.selection).await;
        holds(&made, &created.1, job.create);
        let id = made["id"].clone();
        assert_eq!(self.read(job, &id).await, made, "{}", job.create);
        for (input, expected) in [&changed, &changed, &cleared, &cleared] {
            let mut arguments = json!({ "input": input });
            if job.target == "input" {
                arguments["input"]["id"] = id.clone();
            } else {
                arguments[job.target] = json!({ "id": id });
            }
            let made = self.make(job.update, arguments, job.payload, job.selection).await;
            holds(&made, expected, job.update);
            // The plan after it has no difference.
            assert_eq!(self.read(job, &id).await, made, "{}", job.update);
        }
        id
    }

    /// Deletes an object. It is gone afterwards, and a second deletion is refused.
    async fn delete(&self, job: &Job, id: &Value) {
        let arguments = json!({ (job.gone): { "id": id } });
        self.act(job.delete, arguments.clone()).await;
        assert_eq!(self.read(job, id).await, Value::Null, "{}", job.delete);
        let again = self.send(job.delete, arguments, "").await;
        assert!(again["errors"][0]["message"].is_string(), "{}: {again}", job.delete);
    }

    async fn team(&self, name: &str) -> Value {
        self.make("teamCreate", json!({ "input": { "name": name } }), "team", "id").await["id"].clone()
    }

    async fn service(&self, name: &str) -> Value {
        self.make("serviceCreate", json!({ "input": { "name": name } }), "service", "id").await["id"].clone()
    }
}

/// Checks that an object has these fields, with these values.
fn holds(object: &Value, expected: &Value, what: &str) {
    match expected {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| holds(&object[name], value, &format!("{what}.{name}")));
        }
        value => assert_eq!(object, value, "{what}"),
    }
}

const SERVICE: Job = Job {
    create: "serviceCreate",
    update: "serviceUpdate",
    delete: "serviceDelete",
    payload: "service",
    target: "input",
    gone: "input",
    read: Read::Root("service(id: $id)"),
    selection: "id,name,aliases,managedAliases,description,framework,language,product,note,lifecycle{alias},tier{alias},owner{alias,id},parent{id,aliases},type{id,aliases},apiDocumentPath,preferredApiDocumentSource,tags{nodes{key,value}},locked",
};

#[tokio::test]
async fn services_are_reconciled() {
    let client = Client::start().await;
    let (core, edge) = (client.team("Core").await, client.team("Edge").await);
    let till = client.make("systemCreate", json!({ "input": { "name": "Till" } }), "system", "id").await["id"].clone();
    let full = json!({
        "name": "Cart", "description": "Sells", "framework": "axum", "language": "Rust", "lifecycleAlias": "beta",
        "ownerInput": { "id": core }, "parent": { "id": till }, "product": "Shop", "skipAliasesValidation": false,
        "tierAlias": "tier_1", "type": { "alias": "library" },
    });
    let shown = json!({
        "name": "Cart", "description": "Sells", "framework": "axum", "language": "Rust", "lifecycle": { "alias": "beta" },
        "owner": { "alias": "core" }, "parent": { "id": till }, "product": "Shop", "tier": { "alias": "tier_1" },
        "type": { "aliases": ["library"] }, "managedAliases": [], "locked": false,
    });
    let changed =
        json!({ "name": "Carts", "description": "Sells more", "ownerInput": { "id": edge }, "tierAlias": "tier_2" });
    let shown_then = json!({
        "name": "Carts", "description": "Sells more", "owner": { "id": edge }, "tier": { "alias": "tier_2" }, "product": "Shop",
    });
    let cleared = json!({
        "description": "", "framework": null, "language": null, "lifecycleAlias": null, "ownerInput": null, "parent": null,
        "product": null, "tierAlias": null, "type": null,
    });
    let empty = json!({
        "name": "Carts", "framework": null, "language": null, "lifecycle": null, "owner": null, "parent": null, "product": null,
        "tier": null, "type": { "aliases": ["service"] },
    });
    let id = client.reconcile(&SERVICE, [(full, shown), (changed, shown_then), (cleared, empty)]).await;
    // Aliases, the note and the API document have mutations of their own.
    client.act("aliasCreate", json!({ "input": { "alias": "basket", "ownerId": id } })).await;
    client.act("aliasCreate", json!({ "input": { "alias": "trolley", "ownerId": id } })).await;
    client.act("aliasDelete", json!({ "input": { "alias": "trolley", "ownerType": "service" } })).await;
    client.act("serviceNoteUpdate", json!({ "input": { "note": "# Note", "service": { "id": id } } })).await;
    let document =
        json!({ "apiDocumentPath": "api.yml", "preferredApiDocumentSource": "PUSH", "service": { "id": id } });
    client.act("serviceApiDocSettingsUpdate", document).await;
    let read = client.read(&SERVICE, &id).await;
    let expected = json!({
        "managedAliases": ["basket"], "note": "# Note", "apiDocumentPath": "api.yml", "preferredApiDocumentSource": "PUSH",
    });
    holds(&read, &expected, "service");
    let none = json!({ "apiDocumentPath": null, "preferredApiDocumentSource": null, "service": { "id": id } });
    client.act("serviceApiDocSettingsUpdate", none).await;
    let read = client.read(&SERVICE, &id).await;
    holds(&read, &json!({ "apiDocumentPath": null, "preferredApiDocumentSource": null }), "service");
    client.delete(&SERVICE, &id).await;
}

#[tokio::test]
async fn teams_are_reconciled() {
    let client = Client::start().await;
    for email in ["ada@example.com", "bob@example.com"] {
        client.act("userInvite", json!({ "email": email, "input": {}, "forceSendInvite": true })).await;
    }
    let parent = client.team("Everybody").await;
    let job = Job {
        create: "teamCreate",
        update: "teamUpdate",
        delete: "teamDelete",
        payload: "team",
        target: "input",
        gone: "input",
        read: Read::Root("team(id: $id)"),
        selection: "alias,id,aliases,managedAliases,contacts{address,displayName,displayType,externalId,id,isDefault,type},manager{email},memberships{nodes{role,team{alias,id},user{id,email}}},name,parentTeam{alias,id},responsibilities",
    };
    let full = json!({
        "name": "Core", "managerEmail": "ada@example.com", "responsibilities": "All of it", "parentTeam": { "id": parent },
        "group": null, "contacts": [{ "address": "#core", "displayName": "Core", "type": "slack" }],
        "members": [{ "email": "ada@example.com", "role": "lead" }],
    });
    let shown = json!({
        "alias": "core", "name": "Core", "manager": { "email": "ada@example.com" }, "responsibilities": "All of it",
        "parentTeam": { "alias": "everybody", "id": parent }, "aliases": ["core"], "managedAliases": [],
    });
    let changed = json!({
        "name": "Kernel", "managerEmail": "bob@example.com", "members": [
            { "email": "ada@example.com", "role": "lead" }, { "user": { "email": "bob@example.com" }, "role": "member" },
        ],
    });
    let shown_then =
        json!({ "name": "Kernel", "manager": { "email": "bob@example.com" }, "responsibilities": "All of it" });
    let cleared = json!({ "managerEmail": null, "responsibilities": "", "parentTeam": null, "group": null });
    let empty = json!({ "manager": null, "parentTeam": null });
    let id = client.reconcile(&job, [(full, shown), (changed, shown_then), (cleared, empty)]).await;
    let read = client.read(&job, &id).await;
    holds(&read["contacts"][0], &json!({ "address": "#core", "type": "slack", "isDefault": true }), "contact");
    assert_eq!(read["memberships"]["nodes"].as_array().expect("memberships").len(), 2);
    // A member leaves and joins again.
    let member =
        json!({ "input": { "members": [{ "user": { "email": "bob@example.com" }, "role": "guest" }], "teamId": id } });
    client.act("teamMembershipDelete", member.clone()).await;
    assert_eq!(client.read(&job, &id).await["memberships"]["nodes"].as_array().expect("memberships").len(), 1);
    client.act("teamMembershipCreate", member).await;
    let read = client.read(&job, &id).await;
    let joined = json!({ "role": "guest", "team": { "id": id }, "user": { "email": "bob@example.com" } });
    holds(&read["memberships"]["nodes"][1], &joined, "membership");
    client.act("aliasCreate", json!({ "input": { "alias": "seeds", "ownerId": id } })).await;
    assert_eq!(client.read(&job, &id).await["managedAliases"], json!(["seeds"]));
    client.act("aliasDelete", json!({ "input": { "alias": "seeds", "ownerType": "team" } })).await;
    assert_eq!(client.read(&job, &id).await["managedAliases"], json!([]));
    client.delete(&job, &id).await;
}

#[tokio::test]
async fn users_are_reconciled() {
    let client = Client::start().await;
    // The last administrator cannot be demoted.
    client.act("userInvite", json!({ "email": "root@example.com", "input": { "role": "admin" } })).await;
    let selection = "id,email,name,role,htmlUrl,provisionedBy,contacts{address,id,type}";
    let payload = format!("user{{{selection}}}");
    let invite = json!({
        "email": "ada@example.com", "forceSendInvite": false, "input": { "name": "Ada", "role": "user", "skipWelcomeEmail": true },
    });
    let made = client.send("userInvite", invite.clone(), &payload).await;
    assert_eq!(made["errors"], json!([]));
    holds(&made["user"], &json!({ "email": "ada@example.com", "name": "Ada", "role": "user" }), "user");
    let again = client.send("userInvite", invite, &payload).await;
    assert_eq!((&again["user"], &again["errors"][0]["path"]), (&Value::Null, &json!(["email"])));
    let id = &made["user"]["id"];
    assert_eq!(client.account("user(id: $id)", id, selection).await["user"], made["user"]);
    let by_address = client.account("user(input: {email: \"ada@example.com\"})", &Value::Null, selection).await;
    assert_eq!(by_address["user"], made["user"]);
    for role in ["standards_admin", "team_member", "admin", "user"] {
        let change =
            json!({ "user": { "email": "ada@example.com", "id": null }, "input": { "name": "Ada L.", "role": role } });
        let changed = client.make("userUpdate", change, "user", selection).await;
        holds(&changed, &json!({ "name": "Ada L.", "role": role }), "user");
        assert_eq!(client.account("user(id: $id)", id, selection).await["user"], changed);
    }
    client.act("userDelete", json!({ "user": { "id": id, "email": null } })).await;
    assert_eq!(client.account("user(id: $id)", id, selection).await["user"], Value::Null);
}

#[tokio::test]
async fn repositories_and_their_links_are_reconciled() {
    let client = Client::start().await;
    let (core, cart) = (client.team("Core").await, client.service("Cart").await);
    let job = Job {
        create: "repositoryCreate",
        update: "repositoryUpdate",
        delete: "repositoryDelete",
        payload: "repository",
        target: "input",
        gone: "input",
        read: Read::Root("repository(id: $id)"),
        selection: "archivedAt,createdOn,defaultAlias,defaultBranch,description,forked,htmlUrl,id,languages{name,usage},lastOwnerChangedAt,locked,name,organization,owner{alias,id},private,repoKey,sbomGenerationConfiguration{disabledReason,enabled,nextGenerationAt,state},services{edges{atRoot,node{id,aliases},paths{href,path},serviceRepositories{baseDirectory,displayName,id}}},tier{alias},type,url,visible",
    };
    let full = json!({
        "name": "org/cart", "url": "https://github.com/org/cart", "defaultBranch": "main", "private": true, "visible": true,
        "description": "d", "forked": false, "languages": [{ "name": "Rust", "usage": 0.75 }, { "name": "Shell", "usage": 0.25 }], "ownerId": core,
    });
    let shown = json!({
        "defaultAlias": "github.com:org/cart", "owner": { "id": core }, "repoKey": "org/cart", "type": "Repositories::Github",
        "organization": "org", "languages": [{ "name": "Rust", "usage": 0.75 }, { "name": "Shell", "usage": 0.25 }], "visible": true,
    });
    let changed = json!({ "ownerId": core, "sbomGeneration": "opt_in", "visible": false });
    let shown_then =
        json!({ "owner": { "id": core }, "visible": false, "sbomGenerationConfiguration": { "state": "opt_in" } });
    let cleared = json!({ "ownerId": null, "sbomGeneration": null, "description": null });
    let empty = json!({ "owner": null, "description": null });
    let id = client.reconcile(&job, [(full, shown), (changed, shown_then), (cleared, empty)]).await;
    // A service lives in two folders of it.
    let link = "baseDirectory,displayName,id,repository{id,defaultAlias},service{id,aliases}";
    let links = Job {
        create: "serviceRepositoryCreate",
        update: "serviceRepositoryUpdate",
        delete: "serviceRepositoryDelete",
        payload: "serviceRepository",
        target: "input",
        gone: "input",
        read: Read::In("service(id: $id){serviceRepositories{nodes", cart.clone()),
        selection: link,
    };
    let of_cart = |folder: &str| {
        json!({
            "service": { "id": cart }, "repository": { "id": id, "alias": null }, "baseDirectory": folder, "displayName": "Code",
        })
    };
    client.make("serviceRepositoryCreate", json!({ "input": of_cart("/") }), "serviceRepository", link).await;
    let second = client
        .reconcile(
            &links,
            [
                (
                    of_cart("/src/"),
                    json!({ "baseDirectory": "src", "displayName": "Code", "repository": { "id": id } }),
                ),
                (json!({ "baseDirectory": "lib", "displayName": "Library" }), json!({ "baseDirectory": "lib" })),
                (json!({ "baseDirectory": "app", "displayName": null }), json!({ "displayName": null })),
            ],
        )
        .await;
    let listed = client.account("service(id: $id)", &cart, "repos{edges{node{id,defaultAlias},serviceRepositories{id,baseDirectory}},totalCount},defaultServiceRepository{baseDirectory}").await;
    let repos = &listed["service"]["repos"];
    assert_eq!((&repos["totalCount"], &repos["edges"][0]["node"]["id"]), (&json!(1), &id));
    assert_eq!(repos["edges"][0]["serviceRepositories"][0]["baseDirectory"], "");
    assert_eq!(repos["edges"][0]["serviceRepositories"][1]["id"], second);
    let edge = client.read(&job, &id).await["services"]["edges"][0].clone();
    assert_eq!((&edge["node"]["id"], &edge["atRoot"]), (&cart, &json!(true)));
    client.delete(&links, &second).await;
    let hidden = "query RepositoryList($after:String!$first:Int!$visible:Boolean!){account{repositories(after: $after, first: $first, visible: $visible){hiddenCount,nodes{id},organizationCount,ownedCount,visibleCount}}}";
    let answer = client.app.query(hidden, json!({ "after": "", "first": 500, "visible": false })).await;
    let expected = json!({ "hiddenCount": 1, "nodes": [{ "id": id }], "visibleCount": 0, "ownedCount": 0 });
    holds(&answer["data"]["account"]["repositories"], &expected, "repositories");
    client.delete(&job, &id).await;
}

/// What clients select of every integration.
const INTEGRATION: &str = "id,name,type,createdAt,installedAt,displayName,webhookUrl,... on AwsIntegration{iamRole,externalId,awsTagsOverrideOwnership,ownershipTagKeys,regionOverride},... on AzureResourcesIntegration{aliases,ownershipTagKeys,subscriptionId,tagsOverrideOwnership,tenantId},... on GoogleCloudIntegration{aliases,clientEmail,ownershipTagKeys,projects{id,name,url},tagsOverrideOwnership},... on KubernetesIntegration{extractDefinition,transformDefinition},... on NewRelicIntegration{baseUrl,accountKey}";

fn cloud(create: &'static str, update: &'static str) -> Job {
    let target = if update.starts_with("newRelic") { "resource" } else { "integration" };
    Job {
        create,
        update,
        delete: "integrationDelete",
        payload: "integration",
        target,
        gone: "resource",
        read: Read::Root("integration(id: $id)"),
        selection: INTEGRATION,
    }
}

#[tokio::test]
async fn integrations_are_reconciled() {
    let client = Client::start().await;
    let aws = json!({
        "name": "AWS", "externalId": "e", "iamRole": "arn:aws:iam::1:role/r", "ownershipTagKeys": ["owner", "team"],
        "awsTagsOverrideOwnership": true, "regionOverride": ["eu-west-1", "us-east-1"],
    });
    let azure = json!({
        "name": "Azure", "ownershipTagKeys": ["owner"], "subscriptionId": "s", "tagsOverrideOwnership": false, "tenantId": "t",
    });
    let with_secrets = json!({
        "name": "Azure", "clientId": "c", "clientSecret": "x", "ownershipTagKeys": ["owner"], "subscriptionId": "s",
        "tagsOverrideOwnership": false, "tenantId": "t",
    });
    let google = json!({ "name": "GCP", "clientEmail": "x@example.com", "ownershipTagKeys": ["owner"], "tagsOverrideOwnership": true });
    let with_key = json!({
        "name": "GCP", "clientEmail": "x@example.com", "ownershipTagKeys": ["owner"], "privateKey": "k", "tagsOverrideOwnership": true,
    });
    let cluster = json!({ "name": "Cluster", "extractDefinition": "a: 1", "transformDefinition": "b: 2" });
    let relic = json!({ "baseUrl": "https://api.newrelic.com" });
    let with_api_key = json!({ "apiKey": "k", "baseUrl": "https://api.newrelic.com" });
    let jobs = [
        (
            cloud("awsIntegrationCreate", "awsIntegrationUpdate"),
            "aws",
            [
                (aws.clone(), aws.clone()),
                (aws.clone(), aws),
                (
                    json!({ "ownershipTagKeys": [], "externalId": null, "regionOverride": null, "awsTagsOverrideOwnership": null }),
                    json!({ "ownershipTagKeys": [], "externalId": null, "regionOverride": null, "awsTagsOverrideOwnership": null }),
                ),
            ],
        ),
        (
            cloud("azureResourcesIntegrationCreate", "azureResourcesIntegrationUpdate"),
            "azureResources",
            [
                (with_secrets.clone(), azure.clone()),
                (with_secrets, azure),
                (
                    json!({ "ownershipTagKeys": null, "tenantId": null }),
                    json!({ "ownershipTagKeys": null, "tenantId": null, "subscriptionId": "s" }),
                ),
            ],
        ),
        (
            cloud("googleCloudIntegrationCreate", "googleCloudIntegrationUpdate"),
            "googleCloud",
            [
                (with_key.clone(), google.clone()),
                (with_key, google),
                (
                    json!({ "ownershipTagKeys": null, "privateKey": null }),
                    json!({ "ownershipTagKeys": null, "projects": null }),
                ),
            ],
        ),
        (
            cloud("kubernetesIntegrationCreate", "kubernetesIntegrationUpdate"),
            "kubernetes",
            [
                (cluster.clone(), cluster.clone()),
                (json!({ "name": "C" }), json!({ "name": "C", "extractDefinition": "a: 1" })),
                (
                    json!({ "extractDefinition": null, "transformDefinition": null }),
                    json!({ "extractDefinition": null, "transformDefinition": null }),
                ),
            ],
        ),
        (
            cloud("newRelicIntegrationCreate", "newRelicIntegrationUpdate"),
            "newRelic",
            [
                (with_api_key.clone(), relic.clone()),
                (with_api_key, relic),
                (json!({ "baseUrl": null }), json!({ "baseUrl": null })),
            ],
        ),
    ];
    for (job, kind, steps) in jobs {
        let id = client.reconcile(&job, steps).await;
        assert_eq!(client.read(&job, &id).await["type"], kind);
        let again = client
            .make("integrationReactivate", json!({ "integration": { "id": id } }), "integration", INTEGRATION)
            .await;
        assert!(again["installedAt"].is_string(), "{again}");
        client.delete(&job, &id).await;
    }
}

fn group(noun: &'static str) -> Job {
    let [create, update, delete, read, selection] = match noun {
        "system" => [
            "systemCreate",
            "systemUpdate",
            "systemDelete",
            "system(input: {id: $id})",
            "id,aliases,managedAliases,name,description,htmlUrl,owner{... on Team{teamAlias:alias,id}},parent{id,aliases},note",
        ],
        _ => [
            "domainCreate",
            "domainUpdate",
            "domainDelete",
            "domain(input: {id: $id})",
            "id,aliases,managedAliases,name,description,htmlUrl,owner{... on Team{teamAlias:alias,id}},note",
        ],
    };
    Job { create, update, delete, payload: noun, target: noun, gone: "resource", read: Read::Root(read), selection }
}

#[tokio::test]
async fn systems_and_domains_are_reconciled() {
    let client = Client::start().await;
    let (core, cart) = (client.team("Core").await, client.service("Cart").await);
    let texts = |name: &str| json!({ "name": name, "description": "d", "note": "n", "ownerId": core });
    let none = || json!({ "description": null, "note": "", "ownerId": null });
    let domain = group("domain");
    let owner = json!({ "teamAlias": "core", "id": core });
    let steps = [
        (
            texts("Commerce"),
            json!({ "name": "Commerce", "aliases": ["commerce"], "managedAliases": [], "owner": owner }),
        ),
        (json!({ "name": "Trade" }), json!({ "name": "Trade", "description": "d", "owner": owner })),
        (none(), json!({ "description": null, "owner": null })),
    ];
    let commerce = client.reconcile(&domain, steps).await;
    let system = group("system");
    let with = |mut input: Value, parent: Value| {
        input["parent"] = parent;
        input
    };
    let steps = [
        (with(texts("Till"), json!({ "id": commerce })), json!({ "parent": { "id": commerce }, "aliases": ["till"] })),
        (json!({ "note": "m" }), json!({ "note": "m", "parent": { "id": commerce } })),
        (with(none(), Value::Null), json!({ "parent": null, "owner": null })),
    ];
    let till = client.reconcile(&system, steps).await;
    client
        .act(
            "domainChildAssign",
            json!({ "domain": { "id": commerce }, "childSystems": [{ "id": till, "alias": null }] }),
        )
        .await;
    client.act("systemChildAssign", json!({ "system": { "id": till }, "childServices": [{ "alias": "cart" }] })).await;
    let of_domain =
        client.account("domain(input: {id: $id}){childSystems(after: \"\", first: 100)", &commerce, "nodes{id}").await;
    assert_eq!(of_domain["domain"]["childSystems"]["nodes"], json!([{ "id": till }]));
    let of_system =
        client.account("system(input: {id: $id}){childServices(after: \"\", first: 100)", &till, "nodes{id}").await;
    assert_eq!(of_system["system"]["childServices"]["nodes"], json!([{ "id": cart }]));
    for (id, alias, kind) in [(&till, "cash", "system"), (&commerce, "money", "domain")] {
        let job = group(kind);
        client.act("aliasCreate", json!({ "input": { "alias": alias, "ownerId": id } })).await;
        assert_eq!(client.read(&job, id).await["managedAliases"], json!([alias]));
        client.act("aliasDelete", json!({ "input": { "alias": alias, "ownerType": kind } })).await;
        assert_eq!(client.read(&job, id).await["managedAliases"], json!([]));
    }
    client.delete(&system, &till).await;
    client.delete(&domain, &commerce).await;
}

#[tokio::test]
async fn tools_and_contacts_are_found_again_by_their_ids() {
    let client = Client::start().await;
    let (core, cart) = (client.team("Core").await, client.service("Cart").await);
    let tools = Job {
        create: "toolCreate",
        update: "toolUpdate",
        delete: "toolDelete",
        payload: "tool",
        target: "input",
        gone: "input",
        read: Read::In("service(id: $id){tools{nodes", cart.clone()),
        selection: "category,categoryAlias,displayName,environment,id,url,service{id,aliases}",
    };
    let full = json!({
        "category": "runbooks", "displayName": "Runbook", "environment": "production", "serviceAlias": null, "serviceId": cart,
        "url": "https://wiki.example.com",
    });
    let shown = json!({
        "category": "runbooks", "categoryAlias": "runbooks", "displayName": "Runbook", "environment": "production",
        "url": "https://wiki.example.com", "service": { "id": cart },
    });
    let changed = json!({ "category": "logs", "url": "https://logs.example.com" });
    let shown_then =
        json!({ "category": "logs", "categoryAlias": "logs", "displayName": "Runbook", "environment": "production" });
    let steps =
        [(full, shown), (changed, shown_then), (json!({ "environment": null }), json!({ "environment": null }))];
    let id = client.reconcile(&tools, steps).await;
    client.delete(&tools, &id).await;
    let contacts = Job {
        create: "contactCreate",
        update: "contactUpdate",
        delete: "contactDelete",
        payload: "contact",
        target: "input",
        gone: "input",
        read: Read::In("team(id: $id){contacts", core.clone()),
        selection: "address,displayName,displayType,externalId,id,isDefault,type",
    };
    let full = json!({
        "address": "#core", "displayName": "Core", "displayType": null, "externalId": "7", "ownerId": core, "teamAlias": null,
        "teamId": null, "type": "slack",
    });
    let shown =
        json!({ "address": "#core", "displayName": "Core", "externalId": "7", "type": "slack", "isDefault": true });
    let changed = json!({ "address": "core@example.com", "type": "email", "makeDefault": true });
    let shown_then = json!({ "address": "core@example.com", "type": "email", "isDefault": true });
    let cleared = json!({ "displayName": null, "externalId": null });
    let steps = [(full, shown), (changed, shown_then), (cleared.clone(), cleared)];
    let id = client.reconcile(&contacts, steps).await;
    client.delete(&contacts, &id).await;
}

#[tokio::test]
async fn properties_and_their_definitions_are_reconciled() {
    let client = Client::start().await;
    let cart = client.service("Cart").await;
    let definitions = Job {
        create: "propertyDefinitionCreate",
        update: "propertyDefinitionUpdate",
        delete: "propertyDefinitionDelete",
        payload: "definition",
        target: "propertyDefinition",
        gone: "resource",
        read: Read::Root("propertyDefinition(input: {id: $id})"),
        selection: "aliases,allowedInConfigFiles,id,name,description,displaySubtype,displayType,propertyDisplayStatus,lockedStatus,schema",
    };
    let full = json!({
        "allowedInConfigFiles": true, "description": "d", "lockedStatus": "ui_locked", "name": "Rooms",
        "propertyDisplayStatus": "visible", "schema": "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
    });
    let shown = json!({
        "aliases": ["rooms"], "allowedInConfigFiles": true, "description": "d", "lockedStatus": "ui_locked", "displayType": "ARRAY",
        "schema": { "type": "array", "items": { "type": "string" } },
    });
    let changed = json!({ "name": "Rooms", "schema": { "type": "string" }, "propertyDisplayStatus": "hidden" });
    let shown_then =
        json!({ "schema": { "type": "string" }, "displayType": "TEXT", "propertyDisplayStatus": "hidden" });
    let cleared = json!({ "description": null, "lockedStatus": "unlocked" });
    let steps = [(full, shown), (changed, shown_then), (cleared.clone(), cleared)];
    let id = client.reconcile(&definitions, steps).await;
    let value = "definition{id,aliases},locked,owner{__typename,... on Team{teamAlias:alias,id},... on Service{id,aliases}},validationErrors{message,path},value";
    let read = "query PropertyGet($definition:IdentifierInput!$owner:IdentifierInput!){account{property(owner: $owner, definition: $definition){V}}}".replace('V', value);
    let names = json!({ "definition": { "id": id }, "owner": { "id": cart } });
    assert_eq!(client.app.query(&read, names.clone()).await["data"]["account"]["property"], Value::Null);
    for text in ["\"north\"", "\"south\"", "\"south\""] {
        let input = json!({
            "definition": { "id": id, "alias": null }, "owner": { "id": cart }, "ownerType": null, "runValidation": true, "value": text,
        });
        let assigned = client.make("propertyAssign", json!({ "input": input }), "property", value).await;
        let expected =
            json!({ "value": text, "owner": { "__typename": "Service", "id": cart }, "definition": { "id": id } });
        holds(&assigned, &expected, "property");
        assert_eq!(client.app.query(&read, names.clone()).await["data"]["account"]["property"], assigned);
    }
    client.act("propertyUnassign", names.clone()).await;
    assert_eq!(client.app.query(&read, names).await["data"]["account"]["property"], Value::Null);
    client.delete(&definitions, &id).await;
}

#[tokio::test]
async fn dependencies_are_found_again_in_both_lists() {
    let client = Client::start().await;
    let (cart, stock) = (client.service("Cart").await, client.service("Stock").await);
    let selection = "id,sourceService{id,aliases},destinationService{id,aliases},notes";
    let edges = "edges{id,locked,node{id,aliases},notes},totalCount";
    let input = json!({ "inputV2": {
        "dependencyKey": {
            "destination": null, "destinationIdentifier": { "id": null, "alias": "stock" }, "notes": null, "source": null,
            "sourceIdentifier": { "id": cart },
        },
        "notes": "reads",
    } });
    let made = client.make("serviceDependencyCreate", input.clone(), "serviceDependency", selection).await;
    holds(
        &made,
        &json!({ "sourceService": { "id": cart }, "destinationService": { "id": stock }, "notes": "reads" }),
        "dependency",
    );
    let again = client.send("serviceDependencyCreate", input, &format!("serviceDependency{{{selection}}}")).await;
    assert!(again["errors"][0]["message"].is_string() && again["serviceDependency"].is_null(), "{again}");
    let list = |lists: &'static str| format!("service(id: $id){{{lists}(after: \"\", first: 100)");
    for (service, lists, other) in [(&cart, "dependencies", &stock), (&stock, "dependents", &cart)] {
        let found = client.account(&list(lists), service, edges).await["service"][lists].clone();
        assert_eq!(found["totalCount"], 1);
        let expected = json!({ "id": made["id"], "locked": false, "node": { "id": other }, "notes": "reads" });
        holds(&found["edges"][0], &expected, lists);
    }
    client.act("serviceDependencyDelete", json!({ "input": { "id": made["id"] } })).await;
    assert_eq!(
        client.account(&list("dependencies"), &cart, edges).await["service"]["dependencies"]["edges"],
        json!([])
    );
    let gone = client.send("serviceDependencyDelete", json!({ "input": { "id": made["id"] } }), "").await;
    assert_eq!(gone["errors"][0]["path"], json!(["id"]));
}

#[tokio::test]
async fn filters_are_reconciled_and_select_services() {
    let client = Client::start().await;
    let cart = client.service("Cart").await;
    client.service("Stock").await;
    let job = Job {
        create: "filterCreate",
        update: "filterUpdate",
        delete: "filterDelete",
        payload: "filter",
        target: "input",
        gone: "input",
        read: Read::Root("filter(id: $id)"),
        selection: "id,name,connective,htmlUrl,predicates{caseSensitive,key,keyData,type,value}",
    };
    let predicate = |key: &str, ty: &str, value: Value, sensitive: Value| json!({ "caseSensitive": sensitive, "key": key, "keyData": null, "type": ty, "value": value });
    let two = json!([
        predicate("name", "contains", json!("CART"), json!(false)),
        predicate("language", "does_not_exist", Value::Null, Value::Null),
    ]);
    let one = json!([predicate("name", "equals", json!("Cart"), json!(true))]);
    let steps = [
        (
            json!({ "name": "Vital", "connective": "and", "predicates": two }),
            json!({ "connective": "and", "predicates": two }),
        ),
        (
            json!({ "name": "Vital", "connective": null, "predicates": one }),
            json!({ "connective": null, "predicates": one }),
        ),
        (
            json!({ "name": "All", "connective": "or", "predicates": two }),
            json!({ "connective": "or", "predicates": two }),
        ),
    ];
    let id = client.reconcile(&job, steps).await;
    client.act("filterUpdate", json!({ "input": { "id": id, "predicates": one } })).await;
    let list = "query ServiceListWithFilter($after:String!$filter:IdentifierInput!$first:Int!){account{services(after: $after, filterIdentifier: $filter, first: $first){nodes{id},totalCount}}}";
    let answer = client.app.query(list, json!({ "after": "", "filter": { "id": id }, "first": 500 })).await;
    assert_eq!(answer["data"]["account"]["services"], json!({ "nodes": [{ "id": cart }], "totalCount": 1 }));
    client.delete(&job, &id).await;
}

/// The tags of an object, in order of creation.
async fn tags(client: &Client, field: &str, id: &Value) -> Vec<Value> {
    let account = client.account(field, id, "tags{nodes{id,key,value}}").await;
    let object = account.as_object().expect("an account").values().next().expect("a field");
    object["tags"]["nodes"].as_array().expect("tags").clone()
}

#[tokio::test]
async fn tags_are_reconciled_by_creating_the_wanted_before_the_others_are_deleted() {
    let client = Client::start().await;
    let (core, cart) = (client.team("Core").await, client.service("Cart").await);
    let ada = client.make("userInvite", json!({ "email": "ada@example.com", "input": {} }), "user", "id").await;
    let repository =
        client.make("repositoryCreate", json!({ "input": { "name": "org/cart" } }), "repository", "id").await;
    let till = client.make("systemCreate", json!({ "input": { "name": "Till" } }), "system", "id").await;
    let commerce = client.make("domainCreate", json!({ "input": { "name": "Commerce" } }), "domain", "id").await;
    let queue = json!({ "input": { "schema": { "type": "Queue" }, "data": "{\"name\": \"Jobs\"}" } });
    let queue = client.make("infrastructureResourceCreate", queue, "infrastructureResource", "id").await;
    let owners = [
        ("Service", "service(id: $id)", &cart),
        ("Team", "team(id: $id)", &core),
        ("User", "user(id: $id)", &ada["id"]),
        ("Repository", "repository(id: $id)", &repository["id"]),
        ("System", "system(input: {id: $id})", &till["id"]),
        ("Domain", "domain(input: {id: $id})", &commerce["id"]),
        ("InfrastructureResource", "infrastructureResource(input: {id: $id})", &queue["id"]),
    ];
    for (kind, field, id) in owners {
        for wanted in
            [[("env", "dev"), ("team", "a")], [("env", "prod"), ("team", "a")], [("env", "prod"), ("zone", "")]]
        {
            let before = tags(&client, field, id).await;
            let is = |tag: &Value, (key, value): (&str, &str)| tag["key"] == key && tag["value"] == value;
            for one in wanted {
                if !before.iter().any(|tag| is(tag, one)) {
                    let input = json!({ "alias": null, "id": id, "key": one.0, "type": kind, "value": one.1 });
                    let tag = client.make("tagCreate", json!({ "input": input }), "tag", "id,key,value").await;
                    assert!(is(&tag, one), "{kind}: {tag}");
                }
            }
            for tag in before.iter().filter(|tag| !wanted.iter().any(|one| is(tag, *one))) {
                client.act("tagDelete", json!({ "input": { "id": tag["id"] } })).await;
            }
            let after = tags(&client, field, id).await;
            assert_eq!(after.len(), 2, "{kind}: {after:?}");
            assert!(wanted.iter().all(|one| after.iter().any(|tag| is(tag, *one))), "{kind}: {after:?}");
        }
        // `tagAssign` replaces.
        let input = json!({ "alias": null, "id": id, "tags": [{ "key": "env", "value": "test" }], "type": kind });
        client.act("tagAssign", json!({ "input": input })).await;
        let after = tags(&client, field, id).await;
        assert_eq!(after.iter().filter(|tag| tag["key"] == "env").count(), 1, "{kind}: {after:?}");
    }
}
