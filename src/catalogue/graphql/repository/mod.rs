//! Repositories: where the source code of services is kept.
//!
//! Invariants: a repository cannot be deleted while a service that a service file governs is linked to it. Decisions
//! about several suggestions are made all or none.

use foldhash::{HashMap, HashMapExt};
use sea_orm::ActiveValue;
use sea_orm::sea_query::{Asterisk, ExprTrait, Func, OnConflict, Query, SelectStatement};

use super::list::sort::{Ordered, Sort};
use super::service::service_repository as links;
use super::service::{refuse_locked, refuse_where_locked};
use super::standards::check;
use crate::db::OfKeys;
use crate::engine::page::{Edge, Page};
use crate::entity::repository::Column;
use crate::entity::{
    code_issue, code_issue_project_resource, pages, repository, service, service_repository, team, tier,
};
use crate::graphql::prelude::*;

pub(super) mod repositories;
pub(super) mod suggestion;
pub mod suggestion_undo;
pub mod suggestions;

impl RepositoryResolver for Repository {
    async fn languages(repositories: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<Language>>> {
        let language = |repository::Language { name, usage }| Language { name, usage };
        Ok(repositories.iter().map(|one| one.languages().into_iter().map(language).collect()).collect())
    }

    fn organization(&self) -> Option<&str> {
        self.organization()
    }

    fn repo_key(&self) -> Option<&str> {
        Some(self.path())
    }

    fn r#type(&self) -> Option<&str> {
        self.host_type()
    }

    fn locked(&self) -> Option<bool> {
        None
    }

    async fn owner_alias(repositories: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        let owners = team::Entity::by_ids(ctx.db(), repositories.iter().map(|repository| repository.owner_id)).await?;
        Ok(owners.into_iter().map(|owner| owner.map(|owner| owner.alias)).collect())
    }

    fn created_on(&self) -> Option<Timestamp> {
        Some(self.created_at)
    }

    async fn sbom_generation_configuration(
        repositories: &[&Self],
        _: &Ctx<'_>,
    ) -> Result<Vec<Option<SBOMGenerationConfiguration>>> {
        let of = |repository: &&Self| {
            let state = RepositorySBOMGenerationConfigEnum::from_word(repository.sbom_state.as_deref()?)?;
            let disabled_reason = Some(RepositorySBOMGenerationDisabledReasonEnum::Account);
            Some(SBOMGenerationConfiguration { disabled_reason, enabled: false, next_generation_at: None, state })
        };
        Ok(repositories.iter().map(of).collect())
    }

    async fn html_url(repositories: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        // By id: an alias may contain slashes and colons.
        let app_url = &ctx.settings().app_url;
        Ok(repositories
            .iter()
            .map(|repository| pages::url(app_url, ["repositories", &repository.id.to_string()]))
            .collect())
    }

