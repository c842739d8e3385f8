//! For each type that clients select: one document with all its fields, as deep as the deepest document that a client
//! sends, minified as clients send it. The server answers each field.

use std::collections::HashSet;

use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use apollo_compiler::schema::{ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Schema};
use serde_json::{Value, json};

use crate::harness::tour::{Tour, schema};

/// The levels of fields of the deepest document that a client sends. `account` is the first.
const DEEPEST: usize = 11;
/// The fields of the largest document that a client sends.
const LARGEST: usize = 153;

/// Lists, or types, that clients select by themselves, and never below another type, or not at all.
const ALONE: [&str; 16] = [
    "alertSources",
    "CheckHome",
    "children",
    "deployMetrics",
    "descendantServices",
    "history",
    "lastProductionDeploy",
    "levelCounts",
    "levelHistory",
    "lockedBy",
    "missedChecks",
    "otherCheckResults",
    "relatedResources",
    "reports",
    "RepositoryChecks",
    "standingChanges",
];

/// Types whose objects clients select without what is below them: a document counts for every kind of check.
const SHALLOW: [&str; 1] = ["Check"];

/// Writes selections.
struct Writer<'s> {
    schema: &'s Schema,
    /// The types whose fields are all selected already. Elsewhere, only their leaves are.
    done: HashSet<&'s Name>,
}

