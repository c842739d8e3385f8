// Generated from the SDL by the build. Edit the SDL, never this.

use ::rollcall::engine::generated as __e;

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
    note = "write `impl ItemsQuery for Query` in src/graphql/items.rs"
)]
pub trait ItemsQuery {
    fn items(ctx: &Ctx<'_>) -> impl __e::Answer<Vec<super::types::Item>>;
}

impl Query {
    __e::query!(resolve_items, answer, ItemsQuery::items);
}

impl __e::Object for Query {
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            0 => Self::resolve_items(call),
            1 => __e::introspection::schema(call),
            2 => __e::introspection::type_by_name(call),
            _ => call.unresolved(),
        }
    }
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Item` for `{Self}`",
    note = "write `impl ItemResolver for Item` in src/graphql/item.rs"
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
    fn children(
        items: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<super::types::Child>>;
}

impl __e::Object for super::types::Item {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(ItemResolver::id(self), out),
            1 => __e::put(ItemResolver::name(self), out),
            2 => __e::put(ItemResolver::description(self), out),
            3 => __e::put(ItemResolver::language(self), out),
            4 => __e::put(ItemResolver::framework(self), out),
            5 => __e::put(ItemResolver::product(self), out),
            6 => __e::put(ItemResolver::count(self), out),
            7 => __e::put(ItemResolver::rank(self), out),
            8 => __e::put(ItemResolver::ratio(self), out),
            9 => __e::put(ItemResolver::active(self), out),
            10 => __e::put(ItemResolver::phase(self), out),
            11 => __e::put(ItemResolver::created_at(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            12 => __e::resolve!(call, answers, ItemResolver::children),
            _ => call.unresolved(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    Planned,
    Running,
    Retired,
}

impl Phase {
    /// The name of the value in the SDL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "PLANNED",
            Self::Running => "RUNNING",
            Self::Retired => "RETIRED",
        }
    }
    /// The value with this name in the SDL.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "PLANNED" => Some(Self::Planned),
            "RUNNING" => Some(Self::Running),
            "RETIRED" => Some(Self::Retired),
            _ => None,
        }
    }
}

__e::word!(Phase, "Phase");

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Child` for `{Self}`",
    note = "write `impl ChildResolver for Child` in src/graphql/child.rs"
)]
pub trait ChildResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn key(&self) -> &str;
    fn value(&self) -> &str;
}

impl __e::Object for super::types::Child {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(ChildResolver::id(self), out),
            1 => __e::put(ChildResolver::key(self), out),
            2 => __e::put(ChildResolver::value(self), out),
            _ => out.null(),
        }
    }
}

/// The executor's descriptions of the object types, by their names in the SDL.
#[allow(non_upper_case_globals)]
pub mod info {
    use super::__e;
    /// The custom scalars of arguments and input fields, with the checks of their values.
    pub static SCALARS: &[__e::ScalarCheck] = &[];
    pub static Query: __e::ObjectInfo = __e::ObjectInfo {
        name: "Query",
        fields: &[
            __e::relation("items", &[&Item]).list(10),
            __e::introspection::SCHEMA_FIELD,
            __e::introspection::TYPE_FIELD,
        ],
    };
    pub static Item: __e::ObjectInfo = __e::ObjectInfo {
        name: "Item",
        fields: &[
            __e::column("id"),
            __e::column("name"),
            __e::column("description").nullable(),
            __e::column("language").nullable(),
            __e::column("framework").nullable(),
            __e::column("product").nullable(),
            __e::column("count"),
            __e::column("rank").nullable(),
            __e::column("ratio"),
            __e::column("active"),
            __e::column("phase"),
            __e::column("createdAt"),
            __e::relation("children", &[&Child]).list(10),
        ],
    };
    pub static Child: __e::ObjectInfo = __e::ObjectInfo {
        name: "Child",
        fields: &[__e::column("id"), __e::column("key"), __e::column("value")],
    };
}
