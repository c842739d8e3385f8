//! Reads the documents of service files, and checks everything that needs no catalogue. [`catalog_info`] reads those of
//! Backstage.

use super::catalog_info::{self, category_of};
use super::document::{
    Contact, Dependency, Document, Given, GroupDocument, Link, Member, Naming, RepositoryDocument, ServiceDocument,
    Subject, TeamDocument, Tool,
};
use super::entity_ref;
use super::form::{self, Form, KINDS};
use super::intake::Intake;
use super::left_out;
use super::reader::{Entries, Reader, fields, not_of_kind};
use super::report::Problems;
use super::repository_url::{host_of, url_at};
use super::yaml::{self, Allowance, At, Node, Spot, Unread};
use crate::entity::field_rule::{FieldRule, FieldRules};
use crate::entity::{
    contact, domain, repository, service, service_dependency, service_repository, system, team, team_membership, text,
    tool,
};
use crate::error::UserError;

const LISTS: &[&str] = &["aliases", "tags"];
const SERVICE_LISTS: &[&str] =
    &["aliases", "tags", "repositories", "tools", "contacts", "dependencies", "properties", "relationships"];
const TEAM_LISTS: &[&str] = &["aliases", "tags", "members", "contacts", "properties"];

/// Whether a document of the text is not a service file's, and not another catalogue's either. Says nothing about text
/// that is not YAML.
pub(super) fn has_other_documents(text: &str) -> bool {
    let mut allowance = Allowance::LOCAL;
    let documents = yaml::documents(text, &mut allowance);
    documents.iter().flatten().any(|node| matches!(Form::detect(node), Form::Unknown))
}

/// The maximum number of a service's repositories.
const REPOSITORIES: usize = text::ENTRIES;

/// All keys of a subject, in the order of docs/service-files.md.
fn keys<E: FieldRules>(names: &[&'static str], lists: &[&'static str]) -> Vec<&'static str> {
    names.iter().copied().chain(fields::<E>().map(FieldRule::key)).chain(lists.iter().copied()).collect()
}

/// Reads the documents of a file and reports mistakes. Leaves out documents without a subject. Stops at a limit.
pub(super) fn read(file: usize, text: &str, intake: &mut Intake, problems: &mut Problems) {
    let path = problems.name(file).to_owned();
    let is_named_by_another = form::is_named_by_another(&path);
    // A document of another catalogue that is no YAML fails alone, so what follows it is read.
    let nodes = match is_named_by_another || form::looks_like_an_entity(text) {
        true => yaml::documents_each(text, &mut intake.allowance),
        false => yaml::documents(text, &mut intake.allowance),
    };
    let read = nodes.iter().filter_map(|node| node.as_ref().ok());
    let is_opslevel = form::is_opslevel(&path, text, read.clone());
    let is_lenient = is_named_by_another || read.clone().any(|node| Form::within(node, is_opslevel).is_lenient());
    if nodes.is_empty() {
        let source = if is_lenient { Problems::lenient(file) } else { file };
        problems.add(source, Spot { line: 1, column: 1 }, "there is no document in this file");
    }
    for node in nodes {
        match node {
            Ok(node) => match Form::within(&node, is_opslevel) {
                Form::Empty if is_lenient => {}
                Form::Unknown if is_lenient => problems.fail(Problems::lenient(file), node.spot, left_out::UNKNOWN),
                form => document(file, node, form, intake, problems),
            },
            Err(unread) => {
                let begins = is_named_by_another || form::looks_like_an_entity(&unread.text);
                self::unread(if begins { Problems::lenient(file) } else { file }, unread, problems);
            }
        }
        if problems.is_over() {
            return;
        }
    }
}

/// Reports a document that is no YAML.
fn unread(source: usize, Unread { spot, message, is_over, text }: Unread, problems: &mut Problems) {
    if is_over {
        problems.end(source, spot, message);
    } else if problems.is_lenient(source) && entity_ref::is_placeholder(&text) {
        problems.leave(source, spot, left_out::SKELETON);
    } else {
        problems.documents_are_missing |= !problems.is_lenient(source);
        problems.fail(source, spot, message);
    }
}

