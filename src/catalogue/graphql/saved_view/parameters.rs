//! What a saved view says of the list of services: the parameters of the list's address, checked one by one.
//!
//! A stored query is one that was parsed and written again, so it holds nothing that the list does not know. It is parsed
//! again when it is used: another release may know less, and what a view names may be gone.

use futures_util::future::BoxFuture;

use crate::db::{any, any_text, is_any_text};
use crate::entity::saved_view::QUERY;
use crate::entity::{component_type, filter, level, team, team_alias, tier};
use crate::graphql::prelude::*;

/// The field of inputs that holds a query, which errors name.
const FIELD: &str = "query";

/// The columns that a list of services can have beside the name, by their words in addresses.
pub const COLUMNS: [&str; 11] =
    ["owner", "tier", "level", "lifecycle", "type", "system", "language", "framework", "last_deploy", "alias", "tags"];

/// The parameter that chooses the columns.
pub const CHOSEN: &str = "columns";

/// The parameters of the list, each with the check of its value.
const PARAMETERS: [(&str, Check); 14] = [
    ("search", is_short),
    ("owner", is_short),
    ("tier", is_short),
    ("level", is_index),
    ("type", is_id::<component_type::Entity>),
    ("filter", is_id::<filter::Entity>),
    ("language", is_short),
    ("tag", is_tag),
    ("quiet", are_days),
    ("unowned", is_on),
    ("mine", is_on),
    ("favourites", is_on),
    ("sort", is_order),
    (CHOSEN, are_columns),
];

/// Parameters of an address that say nothing about the list: the page, those before it, the view that is open, what
/// a form did.
const PASSING: [&str; 4] = ["after", "back", "view", "done"];

/// Says what is wrong with a value, as the rest of a sentence. `None` if nothing is.
type Check = fn(&str) -> Option<String>;

/// Checked parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    /// Parses the query of an address, such as `tier=tier_1&unowned=1`. Empty values are left out.
    ///
    /// # Errors
    /// What the list does not know, or what is too long.
    pub fn parse(query: &str) -> Result<Self, UserError> {
        let refused = |why: String| UserError::new(FIELD, format!("{FIELD} {why}"));
        let query = text::trim(query);
        if let Some(fault) = text::fault(query, QUERY) {
            return Err(refused(fault));
        }
        let mut given: Vec<(&'static str, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.trim_start_matches('?').as_bytes()) {
            let value = text::trim(&value);
            if value.is_empty() || PASSING.contains(&&*name) {
                continue;
            }
            let Some((name, check)) = PARAMETERS.iter().find(|(known, _)| *known == name) else {
                let known: Vec<&str> = PARAMETERS.iter().map(|(known, _)| *known).collect();
                let known = known.join(", ");
                return Err(refused(format!("has {}, which the list does not know; it knows {known}", quoted(&name))));
            };
            if let Some(fault) = check(value) {
                return Err(refused(format!("has {name}={}, which {fault}", quoted(value))));
            }
            match given.iter_mut().find(|(known, _)| known == name) {
                // A form sends each column by itself.
                Some((_, columns)) if *name == CHOSEN => *columns = format!("{columns},{value}"),
                Some(_) => return Err(refused(format!("has {name} twice"))),
                None => given.push((name, value.to_owned())),
            }
        }
        if let Some((_, columns)) = given.iter_mut().find(|(name, _)| *name == CHOSEN) {
            *columns = each_once(columns);
        }
        // In the order of the list above, so that a list has one query.
        given.sort_by_key(|(name, _)| PARAMETERS.iter().position(|(known, _)| known == name));
        let parameters = Self(given);
        // Encoded, it is longer than it was if it was not encoded before.
        if parameters.query().len() > QUERY {
            return Err(refused(format!("has more than {QUERY} characters when it is encoded")));
        }
        Ok(parameters)
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
    }

    /// The parameters as a query.
    pub fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }
}

fn is_short(value: &str) -> Option<String> {
    text::line(FIELD, value, text::SHORT).err().map(|_| format!("has control characters or more than {}", text::SHORT))
}

fn is_tag(value: &str) -> Option<String> {
    let most = text::TAG_KEY + 1 + text::TAG_VALUE;
    text::line(FIELD, value, most).err().map(|_| format!("has control characters or more than {most}"))
}

fn is_index(value: &str) -> Option<String> {
    value.parse::<u16>().err().map(|_| "is not the index of a level".to_owned())
}

fn is_id<E: id::Class>(value: &str) -> Option<String> {
    id::number::<E>(value).is_none().then(|| format!("is not the id of a {}", E::NOUN))
}

fn are_days(value: &str) -> Option<String> {
    value.parse::<u32>().err().map(|_| "is not a whole number of days".to_owned())
}

fn is_on(value: &str) -> Option<String> {
    (value != "1").then(|| "can only be 1".to_owned())
}

fn is_order(value: &str) -> Option<String> {
    ServiceSortEnum::from_word(value).is_none().then(|| "is not an order of services".to_owned())
}

fn are_columns(value: &str) -> Option<String> {
    let is_known = value.split(',').map(text::trim).all(|word| word.is_empty() || COLUMNS.contains(&word));
    (!is_known).then(|| format!("names a column that the list does not have; it has {}", COLUMNS.join(", ")))
}

/// Columns in the order in which they are given, each once.
fn each_once(columns: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in columns.split(',').map(text::trim).filter(|word| !word.is_empty()) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(",")
}

