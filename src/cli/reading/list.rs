//! `rollcall list`.

use serde_json::{Value as Json, json};

use super::known::{self, LEVELS};
use super::output::{Column, print_rows};
use super::search::NOTHING;
use super::{MOST, nodes, server};
use crate::cli::console::say;
use crate::cli::remote::Server;
use crate::config::{List, Listed};

const SERVICES: &str = "query($first: Int, $after: String, $search: String, $filter: [ServiceFilterInput!]) { account {
    services(first: $first, after: $after, sortBy: name_ASC, search: $search, filter: $filter) { nodes {
        name alias owner { name } tier { name } lifecycle { name } parent { name } language
        lastDeploy { deployedAt } lastProductionDeploy { deployedAt deployStatus } locked htmlUrl
    } pageInfo { hasNextPage endCursor } } } }";
const TEAMS: &str =
    "query($first: Int, $after: String, $search: String, $parent: IdentifierInput, $hasParent: Boolean) {
    account { teams(first: $first, after: $after, sortBy: name_ASC, searchTerm: $search, parentTeam: $parent,
        hasParentTeam: $hasParent) { nodes {
        name alias manager { name } parentTeam { name } members { totalCount } services { totalCount } htmlUrl
    } pageInfo { hasNextPage endCursor } } } }";
const SYSTEMS: &str = "query($first: Int, $after: String) { account {
    systems(first: $first, after: $after, sortBy: name_ASC) { nodes {
        name aliases owner { name } parent { name } childServices { totalCount } htmlUrl
    } pageInfo { hasNextPage endCursor } } } }";
const DOMAINS: &str = "query($first: Int, $after: String) { account {
    domains(first: $first, after: $after, sortBy: name_ASC) { nodes {
        name aliases owner { name } childSystems { totalCount } htmlUrl
    } pageInfo { hasNextPage endCursor } } } }";
const REPOSITORIES: &str = "query($first: Int, $after: String) { account {
    repositories(first: $first, after: $after, sortBy: name_ASC) { nodes {
        defaultAlias owner { name } tier { name } services { totalCount } url htmlUrl
    } pageInfo { hasNextPage endCursor } } } }";
const USERS: &str = "query($first: Int, $after: String) { account {
    users(first: $first, after: $after, sortBy: name_ASC) { nodes {
        name email role teams { nodes { name } } htmlUrl
    } pageInfo { hasNextPage endCursor } } } }";

/// A list of the account: its document, its field, and the columns of its table.
pub(super) struct OfAccount {
    document: &'static str,
    field: &'static str,
    columns: &'static [Column],
}

const NAME: Column = ("name", "/name");
const ALIAS: Column = ("alias", "/aliases/0");
const OWNER: Column = ("owner", "/owner/name");

/// `None` for infrastructure, which is listed in another way.
pub(super) fn of_account(listed: Listed) -> Option<OfAccount> {
    let (document, field, columns): (_, _, &'static [Column]) = match listed {
        Listed::Infrastructure => return None,
        Listed::Services => (SERVICES, "services", &SERVICE_COLUMNS),
        Listed::Teams => (TEAMS, "teams", &TEAM_COLUMNS),
        Listed::Systems => {
            const COLUMNS: [Column; 5] =
                [NAME, ALIAS, OWNER, ("domain", "/parent/name"), ("services", "/childServices/totalCount")];
            (SYSTEMS, "systems", &COLUMNS)
        }
        Listed::Domains => {
            const COLUMNS: [Column; 4] = [NAME, ALIAS, OWNER, ("systems", "/childSystems/totalCount")];
            (DOMAINS, "domains", &COLUMNS)
        }
        Listed::Repositories => (REPOSITORIES, "repositories", &REPOSITORY_COLUMNS),
        Listed::Users => {
            const COLUMNS: [Column; 4] = [NAME, ("email", "/email"), ("role", "/role"), ("teams", "/teamNames")];
            (USERS, "users", &COLUMNS)
        }
    };
    Some(OfAccount { document, field, columns })
}

const SERVICE_COLUMNS: [Column; 9] = [
    NAME,
    ("alias", "/alias"),
    OWNER,
    ("tier", "/tier/name"),
    ("lifecycle", "/lifecycle/name"),
    ("system", "/parent/name"),
    ("language", "/language"),
    ("last deploy", "/lastDeploy/deployedAt"),
    ("in production", "/lastProductionDeploy/deployStatus"),
];

const TEAM_COLUMNS: [Column; 6] = [
    NAME,
    ("alias", "/alias"),
    ("manager", "/manager/name"),
    ("part of", "/parentTeam/name"),
    ("members", "/members/totalCount"),
    ("services", "/services/totalCount"),
];

