//! A search over the schema. All of it is too long for an agent to read.

use std::sync::LazyLock;

use crate::graphql::SDL;

/// The longest excerpt, in bytes.
const EXCERPT: usize = 8 << 10;

/// A definition of this many bytes or fewer is shown whole.
const WHOLE: usize = 1 << 10;

/// The most definitions of an excerpt.
const DEFINITIONS: usize = 8;

/// A type, input or enum of the schema.
struct Definition {
    /// Its first line, such as `type Service implements Node {`.
    head: &'static str,
    name: &'static str,
    /// Its fields or values, each with what describes it.
    parts: Vec<Part>,
}

struct Part {
    name: &'static str,
    /// The field as it is defined, without descriptions.
    text: String,
    /// What its descriptions say.
    description: String,
}

static DEFINITIONS_OF_SDL: LazyLock<Vec<Definition>> = LazyLock::new(|| definitions(SDL));

/// The definitions that have to do with some words, as SDL without descriptions, the best first.
pub(super) fn search(words: &str) -> String {
    let words: Vec<String> =
        words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let mut found: Vec<(u32, &Definition)> =
        DEFINITIONS_OF_SDL.iter().map(|one| (one.score(&words), one)).filter(|(score, _)| *score > 0).collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let mut excerpt = String::new();
    for (_, definition) in found.into_iter().take(DEFINITIONS) {
        let text = definition.excerpt(&words);
        if excerpt.len() + text.len() > EXCERPT {
            excerpt.push_str("# There is more: use other words.\n");
            break;
        }
        excerpt.push_str(&text);
    }
    excerpt
}

impl Definition {
    fn score(&self, words: &[String]) -> u32 {
        let name = self.name.to_lowercase();
        let of_name = |word: &String| if name == *word { 40 } else { 10 * u32::from(name.contains(word.as_str())) };
        let of_parts = |word: &String| self.parts.iter().map(|part| part.score(word)).max().unwrap_or_default();
        words.iter().map(|word| of_name(word).max(of_parts(word))).sum()
    }

    /// The whole definition if it is short, and otherwise the parts that have to do with the words.
    fn excerpt(&self, words: &[String]) -> String {
        let is_short = self.parts.iter().map(|part| part.text.len()).sum::<usize>() <= WHOLE;
        let mut best: Vec<(u32, &Part)> =
            self.parts.iter().map(|part| (words.iter().map(|word| part.score(word)).sum(), part)).collect();
        if !is_short {
            best.retain(|(score, _)| *score > 0);
            best.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        }
        let mut text = format!("{}\n", self.head);
        let mut is_cut = best.len() < self.parts.len();
        for (_, part) in best {
            if text.len() + part.text.len() > 2 * WHOLE {
                is_cut = true;
                break;
            }
            text.push_str(&part.text);
        }
        if is_cut {
            text.push_str("  # …\n");
        }
        text.push_str(if self.head.ends_with('{') { "}\n" } else { "" });
        text
    }
}

impl Part {
    fn score(&self, word: &str) -> u32 {
        let name = self.name.to_lowercase();
        match () {
            () if name == word => 20,
            () if name.contains(word) => 8,
            () if self.text.to_lowercase().contains(word) => 4,
            () if self.description.to_lowercase().contains(word) => 2,
            () => 0,
        }
    }
}

/// Reads the checked-in schema, whose layout its own check guarantees: a definition begins in the first column, its parts
/// are indented by two blanks, and descriptions are in triple quotes.
fn definitions(sdl: &'static str) -> Vec<Definition> {
    let mut all: Vec<Definition> = Vec::new();
    let (mut description, mut is_described, mut is_open) = (String::new(), false, false);
    for line in sdl.lines() {
        let (code, said, ends_inside) = without_descriptions(line, is_described);
        is_described = ends_inside;
        description.push_str(&said);
        let code = code.trim_end();
        if code.trim().is_empty() {
            continue;
        }
        if !code.starts_with([' ', '}']) && !is_open {
            let words = ["type ", "input ", "enum ", "interface ", "union ", "scalar "];
            if let Some(rest) = words.iter().find_map(|word| line.strip_prefix(word)) {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                is_open = line.ends_with('{');
                all.push(Definition { head: line, name: &rest[..end], parts: Vec::new() });
            }
            description.clear();
        } else if code == "}" {
            is_open = false;
            description.clear();
        } else if let Some(definition) = all.last_mut().filter(|_| is_open) {
            let begins = code.starts_with("  ") && code[2..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            match definition.parts.last_mut() {
                Some(part) if !begins => {
                    part.text.push_str(&format!("{code}\n"));
                    part.description.push_str(&description);
                }
                _ => {
                    let name = line.trim_start();
                    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                    let (text, description) = (format!("{code}\n"), description.clone());
                    definition.parts.push(Part { name: &name[..end], text, description });
                }
            }
            description.clear();
        }
    }
    all
}

/// Separates the code of a line from its descriptions. The last value says whether a description goes on.
fn without_descriptions(line: &str, mut is_described: bool) -> (String, String, bool) {
    let (mut code, mut said) = (String::new(), String::new());
    for (number, piece) in line.split("\"\"\"").enumerate() {
        is_described ^= number > 0;
        if is_described { said.push_str(piece) } else { code.push_str(piece) }
    }
    said.push(' ');
    (code, said, is_described)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_of_the_schema_is_read() {
        let names: Vec<&str> = DEFINITIONS_OF_SDL.iter().map(|one| one.name).collect();
        for name in ["Account", "Service", "ServiceCreateInput", "DeployStatusEnum", "SearchItem", "ISO8601DateTime"] {
            assert!(names.contains(&name), "{name}");
        }
        let service = DEFINITIONS_OF_SDL.iter().find(|one| one.name == "Service").expect("it is there");
        let fields: Vec<&str> = service.parts.iter().map(|part| part.name).collect();
        assert!(fields.contains(&"tier") && fields.contains(&"deploys") && !fields.contains(&"sortBy"), "{fields:?}");
    }

    #[test]
    fn an_excerpt_names_the_fields_that_were_searched_for() {
        for (words, expected) in [
            ("deploys of a service by environment", "environments: [String!]"),
            ("serviceCreate", "serviceCreate("),
            ("maturityReport of a service", "maturityReport: MaturityReport"),
            ("DeployStatusEnum", "enum DeployStatusEnum {"),
        ] {
            let excerpt = search(words);
            assert!(excerpt.contains(expected) && excerpt.len() <= EXCERPT + 64, "{words}: {excerpt}");
            assert!(!excerpt.contains("\"\"\""), "{excerpt}");
        }
        assert_eq!(search("nothingiscalledlikethis"), "");
    }
}
