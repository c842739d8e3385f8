//! Reads the server's schema, and generates types for the documents of operations.graphql.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use graphql_client_codegen::{CodegenMode, GraphQLClientCodegenOptions, generate_module_token_stream};

fn main() -> Result<(), Box<dyn Error>> {
    for input in ["ROLLCALL_URL", "ROLLCALL_TOKEN"] {
        println!("cargo::rerun-if-env-changed={input}");
    }
    for input in ["introspection.graphql", "operations.graphql"] {
        println!("cargo::rerun-if-changed={input}");
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let query = serde_json::json!({ "query": fs::read_to_string("introspection.graphql")? });
    let mut response = ureq::post(env::var("ROLLCALL_URL")?)
        .header("Authorization", format!("Bearer {}", env::var("ROLLCALL_TOKEN")?))
        .send_json(query)?;
    let schema = out.join("schema.json");
    fs::write(&schema, response.body_mut().read_to_string()?)?;

    let mut options = GraphQLClientCodegenOptions::new(CodegenMode::Cli);
    options.set_response_derives("Debug".to_owned());
    let code = generate_module_token_stream(Path::new("operations.graphql").to_owned(), &schema, options)
        .map_err(|error| error.to_string())?;
    fs::write(out.join("operations.rs"), code.to_string())?;
    Ok(())
}
