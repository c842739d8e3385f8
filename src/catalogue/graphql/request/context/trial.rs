//! Trial mutations, of which the SDL knows nothing. They change rows without a word about audit, roles or search.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_graphql::Request as Text;
use sea_orm::sea_query::Expr;
use sea_orm::{EntityTrait, QueryOrder, Set};
use serde_json::{Value, json};

use super::{RequestOutcome, State};
use crate::budget::{Budget, Limits};
use crate::db::{self, Db, Read, Transaction, Write, find};
use crate::engine::{Scope, State as _};
use crate::entity::alias::AliasKind;
use crate::entity::audit;
use crate::entity::user::{self, ProvisionedBy, Role};
use crate::entity::{
    Timestamp, category, deploy, scorecard, scorecard_alias, service, sign_in_link, suggestion, tag, team,
    team_membership,
};
use crate::error::Result;
use crate::graphql::Catalogue;
use crate::graphql::Settings;
use crate::graphql::request::caller::Caller;

struct Trial {
    db: Db,
    catalogue: Catalogue,
    service: service::Model,
    team: team::Model,
    member: Caller,
    _folder: tempfile::TempDir,
}

fn named(name: &str) -> team::ActiveModel {
    let now = Timestamp::now();
    team::ActiveModel {
        name: Set(name.to_owned()),
        alias: Set(name.to_lowercase()),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    }
}

impl Trial {
    /// A service that a team owns, one of whose members is the caller, and another team.
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("trial.db").display());
        let db = db::connect(&url).await.expect("a database");
        db::migrate(&db).await.expect("migrations");
        let made = db.write(async |tx| {
            let (own, other) = (tx.insert(named("Own")).await?, tx.insert(named("Other")).await?);
            let user = user::create(tx, "a@b.c", None, Role::TeamMember, ProvisionedBy::CommandLine, Timestamp::now());
            let user = user.await?;
            let membership =
                team_membership::ActiveModel { team_id: Set(own.id), user_id: Set(user.id), ..Default::default() };
            tx.insert(membership).await?;
            let service = service::ActiveModel { owner_id: Set(Some(own.id)), ..service::new("Cart", "a test") };
            let service = service::create(tx, service).await?;
            Ok::<_, crate::error::Error>((service.into(), other, user.id))
        });
        let (service, team, user) = made.await.expect("rows");
        let member = Caller { scope: Scope::Write, user: Some((user, Role::TeamMember)), ..Caller::command_line() };
        let catalogue = Catalogue::new(db.clone(), Settings::new("Test", "http://localhost"));
        Self { db, catalogue, service, team, member, _folder: folder }
    }

    /// Runs the mutation that changes the service and the other team.
    async fn run(&self, caller: &Caller) -> Result<()> {
        self.change(caller, async |db: &Transaction| {
            let mut service: service::ActiveModel = self.service.clone().into();
            service.name = Set("Basket".to_owned());
            db.update(service).await?;
            let mut team: team::ActiveModel = self.team.clone().into();
            team.name = Set("Zebra".to_owned());
            db.update(team).await?;
            Ok(())
        })
        .await
    }

    /// Runs a mutation, as the engine does.
    async fn change(&self, caller: &Caller, work: impl AsyncFnOnce(&Transaction) -> Result<()>) -> Result<()> {
        let text = Text::new("mutation { serviceDelete(input: { alias: \"none\" }) { errors { message } } }");
        let prepared = self.catalogue.prepare(&text).expect("it is valid");
        let limits = Limits::default();
        let budget = Arc::new(Budget::new(limits, Instant::now() + limits.time, false, Duration::ZERO));
        let outcome = Arc::new(RequestOutcome::new(None, None));
        let state = State::new(Arc::clone(&self.catalogue.0), "a test", caller, &prepared, &budget, &outcome);
        let writing = state.begin("trial").await?;
        let written = async {
            work(writing.db()).await?;
            state.note(&writing, "trial", 0).await
        };
        let written = written.await;
        state.end(writing, written.is_ok()).await?;
        written
    }

    /// Why a mutation is refused.
    async fn refusal(&self, caller: &Caller, work: impl AsyncFnOnce(&Transaction) -> Result<()>) -> String {
        self.change(caller, work).await.expect_err("a refusal").to_string()
    }

    /// The classes, names and changes of the entries of the audit.
    async fn entries(&self) -> Vec<(Option<String>, Option<String>, Value)> {
        let rows = self.db.read().all(audit::Entity::find().order_by_asc(audit::Column::SubjectClass)).await;
        let entry = |row: audit::Model| {
            let detail: Value = serde_json::from_str(&row.detail).expect("JSON");
            (row.subject_class, row.subject_name, detail["changed"].clone())
        };
        rows.expect("entries").into_iter().map(entry).collect()
    }

    /// How many things the search finds.
    async fn finds(&self, term: &str) -> usize {
        find::find(self.db.read(), term, 5).await.expect("a search").len()
    }

    /// How many services `services(search:)` finds.
    async fn services(&self, term: &str) -> usize {
        let found = db::search::containing(self.db.read(), term).select;
        self.db.read().rows(&found, |row| row.get::<i64>(0)).await.expect("a search").len()
    }
}

