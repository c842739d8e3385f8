//! Integrations: the tools that push to the catalogue. Endpoints for deploys and for API documents with their URLs,
//! snippets and last deliveries; custom integrations with their projects of code issues; clouds and clusters with their
//! settings.

use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::deliveries::Receipts;
use super::form::{Mistakes, Text};
use super::layout::{Head, layout, page as framed};
use super::operations::{
    self, CreateCustomEventIntegration, CreateCustomIntegration, CreateDeployIntegration, CreateDocumentIntegration,
    DeleteIntegration, IntegrationRow, Integrations, RenameCustomIntegration, RenameEventIntegration,
    RotateIntegrationUrl, integration::Integration,
};
use super::parts::{count_to_most, delete_button, empty, grouped, pages, replace_button, time};
use super::snippets::{self, Snippet};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site, cloud, custom, deliveries};
use catalogue::deploy::days::DAY;
use catalogue::entity::field_rule::FieldRules;
use catalogue::entity::integration::{self, Kind};
use catalogue::entity::user::Role;
use catalogue::entity::{Timestamp, delivery};
use catalogue::graphql::field::id;

/// The type of an integration for custom events, as the API names it.
const EVENTS: &str = "customEvent";

/// The systems that post to deploy endpoints: the type, as the API names it, and the name, which is also the title of the
/// snippet of those that have one.
const SYSTEMS: [(&str, &str); 28] = [
    ("aquaSecurity", "Aqua Security"),
    ("argocd", "Argo CD"),
    ("awsEcr", "Amazon ECR"),
    ("bugsnag", "Bugsnag"),
    ("circleci", "CircleCI"),
    ("codacy", "Codacy"),
    ("coveralls", "Coveralls"),
    ("datadogCheck", "Datadog"),
    ("dynatrace", "Dynatrace"),
    ("flux", "Flux"),
    ("githubActions", "GitHub Actions"),
    ("gitlabCi", "GitLab CI"),
    ("grafana", "Grafana"),
    ("grype", "Grype"),
    ("jenkins", "Jenkins"),
    ("jfrogXray", "JFrog Xray"),
    ("lacework", "Lacework"),
    ("newRelicCheck", "New Relic"),
    ("octopus", "Octopus Deploy"),
    ("prismaCloud", "Prisma Cloud"),
    ("prometheus", "Prometheus"),
    ("rollbar", "Rollbar"),
    ("sentry", "Sentry"),
    ("snyk", "Snyk"),
    ("sonarqube", "SonarQube"),
    ("stackhawk", "StackHawk"),
    ("sumoLogic", "Sumo Logic"),
    ("veracode", "Veracode"),
];

impl IntegrationRow {
    fn path(&self) -> String {
        path(["integrations", &self.id])
    }

    /// The name of its kind, or of the system that posts the deploys. Events are received as deploys are.
    fn kind_name(&self) -> &'static str {
        if self.r#type == EVENTS {
            return "Event";
        }
        let system = SYSTEMS.iter().find(|(word, _)| *word == self.r#type);
        system.map_or_else(|| self.kind().name(), |(_, name)| *name)
    }

    /// Its number; 0 for none.
    fn number(&self) -> i64 {
        id::decode(&self.id).map_or(0, |(_, number)| number)
    }

    /// Whether it only has settings: nothing is received for it.
    fn only_records(&self) -> bool {
        !matches!(self.kind(), Kind::Deploy | Kind::ApiDoc | Kind::Custom)
    }

    fn kind(&self) -> Kind {
        match &*self.r#type {
            "custom" => Kind::Custom,
            "apiDoc" => Kind::ApiDoc,
            "aws" => Kind::Aws,
            "azureResources" => Kind::AzureResources,
            "googleCloud" => Kind::GoogleCloud,
            "kubernetes" => Kind::Kubernetes,
            "newRelic" => Kind::NewRelic,
            // `deploy`, or the system that posts the deploys.
            _ => Kind::Deploy,
        }
    }
}

