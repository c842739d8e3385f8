//! Generates arguments: mostly valid ones that find something, and ones of the maximum size.

use apollo_compiler::ast::Type;

use super::document::Value;
use super::schema::{Argument, Kind, Schema};
use crate::catalogue::{id, odd_letters, repository};

/// Where values come from.
pub struct Values<'s> {
    pub schema: &'s Schema,
    /// Cursors from earlier responses.
    pub cursors: Vec<String>,
}

/// The maximum number of remembered cursors.
const CURSORS: usize = 64;

/// The types that have rows.
const CLASSES: [&str; 13] = [
    "Service",
    "Team",
    "User",
    "Repository",
    "Tag",
    "Tier",
    "Lifecycle",
    "Deploy",
    "ServiceSuggestion",
    "CodeIssueProject",
    "ServiceRepository",
    "CustomIntegration",
    "CodeIssue",
];

/// How deep optional fields of inputs are given, lists counted.
const DEPTH: u32 = 8;

/// A service file with many services.
pub struct File {
    services: usize,
    tags: usize,
    dependencies: usize,
    tools: usize,
    /// Whether the services have a property whose schema takes long to check.
    has_heavy_property: bool,
    /// Whether the services are new each time.
    is_new: bool,
    is_dry_run: bool,
}

const ORDINARY: File = File {
    services: 500,
    tags: 0,
    dependencies: 0,
    tools: 0,
    has_heavy_property: false,
    is_new: false,
    is_dry_run: false,
};

/// The files from which a search begins: just below the limits of `serviceFilesApply`.
pub const FILES: [File; 6] = [
    File { has_heavy_property: true, is_dry_run: true, ..ORDINARY },
    File { has_heavy_property: true, is_new: true, ..ORDINARY },
    File { is_new: true, ..ORDINARY },
    File { tags: 8, is_new: true, ..ORDINARY },
    File { services: 150, tags: 10, dependencies: 10, tools: 10, ..ORDINARY },
    File { services: 5, tags: 900, dependencies: 90, ..ORDINARY },
];

impl File {
    /// The request that applies the file.
    pub fn request(&self) -> serde_json::Value {
        let query = format!(
            "mutation($t: String!) {{ serviceFilesApply(input: {{ files: [{{ path: \"f.yml\", text: $t }}], dryRun: {} }}) {{
                documents {{ name }} errors {{ message }}
            }} }}",
            self.is_dry_run
        );
        serde_json::json!({ "query": query, "variables": { "t": self.text() } })
    }

    fn text(&self) -> String {
        let Self { services, tags, dependencies, tools, has_heavy_property, is_new, is_dry_run: _ } = self;
        let one = |number: usize| {
            let name = if *is_new { format!("of a file {number}") } else { format!("file {number}") };
            let mut service = serde_json::json!({ "name": name });
            let mut give = |key: &str, value: serde_json::Value| service[key] = value;
            if *tags > 0 {
                let tags = (0..*tags).map(|tag| (format!("key-{tag}"), serde_json::json!(tag.to_string()))).collect();
                give("tags", serde_json::Value::Object(tags));
            }
            if *dependencies > 0 {
                give("dependencies", (0..*dependencies).map(|n| format!("svc_{}", n + 1)).collect());
            }
            if *tools > 0 {
                let tool = |n: usize| {
                    serde_json::json!({
                        "category": "runbooks", "name": format!("tool {n}"), "url": "https://example.com/tool",
                    })
                };
                give("tools", (0..*tools).map(tool).collect());
            }
            if *has_heavy_property {
                give("properties", serde_json::json!({ "heavy": "a".repeat(110) }));
            }
            serde_json::json!({ "version": 1, "service": service }).to_string()
        };
        (0..*services).map(one).collect::<Vec<_>>().join("\n---\n")
    }
}

