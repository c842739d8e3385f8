//! Nothing in the schema is untested: a tour of a full catalogue selects every field of every type and calls every
//! mutation. Each returns something other than null at least once.

use std::collections::BTreeSet;

use apollo_compiler::Schema;
use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use serde_json::{Value, json};

use crate::harness::everything::{Everything, NO_OBJECTS, NO_REMINDERS, NOT_ASKED, arguments, record_event, tried};
use crate::harness::tour::{Tour, object, schema};
use crate::harness::tour_checks;

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
const NO_WEBHOOK: &str = "nothing is posted to it; the field is the interface's";

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
    // The values of two have the time of the request. The third needs an argument.
    let is_asked = |name: &str| !["deployMetrics", "otherCheckResults", "property"].contains(&name);
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
        if step.mutation == "changeRevert" {
            let reverted = "{ account { history(kind: system, subject: { alias: \"till\" }) { nodes { reverts } } } }";
            visit(&tour, &schema, reverted, json!({}), &mut seen).await;
        }
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