/// Lists the integrations.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let found = ask(site, visit, Integrations { after: visit.query.given("after") }).await?;
    let integrations = found.account.integrations;
    let (now, may) = (Timestamp::now(), session.user.role >= Role::User);
    let (recording, receiving): (Vec<_>, Vec<_>) = integrations.nodes.iter().partition(|one| one.only_records());
    let numbers: Vec<i64> = receiving.iter().map(|one| one.number()).collect();
    let since = Timestamp::from_micros(now.as_micros() - DAY);
    let receipts = site.reading(visit).await?.optional(|db| Receipts::read(db, &numbers, since)).await?;
    let add = html! {
        @if may {
            div.actions {
                a.button href="/integrations/new?type=deploy" { "Add deploy integration" }
                a.button.quiet href="/integrations/new?type=apiDoc" { "Add API documents integration" }
                a.button.quiet href="/integrations/new?type=custom" { "Add custom integration" }
                a.button.quiet href="/integrations/new?type=customEvent" { "Add event integration" }
            }
        }
    };
    let main = html! {
        p { "A deploy integration receives deploys from your pipelines. An API documents integration receives OpenAPI, "
            "AsyncAPI, GraphQL and Markdown documents from them. A custom integration receives code issues from your own "
            "tools, and an event integration what checks judge. Your tools can also record clouds and clusters here, "
            a href="/reference/Mutation#awsIntegrationCreate" { "through the API" } "." }
        @if integrations.nodes.is_empty() {
            (empty("No integrations yet.", add))
        } @else {
            (add)
            p.soft { (count_to_most(integrations.total_count, "integration")) }
            @if !receiving.is_empty() { (received(&receiving, receipts.as_ref(), now)) }
            @if !recording.is_empty() { (recorded(&recording, now)) }
            (pages(visit, "/integrations", &integrations.page_info))
        }
    };
    Ok(Answer::page(layout(visit, "Integrations", main)))
}

/// The integrations that receive something. Without `receipts`, what they received was not read.
fn received(integrations: &[&IntegrationRow], receipts: Option<&Receipts>, now: Timestamp) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Integrations" {
            table.lined {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "Kind" } th scope="col" { "Last received" }
                    th.number scope="col" { "Failed in 24 h" } th.wide scope="col" { "Added" }
                } }
                tbody { @for integration in integrations {
                    tr {
                        th scope="row" { a href=(integration.path()) { (integration.name) } }
                        td { (integration.kind_name()) }
                        @match receipts {
                            // Its projects and issues come through the API, which notes no posts.
                            _ if integration.kind() == Kind::Custom => {
                                td { span.soft { "through the API" } } td.number {}
                            },
                            Some(receipts) => {
                                td data-label="Last received" { (last(integration, receipts, now)) }
                                td.number data-label="Failed in 24 h" { (failed(integration, receipts)) }
                            },
                            None => { td { span.soft { "not read" } } td.number {} },
                        }
                        td.wide { (time(integration.created_at.0, now)) }
                    }
                } }
            }
        }
    }
}

/// When something was last posted to the integration.
fn last(integration: &IntegrationRow, receipts: &Receipts, now: Timestamp) -> Markup {
    html! {
        @match receipts.last(integration.number()) {
            Some(at) => (time(at, now)),
            None if receipts.are_all || integration.kind() == Kind::ApiDoc => span.soft { "never" },
            None => span.soft { "not lately" },
        }
    }
}

/// How many posts were refused, with a link to them.
fn failed(integration: &IntegrationRow, receipts: &Receipts) -> Markup {
    let failed = receipts.failed(integration.number());
    html! {
        @if failed == 0 { "0" } @else {
            a href={ (integration.path()) "#deliveries" } {
                span.mark.bad { (grouped(failed)) @if failed >= delivery::KEPT as i64 { "+" } }
                span.hidden { " refused posts to " (integration.name) }
            }
        }
    }
}

/// The integrations that only have settings.
fn recorded(integrations: &[&IntegrationRow], now: Timestamp) -> Markup {
    html! {
        h2 #recorded { "Only recorded" }
        p { "Your tools keep the settings of these here, and read them through the API: nothing is posted to them, and this "
            "server does not connect to them." }
        div.scroll tabindex="0" role="region" aria-label="Only recorded" {
            table {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Kind" } th scope="col" { "Added" } } }
                tbody { @for integration in integrations {
                    tr {
                        th scope="row" { a href=(integration.path()) { (integration.name) } }
                        td { (integration.kind_name()) }
                        td { (time(integration.created_at.0, now)) }
                    }
                } }
            }
        }
    }
}

