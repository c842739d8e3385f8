//! The standards of a server as a file. What an entry has follows from the input that creates such a thing: each of its
//! fields is a field of the thing, or names another one.

use std::collections::HashMap;

use apollo_compiler::Schema;
use apollo_compiler::schema::{ExtendedType, InputObjectType, InputValueDefinition};
use serde_json::{Value as Json, json};

use crate::cli::reading::nodes;
use crate::cli::remote::Server;
use crate::entity::filter;
use crate::graphql::SDL;
use crate::graphql::field::id;
use crate::service_file::{Standard, StandardsEntry as Entry, key, write_standards};

/// The most of anything that is exported. The catalogue has fewer.
const MOST: usize = 1_000;

/// The standards as a file. Blocks.
///
/// # Errors
/// Why there is none, in a sentence or a few.
pub(super) fn standards(server: &Server) -> Result<String, String> {
    let schema = Schema::parse(SDL, "schema.graphql").map_err(|error| error.to_string())?;
    let export = Export { schema: &schema, server };
    let scorecards =
        export.all("account", "scorecards", "categories { nodes { id } }", "Scorecard", "ScorecardInput")?;
    let mut scorecard_of: HashMap<&str, &Json> = HashMap::new();
    for scorecard in &scorecards {
        let categories = scorecard["categories"]["nodes"].as_array().into_iter().flatten();
        scorecard_of.extend(categories.filter_map(|category| Some((category["id"].as_str()?, &scorecard["name"]))));
    }
    let lists = Standard::ALL.into_iter().map(|standard| {
        let entries = match standard {
            Standard::Level => export.list(standard, "account.rubric", "Level", "LevelCreateInput")?,
            Standard::Category => export.list(standard, "account.rubric", "Category", "CategoryCreateInput")?,
            Standard::Filter => export.filters()?,
            Standard::Scorecard => {
                scorecards.iter().map(|one| export.entry(standard, "ScorecardInput", one)).collect::<Result<_, _>>()?
            }
            Standard::Check => export.checks(&scorecard_of)?,
            Standard::Campaign => export.campaigns()?,
        };
        Ok((standard.list(), entries))
    });
    Ok(write_standards(lists.collect::<Result<_, String>>()?))
}

struct Export<'s> {
    schema: &'s Schema,
    server: &'s Server,
}