const REPOSITORY_COLUMNS: [Column; 5] = [
    ("alias", "/defaultAlias"),
    OWNER,
    ("tier", "/tier/name"),
    ("services", "/services/totalCount"),
    ("url", "/htmlUrl"),
];

/// Refuses flags that are not for what is listed.
pub(super) fn check_flags(List { listed, filter, owner, tier, search, .. }: &List) -> Result<(), String> {
    let is_of = |some: &[Listed]| some.contains(listed);
    if owner.is_some() && !is_of(&[Listed::Services, Listed::Infrastructure]) {
        return Err("--owner is for services and infrastructure".to_owned());
    }
    if tier.is_some() && !is_of(&[Listed::Services]) {
        return Err("--tier is for services".to_owned());
    }
    let has_conditions = is_of(&[Listed::Services, Listed::Teams, Listed::Infrastructure]);
    if !filter.is_empty() && !has_conditions {
        return Err("--filter is for services, teams and infrastructure".to_owned());
    }
    if search.is_some() && !has_conditions {
        return Err(
            "--search is for services, teams and infrastructure; rollcall search finds the others too".to_owned()
        );
    }
    Ok(())
}

pub(super) fn run(settings: &List, OfAccount { document, field, columns }: OfAccount) -> Result<(), String> {
    let List { filter, owner, tier, search, limit, asking, .. } = settings;
    let is_of = |listed| settings.listed == listed;
    let server = server(&asking.remote, asking.deadline)?;
    let mut conditions: Vec<Condition<'_>> = filter.iter().map(|text| Condition::parse(text)).collect();
    let equals = |key, value: &'_ Option<String>| value.clone().map(|value| (key, value));
    let flags: Vec<_> = [equals("owner", owner), equals("tier", tier)].into_iter().flatten().collect();
    conditions.extend(flags.iter().map(|(key, value)| Condition { key, how: "equals", value: Some(value) }));
    let mut variables = json!({ "search": search });
    if is_of(Listed::Teams) {
        of_teams(&server, &conditions, &mut variables)?;
    } else if !conditions.is_empty() {
        variables["filter"] = predicates(&server, &conditions)?.into();
    }
    let read = nodes(&server, document, variables.clone(), &format!("/account/{field}"), *limit);
    let noun = |why| known::with_similar(&server, why, conditions.iter().filter_map(Condition::noun));
    let (mut nodes, has_more) = read.map_err(noun)?;
    if is_of(Listed::Users) {
        for node in &mut nodes {
            let teams = node["teams"]["nodes"].as_array().into_iter().flatten();
            node["teamNames"] = teams.map(|team| team["name"].clone()).collect();
        }
    }
    print_rows(asking.output, columns, &nodes)?;
    tell_of_more(has_more, nodes.len());
    if nodes.is_empty() && *limit > 0 {
        let is_told = tell_of_nothing(&server, &conditions, &variables)?;
        let one = if is_of(Listed::Teams) { "team" } else { "service" };
        match (search.is_some(), conditions.is_empty()) {
            (true, true) => say(NOTHING),
            (true, false) if !is_told => say(&format!("no {one} is called like that and fulfils all conditions")),
            (false, false) if !is_told && conditions.len() > 1 => {
                say(&format!("no {one} fulfils all conditions at once"));
            }
            (false, false) if !is_told => say(&format!("no {one} fulfils all conditions")),
            (false, true) => say(&format!("there are no {field} yet")),
            _ => {}
        }
    }
    Ok(())
}

