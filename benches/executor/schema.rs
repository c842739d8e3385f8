// Generated from the SDL by the build. Edit the SDL, never this.

/// The context of a resolver: the state of its request.
pub type Ctx<'a> = ::rollcall::engine::Context<'a, super::types::State>;

/// The context of a mutation: the state of its request, and its transaction.
pub type MutationCtx<'a> = ::rollcall::engine::Context<
    'a,
    <super::types::State as ::rollcall::engine::State>::Writing,
>;

/// The bench's schema: rows of twelve columns, each with children of three.
#[derive(Debug, Clone, Copy)]
pub struct Query;

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.items`",
    note = "write `impl ItemsQuery for Query` in src/graphql/items.rs"
)]
pub trait ItemsQuery {
    fn items(ctx: &Ctx<'_>) -> impl ::rollcall::engine::Answer<Vec<super::types::Item>>;
}

impl Query {
    fn resolve_items<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = <Query as ItemsQuery>::items(&execution.context(field)).await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
}

impl ::rollcall::engine::Node for Query {}

impl ::rollcall::engine::Object<super::types::State> for Query {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Query;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        let _ = field;
        out.null();
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        let _ = rows;
        match field.index() {
            0u16 => Self::resolve_items(field, execution),
            1u16 => Box::pin(::rollcall::engine::introspection::schema(field, execution)),
            2u16 => {
                Box::pin(
                    ::rollcall::engine::introspection::type_by_name(field, execution),
                )
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<Vec<super::types::Child>>;
}

impl ::rollcall::engine::Node for super::types::Item {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Item {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Item;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&ItemResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(&ItemResolver::name(self), out)
            }
            2u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ItemResolver::description(self),
                    out,
                )
            }
            3u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ItemResolver::language(self),
                    out,
                )
            }
            4u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ItemResolver::framework(self),
                    out,
                )
            }
            5u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ItemResolver::product(self),
                    out,
                )
            }
            6u16 => {
                ::rollcall::engine::write::Scalar::write(&ItemResolver::count(self), out)
            }
            7u16 => {
                ::rollcall::engine::write::Scalar::write(&ItemResolver::rank(self), out)
            }
            8u16 => {
                ::rollcall::engine::write::Scalar::write(&ItemResolver::ratio(self), out)
            }
            9u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ItemResolver::active(self),
                    out,
                )
            }
            10u16 => {
                ::rollcall::engine::write::Scalar::write(&ItemResolver::phase(self), out)
            }
            11u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ItemResolver::created_at(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            12u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as ItemResolver>::children(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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

impl ::rollcall::engine::write::Scalar for Phase {
    fn write(&self, out: &mut ::rollcall::engine::write::Writer<'_>) {
        out.string(self.as_str());
    }
}

impl ::rollcall::engine::input::Input for Phase {
    fn read(
        value: &::rollcall::engine::input::Value,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        match ::rollcall::engine::input::word(value).and_then(Self::from_word) {
            Some(known) => Ok(known),
            None => ::rollcall::engine::input::no_such_word("Phase", value),
        }
    }
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Child` for `{Self}`",
    note = "write `impl ChildResolver for Child` in src/graphql/child.rs"
)]
pub trait ChildResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn key(&self) -> &str;
    fn value(&self) -> &str;
}

impl ::rollcall::engine::Node for super::types::Child {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Child {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Child;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&ChildResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(&ChildResolver::key(self), out)
            }
            2u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ChildResolver::value(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        let _ = rows;
        execution.unresolved(field)
    }
}

/// The executor's descriptions of the object types, by their names in the SDL.
#[allow(non_upper_case_globals)]
pub mod info {
    /// The custom scalars of arguments and input fields, with the checks of their values.
    pub static SCALARS: &[::rollcall::engine::input::ScalarCheck] = &[];
    /// `Query`.
    pub static Query: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Query",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "items",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Item],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::introspection::SCHEMA_FIELD,
            ::rollcall::engine::introspection::TYPE_FIELD,
        ],
    };
    /// `Item`.
    pub static Item: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Item",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "name",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "description",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "language",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "framework",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "product",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "count",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "rank",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "ratio",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "active",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "phase",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "createdAt",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "children",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Child],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Child`.
    pub static Child: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Child",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "key",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "value",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
}
