//! The model of the SDL for the emitters: validated, with extensions merged into their types, in the order of the file.
//! It has no positions and no syntax. It answers questions about the whole schema: the kind of a type, the possible
//! objects of a type, whether a type is a connection. `lower` builds it.

mod value;

use std::{collections::HashMap, fmt};

pub use value::Value;

/// A whole schema.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The description of the `schema` definition.
    pub description: Option<String>,
    /// The name of the query root.
    pub query: String,
    /// The name of the mutation root.
    pub mutation: Option<String>,
    /// Every type that the SDL defines, without the built-in scalars.
    pub types: Vec<Type>,
    /// The index in `types` of each name.
    index: HashMap<String, usize>,
}

/// One type of the SDL.
#[derive(Debug, Clone)]
pub enum Type {
    /// `scalar`
    Scalar(Scalar),
    /// `type`
    Object(Object),
    /// `interface`
    Interface(Interface),
    /// `union`
    Union(Union),
    /// `enum`
    Enum(Enum),
    /// `input`
    Input(Input),
}

/// A custom scalar.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// Its name.
    pub name: String,
    /// The URL of `@specifiedBy`.
    pub specified_by: Option<String>,
}

/// An object type.
#[derive(Debug, Clone)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The interfaces it implements.
    pub implements: Vec<String>,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// An interface.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The interfaces it implements itself.
    pub implements: Vec<String>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// The object types that implement it, in the SDL's order.
    pub possible: Vec<String>,
}

/// A union.
#[derive(Debug, Clone)]
pub struct Union {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its object types.
    pub members: Vec<String>,
}

/// An enum.
#[derive(Debug, Clone)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its values.
    pub values: Vec<EnumValue>,
}

/// A value of an enum.
#[derive(Debug, Clone)]
pub struct EnumValue {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The reason of `@deprecated`.
    pub deprecated: Option<String>,
}

/// An input object.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its fields.
    pub fields: Vec<InputValue>,
    /// Whether exactly one field must be given (`@oneOf`).
    pub one_of: bool,
}

/// A field of an object or an interface.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its arguments.
    pub args: Vec<InputValue>,
    /// Its type.
    pub ty: TypeRef,
    /// The reason of `@deprecated`.
    pub deprecated: Option<String>,
    /// The directives applied to it, in order.
    pub directives: Vec<Directive>,
}

/// An applied directive, such as `@deprecated(reason: "…")`.
#[derive(Debug, Clone)]
pub struct Directive {
    /// Its name, without the `@`.
    pub name: String,
    /// The given arguments and their values.
    pub arguments: Vec<(String, Value)>,
}

/// An argument, or a field of an input object.
#[derive(Debug, Clone)]
pub struct InputValue {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its type.
    pub ty: TypeRef,
    /// Its default as written. [`Schema::default_of`] coerces it to the type.
    pub default: Option<Value>,
    /// The reason of `@deprecated`.
    pub deprecated: Option<String>,
}

/// A reference to a type. Displays in SDL syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeRef {
    /// A name or a list.
    pub shape: TypeShape,
    /// Whether null is allowed, that is, there is no `!`.
    pub nullable: bool,
}

/// The target of a [`TypeRef`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeShape {
    /// A type by its name.
    Named(String),
    /// A list.
    List(Box<TypeRef>),
}

/// The kind of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    /// A scalar, built in or custom.
    Scalar,
    /// An object type.
    Object,
    /// An interface.
    Interface,
    /// A union.
    Union,
    /// An enum.
    Enum,
    /// An input object.
    Input,
}

impl Schema {
    /// Creates a schema of these types, without roots and description.
    pub fn new(mut types: Vec<Type>) -> Self {
        let mut possible: HashMap<String, Vec<String>> = HashMap::new();
        for ty in &types {
            let Type::Object(object) = ty else { continue };
            for interface in &object.implements {
                possible.entry(interface.clone()).or_default().push(object.name.clone());
            }
        }
        for ty in &mut types {
            let Type::Interface(interface) = ty else { continue };
            interface.possible = possible.remove(&interface.name).unwrap_or_default();
        }
        let index = types.iter().enumerate().map(|(at, ty)| (ty.name().to_owned(), at)).collect();
        Self { types, index, ..Self::default() }
    }

