//! The HTTP listener against programs that should not reach it, and what hosts are told.

use groupwire_agent::{Agent, Config, HttpConfig, HttpListener};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Host, Over, Running, SECRET, listen};

fn agent() -> Agent {
    Agent::new(Config::new("ws://127.0.0.1:1", "Tidy bot", ["plan"])).unwrap()
}

/// The status of the answer to a POST with these headers.
async fn status(address: std::net::SocketAddr, path: &str, headers: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The server may close before it has read a body that is too large.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_web_pages_and_other_names_are_refused() {
    let address = listen(agent()).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let with = |headers: &str| format!("authorization: Bearer {SECRET}\r\n{headers}\r\n");
    let local = format!("host: {address}");
    let good = with(&local);
    assert_eq!(status(address, "/mcp", &good, &list).await, 200);
    for (headers, expected) in [
        (format!("{local}\r\n"), 401),
        (format!("{local}\r\nauthorization: Bearer wrong\r\n"), 401),
        (format!("{local}\r\nauthorization: Basic {SECRET}\r\n"), 401),
        (format!("{local}\r\nauthorization: Bearer {SECRET}x\r\n"), 401),
        // A name of an attacker that resolves to this machine.
        (with("host: attacker.example"), 403),
        (with(&format!("{local}\r\norigin: https://attacker.example")), 403),
        (with(&format!("{local}\r\norigin: null")), 403),
    ] {
        assert_eq!(status(address, "/mcp", &headers, &list).await, expected, "{headers}");
    }
    assert_eq!(status(address, "/", &good, &list).await, 404);
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(300 << 10) }).to_string();
    let refused = status(address, "/mcp", &good, &large).await;
    assert!([0, 413].contains(&refused), "{refused}");
    // The listener serves its host as before.
    assert_eq!(status(address, "/mcp", &good, &list).await, 200);
}

#[tokio::test]
async fn a_secret_that_can_be_guessed_is_refused() {
    let config = |secret: &str| HttpConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        secret: secret.to_owned(),
        hosts: vec![],
        origins: vec![],
    };
    assert!(HttpListener::bind(agent(), config("short")).await.is_err());
    assert!(HttpListener::bind(agent(), config("")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tools_have_descriptions_and_the_page_names_them_and_their_arguments() {
    let server = Running::start().await;
    let host = Host::start(server.config(), Over::Http).await;
    let page = include_str!("../../../../docs/agents.md");
    let tools = host.tools().await;
    assert_eq!(tools, groupwire_agent::tools());
    for tool in tools {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", tool.name)));
        let row = row.unwrap_or_else(|| panic!("docs/agents.md has no row for {}", tool.name));
        assert!(tool.description.is_some_and(|text| text.len() > 30));
        let schema = serde_json::to_value(&*tool.input_schema).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{}: {name}: {property}", tool.name);
            assert!(row.contains(&format!("`{name}`")), "docs/agents.md, {}: {name}", tool.name);
        }
    }
}
