//! Reads Backstage's `catalog-info.yaml`: components, systems, domains, groups and users.
//!
//! Values that the catalogue has no place for are skipped with a note, and so are unknown references: both are common in
//! Backstage. [`left_out`] lists the keys that are always skipped. docs/service-files.md says what each value becomes.

use std::collections::BTreeSet;

use sea_orm::sea_query::Value;

use super::document::{
    Api, Contact, Dependency, Document, Given, GroupDocument, Link, Member, Named, Naming, Person, ServiceDocument,
    Subject, Tags, TeamDocument, Tool,
};
use super::entity_ref::{self, EntityRef};
use super::left_out;
use super::read::is_template;
use super::reader::{Entries, Reader};
use super::report::Problems;
use super::repository_url::{repository_url, url_or_text};
use super::yaml::{At, Node, Spot};
use crate::entity::field_rule::{FieldRule, FieldRules};
use crate::entity::{contact, domain, repository, service, system, tag, team, text, tool};
use crate::error::quoted;

/// The keys of `metadata` that are read.
const METADATA: &[&str] = &["name", "namespace", "title", "description", "labels", "annotations", "tags", "links"];

/// The kinds that are read.
const KINDS: &[&str] = &["Component", "API", "System", "Domain", "Group", "User"];

/// Whether a document with an `apiVersion` is an entity of Backstage.
pub(super) fn is_entity(node: &At<Node>) -> bool {
    let Node::Mapping(pairs) = &node.value else { return false };
    pairs.iter().any(|(key, value)| match (&key.value, &value.value) {
        (Node::Text(key), Node::Text(version)) => key == "apiVersion" && version.starts_with("backstage.io/"),
        _ => false,
    })
}

/// Reads an entity. Returns `None` after a note, such as for a kind that is skipped.
pub(super) fn read(file: usize, node: &At<Node>, problems: &mut Problems) -> Option<Document> {
    let mut reader = Reader { file, problems };
    let mut parts = Entries::new();
    for (key, value) in reader.mapping("an entity", node)? {
        match key.value {
            "apiVersion" | "kind" | "metadata" | "spec" => drop(parts.insert(key.value, value)),
            // Written by Backstage itself.
            "relations" | "status" => {}
            other => reader.leave(key.spot, format!("{other} is not taken: the catalogue has no field for it")),
        }
    }
    let Some(At { value: Node::Text(kind), .. }) = parts.get("kind") else {
        reader.fail(node.spot, "the entity is not taken: its kind is no text");
        return None;
    };
    let Some(kind) = KINDS.iter().copied().find(|known| known.eq_ignore_ascii_case(kind)) else {
        reader.leave(node.spot, format!("the entity of kind {} is not taken: {}", quoted(kind), left_out::kind(kind)));
        return None;
    };
    let entity = reader.entity(node, kind, &parts)?;
    let subject = match kind {
        "Component" => Subject::Service(Box::new(reader.component(entity))),
        "API" => Subject::Api(reader.api(entity, node.spot)),
        "System" => {
            let mut fields = reader.described::<system::Entity>(&entity, system::Column::Description);
            fields.extend(reader.owner(&entity, system::Entity::rule(system::Column::OwnerId)));
            let rule = system::Entity::rule(system::Column::DomainId);
            fields.extend(reader.refers(&entity, "domain", "domain", rule));
            Subject::System(reader.group_entity(entity, fields))
        }
        "Domain" => {
            let mut fields = reader.described::<domain::Entity>(&entity, domain::Column::Description);
            fields.extend(reader.owner(&entity, domain::Entity::rule(domain::Column::OwnerId)));
            Subject::Domain(reader.group_entity(entity, fields))
        }
        "Group" => Subject::Team(Box::new(reader.team_entity(entity))),
        _ => Subject::Person(reader.person(entity)),
    };
    Some(Document::new(file, node, subject))
}

/// An entity, with its parts that are read key by key.
struct Entity<'n> {
    /// The name as it is written, with the namespace if that is not the default.
    short: At<String>,
    entity: EntityRef,
    metadata: Entries<'n>,
    spec: Vec<(At<&'n str>, &'n At<Node>)>,
}

impl<'n> Entity<'n> {
    /// Removes a key from `spec` and returns its value.
    fn take(&mut self, key: &str) -> Option<&'n At<Node>> {
        let place = self.spec.iter().position(|(known, _)| known.value == key)?;
        Some(self.spec.swap_remove(place).1)
    }

    /// Returns the value of a key of `spec`.
    fn get(&self, key: &str) -> Option<&'n At<Node>> {
        self.spec.iter().find(|(known, _)| known.value == key).map(|(_, value)| *value)
    }
}

