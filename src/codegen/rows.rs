//! The rows that represent SDL types: the columns of an entity, read from its source.
//!
//! A field of a bound type needs no hand-written method if a column determines it: a scalar of the same name and type,
//! `id`, or another row whose id is in the column `NAME_id`. The method is then a default method of the resolver trait,
//! and can be overridden. Where lists leave groups of columns out (`GROUPS`), it is not in that trait, see
//! [`parts`](super::parts).
//!
//! The optional texts that people write into columns, from the entity's `FIELDS`, are one field of the inputs that have
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, Field, Fields, GenericArgument, Ident, ImplItem, Item, ItemImpl, ItemMacro, ItemStruct,
    Lit, LitStr, PathArguments, Token, Type,
};

use super::declarations::WORDS;
use super::names::snake_case;

/// The row of a table, as its entity declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The entity's file.
    pub file: String,
    /// The table's name.
    pub table: String,
    columns: BTreeMap<String, Column>,
    /// The input fields whose texts are stored in a column that may be null, by `FIELDS`.
    texts: BTreeSet<String>,
    /// The columns that are left out together, by `GROUPS`. The place of a group is its bit.
    groups: Vec<Group>,
}

/// The maximum number of groups of columns in a table.
const MOST_GROUPS: usize = 4;

/// Columns that a list leaves out together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    columns: Vec<String>,
}

/// A column of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The last segment of its type, without `Option`.
    pub ty: String,
    /// Whether it is an `Option`.
    pub nullable: bool,
}

impl Row {
    /// Reads the struct `Model` of an entity, or the `table!` that declares it.
    ///
    /// # Errors
    /// The text is not Rust, or a group of columns cannot be left out.
    pub fn read(file: &str, source: &str) -> Result<Self, syn::Error> {
        Self::of(file, syn::parse_file(source)?.items)
    }

    /// Like [`read`](Self::read), from what the file has.
    pub(super) fn of(file: &str, items: Vec<Item>) -> Result<Self, syn::Error> {
        let (mut table, mut columns, mut texts) = (String::new(), BTreeMap::new(), BTreeSet::new());
        let mut groups = Vec::new();
        for item in items {
            if let Item::Impl(item) = &item {
                texts.extend(optional_texts(item));
                groups.extend(column_groups(item)?);
            }
            let (name, fields) = match item {
                Item::Struct(ItemStruct { ident, attrs, fields: Fields::Named(fields), .. }) if ident == "Model" => {
                    (attrs.iter().find_map(table_name), fields.named)
                }
                Item::Macro(item) if calls(&item, "rules") => {
                    let rules = item.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
                    texts.extend(rules.iter().filter_map(optional_text));
                    continue;
                }
                Item::Macro(item) if calls(&item, "table") => {
                    columns.insert("id".to_owned(), Column { ty: "i64".to_owned(), nullable: false });
                    item.mac.parse_body_with(declared_table)?
                }
                _ => continue,
            };
            table = name.unwrap_or_default();
            let named = fields.iter().filter_map(|field| Some((field.ident.as_ref()?, &field.ty)));
            columns.extend(named.filter_map(|(name, ty)| Some((name.to_string(), column(ty)?))));
        }
        let groups = checked(groups, &columns)?;
        Ok(Self { file: file.to_owned(), table, columns, texts, groups })
    }

    /// The groups of columns that lists leave out. The place of a group is its bit.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The place of the group that has a column. `None` for a column that every list reads.
    pub fn group_of(&self, column: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.columns.iter().any(|own| own == column))
    }

    /// All columns, with their names.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().map(|(name, column)| (name.as_str(), column))
    }

    /// The column of a field.
    pub fn column(&self, field: &str) -> Option<&Column> {
        self.columns.get(&snake_case(field))
    }

    /// Whether an input field of this name is an optional text that is stored in a column.
    pub fn is_text(&self, field: &str) -> bool {
        self.texts.contains(field)
    }

    /// Whether there is a column of this name that holds ids.
    pub fn has_key(&self, column: &str) -> bool {
        self.columns.get(column).is_some_and(|column| column.ty == "i64")
    }

    /// The names of the columns that hold ids.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|(_, column)| column.ty == "i64").map(|(name, _)| name.as_str())
    }

    /// The column that holds the id of the row that a field returns.
    pub fn key(&self, field: &str) -> Option<(String, &Column)> {
        let name = format!("{}_id", snake_case(field));
        let column = self.columns.get(&name).filter(|column| column.ty == "i64")?;
        Some((name, column))
    }
}

impl Column {
    /// The type in Rust syntax, without its path.
    pub fn text(&self) -> String {
        if self.nullable { format!("Option<{}>", self.ty) } else { self.ty.clone() }
    }
}