impl Values<'_> {
    /// Remembers the cursors of a response.
    pub fn learn(&mut self, answer: &str, random: &mut fastrand::Rng) {
        for (at, name) in answer.match_indices("ursor\":\"").take(8) {
            let cursor: String = answer[at + name.len()..].chars().take_while(|letter| *letter != '"').collect();
            if self.cursors.len() < CURSORS {
                self.cursors.push(cursor);
            } else {
                self.cursors[random.usize(..CURSORS)] = cursor;
            }
        }
    }

    /// A value for an argument of a field that selects `of`.
    pub fn argument(&self, argument: &Argument, of: &str, random: &mut fastrand::Rng) -> Value {
        let value = self.typed(&argument.of, &argument.name, of, random, 0);
        if random.u8(..10) == 0 { Value::Variable(argument.of.to_string(), Box::new(value)) } else { value }
    }

    fn typed(&self, of: &Type, name: &str, noun: &str, random: &mut fastrand::Rng, depth: u32) -> Value {
        match of {
            Type::List(of) | Type::NonNullList(of) => {
                let most = match depth {
                    0 => 1_000,
                    1..=2 => 20,
                    _ => 3,
                };
                let count = [1, 3, 100, most][random.usize(..4)].min(most);
                let first = self.typed(of, name, noun, random, depth + 1);
                // Distinct values in most cases.
                let values = (0..count).map(|n| match &first {
                    Value::Text(text) if n > 0 => Value::Text(format!("{text}{n}").chars().take(255).collect()),
                    Value::Object(_) if n > 0 => self.typed(of, name, noun, random, depth + 1),
                    _ => first.clone(),
                });
                Value::List(values.collect())
            }
            Type::Named(of) | Type::NonNullNamed(of) => match self.schema.kind(of) {
                Some(Kind::Enum(values)) => Value::Name(values[random.usize(..values.len())].clone()),
                Some(Kind::Input(fields)) => {
                    // Give only one of id and alias.
                    let either = random.bool();
                    let mut entry = |field: &Argument| {
                        let left_out = match &*field.name {
                            "id" => either && fields.iter().any(|other| other.name == "alias" || other.name == "email"),
                            "alias" | "email" => !either && fields.iter().any(|other| other.name == "id"),
                            _ => false,
                        };
                        // An input may hold inputs of its own type.
                        !left_out && (field.required || depth < DEPTH && random.u8(..3) > 0)
                    };
                    let chosen: Vec<&Argument> = fields.iter().filter(|field| entry(field)).collect();
                    let noun = match name {
                        "integration" | "resource" => "CustomIntegration",
                        "service" => "Service",
                        "repository" => "Repository",
                        "ownerInput" => "Team",
                        "user" => "User",
                        _ => noun,
                    };
                    Value::Object(
                        chosen
                            .into_iter()
                            .map(|field| {
                                (field.name.clone(), self.typed(&field.of, &field.name, noun, random, depth + 1))
                            })
                            .collect(),
                    )
                }
                _ => self.scalar(of, name, noun, random),
            },
        }
    }

    fn scalar(&self, of: &str, name: &str, noun: &str, random: &mut fastrand::Rng) -> Value {
        let text = |text: &str| Value::Text(text.to_owned());
        let pick =
            |random: &mut fastrand::Rng, texts: &[&str]| Value::Text(texts[random.usize(..texts.len())].to_owned());
        match (of, name) {
            ("Boolean", _) => Value::Flag(random.bool()),
            ("Int", "first") => Value::Number([100, 100, 100, 1, 10, 50, 0, i64::from(i32::MAX)][random.usize(..8)]),
            ("Int", _) => Value::Number(random.i64(-2..1_000)),
            ("ISO8601DateTime", "start") => {
                pick(random, &["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-06-01T00:00:00Z"])
            }
            ("ISO8601DateTime", "notDeployedSince") => pick(
                random,
                &["2000-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-11-20T00:00:00Z", "9999-01-01T00:00:00Z"],
            ),
            ("ISO8601DateTime", _) => {
                pick(random, &["9999-12-31T23:59:59Z", "2030-01-01T00:00:00Z", "2026-11-22T00:00:00Z"])
            }
            ("ID", _) => {
                let class = match (name, noun) {
                    ("teamId", _) => "Team",
                    ("ownerId", _) => ["Service", "Team"][random.usize(..2)],
                    ("serviceId", _) => "Service",
                    ("codeIssueProjectId" | "codeIssueProjectIds", _) => "CodeIssueProject",
                    ("resourceId", _) => ["Service", "Repository"][random.usize(..2)],
                    (_, noun) => {
                        let own =
                            CLASSES.iter().filter(|class| noun.starts_with(**class)).max_by_key(|class| class.len());
                        own.copied().unwrap_or(CLASSES[random.usize(..CLASSES.len())])
                    }
                };
                // The rows of the hostile part come after the generated ones.
                Value::Text(id(class, random.u64(1..600)))
            }
            (_, "after") => match self.cursors.len() {
                0 => text(""),
                count => Value::Text(self.cursors[random.usize(..count)].clone()),
            },
            (_, "search" | "term") => match random.u8(..6) {
                0 => text("e"),
                1 => text("xyzzy nothing is called so"),
                2 => text(&"%_".repeat(100)),
                _ => Value::Text(odd_letters([60, 225, 255][random.usize(..3)], random.usize(..1_000))),
            },
            (_, "environments") => pick(random, &["production", "staging", "Staging", ""]),
            (_, "email" | "managerEmail") => Value::Text(format!("person{}@example.com", random.u16(..300))),
            (_, "ownerAlias") => text("everything"),
            (_, "tierAlias") => pick(random, &["tier_1", "tier_2", "nothing"]),
            (_, "lifecycleAlias") => pick(random, &["beta", "nothing"]),
            (_, "language") => pick(random, &["Rust", "Go", ""]),
            (_, "key") => Value::Text(format!("key-{:0>60}", random.u8(..100))),
            (_, "alias") => match (noun, random.u8(..4)) {
                (_, 0) => Value::Fresh(255),
                (noun, _) if noun.starts_with("Team") => pick(random, &["everything", "crowd_1", "team-1"]),
                (noun, _) if noun.starts_with("Repository") => Value::Text(repository(random.usize(..100))),
                _ => Value::Text(format!("{}_{}", ["big", "svc"][random.usize(..2)], random.u8(..150))),
            },
            ("String", "text") => {
                let [services, tags, dependencies, tools] = match random.u8(..4) {
                    0 => [1_000, random.usize(..10), 0, 0],
                    1 => [random.usize(1..300), random.usize(..20), random.usize(..20), random.usize(..20)],
                    2 => [random.usize(1..10), random.usize(..1_000), random.usize(..100), random.usize(..100)],
                    _ => [random.usize(1..1_000), 1, 1, 1],
                };
                let (has_heavy_property, is_new) = (random.u8(..4) == 0, random.bool());
                let file = File { services, tags, dependencies, tools, has_heavy_property, is_new, is_dry_run: false };
                Value::Text(file.text())
            }
            (_, "name") => Value::Fresh([10, 255][random.usize(..2)]),
            (_, "note") => Value::Text("\u{1}".repeat([10, 50_000][random.usize(..2)])),
            (_, "description" | "responsibilities") => Value::Text("🚀".repeat([10, 5_000][random.usize(..2)])),
            (_, "url") => Value::Text(format!("https://example.com/{}", "u".repeat([1, 1_900][random.usize(..2)]))),
            (_, "value") => Value::Text("🚀".repeat([10, 1_000][random.usize(..2)])),
            _ => Value::Text("t".repeat([1, 100, 255][random.usize(..3)])),
        }
    }
}