impl Reader<'_> {
    fn entity<'n>(&mut self, node: &At<Node>, kind: &str, parts: &Entries<'n>) -> Option<Entity<'n>> {
        let mut metadata = Entries::new();
        if let Some(part) = parts.get("metadata") {
            for (key, value) in self.mapping("metadata", part).unwrap_or_default() {
                if METADATA.contains(&key.value) {
                    metadata.insert(key.value, value);
                } else {
                    let message = format!("metadata.{} is not taken: the catalogue has no field for it", key.value);
                    self.leave(key.spot, message);
                }
            }
        }
        let spec = parts.get("spec").and_then(|part| self.mapping("spec", part)).unwrap_or_default();
        let (short, entity) = self.identity(node, kind, &metadata)?;
        Some(Entity { short, entity, metadata, spec })
    }

    /// Reads the name and the namespace. Reports an entity without a name, of which nothing can be made.
    fn identity(&mut self, node: &At<Node>, kind: &str, metadata: &Entries<'_>) -> Option<(At<String>, EntityRef)> {
        let parts = [metadata.get("name"), metadata.get("namespace")];
        if let Some(part) = parts.into_iter().flatten().find(|part| is_template(part)) {
            self.leave(part.spot, left_out::SKELETON);
            return None;
        }
        let Some(At { value: Node::Text(name), spot }) = parts[0] else {
            self.fail(node.spot, format!("the entity of kind {kind} is not taken: it has no metadata.name"));
            return None;
        };
        let namespace = match parts[1] {
            Some(At { value: Node::Text(namespace), .. }) => Some(namespace.as_str()),
            Some(At { value: Node::Null, .. }) | None => None,
            Some(other) => {
                self.fail(other.spot, format!("the entity of kind {kind} is not taken: its namespace is no text"));
                return None;
            }
        };
        let (name, namespace) = (text::trim(name), entity_ref::namespace(namespace));
        let short = entity_ref::short(namespace, name);
        let entity = EntityRef::new(kind, namespace, name);
        let entity = entity.filter(|entity| text::fault(&entity.to_string(), text::SHORT).is_none());
        let Some(entity) = entity else {
            let sentence = format!("the entity of kind {kind} is not taken: {} is no name of one", quoted(&short));
            self.fail(*spot, sentence);
            return None;
        };
        Some((At { value: short, spot: *spot }, entity))
    }

    /// The subject's name is the title, if there is one. The whole reference and the entity's own name, by which others
    /// refer to it, become aliases.
    fn naming_of(&mut self, entity: &Entity<'_>, title: Option<&At<Node>>) -> Naming {
        let title = entity.metadata.get("title").copied().or(title).filter(|title| title.value != Node::Null);
        let title = title.and_then(|title| {
            let text = self.string("the title", title)?;
            if entity_ref::is_placeholder(text) {
                self.leave(title.spot, format!("the title is not taken: {} is a placeholder", quoted(text)));
                return None;
            }
            self.take(title.spot, text::required("the title", text, text::SHORT)).map(|text| title.with(text))
        });
        let short = entity.short.clone();
        let key = short.with(entity.entity.to_string());
        let name = title.unwrap_or_else(|| short.clone());
        Naming { name, key: Some(key), aliases: None, entity: Some(Named { entity: entity.entity.clone(), short }) }
    }

    /// Adds a note for each key of `spec` that was not used.
    fn rest(&mut self, entity: Entity<'_>) {
        for (key, _) in entity.spec {
            self.leave(key.spot, format!("spec.{} is not taken: {}", key.value, left_out::spec(key.value)));
        }
    }

    fn described<E: FieldRules>(&mut self, entity: &Entity<'_>, column: E::Column) -> Vec<Given<E::Column>> {
        let rule = E::rule(column);
        let said = entity.metadata.get("description").and_then(|node| {
            let text = self.text(node, "description", |text| rule.check_text("description", text))?;
            Some(node.with(Value::from(text)))
        });
        said.map(|said| Given { rule, said }).into_iter().collect()
    }

    /// Reads a field of `spec` that refers to an entity of the kind `kind`.
    fn refers<C>(
        &mut self,
        entity: &Entity<'_>,
        key: &str,
        kind: &str,
        rule: &'static FieldRule<C>,
    ) -> Option<Given<C>> {
        let node = entity.get(key)?;
        let found = self.reference(node, kind, &entity.entity.namespace)?;
        Some(Given { rule, said: node.with(Value::from(found.value)) })
    }

    fn owner<C>(&mut self, entity: &Entity<'_>, rule: &'static FieldRule<C>) -> Option<Given<C>> {
        self.refers(entity, "owner", "group", rule)
    }

    fn component(&mut self, mut entity: Entity<'_>) -> ServiceDocument {
        use service::{Column, Entity as Services};
        let naming = self.naming_of(&entity, None);
        let mut fields = self.described::<Services>(&entity, Column::Description);
        fields.extend(self.owner(&entity, Services::rule(Column::OwnerId)));
        fields.extend(self.refers(&entity, "system", "system", Services::rule(Column::SystemId)));
        for (key, column) in [("lifecycle", Column::LifecycleId), ("type", Column::TypeId)] {
            let said = entity.get(key).and_then(|node| Some(node.with(Value::from(self.string(key, node)?))));
            fields.extend(said.map(|said| Given { rule: Services::rule(column), said }));
        }
        for key in ["owner", "system", "lifecycle", "type"] {
            entity.take(key);
        }
        let dependencies = entity.take("dependsOn").and_then(|node| self.depends_on(node, &entity.entity.namespace));
        let apis = self.taken(&mut entity, "providesApis", "api").unwrap_or_default();
        let repositories = self.sources(&entity);
        let tags = self.tags_of(&entity);
        let tools = self.links(&entity).map(|links| links.into_iter().map(tool_of).collect());
        self.rest(entity);
        ServiceDocument {
            naming,
            fields,
            tags,
            repositories,
            tools,
            contacts: None,
            dependencies,
            properties: None,
            relationships: None,
            apis,
        }
    }

    /// Reads the URL of an API, from which it is pulled. Nothing else of an API has a place in the catalogue.
    fn api(&mut self, mut entity: Entity<'_>, spot: Spot) -> Api {
        let name = entity.short.with(entity.entity.to_string());
        let place = entity.take("definition").and_then(|node| match &node.value {
            Node::Mapping(pairs) => pairs.iter().find_map(|(key, value)| match (&key.value, &value.value) {
                (Node::Text(key), Node::Text(url)) if key == "$text" && url.contains("://") => Some(value.with(&**url)),
                _ => None,
            }),
            _ => None,
        });
        let rule = service::Entity::rule(service::Column::ApiDocumentUrl);
        let url = place.and_then(|At { value, spot }| self.take(spot, rule.check_text("definition", value)).flatten());
        let named = quoted(&entity.short.value).to_string();
        let message = match url {
            Some(_) => format!("of the API {named}, only the URL of its definition is taken"),
            None => format!("the API {named} is not taken: its definition is no $text with an https URL"),
        };
        self.leave(spot, message);
        Api { name, url }
    }

    fn group_entity<C>(&mut self, mut entity: Entity<'_>, fields: Vec<Given<C>>) -> GroupDocument<C> {
        let naming = self.naming_of(&entity, None);
        for key in ["owner", "domain"] {
            entity.take(key);
        }
        if let Some(links) = entity.metadata.get("links") {
            self.leave(links.spot, "metadata.links is not taken: a system and a domain have no links");
        }
        let tags = self.tags_of(&entity);
        self.rest(entity);
        GroupDocument { naming, fields, tags }
    }

    fn team_entity(&mut self, mut entity: Entity<'_>) -> TeamDocument {
        use team::{Column, Entity as Teams};
        let fields = self.described::<Teams>(&entity, Column::Responsibilities);
        let parent = entity.take("parent").filter(|node| node.value != Node::Null);
        let parent = parent.and_then(|node| self.reference(node, "group", &entity.entity.namespace));
        let mut profile = entity.take("profile").and_then(|node| self.mapping("profile", node)).unwrap_or_default();
        let mut of_profile = |key: &str| {
            let place = profile.iter().position(|(known, _)| known.value == key)?;
            Some(profile.swap_remove(place).1)
        };
        let (title, email) = (of_profile("displayName"), of_profile("email"));
        let naming = self.naming_of(&entity, title);
        let links = self.links(&entity);
        let email = email.and_then(|node| self.address(node));
        let contacts = (email.is_some() || links.is_some()).then(|| {
            let email = email.map(|address| contact_of("email", address, None));
            let links = links.unwrap_or_default().into_iter().map(|link| contact_of("web", link.url, link.title));
            email.into_iter().chain(links).collect()
        });
        let children = self.taken(&mut entity, "children", "group").unwrap_or_default();
        let members = self.taken(&mut entity, "members", "user");
        let person = |user| Member { user, role: None, is_person: true };
        let members = members.map(|members| members.into_iter().map(person).collect());
        let tags = self.tags_of(&entity);
        for (key, _) in profile {
            self.leave(key.spot, format!("spec.profile.{} is not taken: {}", key.value, left_out::spec(key.value)));
        }
        self.rest(entity);
        TeamDocument {
            group: GroupDocument { naming, fields, tags },
            contacts,
            members,
            properties: None,
            parent,
            children,
        }
    }

    fn person(&mut self, mut entity: Entity<'_>) -> Person {
        let teams = self.taken(&mut entity, "memberOf", "group").unwrap_or_default();
        let mut email = None;
        let profile = entity.take("profile").and_then(|node| self.mapping("profile", node)).unwrap_or_default();
        for (key, value) in profile {
            match key.value {
                "email" => email = self.address(value),
                other => self.leave(key.spot, format!("spec.profile.{other} is not taken: {}", left_out::spec(other))),
            }
        }
        let name = entity.short.with(entity.entity.to_string());
        for (key, node) in entity.metadata.iter().filter(|(key, _)| !["name", "namespace"].contains(key)) {
            self.leave(node.spot, format!("metadata.{key} is not taken: users are not created from files"));
        }
        self.rest(entity);
        Person { name, email, teams }
    }

    fn address(&mut self, node: &At<Node>) -> Option<String> {
        let text = self.string("the email address", node)?;
        self.take(node.spot, text::required("the email address", text, text::SHORT))
    }

    /// Removes a key of `spec`, and reads its list of references to entities of the kind `kind`.
    fn taken(&mut self, entity: &mut Entity<'_>, key: &str, kind: &str) -> Option<Vec<At<String>>> {
        let node = entity.take(key)?;
        self.references(node, kind, &entity.entity.namespace)
    }

    fn depends_on(&mut self, node: &At<Node>, namespace: &str) -> Option<Vec<Dependency>> {
        let aliases = self.references(node, "component", namespace)?;
        Some(aliases.into_iter().map(|alias| Dependency { alias, notes: None }).collect())
    }

    /// Reads tags, labels and annotations, which all become tags. Backstage's tags have no value.
    fn tags_of(&mut self, entity: &Entity<'_>) -> Option<Tags> {
        // Sorted, and one more than may be taken.
        let (mut tags, mut number, mut is_there) = (BTreeSet::new(), 0, false);
        if let Some(node) = entity.metadata.get("tags") {
            is_there = true;
            let list = Entries::from([("metadata.tags", *node)]);
            let given = self.items(&list, "metadata.tags", text::ENTRIES, |reader, node| {
                let tag = reader.string("a tag", node)?;
                reader.tag_of(tag, node.spot, "")
            });
            tags.extend(given.unwrap_or_default());
            number = tags.len();
        }
        for part in ["labels", "annotations"] {
            let Some(node) = entity.metadata.get(part).filter(|node| node.value != Node::Null) else { continue };
            is_there = true;
            for (key, value) in self.mapping(part, node).unwrap_or_default() {
                if part == "annotations" && left_out::is_secret(key.value) {
                    self.leave(key.spot, format!("{} is not taken: it is a secret; keep it out of files", key.value));
                } else if let Some(said) = self.string(key.value, value)
                    && let Some(tag) = self.tag_of(key.value, key.spot, said)
                {
                    number += 1;
                    if tags.len() <= text::ENTRIES {
                        tags.insert(tag);
                    }
                }
            }
        }
        if tags.len() > text::ENTRIES {
            self.check_number(entity.short.spot, "the list of tags, labels and annotations", number, text::ENTRIES);
        }
        is_there.then(|| tags.into_iter().take(text::ENTRIES).collect())
    }

    fn tag_of(&mut self, key: &str, spot: Spot, value: &str) -> Option<(String, String)> {
        let key = self.tag_key(key, spot)?;
        let checked = tag::check_value(value);
        let value =
            checked.map_err(|error| self.leave(spot, format!("{} is not taken: {}", quoted(&key), error.message)));
        Some((key, value.ok()?))
    }

    /// Reads the repositories in annotations.
    fn sources(&mut self, entity: &Entity<'_>) -> Option<Vec<Link>> {
        let node = entity.metadata.get("annotations").filter(|node| node.value != Node::Null)?;
        let Node::Mapping(pairs) = &node.value else { return None };
        let text = |wanted: &str| {
            pairs.iter().find_map(|(key, value)| match (&key.value, &value.value) {
                (Node::Text(key), Node::Text(text)) if key == wanted => Some(value.with(text.as_str())),
                _ => None,
            })
        };
        let gitlab = text("gitlab.com/instance").map_or("gitlab.com", |host| host.value);
        let urls = [
            text("github.com/project-slug").map(|slug| slug.with(url_or_text("github.com", slug.value))),
            text("gitlab.com/project-slug").map(|slug| slug.with(url_or_text(gitlab, slug.value))),
            text("backstage.io/source-location").and_then(|location| Some(location.with(source(location.value)?))),
        ];
        let mut links: Vec<Link> = Vec::new();
        for At { value: url, spot } in urls.into_iter().flatten() {
            let rule = repository::Entity::rule(repository::Column::Url);
            let is_url = !url.contains(char::is_whitespace) && !entity_ref::is_placeholder(&url);
            let alias = match rule.check_text("url", &url) {
                Ok(_) if is_url => repository::alias_of(&url).filter(|alias| text::fault(alias, text::SHORT).is_none()),
                _ => None,
            };
            let Some(alias) = alias else {
                self.leave(spot, format!("the repository is not taken: {} is not a URL of one", quoted(&url)));
                continue;
            };
            if !links.iter().any(|link| link.alias.value == alias) {
                let name = alias.split_once(':').map_or("", |(_, path)| path).to_owned();
                let alias = At { value: alias, spot };
                links.push(Link { alias, repository: Some((name, url)), base_directory: None, display_name: None });
            }
        }
        (!links.is_empty()).then_some(links)
    }

    fn links(&mut self, entity: &Entity<'_>) -> Option<Vec<WebLink>> {
        let list = Entries::from([("metadata.links", *entity.metadata.get("links")?)]);
        self.items(&list, "metadata.links", text::FEW, |reader, node| {
            if let Node::Text(url) = &node.value {
                let rule = tool::Entity::rule(tool::Column::Url);
                let url = reader.take(node.spot, rule.check_text("url", url)).flatten()?;
                return Some(WebLink { url, title: None, category: None });
            }
            let entries = reader.entries("a link", node, &["url", "title", "icon", "type"])?;
            let url = reader.required::<tool::Entity>("a link", node, &entries, tool::Column::Url)?;
            let rule = contact::Entity::rule(contact::Column::DisplayName);
            let title = entries
                .get("title")
                .and_then(|node| reader.text(node, "title", |text| rule.check_text("title", text)).flatten());
            let mut category = None;
            for node in ["type", "icon"].into_iter().filter_map(|key| entries.get(key)) {
                let Some(word) = reader.string("the type of a link", node) else { continue };
                match category_of(word) {
                    Some(known) => category = category.or(Some(known)),
                    None => reader.leave(node.spot, format!("{} is not taken: it is not a category", quoted(word))),
                }
            }
            Some(WebLink { url, title, category })
        })
    }
}

