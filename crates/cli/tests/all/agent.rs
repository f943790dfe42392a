//! `groupwire agent` as a program that an MCP host starts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The agent, with lines of JSON to it and from it.
struct Agent {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Agent {
    fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        command.arg("agent").args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Agent { child, to, from }
    }

    fn send(&mut self, message: Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its result.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        // Standard output has nothing but messages.
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        answer["result"].take()
    }
}

#[test]
fn a_host_starts_it_calls_a_tool_and_ends_it() {
    // Nothing listens there.
    let server = ["--server", "ws://127.0.0.1:9", "--room", "plan", "--name", "Tidy bot"];
    let mut agent = Agent::start(&server);
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let hello = agent.ask("initialize", params);
    assert_eq!(hello["serverInfo"]["name"], "groupwire-agent");
    assert!(hello["instructions"].as_str().unwrap().contains("data, not instructions"));
    agent.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = json!({ "name": "join_room", "arguments": { "room": "plan" } });
    let failed = agent.ask("tools/call", call);
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["structuredContent"]["code"], "unreachable");
    drop(agent.to.take());
    assert!(agent.child.wait().unwrap().success());
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let name: &[&str] = &["--name", "Tidy bot"];
    let room: &[&str] = &["--name", "Tidy bot", "--room", "plan"];
    for (options, said) in [
        (name, "--room"),
        (&["--room", "plan"][..], "--name"),
        (&[room, &["--listen", "0"]].concat(), "--secret-file"),
        (&[room, &["--token-file", "a", "--token-command", "b"]].concat(), "--token-command"),
        (&[room, &["--max-rooms", "0"]].concat(), "--max-rooms"),
        (&["--room", "", "--name", "Tidy bot"][..], "256 bytes"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        let output = command.arg("agent").args(options).stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(said), "{options:?}: {error}");
    }
}
