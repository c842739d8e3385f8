//! The names of actions in words: pages and messages show no name of a mutation.

use std::borrow::Cow;

/// The verbs at the end of an action's name, and how they are said.
const VERBS: &[(&str, &str)] = &[
    ("Create", "added"),
    ("Update", "changed"),
    ("Delete", "removed"),
    ("Assign", "set"),
    ("Unassign", "cleared"),
    ("Upsert", "set"),
    ("Accept", "accepted"),
    ("Unignore", "reopened"),
    ("Ignore", "ignored"),
    ("Add", "added to"),
    ("Remove", "removed from"),
    ("Release", "released"),
    ("Undo", "undid"),
    ("UrlRotate", "gave a new URL to"),
    ("Apply", "applied"),
    ("Report", "reported"),
    ("Answer", "answered"),
    ("Connect", "connected"),
    ("Disconnect", "disconnected"),
];

/// The action that applies a service file.
pub const APPLY: &str = "apply";

/// The action that unlocks a service.
pub const RELEASE: &str = "release";

/// The action that reverts another.
pub const REVERT: &str = "changeRevert";

/// The noun of an action's name as it is written there, and the verb in words. `None` if the verb has none.
pub fn parts(action: &str) -> Option<(&str, &'static str)> {
    VERBS.iter().find_map(|(end, verb)| Some((action.strip_suffix(end)?, *verb)))
}

/// Separates the words of a name: `serviceDependency` becomes `service dependency`.
pub fn spaced(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// Causes in words, each as marks of what is to be evaluated have it: `serviceCreate by Ada; a deploy` becomes `service
/// added by Ada; a deploy`.
pub fn causes(text: &str) -> String {
    text.split("; ").map(cause).collect::<Vec<_>>().join("; ")
}

fn cause(text: &str) -> Cow<'_, str> {
    let Some((action, who)) = text.split_once(" by ") else { return text.into() };
    let is_name = action.chars().all(|letter| letter.is_ascii_alphanumeric());
    match (action, parts(action)) {
        (APPLY, _) => format!("file applied by {who}").into(),
        (RELEASE, _) => format!("service unlocked by {who}").into(),
        (REVERT, _) => format!("change reverted by {who}").into(),
        // "Added to" has its noun behind it.
        (_, Some((noun, verb))) if is_name && verb.contains(' ') => format!("{who} {verb} {}", spaced(noun)).into(),
        (_, Some((noun, verb))) if is_name => {
            let verb = if verb == "undid" { "undone" } else { verb };
            format!("{} {verb} by {who}", spaced(noun)).into()
        }
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_name_no_mutation() {
        for (cause, expected) in [
            ("serviceCreate by Ada", "service added by Ada"),
            (
                "serviceDependencyDelete by a test; apply by ci",
                "service dependency removed by a test; file applied by ci",
            ),
            ("serviceSuggestionsUndo by Ada", "service suggestions undone by Ada"),
            ("eventIntegrationUrlRotate by Ada", "Ada gave a new URL to event integration"),
            ("standardsApply by ci", "standards applied by ci"),
            ("release by Ada; changeRevert by Bo by Cy", "service unlocked by Ada; change reverted by Bo by Cy"),
            ("a deploy; time; many changes", "a deploy; time; many changes"),
            ("the check Ask by Create counts from now on", "the check Ask by Create counts from now on"),
            ("an odd Create by Ada", "an odd Create by Ada"),
            ("", ""),
        ] {
            assert_eq!(causes(cause), expected);
        }
    }
}
