//! Selections of all fields of a type, with the arguments that they need on the catalogue of the tour.

use std::collections::{HashMap, HashSet};

use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Schema};
use rollcall::deploy::event;
use rollcall::entity::integration;
use rollcall::graphql::field::id;

use crate::harness::tour::{Tour, object};

/// Types that no object has, and why.
pub const NO_OBJECTS: [(&str, &str); 2] = [("CampaignReminder", NO_REMINDERS), ("GoogleCloudProject", NOT_ASKED)];

pub const NO_REMINDERS: &str = "rollcall sends no reminders; clients select it";

pub const NOT_ASKED: &str = "rollcall does not connect to clouds; clients select it with every integration";

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

/// Records a custom event, on which a check can be tried.
pub async fn record_event(tour: &Tour) {
    let jenkins =
        id::number::<integration::Entity>(tour.id("Jenkins").as_str().expect("an id")).expect("an integration");
    let event = r#"["shop", "bad"]"#.to_owned();
    assert!(event::record(&tour.endpoint.app.db, jenkins, event).await.expect("an event"));
}

/// The arguments that try a check of custom events.
pub fn tried(tour: &Tour, selector: &str) -> String {
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
        ("history", "(kind: service, subject: { alias: \"shop\" })".to_owned()),
        ("document", format!("(id: {})", tour.id("document API documents"))),
        ("alertSource", format!("(id: {})", tour.id("monitor"))),
        // A window that includes the tour's deploys at any time.
        ("deployMetrics", "(start: \"2026-11-01T00:00:00Z\", end: \"2026-12-01T00:00:00Z\")".to_owned()),
    ])
}