/// Shows the form for a new integration.
pub fn new(visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    Ok(Answer::page(new_form(visit, &Mistakes::none())))
}

fn new_form(visit: &Visit, mistakes: &Mistakes) -> Markup {
    let is = |word| [&visit.form, &visit.query].iter().any(|fields| fields.get("type") == word);
    let (title, button, kind, what) = if is("custom") {
        let what = "Your tool pushes projects and code issues to it through the API.";
        ("New custom integration", "Create custom integration", "custom", what)
    } else if is(EVENTS) {
        let what = "It gets its own URL. Your tools post events to it, which checks of custom events judge.";
        ("New event integration", "Create event integration", EVENTS, what)
    } else if is("apiDoc") {
        let what = "It gets its own URL. Your pipelines post the API documents of all services to it.";
        ("New API documents integration", "Create API documents integration", "apiDoc", what)
    } else {
        let what = "It gets its own URL. Your pipelines post their deploys to it.";
        ("New deploy integration", "Create deploy integration", "deploy", what)
    };
    let main = html! {
        p { (what) }
        form method="post" action="/integrations" {
            (mistakes.summary(&["input.name", "name"]))
            input type="hidden" name="type" value=(kind);
            (Text::from_rule(integration::Entity::rule(integration::Column::Name), "Name", "Such as: GitHub Actions")
                .show(&visit.form, mistakes))
            button { (button) }
        }
    };
    framed(visit, &Head::with_parent(title, "/integrations", "Integrations"), main)
}

/// Creates an integration.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let name = visit.form.get("name");
    let (errors, made) = match visit.form.get("type") {
        "custom" => {
            let made = ask(site, visit, CreateCustomIntegration { name }).await?.custom_integration_create;
            made.map(|made| (made.errors, made.integration.map(|integration| integration.id)))
        }
        EVENTS => {
            let made = ask(site, visit, CreateCustomEventIntegration { name }).await?.event_integration_create;
            made.map(|made| (made.errors, made.integration.map(|integration| integration.id)))
        }
        "apiDoc" => {
            let made = ask(site, visit, CreateDocumentIntegration { name }).await?.event_integration_create;
            made.map(|made| (made.errors, made.integration.map(|integration| integration.id)))
        }
        _ => {
            let made = ask(site, visit, CreateDeployIntegration { name }).await?.event_integration_create;
            made.map(|made| (made.errors, made.integration.map(|integration| integration.id)))
        }
    }
    .ok_or_else(unanswered)?;
    match (settled(errors), made) {
        (Ok(()), Some(id)) => Ok(Answer::redirect(path(["integrations", &id]))),
        (Ok(()), None) => Ok(Answer::redirect("/integrations")),
        (Err(mistakes), _) => Ok(Answer::refused(new_form(visit, &mistakes))),
    }
}