/// What each of these views names that does not exist, in a sentence. `None` if all of it does. Takes a statement for each
/// kind of thing that any of them names.
pub fn missing<'f>(
    db: &'f dyn ReadHandle,
    views: &'f [&'f Parameters],
) -> BoxFuture<'f, Result<Vec<Option<String>>, db::Error>> {
    Box::pin(async move {
        let all = |name: &str| -> Vec<&str> { views.iter().filter_map(|view| view.get(name)).collect() };
        let (owners, tiers) = (all("owner"), all("tier"));
        let (mut known_owners, mut known_names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        if !owners.is_empty() {
            let aliases = team_alias::Entity::find().select_only().column(team_alias::Column::Value);
            let aliases = aliases.filter(any_text(db, team_alias::Column::Value, &owners));
            known_owners = db.rows(aliases.as_query(), |row| row.get(0)).await?;
            // The list takes a team's name, too, in any case of its letters.
            let lower: Vec<String> = owners.iter().map(|owner| owner.to_ascii_lowercase()).collect();
            let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
            let name = db::text::lower(db, Expr::col(team::Column::Name.as_column_ref()));
            let names = team::Entity::find().select_only().column(team::Column::Name);
            let names = names.filter(is_any_text(db.backend(), name, &lower));
            known_names = db.rows(names.as_query(), |row| row.get(0)).await?;
        }
        let mut known_tiers: Vec<String> = Vec::new();
        if !tiers.is_empty() {
            let aliases = tier::Entity::find().select_only().column(tier::Column::Alias);
            let aliases = aliases.filter(any_text(db, tier::Column::Alias, &tiers));
            known_tiers = db.rows(aliases.as_query(), |row| row.get(0)).await?;
        }
        let mut known_levels: Vec<i32> = Vec::new();
        if !all("level").is_empty() {
            let indexes = level::Entity::find().select_only().column(level::Column::Index);
            known_levels = db.rows(indexes.as_query(), |row| row.get(0)).await?;
        }
        let types = existing::<component_type::Entity>(db, component_type::Column::Id, &all("type")).await?;
        let filters = existing::<filter::Entity>(db, filter::Column::Id, &all("filter")).await?;
        let lacks = |view: &&Parameters| -> Option<String> {
            let gone = |name: &str, exists: &dyn Fn(&str) -> bool| view.get(name).filter(|value| !exists(value));
            let is_level = |value: &str| value.parse().is_ok_and(|index: i32| known_levels.contains(&index));
            let kept = |ids: &[i64], number: Option<i64>| number.is_some_and(|number| ids.contains(&number));
            let is_owner = |value: &str| {
                known_owners.iter().any(|known| known == value)
                    || known_names.iter().any(|known| known.eq_ignore_ascii_case(value))
            };
            if let Some(alias) = gone("owner", &is_owner) {
                return Some(format!("No team has the alias {}.", quoted(alias)));
            }
            if let Some(alias) = gone("tier", &|value| known_tiers.iter().any(|known| known == value)) {
                return Some(format!("No tier has the alias {}.", quoted(alias)));
            }
            if let Some(index) = gone("level", &is_level) {
                return Some(format!("No level has the index {index}."));
            }
            if gone("type", &|value| kept(&types, id::number::<component_type::Entity>(value))).is_some() {
                return Some("The component type does not exist.".to_owned());
            }
            let filter = gone("filter", &|value| kept(&filters, id::number::<filter::Entity>(value)));
            filter.map(|_| "The saved filter does not exist.".to_owned())
        };
        Ok(views.iter().map(lacks).collect())
    })
}

/// Those of these global ids that rows have.
async fn existing<E: id::Class>(db: &dyn ReadHandle, key: E::Column, ids: &[&str]) -> Result<Vec<i64>, db::Error> {
    let ids: Vec<i64> = ids.iter().filter_map(|id| id::number::<E>(id)).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    db.rows(E::find().select_only().column(key).filter(any(db, key, &ids)).as_query(), |row| row.get(0)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_query_whatever_the_order_and_the_way_it_is_given() {
        for (given, expected) in [
            ("", ""),
            ("?tier=tier_1", "tier=tier_1"),
            ("columns=tier&columns=owner&columns=tier&after=x&view=3&search=", "columns=tier%2Cowner"),
            ("sort=name_DESC&search=a%20b", "search=a+b&sort=name_DESC"),
            ("tag=env:prod&quiet=30&unowned=1&mine=1", "tag=env%3Aprod&quiet=30&unowned=1&mine=1"),
        ] {
            assert_eq!(Parameters::parse(given).expect(given).query(), expected);
        }
    }

    #[test]
    fn what_the_list_does_not_know_is_refused() {
        for given in [
            "colour=red",
            "sort=colour_ASC",
            "columns=owner,colour",
            "quiet=soon",
            "quiet=-1",
            "level=first",
            "type=service",
            "unowned=yes",
            "tier=a&tier=b",
            "search=a%00b",
            "search=a%0Ab",
        ] {
            let refused = Parameters::parse(given).expect_err(given);
            assert_eq!(refused.path, ["query"], "{given}");
        }
        assert!(Parameters::parse(&format!("search={}", "x".repeat(256))).is_err());
        // Each letter takes six bytes when it is encoded.
        assert!(Parameters::parse(&format!("tag={}", "ä".repeat(500))).is_err());
    }
}
