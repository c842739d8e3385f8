//! A catalogue with a row of every kind and a value in every field, and one successful call of every mutation. The tests
//! of the whole schema (`api::coverage`, `api::refusals`) use it.

use std::collections::BTreeMap;

use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::ObjectType;
use apollo_compiler::validation::Valid;
use rollcall::api_document;
use rollcall::db::{Read, Write};
use rollcall::entity::{Timestamp, audit, document_pull, integration, session, user};
use rollcall::graphql::SDL;
use rollcall::graphql::field::id;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use crate::harness::browser::Browser;
use crate::harness::webhook::Endpoint;
use crate::harness::{tour_checks, tour_events};

/// The mutations of what belongs to a person. A token is refused.
pub const PERSONAL: [&str; 5] =
    ["savedViewCreate", "savedViewUpdate", "savedViewDelete", "serviceFavouriteAdd", "serviceFavouriteRemove"];

/// The schema, as it is served.
pub fn schema() -> Valid<Schema> {
    Schema::parse_and_validate(SDL, "schema.graphql").expect("the schema is valid")
}

/// An object type of the schema.
pub fn object<'s>(schema: &'s Schema, name: &str) -> &'s ObjectType {
    schema.get_object(name).unwrap_or_else(|| panic!("no object type is called {name}"))
}

/// A full catalogue.
pub struct Tour {
    pub endpoint: Endpoint,
    /// The ids of its rows, by the names that the tour gives them.
    pub ids: BTreeMap<String, Value>,
    /// The cookie of Ada's session.
    cookie: String,
}

/// A call of a mutation.
pub struct Step {
    pub mutation: &'static str,
    /// The arguments by name.
    pub arguments: Value,
}

impl Step {
    /// The text of an operation that sends the arguments as variables of the same names.
    pub fn operation(&self, schema: &Schema, selection: &str) -> String {
        let Self { mutation, arguments } = self;
        let field = &object(schema, "Mutation").fields[*mutation];
        let given = arguments.as_object().expect("arguments");
        for name in given.keys() {
            assert!(
                field.arguments.iter().any(|argument| argument.name == name.as_str()),
                "{mutation} takes no {name}"
            );
        }
        let all = |format: &dyn Fn(&str, String) -> String| {
            let arguments = field.arguments.iter().map(|one| format(&one.name, one.ty.to_string()));
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            if arguments.is_empty() { arguments } else { format!("({arguments})") }
        };
        let declared = all(&|name, ty| format!("${name}: {ty}"));
        let passed = all(&|name, _| format!("{name}: ${name}"));
        format!("mutation{declared} {{ {mutation}{passed} {selection} }}")
    }

    /// The text of an operation with `arguments` as literals.
    pub fn written(&self, schema: &Schema, arguments: &Value, selection: &str) -> String {
        let Self { mutation, .. } = self;
        let types = &object(schema, "Mutation").fields[*mutation].arguments;
        let given = arguments.as_object().expect("arguments").iter().map(|(name, value)| {
            let argument = types.iter().find(|argument| argument.name == name.as_str());
            format!("{name}: {}", literal(schema, &argument.expect("an argument").ty, value))
        });
        let given = given.collect::<Vec<_>>().join(", ");
        let given = if given.is_empty() { given } else { format!("({given})") };
        format!("mutation {{ {mutation}{given} {selection} }}")
    }
}