    /// The type of this name, unless it is a built-in scalar.
    pub fn get(&self, name: &str) -> Option<&Type> {
        self.index.get(name).map(|&at| &self.types[at])
    }

    /// The kind of the type with this name. In a checked schema an undefined name is a built-in scalar.
    pub fn kind(&self, name: &str) -> TypeKind {
        self.get(name).map_or(TypeKind::Scalar, Type::kind)
    }

    /// Whether this name is a scalar or an enum.
    pub fn is_leaf(&self, name: &str) -> bool {
        matches!(self.kind(name), TypeKind::Scalar | TypeKind::Enum)
    }

    /// The object type of this name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.get(name)? {
            Type::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The input object of this name.
    pub fn input(&self, name: &str) -> Option<&Input> {
        match self.get(name)? {
            Type::Input(input) => Some(input),
            _ => None,
        }
    }

    /// Every object type, in the SDL's order.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.types.iter().filter_map(|ty| match ty {
            Type::Object(object) => Some(object),
            _ => None,
        })
    }

    /// Whether this name is the query or mutation root.
    pub fn is_root(&self, name: &str) -> bool {
        self.query == name || self.mutation.as_deref() == Some(name)
    }

    /// The object types that a value of this type can have: a union's in the union's order, an interface's in the SDL's
    /// order, an object type itself. Empty for the rest.
    pub fn possible(&self, name: &str) -> Vec<&Object> {
        match self.get(name) {
            Some(Type::Object(object)) => vec![object],
            Some(Type::Interface(interface)) => {
                interface.possible.iter().filter_map(|name| self.object(name)).collect()
            }
            Some(Type::Union(union)) => union.members.iter().filter_map(|name| self.object(name)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the object is one page of a list: it has `nodes`, `edges`, `pageInfo` and `totalCount`, and all its other
    /// fields are leaves, such as further counts.
    pub fn is_paged(&self, object: &Object) -> bool {
        let names_a_connection = |field: &Field| match field.name.as_str() {
            "nodes" | "edges" => matches!(field.ty.shape, TypeShape::List(_)) && field.args.is_empty(),
            "pageInfo" => field.args.is_empty(),
            _ => field.args.is_empty() && self.is_leaf(field.ty.name()),
        };
        let required = ["nodes", "edges", "pageInfo", "totalCount"];
        object.fields.iter().all(names_a_connection) && required.iter().all(|name| object.field(name).is_some())
    }

    /// Whether the page has no other counts than those of its list.
    fn counts_its_list_alone(object: &Object) -> bool {
        let known = ["nodes", "edges", "pageInfo", "totalCount", "filteredCount"];
        object.fields.iter().all(|field| known.contains(&field.name.as_str()))
    }

    /// The node type, if the object is a connection: it [is paged](Self::is_paged), counts only its list, and its edges
    /// have only a node and a cursor.
    pub fn connection<'a>(&self, object: &'a Object) -> Option<&'a str> {
        let node = object.field("nodes")?.ty.name();
        let edge = self.object(object.field("edges")?.ty.name())?;
        (self.is_paged(object) && Self::counts_its_list_alone(object) && self.edge(edge) == Some(node)).then_some(node)
    }

    /// The node type, if the object is an edge: its fields are exactly `node` and `cursor`.
    pub fn edge<'a>(&self, object: &'a Object) -> Option<&'a str> {
        let node = object.field("node")?;
        let cursor = object.field("cursor")?;
        let plain = |field: &Field| field.args.is_empty() && matches!(field.ty.shape, TypeShape::Named(_));
        (object.fields.len() == 2 && plain(node) && plain(cursor)).then_some(node.ty.name())
    }

    /// Whether a value of this input object can contain another one through `field` without a list in between, so that
    /// the field must be boxed.
    pub fn holds_itself(&self, input: &Input, field: &InputValue) -> bool {
        let mut seen = Vec::new();
        let mut next = vec![&field.ty];
        while let Some(ty) = next.pop() {
            let TypeShape::Named(name) = &ty.shape else { continue };
            if *name == input.name {
                return true;
            }
            if let Some(inner) = self.input(name)
                && !seen.contains(&name)
            {
                seen.push(name);
                next.extend(inner.fields.iter().map(|field| &field.ty));
            }
        }
        false
    }
}

