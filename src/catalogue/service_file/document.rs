//! The documents of service files, whatever form they are written in.

use sea_orm::sea_query::Value;
use serde_json::Value as Json;

use super::entity_ref::EntityRef;
use super::yaml::{At, Node, Spot};
use crate::entity::field_rule::FieldRule;
use crate::entity::{domain, repository, service, system, team};
use crate::error::shortened;
use crate::json_schema;

/// A document of a service file.
#[derive(Debug)]
pub(super) struct Document {
    /// The source that it comes from, of [`Problems`](super::report::Problems).
    pub(super) file: usize,
    /// Where it begins.
    pub(super) spot: Spot,
    /// Its keys and their places, in their order: two levels of those of a service, such as `spec` and `spec.type`.
    pub(super) keys: Vec<(Spot, String)>,
    pub(super) subject: Subject,
}

impl Document {
    pub(super) fn new(file: usize, node: &At<Node>, subject: Subject) -> Self {
        let mut keys = Vec::new();
        if let Subject::Service(_) = subject {
            add_keys(&mut keys, node, "");
            keys.sort_unstable();
        }
        Self { file, spot: node.spot, keys, subject }
    }

    /// The key within which a place is.
    pub(super) fn key_at(&self, spot: Spot) -> Option<&str> {
        let after = self.keys.partition_point(|(begin, _)| *begin <= spot);
        self.keys.get(after.checked_sub(1)?).map(|(_, key)| key.as_str())
    }

    /// The number of entries of its lists: each costs statements.
    pub(super) fn entries(&self) -> usize {
        fn number<T>(list: &Option<Vec<T>>) -> usize {
            list.as_ref().map_or(0, Vec::len)
        }
        // Each part of a value is checked against a schema.
        fn parts(list: &Option<Vec<Property>>) -> usize {
            list.iter().flatten().map(|property| property.value.as_ref().map_or(1, json_schema::parts)).sum()
        }
        match &self.subject {
            Subject::Service(document) => {
                let ServiceDocument {
                    naming,
                    fields: _,
                    tags,
                    repositories,
                    tools,
                    contacts,
                    dependencies,
                    properties,
                    relationships,
                    apis: _,
                } = &**document;
                let links = number(repositories) + number(tools) + number(contacts) + number(dependencies);
                number(&naming.aliases) + number(tags) + links + parts(properties) + number(relationships)
            }
            Subject::Repository(document) => number(&document.tags),
            Subject::Team(document) => {
                let TeamDocument { group, contacts, members, properties, parent: _, children } = &**document;
                let own = number(&group.naming.aliases) + number(&group.tags) + parts(properties);
                own + number(contacts) + number(members) + children.len()
            }
            Subject::System(document) => number(&document.naming.aliases) + number(&document.tags),
            Subject::Domain(document) => number(&document.naming.aliases) + number(&document.tags),
            Subject::Person(person) => 1 + person.teams.len(),
            Subject::Api(_) => 1,
        }
    }

    /// Whether it describes something of the catalogue, instead of completing what others describe.
    pub(super) fn has_subject(&self) -> bool {
        !matches!(self.subject, Subject::Person(_) | Subject::Api(_))
    }

    /// The size of its property values, as JSON text, in bytes.
    pub(super) fn properties_text(&self) -> usize {
        self.properties().iter().map(|property| property.bytes).sum()
    }

    /// The properties that it gives its subject.
    pub(super) fn properties(&self) -> &[Property] {
        let properties = match &self.subject {
            Subject::Service(document) => &document.properties,
            Subject::Team(document) => &document.properties,
            Subject::Repository(_) | Subject::System(_) | Subject::Domain(_) | Subject::Person(_) | Subject::Api(_) => {
                &None
            }
        };
        properties.as_deref().unwrap_or_default()
    }
}

/// Adds the keys of a mapping, and those of the mappings in it.
fn add_keys(keys: &mut Vec<(Spot, String)>, node: &At<Node>, within: &str) {
    let Node::Mapping(pairs) = &node.value else { return };
    for (key, value) in pairs.iter() {
        let Node::Text(name) = &key.value else { continue };
        let name = format!("{within}{}", shortened(name));
        if within.is_empty() {
            add_keys(keys, value, &format!("{name}."));
        }
        keys.push((key.spot, name));
    }
}

#[derive(Debug)]
pub(super) enum Subject {
    Service(Box<ServiceDocument>),
    Repository(RepositoryDocument),
    Team(Box<TeamDocument>),
    System(GroupDocument<system::Column>),
    Domain(GroupDocument<domain::Column>),
    /// A person of Backstage: gives members their addresses, and creates no user.
    Person(Person),
    /// An API of Backstage: gives the services that provide it their URL.
    Api(Api),
}

