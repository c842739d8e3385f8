//! Service files. Always tested here: what a file creates, changes and locks, in each form that is read, that a dry
//! run says the same, and that each mistake is told with its place.

mod backstage;
mod config_file;
mod graph;
mod properties;
mod races;
mod server;
mod service_file;
mod wild;
mod wrong_documents;