/// Says which of the conditions no service fulfils, if there is one.
fn tell_of_nothing(server: &Server, conditions: &[Condition<'_>], variables: &Json) -> Result<bool, String> {
    let filters = variables["filter"].as_array().into_iter().flatten();
    let mut is_told = false;
    for (condition, predicate) in conditions.iter().zip(filters) {
        let (found, _) = nodes(server, SERVICES, json!({ "filter": [predicate] }), "/account/services", 1)?;
        if found.is_empty() {
            say(&format!("no service fulfils {}", condition.written()));
            is_told = true;
        }
    }
    Ok(is_told)
}

/// Sets the variables of conditions on teams: `parent=TEAM`, `parent` and `!parent`.
fn of_teams(server: &Server, conditions: &[Condition<'_>], variables: &mut Json) -> Result<(), String> {
    for condition in conditions {
        match (condition.key, condition.how, condition.value) {
            ("parent", "equals", Some(name)) => {
                let mut parent = super::show::find(server, &["team".to_owned(), name.to_owned()])?.1;
                variables["parent"] = json!({ "alias": parent["alias"].take() });
            }
            ("parent", "exists", None) => variables["hasParent"] = true.into(),
            ("parent", "does_not_exist", None) => variables["hasParent"] = false.into(),
            _ => {
                let given = condition.written();
                return Err(format!("--filter of teams takes parent=TEAM, parent or !parent, not {given}"));
            }
        }
    }
    Ok(())
}

/// The conditions in the API's terms.
fn predicates(server: &Server, conditions: &[Condition<'_>]) -> Result<Vec<Json>, String> {
    let levels = match conditions.iter().any(|condition| condition.level().is_some()) {
        true => server.ask(LEVELS, &json!({}))?,
        false => Json::Null,
    };
    let filter: Vec<Json> = conditions.iter().map(|one| one.predicate(&levels)).collect::<Result<_, _>>()?;
    conditions.iter().try_for_each(|condition| condition.check(server))?;
    Ok(filter)
}

pub(super) fn tell_of_more(has_more: bool, shown: usize) {
    if has_more && shown < MOST {
        say(&format!("the first {shown}; --limit shows more"));
    } else if has_more {
        say(&format!("the first {shown}, which is the most"));
    }
}

/// The keys of conditions that are not the API's.
const OWN_KEYS: [&str; 7] = ["owner", "tier", "lifecycle", "level", "system", "domain", "type"];
/// Those that are: the values of `ServiceFilterEnum`.
const API_KEYS: [&str; 26] = [
    "alert_status",
    "aliases",
    "component_category",
    "component_type_id",
    "creation_source",
    "deploy_environment",
    "domain_id",
    "filter_id",
    "framework",
    "group_ids",
    "language",
    "level_index",
    "lifecycle_index",
    "name",
    "owner_id",
    "owner_ids",
    "product",
    "property",
    "properties",
    "relationship",
    "relationships",
    "repository_ids",
    "system_id",
    "tag",
    "tags",
    "tier_index",
];

/// The keys whose texts are compared without regard to case.
const ANY_CASE: [&str; 5] = ["deploy_environment", "framework", "language", "name", "product"];

/// How services are created.
const SOURCES: [&str; 4] = ["api", "web", "suggestion", "service_file"];

/// The values of `AlertSourceStatusTypeEnum`.
const STATUSES: [&str; 5] = ["alert", "fetching_data", "no_data", "ok", "warn"];

/// A condition, as it is written on the command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Condition<'c> {
    pub(super) key: &'c str,
    pub(super) how: &'static str,
    pub(super) value: Option<&'c str>,
}

impl<'c> Condition<'c> {
    pub(super) fn parse(text: &'c str) -> Self {
        let of = |(key, value): (&'c str, &'c str), how| Self { key, how, value: Some(value) };
        let place = text.find(['=', '~']);
        match place.map(|place| text.split_at(place)) {
            Some((key, rest)) if rest.starts_with('~') => of((key, &rest[1..]), "contains"),
            Some((key, rest)) => match key.strip_suffix('!') {
                Some(key) => of((key, &rest[1..]), "does_not_equal"),
                None => of((key, &rest[1..]), "equals"),
            },
            None => match text.strip_prefix('!') {
                Some(key) => Self { key, how: "does_not_exist", value: None },
                None => Self { key: text, how: "exists", value: None },
            },
        }
    }

    /// The condition as it is written.
    pub(super) fn written(&self) -> String {
        let Self { key, how, value } = self;
        match (*how, value) {
            ("contains", Some(value)) => format!("{key}~{value}"),
            ("does_not_equal", Some(value)) => format!("{key}!={value}"),
            (_, Some(value)) => format!("{key}={value}"),
            ("does_not_exist", None) => format!("!{key}"),
            (_, None) => (*key).to_owned(),
        }
    }

    /// The value, if it is compared as a whole.
    fn named(&self) -> Option<&'c str> {
        self.value.filter(|_| self.how != "contains")
    }

    /// What its value names if that has an index: a tier, a lifecycle stage or a level, which the API knows by its index.
    fn level(&self) -> Option<(&'static str, &'c str)> {
        let kind = match self.key {
            "tier" | "tier_index" => "tier",
            "lifecycle" | "lifecycle_index" => "lifecycle",
            "level" | "level_index" => "level",
            _ => return None,
        };
        Some((kind, self.named()?))
    }

    /// What its value names if the search can find that.
    fn noun(&self) -> Option<(&'static str, &'c str)> {
        let kind = match self.key {
            "owner" | "owner_id" | "owner_ids" => "team",
            "system" | "system_id" => "system",
            "domain" | "domain_id" => "domain",
            "repository_ids" => "repository",
            _ => return None,
        };
        Some((kind, self.named()?))
    }

    /// Refuses a value that names nothing, where the API would answer with an empty list.
    fn check(&self, server: &Server) -> Result<(), String> {
        match (self.key, self.named()) {
            ("filter_id", Some(id)) => known::filter(server, id),
            ("deploy_environment", Some(name)) => known::environment(server, name),
            ("creation_source", Some(word)) => known::one_of("creation source", word, &SOURCES),
            ("alert_status", Some(word)) => known::one_of("alert status", word, &STATUSES),
            _ => Ok(()),
        }
    }

    /// The condition in the API's terms.
    fn predicate(&self, levels: &Json) -> Result<Json, String> {
        let key = match self.key {
            "owner" => "owner_id",
            "tier" => "tier_index",
            "lifecycle" => "lifecycle_index",
            "level" => "level_index",
            "system" => "system_id",
            "domain" => "domain_id",
            "type" => "component_type_id",
            key if API_KEYS.contains(&key) => key,
            key => {
                let (own, others) = (OWN_KEYS.join(", "), API_KEYS.join(", "));
                return Err(format!("--filter has no key {key}; its keys are {own}; and {others}"));
            }
        };
        let value = match self.level() {
            Some((kind, value)) => Some(known::level(levels, kind, value)?),
            None => self.value.map(str::to_owned),
        };
        let mut predicate = json!({ "key": key, "type": self.how, "arg": value });
        if self.value.is_some() && ANY_CASE.contains(&key) {
            // As on the pages.
            predicate["caseSensitive"] = json!(false);
        }
        Ok(predicate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_written_as_key_comparison_value() {
        for (text, key, how, value) in [
            ("owner=payments", "owner", "equals", Some("payments")),
            ("language!=Go", "language", "does_not_equal", Some("Go")),
            ("name~cart", "name", "contains", Some("cart")),
            ("tag=env:a=b", "tag", "equals", Some("env:a=b")),
            ("owner", "owner", "exists", None),
            ("!owner", "owner", "does_not_exist", None),
            ("name=", "name", "equals", Some("")),
        ] {
            assert_eq!(Condition::parse(text), Condition { key, how, value });
        }
    }

    #[test]
    fn the_keys_of_conditions_are_those_of_the_api_and_our_own() {
        let schema = include_str!("../../../schema/schema.graphql");
        let (_, rest) = schema.split_once("enum ServiceFilterEnum {").expect("the enum");
        let (values, _) = rest.split_once('}').expect("its end");
        let is_value = |line: &&str| line.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let values: Vec<&str> =
            values.lines().map(str::trim).filter(|line| !line.is_empty()).filter(is_value).collect();
        assert_eq!(API_KEYS.to_vec(), values);
        for text in ["foo=1", "Owner", "!colour", "tags~x", "tier index=1", "=1"] {
            let predicate = Condition::parse(text).predicate(&Json::Null);
            let is_refused =
                predicate.is_err_and(|why| why.contains("owner, tier, lifecycle") && why.contains("language"));
            assert_eq!(is_refused, text != "tags~x", "{text}");
        }
    }

    #[test]
    fn a_level_is_named_by_alias_name_or_index() {
        let levels = json!({ "account": { "tiers": [{ "alias": "tier_1", "name": "Tier 1", "index": 1 }] } });
        for text in ["tier=1", "tier=tier_1", "tier=TIER 1", "tier_index=tier_1"] {
            let predicate = Condition::parse(text).predicate(&levels);
            assert_eq!(predicate, Ok(json!({ "key": "tier_index", "type": "equals", "arg": "1" })), "{text}");
        }
        let unknown = Condition::parse("tier=gold").predicate(&levels);
        assert_eq!(unknown, Err("no tier is called gold; there are tier_1".to_owned()));
        assert!(Condition::parse("tier!=9").predicate(&levels).is_err(), "a number may name nothing too");
    }

    #[test]
    fn a_condition_is_told_as_it_was_written() {
        for text in ["owner=payments", "language!=Go", "name~cart", "tag=env:a=b", "owner", "!owner", "name="] {
            assert_eq!(Condition::parse(text).written(), text);
        }
    }

    #[test]
    fn the_words_of_an_alert_source_are_those_of_the_api() {
        let schema = include_str!("../../../schema/schema.graphql");
        let (_, rest) = schema.split_once("enum AlertSourceStatusTypeEnum {").expect("the enum");
        let (values, _) = rest.split_once('}').expect("its end");
        let values = values.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('"'));
        assert_eq!(STATUSES.to_vec(), values.collect::<Vec<_>>());
    }
}
