//! Request handlers: one file for each resource of the service.

pub mod app;
pub mod deploy;
pub mod document;
pub mod graphql;
pub mod health;
pub mod sdl;
