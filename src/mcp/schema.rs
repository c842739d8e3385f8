//! A search over the schema. All of it is too long for an agent to read.

use std::sync::LazyLock;

use crate::graphql::SDL;

/// The longest excerpt, in bytes.
const EXCERPT: usize = 8 << 10;

/// A definition of this many bytes or fewer is shown whole.
const WHOLE: usize = 1 << 10;

/// The most definitions of an excerpt.
const DEFINITIONS: usize = 8;

/// The longest sentence of a description, in bytes. A longer one is cut.
const SENTENCE: usize = 200;

/// Words that say nothing of what is looked for.
const FILLERS: [&str; 21] = [
    "a", "all", "an", "and", "are", "by", "do", "for", "from", "get", "getting", "how", "in", "is", "of", "on", "or",
    "the", "to", "what", "with",
];

/// A type, input or enum of the schema.
struct Definition {
    /// Its first line, such as `type Service implements Node {`.
    head: &'static str,
    name: &'static str,
    /// What its description says.
    description: String,
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

/// The definitions that have to do with some words, as SDL, the best first. Of descriptions, it has the first sentence as a
/// comment.
pub(super) fn search(asked: &str) -> String {
    let mut words = words_of(asked);
    words.retain(|word| !FILLERS.contains(&word.as_str()));
    let whole = words.concat();
    let mut found: Vec<(u32, &Definition)> =
        DEFINITIONS_OF_SDL.iter().map(|one| (one.score(&words, &whole), one)).filter(|(score, _)| *score > 0).collect();
    if found.is_empty() {
        return "# Nothing in the schema has to do with these words. Use others, such as the name of a noun: service, team, \
                deploy, check."
            .to_owned();
    }
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let mut excerpt = String::new();
    if !DEFINITIONS_OF_SDL.iter().any(|one| one.is_named(&words)) {
        excerpt.push_str(
            "# Nothing is named by all of these words, so the schema may lack what is looked for. The nearest:\n",
        );
    }
    for (_, definition) in found.into_iter().take(DEFINITIONS) {
        let text = definition.excerpt(&words, &whole);
        if excerpt.len() + text.len() > EXCERPT {
            excerpt.push_str("# There is more: use other words.\n");
            break;
        }
        excerpt.push_str(&text);
    }
    excerpt
}

/// The words of a text, in lower case. Names in camel case are several.
fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a word is one of a name, in the singular or the plural.
fn is_word_of(word: &str, name: &[String]) -> bool {
    let stem = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    name.iter().any(|own| own == word || stem(own) == stem(word))
}

/// How well a name fits a word.
fn fit(name: &str, words: &[String], word: &str) -> u32 {
    match () {
        () if name.eq_ignore_ascii_case(word) => 20,
        () if is_word_of(word, words) => 12,
        () if name.to_lowercase().contains(word) => 8,
        () => 0,
    }
}

/// The first sentence of a description as a comment, or nothing.
fn comment(description: &str, indent: &str) -> String {
    let text = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first);
    let mut end = sentence.len().min(SENTENCE);
    while !sentence.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < sentence.len() { "…" } else { "" };
    if sentence.is_empty() { String::new() } else { format!("{indent}# {}{cut}\n", &sentence[..end]) }
}

impl Definition {
    fn score(&self, words: &[String], whole: &str) -> u32 {
        let own = words_of(self.name);
        let of_word = |word: &String| {
            let of_parts = self.parts.iter().map(|part| part.score(word)).max().unwrap_or_default();
            let of_name = fit(self.name, &own, word);
            if of_name == 20 { 40 } else { of_name.max(of_parts) }
        };
        let is_whole = |name: &str| words.len() > 1 && name.eq_ignore_ascii_case(whole);
        let of_whole = if is_whole(self.name) { 60 } else { 0 };
        let of_part = if self.parts.iter().any(|part| is_whole(part.name)) { 30 } else { 0 };
        words.iter().map(of_word).sum::<u32>() + of_whole + of_part
    }

    /// Whether its name, or that of a part beside its own, has all of the words.
    fn is_named(&self, words: &[String]) -> bool {
        let own = words_of(self.name);
        let has_all = |name: &[String]| {
            words
                .iter()
                .all(|word| is_word_of(word, name) || is_word_of(word, &own) || *word == self.name.to_lowercase())
        };
        has_all(&[]) || self.parts.iter().any(|part| has_all(&part.words()))
    }

    /// The whole definition if it is short, and otherwise the parts that have to do with the words.
    fn excerpt(&self, words: &[String], whole: &str) -> String {
        let is_short = self.parts.iter().map(|part| part.text.len()).sum::<usize>() <= WHOLE;
        let score = |part: &Part| {
            let of_whole = if part.name.eq_ignore_ascii_case(whole) { 30 } else { 0 };
            words.iter().map(|word| part.score(word)).sum::<u32>() + of_whole
        };
        let mut best: Vec<(u32, &Part)> = self.parts.iter().map(|part| (score(part), part)).collect();
        if !is_short {
            best.retain(|(score, _)| *score > 0);
            best.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        }
        let mut text = format!("{}{}\n", comment(&self.description, ""), self.head);
        let mut is_cut = best.len() < self.parts.len();
        for (_, part) in best {
            let own = format!("{}{}", comment(&part.description, "  "), part.text);
            if text.len() + own.len() > 3 * WHOLE {
                is_cut = true;
                break;
            }
            text.push_str(&own);
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
        match fit(self.name, &self.words(), word) {
            0 if self.text.to_lowercase().contains(word) => 4,
            0 if self.description.to_lowercase().contains(word) => 2,
            score => score,
        }
    }

    /// The words of its name.
    fn words(&self) -> Vec<String> {
        words_of(self.name)
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
                let description = description.clone();
                all.push(Definition { head: line, name: &rest[..end], description, parts: Vec::new() });
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
            ("deploy metrics", "type DeployMetrics {"),
            ("deploy metrics", "# DORA's deployment frequency"),
            ("duration percentiles", "# The 50th percentile, in seconds\n  median: Int!"),
        ] {
            let excerpt = search(words);
            assert!(excerpt.contains(expected) && excerpt.len() <= EXCERPT + 128, "{words}: {excerpt}");
            assert!(!excerpt.contains("\"\"\""), "{excerpt}");
        }
        assert!(search("nothingiscalledlikethis").starts_with("# Nothing in the schema has to do with these words."));
        assert!(
            search("rotate token").starts_with("# Nothing is named by all of these words"),
            "{}",
            search("rotate token")
        );
        assert!(!search("deploy metrics").starts_with("# Nothing"), "{}", search("deploy metrics"));
    }
}
