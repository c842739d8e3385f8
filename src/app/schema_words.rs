//! The words of forms that follow from the SDL: its names and descriptions, as people say them. What is sent stays.

/// The labels of fields whose names are words of programs.
const LABELS: &[(&str, &str)] = &[
    ("affectsOverallServiceLevels", "Counts towards overall levels"),
    ("alertSourceNamePredicate", "Name of the alert source"),
    ("alertSourceType", "System of the alert source"),
    ("contactMethod", "Type of contact"),
    ("directorySearch", "Folders"),
    ("documentSubtype", "Format"),
    ("documentType", "Documentation"),
    ("enableOn", "Counts from"),
    ("environmentPredicate", "Environment"),
    ("fileContentsPredicate", "Contents of a file"),
    ("fileExtensions", "Endings of file names"),
    ("filePaths", "Paths"),
    ("frequencyTimeScale", "Unit"),
    ("frequencyValue", "Number of units"),
    ("index", "Position"),
    ("issueName", "Name of the issue"),
    ("issueType", "Types of issues"),
    ("maxAllowed", "Most allowed"),
    ("missingPackageResult", "Result without the package"),
    ("packageConstraint", "What is asked"),
    ("packageName", "Package"),
    ("packageNameIsRegex", "The name is a regular expression"),
    ("passPending", "Passes before any event"),
    ("propertyDefinition", "Property"),
    ("propertyValuePredicate", "Value"),
    ("relationshipCountPredicate", "Number of relationships"),
    ("relationshipDefinitionId", "Relationship"),
    ("requireContactMethod", "Needs a contact"),
    ("resolutionTime", "Older than"),
    ("resultMessage", "Message"),
    ("serviceProperty", "Field"),
    ("serviceSelector", "Which services"),
    ("severity", "Severities"),
    ("startingDate", "First from"),
    ("successCondition", "Passes if"),
    ("tagPredicate", "Value of the tag"),
    ("toolCategory", "Category of the link"),
    ("toolNamePredicate", "Name of the link"),
    ("toolUrlPredicate", "URL of the link"),
    ("updateFrequency", "How long an answer is valid"),
    ("updateRequiresComment", "An answer needs a comment"),
    ("useAbsoluteRoot", "From the root of the repository"),
    ("versionConstraintPredicate", "Version"),
];

/// The labels of words that are names, or that say less than they mean.
const WORDS: &[(&str, &str)] = &[
    ("api", "API document"),
    ("api_documentation", "API documentation"),
    ("datadog", "Datadog"),
    ("does_not_match_regex", "does not match the regular expression"),
    ("fire_hydrant", "FireHydrant"),
    ("incident_io", "incident.io"),
    ("lifecycle_index", "position of the lifecycle stage"),
    ("matches_regex", "matches the regular expression"),
    ("microsoft_teams", "Microsoft Teams"),
    ("new_relic", "New Relic"),
    ("openapi", "OpenAPI"),
    ("opsgenie", "Opsgenie"),
    ("pagerduty", "PagerDuty"),
    ("satisfies_jq_expression", "satisfies the jq expression"),
    ("satisfies_version_constraint", "satisfies the version constraint"),
    ("tech", "technical documentation"),
    ("tier_index", "position of the tier"),
];

fn known(words: &[(&str, &'static str)], word: &str) -> Option<String> {
    words.iter().find(|(own, _)| *own == word).map(|(_, label)| (*label).to_owned())
}

/// The label of a field, by its path, such as `tagPredicate.type`.
pub fn field_label(path: &str) -> String {
    const PARTS: [(&str, &str); 3] =
        [("Predicate.type", "How"), ("Predicate.value", "With what"), (".id", "Which one")];
    let name = path.rsplit('.').next().unwrap_or(path);
    let part = PARTS.iter().find(|(end, _)| path.ends_with(*end)).map(|(_, label)| (*label).to_owned());
    part.or_else(|| known(LABELS, name)).unwrap_or_else(|| label(name))
}

/// The label of a word of an enum.
pub fn option_label(word: &str) -> String {
    known(WORDS, word).unwrap_or_else(|| spoken(word))
}

/// A message of the API that begins with the name of a field, with the labels of fields and of words of enums in the
/// place of their names.
pub fn message_in_words(message: &str, is_field: impl Fn(&str) -> bool) -> String {
    let Some((name, rest)) = message.split_once(' ').filter(|(name, _)| is_field(name)) else {
        return message.to_owned();
    };
    let said = |word: &str| match word {
        _ if is_field(word) && word.contains(|letter: char| letter.is_ascii_uppercase()) => {
            field_label(word).to_lowercase()
        }
        _ if word.contains('_') => option_label(word),
        _ => word.to_owned(),
    };
    let rest: Vec<String> = rest.split(' ').map(said).collect();
    format!("{} {}", field_label(name), rest.join(" "))
}

/// A name of the SDL as a label: `tagKey` is `Tag key`, `levelId` is `Level`.
pub fn label(name: &str) -> String {
    let name = name.strip_suffix("Id").unwrap_or(name).replace("Predicate", "Comparison");
    let mut label = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        match letter {
            _ if label.is_empty() => label.extend(letter.to_uppercase()),
            _ if letter.is_uppercase() => {
                label.push(' ');
                label.extend(letter.to_lowercase());
            }
            _ => label.push(letter),
        }
    }
    label.replace(" url", " URL")
}

/// A word of the API as people write it: `has_owner` is `has owner`, `tagKey` is `tag key`, `ANY` is `any`. Anything but a
/// word stays as it is.
pub fn spoken(word: &str) -> String {
    let is_word = word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '…'));
    let is_loud = word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    match word.get(1..) {
        Some(_) if !is_word => word.to_owned(),
        _ if is_loud || word.contains('_') => word.to_lowercase().replace('_', " "),
        Some(rest) if rest.contains(|letter: char| letter.is_ascii_uppercase()) => label(word).to_lowercase(),
        _ => word.to_owned(),
    }
}

