//! The search over services, systems, domains, teams, users, repositories and infrastructure resources.

use std::collections::HashMap;

use crate::db::find::{Found, Match, Noun, find, find_of};
use crate::entity::{domain, infrastructure_resource, pages, repository, service, system, team, user};
use crate::graphql::prelude::*;

/// The most results of a search.
pub const MOST: usize = 20;

/// A search result whose row exists.
#[derive(Debug)]
pub struct SearchResult {
    found: Found,
    name: String,
    html_url: String,
}

impl SearchResultResolver for SearchResult {
    async fn item(results: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<SearchItem>> {
        let found: Vec<&Found> = results.iter().map(|result| &result.found).collect();
        let mut rows = rows(&found, ctx).await?;
        let item = |found: &Found| {
            let row = rows.remove(&(found.kind, found.id)).map(|row| row.item);
            row.ok_or_else(|| Error::internal("what a search found has no row any more"))
        };
        found.into_iter().map(item).collect()
    }

    fn r#type(&self) -> SearchTypeEnum {
        self.found.kind.into()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn alias(&self) -> Option<&str> {
        self.found.alias.as_deref()
    }

    fn r#match(&self) -> SearchMatchEnum {
        self.found.matched.into()
    }

    async fn html_url(results: &[&Self], _: &Ctx<'_>) -> Result<Vec<String>> {
        Ok(results.iter().map(|result| result.html_url.clone()).collect())
    }
}

/// Returns the results for a term, best match first.
pub(super) async fn search(args: &AccountSearchArgs, ctx: &Ctx<'_>) -> Result<Vec<SearchResult>> {
    let AccountSearchArgs { term, first, r#type } = args;
    let most = match first.value() {
        None => MOST,
        Some(first) => {
            usize::try_from(*first).map_err(|_| UserError::new("first", "first must not be negative"))?.min(MOST)
        }
    };
    let term = text::at_most("term", text::trim(term), text::SHORT)?;
    let found = match r#type.value() {
        Some(kind) => find_of(ctx.db(), (*kind).into(), &term, most).await?,
        None => find(ctx.db(), &term, most).await?,
    };
    let mut rows = rows(&found.iter().collect::<Vec<_>>(), ctx).await?;
    let result = |found: Found| {
        let Row { name, html_url, .. } = rows.remove(&(found.kind, found.id))?;
        Some(SearchResult { found, name, html_url })
    };
    Ok(found.into_iter().filter_map(result).collect())
}

/// The row of a search result.
struct Row {
    item: SearchItem,
    name: String,
    html_url: String,
}

/// Reads the rows of search results, in one statement for each kind.
async fn rows(found: &[&Found], ctx: &Ctx<'_>) -> Result<HashMap<(Noun, i64), Row>> {
    let mut rows = HashMap::with_capacity(found.len());
    let ids_of = |kind| found.iter().filter(move |found| found.kind == kind).map(|found| Some(found.id));
    macro_rules! read {
        ($($kind:ident $table:ident $resolver:ident)*) => {$({
            let read = $table::Entity::by_ids(ctx.db(), ids_of(Noun::$kind)).await?;
            let read: Vec<_> = read.into_iter().flatten().collect();
            let urls = <$table::Model as $resolver>::html_url(&read.iter().collect::<Vec<_>>(), ctx).await?;
            for (row, url) in read.into_iter().zip(urls) {
                let (id, name) = (row.id, row.name.clone());
                rows.insert((Noun::$kind, id), Row { item: SearchItem::$kind(row), name, html_url: url });
            }
        })*};
    }
    read! {
        Service service ServiceResolver
        System system SystemResolver
        Domain domain DomainResolver
        Team team TeamResolver
        User user UserResolver
        Repository repository RepositoryResolver
    }
    let ids = ids_of(Noun::InfrastructureResource);
    for resource in infrastructure_resource::Entity::by_ids(ctx.db(), ids).await?.into_iter().flatten() {
        let (id, name) = (resource.id, resource.name.clone());
        let html_url = pages::url(&ctx.settings().app_url, ["infrastructure", &resource.id().text()]);
        let item = SearchItem::InfrastructureResource(resource);
        rows.insert((Noun::InfrastructureResource, id), Row { item, name, html_url });
    }
    Ok(rows)
}

impl From<Noun> for SearchTypeEnum {
    fn from(kind: Noun) -> Self {
        same!(kind, Noun => Self { Service System Domain Team User Repository InfrastructureResource })
    }
}

impl From<SearchTypeEnum> for Noun {
    fn from(kind: SearchTypeEnum) -> Self {
        same!(kind, SearchTypeEnum => Self { Service System Domain Team User Repository InfrastructureResource })
    }
}

impl From<Match> for SearchMatchEnum {
    fn from(matched: Match) -> Self {
        same!(matched, Match => Self { Exact Prefix Word Similar })
    }
}