impl<'s> Writer<'s> {
    fn fields(&self, name: &Name) -> Vec<&'s FieldDefinition> {
        match &self.schema.types[name] {
            ExtendedType::Object(object) => object.fields.values().map(|field| &***field).collect(),
            ExtendedType::Interface(interface) => interface.fields.values().map(|field| &***field).collect(),
            _ => Vec::new(),
        }
    }

    fn is_leaf(&self, field: &FieldDefinition) -> bool {
        let ty = &self.schema.types[field.ty.inner_named_type()];
        ty.is_scalar() || ty.is_enum()
    }

    /// The object types that a value of this type can have.
    fn members(&self, name: &Name) -> Vec<&'s Name> {
        match &self.schema.types[name] {
            ExtendedType::Union(union) => union.members.iter().map(|member| &member.name).collect(),
            ExtendedType::Interface(_) => {
                let objects = self.schema.types.values().filter_map(|ty| ty.as_object());
                let objects = objects.filter(|object| object.implements_interfaces.iter().any(|one| **one == *name));
                objects.map(|object| &object.name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The selection of a field whose own level is `level`. Empty if everything in it would be too deep.
    fn field(&mut self, field: &'s FieldDefinition, level: usize) -> String {
        let has = |name: &str| field.arguments.iter().any(|argument| argument.name == name);
        let arguments = if has("after") && has("first") {
            "(after: $after, first: $first)"
        } else if has("definition") {
            "(definition: $definition)"
        } else if has("start") && has("end") {
            "(start: $start, end: $end)"
        } else {
            ""
        };
        if self.is_leaf(field) {
            return format!("{}{arguments}", field.name);
        }
        let below = self.selection(field.ty.inner_named_type(), level + 1);
        if below.is_empty() { below } else { format!("{}{arguments}{{{below}}}", field.name) }
    }

    /// The fields of a type, of which the first are at `level`.
    fn selection(&mut self, name: &'s Name, level: usize) -> String {
        if level > DEEPEST {
            return String::new();
        }
        let is_new = self.done.insert(name);
        let mut selected = Vec::new();
        let is_alone = |field: &FieldDefinition| {
            [field.name.as_str(), field.ty.inner_named_type().as_str()].iter().any(|name| ALONE.contains(name))
        };
        for field in self.fields(name).into_iter().filter(|field| !is_alone(field)) {
            if SHALLOW.contains(&name.as_str()) && !self.is_leaf(field) {
                let below = self.fields(field.ty.inner_named_type());
                let leaves: Vec<_> =
                    below.iter().filter(|field| self.is_leaf(field)).map(|field| field.name.as_str()).collect();
                if is_new && level < DEEPEST {
                    selected.push(format!("{}{{{}}}", field.name, leaves.join(",")));
                }
                continue;
            }
            // Wrappers are opened wherever they are.
            let opens = is_new || ["nodes", "edges", "node", "pageInfo"].contains(&field.name.as_str());
            if opens || self.is_leaf(field) {
                selected.push(self.field(field, level));
            }
        }
        for member in self.members(name) {
            // The fields of two members can have one name and different types.
            let own = |field: &&&FieldDefinition| !self.fields(name).iter().any(|shared| shared.name == field.name);
            let fields = self.fields(member);
            let leaves = fields.iter().filter(|field| self.is_leaf(field)).filter(own);
            let leaves: Vec<_> = leaves.map(|field| format!("{member}{0}:{0}", field.name)).collect();
            if !leaves.is_empty() {
                selected.push(format!("... on {member}{{{}}}", leaves.join(",")));
            }
        }
        selected.retain(|field| !field.is_empty());
        selected.join(",")
    }
}

/// Where clients select each type: the fields that lead to it, and the name of its row in the tour.
const PLACES: [(&str, &str, &str); 47] = [
    ("Service", "service(id: $id)", "shop"),
    ("ServiceConnectionType", "services(after: $after, first: $first)", "shop"),
    ("ServiceReposConnectionType", "service(id: $id){repos(after: $after, first: $first)", "shop"),
    ("ServiceRepository", "service(id: $id){defaultServiceRepository", "shop"),
    ("ServiceDependenciesConnectionType", "service(id: $id){dependencies(after: $after, first: $first)", "shop"),
    ("ServiceDependentsConnectionType", "service(id: $id){dependents(after: $after, first: $first)", "shop"),
    ("ServiceDocumentConnectionType", "service(id: $id){documents(after: $after, first: $first)", "shop"),
    ("ServiceStats", "service(id: $id){serviceStats", "shop"),
    ("MaturityReport", "service(id: $id){maturityReport", "shop"),
    ("ToolConnectionType", "service(id: $id){tools(after: $after, first: $first)", "shop"),
    ("TagConnectionType", "service(id: $id){tags(after: $after, first: $first)", "shop"),
    ("OnCallConnectionType", "service(id: $id){onCalls(after: $after, first: $first)", "shop"),
    ("PropertyConnectionType", "service(id: $id){properties(after: $after, first: $first)", "shop"),
    ("Property", "service(id: $id){property(definition: $definition)", "shop"),
    ("Deploy", "service(id: $id){lastDeploy", "shop"),
    ("Team", "team(id: $id)", "Core"),
    ("TeamConnectionType", "teams(after: $after, first: $first)", "Core"),
    ("Contact", "team(id: $id){contacts", "Core"),
    ("TeamMembershipConnectionType", "team(id: $id){memberships(after: $after, first: $first)", "Core"),
    ("User", "user(id: $id)", "ada"),
    ("UserConnectionType", "users(after: $after, first: $first)", "ada"),
    ("Repository", "repository(id: $id)", "repository"),
    ("RepositoryConnectionType", "repositories(after: $after, first: $first)", "repository"),
    ("RepositoryServiceConnectionType", "repository(id: $id){services(after: $after, first: $first)", "repository"),
    ("Integration", "integration(id: $id)", "Google"),
    ("IntegrationConnectionType", "integrations(after: $after, first: $first)", "Google"),
    ("System", "system(input: {id: $id})", "Till"),
    ("SystemConnectionType", "systems(after: $after, first: $first)", "Till"),
    ("Domain", "domain(input: {id: $id})", "Commerce"),
    ("DomainConnectionType", "domains(after: $after, first: $first)", "Commerce"),
    ("ComponentType", "componentType(input: {id: $id})", "gadget"),
    ("ComponentTypeConnectionType", "componentTypes(after: $after, first: $first)", "gadget"),
    ("ServiceDocument", "document(id: $id)", "document API documents"),
    ("Filter", "filter(id: $id)", "vital"),
    ("FilterConnectionType", "filters(after: $after, first: $first)", "vital"),
    ("Rubric", "rubric", "bronze"),
    ("Level", "level(id: $id)", "bronze"),
    ("Category", "category(id: $id)", "security"),
    ("PropertyDefinition", "propertyDefinition(input: {id: $id})", "lanes"),
    ("PropertyDefinitionConnectionType", "propertyDefinitions(after: $after, first: $first)", "lanes"),
    ("TeamPropertyDefinition", "teamPropertyDefinition(input: {id: $id})", "rota"),
    ("Tier", "tiers", "hobby"),
    ("Lifecycle", "lifecycles", "dusk"),
    ("InfrastructureResource", "infrastructureResource(input: {id: $id})", "ledgerBase"),
    ("RelationshipType", "relationship(id: $id)", "billed"),
    ("RelationshipDefinitionType", "relationshipDefinition(input: {id: $id})", "billing"),
    ("AlertSource", "alertSource(id: $id)", "monitor"),
];

/// The document for a type.
fn document(schema: &Schema, name: &str, place: &str) -> String {
    let mut writer = Writer { schema, done: HashSet::new() };
    let (ty, _) = schema.types.get_key_value(name).unwrap_or_else(|| panic!("no type is called {name}"));
    let inner = place.matches('{').count() - place.matches(": {").count();
    // `account` and the field itself come first.
    let selection = writer.selection(ty, 3 + inner);
    let body = format!("{{account{{{place}{{{selection}}}{}}}}}", "}".repeat(inner));
    let declared = [
        ("after", "String!"),
        ("definition", "IdentifierInput!"),
        ("end", "ISO8601DateTime!"),
        ("first", "Int!"),
        ("id", "ID!"),
        ("start", "ISO8601DateTime!"),
    ];
    // In order of name, without blanks, and only those that are used.
    let used = |name: &str| {
        let variable = format!("${name}");
        let mut ends = body.match_indices(&variable).map(|(at, found)| at + found.len());
        ends.any(|end| !body[end..].starts_with(|next: char| next.is_ascii_alphanumeric()))
    };
    let declared: String =
        declared.iter().filter(|(name, _)| used(name)).map(|(name, ty)| format!("${name}:{ty}")).collect();
    let declared = if declared.is_empty() { declared } else { format!("({declared})") };
    format!("query {name}Get{declared}{body}")
}

/// Checks that these objects have every selected field. Returns the number of levels and of fields.
fn compare(set: &SelectionSet, objects: &[&Value], path: &str) -> (usize, usize) {
    let (mut levels, mut fields) = (0, 0);
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => {
                let key = field.response_key().as_str();
                let path = format!("{path}.{key}");
                let values: Vec<&Value> = objects
                    .iter()
                    .map(|object| object.get(key).unwrap_or_else(|| panic!("{path} is not answered")))
                    .collect();
                let (deeper, more) = compare(&field.selection_set, &flat(&values), &path);
                levels = levels.max(deeper + 1);
                fields += more + 1;
            }
            Selection::InlineFragment(fragment) => {
                let Some(Selection::Field(first)) = fragment.selection_set.selections.first() else {
                    unreachable!("fragments begin with a field")
                };
                let key = first.response_key().as_str();
                let of_it: Vec<&Value> = objects.iter().copied().filter(|object| object.get(key).is_some()).collect();
                let (deeper, more) = compare(&fragment.selection_set, &of_it, path);
                levels = levels.max(deeper);
                fields += more;
            }
            Selection::FragmentSpread(_) => unreachable!("no fragment is spread"),
        }
    }
    (levels, fields)
}

