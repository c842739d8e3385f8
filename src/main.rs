//! The program: parses the command line and runs the command.

use std::process::ExitCode;

use rollcall::{cli, config};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run(config::read())
}
