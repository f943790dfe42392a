//! Users of plain HTTP and a server that is killed: what was confirmed is there once, a repeated
//! request is applied once, and a stream goes on behind its last event (docs/http.md).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::Value;

use super::server::Server;

/// Sends a request and reads the answer to its end; `None` if the connection breaks before.
fn ask(server: &str, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(server).ok()?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Length: {}\r\n\
         {headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    // A body that is cut off is no answer.
    let length = head.to_ascii_lowercase();
    let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let is_whole = length.is_none_or(|length| length.parse() == Ok(body.len()));
    is_whole.then(|| (status, body.to_owned()))
}

fn publish(server: &str, key: &str, text: &str) -> Option<(u16, Value)> {
    let path = "/v1/rooms/board/channels/lines/messages?create=transactions";
    let headers = format!("Idempotency-Key: {key}\r\nContent-Type: text/plain\r\n");
    let (status, body) = ask(server, "POST", path, &headers, text)?;
    Some((status, serde_json::from_str(&body).ok()?))
}

fn address(server: &Server) -> String {
    server.url().trim_start_matches("ws://").to_owned()
}

fn texts(server: &str) -> Vec<String> {
    let path = "/v1/rooms/board/channels/lines/messages?after=0&limit=1000";
    let (status, body) = ask(server, "GET", path, "", "").unwrap();
    assert_eq!(status, 200, "{body}");
    let all: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(all["gap"], Value::Null);
    let all = all["messages"].as_array().unwrap();
    all.iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_http_users_publish_is_there_once_whenever_the_server_is_killed() {
    const ROUNDS: u64 = 12;
    let mut server = Server::start("http-users");
    let at = address(&server);
    let (mut answered, mut expected) = (0, Vec::new());
    for round in 0..ROUNDS {
        let (key, text) = (format!("key-{round}"), format!("text {round}"));
        let asking = {
            let (at, key, text) = (at.clone(), key.clone(), text.clone());
            spawn(move || publish(&at, &key, &text))
        };
        // In the first round the server is killed after its answer, in the others at about the
        // moment of the commit.
        let first = if round == 0 {
            let first = asking.join().unwrap();
            server.kill();
            first
        } else {
            sleep(Duration::from_millis(2 * round));
            server.kill();
            asking.join().unwrap()
        };
        server.restart();
        if let Some((status, first)) = &first {
            assert_eq!(*status, 200, "{first}");
            answered += 1;
            assert_eq!(texts(&at).last(), Some(&text), "what was confirmed is there");
        }
        let (status, again) = publish(&at, &key, &text).unwrap();
        assert_eq!(status, 200, "{again}");
        if let Some((_, first)) = first {
            assert_eq!(again["position"], first["position"]);
            assert_eq!(again["repeated"], true);
        }
        expected.push(text);
        assert_eq!(texts(&at), expected, "once, in order");
    }
    assert!(answered > 0, "the first round is answered");
    println!("{ROUNDS} kills, {answered} of them after the answer");
}

/// Reads a stream of events until it breaks, or until `count` messages came. Returns the last id.
fn follow(server: &str, last: &str, count: usize, texts: &mut Vec<String>) -> String {
    let mut last = last.to_owned();
    let Ok(mut stream) = TcpStream::connect(server) else { return last };
    let path = "/v1/rooms/board/events?channel=lines&after=0";
    let resumed = match last.is_empty() {
        true => String::new(),
        false => format!("Last-Event-ID: {last}\r\n"),
    };
    let request = format!("GET {path} HTTP/1.0\r\nHost: {server}\r\n{resumed}\r\n");
    let _ = stream.write_all(request.as_bytes());
    let (mut read, mut piece) = (String::new(), [0; 4096]);
    let end = texts.len() + count;
    while texts.len() < end
        && let Ok(size @ 1..) = stream.read(&mut piece)
    {
        read.push_str(std::str::from_utf8(&piece[..size]).unwrap());
        while let Some((event, rest)) = read.split_once("\n\n") {
            let field = |name: &str| {
                event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
            };
            if field("event: ").as_deref() == Some("message") {
                let data: Value = serde_json::from_str(&field("data: ").unwrap()).unwrap();
                texts.push(data["text"].as_str().unwrap().to_owned());
            }
            assert_ne!(field("event: ").as_deref(), Some("gap"));
            last = field("id: ").unwrap_or(last);
            read = rest.to_owned();
        }
    }
    last
}

#[test]
fn a_stream_goes_on_behind_its_last_event_after_the_server_was_killed() {
    let mut server = Server::start("http-events");
    let at = address(&server);
    let (mut last, mut followed, mut nth) = (String::new(), Vec::new(), 0);
    for _ in 0..6 {
        for _ in 0..5 {
            nth += 1;
            let (status, said) = publish(&at, &nth.to_string(), &nth.to_string()).unwrap();
            assert_eq!(status, 200, "{said}");
        }
        // Some of the messages are read before the kill, and the rest after it.
        last = follow(&at, &last, 3, &mut followed);
        server.kill();
        server.restart();
    }
    let missing = nth - followed.len();
    follow(&at, &last, missing, &mut followed);
    assert_eq!(followed, (1..=nth).map(|nth| nth.to_string()).collect::<Vec<_>>());
}
