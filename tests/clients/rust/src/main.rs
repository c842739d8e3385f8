//! Creates and reads a service through types that graphql_client has generated from the server's schema.

// For the generated code.
#![allow(unused_imports, non_camel_case_types)]

use std::env;
use std::error::Error;

use graphql_client::{GraphQLQuery, Response};

include!(concat!(env!("OUT_DIR"), "/operations.rs"));

/// The Rust types of the schema's scalars.
type ISO8601DateTime = String;
type JsonString = String;

const ALIAS: &str = "rust_client";

fn run<Q: GraphQLQuery>(variables: Q::Variables) -> Result<Q::ResponseData, Box<dyn Error>> {
    let mut response = ureq::post(env::var("ROLLCALL_URL")?)
        .header("Authorization", format!("Bearer {}", env::var("ROLLCALL_TOKEN")?))
        .header("Accept", "application/graphql-response+json")
        .send_json(Q::build_query(variables))?;
    let response: Response<Q::ResponseData> = response.body_mut().read_json()?;
    assert_eq!(response.errors, None);
    response.data.ok_or_else(|| "there is no data".into())
}

fn send_create(name: &str) -> Result<create::ResponseData, Box<dyn Error>> {
    let service = create::ServiceCreateInput {
        name: name.to_owned(),
        description: None,
        language: Some("Rust".to_owned()),
        framework: None,
        product: None,
        note: None,
        api_document_url: None,
        tier_alias: Some("tier_1".to_owned()),
        lifecycle_alias: None,
        owner_input: None,
        owner_alias: None,
        skip_aliases_validation: None,
        parent: None,
        type_: None,
        tools: None,
        contacts: None,
        dependencies: None,
        repositories: None,
        properties: None,
    };
    let tags = vec![create::TagInput { key: "made".to_owned(), value: "by a client".to_owned() }];
    run::<Create>(create::Variables { service, tags, alias: ALIAS.to_owned() })
}

fn main() -> Result<(), Box<dyn Error>> {
    let created = send_create("Rust client")?;
    let payload = created.service_create.ok_or("no payload")?;
    assert!(payload.errors.is_empty(), "{:?}", payload.errors);
    assert_eq!(payload.service.ok_or("no service")?.name, "Rust client");
    assert!(created.tag_assign.ok_or("no payload")?.errors.is_empty());

    let found = run::<Read>(read::Variables { alias: ALIAS.to_owned() })?;
    let service = found.account.service.ok_or("no service")?;
    assert_eq!((&*service.name, service.tier.map(|tier| tier.alias).as_deref()), ("Rust client", Some("tier_1")));
    assert!(service.owner.is_none() && service.timestamps.created_at.ends_with('Z'));
    let tags: Vec<_> = service.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)).collect();
    assert_eq!((tags, service.tags.total_count), (vec![("made", "by a client")], 1));

    let refused = send_create("")?.service_create.ok_or("no payload")?;
    assert_eq!(refused.errors.iter().map(|error| &error.path).collect::<Vec<_>>(), [&["name"]]);
    println!("rust: a mutation and a query through generated types");
    Ok(())
}
