//! Plays a participant with the Rust client: reads commands as JSON lines, and writes an answer to
//! each (conformance/README.md).

mod commands;
mod driver;
mod events;
mod shared;

use std::io::Write as _;
use std::thread;

use serde_json::json;
use tokio::sync::mpsc;

use crate::driver::Driver;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let (sender, mut lines) = mpsc::unbounded_channel();
    // Reading blocks, so it has a thread of its own; the process does not wait for it at the end.
    thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut driver = Driver::default();
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = driver.pump() => continue,
        };
        let Some(line) = line else { return Ok(()) };
        let answer = match serde_json::from_str(&line) {
            Ok(command) => driver.run(&command).await,
            Err(error) => json!({ "error": "malformed", "text": error.to_string() }),
        };
        writeln!(std::io::stdout(), "{answer}")?;
    }
}
