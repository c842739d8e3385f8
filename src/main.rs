//! The program: reads the command line and does what it says.

use std::process::ExitCode;

use rollcall::{commands, config};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run(config::read())
}
