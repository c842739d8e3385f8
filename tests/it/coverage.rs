//! Nothing in the schema is untested: a tour of a full catalogue selects every field of every type and calls every
//! mutation. Each returns something other than null at least once.

use std::collections::{BTreeSet, HashMap, HashSet};

use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use rollcall::deploy::event;
use rollcall::entity::integration;
use rollcall::graphql::field::id;
use serde_json::{Value, json};

use crate::tour::{Tour, object, schema};
use crate::tour_checks;

/// Fields that are always null, and why.
const ALWAYS_NULL: [(&str, &str); 16] = [
    ("AwsIntegration.invalidatedAt", NOT_ASKED),
    ("AwsIntegration.invalidatedReason", NOT_ASKED),
    ("AwsIntegration.webhookUrl", NO_WEBHOOK),
    ("AzureResourcesIntegration.aliases", "integrations have no aliases; clients select them"),
    ("AzureResourcesIntegration.webhookUrl", NO_WEBHOOK),
    ("Campaign.reminder", NO_REMINDERS),
    ("CustomIntegration.webhookUrl", NO_WEBHOOK),
    ("GoogleCloudIntegration.aliases", "integrations have no aliases; clients select them"),
    ("GoogleCloudIntegration.projects", NOT_ASKED),
    ("GoogleCloudIntegration.webhookUrl", NO_WEBHOOK),
    ("KubernetesIntegration.webhookUrl", NO_WEBHOOK),
    ("NewRelicIntegration.accountKey", NOT_ASKED),
    ("NewRelicIntegration.webhookUrl", NO_WEBHOOK),
    ("Repository.locked", "no service file governs a repository; clients select it"),
    ("RubricReport.categoryLevel", "levels in categories are in `maturityReport`; clients select it"),
    ("SBOMGenerationConfiguration.nextGenerationAt", "rollcall generates no bills of materials; clients select it"),
];
/// Types that no object has, and why.
const NO_OBJECTS: [(&str, &str); 2] = [("CampaignReminder", NO_REMINDERS), ("GoogleCloudProject", NOT_ASKED)];
const NO_REMINDERS: &str = "rollcall sends no reminders; clients select it";
const NO_WEBHOOK: &str = "nothing is posted to it; the field is the interface's";
const NOT_ASKED: &str = "rollcall does not connect to clouds; clients select it with every integration";

/// Builds selections of all fields of a type.
pub struct Everything<'s> {
    schema: &'s Schema,
    /// The types of `Account`'s fields. Inside others, only their leaves are selected.
    reached: HashSet<&'s Name>,
}

impl<'s> Everything<'s> {
    pub fn new(schema: &'s Schema) -> Self {
        let mut this = Self { schema, reached: HashSet::new() };
        for field in object(schema, "Account").fields.values() {
            this.reached.insert(this.item(field.ty.inner_named_type()));
        }
        this
    }

    /// The node type of a connection, or the type itself.
    fn item(&self, name: &'s Name) -> &'s Name {
        match self.schema.get_object(name).and_then(|object| object.fields.get("nodes")) {
            Some(nodes) => nodes.ty.inner_named_type(),
            None => name,
        }
    }

    fn fields(&self, name: &Name) -> Vec<&'s Component<FieldDefinition>> {
        match &self.schema.types[name] {
            ExtendedType::Object(object) => object.fields.values().collect(),
            ExtendedType::Interface(interface) => interface.fields.values().collect(),
            _ => Vec::new(),
        }
    }