/// A field's value in a document: a value for the column, or the name of the row that it refers to.
#[derive(Debug)]
pub(super) struct Given<C: 'static> {
    pub(super) rule: &'static FieldRule<C>,
    pub(super) said: At<Value>,
}

/// The names that a document gives its subject.
#[derive(Debug)]
pub(super) struct Naming {
    pub(super) name: At<String>,
    /// The alias by which the subject is found, if that is not its name. The subject gets this alias.
    pub(super) key: Option<At<String>>,
    /// The whole list of added aliases.
    pub(super) aliases: Option<Vec<At<String>>>,
    /// The entity of Backstage that it is. Its whole reference is the key.
    pub(super) entity: Option<Named>,
}

/// An entity of Backstage, and its short alias as it is written.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) entity: EntityRef,
    pub(super) short: At<String>,
}

impl Naming {
    /// The alias by which the subject is found: its key, else its name.
    pub(super) fn found_by(&self) -> &At<String> {
        self.key.as_ref().unwrap_or(&self.name)
    }
}

/// A key and a value. A key may occur several times.
pub(super) type Tags = Vec<(String, String)>;

#[derive(Debug)]
pub(super) struct ServiceDocument {
    pub(super) naming: Naming,
    /// The fields other than the name.
    pub(super) fields: Vec<Given<service::Column>>,
    pub(super) tags: Option<Tags>,
    pub(super) repositories: Option<Vec<Link>>,
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) contacts: Option<Vec<Contact>>,
    pub(super) dependencies: Option<Vec<Dependency>>,
    pub(super) properties: Option<Vec<Property>>,
    pub(super) relationships: Option<Vec<Relationship>>,
    /// The aliases of the APIs that a component of Backstage provides.
    pub(super) apis: Vec<At<String>>,
}

/// A link to a repository.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) alias: At<String>,
    /// The name and the URL for creating the repository, if it does not exist.
    pub(super) repository: Option<(String, String)>,
    /// The folder. `None` keeps that of an existing link.
    pub(super) base_directory: Option<String>,
    /// The link's name. `None` keeps that of an existing link.
    pub(super) display_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Tool {
    pub(super) category: String,
    pub(super) display_name: String,
    pub(super) url: String,
    pub(super) environment: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Contact {
    pub(super) r#type: String,
    pub(super) address: String,
    pub(super) display_name: Option<String>,
    pub(super) display_type: Option<String>,
    pub(super) external_id: Option<String>,
}

#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) alias: At<String>,
    pub(super) notes: Option<String>,
}

/// A value for a property definition.
#[derive(Debug)]
pub(super) struct Property {
    /// The definition's alias.
    pub(super) definition: At<String>,
    /// The value as it is written, with the places of its parts.
    pub(super) said: At<Node>,
    /// The same value; `None` removes the property.
    pub(super) value: Option<Json>,
    /// The size of the value, as JSON text.
    pub(super) bytes: usize,
}

/// A relationship of a definition.
#[derive(Debug)]
pub(super) struct Relationship {
    /// The definition's alias.
    pub(super) definition: At<String>,
    /// The target's alias.
    pub(super) target: At<String>,
    /// What the target is, if the file says so.
    pub(super) kind: Option<String>,
}

#[derive(Debug)]
pub(super) struct RepositoryDocument {
    pub(super) name: String,
    pub(super) alias: At<String>,
    /// The fields other than the name and the alias.
    pub(super) fields: Vec<Given<repository::Column>>,
    pub(super) tags: Option<Tags>,
}

/// A team, a system or a domain.
#[derive(Debug)]
pub(super) struct GroupDocument<C: 'static> {
    pub(super) naming: Naming,
    /// The fields other than the name.
    pub(super) fields: Vec<Given<C>>,
    pub(super) tags: Option<Tags>,
}

#[derive(Debug)]
pub(super) struct TeamDocument {
    pub(super) group: GroupDocument<team::Column>,
    pub(super) contacts: Option<Vec<Contact>>,
    pub(super) members: Option<Vec<Member>>,
    pub(super) properties: Option<Vec<Property>>,
    /// The team that it is a part of, and those that become its parts: whole references of Backstage.
    pub(super) parent: Option<At<String>>,
    pub(super) children: Vec<At<String>>,
}

/// A member of a team, by the email address, or by the name of a [`Person`].
#[derive(Debug)]
pub(super) struct Member {
    pub(super) user: At<String>,
    pub(super) role: Option<String>,
    pub(super) is_person: bool,
}

#[derive(Debug)]
pub(super) struct Person {
    pub(super) name: At<String>,
    pub(super) email: Option<String>,
    /// The aliases of the teams that the person is in.
    pub(super) teams: Vec<At<String>>,
}

/// An API of Backstage, and the URL of its document, if that is known.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) name: At<String>,
    pub(super) url: Option<String>,
}
