//! `/mcp`: the Model Context Protocol (revision 2025-11-25 and the earlier ones that its SDK knows) over streamable HTTP,
//! for agents.
//!
//! Invariants: there are no sessions; every request carries its token. A tool does what its caller may do through the
//! API, and nothing else: each one runs GraphQL documents as the holder of the token, with the same scopes, limits and
//! budgets. A result has at most [`LONGEST`] bytes.
//!
//! [`tools`] is the table of the tools, [`named`] finds what they are asked about, [`questions`] has the documents that
//! commands ask too, [`ask`] runs documents, and [`schema`] searches the SDL.

mod arguments;
mod ask;
pub mod delivery;
mod deploys;
pub mod impact;
mod named;
mod owners;
mod prompts;
pub mod questions;
mod schema;
mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

pub use self::ask::{Asker, Ran};

/// The longest result of a tool, in bytes. A longer one is refused, with the advice to ask for less.
pub const LONGEST: usize = 64 << 10;

/// The longest request, in bytes.
pub const LONGEST_REQUEST: usize = 256 << 10;

const INSTRUCTIONS: &str = "A service catalogue: who owns a service, how critical it is, who is on call, what was \
     deployed and by whom, what is wrong with it, and which standards it meets. Begin with find. For anything that no \
     other tool answers, look for fields with search_schema and run a document with query.";

/// Why a result is refused for its length.
fn too_long(bytes: usize, most: usize) -> String {
    format!("the result has {bytes} bytes, and at most {most} are given: ask for fewer rows or fields")
}

/// What answers the requests of one caller.
#[derive(Clone)]
pub struct Agent {
    asker: Arc<Asker>,
}

impl Agent {
    /// Answers by the documents that `asker` runs.
    pub fn new(asker: Arc<Asker>) -> Self {
        Self { asker }
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rollcall", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list(self.asker.writes())))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = call.arguments.unwrap_or_default();
        let Some(answering) = tools::call(&self.asker, &call.name, &arguments) else {
            return Err(ErrorData::invalid_params(tools::unknown(&call.name, self.asker.writes()), None));
        };
        let text = |text: String| vec![ContentBlock::text(text)];
        Ok(match answering.await {
            Ok(answer) if answer.len() <= LONGEST => CallToolResult::success(text(answer)),
            Ok(answer) => CallToolResult::error(text(too_long(answer.len(), LONGEST))),
            Err(why) => CallToolResult::error(text(why)),
        }
        .into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::get(&asked.name, &asked.arguments.unwrap_or_default());
        Ok(prompt.map_err(|why| ErrorData::invalid_params(why, None))?.into())
    }
}
