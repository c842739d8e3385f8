// Generated from the SDL by the build. Edit the SDL, never this.

use ::engine::generated as __e;

/// The context of a resolver: the state of its request.
pub type Ctx<'a> = __e::Context<'a, super::types::State>;

/// The context of a mutation: the state of its request, and its transaction.
pub type MutationCtx<'a> = __e::Context<
    'a,
    <super::types::State as __e::State>::Writing,
>;

/// The bench's schema: rows of twelve columns, each with children of three.
#[derive(Debug, Clone, Copy)]
pub struct Query;

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.items`",
    note = "write `impl ItemsQuery for Query` in src/catalogue/graphql/items.rs"
)]
pub trait ItemsQuery {
    fn items(ctx: &Ctx<'_>) -> impl __e::Answer<Vec<super::types::Item>>;
}

impl Query {
    __e::query!(resolve_items, answer, ItemsQuery::items);
}
__e::root!(
    Query { 0 : Query::resolve_items, 1 : __e::introspection::schema, 2 :
    __e::introspection::type_by_name }
);

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Item` for `{Self}`",
    note = "write `impl ItemResolver for Item` in src/catalogue/graphql/item.rs"
)]
pub trait ItemResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn description(&self) -> Option<&str>;
    fn language(&self) -> Option<&str>;
    fn framework(&self) -> Option<&str>;
    fn product(&self) -> Option<&str>;
    fn count(&self) -> i32;
    fn rank(&self) -> Option<i32>;
    fn ratio(&self) -> f64;
    fn active(&self) -> bool;
    fn phase(&self) -> Phase;
    fn created_at(&self) -> &str;
    fn children(items: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<super::types::Child>>;
}
__e::bound!(
    super::types::Item, columns { 0 : ItemResolver::id, 1 : ItemResolver::name, 2 :
    ItemResolver::description, 3 : ItemResolver::language, 4 : ItemResolver::framework, 5
    : ItemResolver::product, 6 : ItemResolver::count, 7 : ItemResolver::rank, 8 :
    ItemResolver::ratio, 9 : ItemResolver::active, 10 : ItemResolver::phase, 11 :
    ItemResolver::created_at }, relations { 12 : answers(ItemResolver::children) }
);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    Planned,
    Running,
    Retired,
}
__e::words!(
    Phase, "Phase", { Planned : "PLANNED", Running : "RUNNING", Retired : "RETIRED" }
);

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Child` for `{Self}`",
    note = "write `impl ChildResolver for Child` in src/catalogue/graphql/child.rs"
)]
pub trait ChildResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn key(&self) -> &str;
    fn value(&self) -> &str;
}
__e::bound!(
    super::types::Child, columns { 0 : ChildResolver::id, 1 : ChildResolver::key, 2 :
    ChildResolver::value }
);

/// The executor's descriptions of the object types, by their names in the SDL.
#[allow(non_upper_case_globals)]
pub mod info {
    use super::__e;
    /// The custom scalars of arguments and input fields, with the checks of their values.
    pub static SCALARS: &[__e::ScalarCheck] = &[];
    __e::table!(
        Query, "Query", [relation("items", & [& Item]).list(10)],
        __e::introspection::SCHEMA_FIELD, __e::introspection::TYPE_FIELD
    );
    __e::table!(
        Item, "Item", [column("id"), column("name"), column("description").nullable(),
        column("language").nullable(), column("framework").nullable(), column("product")
        .nullable(), column("count"), column("rank").nullable(), column("ratio"),
        column("active"), column("phase"), column("createdAt"), relation("children", & [&
        Child]).list(10)]
    );
    __e::table!(Child, "Child", [column("id"), column("key"), column("value")]);
}
