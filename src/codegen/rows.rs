//! The rows that represent SDL types: the columns of an entity, read from its source.
//!
//! A field of a bound type needs no hand-written method if a column determines it: a scalar of the same name and type,
//! `id`, or another row whose id is in the column `NAME_id`. The method is then a default method of the resolver trait,
//! and can be overridden.
//!
//! The optional texts that people write into columns, from the entity's `FIELDS`, are one field of the inputs that have
//! them.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Attribute, Expr, ExprLit, Fields, GenericArgument, ImplItem, Item, ItemImpl, Lit, LitStr, PathArguments, Type,
};

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
    /// Reads the struct `Model` of an entity.
    ///
    /// # Errors
    /// The text is not Rust.
    pub fn read(file: &str, source: &str) -> Result<Self, syn::Error> {
        let (mut table, mut columns, mut texts) = (String::new(), BTreeMap::new(), BTreeSet::new());
        for item in syn::parse_file(source)?.items {
            if let Item::Impl(item) = &item {
                texts.extend(optional_texts(item));
            }
            let Item::Struct(item) = item else { continue };
            let Fields::Named(fields) = item.fields else { continue };
            if item.ident == "Model" {
                table = item.attrs.iter().find_map(table_name).unwrap_or_default();
                let named = fields.named.iter().filter_map(|field| Some((field.ident.as_ref()?, &field.ty)));
                columns.extend(named.filter_map(|(name, ty)| Some((name.to_string(), column(ty)?))));
            }
        }
        Ok(Self { file: file.to_owned(), table, columns, texts })
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

/// The names of the optional texts in `const FIELDS` of `impl FieldRules for Entity`.
fn optional_texts(item: &ItemImpl) -> Vec<String> {
    let fields = item.items.iter().find_map(|item| match item {
        ImplItem::Const(item) if item.ident == "FIELDS" => Some(&item.expr),
        _ => None,
    });
    let Some(Expr::Reference(list)) = fields else { return Vec::new() };
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
        let row = Row::read("src/entity/x.rs", source).expect("Rust");
        assert_eq!(row.texts.iter().collect::<Vec<_>>(), ["notes", "url"]);
    }

    #[test]
    fn columns_are_read_from_the_entity() {
        let source = "pub struct Other { pub x: i32 } #[derive(Clone)] #[sea_orm(table_name = \"xs\")] pub struct Model { pub id: i64, pub name: String, pub at: Option<super::Timestamp>, pub owner_id: Option<i64>, pub all: Vec<u8> }";
        let row = Row::read("src/entity/x.rs", source).expect("Rust");
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
}
