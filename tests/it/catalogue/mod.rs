//! What is in a catalogue. Always tested here, for each noun: that it is created, read back with all its fields,
//! changed and deleted, and which rules its fields and its links to other nouns have.

mod account;
mod alias;
mod code_issue;
mod code_issue_project;
mod contact;
mod document;
mod infrastructure_resource;
mod on_call;
mod property;
mod real_catalogue;
mod relationship;
mod repository;
mod service;
mod service_dependency;
mod system;
mod tag;
mod team;
mod tier;
mod tool;
