//! Introspection matches the SDL in every respect.
//!
//! Here the SDL is parsed by graphql-parser, which the server does not use at run time, so that two independent parsers
//! are compared.

use graphql_parser::schema as sdl;
use serde_json::{Value, json};

use crate::harness::app::TestApp;

type Argument = sdl::InputValue<'static, String>;

const QUERY: &str = "
query {
  __schema {
    description
    queryType { name } mutationType { name } subscriptionType { name }
    types { ...Full }
    directives { name description isRepeatable locations args(includeDeprecated: true) { ...Input } }
  }
}
fragment Full on __Type {
  kind name description specifiedByURL isOneOf
  fields(includeDeprecated: true) {
    name description isDeprecated deprecationReason
    args(includeDeprecated: true) { ...Input }
    type { ...Ref }
  }
  inputFields(includeDeprecated: true) { ...Input }
  interfaces { name }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { name }
}
fragment Input on __InputValue { name description defaultValue isDeprecated deprecationReason type { ...Ref } }
fragment Ref on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
";

/// The SDL without the description of `schema`, which graphql-parser refuses, and that description.
fn parse() -> (sdl::Document<'static, String>, String) {
    let text = rollcall::graphql::SDL;
    let at = text.find("\nschema").map_or(0, |at| at + 1);
    let (before, rest) = text.split_at(at);
    let quotes: Vec<_> = before.match_indices("\"\"\"").map(|(at, _)| at).collect();
    let [.., open, close] = quotes[..] else { panic!("the schema is described") };
    let description = before[open + 3..close].trim().to_owned();
    let without = format!("{}{}{rest}", &before[..open], &before[close + 3..]);
    let document = sdl::parse_schema::<String>(&without).expect("the SDL parses").into_static();
    (document, description)
}

fn type_ref(ty: &sdl::Type<'static, String>) -> String {
    ty.to_string()
}

/// A type reference from introspection, in SDL syntax.
fn spelled(ty: &Value) -> String {
    match ty["kind"].as_str() {
        Some("NON_NULL") => format!("{}!", spelled(&ty["ofType"])),
        Some("LIST") => format!("[{}]", spelled(&ty["ofType"])),
        _ => ty["name"].as_str().unwrap_or_default().to_owned(),
    }
}

fn deprecation(directives: &[sdl::Directive<'static, String>]) -> Option<String> {
    let deprecated = directives.iter().find(|directive| directive.name == "deprecated")?;
    let reason = deprecated.arguments.iter().find(|(name, _)| name == "reason");
    Some(match reason {
        Some((_, sdl::Value::String(reason))) => reason.clone(),
        _ => "No longer supported".to_owned(),
    })
}

fn input(value: &Argument) -> Value {
    let reason = deprecation(&value.directives);
    json!({
        "name": value.name,
        "description": value.description,
        "defaultValue": value.default_value.as_ref().map(ToString::to_string),
        "isDeprecated": reason.is_some(),
        "deprecationReason": reason,
        "type": type_ref(&value.value_type),
    })
}

fn field(field: &sdl::Field<'static, String>) -> Value {
    let reason = deprecation(&field.directives);
    json!({
        "name": field.name,
        "description": field.description,
        "isDeprecated": reason.is_some(),
        "deprecationReason": reason,
        "args": field.arguments.iter().map(input).collect::<Vec<_>>(),
        "type": type_ref(&field.field_type),
    })
}

/// A type of the SDL in the format of [`told`].
fn written(ty: &sdl::TypeDefinition<'static, String>, all: &[sdl::TypeDefinition<'static, String>]) -> Value {
    let implementors = |interface: &str| {
        let implements = |ty: &&sdl::TypeDefinition<'static, String>| matches!(ty, sdl::TypeDefinition::Object(object) if object.implements_interfaces.iter().any(|name| name == interface));
        all.iter().filter(implements).map(|ty| name_of(ty).to_owned()).collect::<Vec<_>>()
    };
    let none = Value::Null;
    let (kind, description, fields, inputs, interfaces, values, possible, url) = match ty {
        sdl::TypeDefinition::Scalar(ty) => {
            let url = ty.directives.iter().find(|directive| directive.name == "specifiedBy");
            let url = url.and_then(|directive| match &directive.arguments[0].1 {
                sdl::Value::String(url) => Some(json!(url)),
                _ => None,
            });
            ("SCALAR", &ty.description, none.clone(), none.clone(), none.clone(), none.clone(), none.clone(), url)
        }
        sdl::TypeDefinition::Object(ty) => {
            let fields = json!(ty.fields.iter().map(field).collect::<Vec<_>>());
            let interfaces = json!(ty.implements_interfaces);
            ("OBJECT", &ty.description, fields, none.clone(), interfaces, none.clone(), none.clone(), None)
        }
        sdl::TypeDefinition::Interface(ty) => {
            let fields = json!(ty.fields.iter().map(field).collect::<Vec<_>>());
            let interfaces = json!(ty.implements_interfaces);
            let possible = json!(implementors(&ty.name));
            ("INTERFACE", &ty.description, fields, none.clone(), interfaces, none.clone(), possible, None)
        }
        sdl::TypeDefinition::Union(ty) => {
            ("UNION", &ty.description, none.clone(), none.clone(), none.clone(), none.clone(), json!(ty.types), None)
        }
        sdl::TypeDefinition::Enum(ty) => {
            let value = |value: &sdl::EnumValue<'static, String>| {
                let reason = deprecation(&value.directives);
                json!({
                    "name": value.name, "description": value.description,
                    "isDeprecated": reason.is_some(), "deprecationReason": reason,
                })
            };
            let values = json!(ty.values.iter().map(value).collect::<Vec<_>>());
            ("ENUM", &ty.description, none.clone(), none.clone(), none.clone(), values, none.clone(), None)
        }
        sdl::TypeDefinition::InputObject(ty) => {
            let inputs = json!(ty.fields.iter().map(input).collect::<Vec<_>>());
            ("INPUT_OBJECT", &ty.description, none.clone(), inputs, none.clone(), none.clone(), none.clone(), None)
        }
    };
    json!({
        "kind": kind, "name": name_of(ty), "description": description, "specifiedByURL": url, "fields": fields,
        "inputFields": inputs, "interfaces": interfaces, "enumValues": values, "possibleTypes": possible,
    })
}