impl Type {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Scalar(Scalar { name, .. })
            | Self::Object(Object { name, .. })
            | Self::Interface(Interface { name, .. })
            | Self::Union(Union { name, .. })
            | Self::Enum(Enum { name, .. })
            | Self::Input(Input { name, .. }) => name,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> TypeKind {
        match self {
            Self::Scalar(_) => TypeKind::Scalar,
            Self::Object(_) => TypeKind::Object,
            Self::Interface(_) => TypeKind::Interface,
            Self::Union(_) => TypeKind::Union,
            Self::Enum(_) => TypeKind::Enum,
            Self::Input(_) => TypeKind::Input,
        }
    }
}

impl Object {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// Whether its arguments are exactly those of a connection.
    pub fn is_page(&self) -> bool {
        let is = |at: usize, name: &str, ty: &str| {
            let argument: &InputValue = &self.args[at];
            argument.name == name && argument.ty.to_string() == ty && argument.default.is_none()
        };
        self.args.len() == 2 && is(0, "first", "Int") && is(1, "after", "String")
    }

    /// The value of an argument of a directive applied to this field.
    pub fn directive(&self, directive: &str, argument: &str) -> Option<&Value> {
        let directive = self.directives.iter().find(|it| it.name == directive)?;
        directive.arguments.iter().find(|(name, _)| name == argument).map(|(_, value)| value)
    }
}

impl TypeRef {
    /// The innermost type name.
    pub fn name(&self) -> &str {
        match &self.shape {
            TypeShape::Named(name) => name,
            TypeShape::List(item) => item.name(),
        }
    }
}

impl fmt::Display for TypeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            TypeShape::Named(name) => f.write_str(name)?,
            TypeShape::List(item) => write!(f, "[{item}]")?,
        }
        f.write_str(if self.nullable { "" } else { "!" })
    }
}

#[cfg(test)]
mod tests {
    use super::super::lower::lower_trusted;
    use super::*;

    #[test]
    fn an_input_that_can_contain_itself_is_recognised() {
        let schema =
            lower_trusted("input In { key: ID, inner: Inner, itself: In, many: [In] } input Inner { in: In! }");
        let input = schema.input("In").expect("In");
        let held: Vec<_> = input.fields.iter().map(|field| schema.holds_itself(input, field)).collect();
        assert_eq!(held, [false, true, true, false]);
    }

    #[test]
    fn connections_and_edges_are_recognised_by_their_fields() {
        let schema = lower_trusted(
            "type All { nodes: [Item!]! edges: [ItemEdge!]! pageInfo: PageInfo! totalCount: Int! }
            type Some { nodes: [Item!]! edges: [ItemEdge!]! pageInfo: PageInfo! totalCount: Int! weight: Int }
            type ItemEdge { cursor: String! node: Item! }
            type Item { node: Item }",
        );
        let connections: Vec<_> = schema.objects().map(|object| schema.connection(object)).collect();
        assert_eq!(connections, [Some("Item"), None, None, None]);
        let edges: Vec<_> = schema.objects().map(|object| schema.edge(object)).collect();
        assert_eq!(edges, [None, None, Some("Item"), None]);
    }

    #[test]
    fn abstract_types_know_their_objects() {
        let schema = lower_trusted(
            "union U = B | A
            type A { x: Int } type B implements I { x: Int } type C { x: Int } extend type A implements I
            interface I { x: Int }",
        );
        let possible = |name| schema.possible(name).into_iter().map(|object| object.name.as_str()).collect::<Vec<_>>();
        assert_eq!(possible("U"), ["B", "A"]);
        assert_eq!(possible("I"), ["A", "B"]);
        assert_eq!(possible("C"), ["C"]);
        assert!(possible("Int").is_empty());
        assert_eq!(schema.kind("Int"), TypeKind::Scalar);
    }
}