/// Shows an integration.
pub async fn detail(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    Ok(Answer::page(show(site, visit, session, id, &Mistakes::none()).await?))
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<Integration, Fault> {
    let found = ask(site, visit, operations::Integration { id }).await?;
    found.account.integration.ok_or(Fault::NotFound)
}

async fn show(site: &Site, visit: &Visit, session: &Session, id: &str, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let Integration { integration_row: integration, webhook_url, cloud_settings } = find(site, visit, id).await?;
    let (now, may, kind) = (Timestamp::now(), session.user.role >= Role::User, integration.kind());
    let form = if visit.form.has_text() { visit.form.clone() } else { Fields::one("name", &integration.name) };
    let takes_events = integration.r#type == EVENTS;
    let question = match kind {
        Kind::Deploy if takes_events => {
            "Delete this integration? Its URL stops working at once. This also deletes its events. Its deploys stay."
        }
        Kind::Deploy => "Delete this integration? Its URL stops working at once. Its deploys stay.",
        Kind::ApiDoc => "Delete this integration? Its URL stops working at once. This also deletes its documents.",
        Kind::Custom => "Delete this integration? This also deletes its projects and their code issues.",
        _ => "Delete this integration?",
    };
    let main = html! {
        p { (integration.kind_name()) " integration, added " (time(integration.created_at.0, now)) "." }
        @if let Some(url) = &webhook_url { (address(&integration, url)) }
        @if takes_events && session.user.role >= Role::StandardsAdmin {
            p { a.button.quiet href={ "/new/check/custom-event?integration=" (integration.id) } { "New check of its events" } }
        }
        @match kind {
            Kind::Deploy => (deliveries::of_deploys(site, visit, id, takes_events, now).await?),
            Kind::ApiDoc => (deliveries::of_documents(site, visit, id, now).await?),
            Kind::Custom => {
                @if may { (custom::snippet(site, &integration.id)) }
                (custom::projects(site, visit, &integration.id, id::decode(id).map_or(0, |(_, number)| number)).await?)
            },
            _ => (cloud::section(&cloud_settings, now)),
        }
        @if may { (changes(&integration, question, &form, mistakes)) }
    };
    Ok(layout(visit, &integration.name, main))
}

/// What changes an integration. `question` is asked before it is deleted.
fn changes(integration: &IntegrationRow, question: &str, form: &Fields, mistakes: &Mistakes) -> Markup {
    let kind = integration.kind();
    html! {
        h2 { "Change" }
        @if matches!(kind, Kind::Deploy | Kind::ApiDoc | Kind::Custom) {
            form method="post" action={ (integration.path()) "/rename" } {
                (mistakes.summary(&["name"]))
                (Text::from_rule(integration::Entity::rule(integration::Column::Name), "Name", "")
                    .show(form, mistakes))
                button { "Rename" }
            }
        } @else {
            (mistakes.summary(&[]))
        }
        div.actions {
            @if matches!(kind, Kind::Deploy | Kind::ApiDoc) {
                (replace_button(&format!("{}/rotate", integration.path()), "New URL", &integration.name,
                    "Give it a new URL? The old one stops working at once: there is no time in which both work. Posts to the old \
                     one are refused until you put the new one into whatever posts to it."))
            }
            (delete_button(&format!("{}/delete", integration.path()), "Delete", &integration.name, question))
        }
    }
}

/// The webhook's URL, and how to post to it.
fn address(integration: &IntegrationRow, url: &str) -> Markup {
    let (what, snippets) = match integration.kind() {
        Kind::ApiDoc => ("documents", vec![snippets::document(url)]),
        _ if integration.r#type == EVENTS => ("events", vec![snippets::event(url)]),
        _ => {
            let mut snippets = snippets::all(url);
            // The system's own is first, and open.
            snippets.sort_by_key(|snippet| snippet.title != integration.kind_name());
            ("deploys", snippets)
        }
    };
    html! {
        h2 { "URL" }
        p { "Anyone who knows this URL can post " (what) ". Treat it like a password." }
        code.secret #address data-copy="the URL" { (url) }
        h2 { "Post " (what) " to it" }
        @for (index, Snippet { title, hint, text }) in snippets.iter().enumerate() {
            details open[index == 0] {
                summary { (title) }
                p.hint { (hint) }
                pre tabindex="0" role="region" aria-label=(title) { code data-copy={ "the snippet for " (title) } { (text) } }
            }
        }
    }
}

/// Renames an integration.
pub async fn rename(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    let name = visit.form.get("name");
    let errors = match find(site, visit, id).await?.integration_row.kind() {
        Kind::Deploy | Kind::ApiDoc => {
            let renamed = ask(site, visit, RenameEventIntegration { id, name }).await?.event_integration_update;
            renamed.map(|done| done.errors)
        }
        _ => {
            let renamed = ask(site, visit, RenameCustomIntegration { id, name }).await?.custom_integration_update;
            renamed.map(|done| done.errors)
        }
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect(path(["integrations", id]))),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, id, &mistakes).await?)),
    }
}

/// Gives an integration a new URL, which its page then shows.
pub async fn rotate(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    let rotated = ask(site, visit, RotateIntegrationUrl { id }).await?.event_integration_url_rotate;
    match settled(rotated.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect(path(["integrations", id]))),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, id, &mistakes).await?)),
    }
}

/// Deletes an integration.
pub async fn delete(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    let deleted = ask(site, visit, DeleteIntegration { id }).await?.integration_delete;
    match settled(deleted.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect("/integrations")),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, id, &mistakes).await?)),
    }
}