    /// The selection set of a type. Empty for a leaf.
    pub fn of(&self, name: &'s Name) -> String {
        if let ExtendedType::Union(union) = &self.schema.types[name] {
            // Fields of one name may have different types in two members.
            let renamed = |member: &'s Name| {
                let fields = self.fields(member).into_iter().filter(|field| self.is_leaf(field));
                fields.map(|field| format!("{member}_{0}: {0}", field.name)).collect::<Vec<_>>().join(" ")
            };
            let members = union.members.iter().map(|member| format!("... on {member} {{ {} }}", renamed(&member.name)));
            return format!("{{ __typename {} }}", members.collect::<Vec<_>>().join(" "));
        }
        let fields = self.fields(name);
        if fields.is_empty() {
            return String::new();
        }
        if NO_OBJECTS.iter().any(|(none, _)| *name == *none) {
            return "{ __typename }".to_owned();
        }
        let mut selected = vec!["__typename".to_owned()];
        for field in fields {
            let inner = field.ty.inner_named_type();
            // `Account`'s fields are fully selected on `Account`.
            let is_seen_elsewhere = self.reached.contains(self.item(inner)) && !self.wraps(name);
            // The same objects are in `nodes`, with all their fields.
            let is_repeated = field.name == "node";
            let below = if is_seen_elsewhere || is_repeated { self.leaves(inner) } else { self.of(inner) };
            // The required argument.
            let takes_one = field.arguments.iter().any(|argument| argument.name == "definition");
            let argument = if takes_one { "(definition: { alias: \"lanes\" })" } else { "" };
            selected.push(format!("{}{argument} {below}", field.name));
        }
        if let ExtendedType::Interface(_) = &self.schema.types[name] {
            for object in self.implementers(name) {
                if !self.reached.contains(object) {
                    selected.push(format!("... on {object} {}", self.of(object)));
                }
            }
        }
        format!("{{ {} }}", selected.join(" "))
    }

    /// Whether a type only wraps another: a connection or an edge.
    fn wraps(&self, name: &Name) -> bool {
        self.schema
            .get_object(name)
            .is_some_and(|object| object.fields.contains_key("nodes") || object.fields.contains_key("node"))
    }

    fn implementers(&self, name: &Name) -> Vec<&'s Name> {
        let objects = self.schema.types.values().filter_map(|ty| ty.as_object());
        objects
            .filter(|object| object.implements_interfaces.iter().any(|one| **one == *name))
            .map(|object| &object.name)
            .collect()
    }

    fn is_leaf(&self, field: &Component<FieldDefinition>) -> bool {
        let ty = &self.schema.types[field.ty.inner_named_type()];
        ty.is_scalar() || ty.is_enum()
    }

    /// The leaf fields of a type, including those of its wrappers.
    pub fn leaves(&self, name: &'s Name) -> String {
        if self.schema.types[name].is_union() {
            return "{ __typename }".to_owned();
        }
        if self.fields(name).is_empty() {
            return String::new();
        }
        let mut selected: Vec<_> = vec!["__typename".to_owned()];
        selected.extend(
            self.fields(name).iter().copied().filter(|field| self.is_leaf(field)).map(|field| field.name.to_string()),
        );
        if self.wraps(name) {
            for wrapped in ["nodes", "edges", "node", "pageInfo", "paths", "serviceRepositories"] {
                if let Some(field) = self.schema.get_object(name).and_then(|object| object.fields.get(wrapped)) {
                    selected.push(format!("{wrapped} {}", self.leaves(field.ty.inner_named_type())));
                }
            }
        }
        format!("{{ {} }}", selected.join(" "))
    }
}

/// Records the fields, as `Type.field`, that have a value in a response.
fn note(set: &SelectionSet, answer: &Value, seen: &mut BTreeSet<String>) {
    if let Value::Array(items) = answer {
        return items.iter().for_each(|item| note(set, item, seen));
    }
    let Value::Object(object) = answer else { return };
    let actual = object.get("__typename").and_then(Value::as_str).unwrap_or(set.ty.as_str());
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => {
                let value = &object[field.response_key().as_str()];
                if !value.is_null() && field.name != "__typename" {
                    seen.insert(format!("{actual}.{}", field.name));
                    seen.insert(format!("{}.{}", set.ty, field.name));
                    note(&field.selection_set, value, seen);
                }
            }
            Selection::InlineFragment(fragment) => {
                if fragment.type_condition.as_ref().is_none_or(|on| on == actual) {
                    note(&fragment.selection_set, answer, seen);
                }
            }
            Selection::FragmentSpread(_) => unreachable!("the tour spreads no fragments"),
        }
    }
}

/// Runs an operation, records its fields and returns its data.
async fn visit(
    tour: &Tour,
    schema: &Valid<Schema>,
    operation: &str,
    variables: Value,
    seen: &mut BTreeSet<String>,
) -> Value {
    let document = ExecutableDocument::parse_and_validate(schema, operation, "tour.graphql");
    let document = document.unwrap_or_else(|errors| panic!("{operation}\n{errors}"));
    let mut answer = tour.ask(operation, variables).await;
    assert_eq!(answer.get("errors"), None, "{operation}");
    let set = &document.operations.iter().next().expect("an operation").selection_set;
    note(set, &answer["data"], seen);
    answer["data"].take()
}