fn document(file: usize, mut node: At<Node>, form: Form, intake: &mut Intake, problems: &mut Problems) {
    let file = if form.is_lenient() { Problems::lenient(file) } else { file };
    match form {
        Form::Backstage => {
            node.be_text(&[]);
            let document = catalog_info::read(file, &node, problems);
            document.into_iter().for_each(|document| intake.add(document, problems));
        }
        Form::Foreign => problems.leave(file, node.spot, left_out::foreign(&node)),
        Form::OpsLevel => {
            node.be_text(&[
                &["version"],
                &["service", "properties"],
                &["component", "properties"],
                &["team", "properties"],
            ]);
            Reader { file, problems }.documents(&node, form, intake);
        }
        Form::Own | Form::Empty | Form::Unknown => Reader { file, problems }.documents(&node, form, intake),
    }
}

impl Reader<'_> {
    /// Reads a document. Messages quote its content only if it says that it is a service file. Any other file may have
    /// been named by mistake, and its secrets must not end up in a pipeline's log.
    fn documents(&mut self, node: &At<Node>, form: Form, intake: &mut Intake) {
        let found = self.subjects(node, form);
        let is_missing = found.is_none();
        for (kind, node) in found.unwrap_or_default() {
            if self.is_lenient() && !matches!(node.value, Node::Mapping(_) | Node::Null) {
                self.fail(node.spot, not_of_kind(&format!("a {kind}"), "a mapping", node));
                continue;
            }
            match self.subject(kind, node) {
                Some(subject) => {
                    intake.add(Document::new(self.file, node, subject), self.problems);
                }
                None if self.is_lenient() => {}
                None => self.problems.documents_are_missing = true,
            }
            if self.problems.is_over() {
                return;
            }
        }
        self.problems.documents_are_missing |= is_missing && !self.is_lenient();
    }

    /// Returns the kind and the description of each subject of a document, which has one or a list of them.
    fn subjects<'n>(&mut self, node: &'n At<Node>, form: Form) -> Option<Vec<(&'static str, &'n At<Node>)>> {
        let Node::Mapping(pairs) = &node.value else {
            self.wrong_kind("a document", "a mapping", node);
            return None;
        };
        let has = |name: &str| pairs.iter().any(|(key, _)| matches!(&key.value, Node::Text(key) if key == name));
        let kinds: Vec<_> = KINDS.iter().copied().filter(|kind| has(kind)).collect();
        let known = KINDS.join(", ");
        if form == Form::Unknown {
            self.wrong(node.spot, format!("this is not a service file: write version: 1, and one of {known}"));
            return None;
        }
        if !has("version") {
            self.fail(node.spot, "the version is missing: write version: 1");
        }
        // Other catalogues have a service and its repository in one document.
        if kinds.is_empty() || kinds.len() > 1 && !self.is_lenient() {
            self.fail(node.spot, format!("a document has exactly one of the keys {known}"));
            return None;
        }
        if !has("version") {
            return None;
        }
        let keys: Vec<&str> = std::iter::once("version").chain(kinds.iter().copied()).collect();
        let entries = self.entries("a document", node, &keys)?;
        match entries.get("version") {
            None => {}
            Some(At { value: Node::Number(number, _), .. }) if number.as_f64() == Some(1.0) => {}
            Some(At { value: Node::Text(number), .. }) if self.is_lenient() && number.trim() == "1" => {}
            Some(other) => self.wrong(other.spot, "this program does not support this version: write version: 1"),
        }
        let mut subjects = Vec::new();
        for kind in kinds {
            let Some(subject) = entries.get(kind).copied() else { continue };
            match &subject.value {
                Node::List(items) => subjects.extend(items.iter().map(|item| (kind, item))),
                _ => subjects.push((kind, subject)),
            }
        }
        Some(subjects)
    }

    fn subject(&mut self, kind: &str, node: &At<Node>) -> Option<Subject> {
        match kind {
            "repository" => self.repository(node).map(Subject::Repository),
            "team" => self.team(node).map(|team| Subject::Team(Box::new(team))),
            "system" => {
                let entries = self.entries("a system", node, &keys::<system::Entity>(&["name"], LISTS))?;
                self.group::<system::Entity>("a system", node, &entries, system::Column::Name).map(Subject::System)
            }
            "domain" => {
                let entries = self.entries("a domain", node, &keys::<domain::Entity>(&["name"], LISTS))?;
                self.group::<domain::Entity>("a domain", node, &entries, domain::Column::Name).map(Subject::Domain)
            }
            _ => self.service(node).map(|service| Subject::Service(Box::new(service))),
        }
    }

    fn naming<E: FieldRules>(
        &mut self,
        what: &str,
        node: &At<Node>,
        entries: &Entries<'_>,
        name: E::Column,
    ) -> Option<Naming> {
        let name = self.document_name(what, node, entries, E::rule(name));
        let aliases = self.list(entries, "aliases", "an alias", |alias| text::required("alias", alias, text::SHORT));
        Some(Naming { name: name?, key: None, aliases, entity: None })
    }

    fn service(&mut self, node: &At<Node>) -> Option<ServiceDocument> {
        let entries = self.entries("a service", node, &keys::<service::Entity>(&["name"], SERVICE_LISTS))?;
        if self.is_lenient() && !self.is_named(node, &entries) {
            return None;
        }
        let naming = self.naming::<service::Entity>("a service", node, &entries, service::Column::Name);
        let fields = self.fields::<service::Entity>(&entries);
        let tags = self.tags(&entries);
        let repositories = self.items(&entries, "repositories", REPOSITORIES, Self::link);
        let tools = self.items(&entries, "tools", text::ENTRIES, Self::tool);
        let contacts = self.items(&entries, "contacts", text::FEW, Self::contact);
        let dependencies = self.items(&entries, "dependencies", text::ENTRIES, Self::dependency);
        let properties = self.properties(&entries);
        let relationships = self.relationships(&entries);
        Some(ServiceDocument {
            naming: naming?,
            fields,
            tags,
            repositories,
            tools,
            contacts,
            dependencies,
            properties,
            relationships,
            apis: Vec::new(),
        })
    }

    /// Whether a service of another catalogue has a name. Reports it otherwise.
    fn is_named(&mut self, node: &At<Node>, entries: &Entries<'_>) -> bool {
        match entries.get("name") {
            Some(name) if is_template(name) => self.leave(name.spot, left_out::SKELETON),
            Some(At { value: Node::Text(name), .. }) if entity_ref::has_letters(name) => return true,
            name => {
                let spot = name.map_or(node.spot, |name| name.spot);
                self.fail(spot, "the service is not taken: it has no name");
            }
        }
        false
    }

    fn team(&mut self, node: &At<Node>) -> Option<TeamDocument> {
        let entries = self.entries("a team", node, &keys::<team::Entity>(&["name"], TEAM_LISTS))?;
        let group = self.group::<team::Entity>("a team", node, &entries, team::Column::Name);
        let contacts = self.items(&entries, "contacts", text::FEW, Self::contact);
        let members = self.items(&entries, "members", text::ENTRIES, Self::member);
        let properties = self.properties(&entries);
        let mut group = group?;
        // Of a lenient source, the parent is only taken if it closes no circle.
        let is_parent = |given: &mut Given<team::Column>| matches!(given.rule.column, team::Column::ParentTeamId);
        let parent = self.is_lenient().then(|| group.fields.extract_if(.., is_parent).next()).flatten();
        let parent = parent.and_then(|given| match given.said {
            At { value: sea_orm::sea_query::Value::String(Some(name)), spot } => {
                Some(At { value: name.to_string(), spot })
            }
            _ => None,
        });
        Some(TeamDocument { group, contacts, members, properties, parent, children: Vec::new() })
    }

    fn group<E: FieldRules>(
        &mut self,
        what: &str,
        node: &At<Node>,
        entries: &Entries<'_>,
        name: E::Column,
    ) -> Option<GroupDocument<E::Column>> {
        let naming = self.naming::<E>(what, node, entries, name);
        let fields = self.fields::<E>(entries);
        let tags = self.tags(entries);
        Some(GroupDocument { naming: naming?, fields, tags })
    }

    /// Reads a repository of a service: an alias, a URL, or a mapping.
    fn link(&mut self, node: &At<Node>) -> Option<Link> {
        if let Node::Text(named) = &node.value {
            let alias = self.take(node.spot, alias_of(named))?;
            return Some(Link { alias: node.with(alias), repository: None, base_directory: None, display_name: None });
        }
        if !matches!(node.value, Node::Mapping(_)) {
            self.wrong_kind("a repository", "a string or a mapping", node);
            return None;
        }
        let keys = ["name", "provider", "path", "display_name"];
        let entries = self.entries("a repository of a service", node, &keys)?;
        let Some(named) = entries.get("name") else {
            self.wrong(node.spot, "a repository of a service needs a name");
            return None;
        };
        let name = self.string("name", named)?;
        let provider = match entries.get("provider") {
            None | Some(At { value: Node::Null, .. }) => None,
            Some(provider) => Some(self.string("provider", provider)?),
        };
        let url = provider.and_then(host_of).map(|host| url_at(host, name).ok_or(host));
        if let Some(Err(host)) = url {
            self.wrong(named.spot, format!("this is no repository: at {host}, its name is OWNER/NAME"));
            return None;
        }
        let url = url.and_then(Result::ok);
        let alias = self.take(named.spot, alias_of(url.as_deref().unwrap_or(name)))?;
        let base_directory = match entries.get("path") {
            Some(path) => {
                let rule = service_repository::Entity::rule(service_repository::Column::BaseDirectory);
                let path = self.text(path, "path", |text| rule.check_text("path", text))?;
                Some(path.unwrap_or_else(|| "/".to_owned()))
            }
            None => None,
        };
        let display_name = self.field::<service_repository::Entity>(&entries, service_repository::Column::DisplayName);
        let path = alias.split_once(':').map_or(name, |(_, path)| path);
        let repository = url.map(|url| (path.to_owned(), url));
        Some(Link { alias: named.with(alias), repository, base_directory, display_name })
    }

    fn tool(&mut self, node: &At<Node>) -> Option<Tool> {
        use tool::{Column, Entity};
        let entries = self.entries("a tool", node, &["name", "category", "environment", "url"])?;
        let name = self.name("a tool", node, &entries, Entity::rule(Column::DisplayName));
        let url = self.required::<Entity>("a tool", node, &entries, Column::Url);
        let category = match entries.get("category") {
            None | Some(At { value: Node::Null, .. }) => Some("other".to_owned()),
            Some(At { value: Node::Text(word), .. }) if self.is_lenient() && category_of(word).is_some() => {
                category_of(word).map(str::to_owned)
            }
            Some(category) => {
                let word = self.word("category", category, tool::CATEGORIES);
                word.or(self.is_lenient().then(|| "other".to_owned()))
            }
        };
        let environment = self.field::<Entity>(&entries, Column::Environment);
        Some(Tool { category: category?, display_name: name?.value, url: url?, environment })
    }

    fn contact(&mut self, node: &At<Node>) -> Option<Contact> {
        use contact::{Column, Entity};
        let keys = ["type", "address", "display_name", "display_type", "external_id"];
        let entries = self.entries("a contact", node, &keys)?;
        let r#type = match entries.get("type") {
            Some(kind) => self.word("type", kind, contact::TYPES),
            None => {
                self.wrong(node.spot, "a contact has no type");
                None
            }
        };
        let address = self.required::<Entity>("a contact", node, &entries, Column::Address);
        if let (Some("web"), Some(url)) = (r#type.as_deref(), &address) {
            self.take(node.spot, repository::check_url(url))?;
        }
        let display_name = self.field::<Entity>(&entries, Column::DisplayName);
        let display_type = self.field::<Entity>(&entries, Column::DisplayType);
        let external_id = self.field::<Entity>(&entries, Column::ExternalId);
        Some(Contact { r#type: r#type?, address: address?, display_name, display_type, external_id })
    }

    /// Reads a dependency: an alias, or an alias with notes.
    fn dependency(&mut self, node: &At<Node>) -> Option<Dependency> {
        let check = |alias: &str| text::required("alias", alias, text::SHORT);
        if let Node::Text(alias) = &node.value {
            return Some(Dependency { alias: node.with(self.take(node.spot, check(alias))?), notes: None });
        }
        let entries = self.entries("a dependency", node, &["alias", "notes"])?;
        let Some(named) = entries.get("alias") else {
            self.wrong(node.spot, "a dependency needs an alias");
            return None;
        };
        let alias = self.string("alias", named)?;
        let alias = named.with(self.take(named.spot, check(alias))?);
        let notes = self.field::<service_dependency::Entity>(&entries, service_dependency::Column::Notes);
        Some(Dependency { alias, notes })
    }

    /// Reads a member of a team: an email address, or one with a role.
    fn member(&mut self, node: &At<Node>) -> Option<Member> {
        if let Node::Text(email) = &node.value {
            return Some(Member { user: node.with(email.clone()), role: None, is_person: false });
        }
        let entries = self.entries("a member", node, &["email", "role"])?;
        let Some(named) = entries.get("email") else {
            self.wrong(node.spot, "a member needs an email");
            return None;
        };
        let email = self.string("email", named)?;
        let role = self.field::<team_membership::Entity>(&entries, team_membership::Column::Role);
        Some(Member { user: named.with(email.to_owned()), role, is_person: false })
    }

    fn repository(&mut self, node: &At<Node>) -> Option<RepositoryDocument> {
        let keys = keys::<repository::Entity>(&["name", "alias"], &["tags"]);
        let entries = self.entries("a repository", node, &keys)?;
        if self.is_lenient() && !entries.contains_key("name") {
            self.leave(node.spot, "the repository is not taken: it has no name");
            return None;
        }
        let rule = repository::Entity::rule(repository::Column::Name);
        let name = self.document_name("a repository", node, &entries, rule);
        let fields = self.fields::<repository::Entity>(&entries);
        let tags = self.tags(&entries);
        let given = entries.get("alias").and_then(|alias| {
            let rule = repository::Entity::rule(repository::Column::DefaultAlias);
            Some(alias.with(self.text(alias, "alias", |text| text::optional("alias", text, rule.max_length()))??))
        });
        let url = fields.iter().find(|given| given.rule.key() == "url").and_then(|given| match &given.said {
            At { value: sea_orm::sea_query::Value::String(Some(address)), spot } => {
                Some(At { value: address, spot: *spot })
            }
            _ => None,
        });
        let alias = match (given, url) {
            (Some(alias), _) => alias,
            (None, Some(At { value: address, spot })) => {
                let alias = repository::alias_of(address).or_else(|| Some(name.as_ref()?.value.clone()))?;
                let checked = text::line("alias", &alias, text::SHORT);
                At { value: checked.map_err(|error| self.fail(spot, error.message)).ok()?, spot }
            }
            (None, None) => name.clone()?,
        };
        Some(RepositoryDocument { name: name?.value, alias, fields, tags })
    }
}

/// The alias of a repository that is named by an alias or a URL.
fn alias_of(named: &str) -> Result<String, UserError> {
    if named.contains("://") && named.contains(char::is_whitespace) || entity_ref::is_placeholder(named) {
        return Err(UserError::new("repositories", "this is no repository"));
    }
    let alias = if named.contains("://") {
        repository::check_url(named)?;
        let pathless = || UserError::new("repositories", "this is not the URL of a repository");
        repository::alias_of(named).ok_or_else(pathless)?
    } else {
        named.to_owned()
    };
    text::required("repository", &alias, text::SHORT)
}

/// Whether a name is what a scaffolder fills in. `{{ name }}` is a mapping in YAML.
pub(super) fn is_template(name: &At<Node>) -> bool {
    match &name.value {
        Node::Text(text) => entity_ref::is_placeholder(text),
        Node::Mapping(pairs) => matches!(&**pairs, [(key, _)] if matches!(key.value, Node::Mapping(_))),
        _ => false,
    }
}