/// The objects in these values, which can be lists and null.
fn flat<'v>(values: &[&'v Value]) -> Vec<&'v Value> {
    let items = |value: &'v Value| -> Vec<&'v Value> {
        match value {
            Value::Array(items) => items.iter().collect(),
            Value::Null => Vec::new(),
            value => vec![value],
        }
    };
    values.iter().copied().flat_map(items).collect()
}

#[tokio::test]
async fn all_fields_of_every_type_that_clients_select_are_answered_at_the_greatest_depth() {
    let tour = Tour::start().await;
    let schema = schema();
    let (mut deepest, mut largest, mut complaints) = (0, 0, Vec::new());
    for (name, place, row) in PLACES {
        let document = document(&schema, name, place);
        let valid = ExecutableDocument::parse_and_validate(&schema, &*document, "document.graphql");
        let valid = valid.unwrap_or_else(|errors| panic!("{document}\n{errors}"));
        let variables = json!({
            "after": "", "first": 2, "definition": { "alias": "lanes" }, "id": tour.id(row),
            "start": "2026-11-01T00:00:00Z", "end": "2026-12-01T00:00:00Z",
        });
        let answer = tour.endpoint.app.query(&document, variables).await;
        if answer.get("errors").is_some() {
            complaints.push(format!("{name}: {}", answer["errors"]));
            continue;
        }
        let operation = valid.operations.iter().next().expect("an operation");
        let (levels, fields) = compare(&operation.selection_set, &[&answer["data"]], name);
        deepest = deepest.max(levels);
        largest = largest.max(fields);
        assert!(levels <= DEEPEST, "{name}: {levels}");
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(deepest, DEEPEST);
    assert!(largest > LARGEST, "{largest}");
}
