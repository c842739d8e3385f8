//! Every mutation of the schema, as every role, on rows that are the caller's own and on those of others: what may not be
//! changed stays as it is, and the audit tells each row that was changed, with its fields.

use std::collections::{BTreeMap, BTreeSet};

use rollcall::db::{Read, Told, Write};
use rollcall::entity::user::Role;
use rollcall::entity::{audit, recorded_as, team, team_membership, user};
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryOrder, Set};
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;
use crate::harness::rows::rows;
use crate::harness::say_aloud;
use crate::harness::tour::{PERSONAL, Step, Tour, schema};

/// Columns that the audit does not tell.
const NOT_TOLD: [&str; 13] = [
    "id",
    "created_at",
    "updated_at",
    "webhook_id",
    "email_key",
    "user_name_key",
    "name_key",
    "creation_source",
    "search_key",
    "unique_key",
    "written_by",
    "hash",
    "overdue_told_at",
];

/// An entry of the audit: its class and the id of its subject, and what has changed.
type Entry = (Option<String>, Option<i64>, Value);

async fn entries(app: &TestApp) -> Vec<Entry> {
    let rows = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let entry = |row: audit::Model| {
        let detail: Value = serde_json::from_str(&row.detail).expect("JSON");
        (row.subject_class, row.subject_id, detail["changed"].clone())
    };
    rows.into_iter().map(entry).collect()
}

/// The names that the audit may give a column.
fn names(column: &str) -> [String; 2] {
    let mut camel = String::new();
    for (place, word) in column.split('_').enumerate() {
        let (first, rest) = word.split_at(1);
        camel.push_str(&if place == 0 { first.to_owned() } else { first.to_uppercase() });
        camel.push_str(rest);
    }
    [camel, column.trim_end_matches("_id").to_owned()]
}

/// Checks that the entries tell a row that differs.
fn check_told(mutation: &str, (table, id): &(String, i64), old: &Value, new: &Value, entries: &[Entry]) {
    let Some(known) = recorded_as(table) else { return };
    let told = match known.list() {
        // Its entries tell what belongs to a subject in lists of the subject.
        Some(list) if mutation == "serviceFilesApply" => Told::In(list),
        _ => known.told(),
    };
    let class = match told {
        Told::Alone(class) => class,
        // Those that go along with another row are not told.
        Told::Directly(_) if !mutation.to_lowercase().starts_with(&table.replace('_', "")) => return,
        Told::Directly(class) => class,
        Told::In(list) => {
            let tells = |name: &String| name == list || name.starts_with(&format!("{list}."));
            let is_told =
                entries.iter().any(|(.., changed)| changed.as_object().is_some_and(|all| all.keys().any(tells)));
            assert!(is_told, "{mutation} changes the {list} of something: {old} {new}\n{entries:?}");
            return;
        }
        Told::Nothing => return,
    };
    let entry = entries.iter().find(|(own, subject, _)| own.as_deref() == Some(class) && *subject == Some(*id));
    let (.., changed) = entry.unwrap_or_else(|| panic!("{mutation} changes {class} {id}: {old} {new}\n{entries:?}"));
    let columns: BTreeSet<&String> =
        [old, new].iter().filter_map(|row| row.as_object()).flat_map(|row| row.keys()).collect();
    for column in columns.into_iter().filter(|column| !NOT_TOLD.contains(&column.as_str())) {
        if column == "parameters" {
            check_parts_told(mutation, &old[column], &new[column], changed);
            continue;
        }
        let is_told = names(column).iter().any(|name| changed.get(name).is_some());
        assert!(is_told || old[column] == new[column], "{mutation} changes {column} of {class} {id}: {changed}");
    }
}

/// Checks that each part of a check's parameters that differs is told.
fn check_parts_told(mutation: &str, old: &Value, new: &Value, changed: &Value) {
    let parts =
        |value: &Value| -> Value { value.as_str().map_or(json!({}), |text| serde_json::from_str(text).expect("JSON")) };
    let (old, new) = (parts(old), parts(new));
    let names: BTreeSet<&String> =
        [&old, &new].iter().filter_map(|side| side.as_object()).flat_map(|side| side.keys()).collect();
    // What a check keeps of other rows, for its sentences.
    for name in names.into_iter().filter(|name| !["definition", "integration", "production"].contains(&name.as_str())) {
        let is_told = changed.get(&self::names(name)[0]).is_some();
        assert!(is_told || old[name] == new[name], "{mutation} changes {name}: {changed}");
    }
}