/// The name of the table in `#[sea_orm(table_name = "…")]`.
fn table_name(attribute: &Attribute) -> Option<String> {
    let mut table = None;
    if attribute.path().is_ident("sea_orm") {
        // Errors in the rest of the attribute are sea-orm's to report.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("table_name") {
                table = Some(meta.value()?.parse::<LitStr>()?.value());
            }
            Ok(())
        });
    }
    table
}

/// Whether an item calls the macro of this name.
pub(super) fn calls(item: &ItemMacro, name: &str) -> bool {
    item.mac.path.segments.last().is_some_and(|last| last.ident == name)
}

/// The name and the columns in `table! { "name", …; columns }`.
fn declared_table(input: ParseStream<'_>) -> syn::Result<(Option<String>, Punctuated<Field, Token![,]>)> {
    let name: LitStr = input.parse()?;
    while !input.peek(Token![;]) {
        input.parse::<TokenTree>()?;
    }
    input.parse::<Token![;]>()?;
    Ok((Some(name.value()), Punctuated::parse_terminated_with(input, Field::parse_named)?))
}

/// The value of a constant.
fn constant<'a>(item: &'a ItemImpl, name: &str) -> Option<&'a Expr> {
    item.items.iter().find_map(|item| match item {
        ImplItem::Const(item) if item.ident == name => Some(&item.expr),
        _ => None,
    })
}

/// A group in `const GROUPS` of `impl Table for Entity`, as it is written.
type Written = (Ident, Punctuated<Ident, Token![,]>);

/// The groups in `column_groups! { name: Column, Column; … }`.
fn column_groups(item: &ItemImpl) -> Result<Vec<Written>, syn::Error> {
    let Some(Expr::Macro(list)) = constant(item, "GROUPS") else { return Ok(Vec::new()) };
    list.mac.parse_body_with(|input: ParseStream<'_>| {
        let mut groups = Vec::new();
        while !input.is_empty() {
            let name = input.parse()?;
            input.parse::<Token![:]>()?;
            groups.push((name, Punctuated::parse_separated_nonempty(input)?));
            input.parse::<Token![;]>()?;
        }
        Ok(groups)
    })
}

/// Checks that the columns of groups may be null, as they seem to be where they are left out, and are in one group each.
fn checked(written: Vec<Written>, columns: &BTreeMap<String, Column>) -> Result<Vec<Group>, syn::Error> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, (name, variants)) in written.into_iter().enumerate() {
        let is_taken = WORDS.iter().any(|word| name == word) || groups.iter().any(|group| name == group.name);
        if is_taken || place == MOST_GROUPS {
            let message =
                format!("GROUPS: `{name}` needs a name of its own, and a table has at most {MOST_GROUPS} groups");
            return Err(syn::Error::new(name.span(), message));
        }
        let mut group = Group { name: name.to_string(), columns: Vec::new() };
        for variant in variants {
            let column = snake_case(&variant.to_string());
            let is_in_one = groups.iter().chain(once(&group)).any(|group| group.columns.contains(&column));
            let mistake = match columns.get(&column) {
                None => "has no such column",
                Some(Column { nullable: false, .. }) => "has it, but it is never null, so it cannot be left out",
                Some(_) if is_in_one => "has it in two groups",
                Some(_) => {
                    group.columns.push(column);
                    continue;
                }
            };
            return Err(syn::Error::new(variant.span(), format!("GROUPS names {variant}: the row {mistake}")));
        }
        groups.push(group);
    }
    Ok(groups)
}

/// The names of the optional texts in `const FIELDS` of `impl FieldRules for Entity`. `rules![…]` has the same list.
fn optional_texts(item: &ItemImpl) -> Vec<String> {
    let Some(Expr::Reference(list)) = constant(item, "FIELDS") else { return Vec::new() };
    let Expr::Array(list) = &*list.expr else { return Vec::new() };
    list.elems.iter().filter_map(optional_text).collect()
}

/// The name in `FieldRule::text("name", …)`, unless `.required()` or `.by_hand()` follows.
fn optional_text(mut rule: &Expr) -> Option<String> {
    while let Expr::MethodCall(call) = rule {
        if call.method == "required" || call.method == "by_hand" {
            return None;
        }
        rule = &call.receiver;
    }
    let Expr::Call(call) = rule else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    match call.args.first()? {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if function.path.segments.last()?.ident == "text" => {
            Some(name.value())
        }
        _ => None,
    }
}