    async fn code_issues(
        repositories: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueConnectionType>> {
        let issues = List::<code_issue::Entity>::new(code_issue::Column::Id).related(
            (code_issue::Column::CodeIssueProjectId, code_issue_project_resource::Column::CodeIssueProjectId),
            code_issue_project_resource::Column::RepositoryId,
            repositories.iter().map(|repository| repository.id),
        );
        issues.pages(ctx, &args.request()?).await
    }

    relations! { |repositories: Self, args, ctx|
        tier() -> Option<Tier> = most_critical(repositories, ctx).await;
        services(PageArguments) -> RepositoryServiceConnectionType = links::services(repositories, args, ctx).await;
        checks() -> RepositoryChecks = check::of_repositories(repositories, ctx).await;
    }
}

/// Finds the most critical tier among each repository's services. Takes one statement for the links, and one for the
/// tiers.
async fn most_critical(repositories: &[&Repository], ctx: &Ctx<'_>) -> Result<Vec<Option<Tier>>> {
    use service_repository::Column as Link;
    let build = |condition: Expr| {
        let index = || Expr::col(tier::Column::Index.as_column_ref());
        Query::select()
            .distinct()
            .expr(Expr::col(tier::Column::Id.as_column_ref()))
            .expr(index())
            .from(service_repository::Entity)
            .inner_join(service::Entity, service::Column::Id.into_expr().eq(Link::ServiceId.into_expr()))
            .inner_join(tier::Entity, tier::Column::Id.into_expr().eq(service::Column::TierId.into_expr()))
            .and_where(condition)
            .take()
    };
    let keys = repositories.iter().map(|repository| repository.id).collect();
    let key = Expr::col(Link::RepositoryId.as_column_ref());
    let selected = key.clone();
    let query = OfKeys { shape: None, build: &build, values: Vec::new(), key, selected, keys, is_limited: false };
    let found: Vec<(i64, (i32, i64))> = ctx.db().rows_of(query, |row| Ok((row.get(1)?, row.get(0)?))).await?;
    let mut best = HashMap::<i64, (i32, i64)>::with_capacity(repositories.len());
    for (repository, place) in found {
        best.entry(repository).and_modify(|best| *best = (*best).min(place)).or_insert(place);
    }
    let keys = repositories.iter().map(|repository| best.get(&repository.id).map(|(_, tier)| *tier));
    Ok(tier::Entity::by_ids(ctx.db(), keys).await?)
}

/// The condition that the most critical tier among a repository's services has this alias.
fn is_of_tier(alias: &str) -> Expr {
    let services = || {
        let id = Expr::col(Column::Id.as_column_ref());
        Query::select()
            .expr(Expr::value(1))
            .from(service_repository::Entity)
            .inner_join(
                service::Entity,
                service::Column::Id.into_expr().eq(service_repository::Column::ServiceId.into_expr()),
            )
            .inner_join(tier::Entity, tier::Column::Id.into_expr().eq(service::Column::TierId.into_expr()))
            .and_where(service_repository::Column::RepositoryId.into_expr().eq(id))
            .take()
    };
    let is_it = tier::Column::Alias.eq(alias);
    let index = Query::select().column(tier::Column::Index).from(tier::Entity).and_where(is_it).take();
    let of_it = services().and_where(tier::Column::Alias.eq(alias)).take();
    let above = services().and_where(tier::Column::Index.into_expr().lt(db::scalar(index))).take();
    Expr::exists(of_it).and(Expr::exists(above).not())
}

/// Converts a sort order of the SDL.
fn order(sort: RepositorySortEnum) -> Sort {
    use RepositorySortEnum as By;
    let order = match sort {
        By::NameAsc | By::NameDesc => Sort::by_text(Column::Name),
        By::AliasAsc | By::AliasDesc => Sort::by_text(Column::DefaultAlias),
        By::OwnerAsc | By::OwnerDesc => Sort::by_text_of(Column::OwnerId, team::Column::Id, team::Column::Name),
    };
    order.in_list(Ordered::Repositories, sort as u8, matches!(sort, By::NameDesc | By::AliasDesc | By::OwnerDesc))
}

/// The repositories that meet every condition that is given, a page at a time.
pub(super) async fn page(args: &AccountRepositoriesArgs, ctx: &Ctx<'_>) -> Result<RepositoryConnectionType> {
    let AccountRepositoriesArgs { sort_by, first, after, tier_alias, visible } = args;
    let request = PageRequest::new(first, after)?;
    let mut conditions = Vec::new();
    if let Some(alias) = tier_alias.value() {
        conditions.push(is_of_tier(alias));
    }
    if let Some(visible) = visible.value() {
        conditions.push(Column::Visible.eq(*visible));
    }
    let list = List::<repository::Entity>::new(Column::Id);
    let list = conditions.iter().cloned().fold(list, List::filter);
    let page = list.page_in(sort_by.value().copied().map(order), ctx, &request).await?;
    let counts = if Counts::are_selected(ctx) {
        let mut rows = Query::select();
        rows.from(repository::Entity);
        for condition in conditions {
            rows.and_where(condition);
        }
        Counts::add_to(&mut rows);
        ctx.db().scan(&rows, |row| Counts::read(row, 0)).await?.pop()
    } else {
        None
    };
    Ok(RepositoryConnectionType { page, counts: counts.unwrap_or_default() })
}

/// A page of each service's repositories.
pub(super) async fn of_services(
    ids: Vec<i64>,
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<RepositoryConnectionType>> {
    use service_repository::Column as Link;
    let list = List::<repository::Entity>::new(Column::Id)
        .linked("service_repository", ["service_id", "repository_id"], ids.clone())
        .first_of([Link::ServiceId, Link::RepositoryId]);
    let pages = list.pages(ctx, &args.request()?).await?;
    let mut counts = HashMap::new();
    if Counts::are_selected(ctx) {
        let service = Expr::col(Link::ServiceId.as_column_ref());
        let build = |condition: Expr| {
            let mut pairs = Query::select();
            pairs
                .distinct()
                .expr_as(service.clone(), "service_id")
                .expr_as(Link::RepositoryId.into_expr(), "linked_id");
            pairs.from(service_repository::Entity).and_where(condition);
            let mut rows = Query::select();
            rows.from_subquery(pairs, "pairs");
            rows.inner_join(repository::Entity, Column::Id.into_expr().eq(Expr::col(("pairs", "linked_id"))));
            Counts::add_to(&mut rows);
            rows.add_group_by([Expr::col(("pairs", "service_id"))]).take()
        };
        let query = OfKeys {
            shape: None,
            build: &build,
            values: Vec::new(),
            key: service.clone(),
            selected: Expr::col(("pairs", "service_id")),
            keys: ids.clone(),
            is_limited: false,
        };
        counts.extend(ctx.db().rows_of(query, |row| Counts::read(row, 0)).await?);
    }
    let pages = ids.iter().zip(pages);
    Ok(pages
        .map(|(id, page)| RepositoryConnectionType { page, counts: counts.remove(id).unwrap_or_default() })
        .collect())
}

/// A page of repositories, and counts over the whole list.
#[derive(Debug, Clone, PartialEq)]
pub struct RepositoryConnectionType {
    page: Page<Repository>,
    counts: Counts,
}

/// Counts over a whole list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    all: i32,
    visible: i32,
    owned: i32,
    organizations: i32,
}

impl Counts {
    fn are_selected(ctx: &Ctx<'_>) -> bool {
        ["hiddenCount", "organizationCount", "ownedCount", "visibleCount"].iter().any(|field| ctx.selects(field))
    }