/// A description of the SDL without its markup, in the words of people, who leave a field empty where programs send null.
pub fn plain(text: &str) -> String {
    // Every second part is code.
    let parts = text.split('`').enumerate();
    let text: String = parts.map(|(at, part)| if at % 2 == 1 { spoken(part) } else { part.to_owned() }).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.replace("Global id of the", "The").replace("Global id or alias of the", "The");
    let text = text.replace("Absent or null", "Empty").replace("null or empty", "empty");
    let text = text.replace("Null counts as absent; default: false", "Default: no").replace(" null ", " empty ");
    // Choices of a form are yes and no.
    text.replace(" means false", " means no").replace(" is true", " is yes")
}

/// Whether a hint says no more than the label of its field, beside how long the text may be: "The level." at "Level", or
/// "The key of the tag, 1 to 64 characters." at "Tag key".
pub fn repeats(label: &str, hint: &str) -> bool {
    const SMALL: [&str; 13] =
        ["a", "an", "compare", "definition", "how", "is", "its", "name", "of", "the", "to", "whether", "which"];
    let cut = [", 1 to ", ", at most "].into_iter().find_map(|limit| hint.split_once(limit));
    let cut = cut.filter(|(_, limit)| limit.ends_with(" characters.") && !limit.contains(". "));
    let said = cut.map_or(hint, |(said, _)| said).trim_end_matches('.').to_lowercase();
    let label = label.to_lowercase();
    said.split(' ').all(|word| SMALL.contains(&word) || label.split(' ').any(|own| own == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_the_description_for_people() {
        assert_eq!(
            plain("Global id of the filter of the services; null for all services."),
            "The filter of the services; empty for all services."
        );
        assert_eq!(plain("These types; null or empty for all."), "These types; empty for all.");
        assert_eq!(plain("The `key`,\n1 to 64 characters."), "The key, 1 to 64 characters.");
        assert_eq!(
            plain("Ignored without `tagKey`; null or `ANY` for any. With `does_not_…`, or `rs`, a `ContactType`."),
            "Ignored without tag key; empty or any for any. With does not …, or rs, a contact type."
        );
        for word in ["a.b_c", "/x_y", "cargo", "x", "é", ""] {
            assert_eq!(spoken(word), word);
        }
        assert_eq!(
            (spoken("HAS_OWNER"), spoken("custom_property")),
            ("has owner".to_owned(), "custom property".to_owned())
        );
    }

    #[test]
    fn a_hint_that_only_repeats_the_label_is_known() {
        for (label, hint) in [
            ("Level", "The level."),
            ("Name", "Its name, 1 to 255 characters."),
            ("Tag key", "The key of the tag, 1 to 64 characters."),
            ("Category of the link", "The category."),
            ("How", "How to compare."),
            ("An answer needs a comment", "Whether an answer needs a comment."),
        ] {
            assert!(repeats(label, hint), "{label}: {hint}");
        }
        for (label, hint) in [
            ("Notes", "How to pass it, in Markdown, at most 50000 characters."),
            ("Passes if", "A jq expression that says whether a service passes, 1 to 5000 characters. It takes 50 ms."),
            ("Level", "The level; empty for all."),
        ] {
            assert!(!repeats(label, hint), "{label}: {hint}");
        }
    }

    #[test]
    fn forms_have_no_words_of_programs() {
        for (path, expected) in [
            ("fileContentsPredicate", "Contents of a file"),
            ("fileContentsPredicate.type", "How"),
            ("fileContentsPredicate.value", "With what"),
            ("resolutionTime.value", "Value"),
            ("propertyDefinition.id", "Which one"),
            ("tagKey", "Tag key"),
        ] {
            assert_eq!(field_label(path), expected);
        }
        for (word, expected) in [("incident_io", "incident.io"), ("does_not_exist", "does not exist"), ("npm", "npm")] {
            assert_eq!(option_label(word), expected);
        }
        for (text, expected) in [
            (
                "When it begins to count; null for now, if `enabled` is true.",
                "When it begins to count; empty for now, if enabled is yes.",
            ),
            ("Whether it needs one. Absent or null means false.", "Whether it needs one. Empty means no."),
            ("Whether they count. Null counts as absent; default: false.", "Whether they count. Default: no."),
        ] {
            assert_eq!(plain(text), expected);
        }
        const FIELDS: [&str; 3] = ["tagKey", "days", "packageConstraint"];
        let message = |message: &str| message_in_words(message, |field| FIELDS.contains(&field));
        assert_eq!(message("tagKey must be given"), "Tag key must be given");
        assert_eq!(message("days must be from 1 to 9"), "Days must be from 1 to 9");
        assert_eq!(
            message("tagKey must be given if packageConstraint is matches_version"),
            "Tag key must be given if what is asked is matches version"
        );
        assert_eq!(message("it has_none"), "it has_none");
    }

    #[test]
    fn names_of_the_sdl_become_labels() {
        for (name, expected) in [
            ("name", "Name"),
            ("levelId", "Level"),
            ("packageNameIsRegex", "Package name is regex"),
            ("tagPredicate", "Tag comparison"),
            ("toolUrlPredicate", "Tool URL comparison"),
        ] {
            assert_eq!(label(name), expected);
        }
    }
}