/// A value of type `ty` as a literal in a document.
fn literal(schema: &Schema, ty: &Type, value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let item = if ty.is_list() { ty.item_type() } else { ty };
            format!("[{}]", items.iter().map(|value| literal(schema, item, value)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let input = schema.get_input_object(ty.inner_named_type());
            let field = |(name, value): (&String, &Value)| {
                let definition = input.and_then(|input| input.fields.get(name.as_str()));
                format!("{name}: {}", literal(schema, definition.map_or(ty, |field| &field.ty), value))
            };
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::String(word) if schema.get_enum(ty.inner_named_type()).is_some() && is_name(word) => word.clone(),
        other => other.to_string(),
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl Tour {
    /// Fills a catalogue.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Fills a catalogue that is served with these flags.
    pub async fn with(flags: &[&str]) -> Self {
        let served = [
            "--pull-documents-from",
            "docs.example.com",
            "--smtp-url",
            "smtp://127.0.0.1:1",
            "--mail-from",
            "rollcall@example.com",
        ];
        let flags = [&served, flags].concat();
        let mut tour = Self { endpoint: Endpoint::with(&flags).await, ids: BTreeMap::new(), cookie: String::new() };
        tour.people().await;
        tour.services().await;
        tour.integrations().await;
        tour.deploys().await;
        tour.change().await;
        tour.kept().await;
        tour
    }

    /// A change that can be reverted, and the id of its entry in the audit.
    async fn change(&mut self) {
        let made = r#"brief: tagCreate(input: { alias: "till", type: System, key: "brief", value: "1" }) { tag { id } errors { message } }"#;
        self.make(made, &[]).await;
        let newest =
            audit::Entity::find().filter(audit::Column::Action.eq("tagCreate")).order_by_desc(audit::Column::Id);
        let entry = self.endpoint.app.db.read().one(newest.limit(1)).await.expect("the audit").expect("an entry");
        self.ids.insert("change".to_owned(), id::Id::new::<audit::Entity>(entry.id).text().into());
    }

    /// The id of a row.
    pub fn id(&self, name: &str) -> Value {
        self.ids.get(name).unwrap_or_else(|| panic!("nothing is called {name}")).clone()
    }

    /// Runs an operation: as Ada if it changes what belongs to a person, otherwise with the token.
    pub async fn ask(&self, operation: &str, variables: Value) -> Value {
        let app = &self.endpoint.app;
        if !PERSONAL.iter().any(|name| operation.contains(name)) {
            return app.query(operation, variables).await;
        }
        let mut ada = Browser::new(app);
        ada.cookie = Some(self.cookie.clone());
        ada.query(operation, variables).await
    }

    /// Runs mutations that must succeed, with the ids of these rows as variables of the same names. Remembers the first id
    /// under each response key by that key.
    async fn make(&mut self, mutations: &str, rows: &[&str]) {
        let declared: Vec<_> = rows.iter().map(|name| format!("${name}: ID!")).collect();
        let declared = if rows.is_empty() { String::new() } else { format!("({})", declared.join(", ")) };
        let ids: Value = rows.iter().map(|name| ((*name).to_owned(), self.id(name))).collect();
        let answer = self.ask(&format!("mutation{declared} {{ {mutations} }}"), ids).await;
        assert_eq!(answer.get("errors"), None, "{answer}");
        for (name, payload) in answer["data"].as_object().expect("data") {
            assert_eq!(payload["errors"], json!([]), "{name}");
            if let Some(id) = first_id(payload) {
                self.ids.insert(name.clone(), id);
            }
        }
    }

    async fn people(&mut self) {
        let mutations = r#"
            ada: userInvite(email: "ada@example.com", input: { name: "Ada", role: admin }) { user { id } errors { message } }
            bob: userInvite(email: "bob@example.com", input: {}) { user { id } errors { message } }
            eve: userInvite(email: "eve@example.com", input: {}) { user { id } errors { message } }
            Core: teamCreate(input: {
                name: "Core", managerEmail: "ada@example.com", responsibilities: "All of it",
                members: [{ user: { email: "ada@example.com" }, role: "lead" }, { user: { email: "bob@example.com" } }]
            }) { team { id } errors { message } }
            Passing: teamCreate(input: { name: "Passing" }) { team { id } errors { message } }
            teamTag: tagAssign(input: { alias: "core", type: Team, tags: { key: "site", value: "north" } }) { tags { id } errors { message } }
            userTag: tagAssign(input: { alias: "ada@example.com", type: User, tags: { key: "site", value: "north" } }) { tags { id } errors { message } }
            tier: tierCreate(input: { name: "Passing", description: "d" }) { tier { id } errors { message } }
            lifecycle: lifecycleCreate(input: { name: "Passing", description: "d" }) { lifecycle { id } errors { message } }
            hobby: tierCreate(input: { name: "Hobby", description: "d" }) { tier { id } errors { message } }
            dusk: lifecycleCreate(input: { name: "Dusk", description: "d" }) { lifecycle { id } errors { message } }
        "#;
        self.make(mutations, &[]).await;
        self.make(
            r#"coreAlias: aliasCreate(input: { ownerId: $Core, alias: "kernel" }) { aliases errors { message } }"#,
            &["Core"],
        )
        .await;
    }

    async fn services(&mut self) {
        let mutations = r#"
            Till: systemCreate(input: { name: "Till" }) { system { id } errors { message } }
            Commerce: domainCreate(input: { name: "Commerce" }) { domain { id } errors { message } }
            Passing_system: systemCreate(input: { name: "Passing" }) { system { id } errors { message } }
            Passing_domain: domainCreate(input: { name: "Passing" }) { domain { id } errors { message } }
            systemTag: tagCreate(input: { alias: "till", type: System, key: "site", value: "north" }) { tag { id } errors { message } }
            domainTag: tagCreate(input: { alias: "commerce", type: Domain, key: "site", value: "north" }) { tag { id } errors { message } }
            shop: serviceUpdate(input: {
                alias: "shop", parent: { alias: "till" }, description: "Sells", language: "Rust", framework: "axum", product: "Shop", note: "n",
                tierAlias: "tier_1", lifecycleAlias: "beta", ownerInput: { alias: "core" }
            }) { service { id } errors { message } }
            Passing_service: serviceCreate(input: { name: "Passing" }) { service { id } errors { message } }
            Stock: serviceCreate(input: { name: "Stock" }) { service { id } errors { message } }
            Checkout: serviceCreate(input: { name: "Checkout" }) { service { id } errors { message } }
            bronze: levelCreate(input: { name: "Bronze", description: "d" }) { level { id } errors { message } }
            oldLevel: levelCreate(input: { name: "Old" }) { level { id } errors { message } }
            security: categoryCreate(input: { name: "Security", description: "d" }) { category { id } errors { message } }
            oldCategory: categoryCreate(input: { name: "Old" }) { category { id } errors { message } }
            shopDocument: serviceApiDocSettingsUpdate(
                service: { alias: "shop" }, apiDocumentPath: "openapi.yml", preferredApiDocumentSource: PUSH,
                apiDocumentUrl: "https://docs.example.com/openapi.yml"
            ) { service { id } errors { message } }
            gadget: componentTypeCreate(input: { name: "Gadget", category: "software", description: "d", icon: { color: "red", name: PhGear }, properties: {
                alias: "weight", name: "Weight", description: "d", allowedInConfigFiles: false, propertyDisplayStatus: hidden,
                schema: { type: "number" }
            } }) { componentType { id } errors { message } }
            ledgerBase: infrastructureResourceCreate(input: {
                schema: { type: "Database" }, data: { name: "Ledger base", port: 5432 }, ownerId: null, providerResourceType: "RDS",
                providerData: { accountName: "dev", externalUrl: "https://cloud.example.com/1", providerName: "Cloud" }
            }) { infrastructureResource { id } errors { message } }
            billing: relationshipDefinitionCreate(input: {
                alias: "billing", name: "Billed to", description: "d", componentType: { alias: "service" },
                metadata: { allowedTypes: ["team", "Cluster"], allowedCategories: ["people"], minItems: 0, maxItems: 10 },
                managementRules: { sourceProperty: "cost_centre", sourcePropertyBuiltin: false, targetProperty: "name",
                    targetPropertyBuiltin: true, targetType: "team", targetCategory: "people" }
            }) { definition { id } errors { message } }
            oldRelation: relationshipDefinitionCreate(input: { name: "Old", componentType: { alias: "service" } }) {
                definition { id } errors { message }
            }
            oldBase: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Old" } }) {
                infrastructureResource { id } errors { message }
            }
            lanes: propertyDefinitionCreate(input: {
                name: "Lanes", description: "d", schema: { type: "array", items: { type: "string" } }
            }) { definition { id } errors { message } }
            passingProperty: propertyDefinitionCreate(input: { name: "Passing", schema: {} }) { definition { id } errors { message } }
            rota: teamPropertyDefinitionCreate(input: {
                alias: "rota", name: "Rota", description: "d", schema: { type: "array", items: { type: "string" } }
            }) { definition { id } errors { message } }
            shopLanes: propertyAssign(input: {
                owner: { alias: "shop" }, definition: { alias: "lanes" }, value: "[1]", runValidation: false
            }) { property { id } errors { message } }
            coreLanes: propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "lanes" }, value: "[\"a\"]" }) {
                property { id } errors { message }
            }
            passingType: componentTypeCreate(input: { name: "Passing" }) { componentType { id } errors { message } }
            shopTool: toolCreate(input: {
                serviceAlias: "shop", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com", environment: "production"
            }) { tool { id } errors { message } }
            oldTool: toolCreate(input: { serviceAlias: "shop", category: logs, displayName: "Logs", url: "https://logs.example.com" }) {
                tool { id } errors { message }
            }
            coreContact: contactCreate(input: {
                teamAlias: "core", type: slack, address: "@core", displayName: "Core", displayType: "Chat", externalId: "7"
            }) { contact { id } errors { message } }
            oldContact: contactCreate(input: { teamAlias: "core", type: email, address: "core@example.com" }) { contact { id } errors { message } }
            coreParent: teamUpdate(input: { alias: "core", parentTeam: { alias: "passing" } }) { errors { message } }
            needs: serviceDependencyCreate(inputV2: { dependencyKey: {
                sourceIdentifier: { alias: "shop" }, destinationIdentifier: { alias: "checkout" }
            }, notes: "n" }) { serviceDependency { id } errors { message } }
            needed: serviceDependencyCreate(inputV2: { dependencyKey: {
                sourceIdentifier: { alias: "checkout" }, destinationIdentifier: { alias: "shop" }
            }, notes: "n" }) { serviceDependency { id } errors { message } }
            tag: tagCreate(input: { alias: "shop", key: "env", value: "prod" }) { tag { id } errors { message } }
            oldTag: tagCreate(input: { alias: "shop", key: "old", value: "1" }) { tag { id } errors { message } }
            repository: repositoryCreate(input: {
                name: "org/shop", url: "https://github.com/org/shop", defaultBranch: "main", private: true,
                description: "d", forked: true, languages: [{ name: "Go", usage: 0.25 }, { name: "Rust", usage: 0.75 }]
            }) { repository { id } errors { message } }
            archived: repositoryUpdate(input: {
                alias: "github.com:org/shop", archivedAt: "2026-01-02T03:04:05Z", sbomGeneration: opt_in
            }) { errors { message } }
            who: serviceOnCallsUpdate(input: { service: { alias: "shop" }, onCalls: {
                name: "Ada", externalEmail: "Ada@example.com", schedule: "Nights", url: "https://oncall.example.com", endsAt: "2999-01-01T00:00:00Z"
            } }) { service { id } errors { message } }
            vital: filterCreate(input: { name: "Vital", connective: or, predicates: [
                { key: tier_index, type: less_than_or_equal_to, value: "2" },
                { key: tags, keyData: "env", type: equals, value: "prod", caseSensitive: false }
            ] }) { filter { id } errors { message } }
            oldFilter: filterCreate(input: { name: "Old" }) { filter { id } errors { message } }
            old: repositoryCreate(input: { name: "org/old" }) { repository { id } errors { message } }
            new: repositoryCreate(input: { name: "org/new" }) { repository { id } errors { message } }
            spare: repositoryCreate(input: { name: "org/spare" }) { repository { id } errors { message } }
            repositoryTag: tagAssign(input: { alias: "org/old", type: Repository, tags: { key: "a", value: "" } }) { tags { id } errors { message } }
            shopRepositoryTag: tagAssign(input: { alias: "github.com:org/shop", type: Repository, tags: { key: "a", value: "" } }) { tags { id } errors { message } }
            link: serviceRepositoryCreate(input: {
                service: { alias: "shop" }, repository: { alias: "github.com:org/shop" }, baseDirectory: "/src", displayName: "Code"
            }) { serviceRepository { id } errors { message } }
            oldLink: serviceRepositoryCreate(input: { service: { alias: "shop" }, repository: { alias: "org/old" } }) {
                serviceRepository { id } errors { message }
            }
        "#;
        self.make(mutations, &[]).await;
        self.make(
            r#"
                shopAlias: aliasCreate(input: { ownerId: $shop, alias: "store" }) { aliases errors { message } }
                baseAlias: aliasCreate(input: { ownerId: $ledgerBase, alias: "base" }) { aliases errors { message } }
                otherBaseAlias: aliasCreate(input: { ownerId: $ledgerBase, alias: "base-2" }) { aliases errors { message } }
                billed: relationshipCreate(relationshipDefinition: {
                    type: related_to, relationshipDefinition: { alias: "billing" }, source: { alias: "shop" }, target: { alias: "core" }
                }) { relationship { id } errors { message } }
                baseTied: relationshipCreate(relationshipDefinition: {
                    type: belongs_to, source: { id: $ledgerBase }, target: { alias: "till" }
                }) { relationship { id } errors { message } }
                teamTied: relationshipCreate(relationshipDefinition: {
                    type: related_to, source: { alias: "core" }, target: { alias: "commerce" }
                }) { relationship { id } errors { message } }
                domainTied: relationshipCreate(relationshipDefinition: {
                    type: depends_on, source: { alias: "commerce" }, target: { id: $ledgerBase }
                }) { relationship { id } errors { message } }
                systemTied: relationshipCreate(relationshipDefinition: {
                    type: depends_on, source: { alias: "till" }, target: { alias: "shop" }
                }) { relationship { id } errors { message } }
                baseTag: tagCreate(input: { id: $ledgerBase, key: "env", value: "dev" }) { tag { id } errors { message } }
                baseOwner: infrastructureResourceUpdate(infrastructureResource: { id: $ledgerBase }, input: { ownerId: $Core }) {
                    infrastructureResource { id } errors { message }
                }
                tillAlias: aliasCreate(input: { ownerId: $Till, alias: "till-2" }) { aliases errors { message } }
                commerceAlias: aliasCreate(input: { ownerId: $Commerce, alias: "trade-2" }) { aliases errors { message } }
                tillFull: systemUpdate(system: { id: $Till }, input: {
                    description: "d", note: "n", ownerId: $Core, parent: { id: $Commerce }
                }) { system { id } errors { message } }
                governed: serviceFilesApply(input: {
                    files: [{ path: "governed.yml", text: "version: 1\nservice: { name: Governed, language: Rust }" }]
                    repository: "https://github.com/org/governed", commit: "c0ffee"
                }) { documents { name } errors { message } }
                adaContact: contactCreate(input: { ownerId: $ada, type: email, address: "ada@example.com" }) { contact { id } errors { message } }
                shopContact: contactCreate(input: { ownerId: $shop, type: web, address: "https://shop.example.com" }) { contact { id } errors { message } }
                shopOwner: repositoryUpdate(input: { alias: "github.com:org/shop", ownerId: $Core }) { errors { message } }
                commerceFull: domainUpdate(domain: { id: $Commerce }, input: { description: "d", note: "n", ownerId: $Core }) {
                    domain { id } errors { message }
                }
            "#,
            &["shop", "Till", "Commerce", "Core", "ada", "ledgerBase"],
        )
        .await;
    }

    /// Posts documents of the shop, and signs Ada in.
    async fn documents(&mut self) {
        let app = &self.endpoint.app;
        for name in ["Docs", "OldDocs"] {
            let id = self.id(name);
            let endpoint = id::number::<integration::Entity>(id.as_str().expect("an id")).expect("an integration");
            let stored = api_document::store(&app.db, endpoint, "shop", "# The shop".to_owned()).await;
            assert_eq!(stored.expect("stored"), api_document::Stored::Created);
        }
        let tried = document_pull::Entity::update_many()
            .col_expr(document_pull::Column::PulledAt, Expr::value(Timestamp::now()))
            .col_expr(document_pull::Column::Error, Expr::value("docs.example.com answers 404"));
        app.db.write(async |db| db.exec(tried).await).await.expect("a pull");
        let ada = self.id("ada");
        let ada = id::number::<user::Entity>(ada.as_str().expect("an id")).expect("a user");
        let begun = app.db.write(async |db| session::begin(db, ada, None, Timestamp::now()).await);
        self.cookie = format!("rollcall_session={}", begun.await.expect("a session").0.reveal());
        let left = user::Entity::update_many()
            .col_expr(user::Column::DeactivatedAt, Expr::value(Timestamp::now()))
            .filter(user::Column::Email.eq("bob@example.com"));
        app.db.write(async |db| db.exec(left).await).await.expect("a deactivated user");
        let query = "{ account { documents { nodes { id source { ... on ApiDocIntegration { name } } } } } }";
        let found = app.query(query, json!({})).await;
        for document in found["data"]["account"]["documents"]["nodes"].as_array().expect("documents") {
            let name = format!("document {}", document["source"]["name"].as_str().expect("a name"));
            self.ids.insert(name, document["id"].clone());
        }
    }

    async fn integrations(&mut self) {
        let mutations = r#"
            Scanner: customIntegrationCreate(input: { name: "Scanner" }) { integration { id } errors { message } }
            Other: customIntegrationCreate(input: { name: "Other" }) { integration { id } errors { message } }
            Jenkins: eventIntegrationCreate(input: { name: "Jenkins", type: customEvent }) { integration { id } errors { message } }
            Docs: eventIntegrationCreate(input: { type: apiDoc }) { integration { id } errors { message } }
            OldDocs: eventIntegrationCreate(input: { name: "Old", type: apiDoc }) { integration { id } errors { message } }
            Aws: awsIntegrationCreate(input: {
                name: "AWS", externalId: "e", iamRole: "arn:aws:iam::1:role/r", ownershipTagKeys: ["owner"], awsTagsOverrideOwnership: true, regionOverride: ["eu-west-1"]
            }) { integration { id } errors { message } }
            Azure: azureResourcesIntegrationCreate(input: {
                name: "Azure", clientId: "c", clientSecret: "s", ownershipTagKeys: ["owner"], subscriptionId: "s", tenantId: "t", tagsOverrideOwnership: false
            }) { integration { id } errors { message } }
            Google: googleCloudIntegrationCreate(input: {
                name: "Google", clientEmail: "x@example.com", privateKey: "k", ownershipTagKeys: ["owner"], tagsOverrideOwnership: false
            }) { integration { id } errors { message } }
            Cluster: kubernetesIntegrationCreate(input: { name: "Cluster", extractDefinition: "a: 1", transformDefinition: "b: 2" }) {
                integration { id } errors { message }
            }
            Relic: newRelicIntegrationCreate(input: { apiKey: "k", baseUrl: "https://api.newrelic.com" }) { integration { id } errors { message } }
        "#;
        self.make(mutations, &[]).await;
        let mutations = r#"
            monitor: alertSourceUpsert(input: {
                identifier: { integration: { id: $Scanner }, externalId: "m" }, name: "Monitor", description: "d", metadata: "m",
                url: "https://monitor.example.com"
            }) { alertSource { id } errors { message } }
        "#;
        self.make(mutations, &["Scanner"]).await;
        let mutations = r#"
            watch: alertSourceServiceCreate(input: { alertSourceId: $monitor, service: { alias: "shop" } }) {
                alertSourceService { id } errors { message }
            }
            oldWatch: alertSourceServiceCreate(input: { alertSourceId: $monitor, service: { alias: "checkout" } }) {
                alertSourceService { id } errors { message }
            }
        "#;
        self.make(mutations, &["monitor"]).await;
        self.documents().await;
        let mutations = r#"
            project: codeIssueProjectUpsert(input: {
                identifier: { integration: { id: $Scanner }, externalId: "p" }, name: "shop", url: "https://scan.example.com/p"
            }) { codeIssueProject { id } errors { message } }
            lone: codeIssueProjectUpsert(input: { identifier: { integration: { id: $Scanner }, externalId: "lone" }, name: "shopping" }) {
                codeIssueProject { id } errors { message }
            }
            passing: codeIssueProjectUpsert(input: { identifier: { integration: { id: $Scanner }, externalId: "old" }, name: "org/old" }) {
                codeIssueProject { id } errors { message }
            }
            code: codeIssueProjectUpsert(input: { identifier: { integration: { id: $Scanner }, externalId: "code" }, name: "org/shop" }) {
                codeIssueProject { id } errors { message }
            }
            issue: codeIssueUpsert(input: {
                identifier: { codeIssueProject: { integration: { id: $Scanner }, externalId: "p" }, externalId: "i" }
                name: "Bad", issueCategory: "Vulnerability", issueType: "vuln", severity: "high", url: "https://scan.example.com/i"
                introducedAt: "2026-01-02T03:04:05Z"
                cves: [{ identifier: "CVE-2021-44228", url: "https://cve.example.com" }], cwes: [{ identifier: "CWE-79", url: "https://cwe.example.com" }]
            }) { codeIssue { id } errors { message } }
            codeIssue: codeIssueUpsert(input: {
                identifier: { codeIssueProject: { integration: { id: $Scanner }, externalId: "code" }, externalId: "i" }
                name: "Bad", issueCategory: "Vulnerability", issueType: "vuln", severity: "high", url: "https://scan.example.com/i"
                introducedAt: "2026-01-02T03:04:05Z"
            }) { codeIssue { id } errors { message } }
        "#;
        self.make(mutations, &["Scanner"]).await;
        self.make(tour_checks::CHECKS, tour_checks::ROWS).await;
        self.make(tour_events::SUBSCRIPTIONS, tour_events::ROWS).await;
        tour_events::failed(&self.endpoint.app).await;
        let category = "{ account { scorecard(input: { alias: \"ready\" }) { categories { nodes { id } } } } }";
        let found = self.endpoint.app.query(category, json!({})).await["data"]["account"]["scorecard"].clone();
        self.ids.insert("readyCategory".to_owned(), found["categories"]["nodes"][0]["id"].clone());
        self.make(tour_checks::IN_SCORECARD, tour_checks::SCORECARD).await;
        self.make(
            r#"answered: checkManualAnswer(input: { checkId: $asked, service: { alias: "shop" }, passed: true, comment: "c" }) {
                service { id } errors { message }
            }"#,
            &["asked"],
        )
        .await;
        let query = r#"{ account { repository(alias: "github.com:org/shop") { id checks { checks { fingerprint check { name } } } } } }"#;
        let answer = self.endpoint.app.query(query, json!({})).await;
        let repository = &answer["data"]["account"]["repository"];
        let checks = repository["checks"]["checks"].as_array().expect("checks");
        let filed = checks.iter().find(|one| one["check"]["name"] == "Filed").expect("it concerns the shop");
        let report = "mutation($input: RepositoryCheckResultsReportInput!) {
            repositoryCheckResultsReport(input: $input) { recorded errors { message } } }";
        let result = json!({
            "checkId": self.id("filed"), "serviceId": self.id("shop"), "fingerprint": filed["fingerprint"], "passed": false,
            "message": "It has no such file.", "path": "src/README",
        });
        let input = json!({ "repository": { "id": repository["id"] }, "commit": "0123abcd", "results": [result] });
        let done = self.endpoint.app.query(report, json!({ "input": input })).await;
        assert_eq!(done["data"]["repositoryCheckResultsReport"]["recorded"], json!(1), "{done}");
        self.ids.insert("fingerprint".to_owned(), filed["fingerprint"].clone());
        self.ids.insert("repository".to_owned(), repository["id"].clone());
        tour_checks::govern(&self.endpoint.app).await;
        tour_checks::stood(&self.endpoint.app).await;
    }

    async fn deploys(&mut self) {
        let whole = json!({
            "service": "shop", "description": "Sell more", "deployed_at": "2026-11-21 01:44:00", "started_at": "2026-11-21 01:43:00",
            "deploy_url": "https://ci.example.com/1", "dedup_id": "1", "environment": "production", "deploy_number": "7", "status": "success",
            "deployer": { "id": "u1", "name": "Ada", "email": "ada@example.com" },
            "commit": {
                "sha": "abc", "message": "m", "branch": "main", "date": "2026-11-21 01:00:00",
                "committer_name": "Ada", "committer_email": "ada@example.com", "author_name": "Bob",
                "author_email": "bob@example.com", "authoring_date": "2026-11-20 01:00:00",
            },
        });
        let failed = json!({ "deployed_at": "2026-11-20 01:44:00", "environment": "production", "status": "failed" });
        assert_eq!(self.endpoint.post_with(failed).await.status, 202);
        assert_eq!(self.endpoint.post(&whole).await.status, 202);
        for service in ["shopp", "store-front", "ledger", "quiet", "taken"] {
            assert_eq!(self.endpoint.post_with(json!({ "service": service })).await.status, 202);
        }
        let query =
            "{ account { serviceSuggestions { nodes { id alias kind } } deploys { nodes { id serviceAlias } } } }";
        let answer = self.endpoint.app.query(query, json!({})).await;
        let account = &answer["data"]["account"];
        for row in account["serviceSuggestions"]["nodes"].as_array().expect("suggestions") {
            self.ids.insert(format!("suggestion {}", row["alias"].as_str().expect("an alias")), row["id"].clone());
        }
        for row in account["deploys"]["nodes"].as_array().expect("deploys") {
            self.ids.insert(format!("deploy {}", row["serviceAlias"].as_str().expect("an alias")), row["id"].clone());
        }
        let accept = "mutation($id: ID!, $quiet: ID!) {
            serviceSuggestionAccept(input: { id: $id }) { errors { message } }
            serviceSuggestionIgnore(input: { id: $quiet }) { errors { message } }
        }";
        let ids = json!({ "id": self.id("suggestion taken"), "quiet": self.id("suggestion quiet") });
        let answer = self.endpoint.app.query(accept, ids).await;
        let none = json!({ "errors": [] });
        assert_eq!(answer["data"], json!({ "serviceSuggestionAccept": none, "serviceSuggestionIgnore": none }));
    }

    /// What Ada keeps of the list of services. One of her views names a tier that is deleted.
    async fn kept(&mut self) {
        let doomed = r#"doomed: tierCreate(input: { name: "Doomed" }) { tier { id } errors { message } }"#;
        self.make(doomed, &[]).await;
        let mutations = r#"
            view: savedViewCreate(input: { name: "Vital", query: "tier=tier_1" }) { savedView { id } errors { message } }
            oldView: savedViewCreate(input: { name: "Old", query: "" }) { savedView { id } errors { message } }
            brokenView: savedViewCreate(input: { name: "Broken", query: "tier=doomed", shared: true }) {
                savedView { id } errors { message }
            }
            star: serviceFavouriteAdd(service: { alias: "shop" }) { service { id } errors { message } }
        "#;
        self.make(mutations, &[]).await;
        self.make("gone: tierDelete(input: { id: $doomed }) { errors { message } }", &["doomed"]).await;
    }

    /// One call of every mutation with every field of its input, in an order in which all succeed.
    pub fn steps(&self) -> Vec<Step> {
        let id = |name: &str| self.id(name);
        let project = |external: &str| json!({ "integration": { "id": id("Scanner") }, "externalId": external });
        let issue = |external: &str| json!({ "codeIssueProject": project("p"), "externalId": external });
        let service = json!({
            "name": "Basket", "description": "d", "language": "Go", "framework": "gin", "product": "Shop", "note": "n",
            "apiDocumentUrl": "https://docs.example.com/basket.yml",
            "tierAlias": "tier_2", "lifecycleAlias": "beta", "ownerInput": { "id": id("Core") },
            "parent": { "alias": "till" }, "type": { "alias": "library" },
        });
        let rule = json!({
            "operator": "ARRAY_CONTAINS", "sourceProperty": "owner_email", "sourcePropertyBuiltin": false,
            "targetCategory": "people", "targetProperty": "name", "targetPropertyBuiltin": true, "targetType": "team",
        });
        let relationship_definition = json!({
            "alias": "hosted", "name": "Hosted by", "description": "d", "componentType": { "alias": "service" },
            "managementRules": [rule],
            "metadata": { "allowedCategories": ["people"], "allowedTypes": ["team"], "maxItems": 2, "minItems": 1 },
        });
        let component_type = json!({
            "name": "Widget", "alias": "widget", "category": "parts", "description": "d", "icon": { "color": "#123456", "name": "PhGear" },
            "ownerRelationship": { "managementRules": [rule] }, "systemRelationship": { "managementRules": [rule] },
            "properties": [{
                "alias": "size", "name": "Size", "description": "d", "allowedInConfigFiles": true, "lockedStatus": "ui_locked",
                "propertyDisplayStatus": "hidden", "schema": { "type": "integer" },
            }],
        });
        let infrastructure = json!({
            "schema": { "type": "Cluster" }, "data": { "name": "Ship", "nodes": 3, "odd": true }, "ownerId": id("Core"),
            "providerResourceType": "EKS",
            "providerData": { "accountName": "live", "externalUrl": "https://cloud.example.com/2", "providerName": "Cloud" },
        });
        let of_gizmo = json!([{
            "alias": "width", "name": "Width", "description": "d", "allowedInConfigFiles": true, "lockedStatus": "unlocked",
            "propertyDisplayStatus": "visible", "schema": "{\"type\": \"integer\"}",
        }]);
        let definition = json!({
            "name": "Zone", "description": "d", "schema": "{\"type\": \"string\"}", "allowedInConfigFiles": true,
            "lockedStatus": "ui_locked", "propertyDisplayStatus": "hidden",
        });
        let of_teams = |alias: &str| {
            json!({
                "alias": alias, "name": "Room", "description": "d", "schema": { "type": "string" }, "lockedStatus": "ui_locked",
            })
        };
        let tool = json!({ "category": "metrics", "displayName": "M", "environment": "e", "url": "https://metrics.example.com" });
        let contact = json!({ "type": "web", "address": "https://x.example.com", "displayName": "X", "displayType": "Y", "externalId": "z" });
        let system = json!({
            "name": "Counter", "description": "d", "note": "n", "ownerId": id("Core"), "parent": { "alias": "commerce" },
        });
        let domain = json!({ "name": "Trade", "description": "d", "note": "n", "ownerId": id("Core") });
        let changed = |mut input: Value, name: &str, value: Value| {
            input[name] = value;
            input
        };
        let member = |email: &str| json!([{ "user": { "email": email }, "role": "guest" }]);
        let by_address = json!([{ "email": "bob@example.com", "role": "guest" }]);
        let with_parts = [
            ("tools", json!([tool.clone()])),
            ("contacts", json!([{ "type": "web", "address": "https://x.example.com", "displayName": "X" }])),
            ("dependencies", json!([{ "service": { "id": id("Stock") }, "notes": "n" }])),
            (
                "repositories",
                json!([{ "repository": { "id": id("repository") }, "baseDirectory": "basket", "displayName": "Basket" }]),
            ),
            ("properties", json!([{ "definition": { "id": id("lanes") }, "value": "[\"a\"]" }])),
        ];
        let with_parts =
            with_parts.into_iter().fold(service.clone(), |input, (name, value)| changed(input, name, value));
        let grade = json!({ "name": "New", "alias": "new", "description": "d", "index": 9 });
        let grade_of =
            |name: &str| json!({ "id": id(name), "name": "Newer", "alias": "newer", "description": "e", "index": 3 });
        let weakness = |identifier: &str| json!([{ "identifier": identifier, "url": "https://cve.example.com" }]);
        let aws = json!({
            "name": "A", "externalId": "f", "iamRole": "arn", "ownershipTagKeys": ["k"], "awsTagsOverrideOwnership": false,
            "regionOverride": ["us-east-1"],
        });
        let azure = json!({
            "name": "B", "clientId": "c", "clientSecret": "s", "ownershipTagKeys": ["k"], "subscriptionId": "s", "tenantId": "t",
            "tagsOverrideOwnership": true,
        });
        let google = json!({
            "name": "C", "clientEmail": "y@example.com", "privateKey": "k", "ownershipTagKeys": ["k"], "tagsOverrideOwnership": true,
        });
        let cluster = json!({ "name": "D", "extractDefinition": "c: 3", "transformDefinition": "d: 4" });
        let relic = json!({ "apiKey": "k", "baseUrl": "https://api.eu.newrelic.com" });
        let predicate =
            json!({ "key": "language", "keyData": "k", "type": "equals", "value": "Rust", "caseSensitive": true });
        let steps = vec![
            ("changeRevert", json!({ "input": { "id": id("change"), "dryRun": false } })),
            ("serviceCreate", json!({ "input": with_parts })),
            (
                "serviceUpdate",
                json!({ "input": changed(changed(service, "id", id("Checkout")), "name", json!("Cashier")) }),
            ),
            ("serviceDelete", json!({ "input": { "alias": "Passing" } })),
            ("aliasCreate", json!({ "input": { "ownerId": id("shop"), "alias": "shop/live" } })),
            ("aliasDelete", json!({ "input": { "ownerType": "service", "alias": "store" } })),
            ("aliasDelete", json!({ "input": { "ownerType": "team", "alias": "kernel" } })),
            (
                "tagAssign",
                json!({ "input": { "id": id("Core"), "type": "Team", "tags": [{ "key": "k", "value": "v" }] } }),
            ),
            ("tagCreate", json!({ "input": { "alias": "core", "type": "Team", "key": "l", "value": "v" } })),
            ("tagUpdate", json!({ "input": { "id": id("tag"), "key": "stage", "value": "dev" } })),
            ("tagDelete", json!({ "input": { "id": id("oldTag") } })),
            (
                "teamCreate",
                json!({ "input": {
                "name": "Shop people", "managerEmail": "bob@example.com", "responsibilities": "r", "members": member("bob@example.com"),
                "parentTeam": { "id": id("Core") }, "group": { "alias": "g" }, "contacts": [{ "type": "slack", "address": "#shop", "displayName": "Shop" }],
            } }),
            ),
            (
                "teamUpdate",
                json!({ "input": {
                "id": id("Core"), "name": "Kernel", "managerEmail": "bob@example.com", "responsibilities": "r",
                "parentTeam": { "alias": "passing" }, "group": null,
                "members": [{ "user": { "email": "ada@example.com" }, "role": "lead" }, { "email": "bob@example.com" }],
            } }),
            ),
            ("teamCreate", json!({ "input": { "name": "By address", "members": by_address } })),
            ("teamUpdate", json!({ "input": { "id": id("Core"), "members": by_address } })),
            ("teamMembershipCreate", json!({ "input": { "teamId": id("Core"), "members": by_address } })),
            ("teamMembershipDelete", json!({ "input": { "teamId": id("Core"), "members": by_address } })),
            (
                "teamMembershipCreate",
                json!({ "input": { "teamId": id("Core"), "members": member("bob@example.com") } }),
            ),
            ("teamDelete", json!({ "input": { "alias": "passing", "successor": { "id": id("Core") } } })),
            (
                "teamMembershipCreate",
                json!({ "input": { "teamId": id("Core"), "members": member("eve@example.com") } }),
            ),
            (
                "teamMembershipDelete",
                json!({ "input": { "teamId": id("Core"), "members": member("bob@example.com") } }),
            ),
            ("componentTypeCreate", json!({ "input": component_type })),
            (
                "componentTypeUpdate",
                json!({ "componentType": { "id": id("gadget") }, "input": changed(changed(component_type.clone(), "alias", json!("gizmo")), "properties", of_gizmo) }),
            ),
            ("componentTypeDelete", json!({ "resource": { "alias": "passing" } })),
            ("infrastructureResourceCreate", json!({ "input": infrastructure })),
            (
                "infrastructureResourceUpdate",
                json!({ "infrastructureResource": { "alias": "base" }, "input": infrastructure }),
            ),
            (
                "relationshipCreate",
                json!({ "relationshipDefinition": {
                    "relationshipDefinition": { "id": id("billing") }, "source": { "alias": "shop" },
                    "target": { "id": id("ledgerBase") }, "type": "related_to",
                } }),
            ),
            ("relationshipDelete", json!({ "input": { "id": id("teamTied") } })),
            ("relationshipDefinitionCreate", json!({ "input": relationship_definition })),
            (
                "relationshipDefinitionUpdate",
                json!({
                    "relationshipDefinition": { "id": id("billing") },
                    "input": changed(relationship_definition.clone(), "alias", json!("billed")),
                }),
            ),
            ("relationshipDefinitionDelete", json!({ "resource": { "id": id("oldRelation") } })),
            ("infrastructureResourceDelete", json!({ "resource": { "id": id("oldBase") } })),
            ("aliasDelete", json!({ "input": { "ownerType": "infrastructure_resource", "alias": "base-2" } })),
            ("propertyDefinitionCreate", json!({ "input": definition })),
            (
                "propertyDefinitionUpdate",
                json!({ "propertyDefinition": { "id": id("lanes") }, "input": changed(definition.clone(), "schema", json!({})) }),
            ),
            ("propertyDefinitionDelete", json!({ "resource": { "alias": "passing" } })),
            (
                "propertyAssign",
                json!({ "input": {
                    "definition": { "id": id("lanes") }, "owner": { "id": id("shop") }, "ownerType": "COMPONENT", "runValidation": true,
                    "value": "[\"b\"]",
                } }),
            ),
            (
                "propertyAssign",
                json!({ "input": {
                    "definition": { "alias": "rota" }, "owner": { "alias": "core" }, "ownerType": "TEAM", "value": "[\"b\"]",
                } }),
            ),
            ("propertyUnassign", json!({ "owner": { "id": id("Core") }, "definition": { "alias": "lanes" } })),
            ("teamPropertyDefinitionCreate", json!({ "input": of_teams("room") })),
            (
                "teamPropertyDefinitionUpdate",
                json!({ "propertyDefinition": { "alias": "rota" }, "input": of_teams("shift") }),
            ),
            ("teamPropertyDefinitionsAssign", json!({ "input": { "properties": [of_teams("floor")] } })),
            ("levelCreate", json!({ "input": { "name": "Silver", "description": "d", "index": 4 } })),
            ("levelUpdate", json!({ "input": { "id": id("bronze"), "name": "Copper", "description": "e" } })),
            ("levelDelete", json!({ "input": { "id": id("oldLevel") } })),
            ("categoryCreate", json!({ "input": { "name": "Speed", "description": "d" } })),
            ("categoryUpdate", json!({ "input": { "id": id("security"), "name": "Safety", "description": "e" } })),
            ("categoryDelete", json!({ "input": { "id": id("oldCategory") } })),
            ("serviceNoteUpdate", json!({ "input": { "service": { "alias": "shop" }, "note": "m" } })),
            ("serviceNoteUpdate", json!({ "input": { "service": { "id": id("shop") }, "note": "n" } })),
            (
                "serviceApiDocSettingsUpdate",
                json!({
                    "service": { "alias": "shop" }, "apiDocumentPath": "api.yml", "preferredApiDocumentSource": "PUSH",
                    "apiDocumentUrl": "https://docs.example.com/api.yml",
                }),
            ),
            (
                "serviceApiDocSettingsUpdate",
                json!({
                    "service": { "id": id("shop") }, "apiDocumentPath": "api.yml", "preferredApiDocumentSource": "PUSH",
                    "apiDocumentUrl": "https://docs.example.com/shop.yml",
                }),
            ),
            (
                "serviceRepositoryUpdate",
                json!({ "input": { "id": id("link"), "baseDirectory": "lib", "displayName": "Library" } }),
            ),
            (
                "serviceCreate",
                json!({ "input": { "name": "Older", "ownerAlias": "core", "skipAliasesValidation": true } }),
            ),
            (
                "serviceUpdate",
                json!({ "input": { "id": id("Stock"), "ownerAlias": "core", "skipAliasesValidation": false } }),
            ),
            ("toolCreate", json!({ "input": changed(tool.clone(), "serviceId", id("shop")) })),
            ("toolCreate", json!({ "input": changed(tool.clone(), "serviceAlias", json!("shop")) })),
            ("toolUpdate", json!({ "input": changed(tool.clone(), "id", id("shopTool")) })),
            ("toolDelete", json!({ "input": { "id": id("oldTool") } })),
            ("contactCreate", json!({ "input": changed(contact.clone(), "ownerId", id("ada")) })),
            ("contactCreate", json!({ "input": changed(contact.clone(), "teamId", id("Core")) })),
            ("contactCreate", json!({ "input": changed(contact.clone(), "teamAlias", json!("core")) })),
            (
                "contactUpdate",
                json!({ "input": changed(changed(contact, "id", id("coreContact")), "makeDefault", json!(true)) }),
            ),
            ("contactDelete", json!({ "input": { "id": id("oldContact") } })),
            (
                "serviceFilesApply",
                json!({ "input": {
                    "files": [{ "path": "governed.yml", "text": "version: 1\nservice: { name: Governed, language: Go, dependencies: [nobody], repositories: [org/spare] }" }],
                    "repository": "https://github.com/org/governed", "commit": "c0ffee", "dryRun": false, "releaseMissing": false,
                } }),
            ),
            (
                "serviceDependencyCreate",
                json!({ "inputV2": {
                    "dependencyKey": { "source": id("shop"), "destination": id("Stock"), "notes": "k" }, "notes": "n",
                } }),
            ),
            (
                "serviceDependencyCreate",
                json!({ "inputV2": { "dependencyKey": {
                    "sourceIdentifier": { "alias": "checkout" }, "destinationIdentifier": { "alias": "Stock" },
                } } }),
            ),
            (
                "serviceDependencyCreate",
                json!({ "inputV2": { "dependencyKey": {
                    "sourceIdentifier": { "id": id("Stock") }, "destinationIdentifier": { "id": id("shop") },
                } } }),
            ),
            ("serviceDependencyDelete", json!({ "input": { "id": id("needs") } })),
            ("systemCreate", json!({ "input": system })),
            ("systemUpdate", json!({ "system": { "id": id("Till") }, "input": system })),
            ("systemDelete", json!({ "resource": { "alias": "passing" } })),
            (
                "systemChildAssign",
                json!({ "system": { "alias": "till" }, "childServices": [{ "alias": "shop" }, { "id": id("Checkout") }] }),
            ),
            (
                "servicesUpdate",
                json!({ "input": {
                    "services": [{ "id": id("shop") }, { "alias": "checkout" }], "ownerAlias": "core", "tierAlias": "tier_1",
                    "lifecycleAlias": "beta", "parent": { "alias": "till" }, "tags": [{ "key": "lane", "value": "web" }],
                    "dryRun": false,
                } }),
            ),
            ("domainCreate", json!({ "input": domain })),
            ("domainUpdate", json!({ "domain": { "id": id("Commerce") }, "input": domain })),
            ("domainDelete", json!({ "resource": { "alias": "passing" } })),
            (
                "domainChildAssign",
                json!({ "domain": { "id": id("Commerce") }, "childSystems": [{ "id": id("Till") }] }),
            ),
            ("aliasDelete", json!({ "input": { "ownerType": "system", "alias": "till-2" } })),
            ("aliasDelete", json!({ "input": { "ownerType": "domain", "alias": "trade-2" } })),
            (
                "userInvite",
                json!({
                    "email": "new@example.com", "input": { "name": "New", "role": "user", "skipWelcomeEmail": true },
                    "forceSendInvite": true,
                }),
            ),
            (
                "userUpdate",
                json!({ "user": { "id": id("bob") }, "input": { "name": "Robert", "role": "admin", "skipWelcomeEmail": true } }),
            ),
            (
                "userDelete",
                json!({ "user": { "email": "eve@example.com" }, "successor": { "email": "ada@example.com" } }),
            ),
            ("tierCreate", json!({ "input": grade })),
            ("tierUpdate", json!({ "input": grade_of("hobby") })),
            ("tierDelete", json!({ "input": { "id": id("tier") } })),
            ("lifecycleCreate", json!({ "input": grade })),
            ("lifecycleUpdate", json!({ "input": grade_of("dusk") })),
            ("lifecycleDelete", json!({ "input": { "id": id("lifecycle") } })),
            (
                "repositoryCreate",
                json!({ "input": {
                "name": "org/fresh", "defaultAlias": "fresh", "defaultBranch": "main", "private": true,
                "url": "https://github.com/org/fresh", "visible": true, "description": "d", "forked": false,
                "languages": [{ "name": "Go", "usage": 1.0 }], "ownerId": id("Core"),
            } }),
            ),
            (
                "repositoryUpdate",
                json!({ "input": {
                "id": id("repository"), "name": "org/store", "defaultBranch": "trunk", "private": false,
                "url": "https://github.com/org/store", "visible": false, "archivedAt": "2026-01-02T03:04:05Z",
                "description": "e", "forked": false, "languages": [{ "name": "C", "usage": 0.5 }], "ownerId": id("Core"),
                "sbomGeneration": "opt_out",
            }, "syncLinkedServices": true }),
            ),
            (
                "repositoriesUpdate",
                json!({
                    "repositories": [{ "id": id("new") }, { "alias": "org/spare" }], "owner": { "id": id("Core") },
                    "visible": true, "syncLinkedServices": true,
                }),
            ),
            (
                "serviceRepositoryCreate",
                json!({ "input": {
                "service": { "id": id("shop") }, "repository": { "id": id("new") }, "baseDirectory": "/a", "displayName": "A",
            } }),
            ),
            ("serviceRepositoryDelete", json!({ "input": { "id": id("oldLink") } })),
            ("customIntegrationCreate", json!({ "input": { "name": "Newest" } })),
            ("customIntegrationUpdate", json!({ "integration": { "id": id("Scanner") }, "input": { "name": "Scan" } })),
            ("eventIntegrationCreate", json!({ "input": { "name": "CD", "type": "deploy" } })),
            ("eventIntegrationUpdate", json!({ "input": { "id": id("Jenkins"), "name": "Hudson" } })),
            ("eventIntegrationUrlRotate", json!({ "input": { "id": id("Jenkins") } })),
            ("awsIntegrationCreate", json!({ "input": aws })),
            ("awsIntegrationUpdate", json!({ "integration": { "id": id("Aws") }, "input": aws })),
            ("azureResourcesIntegrationCreate", json!({ "input": azure })),
            ("azureResourcesIntegrationUpdate", json!({ "integration": { "id": id("Azure") }, "input": azure })),
            ("googleCloudIntegrationCreate", json!({ "input": google })),
            ("googleCloudIntegrationUpdate", json!({ "integration": { "id": id("Google") }, "input": google })),
            ("kubernetesIntegrationCreate", json!({ "input": cluster })),
            ("kubernetesIntegrationUpdate", json!({ "integration": { "id": id("Cluster") }, "input": cluster })),
            ("newRelicIntegrationCreate", json!({ "input": relic })),
            ("newRelicIntegrationUpdate", json!({ "resource": { "id": id("Relic") }, "input": relic })),
            ("integrationReactivate", json!({ "integration": { "id": id("Aws") } })),
            ("serviceDocumentDelete", json!({ "input": { "id": id("document Old") } })),
            (
                "serviceOnCallsUpdate",
                json!({ "input": { "service": { "id": id("shop") }, "onCalls": [{
                    "name": "Bob", "externalEmail": "bob@example.com", "schedule": "Days", "url": "https://oncall.example.com",
                    "endsAt": "2999-01-01T00:00:00Z",
                }] } }),
            ),
            (
                "alertSourceUpsert",
                json!({ "input": {
                    "identifier": { "integration": { "id": id("Scanner") }, "externalId": "m" }, "name": "Watcher", "description": "e",
                    "metadata": "n", "url": "https://monitor.example.com/m",
                } }),
            ),
            (
                "alertSourceStatusUpdate",
                json!({ "input": {
                    "alertSource": { "integration": { "id": id("Scanner") }, "externalId": "m" }, "status": "alert",
                } }),
            ),
            ("alertSourceServiceDelete", json!({ "input": { "id": id("oldWatch") } })),
            (
                "alertSourceServiceCreate",
                json!({ "input": { "alertSourceId": id("monitor"), "service": { "alias": "Stock" } } }),
            ),
            (
                "alertSourceServiceCreate",
                json!({ "input": {
                    "alertSourceExternalIdentifier": { "type": "custom", "externalId": "m" }, "service": { "id": id("Checkout") },
                } }),
            ),
            ("filterCreate", json!({ "input": { "name": "Rust", "connective": "and", "predicates": [predicate] } })),
            (
                "filterUpdate",
                json!({ "input": { "id": id("vital"), "name": "Go", "connective": "or", "predicates": [predicate] } }),
            ),
            ("filterDelete", json!({ "input": { "id": id("oldFilter") } })),
            (
                "codeIssueProjectUpsert",
                json!({ "input": { "identifier": project("q"), "name": "shop", "url": "https://scan.example.com/q" } }),
            ),
            (
                "codeIssueProjectResourceConnect",
                json!({ "input": { "codeIssueProjectIds": [id("lone")], "resourceId": id("shop") } }),
            ),
            (
                "codeIssueProjectResourceDisconnect",
                json!({ "input": { "codeIssueProjectId": id("project"), "resourceId": id("shop") } }),
            ),
            (
                "codeIssueUpsert",
                json!({ "input": {
                "identifier": issue("j"), "name": "Worse", "issueCategory": "License", "issueType": "l", "severity": "low",
                "url": "https://scan.example.com/j", "introducedAt": "2026-01-02T03:04:05Z",
                "cves": weakness("CVE-2021-45046"), "cwes": weakness("CWE-502"),
            } }),
            ),
            ("codeIssueDelete", json!({ "input": issue("i") })),
            ("codeIssueProjectDelete", json!({ "input": project("old") })),
            ("integrationDelete", json!({ "resource": { "id": id("Other") } })),
            ("deployDelete", json!({ "input": { "id": id("deploy ledger") } })),
            ("serviceSuggestionIgnore", json!({ "input": { "id": id("suggestion ledger") } })),
            ("serviceSuggestionUnignore", json!({ "input": { "id": id("suggestion quiet") } })),
            ("serviceSuggestionsIgnore", json!({ "input": { "ids": [id("suggestion ledger")], "reopen": true } })),
            (
                "serviceSuggestionsAccept",
                json!({ "input": { "ids": [id("suggestion quiet")], "ownerInput": { "id": id("Core") }, "tierAlias": "tier_1" } }),
            ),
            ("serviceSuggestionAccept", json!({ "input": { "id": id("suggestion shopp"), "name": "Shopp" } })),
            (
                "serviceSuggestionAccept",
                json!({ "input": { "id": id("suggestion store-front"), "service": { "id": id("shop") } } }),
            ),
            ("serviceSuggestionsUndo", json!({ "input": { "ids": [id("suggestion shopp")] } })),
            ("repositoryDelete", json!({ "input": { "alias": "org/old" } })),
        ];
        // The last, because it takes the names of levels.
        let (level, checks) = (
            json!([{ "name": "More" }]),
            json!([
                { "name": "Fresh", "type": "tag_defined", "level": "More", "category": "Governed", "tag_key": "none" },
                { "name": "Later", "type": "service_dependency", "notes": "other" },
            ]),
        );
        let apply = |standards: Value, dry: bool| {
            let file = json!({ "version": 1, "standards": standards }).to_string();
            let files = json!([{ "path": "standards/more.yml", "text": file }]);
            json!({ "input": { "files": files, "dryRun": dry, "deleteMissing": true } })
        };
        let last = [
            ("standardsApply", apply(json!({ "levels": level, "checks": checks }), true)),
            ("standardsApply", apply(json!({ "levels": level }), false)),
            ("standardsRelease", json!({ "input": { "path": "standards/more.yml" } })),
            ("standardsStarterCreate", json!({})),
        ];
        let kept = [
            ("savedViewCreate", json!({ "input": { "name": "Late", "query": "columns=owner", "shared": true } })),
            (
                "savedViewUpdate",
                json!({ "input": { "id": id("view"), "name": "Later", "query": "sort=name_DESC", "shared": true } }),
            ),
            ("savedViewDelete", json!({ "input": { "id": id("oldView") } })),
            ("serviceFavouriteAdd", json!({ "service": { "id": id("Checkout") } })),
            ("serviceFavouriteRemove", json!({ "service": { "alias": "shop" } })),
        ];
        // Before what they refer to is changed or deleted.
        let steps = kept.into_iter().chain(steps);
        let steps = tour_checks::steps(&id).into_iter().chain(tour_events::steps(&id)).chain(steps).chain(last);
        steps.map(|(mutation, arguments)| Step { mutation, arguments }).collect()
    }
}

/// The id of the first object that a payload holds.
fn first_id(payload: &Value) -> Option<Value> {
    payload.as_object()?.values().find_map(|value| {
        let object = value.as_array().and_then(|items| items.first()).unwrap_or(value);
        object.get("id").cloned()
    })
}
