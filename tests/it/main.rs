//! Tests through the front door, all in one binary: a folder for each part of what rollcall does. `harness` has what they
//! share.

mod harness;

mod accounts;
mod api;
mod catalogue;
mod commands;
mod deploys;
mod events;
mod files;
mod lists;
mod operations;
mod pages;
mod project;
mod standards;
mod storage;