#[tokio::test]
async fn a_mutation_that_changes_a_service_and_a_team_is_told_checked_and_found() {
    let trial = Trial::start().await;
    let refused = trial.run(&trial.member).await.expect_err("a refusal").to_string();
    let why = "you can change only your own teams and what they own; this would change the team \"Other\"";
    assert!(refused.contains(why), "{refused}");
    assert_eq!(trial.entries().await, []);
    assert_eq!((trial.finds("Basket").await, trial.finds("Zebra").await, trial.services("Basket").await), (0, 0, 0));

    let anyone = Caller { user: None, ..trial.member.clone() };
    trial.run(&anyone).await.expect("it may");
    let renamed = |old: &str, new: &str| json!({ "name": { "old": old, "new": new } });
    let entry = |class: &str, name: &str, changed| (Some(class.to_owned()), Some(name.to_owned()), changed);
    let expected =
        [entry("Service", "Basket", renamed("Cart", "Basket")), entry("Team", "Zebra", renamed("Other", "Zebra"))];
    assert_eq!(trial.entries().await, expected);
    assert_eq!((trial.finds("Basket").await, trial.finds("Zebra").await, trial.services("Basket").await), (1, 1, 1));
    let db = trial.db.read();
    let service = db.one(service::Entity::find_by_id(trial.service.id)).await.expect("a row").expect("a service");
    let team = db.one(team::Entity::find_by_id(trial.team.id)).await.expect("a row").expect("a team");
    assert!(service.updated_at > trial.service.updated_at && team.updated_at > trial.team.updated_at);
}

/// Stores a category, and a scorecard with an alias.
async fn standards(db: &Transaction) -> Result<()> {
    let now = Timestamp::now();
    db.insert(category::ActiveModel { name: Set("Security".to_owned()), ..Default::default() }).await?;
    let scorecard = scorecard::ActiveModel {
        name: Set("Launch".to_owned()),
        slug: Set("launch".to_owned()),
        affects_overall_service_levels: Set(false),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let scorecard = db.insert(scorecard).await?;
    let alias = scorecard_alias::ActiveModel {
        scorecard_id: Set(scorecard.id),
        value: Set("launch".to_owned()),
        kind: Set(AliasKind::Managed),
        ..Default::default()
    };
    db.insert(alias).await?;
    Ok(())
}

async fn rename_category(db: &Transaction) -> Result<()> {
    db.exec(category::Entity::update_many().col_expr(category::Column::Name, Expr::value("Safety"))).await?;
    Ok(())
}

async fn rename_alias(db: &Transaction) -> Result<()> {
    let value = scorecard_alias::Column::Value;
    db.exec(scorecard_alias::Entity::update_many().col_expr(value, Expr::value("start"))).await?;
    Ok(())
}

/// Takes all deploys from their services, as if a suggestion had been changed.
async fn take_deploys(db: &Transaction) -> Result<()> {
    let left = deploy::Entity::update_many().col_expr(deploy::Column::ServiceId, Expr::value(None::<i64>));
    db.exec_following::<suggestion::Entity, _>(1, left).await?;
    Ok(())
}

async fn rename_user(db: &Transaction) -> Result<()> {
    db.exec(user::Entity::update_many().col_expr(user::Column::Name, Expr::value("Mallory"))).await?;
    Ok(())
}

async fn tag_user(db: &Transaction) -> Result<()> {
    let user = db.one(user::Entity::find()).await?.expect("a user");
    let tag = tag::ActiveModel {
        key: Set("desk".to_owned()),
        value: Set("3".to_owned()),
        user_id: Set(Some(user.id)),
        ..Default::default()
    };
    db.insert(tag).await?;
    Ok(())
}

async fn link_first_administrator(db: &Transaction) -> Result<()> {
    sign_in_link::create(db, None, Timestamp::now()).await.map(drop)
}

#[tokio::test]
async fn a_table_says_who_may_change_it_whatever_the_sdl_says_of_the_mutation() {
    let trial = Trial::start().await;
    trial.db.write(standards).await.expect("rows");
    let (user, _) = trial.member.user.expect("a person");
    let person = |role: Role| Caller { user: Some((user, role)), ..trial.member.clone() };
    let token = |scope: Scope| Caller { user: None, scope, ..trial.member.clone() };

    let why = "only a standards administrator or an administrator can change levels, categories, checks";
    for role in [Role::TeamMember, Role::User] {
        let caller = person(role);
        for refused in [trial.refusal(&caller, rename_category).await, trial.refusal(&caller, rename_alias).await] {
            assert!(refused.contains(why), "{role:?}: {refused}");
        }
    }
    let why = "only an administrator can change users";
    for caller in [person(Role::User), person(Role::StandardsAdmin), token(Scope::Write)] {
        for refused in
            [trial.refusal(&caller, rename_user).await, trial.refusal(&caller, link_first_administrator).await]
        {
            assert!(refused.contains(why), "{caller:?}: {refused}");
        }
    }
    assert_eq!(trial.entries().await, []);

    trial.change(&person(Role::StandardsAdmin), rename_category).await.expect("it may");
    trial.change(&token(Scope::Write), rename_alias).await.expect("it may");
    trial.change(&person(Role::User), tag_user).await.expect("it may");
    trial.change(&token(Scope::Admin), rename_user).await.expect("it may");
    trial.change(&token(Scope::Admin), link_first_administrator).await.expect("it may");
    let entries = trial.entries().await;
    let classes: Vec<Option<&str>> = entries.iter().map(|(class, ..)| class.as_deref()).collect();
    assert_eq!(classes.iter().flatten().collect::<Vec<_>>(), [&"Category", &"Scorecard", &"User", &"User"]);
}

#[tokio::test]
async fn rows_do_not_follow_from_a_change_that_was_not_made() {
    let trial = Trial::start().await;
    let anyone = Caller { user: None, ..trial.member.clone() };
    let refused = trial.refusal(&anyone, take_deploys).await;
    assert!(refused.contains("rows follow from a change of suggestion 1, which was not made"), "{refused}");
}