fn column(ty: &Type) -> Option<Column> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Some(Column { ty: last.ident.to_string(), nullable: false });
    };
    match arguments.args.first()? {
        GenericArgument::Type(inner) if last.ident == "Option" => Some(Column { nullable: true, ..column(inner)? }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_texts_are_read_from_the_list_of_fields() {
        let source = r#"impl FieldRules for Entity {
            const FIELDS: &'static [FieldRule<Column>] = &[
                FieldRule::text("name", Column::Name, text::SHORT).required(),
                FieldRule::text("url", Column::ExternalUrl, text::URL).checked(check_url).not_in_files(),
                FieldRule::new("tierAlias", Column::TierId, ValueRule::Named(Reference::Tier)),
                FieldRule::text("path", Column::Path, text::SHORT).by_hand(),
                FieldRule::text("notes", Column::Notes, text::DESCRIPTION),
            ];
        }"#;
        let row = Row::read("src/catalogue/entity/x.rs", source).expect("Rust");
        assert_eq!(row.texts.iter().collect::<Vec<_>>(), ["notes", "url"]);
    }

    #[test]
    fn groups_hold_columns_that_may_be_null_each_in_one() {
        let read = |groups: &str| {
            let model = "pub struct Model { pub id: i64, pub note: Option<String>, pub owner_id: Option<i64> }";
            let groups = format!("impl Table for Entity {{ const GROUPS: X = column_groups! {{ {groups} }}; }}");
            Row::read("src/catalogue/entity/x.rs", &format!("{model} {groups}")).map_err(|error| error.to_string())
        };
        let row = read("texts: Note; keys: OwnerId;").expect("groups");
        let names: Vec<_> = row.groups().iter().map(|group| &*group.name).collect();
        assert_eq!(names, ["texts", "keys"]);
        assert_eq!(["id", "note", "owner_id"].map(|column| row.group_of(column)), [None, Some(0), Some(1)]);
        for (groups, mistake) in [
            ("a: Id;", "GROUPS names Id: the row has it, but it is never null, so it cannot be left out"),
            ("a: Notes;", "GROUPS names Notes: the row has no such column"),
            ("a: Note, Note;", "GROUPS names Note: the row has it in two groups"),
            ("a: Note; b: OwnerId, Note;", "GROUPS names Note: the row has it in two groups"),
            ("key: Note;", "GROUPS: `key` needs a name of its own, and a table has at most 4 groups"),
            ("core: Note;", "GROUPS: `core` needs a name of its own, and a table has at most 4 groups"),
            ("a: Note; a: OwnerId;", "GROUPS: `a` needs a name of its own, and a table has at most 4 groups"),
            ("a: Note", "expected `;`"),
        ] {
            let said = read(groups).expect_err(groups);
            assert!(said.contains(mistake), "{groups}: {said}");
        }
    }

    #[test]
    fn columns_are_read_from_the_entity() {
        let source = "pub struct Other { pub x: i32 } #[derive(Clone)] #[sea_orm(table_name = \"xs\")] pub struct Model { pub id: i64, pub name: String, pub at: Option<super::Timestamp>, pub owner_id: Option<i64>, pub all: Vec<u8> }";
        let row = Row::read("src/catalogue/entity/x.rs", source).expect("Rust");
        let text = |field| row.column(field).map(Column::text);
        assert_eq!(text("id").as_deref(), Some("i64"));
        assert_eq!(text("name").as_deref(), Some("String"));
        assert_eq!(text("at").as_deref(), Some("Option<Timestamp>"));
        assert_eq!((text("x"), text("all")), (None, None));
        assert_eq!(row.key("owner").map(|(name, _)| name).as_deref(), Some("owner_id"));
        assert_eq!(row.key("name"), None);
        assert_eq!(row.table, "xs");
        assert_eq!(row.keys().collect::<Vec<_>>(), ["id", "owner_id"]);
    }

    #[test]
    fn columns_are_read_from_the_declaration_of_a_table() {
        let source = "super::table! { \"xs\", Alone(\"X\"), |row| { of(row); Owner::Nobody };
            /// Its name.
            pub name: String,
            pub owner_id: Option<i64>, }
            super::rules![FieldRule::text(\"name\", Column::Name, 9).required(), FieldRule::text(\"note\", Column::Note, 9)];";
        let row = Row::read("src/catalogue/entity/x.rs", source).expect("Rust");
        let text = |field| row.column(field).map(Column::text);
        assert_eq!((row.table.as_str(), text("id").as_deref()), ("xs", Some("i64")));
        assert_eq!((text("name").as_deref(), text("ownerId").as_deref()), (Some("String"), Some("Option<i64>")));
        assert_eq!(row.texts.iter().collect::<Vec<_>>(), ["note"]);
        let nameless =
            Row::read("src/catalogue/entity/x.rs", "table! { pub id: i64, }").expect_err("a table without a name");
        assert!(nameless.to_string().contains("expected string literal"), "{nameless}");
    }
}