    /// Adds the counts to a statement.
    fn add_to(rows: &mut SelectStatement) {
        rows.expr(Func::count(Expr::col(Asterisk)));
        rows.expr(Func::count(Expr::case(Column::Visible.eq(true), Expr::value(1))));
        rows.expr(Func::count(Column::OwnerId.into_expr()));
        // The organization is the name up to its last slash: `rtrim`, given all letters of the name but the slash,
        // removes the last part.
        let name = || Column::Name.into_expr();
        let letters = Func::cust("replace").args([name(), "/".into(), "".into()]);
        let start = Func::cust("rtrim").args([name(), letters.into()]);
        let organization = Func::cust("rtrim").args([Expr::from(start), "/".into()]);
        let organization = Func::cust("nullif").args([Expr::from(organization), "".into()]);
        rows.expr(Func::count_distinct(organization));
    }

    fn read(row: &db::Row<'_>, start: usize) -> Result<Self, db::Error> {
        let count = |place| Ok::<_, db::Error>(i32::try_from(row.get::<i64>(start + place)?).unwrap_or(i32::MAX));
        Ok(Self { all: count(0)?, visible: count(1)?, owned: count(2)?, organizations: count(3)? })
    }
}

impl RepositoryConnectionTypeResolver for RepositoryConnectionType {
    async fn nodes(connections: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Repository>>> {
        connections
            .iter()
            .map(|one| one.page.edges.iter().map(|edge| clone_charged(&edge.node, ctx)).collect())
            .collect()
    }

    async fn edges(connections: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<RepositoryEdge>>> {
        let edge = |edge: &Edge<Repository>| {
            Ok(RepositoryEdge { node: clone_charged(&edge.node, ctx)?, cursor: edge.cursor.to_string() })
        };
        connections.iter().map(|one| one.page.edges.iter().map(edge).collect()).collect()
    }

    async fn page_info(connections: &[&Self], _: &Ctx<'_>) -> Result<Vec<PageInfo>> {
        Ok(connections.iter().map(|one| one.page.info.clone()).collect())
    }

    fn total_count(&self) -> i32 {
        self.page.total_count.unwrap_or_default()
    }

    async fn hidden_count(connections: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<i32>>> {
        Ok(connections.iter().map(|one| Some(one.counts.all - one.counts.visible)).collect())
    }

    async fn organization_count(connections: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<i32>>> {
        Ok(connections.iter().map(|one| Some(one.counts.organizations)).collect())
    }

    async fn owned_count(connections: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<i32>>> {
        Ok(connections.iter().map(|one| Some(one.counts.owned)).collect())
    }

    async fn visible_count(connections: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<i32>>> {
        Ok(connections.iter().map(|one| Some(one.counts.visible)).collect())
    }
}

/// Derives the alias of a new repository from its URL, or else from its name.
fn follows_from(row: &repository::ActiveModel) -> Option<String> {
    let url = row.url.try_as_ref().and_then(Option::as_deref);
    url.and_then(repository::alias_of).or_else(|| row.name.try_as_ref().cloned())
}

/// Sets the languages, most used first.
fn set_languages(draft: &mut Draft<repository::Entity>, given: &MaybeUndefined<Vec<LanguageInput>>) -> Result<()> {
    let stored = match given {
        MaybeUndefined::Undefined => return Ok(()),
        MaybeUndefined::Null => None,
        MaybeUndefined::Value(given) => draft.problems.take_any(checked(given))?,
    };
    draft.row.languages = Set(stored.filter(|text| text != "[]"));
    Ok(())
}

fn checked(given: &[LanguageInput]) -> Result<String> {
    const MOST: usize = text::FEW;
    if given.len() > MOST {
        return Err(UserError::new("languages", format!("a repository has at most {MOST} languages")).into());
    }
    let mut problems = Problems::default();
    let mut languages: Vec<repository::Language> = Vec::with_capacity(given.len());
    for (place, LanguageInput { name, usage }) in given.iter().enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within("languages");
        let name = problems.take(text::required("name", name, text::SHORT).map_err(within));
        if !(0.0..=1.0).contains(usage) {
            problems.push(within(UserError::new("usage", "usage must be from 0 to 1")));
        }
        if let Some(name) = name {
            if languages.iter().any(|known| known.name == name) {
                problems.push(within(UserError::new("name", "this language is listed twice")));
            }
            languages.push(repository::Language { name, usage: *usage });
        }
    }
    problems.none()?;
    languages.sort_by(|one, other| other.usage.total_cmp(&one.usage));
    serde_json::to_string(&languages).map_err(Error::internal)
}

impl RepositoryCreateMutation for Mutation {
    async fn repository_create(ctx: &MutationCtx<'_>, input: RepositoryCreateInput) -> Result<RepositoryCreatePayload> {
        let RepositoryCreateInput { name, default_alias, private, visible, forked, languages, owner_id, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<repository::Entity>::new();
        draft.set_required(Column::Name, &name);
        draft.set_texts(&texts);
        let default_alias = default_alias.take().or_else(|| follows_from(&draft.row));
        if let Some(alias) = &default_alias {
            draft.set_required(Column::DefaultAlias, alias);
        }
        draft.set(Column::Private, &MaybeUndefined::Value(private.take().unwrap_or(false)));
        draft.set(Column::Visible, &MaybeUndefined::Value(visible.take().unwrap_or(true)));
        draft.set(Column::Forked, &forked);
        draft.refer(db, Column::OwnerId, &owner_id).await?;
        set_languages(&mut draft, &languages)?;

        let now = Timestamp::now();
        let mut row = repository::ActiveModel { created_at: Set(now), updated_at: Set(now), ..draft.done()? };
        if matches!(row.owner_id, ActiveValue::Set(Some(_))) {
            row.last_owner_changed_at = Set(Some(now));
        }
        let unless_taken = OnConflict::column(repository::Column::DefaultAlias).do_nothing().to_owned();
        let made = db.returning(repository::Entity::insert(row).on_conflict(unless_taken));
        let repository = made.await?.into_iter().next().ok_or_else(|| {
            let alias = default_alias.unwrap_or_default();
            UserError::new("defaultAlias", format!("another repository has the alias {}", quoted(&alias)))
        })?;
        Ok(RepositoryCreatePayload { repository: Some(repository), ..Default::default() })
    }
}

impl RepositoryUpdateMutation for Mutation {
    async fn repository_update(
        ctx: &MutationCtx<'_>,
        input: RepositoryUpdateInput,
        sync_linked_services: MaybeUndefined<bool>,
    ) -> Result<RepositoryUpdatePayload> {
        let RepositoryUpdateInput {
            id,
            alias,
            name,
            private,
            visible,
            archived_at,
            forked,
            languages,
            owner_id,
            sbom_generation,
            texts,
        } = input;
        let db = ctx.db();
        let repository = identifier::require::<Repository>(db, Identifier::new(&id, &alias)?).await?;
        let owner = repository.owner_id;

        let mut draft = Draft::<repository::Entity>::from_row(repository);
        draft.set(Column::Name, &name);
        draft.set_texts(&texts);
        draft.set(Column::Private, &private);
        draft.set(Column::Visible, &visible);
        draft.set(Column::ArchivedAt, &archived_at);
        draft.set(Column::Forked, &forked);
        draft.refer(db, Column::OwnerId, &owner_id).await?;
        set_languages(&mut draft, &languages)?;
        if !sbom_generation.is_undefined() {
            draft.row.sbom_state = Set(sbom_generation.value().map(|state| state.as_str().to_owned()));
        }

        let repository = repositories::store(db, owner, draft.done()?).await?;
        if sync_linked_services == MaybeUndefined::Value(true) {
            let owner = repository.owner_id;
            let services = repositories::Sync::default().lock(db, repository.id, owner).await?;
            repositories::give(db, &services, owner).await?;
        }
        Ok(RepositoryUpdatePayload { repository: Some(repository), ..Default::default() })
    }
}

impl RepositoryDeleteMutation for Mutation {
    async fn repository_delete(ctx: &MutationCtx<'_>, input: RepositoryDeleteInput) -> Result<RepositoryDeletePayload> {
        let RepositoryDeleteInput { id, alias } = input;
        let db = ctx.db();
        let named = Identifier::new(&id, &alias)?;
        let repository = identifier::require::<Repository>(&db.locking(LockType::Update), named).await?;
        let deleted_repository_id = Some(RepositoryResolver::id(&repository));
        let deleted_repository_alias = Some(repository.default_alias.clone());
        let linked = Query::select()
            .column(service_repository::Column::ServiceId)
            .from(service_repository::Entity)
            .and_where(service_repository::Column::RepositoryId.eq(repository.id))
            .take();
        refuse_locked(db, service::Column::Id.in_subquery(linked.clone())).await?;
        ctx.shed_first::<repository::Entity>(repository.id).await?;
        refuse_where_locked(db, service::Column::Id.in_subquery(linked)).await?;
        db.delete(repository).await?;
        Ok(RepositoryDeletePayload { deleted_repository_id, deleted_repository_alias, ..Default::default() })
    }
}
