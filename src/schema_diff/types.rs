//! Changes of the schema definition, of types and their members, and of directive definitions.

use apollo_compiler::Name;
use apollo_compiler::ast::{DirectiveDefinition, FieldDefinition};
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::{Component, ComponentName, EnumType, ExtendedType, InputObjectType, ScalarType};

use super::inputs::is_within;
use super::{Differ, Fate, fates};

impl Differ<'_> {
    pub(super) fn schema_definition(&mut self) {
        let (old, new) = (&self.old.schema_definition, &self.new.schema_definition);
        self.documentation("schema", &**old, &**new);
        for (operation, old, new) in [
            ("query", &old.query, &new.query),
            ("mutation", &old.mutation, &new.mutation),
            ("subscription", &old.subscription, &new.subscription),
        ] {
            let at = format!("schema.{operation}");
            match (old.as_deref(), new.as_deref()) {
                (Some(old), Some(new)) if old != new => {
                    let sentence = format!("Root type of {operation} changed from {old} to {new}.");
                    self.breaking("ROOT_OPERATION_CHANGED", &at, sentence);
                }
                (Some(old), None) => {
                    let sentence = format!("Root type {old} of {operation} was removed.");
                    self.breaking("ROOT_OPERATION_REMOVED", &at, sentence);
                }
                (None, Some(new)) => {
                    let sentence = format!("Root type {new} of {operation} was added.");
                    self.safe("ROOT_OPERATION_ADDED", &at, sentence);
                }
                _ => {}
            }
        }
    }

    pub(super) fn types(&mut self) {
        // The introspection types belong to the library, not to the schema.
        let own = |(name, _): &(&Name, &ExtendedType)| !name.starts_with("__");
        let (old, new) = (self.old.types.iter(), self.new.types.iter());
        for (name, fate) in fates(old.filter(own), new.filter(own)) {
            match fate {
                Fate::Removed(old) => {
                    let sentence = if old.is_built_in() {
                        format!("Standard scalar {name} was removed because it is not referenced anymore.")
                    } else {
                        format!("{name} was removed.")
                    };
                    self.breaking("TYPE_REMOVED", name, sentence);
                }
                Fate::Added(new) => self.type_added(name, new),
                Fate::Kept(old, new) => self.type_kept(name, old, new),
            }
        }
    }

    fn type_added(&mut self, name: &Name, new: &ExtendedType) {
        self.safe("TYPE_ADDED", name, format!("{name} was added."));
        let ExtendedType::Object(object) = new else {
            return;
        };
        for interface in &object.implements_interfaces {
            if self.old.get_interface(interface).is_some() {
                let sentence = format!("New type {name} implements interface {interface}.");
                self.dangerous("TYPE_ADDED_TO_INTERFACE", name, sentence);
            }
        }
    }

    fn type_kept(&mut self, name: &Name, old: &ExtendedType, new: &ExtendedType) {
        use ExtendedType::*;
        match (old, new) {
            (Scalar(old), Scalar(new)) => self.scalar(name, old, new),
            (Object(old), Object(new)) => {
                self.fields(name, &old.fields, &new.fields);
                self.interfaces(name, &old.implements_interfaces, &new.implements_interfaces);
            }
            (Interface(old), Interface(new)) => {
                self.fields(name, &old.fields, &new.fields);
                self.interfaces(name, &old.implements_interfaces, &new.implements_interfaces);
            }
            (Union(old), Union(new)) => self.union_members(name, &old.members, &new.members),
            (Enum(old), Enum(new)) => self.enum_values(name, old, new),
            (InputObject(old), InputObject(new)) => self.input_object(name, old, new),
            _ => {
                let (from, to) = (kind_name(old), kind_name(new));
                let sentence = format!("{name} changed from {from} to {to}.");
                return self.breaking("TYPE_CHANGED_KIND", name, sentence);
            }
        }
        self.documentation(name, old, new);
    }

    fn scalar(&mut self, name: &Name, old: &ScalarType, new: &ScalarType) {
        match (specified_by(old), specified_by(new)) {
            (Some(old), Some(new)) if old != new => {
                let sentence = format!("Specification of scalar {name} changed from {old} to {new}.");
                self.dangerous("SPECIFIED_BY_CHANGED", name, sentence);
            }
            (None, Some(new)) => {
                let sentence = format!("Specification {new} was added to scalar {name}.");
                self.safe("SPECIFIED_BY_ADDED", name, sentence);
            }
            (Some(old), None) => {
                let sentence = format!("Specification {old} was removed from scalar {name}.");
                self.safe("SPECIFIED_BY_REMOVED", name, sentence);
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        name: &Name,
        old: &IndexMap<Name, Component<FieldDefinition>>,
        new: &IndexMap<Name, Component<FieldDefinition>>,
    ) {
        for (field, fate) in fates(old, new) {
            let at = &format!("{name}.{field}");
            match fate {
                Fate::Removed(_) => self.breaking("FIELD_REMOVED", at, format!("{at} was removed.")),
                Fate::Added(_) => self.safe("FIELD_ADDED", at, format!("{at} was added.")),
                Fate::Kept(old, new) => {
                    self.arguments(at, &old.arguments, &new.arguments);
                    let sentence = format!("{at} changed type from {} to {}.", old.ty, new.ty);
                    if !is_within(&new.ty, &old.ty) {
                        self.breaking("FIELD_CHANGED_KIND", at, sentence);
                    } else if old.ty != new.ty {
                        self.safe("FIELD_TYPE_NARROWED", at, sentence);
                    }
                    self.documentation(at, &***old, &***new);
                }
            }
        }
    }

    fn interfaces(&mut self, name: &Name, old: &IndexSet<ComponentName>, new: &IndexSet<ComponentName>) {
        for interface in old.difference(new) {
            let sentence = format!("{name} no longer implements interface {interface}.");
            self.breaking("IMPLEMENTED_INTERFACE_REMOVED", name, sentence);
        }
        for interface in new.difference(old) {
            let sentence = format!("{interface} added to interfaces implemented by {name}.");
            self.dangerous("IMPLEMENTED_INTERFACE_ADDED", name, sentence);
        }
    }

    fn union_members(&mut self, name: &Name, old: &IndexSet<ComponentName>, new: &IndexSet<ComponentName>) {
        for member in old.difference(new) {
            let sentence = format!("{member} was removed from union type {name}.");
            self.breaking("TYPE_REMOVED_FROM_UNION", name, sentence);
        }
        for member in new.difference(old) {
            let sentence = format!("{member} was added to union type {name}.");
            self.dangerous("TYPE_ADDED_TO_UNION", name, sentence);
        }
    }

    fn enum_values(&mut self, name: &Name, old: &EnumType, new: &EnumType) {
        for (value, fate) in fates(&old.values, &new.values) {
            let at = &format!("{name}.{value}");
            match fate {
                Fate::Removed(_) => {
                    let sentence = format!("{value} was removed from enum type {name}.");
                    self.breaking("VALUE_REMOVED_FROM_ENUM", at, sentence);
                }
                Fate::Added(_) => {
                    let sentence = format!("{value} was added to enum type {name}.");
                    self.dangerous("VALUE_ADDED_TO_ENUM", at, sentence);
                }
                Fate::Kept(old, new) => self.documentation(at, &***old, &***new),
            }
        }
    }

    fn input_object(&mut self, name: &Name, old: &InputObjectType, new: &InputObjectType) {
        self.input_fields(name, &old.fields, &new.fields);
        match (old.directives.has("oneOf"), new.directives.has("oneOf")) {
            (false, true) => {
                let sentence = format!("Input type {name} became @oneOf.");
                self.breaking("ONE_OF_ADDED", name, sentence);
            }
            (true, false) => {
                let sentence = format!("Input type {name} is no longer @oneOf.");
                self.safe("ONE_OF_REMOVED", name, sentence);
            }
            _ => {}
        }
    }

    pub(super) fn directive_definitions(&mut self) {
        let (old, new) = (&self.old.directive_definitions, &self.new.directive_definitions);
        for (name, fate) in fates(old, new) {
            let at = &format!("@{name}");
            match fate {
                Fate::Removed(_) => self.breaking("DIRECTIVE_REMOVED", at, format!("{name} was removed.")),
                Fate::Added(_) => self.safe("DIRECTIVE_ADDED", at, format!("{name} was added.")),
                Fate::Kept(old, new) => self.directive_kept(name, at, old, new),
            }
        }
    }

    fn directive_kept(&mut self, name: &Name, at: &str, old: &DirectiveDefinition, new: &DirectiveDefinition) {
        self.directive_arguments(name, &old.arguments, &new.arguments);
        if old.repeatable && !new.repeatable {
            let sentence = format!("Repeatable flag was removed from {name}.");
            self.breaking("DIRECTIVE_REPEATABLE_REMOVED", at, sentence);
        } else if !old.repeatable && new.repeatable {
            let sentence = format!("Repeatable flag was added to {name}.");
            self.safe("DIRECTIVE_REPEATABLE_ADDED", at, sentence);
        }
        for location in old.locations.iter().filter(|location| !new.locations.contains(location)) {
            let sentence = format!("{location} was removed from {name}.");
            self.breaking("DIRECTIVE_LOCATION_REMOVED", at, sentence);
        }
        for location in new.locations.iter().filter(|location| !old.locations.contains(location)) {
            let sentence = format!("{location} was added to {name}.");
            self.safe("DIRECTIVE_LOCATION_ADDED", at, sentence);
        }
        self.documentation(at, old, new);
    }
}

fn kind_name(ty: &ExtendedType) -> &'static str {
    match ty {
        ExtendedType::Scalar(_) => "a Scalar type",
        ExtendedType::Object(_) => "an Object type",
        ExtendedType::Interface(_) => "an Interface type",
        ExtendedType::Union(_) => "a Union type",
        ExtendedType::Enum(_) => "an Enum type",
        ExtendedType::InputObject(_) => "an Input type",
    }
}

fn specified_by(scalar: &ScalarType) -> Option<&str> {
    let directive = scalar.directives.get("specifiedBy")?;
    directive.specified_argument_by_name("url")?.as_str()
}
