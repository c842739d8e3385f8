//! Every field in a table's `FIELDS` is in the forms of the pages and in service files. The compiler and `coverage` make
//! sure that the API's inputs have it.

use std::fmt::Write;

use rollcall::db::{Read, Table};
use rollcall::entity::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use rollcall::entity::user::Role;
use rollcall::entity::{domain, repository, service, system, team, text};
use sea_orm::{ColumnTrait, ModelTrait, QueryOrder};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// A text for the field that no other field has, or the name of an object that the field can refer to.
fn sample<C: ColumnTrait>(rule: &FieldRule<C>) -> String {
    match rule.value {
        ValueRule::Text(_) if ["url", "apiDocumentUrl"].contains(&rule.name) => {
            "https://git.example.com/org/sample".to_owned()
        }
        ValueRule::Text(_) => format!("sample of {}", rule.name),
        ValueRule::Named(Reference::User) => "lead@example.com".to_owned(),
        ValueRule::Named(Reference::Tier) => "tier_1".to_owned(),
        ValueRule::Named(Reference::Lifecycle) => "alpha".to_owned(),
        // A team, a system and a domain of this name.
        ValueRule::Named(_) | ValueRule::Identified(_) | ValueRule::Id(_) => "platform".to_owned(),
        ValueRule::Flag => "true".to_owned(),
        ValueRule::Place => "7".to_owned(),
        ValueRule::Moment => "2026-11-21T01:44:00Z".to_owned(),
    }
}

/// The field's name in a form.
fn in_form<C>(rule: &FieldRule<C>) -> String {
    match rule.value {
        ValueRule::Identified(_) => format!("{}.alias", rule.name),
        _ => rule.name.to_owned(),
    }
}

async fn with_names() -> TestApp {
    let app = TestApp::with(&["--pull-documents-from", "git.example.com"]).await;
    let names = r#"mutation {
        teamCreate(input: { name: "Platform" }) { errors { message } }
        componentTypeCreate(input: { name: "Platform" }) { errors { message } }
        systemCreate(input: { name: "Platform" }) { errors { message } }
        domainCreate(input: { name: "Platform" }) { errors { message } }
        userInvite(email: "lead@example.com", input: {}) { errors { message } }
    }"#;
    data(&app, names).await;
    app
}

/// Fills in the form for a new object, field by field, and checks that the form to change it has all values.
async fn fill_in<E: FieldRules>(app: &TestApp, new: &str) {
    let mut browser = Browser::of(app, Role::User).await;
    let form = browser.page(new).await;
    for rule in E::FIELDS {
        assert!(form.contains(&format!(" name=\"{}\"", in_form(rule))), "{new} has no field {}: {form}", rule.name);
    }
    let said: Vec<(String, String)> = E::FIELDS.iter().map(|rule| (in_form(rule), sample(rule))).collect();
    let said: Vec<(&str, &str)> = said.iter().map(|(name, text)| (&**name, &**text)).collect();
    let made = browser.post(new, &said).await;
    let form = browser.page(&format!("{}/edit", made.place())).await;
    for rule in E::FIELDS {
        let sample = sample(rule);
        let shown = match rule.value {
            ValueRule::Named(Reference::Tier | Reference::Lifecycle)
            | ValueRule::Identified(Reference::ComponentType) => format!("value=\"{sample}\" selected"),
            ValueRule::Identified(_) => format!("name=\"{}\" value=\"Platform\"", in_form(rule)),
            ValueRule::Text(most) if most > text::URL => format!("\n{sample}</textarea>"),
            _ => format!("value=\"{sample}\""),
        };
        assert!(form.contains(&shown), "{} was not kept: {form}", rule.name);
    }
}

#[tokio::test]
async fn the_forms_of_services_and_teams_have_every_field_of_the_list() {
    let app = with_names().await;
    fill_in::<service::Entity>(&app, "/new/service").await;
    fill_in::<team::Entity>(&app, "/new/team").await;
}

/// A document with every field of the list, and the row that it creates.
async fn apply<E: FieldRules + Table>(app: &TestApp, noun: &str) -> E::Model {
    let mut document = format!("version: 1\n{noun}:\n");
    for rule in E::FIELDS.iter().filter(|rule| rule.is_in_files) {
        let key = if rule.key() == "default_alias" { "alias" } else { rule.key() };
        writeln!(document, "  {key}: {}", sample(rule)).expect("a string takes all");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rollcall.yml");
    std::fs::write(&path, &document).expect("a file");
    let applied = crate::harness::service_file::run(&app.db, &[path]).await;
    assert!(applied.is_ok(), "{applied:?}: {document}");
    let key = <E::PrimaryKey as sea_orm::Iterable>::iter().next().expect("a key");
    let last = E::find().order_by_desc(sea_orm::PrimaryKeyToColumn::into_column(key));
    app.db.read().one(last).await.expect("rows").expect("a row")
}

fn has_every_field<E: FieldRules>(row: &E::Model) {
    for rule in E::FIELDS.iter().filter(|rule| rule.is_in_files) {
        let value = row.get(rule.column);
        let expected = match rule.value {
            ValueRule::Text(_) => value == sample(rule).into(),
            ValueRule::Flag => value == true.into(),
            _ => value != value.as_null(),
        };
        assert!(expected, "{} is {value:?}", rule.name);
    }
}

#[tokio::test]
async fn service_files_have_every_field_of_the_lists() {
    let app = with_names().await;
    has_every_field::<repository::Entity>(&apply::<repository::Entity>(&app, "repository").await);
    has_every_field::<service::Entity>(&apply::<service::Entity>(&app, "service").await);
    has_every_field::<team::Entity>(&apply::<team::Entity>(&app, "team").await);
    has_every_field::<system::Entity>(&apply::<system::Entity>(&app, "system").await);
    has_every_field::<domain::Entity>(&apply::<domain::Entity>(&app, "domain").await);
}