/// Every field of every object type and interface.
fn coordinates(schema: &Schema) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (name, ty) in schema.types.iter().filter(|(_, ty)| !ty.is_built_in()) {
        let fields: Vec<_> = match ty {
            ExtendedType::Object(object) => object.fields.keys().collect(),
            ExtendedType::Interface(interface) => interface.fields.keys().collect(),
            _ => Vec::new(),
        };
        all.extend(fields.iter().map(|field| format!("{name}.{field}")));
    }
    all
}

#[tokio::test]
async fn a_field_of_a_listed_service_has_the_same_value_alone_and_beside_all_others() {
    let tour = Tour::start().await;
    let schema = schema();
    let everything = Everything::new(&schema);
    let listed = async |list: &str, selection: &str| -> Vec<Value> {
        let query = format!("{{ account {{ services {{ {list} {{ {selection} }} }} }} }}");
        let answer = tour.endpoint.app.query(&query, json!({})).await;
        answer["data"]["account"]["services"][list].as_array().expect("services").clone()
    };
    // The value of one is the time of the request. The other needs an argument.
    let is_asked = |name: &str| !["deployMetrics", "property"].contains(&name);
    let fields = object(&schema, "Service").fields.values().filter(|field| is_asked(&field.name));
    let selections: Vec<(&str, String)> = fields
        .map(|field| {
            (field.name.as_str(), format!("{} {}", field.name, everything.leaves(field.ty.inner_named_type())))
        })
        .collect();
    let all: Vec<&str> = selections.iter().map(|(_, selection)| &**selection).collect();
    let whole = listed("nodes", &all.join(" ")).await;
    for (name, selection) in &selections {
        let expected: Vec<Value> = whole.iter().map(|node| json!({ *name: node[*name] })).collect();
        assert_eq!(listed("nodes", selection).await, expected, "{name}");
        let edges = listed("edges", &format!("node {{ {selection} }}")).await;
        let nodes: Vec<Value> = edges.iter().map(|edge| edge["node"].clone()).collect();
        assert_eq!(nodes, expected, "{name}");
    }
}

/// Records a custom event, on which a check can be tried.
pub async fn record_event(tour: &Tour) {
    let jenkins =
        id::number::<integration::Entity>(tour.id("Jenkins").as_str().expect("an id")).expect("an integration");
    let event = r#"["shop", "bad"]"#.to_owned();
    assert!(event::record(&tour.endpoint.app.db, jenkins, event).await.expect("an event"));
}

/// The arguments that try a check of custom events.
fn tried(tour: &Tour, selector: &str) -> String {
    let condition = "if $ctx.index == 0 then true else error(\\\"e\\\") end";
    format!(
        "(integrationId: {}, serviceSelector: \"{selector}\", successCondition: \"{condition}\", resultMessage: \"m\")",
        tour.id("Jenkins")
    )
}

/// The arguments of fields of `Account` that are about one thing.
pub fn arguments(tour: &Tour) -> HashMap<&'static str, String> {
    HashMap::from([
        ("customEventCheckPreview", tried(tour, ".[]")),
        ("service", "(alias: \"shop\")".to_owned()),
        ("configFile", format!("(id: {})", tour.id("shop"))),
        ("team", "(alias: \"core\")".to_owned()),
        ("system", "(input: { alias: \"till\" })".to_owned()),
        ("domain", "(input: { alias: \"commerce\" })".to_owned()),
        ("level", format!("(id: {})", tour.id("bronze"))),
        ("category", format!("(id: {})", tour.id("security"))),
        ("campaign", format!("(id: {})", tour.id("over"))),
        ("scorecard", "(input: { alias: \"ready\" })".to_owned()),
        ("eventSubscription", format!("(id: {})", tour.id("chat"))),
        ("check", format!("(id: {})", tour.id("tagged"))),
        ("checkReport", format!("(id: {})", tour.id("asked"))),
        ("componentType", "(input: { alias: \"gadget\" })".to_owned()),
        ("infrastructureResource", "(input: { alias: \"base\" })".to_owned()),
        ("relationship", format!("(id: {})", tour.id("billed"))),
        ("relationshipDefinition", "(input: { alias: \"billing\" })".to_owned()),
        ("property", "(owner: { alias: \"shop\" }, definition: { alias: \"lanes\" })".to_owned()),
        ("propertyDefinition", "(input: { alias: \"weight\" })".to_owned()),
        ("teamPropertyDefinition", "(input: { alias: \"rota\" })".to_owned()),
        ("user", "(input: { email: \"ada@example.com\" })".to_owned()),
        ("repository", "(alias: \"github.com:org/shop\")".to_owned()),
        ("integration", format!("(id: {})", tour.id("Jenkins"))),
        ("codeIssueProject", format!("(id: {})", tour.id("project"))),
        ("filter", format!("(id: {})", tour.id("vital"))),
        ("savedView", format!("(id: {})", tour.id("brokenView"))),
        ("search", "(term: \"github.com:org/shop\")".to_owned()),
        ("document", format!("(id: {})", tour.id("document API documents"))),
        ("alertSource", format!("(id: {})", tour.id("monitor"))),
        // A window that includes the tour's deploys at any time.
        ("deployMetrics", "(start: \"2026-11-01T00:00:00Z\", end: \"2026-12-01T00:00:00Z\")".to_owned()),
    ])
}

