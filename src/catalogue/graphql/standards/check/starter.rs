//! The starter set: ten checks that lists of production readiness have in common, each with what it is for and how to pass
//! it. What is there already, by its name, is left as it is.

use sea_orm::sea_query::ExprTrait;
use serde_json::{Value as Json, json};

use super::change::refuse_too_many;
use crate::entity::check::{self, Kind};
use crate::entity::{alias, category, level};
use crate::graphql::prelude::*;
use crate::graphql::standards::rubric;

/// The levels, from the lowest, which asks nothing.
const LEVELS: [(&str, &str); 4] = [
    ("Beginner", "Where every service begins."),
    ("Bronze", "People can find out what the service is, and who is responsible for it."),
    ("Silver", "Whoever is called at night can help."),
    ("Gold", "Changes reach production often and safely."),
];

/// The categories.
const CATEGORIES: [(&str, &str); 3] = [
    ("Ownership", "Who is responsible for a service, and what it is."),
    ("Operation", "What helps when a service fails."),
    ("Delivery", "How changes reach production."),
];

/// A check of the set.
struct Starter {
    name: &'static str,
    level: &'static str,
    category: &'static str,
    kind: Kind,
    own: Json,
    notes: &'static str,
}

impl Starter {
    fn new(
        name: &'static str,
        (level, category): (&'static str, &'static str),
        kind: Kind,
        own: Json,
        notes: &'static str,
    ) -> Self {
        Self { name, level, category, kind, own, notes }
    }
}

/// The checks.
fn checks() -> Vec<Starter> {
    [ownership(), operation(), delivery()].into_iter().flatten().collect()
}

/// The parameters of a check of the owner.
fn owner(contact: bool) -> Json {
    json!({ "contact_method": null, "require_contact_method": contact, "tag_key": null, "tag_predicate": null })
}

fn ownership() -> Vec<Starter> {
    let property =
        |field: &str| json!({ "service_property": field, "property_value_predicate": null, "definition": null });
    vec![
        Starter::new(
            "Has an owner",
            ("Bronze", "Ownership"),
            Kind::HasOwner,
            owner(false),
            "A service without an owner is nobody's: nobody answers for it, upgrades it or turns it off. Set its owner, a \
             team, on its page or in its service file.",
        ),
        Starter::new(
            "Has a description",
            ("Bronze", "Ownership"),
            Kind::ServiceProperty,
            property("description"),
            "Whoever meets the service for the first time learns what it does and for whom. One or two sentences are enough.",
        ),
        Starter::new(
            "Has a tier",
            ("Bronze", "Ownership"),
            Kind::ServiceProperty,
            property("tier_index"),
            "The tier says how much depends on the service, and so how quickly a failure must be dealt with.",
        ),
        Starter::new(
            "Has a repository",
            ("Bronze", "Ownership"),
            Kind::HasRepository,
            json!({}),
            "The way from the service to its code, and from the code to whoever owns it. Connect the repository on the page \
             of the service.",
        ),
    ]
}

fn operation() -> Vec<Starter> {
    let tool = |category: &str| json!({ "tool_category": category, "environment_predicate": null, "tool_name_predicate": null, "tool_url_predicate": null });
    vec![
        Starter::new(
            "Its owner can be reached",
            ("Silver", "Operation"),
            Kind::HasOwner,
            owner(true),
            "In an incident there is no time to look for people. Give the owning team a contact: a chat channel, an email \
             address or a page.",
        ),
        Starter::new(
            "Has a runbook",
            ("Silver", "Operation"),
            Kind::ToolUsage,
            tool("runbooks"),
            "What to do when the service fails, written by those who know it for those who are called. Add a link of the \
             category Runbooks to the service.",
        ),
        Starter::new(
            "Has a dashboard",
            ("Silver", "Operation"),
            Kind::ToolUsage,
            tool("metrics"),
            "One look shows whether the service is well. Add a link of the category Metrics to the service.",
        ),
        Starter::new(
            "Has logs that can be found",
            ("Silver", "Operation"),
            Kind::ToolUsage,
            tool("logs"),
            "Add a link of the category Logs to the service: one that shows the logs of this service, without a search.",
        ),
    ]
}

fn delivery() -> Vec<Starter> {
    vec![
        Starter::new(
            "Was deployed in the last 90 days",
            ("Gold", "Delivery"),
            Kind::HasRecentDeploy,
            json!({ "days": 90 }),
            "A service that is not deployed for months has old dependencies, and nobody knows whether it still can be \
             deployed. Report deploys from its pipeline, and deploy it, if only to renew its dependencies.",
        ),
        Starter::new(
            "Protects its default branch",
            ("Gold", "Delivery"),
            Kind::GitBranchProtection,
            json!({}),
            "Every change is looked at by a second person, and has passed the tests. Protect the default branch of its \
             repository, and run `rollcall check` in its pipeline, which reports it.",
        ),
    ]
}