/// Makes a user a member of all teams.
async fn join_all(app: &TestApp, email: &str) {
    let joined = app.db.write(async |db| {
        let user = user::by_email(db, email).await?.expect("a user");
        let teams = db.all(team::Entity::find()).await?;
        let rows = teams.iter().map(|team| team_membership::ActiveModel {
            team_id: Set(team.id),
            user_id: Set(user.id),
            ..Default::default()
        });
        let once = OnConflict::new().do_nothing().to_owned();
        db.exec(team_membership::Entity::insert_many(rows).on_conflict(once)).await
    });
    joined.await.expect("memberships");
}

/// Runs all mutations as a user with this role, who is a member of all teams or of none, with owner-only writes or without.
/// Where the user is refused, an administrator's token runs them too. Returns those that the user may run.
async fn run(role: Role, is_own: bool, owner_only: bool) -> (usize, BTreeSet<&'static str>) {
    let tour = Tour::with(if owner_only { &["--owner-only-writes"] } else { &[] }).await;
    let is_held = role == Role::TeamMember || owner_only && role == Role::User;
    let (app, schema) = (&tour.endpoint.app, schema());
    let browser = Browser::of(app, role).await;
    let email = format!("{role:?}@example.com").to_lowercase();
    let (mut cells, mut allowed) = (0, BTreeSet::new());
    for step in tour.steps() {
        if is_own {
            join_all(app, &email).await;
        }
        cells += 1;
        let query = step.operation(&schema, "{ errors { message } }");
        let Step { mutation, arguments } = step;
        let (before, told) = (rows(app).await, entries(app).await.len());
        let answer = browser.query(&query, arguments.clone()).await;
        let is_refused = answer.get("errors").is_some() || answer["data"][mutation]["errors"] != json!([]);
        let after = rows(app).await;
        if is_refused {
            assert_eq!(before, after, "{mutation} is refused for {role:?}: {answer}");
            let answer = tour.ask(&query, arguments).await;
            assert_eq!(answer["data"][mutation]["errors"], json!([]), "{mutation}: {answer}");
            continue;
        }
        // What people keep for themselves is no part of the catalogue.
        let is_personal = PERSONAL.contains(&mutation);
        if !is_personal && (role == Role::Viewer || is_held && !is_own) {
            assert_eq!(before, after, "{role:?} may not run {mutation}: {answer}");
        }
        allowed.insert(mutation);
        let entries = entries(app).await.split_off(told);
        let none = Value::Null;
        for key in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            let (old, new) = (before.get(key).unwrap_or(&none), after.get(key).unwrap_or(&none));
            if old != new {
                check_told(mutation, key, old, new, &entries);
            }
        }
    }
    (cells, allowed)
}

#[tokio::test]
async fn no_role_changes_what_it_may_not_and_the_audit_tells_every_changed_row() {
    let mut cells = 0;
    let mut may = BTreeMap::new();
    for (role, is_own) in [
        (Role::Viewer, true),
        (Role::TeamMember, false),
        (Role::TeamMember, true),
        (Role::User, true),
        (Role::StandardsAdmin, true),
        (Role::Admin, true),
    ] {
        let (ran, allowed) = run(role, is_own, false).await;
        cells += ran;
        may.insert((role, is_own), allowed);
    }
    for is_own in [true, false] {
        let (ran, allowed) = run(Role::User, is_own, true).await;
        cells += ran;
        assert_eq!(
            allowed,
            may[&(Role::TeamMember, is_own)],
            "with owner-only writes, a member of all teams: {is_own}"
        );
    }
    say_aloud(&format!("{cells} mutations by roles and owners"));
    let may = |role, is_own, mutation: &str| may[&(role, is_own)].contains(mutation);
    let is_admin = may(Role::Admin, true, "userInvite") && may(Role::Admin, true, "levelCreate");
    assert!(is_admin && may(Role::StandardsAdmin, true, "levelCreate") && !may(Role::User, true, "levelCreate"));
    assert!(may(Role::User, true, "tierCreate") && !may(Role::TeamMember, true, "tierCreate"));
    assert!(may(Role::TeamMember, true, "toolCreate") && !may(Role::Viewer, true, "toolCreate"));
    assert!(!may(Role::StandardsAdmin, true, "userInvite"));
    let keeps = |role, is_own| may(role, is_own, "serviceFavouriteAdd");
    assert!(keeps(Role::Viewer, true) && keeps(Role::TeamMember, false), "everybody may have favourites");
    let shares = |role| may(role, true, "savedViewCreate");
    assert!(shares(Role::User) && !shares(Role::TeamMember) && !shares(Role::Viewer), "only members share");
}
