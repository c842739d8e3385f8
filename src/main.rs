//! The program: reads the command line, does what it says, and tells how that went.

use std::process::ExitCode;

use rollcall::{commands, config};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = config::read();
    let done = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the program cannot start: {error}"))
        .and_then(|runtime| runtime.block_on(commands::run(command)));
    done.unwrap_or_else(|refusal| {
        eprintln!("rollcall: {refusal}");
        ExitCode::FAILURE
    })
}