impl<'s> Export<'s> {
    fn input(&self, name: &str) -> Result<&'s InputObjectType, String> {
        let input = self.schema.get_input_object(name);
        input.map(|input| &**input).ok_or_else(|| format!("the schema has no input {name}"))
    }

    /// What is selected of a thing, for the fields of an input.
    fn selection(&self, class: &str, input: &str) -> Result<String, String> {
        let object = self.schema.get_object(class).ok_or_else(|| format!("the schema has no type {class}"))?;
        let mut selected = Vec::new();
        for field in self.input(input)?.fields.values() {
            let source = source(&field.name);
            let Some(own) = object.fields.get(&*source) else { continue };
            let of = own.ty.inner_named_type();
            let parts = match (self.schema.get_object(of), self.parts(field)) {
                (None, _) => String::new(),
                (Some(other), Some(parts)) if !parts.fields.contains_key("alias") => {
                    let parts = parts.fields.keys().filter(|part| other.fields.contains_key(*part));
                    format!(" {{ {} }}", parts.map(|part| part.as_str()).collect::<Vec<_>>().join(" "))
                }
                // What has aliases is named by one.
                (Some(other), _) => {
                    let name = ["alias", "aliases"].into_iter().find(|name| other.fields.contains_key(*name));
                    let name = if of.as_str() == "Level" { "name" } else { name.unwrap_or("name") };
                    format!(" {{ {name}{} }}", if of.as_str() == "Category" { " id" } else { "" })
                }
            };
            // An interface, such as that of integrations.
            let is_abstract = matches!(self.schema.types.get(of), Some(ExtendedType::Interface(_)));
            let parts = if is_abstract { " { name }".to_owned() } else { parts };
            selected.push(format!("{source}{parts}"));
        }
        Ok(selected.join(" "))
    }

    /// The input of which a field consists.
    fn parts(&self, field: &InputValueDefinition) -> Option<&'s InputObjectType> {
        self.schema.get_input_object(field.ty.inner_named_type()).map(|input| &**input)
    }

    /// The entry of a thing.
    fn entry(&self, standard: Standard, input: &str, thing: &Json) -> Result<Entry, String> {
        let mut entry = vec![("name".to_owned(), thing["name"].clone())];
        let is_own = |name: &str| name != "name" && !standard.left_out().contains(&name);
        for field in self.input(input)?.fields.values().filter(|field| is_own(&field.name)) {
            let value = match &thing[&*source(&field.name)] {
                Json::Null => continue,
                Json::Array(list) if list.is_empty() => continue,
                Json::Array(list) => list.iter().map(value_of).collect(),
                own => value_of(own),
            };
            if !value.is_null() {
                entry.push((key(&field.name), value));
            }
        }
        Ok(entry)
    }

    /// All things of a list, with the selection of an input and more.
    fn all(&self, above: &str, list: &str, more: &str, class: &str, input: &str) -> Result<Vec<Json>, String> {
        let selection = self.selection(class, input)?;
        self.nodes(above, list, &format!("{selection} {more}"))
    }

    fn nodes(&self, above: &str, list: &str, selection: &str) -> Result<Vec<Json>, String> {
        let (mut opened, mut closed) = (String::new(), String::new());
        for name in above.split('.') {
            opened += &format!("{name} {{ ");
            closed += " }";
        }
        let page = format!(
            "{list}(first: $first, after: $after) {{ nodes {{ {selection} }} pageInfo {{ hasNextPage endCursor }} }}"
        );
        let document = format!("query($first: Int, $after: String) {{ {opened}{page}{closed} }}");
        let place = format!("/{}/{list}", above.replace('.', "/"));
        Ok(nodes(self.server, &document, json!({}), &place, MOST)?.0)
    }

    fn list(&self, standard: Standard, above: &str, class: &str, input: &str) -> Result<Vec<Entry>, String> {
        let all = self.all(above, standard.list(), "", class, input)?;
        all.iter().map(|one| self.entry(standard, input, one)).collect()
    }

    /// All filters. A predicate stores the id of another one, which means nothing in another catalogue, so it is named.
    fn filters(&self) -> Result<Vec<Entry>, String> {
        let mut filters = self.all("account", "filters", "id", "Filter", "FilterCreateInput")?;
        let number = |id: &Json| id.as_str().and_then(id::number::<filter::Entity>);
        // A name that reads like an id would be taken for one.
        let is_name = |name: &Json| name.as_str().is_some_and(|name| id::decode(name).is_none());
        let names: HashMap<i64, Json> = filters
            .iter()
            .filter(|one| is_name(&one["name"]))
            .filter_map(|one| Some((number(&one["id"])?, one["name"].clone())))
            .collect();
        for one in &mut filters {
            for predicate in one["predicates"].as_array_mut().into_iter().flatten() {
                let name = number(&predicate["value"]).and_then(|number| names.get(&number));
                if let Some(name) = name.filter(|_| predicate["key"] == "filter_id") {
                    predicate["value"] = name.clone();
                }
            }
        }
        filters.iter().map(|one| self.entry(Standard::Filter, "FilterCreateInput", one)).collect()
    }

    fn checks(&self, scorecard_of: &HashMap<&str, &Json>) -> Result<Vec<Entry>, String> {
        let mut selection = "__typename type".to_owned();
        let mut inputs: HashMap<&str, String> = HashMap::new();
        let implementers = self.schema.implementers_map();
        for class in implementers.get("Check").into_iter().flat_map(|own| &own.objects) {
            let input = format!("Check{}CreateInput", class.strip_suffix("Check").unwrap_or(class));
            selection += &format!(" ... on {class} {{ {} }}", self.selection(class, &input)?);
            inputs.insert(class, input);
        }
        let checks = self.nodes("account.rubric", "checks", &selection)?;
        let entry = |check: &Json| {
            let class = check["__typename"].as_str().unwrap_or_default();
            let input = inputs.get(class).ok_or_else(|| format!("there are checks of the new type {class}"))?;
            let mut entry = self.entry(Standard::Check, input, check)?;
            entry.insert(1, ("type".to_owned(), check["type"].clone()));
            let scorecard = check["category"]["id"].as_str().and_then(|id| scorecard_of.get(id));
            if let (Some(scorecard), Some(own)) = (scorecard, entry.iter_mut().find(|(key, _)| key == "category")) {
                *own = ("scorecard".to_owned(), (*scorecard).clone());
            }
            Ok(entry)
        };
        checks.iter().map(entry).collect()
    }

    fn campaigns(&self) -> Result<Vec<Entry>, String> {
        let more = "startDate targetDate checks { nodes { name } }";
        let campaigns = self.all("account", "campaigns", more, "Campaign", "CampaignCreateInput")?;
        let entry = |campaign: &Json| {
            let mut entry = self.entry(Standard::Campaign, "CampaignCreateInput", campaign)?;
            for (name, key) in [("startDate", "start_date"), ("targetDate", "target_date")] {
                if !campaign[name].is_null() {
                    entry.push((key.to_owned(), campaign[name].clone()));
                }
            }
            let names: Vec<Json> = campaign["checks"]["nodes"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|check| check["name"].clone())
                .collect();
            if !names.is_empty() {
                entry.push(("checks".to_owned(), names.into()));
            }
            Ok(entry)
        };
        campaigns.iter().map(entry).collect()
    }
}

/// The field of a thing that has the value of a field of an input.
fn source(field: &str) -> String {
    match field {
        "notes" => "rawNotes".to_owned(),
        "projectBrief" => "rawProjectBrief".to_owned(),
        other => other.strip_suffix("Id").unwrap_or(other).to_owned(),
    }
}

/// A value as a file has it: what names a thing, and whatever else has a value.
fn value_of(value: &Json) -> Json {
    let Some(parts) = value.as_object() else { return value.clone() };
    let name = parts.get("alias").or_else(|| parts.get("aliases").and_then(|all| all.get(0)));
    let is_name = |key: &String| ["name", "id"].contains(&key.as_str());
    match name.or_else(|| parts.get("name").filter(|_| parts.keys().all(is_name))) {
        Some(name) => name.clone(),
        None => {
            let given = parts.iter().filter(|(_, part)| !part.is_null());
            given.map(|(name, part)| (key(name), part.clone())).collect()
        }
    }
}