/// A link of Backstage.
struct WebLink {
    url: String,
    title: Option<String>,
    category: Option<&'static str>,
}

/// The category whose word, or its singular, another catalogue uses.
pub(super) fn category_of(word: &str) -> Option<&'static str> {
    let word = word.trim().to_lowercase().replace(['-', ' '], "_");
    tool::CATEGORIES.iter().find(|known| **known == word || known.strip_suffix('s') == Some(&word)).copied()
}

fn tool_of(WebLink { url, title, category }: WebLink) -> Tool {
    let display_name = title.unwrap_or_else(|| url.chars().take(text::SHORT).collect());
    Tool { category: category.unwrap_or("other").to_owned(), display_name, url, environment: None }
}

fn contact_of(kind: &str, address: String, display_name: Option<String>) -> Contact {
    Contact { r#type: kind.to_owned(), address, display_name, display_type: None, external_id: None }
}

/// Returns the URL of a location's repository.
fn source(location: &str) -> Option<String> {
    location.trim().strip_prefix("url:").map(repository_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_location_leads_to_its_repository() {
        for (location, expected) in [
            ("url:https://github.com/org/repo", Some("https://github.com/org/repo")),
            (" url: https://github.com/org/repo ", Some("https://github.com/org/repo")),
            ("url:https://github.com/org/repo.git", Some("https://github.com/org/repo")),
            ("url:https://github.com/org/repo/tree/main/a/b/", Some("https://github.com/org/repo")),
            ("url:https://gitlab.example.com/a/b/c/-/tree/main/", Some("https://gitlab.example.com/a/b/c")),
            ("url:https://bitbucket.org/org/repo/src/main/", Some("https://bitbucket.org/org/repo")),
            ("dir:.", None),
        ] {
            assert_eq!(source(location).as_deref(), expected, "{location}");
        }
    }
}
