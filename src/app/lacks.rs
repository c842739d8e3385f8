//! Where what a service lacks is added: the forms to which its page leads, and lists of services that miss a check.

use super::operations::{CheckType, Parameters, PredicateTypeEnum, ServicePropertyTypeEnum as Field};

/// The parts of the addresses of the forms, below that of the service.
pub const OWNER: &str = "edit#field-ownerInput.alias";
/// The tier.
pub const TIER: &str = "edit#field-tierAlias";
/// The description.
pub const DESCRIPTION: &str = "edit#field-description";
/// The links.
pub const LINKS: &str = "tools";
/// The repositories.
pub const REPOSITORIES: &str = "repositories";
/// The dependencies.
pub const DEPENDENCIES: &str = "dependencies";

/// A form that mends a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mend {
    /// What the button says that leads to it.
    pub label: &'static str,
    /// The part of its address below that of the service.
    pub part: &'static str,
}

/// What a check asks of services, as far as that says which form mends those that miss it.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The kind of the check.
    pub kind: Option<CheckType>,
    /// The field that a check of the kind `service_property` asks about. `None` if that is a property without a definition.
    pub field: Option<Field>,
    /// Whether services must not have what it asks about.
    pub is_absence: bool,
}

/// What a service has that misses a check.
#[derive(Debug, Clone, Copy)]
pub struct Has {
    /// An owner.
    pub owner: bool,
    /// A tier.
    pub tier: bool,
}

impl From<&Parameters> for Asked {
    fn from(parameters: &Parameters) -> Self {
        let is_absence = |kind: Option<PredicateTypeEnum>| kind == Some(PredicateTypeEnum::DoesNotExist);
        match parameters {
            Parameters::ServicePropertyCheck(own) => {
                let definition = own.property_definition.as_ref().map(|definition| &*definition.id);
                Self {
                    kind: own.r#type,
                    field: own.service_property.filter(|field| is_there(*field, definition)),
                    is_absence: is_absence(own.property_value_predicate.as_ref().map(|own| own.r#type)),
                }
            }
            Parameters::TagDefinedCheck(own) => Self {
                kind: own.r#type,
                field: None,
                is_absence: is_absence(own.tag_predicate.as_ref().map(|own| own.r#type)),
            },
            Parameters::Other(own) => Self { kind: own.r#type, field: None, is_absence: false },
        }
    }
}

/// Whether services can have a field, given the definition of the property that the check names.
pub fn is_there(field: Field, definition: Option<&str>) -> bool {
    field != Field::CustomProperty || definition.is_some()
}

impl Asked {
    /// The form that mends a service that misses the check, if there is one. The match lists every kind: the build fails until
    /// a new one is decided.
    pub fn mended(self, has: Has) -> Option<Mend> {
        match self.kind? {
            CheckType::DependencyTier if !has.tier => form("Set tier", TIER),
            CheckType::HasOwner if !has.owner => form("Set owner", OWNER),
            CheckType::HasRepository => form("Add repository", REPOSITORIES),
            CheckType::ServiceDependency => form("Add dependency", DEPENDENCIES),
            CheckType::ServiceProperty if !self.is_absence => of_field(self.field?),
            CheckType::TagDefined if !self.is_absence => form("Set tag", "edit#tag"),
            CheckType::ToolUsage => form("Add link", LINKS),
            // The form of one service does not mend these.
            CheckType::AlertSourceUsage
            | CheckType::CodeIssue
            | CheckType::Custom
            | CheckType::DependencyTier
            | CheckType::DeployMetrics
            | CheckType::Generic
            | CheckType::GitBranchProtection
            | CheckType::HasDocumentation
            | CheckType::HasOwner
            | CheckType::HasRecentDeploy
            | CheckType::HasServiceConfig
            | CheckType::Manual
            | CheckType::PackageVersion
            | CheckType::Payload
            | CheckType::Relationship
            | CheckType::RepoFile
            | CheckType::RepoGrep
            | CheckType::RepoSearch
            | CheckType::ServiceProperty
            | CheckType::TagDefined => None,
        }
    }
}

fn of_field(field: Field) -> Option<Mend> {
    match field {
        Field::CustomProperty => form("Set property", "properties"),
        Field::Description => form("Write description", DESCRIPTION),
        Field::Framework => form("Set framework", "edit#field-framework"),
        Field::Language => form("Set language", "edit#field-language"),
        Field::LifecycleIndex => form("Set lifecycle stage", "edit#field-lifecycleAlias"),
        Field::Name => form("Change name", "edit#field-name"),
        Field::Note => form("Write notes", "edit#field-note"),
        Field::Product => form("Set product", "edit#field-product"),
        Field::System => form("Set system", "edit#field-parent.alias"),
        Field::TierIndex => form("Set tier", TIER),
    }
}

fn form(label: &'static str, part: &'static str) -> Option<Mend> {
    Some(Mend { label, part })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: Has = Has { owner: false, tier: false };

    #[test]
    fn a_form_is_offered_only_where_it_mends() {
        let label = |kind, field, is_absence, has: Has| {
            Asked { kind: Some(kind), field, is_absence }.mended(has).map(|form| form.label)
        };
        let whole = Has { owner: true, tier: true };
        assert_eq!(label(CheckType::HasOwner, None, false, BARE), Some("Set owner"));
        assert_eq!(label(CheckType::HasOwner, None, false, whole), None, "its owner has no contact");
        assert_eq!(label(CheckType::DependencyTier, None, false, BARE), Some("Set tier"));
        assert_eq!(label(CheckType::DependencyTier, None, false, whole), None, "a dependency is less critical");
        assert_eq!(label(CheckType::TagDefined, None, false, BARE), Some("Set tag"));
        assert_eq!(label(CheckType::TagDefined, None, true, BARE), None, "it must not have the tag");
        assert_eq!(label(CheckType::ServiceProperty, Some(Field::Language), false, whole), Some("Set language"));
        assert_eq!(label(CheckType::ServiceProperty, Some(Field::Language), true, whole), None);
        assert_eq!(label(CheckType::ServiceProperty, None, false, BARE), None, "the property was deleted");
        assert_eq!(label(CheckType::HasRecentDeploy, None, false, BARE), None);
    }

    #[test]
    fn a_property_is_there_while_it_has_a_definition() {
        assert!(is_there(Field::Language, None) && is_there(Field::CustomProperty, Some("1")));
        assert!(!is_there(Field::CustomProperty, None));
    }
}
