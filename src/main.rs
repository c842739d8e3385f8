//! The program: parses the command line and runs the command.

use std::process::ExitCode;

use rollcall::{commands, config};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run(config::read())
}