fn name_of<'a>(ty: &'a sdl::TypeDefinition<'static, String>) -> &'a str {
    match ty {
        sdl::TypeDefinition::Scalar(ty) => &ty.name,
        sdl::TypeDefinition::Object(ty) => &ty.name,
        sdl::TypeDefinition::Interface(ty) => &ty.name,
        sdl::TypeDefinition::Union(ty) => &ty.name,
        sdl::TypeDefinition::Enum(ty) => &ty.name,
        sdl::TypeDefinition::InputObject(ty) => &ty.name,
    }
}

/// A type from introspection, with its references in SDL syntax.
fn told(ty: &Value) -> Value {
    let mut ty = ty.clone();
    let spell = |values: &mut Value| {
        for value in values.as_array_mut().into_iter().flatten() {
            value["type"] = json!(spelled(&value["type"]));
        }
    };
    spell(&mut ty["fields"]);
    spell(&mut ty["inputFields"]);
    for field in ty["fields"].as_array_mut().into_iter().flatten() {
        spell(&mut field["args"]);
    }
    for list in ["interfaces", "possibleTypes"] {
        if let Some(types) = ty[list].as_array() {
            ty[list] = types.iter().map(|ty| ty["name"].clone()).collect();
        }
    }
    ty.as_object_mut().expect("a type is an object").remove("isOneOf");
    ty
}

#[tokio::test]
async fn introspection_matches_the_sdl() {
    let app = TestApp::start().await;
    let answer = app.query(QUERY, json!({})).await;
    let schema = &answer["data"]["__schema"];
    let (document, description) = parse();
    let (mut types, mut directives) = (Vec::new(), Vec::new());
    for definition in document.definitions {
        match definition {
            sdl::Definition::TypeDefinition(ty) => types.push(ty),
            sdl::Definition::DirectiveDefinition(directive) => directives.push(directive.name),
            sdl::Definition::SchemaDefinition(roots) => {
                assert_eq!(schema["queryType"]["name"], json!(roots.query));
                assert_eq!(schema["mutationType"]["name"], json!(roots.mutation));
                assert_eq!(schema["subscriptionType"], Value::Null);
            }
            sdl::Definition::TypeExtension(_) => panic!("this test does not know extensions"),
        }
    }
    assert_eq!(schema["description"], json!(description));

    let built_in = ["Boolean", "Float", "ID", "Int", "String"];
    let own = |ty: &&Value| {
        let name = ty["name"].as_str().unwrap_or_default();
        !name.starts_with("__") && !built_in.contains(&name)
    };
    let listed: Vec<_> = schema["types"].as_array().expect("types").iter().filter(own).collect();
    let names: Vec<_> = listed.iter().map(|ty| ty["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, types.iter().map(name_of).collect::<Vec<_>>(), "the types, in the SDL's order");
    for (said, ty) in listed.into_iter().zip(&types) {
        assert_eq!(told(said), written(ty, &types), "{}", name_of(ty));
    }

    let listed = schema["directives"].as_array().expect("directives");
    let names: Vec<_> = listed.iter().map(|directive| directive["name"].as_str().unwrap_or_default()).collect();
    directives.extend(["include", "skip", "deprecated", "specifiedBy", "oneOf"].map(str::to_owned));
    assert_eq!(names, directives);
}

#[tokio::test]
async fn the_sdl_is_served_byte_for_byte_at_both_addresses() {
    let app = TestApp::start().await;
    for path in ["/public/schema.graphql", "/public/schemas/schema.graphql"] {
        let response = app.get(path).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.body, rollcall::graphql::SDL.as_bytes());
        let tag = response.header("etag").expect("an ETag").to_owned();
        let again = app.get_with(path, &[("if-none-match", &tag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
}
