//! Where what a service lacks is added: the forms to which its page leads, and lists of services that miss a check.

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

/// How the messages of checks begin that say what a service lacks, what adds it, and where.
const MENDED: [(&str, &str, &str); 12] = [
    ("It has no owner.", "Set owner", OWNER),
    ("It has no tier.", "Set tier", TIER),
    ("It has no lifecycle stage.", "Set lifecycle stage", "edit#field-lifecycleAlias"),
    ("It has no description.", "Add description", DESCRIPTION),
    ("It has no language.", "Set language", "edit#field-language"),
    ("It has no framework.", "Set framework", "edit#field-framework"),
    ("It has no product.", "Set product", "edit#field-product"),
    ("It has no tool of the category ", "Add link", LINKS),
    ("It has no repository.", "Add repository", REPOSITORIES),
    ("It has no dependency.", "Add dependency", DEPENDENCIES),
    ("It has no tag ", "Set tag", "edit#tag"),
    ("It has no value of the property ", "Set property", "properties"),
];

/// What adds what a service lacks by the message of a check, and where.
pub fn mended(message: &str) -> Option<(&'static str, &'static str)> {
    let found = MENDED.iter().find(|(begins, ..)| message.starts_with(begins));
    found.map(|(_, label, part)| (*label, *part))
}
