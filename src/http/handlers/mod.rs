//! One file for each thing that the service answers.

pub mod app;
pub mod deploy;
pub mod graphql;
pub mod health;
pub mod sdl;
