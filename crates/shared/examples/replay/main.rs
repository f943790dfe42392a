//! Repeats recorded sessions of shared data, which come over standard input, and compares:
//! `node scripts/shared-sessions.mjs` plays them with the TypeScript package.

mod program;
mod sessions;

use std::io::{BufRead, stdin};
use std::process::ExitCode;

use sessions::Sessions;

fn main() -> ExitCode {
    let mut sessions = Sessions::default();
    for line in stdin().lock().lines() {
        let repeated =
            line.map_err(|error| error.to_string()).and_then(|line| sessions.repeat(&line));
        if let Err(difference) = repeated {
            eprintln!("{difference}");
            return ExitCode::FAILURE;
        }
    }
    println!("{sessions}");
    if sessions.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