#[tokio::test]
async fn every_field_and_every_mutation_of_the_schema_returns_a_value() {
    let tour = Tour::start().await;
    let schema = schema();
    let everything = Everything::new(&schema);
    let mut seen = BTreeSet::new();

    record_event(&tour).await;
    let arguments = arguments(&tour);
    for field in object(&schema, "Account").fields.values() {
        let name = field.name.as_str();
        let arguments = arguments.get(name).map_or("", String::as_str);
        let selection = everything.of(field.ty.inner_named_type());
        visit(&tour, &schema, &format!("{{ account {{ {name}{arguments} {selection} }} }}"), json!({}), &mut seen)
            .await;
    }

    let refused = format!("{{ account {{ customEventCheckPreview{} {{ error }} }} }}", tried(&tour, "$x"));
    visit(&tour, &schema, &refused, json!({}), &mut seen).await;

    // Each kind of check has fields of its own.
    let check = everything.of(object(&schema, "Account").fields["check"].ty.inner_named_type());
    for name in tour_checks::NAMES {
        let query = format!("{{ account {{ check(id: {}) {check} }} }}", tour.id(name));
        visit(&tour, &schema, &query, json!({}), &mut seen).await;
    }

    for step in tour.steps() {
        let payload = object(&schema, "Mutation").fields[step.mutation].ty.inner_named_type();
        let operation = step.operation(&schema, &everything.of(payload));
        let data = visit(&tour, &schema, &operation, step.arguments, &mut seen).await;
        assert_eq!(data[step.mutation]["errors"], json!([]), "{}", step.mutation);
        if step.mutation == "serviceFilesApply" {
            let noted = "{ account { service(alias: \"governed\") { configErrors {
                key message origin type line column
            } } } }";
            visit(&tour, &schema, noted, json!({}), &mut seen).await;
        }
    }
    let refused = "mutation { serviceDelete(input: {}) { errors { message path } } }";
    visit(&tour, &schema, refused, json!({}), &mut seen).await;

    let all = coordinates(&schema);
    let missing: Vec<_> = all.difference(&seen).cloned().collect();
    let never = |coordinate: &&String| {
        let ty = coordinate.split('.').next().unwrap_or_default();
        let listed = ALWAYS_NULL.iter().any(|(field, _)| field == *coordinate);
        listed || NO_OBJECTS.iter().any(|(none, _)| *none == ty)
    };
    let expected: Vec<_> = all.iter().filter(never).cloned().collect();
    assert_eq!(missing, expected, "these fields answered nothing but null, or were never asked");
}

#[tokio::test]
async fn the_tour_calls_every_mutation_with_every_argument() {
    let tour = Tour::start().await;
    let schema = schema();
    let steps = tour.steps();
    for (name, field) in &object(&schema, "Mutation").fields {
        let step = steps.iter().find(|step| step.mutation == name.as_str());
        let step = step.unwrap_or_else(|| panic!("the tour does not call {name}"));
        for argument in &field.arguments {
            assert!(step.arguments.get(argument.name.as_str()).is_some(), "{name}({})", argument.name);
        }
    }
}
