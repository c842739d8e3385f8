//! What one document of Backstage says of the subject of another: who is in a team, and where an API is described.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::Value;

use super::document::{Api, Document, Given, Member, Subject, TeamDocument};
use super::entity_ref::shown;
use super::report::Problems;
use super::yaml::At;
use crate::entity::field_rule::FieldRules;
use crate::entity::service;
use crate::error::quoted;

/// Completes documents by what other documents of the run say.
pub(super) fn join(documents: &mut [Document], problems: &mut Problems) {
    join_people(documents, problems);
    join_apis(documents, problems);
    part_aliases(documents, problems);
}

/// Whether a note says that no document of the run completes another.
pub(super) fn is_about_the_run(message: &str) -> bool {
    message.contains("no file of this run")
}

/// Leaves out the aliases of services of other catalogues that are the names of others: both cannot have them.
fn part_aliases(documents: &mut [Document], problems: &mut Problems) {
    let lenient = |file: usize, problems: &Problems| problems.is_lenient(file);
    let mut names: HashSet<String> = HashSet::new();
    for Document { file, subject, .. } in documents.iter() {
        if let (Subject::Service(service), true) = (subject, lenient(*file, problems)) {
            names.insert(service.naming.name.value.clone());
        }
    }
    for Document { file, subject, .. } in documents {
        let (Subject::Service(service), true) = (subject, lenient(*file, problems)) else { continue };
        let own = service.naming.name.value.clone();
        if let Some(aliases) = &mut service.naming.aliases {
            aliases.retain(|alias| {
                let is_free = alias.value == own || !names.contains(&alias.value);
                if !is_free {
                    let alias_is = quoted(&alias.value);
                    problems.leave(
                        *file,
                        alias.spot,
                        format!("{alias_is} is not taken: another document has this name"),
                    );
                }
                is_free
            });
        }
    }
}

/// Adds the people whose documents name a team to the members of that team's document.
fn join_people(documents: &mut [Document], problems: &mut Problems) {
    let mut joining: Vec<(usize, At<String>, At<String>)> = Vec::new();
    for Document { file, subject, .. } in documents.iter() {
        if let Subject::Person(person) = subject {
            joining.extend(person.teams.iter().map(|team| (*file, team.clone(), person.name.clone())));
        }
    }
    // Each team with the people that its members already name.
    let mut teams: HashMap<String, (&mut TeamDocument, HashSet<String>)> = HashMap::new();
    for document in documents.iter_mut() {
        if let Subject::Team(team) = &mut document.subject {
            let people = team.members.iter().flatten().filter(|member| member.is_person);
            let people = people.map(|member| member.user.value.clone()).collect();
            // Of two documents of one team, the first counts.
            teams.entry(team.group.naming.found_by().value.clone()).or_insert((&mut **team, people));
        }
    }
    for (file, alias, person) in joining {
        let Some((team, people)) = teams.get_mut(&alias.value) else {
            let group = shown(&alias.value);
            let message = format!("the membership is not taken: no file of this run has the group {}", quoted(&group));
            problems.leave(file, alias.spot, message);
            continue;
        };
        if people.insert(person.value.clone()) {
            team.members.get_or_insert_default().push(Member { user: person, role: None, is_person: true });
        }
    }
}

/// Gives each service the URL of the first API that it provides and whose document has one.
fn join_apis(documents: &mut [Document], problems: &mut Problems) {
    let apis: HashMap<String, Option<String>> = documents.iter().rev().filter_map(api).collect();
    for Document { file, subject, .. } in documents {
        let Subject::Service(service) = subject else { continue };
        let mut is_given = false;
        for At { value: name, spot } in &service.apis {
            let why = match apis.get(name) {
                Some(Some(_)) if is_given => "a service has one API document that is pulled",
                Some(Some(url)) => {
                    let rule = service::Entity::rule(service::Column::ApiDocumentUrl);
                    let said = At { value: Value::from(url.clone()), spot: *spot };
                    service.fields.push(Given { rule, said });
                    is_given = true;
                    continue;
                }
                Some(None) => "its definition is no $text with an https URL",
                None => "no file of this run describes it",
            };
            problems.leave(*file, *spot, format!("the API {} is not taken: {why}", quoted(&shown(name))));
        }
    }
}

fn api(document: &Document) -> Option<(String, Option<String>)> {
    match &document.subject {
        Subject::Api(Api { name, url }) => Some((name.value.clone(), url.clone())),
        _ => None,
    }
}
