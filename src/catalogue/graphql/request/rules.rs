//! What the SDL says of mutations and inputs by directives, beside the scope that the generator reads: the role that a
//! mutation requires, which mutations change many things, and which input fields are secrets.

use std::collections::{HashMap, HashSet};

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;

use crate::entity::user::Role;
use crate::error::{Result, UserError};
use crate::graphql::schema::UserRole;
use crate::graphql::team::user::stored;

/// What others are told who would change the standards.
pub(super) const ONLY_STANDARDS_ADMINISTRATORS: &str = "only a standards administrator or an administrator can change levels, categories, checks, scorecards and campaigns";

/// What others are told who would change users, or what lets people in.
pub(super) const ONLY_ADMINISTRATORS: &str =
    "only an administrator can change users, groups of users, API tokens and links to sign in";

/// The directives of a schema, read once.
#[derive(Debug, Default)]
pub(in crate::graphql) struct Rules {
    /// The lowest role of a signed-in user, by mutation.
    roles: HashMap<String, Role>,
    /// Mutations with `@bulk`.
    bulk: HashSet<String>,
    /// Input fields with `@secret`.
    secrets: HashSet<String>,
}

impl Rules {
    pub(in crate::graphql) fn from_schema(schema: &Schema) -> Self {
        let mut rules = Self::default();
        let root = schema.schema_definition.mutation.as_ref().and_then(|root| schema.get_object(root));
        for (name, field) in root.into_iter().flat_map(|root| &root.fields) {
            let access = field.directives.get("access");
            let role = access.and_then(|access| access.specified_argument_by_name("role")?.as_enum());
            rules
                .roles
                .extend(role.and_then(|role| UserRole::from_word(role)).map(|role| (name.to_string(), stored(role))));
            if field.directives.has("bulk") {
                rules.bulk.insert(name.to_string());
            }
        }
        for ty in schema.types.values() {
            let ExtendedType::InputObject(input) = ty else { continue };
            let secrets = input.fields.iter().filter(|(_, field)| field.directives.has("secret"));
            rules.secrets.extend(secrets.map(|(name, _)| name.to_string()));
        }
        rules
    }

    /// Whether a mutation changes many things and writes an audit entry for each of them.
    pub(in crate::graphql) fn is_bulk(&self, mutation: &str) -> bool {
        self.bulk.contains(mutation)
    }

    /// Whether an input field is a secret.
    pub(in crate::graphql) fn is_secret(&self, field: &str) -> bool {
        self.secrets.contains(field)
    }

    /// Refuses a mutation that requires a higher role. `role` is that of a signed-in user.
    pub(in crate::graphql) fn check(&self, mutation: &str, role: Option<Role>) -> Result<()> {
        let (Some(role), Some(needed)) = (role, self.roles.get(mutation)) else { return Ok(()) };
        if role >= *needed {
            return Ok(());
        }
        let message = match needed {
            Role::StandardsAdmin => ONLY_STANDARDS_ADMINISTRATORS,
            _ => "your role does not allow this change",
        };
        Err(UserError::base(message).forbidden().into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::graphql::SDL;

    #[test]
    fn the_sdl_says_roles_bulk_mutations_and_secrets() {
        let schema = Schema::parse_and_validate(SDL, "schema.graphql").expect("the schema is valid");
        let rules = Rules::from_schema(&schema);
        // Whoever owns a service answers a manual check about it.
        let is_of_standards = |name: &&str| {
            ["campaign", "category", "check", "level", "scorecard", "standards"]
                .iter()
                .any(|noun| name.starts_with(noun))
                && *name != "checkManualAnswer"
        };
        let mutations = schema.get_object("Mutation").expect("mutations").fields.keys().map(|name| name.as_str());
        let standards: BTreeSet<&str> = mutations.filter(is_of_standards).collect();
        assert!(standards.len() > 30, "{standards:?}");
        assert_eq!(rules.roles.keys().map(String::as_str).collect::<BTreeSet<_>>(), standards);
        assert!(rules.is_bulk("serviceFilesApply") && !rules.is_bulk("serviceCreate"));
        assert!(rules.is_secret("apiKey") && !rules.is_secret("name"));
        assert!(rules.check("levelCreate", Some(Role::User)).is_err());
        assert!(
            rules.check("levelCreate", Some(Role::StandardsAdmin)).is_ok() && rules.check("levelCreate", None).is_ok()
        );
    }
}
