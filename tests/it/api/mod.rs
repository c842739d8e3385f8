//! The API as clients meet it. Always tested here: that every field, argument and mutation of the schema answers and
//! refuses as it says, whoever asks and through which door: every token, agents, existing clients.

mod advice;
mod blanks;
mod budget;
mod changes;
mod client_depth;
mod client_documents;
mod client_fields;
mod client_jobs;
mod client_rules;
mod clients;
mod coverage;
mod graphql_over_http;
mod idempotency;
mod identifiers;
mod mcp;
mod mcp_impact;
mod mcp_scopes;
mod persisted_query;
mod races;
mod refusals;
mod unknown_scope;
