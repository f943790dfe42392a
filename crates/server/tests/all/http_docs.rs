//! The commands of docs/http.md run against a real server, in their order, and answer what the page
//! says.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::server_with;
use crate::support::users::config;

const PAGE: &str = include_str!("../../../../docs/http.md");

/// The blocks of this language, and each block after them.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("\n```");
    let mut blocks = Vec::new();
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        blocks.push(block.split_once('\n').unwrap());
    }
    blocks
}

/// True if an answer is as the page says. `"..."` stands for any value.
fn is_alike(said: &Value, answered: &Value) -> bool {
    match (said, answered) {
        (Value::String(any), _) if any == "..." => true,
        (Value::Array(said), Value::Array(answered)) => {
            said.len() == answered.len()
                && said.iter().zip(answered).all(|(said, answered)| is_alike(said, answered))
        }
        (Value::Object(said), Value::Object(answered)) => {
            let alike = |(name, said): (&String, _)| {
                answered.get(name).is_some_and(|it| is_alike(said, it))
            };
            said.len() == answered.len() && said.iter().all(alike)
        }
        _ => said == answered,
    }
}

#[tokio::test]
async fn the_commands_of_the_page_do_what_it_says() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: 1 test, because there is no curl");
        return;
    }
    let mut config = config();
    // A busy machine may take long between two commands.
    config.room.timing.away = Duration::from_secs(60);
    let server = server_with(config).await;
    let folder = tempfile::tempdir().unwrap();
    let (mut ran, mut compared) = (0, 0);
    let mut answered = String::new();
    for (language, text) in blocks(PAGE) {
        match language {
            "sh" => {
                let mut command = Command::new("bash");
                // A busy machine needs longer to connect.
                let text = text.replace("--max-time 2 ", "--max-time 8 ");
                command.args(["-euc", &text]).current_dir(folder.path());
                command.env("SERVER", format!("http://{server}")).env("TOKEN", "ann");
                let output = tokio::task::spawn_blocking(move || command.output());
                let output = output.await.unwrap().unwrap();
                answered = String::from_utf8(output.stdout).unwrap();
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{text}\n{answered}\n{errors}");
                ran += 1;
            }
            "json" => {
                let said: Value = serde_json::from_str(text).unwrap();
                let value: Value = serde_json::from_str(&answered).unwrap();
                assert!(is_alike(&said, &value), "the page says {said}, the server {value}");
                compared += 1;
            }
            other => panic!("what is a block in {other:?}?"),
        }
    }
    assert_eq!((ran, compared), (7, 7));
}
