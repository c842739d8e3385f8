//! Changes of documentation: descriptions, deprecations, and applied directives without a meaning in GraphQL. All are
//! safe. `@specifiedBy` and `@oneOf` do have a meaning and are handled with the types.

use apollo_compiler::ast::{
    Directive, DirectiveDefinition, EnumValueDefinition, FieldDefinition, InputValueDefinition,
};
use apollo_compiler::schema::{ExtendedType, SchemaDefinition};

use super::Differ;

/// A definition with a description and directives.
pub(super) trait Documented {
    fn description(&self) -> Option<&str>;
    fn directives(&self) -> Vec<&Directive>;
}

macro_rules! documented {
    ($($definition:ty),*) => {$(
        impl Documented for $definition {
            fn description(&self) -> Option<&str> {
                self.description.as_deref()
            }

            fn directives(&self) -> Vec<&Directive> {
                self.directives.iter().map(AsRef::as_ref).collect()
            }
        }
    )*};
}

documented!(SchemaDefinition, FieldDefinition, EnumValueDefinition, InputValueDefinition);

impl Documented for ExtendedType {
    fn description(&self) -> Option<&str> {
        self.description().map(|description| &**description)
    }

    fn directives(&self) -> Vec<&Directive> {
        self.directives().iter().map(AsRef::as_ref).collect()
    }
}

impl Documented for DirectiveDefinition {
    fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    fn directives(&self) -> Vec<&Directive> {
        Vec::new()
    }
}

impl Differ<'_> {
    pub(super) fn documentation(&mut self, at: &str, old: &impl Documented, new: &impl Documented) {
        if old.description() != new.description() {
            let change = match (old.description(), new.description()) {
                (None, _) => "added",
                (_, None) => "removed",
                _ => "changed",
            };
            let sentence = format!("Description of {at} was {change}.");
            self.safe("DESCRIPTION_CHANGED", at, sentence);
        }
        let (old, new) = (old.directives(), new.directives());
        match (deprecation(&old), deprecation(&new)) {
            (Some(old), Some(new)) if old != new => {
                let sentence = format!("Deprecation of {at} changed from {old:?} to {new:?}.");
                self.safe("DEPRECATION_CHANGED", at, sentence);
            }
            (None, Some(new)) => {
                self.safe("DEPRECATED", at, format!("{at} was deprecated: {new:?}."));
            }
            (Some(_), None) => {
                let sentence = format!("{at} is no longer deprecated.");
                self.safe("DEPRECATION_REMOVED", at, sentence);
            }
            _ => {}
        }
        let (old, new) = (other_directives(&old), other_directives(&new));
        if old != new {
            let sentence = format!("Directives on {at} changed from `{old}` to `{new}`.");
            self.safe("APPLIED_DIRECTIVES_CHANGED", at, sentence);
        }
    }
}

fn deprecation<'a>(directives: &[&'a Directive]) -> Option<&'a str> {
    let directive = directives.iter().find(|directive| directive.name == "deprecated")?;
    let reason = directive.specified_argument_by_name("reason");
    Some(reason.and_then(|reason| reason.as_str()).unwrap_or("No longer supported"))
}

fn other_directives(directives: &[&Directive]) -> String {
    let has_meaning = |name: &str| matches!(name, "deprecated" | "specifiedBy" | "oneOf");
    let others = directives.iter().filter(|directive| !has_meaning(&directive.name));
    let texts: Vec<String> = others.map(|other| other.serialize().no_indent().to_string()).collect();
    texts.join(" ")
}
