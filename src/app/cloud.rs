//! The part of an integration's page that is about a cloud or a cluster: the settings that the API records, and where
//! to change them.

use maud::{Markup, html};

use super::operations::{CloudSettings, types::Moment};
use super::parts::{external_link, time};
use catalogue::entity::Timestamp;

/// The settings of a kind.
struct SettingsView<'s> {
    /// The name and value of each setting. Settings without a value are left out.
    facts: Vec<(&'static str, Markup)>,
    /// The name and text of each definition in YAML.
    definitions: Vec<(&'static str, &'s str)>,
    /// The mutation that changes them.
    mutation: &'static str,
    /// Its input.
    input: &'static str,
}

/// Shows the settings of an integration with a cloud or a cluster; nothing for other kinds.
pub fn section(settings: &CloudSettings, now: Timestamp) -> Markup {
    let Some(SettingsView { facts, definitions, mutation, input }) = describe(settings) else { return html! {} };
    html! {
        p { "rollcall records this integration for your tools. It does not connect to it, and keeps none of its secrets." }
        dl.facts {
            @for (name, value) in facts { dt { (name) } dd { (value) } }
            dt { "Recorded" } dd { (time(recorded(settings).0, now)) }
        }
        @for (name, text) in definitions {
            h2 { (name) }
            @let start = start(text);
            pre tabindex="0" role="region" aria-label=(name) { code { (start) } }
            @if start.len() < text.len() { p.soft { "Only the start is shown. The API returns all of it." } }
        }
        p { "To change it, send "
            a href={ "/reference/Mutation#" (mutation) } { code { (mutation) } } " with "
            a href={ "/reference/" (input) } { "what to change" } "." }
    }
}

/// The first characters of a definition. A whole one could be larger than the rest of the page.
fn start(text: &str) -> &str {
    const MOST: usize = 4_000;
    text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end])
}

/// When the integration was recorded.
fn recorded(settings: &CloudSettings) -> Moment {
    match settings {
        CloudSettings::AwsIntegration(one) => one.created_at,
        CloudSettings::AzureResourcesIntegration(one) => one.created_at,
        CloudSettings::GoogleCloudIntegration(one) => one.created_at,
        CloudSettings::KubernetesIntegration(one) => one.created_at,
        CloudSettings::NewRelicIntegration(one) => one.created_at,
        CloudSettings::Other(one) => one.created_at,
    }
}

fn describe(settings: &CloudSettings) -> Option<SettingsView<'_>> {
    let (facts, definitions, mutation, input) = match settings {
        CloudSettings::AwsIntegration(aws) => {
            let regions = match &aws.region_override {
                Some(regions) => words(regions),
                None => Some(html! { "all" }),
            };
            let mut facts = vec![
                ("IAM role", text(aws.iam_role.as_deref())),
                ("External id", text(aws.external_id.as_deref())),
                ("Regions", regions),
            ];
            facts.extend(ownership(aws.ownership_tag_keys.as_deref(), aws.aws_tags_override_ownership));
            (facts, vec![], "awsIntegrationUpdate", "AwsIntegrationInput")
        }
        CloudSettings::AzureResourcesIntegration(azure) => {
            let mut facts = vec![
                ("Subscription", text(azure.subscription_id.as_deref())),
                ("Tenant", text(azure.tenant_id.as_deref())),
            ];
            facts.extend(ownership(azure.ownership_tag_keys.as_deref(), azure.tags_override_ownership));
            (facts, vec![], "azureResourcesIntegrationUpdate", "AzureResourcesIntegrationInput")
        }
        CloudSettings::GoogleCloudIntegration(google) => {
            let mut facts = vec![("Service account", text(google.client_email.as_deref()))];
            facts.extend(ownership(google.ownership_tag_keys.as_deref(), google.tags_override_ownership));
            (facts, vec![], "googleCloudIntegrationUpdate", "GoogleCloudIntegrationInput")
        }
        CloudSettings::KubernetesIntegration(cluster) => {
            let definitions = vec![
                ("What is extracted", cluster.extract_definition.as_deref()),
                ("How it is transformed", cluster.transform_definition.as_deref()),
            ];
            (vec![], definitions, "kubernetesIntegrationUpdate", "KubernetesIntegrationInput")
        }
        CloudSettings::NewRelicIntegration(relic) => {
            let url = relic.base_url.as_deref().map(|url| external_link(Some(url), url));
            (vec![("API", url)], vec![], "newRelicIntegrationUpdate", "NewRelicIntegrationInput")
        }
        CloudSettings::Other(_) => return None,
    };
    let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let definitions = definitions.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
    Some(SettingsView { facts, definitions, mutation, input })
}

/// How tags of resources name their owners.
fn ownership(keys: Option<&[String]>, tags_win: Option<bool>) -> [(&'static str, Option<Markup>); 2] {
    let wins = |tags: bool| if tags { "the tag" } else { "the catalogue" };
    [
        ("Tags that name an owner", keys.and_then(words)),
        ("If they disagree with the catalogue", tags_win.map(|tags| html! { (wins(tags)) " counts" })),
    ]
}

fn text(value: Option<&str>) -> Option<Markup> {
    value.map(|value| html! { code { (value) } })
}

/// A list of words; `None` if it is empty.
fn words(words: &[String]) -> Option<Markup> {
    (!words.is_empty()).then(|| html! { ul.marks { @for word in words { li { code.mark.none { (word) } } } } })
}