impl StandardsStarterCreateMutation for Mutation {
    async fn standards_starter_create(ctx: &MutationCtx<'_>) -> Result<StandardsStarterCreatePayload> {
        let db = ctx.db();
        let levels = levels(db).await?;
        let categories = categories(db).await?;
        let there =
            check::Entity::find().select_only().column(check::Column::Name).filter(check::Column::CampaignId.is_null());
        let there: Vec<String> = db.rows(there.as_query(), |row| row.get(0)).await?;
        let now = Timestamp::now();
        let mut made = Vec::new();
        for Starter { name, level, category, kind, own, notes } in checks() {
            if there.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                continue;
            }
            let row = check::ActiveModel {
                kind: Set(kind),
                name: Set(name.to_owned()),
                enabled: Set(true),
                notes: Set(Some(notes.to_owned())),
                category_id: Set(key(&categories, category)),
                level_id: Set(key(&levels, level)),
                parameters: Set(own.to_string()),
                created_at: Set(now),
                updated_at: Set(now),
                ..Default::default()
            };
            made.push(Check::from(db.insert(row).await?));
        }
        refuse_too_many(db).await?;
        Ok(StandardsStarterCreatePayload { checks: Some(made), ..Default::default() })
    }
}

/// The key of the row with a name. All have one.
fn key(rows: &[(String, i64)], name: &str) -> i64 {
    rows.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map_or(0, |(_, key)| *key)
}

/// The levels by their names, and by their aliases: a level may have been renamed. Adds those that there are not, above the
/// others.
async fn levels(db: &Transaction) -> Result<Vec<(String, i64)>> {
    let all = level::Entity::find().order_by_asc(level::Column::Index);
    let names = |level: level::Model| [(level.name, level.id), (level.alias, level.id)];
    let mut all: Vec<(String, i64)> = db.all(all).await?.into_iter().flat_map(names).collect();
    let last = level::Entity::find().select_only().expr(Expr::col(level::Column::Index).max());
    let last = db.rows(last.as_query(), |row| row.get::<Option<i32>>(0)).await?.pop().flatten();
    let mut index = last.map_or(0, |last| last.saturating_add(1));
    for (name, description) in LEVELS {
        let alias = alias::slug(name, "level");
        if let Some(key) =
            all.iter().find(|(own, _)| own.eq_ignore_ascii_case(name) || *own == alias).map(|(_, key)| *key)
        {
            all.push((name.to_owned(), key));
            continue;
        }
        let row = level::ActiveModel {
            alias: Set(alias),
            name: Set(name.to_owned()),
            description: Set(Some(description.to_owned())),
            index: Set(index),
            ..Default::default()
        };
        index = index.saturating_add(1);
        let made = db.insert(row).await.map_err(|error| rubric::level_taken(error, name))?;
        all.push((made.name, made.id));
    }
    rubric::refuse_too_many(db, level::Entity::find()).await?;
    Ok(all)
}

/// The categories of the rubric by their names. Adds those that there are not.
async fn categories(db: &Transaction) -> Result<Vec<(String, i64)>> {
    let own = category::Entity::find().filter(category::Column::ScorecardId.is_null());
    let mut all: Vec<(String, i64)> =
        db.all(own.clone()).await?.into_iter().map(|category| (category.name, category.id)).collect();
    for (name, description) in CATEGORIES {
        if all.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
            continue;
        }
        let row = category::ActiveModel {
            name: Set(name.to_owned()),
            description: Set(Some(description.to_owned())),
            ..Default::default()
        };
        let made = db.insert(row).await?;
        all.push((made.name, made.id));
    }
    rubric::refuse_too_many(db, own).await?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::kinds;
    use super::*;

    #[test]
    fn the_parameters_of_the_starter_set_are_those_of_its_kinds() {
        fn reads<A: serde::Serialize + serde::de::DeserializeOwned>(own: &Json) -> bool {
            serde_json::from_value::<A>(own.clone())
                .is_ok_and(|read| serde_json::to_value(read).ok().as_ref() == Some(own))
        }
        for Starter { name, level, category, kind, own, .. } in checks() {
            let reads = match kind {
                Kind::HasOwner => reads::<kinds::ServiceOwnership>(&own),
                Kind::ServiceProperty => reads::<kinds::ServiceProperty>(&own),
                Kind::HasRepository => reads::<kinds::RepositoryIntegrated>(&own),
                Kind::ToolUsage => reads::<kinds::ToolUsage>(&own),
                Kind::HasRecentDeploy => reads::<kinds::HasRecentDeploy>(&own),
                Kind::GitBranchProtection => reads::<kinds::GitBranchProtection>(&own),
                _ => false,
            };
            assert!(reads, "{name}");
            assert!(LEVELS.iter().any(|(own, _)| *own == level) && CATEGORIES.iter().any(|(own, _)| *own == category));
        }
    }
}
