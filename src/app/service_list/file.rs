//! The list of services as a file: with the filters, the order and the columns of the page.

use std::collections::HashSet;

use crate::ask::ask;
use crate::csv::{File, Row, Source};
use crate::form::Mistakes;
use crate::operations::{ServiceSortEnum, Services, ServicesFile, services_file};
use crate::parts::order;
use crate::visit::Visit;
use crate::{Answer, Fault, Site, picker};
use catalogue::entity::{Timestamp, service};
use catalogue::graphql::field::id;

use super::asked::{Asked, NAMES, quiet_since, team_called, wanted};
use super::table::Column;
use super::{Chosen, choice};

/// The columns of a file whose reader has chosen none.
const USUAL: [&str; 12] = [
    "name",
    "alias",
    "owner",
    "tier",
    "lifecycle",
    "language",
    "framework",
    "system",
    "last deploy",
    "last status",
    "url",
    "level",
];

/// The services of a file.
struct List {
    site: Site,
    visit: Visit,
    /// The names of the columns.
    columns: Vec<&'static str>,
    chosen: Chosen,
    /// The owner of the address, by an alias.
    owner: Option<String>,
    since: Option<Timestamp>,
    after: Option<String>,
    /// The services that it has given, so that one that moves in the order of last deploys is not in the file twice. At most
    /// as many as a file has rows, and a page.
    given: HashSet<i64>,
}

/// Answers the file.
pub async fn file(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let visit = &picker::understood_address(site, visit).await?;
    let mut chosen = Chosen::parse(&visit.query).map_err(Fault::BadRequest)?;
    let columns = match chosen.is_chosen {
        true => {
            ["name"].into_iter().chain(chosen.columns.iter().flat_map(|column| column.in_files()).copied()).collect()
        }
        false => {
            chosen.columns.extend([Column::Alias, Column::Framework, Column::System]);
            USUAL.to_vec()
        }
    };
    let mut mistakes = Mistakes::none();
    let _: Option<ServiceSortEnum> = order(visit, &mut mistakes);
    let since = quiet_since(&visit.query, &mut mistakes);
    mistakes.refused()?;
    choice::gone(site, &visit.query, &NAMES).await?.refused()?;
    let owner = visit.query.given("owner").map(str::to_owned);
    let mut list = List {
        site: site.clone(),
        visit: visit.clone(),
        columns,
        chosen,
        owner,
        since,
        after: None,
        given: HashSet::new(),
    };
    // The owner's name does as well as its alias.
    if let Some(name) = &list.owner
        && list.page().await?.0.is_empty()
        && let Some(alias) = team_called(site, visit, name).await?
    {
        list.owner = Some(alias);
    }
    let columns = list.columns.clone();
    Ok(Answer::file(File::begin("services.csv", &columns, list).await?))
}

impl List {
    /// A page of the list, and where the next one begins.
    async fn page(&self) -> Result<(Vec<(i64, Row)>, Option<String>), Fault> {
        let asked = Asked { chosen: &self.chosen, with_owners: false, since: self.since, is_gone: false, view: None };
        let with_url = self.columns.contains(&"url");
        let page = as_file(wanted(&self.visit, self.owner.as_deref(), &asked), self.after.as_deref(), with_url);
        let page = ask(&self.site, &self.visit, page).await?.account.services;
        let row = |one: &services_file::Service| {
            let cells: Row = self.columns.iter().map(|column| cell(column, one)).collect();
            (id::number::<service::Entity>(&one.id).unwrap_or_default(), cells)
        };
        let next = page.page_info.end_cursor.filter(|_| page.page_info.has_next_page);
        Ok((page.nodes.iter().map(row).collect(), next))
    }
}

impl Source for List {
    async fn next(&mut self) -> Result<(Vec<Row>, bool), Fault> {
        let (rows, next) = self.page().await?;
        self.after = next;
        let new = rows.into_iter().filter(|(id, _)| self.given.insert(*id)).map(|(_, row)| row).collect();
        Ok((new, self.after.is_some()))
    }
}

/// A page of the file, with the filters and the order of a page of the list.
fn as_file<'v>(list: Services<'v>, after: Option<&'v str>, with_url: bool) -> ServicesFile<'v> {
    ServicesFile {
        sort: list.sort,
        search: list.search,
        language: list.language,
        owner: list.owner,
        tier: list.tier,
        tag: list.tag,
        has_owner: list.has_owner,
        not_deployed_since: list.not_deployed_since,
        filter: list.filter,
        conditions: list.conditions,
        of_my_teams: list.of_my_teams,
        favourite: list.favourite,
        with_owner: list.with_owner,
        with_tier: list.with_tier,
        with_level: list.with_level,
        with_lifecycle: list.with_lifecycle,
        with_type: list.with_type,
        with_system: list.with_system,
        with_language: list.with_language,
        with_framework: list.with_framework,
        with_deploy: list.with_deploy,
        with_tags: list.with_tags,
        with_url,
        after,
    }
}

/// What a service has in a column.
fn cell(column: &str, one: &services_file::Service) -> String {
    let deploy = one.last_deploy.as_ref();
    let text = match column {
        "name" => Some(one.name.clone()),
        "alias" => one.aliases.first().cloned(),
        "owner" => one.owner.as_ref().map(|team| team.name.clone()),
        "tier" => one.tier.as_ref().map(|tier| tier.name.clone()),
        "level" => one.level.as_ref().and_then(|level| level.name.clone()),
        "lifecycle" => one.lifecycle.as_ref().map(|stage| stage.name.clone()),
        "type" => one.r#type.as_ref().map(|kind| kind.name.clone()),
        "system" => one.parent.as_ref().map(|system| system.name.clone()),
        "language" => one.language.clone(),
        "framework" => one.framework.clone(),
        "last deploy" => deploy.map(|deploy| deploy.deployed_at.0.to_string()),
        "last status" => deploy.and_then(|deploy| deploy.status.clone()),
        "url" => one.html_url.clone(),
        "tags" => one.tags.as_ref().map(|tags| {
            let tag = |tag: &services_file::Tag| match &*tag.value {
                "" => tag.key.clone(),
                value => format!("{}:{value}", tag.key),
            };
            tags.nodes.iter().map(tag).collect::<Vec<_>>().join(" ")
        }),
        _ => None,
    };
    text.unwrap_or_default()
}
