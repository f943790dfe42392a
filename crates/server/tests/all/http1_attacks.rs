//! Requests of HTTP/1.1, byte by byte, on which two programs may disagree: where a request ends,
//! and whom it is for. Attackers use such requests to smuggle one past a proxy (RFC 9112, section
//! 11.2).

use std::net::SocketAddr;

use groupwire_server::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::http::TOKEN;
use crate::support::{PATIENCE, administered, server};

/// What the server answers before it closes the connection.
async fn answers(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answers = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answers)).await;
    read.expect("the server closes the connection").unwrap();
    String::from_utf8_lossy(&answers).into_owned()
}

/// The statuses of all answers.
fn statuses(answers: &str) -> Vec<u16> {
    let after = answers.split("HTTP/1.").skip(1);
    after.map(|rest| rest[2..5].parse().unwrap()).collect()
}

/// A request with these further lines, and `CLOSE` in place of a header that closes the connection.
async fn expect(address: SocketAddr, cases: &[(&str, &str, u16)]) {
    for (name, request, status) in cases {
        let request = request.replace("CLOSE", "connection: close").replace('~', "\r\n");
        let answers = answers(address, &request).await;
        assert_eq!(statuses(&answers), [*status], "{name}: {answers}");
    }
}

#[tokio::test]
async fn a_request_that_may_be_read_in_two_ways_is_refused() {
    let address = server().await;
    let cases = [
        (
            "two lengths",
            "POST /http/poll HTTP/1.1~host: a~content-length: 4~content-length: 5~~abcde",
            400,
        ),
        ("a list of lengths", "POST /http/poll HTTP/1.1~host: a~content-length: 4, 4~~abcd", 400),
        ("a length with a sign", "POST /http/poll HTTP/1.1~host: a~content-length: +4~~abcd", 400),
        ("a hexadecimal length", "POST /http/poll HTTP/1.1~host: a~content-length: 0x4~~abcd", 400),
        (
            "an unknown coding",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding: xchunked~~0~~",
            400,
        ),
        (
            "chunked not at the end",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding: chunked, identity~~0~~",
            400,
        ),
        (
            "chunked behind another one",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding: gzip, chunked~CLOSE~~0~~",
            501,
        ),
        (
            "chunked in HTTP/1.0",
            "POST /http/poll HTTP/1.0~host: a~transfer-encoding: chunked~~0~~",
            400,
        ),
        (
            "a space before the colon",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding : chunked~~0~~",
            400,
        ),
        (
            "a bare LF in chunks",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding: chunked~~0\n\n",
            400,
        ),
        (
            "a bare LF in an extension",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding: chunked~~0;a\n~~",
            400,
        ),
        (
            "an endless chunk",
            "POST /http/poll HTTP/1.1~host: a~transfer-encoding: chunked~~fffffffffffffffff~",
            400,
        ),
        ("a folded line", "GET /healthz HTTP/1.1~host: a~x: a~ b~~", 400),
        ("a folded first line", "GET /healthz HTTP/1.1~ x: a~host: a~~", 400),
        ("a NUL", "GET /healthz HTTP/1.1~host: a~x: a\0b~~", 400),
        ("a bare CR", "GET /healthz HTTP/1.1~host: a~x: a\rb~~", 400),
        ("a line without a colon", "GET /healthz HTTP/1.1~host: a~x~~", 400),
        ("a line without a name", "GET /healthz HTTP/1.1~host: a~: x~~", 400),
        ("two spaces", "GET  /healthz HTTP/1.1~host: a~~", 400),
        ("a tab", "GET\t/healthz HTTP/1.1~host: a~~", 400),
        ("HTTP/0.9", "GET /healthz~~", 400),
        ("HTTP/1.2", "GET /healthz HTTP/1.2~host: a~~", 400),
    ];
    expect(address, &cases).await;
}

/// RFC 9112, section 6.3: the length is ignored, and the connection is closed.
#[tokio::test]
async fn nothing_follows_a_request_with_a_length_and_chunks() {
    let address = server().await;
    let smuggled = "GET /smuggled HTTP/1.1~host: a~connection: close~~";
    for (name, lines) in [
        ("the length first", "content-length: 4~transfer-encoding: chunked"),
        ("the chunks first", "transfer-encoding: chunked~content-length: 4"),
    ] {
        let request = format!("POST /http/poll HTTP/1.1~host: a~{lines}~~0~~{smuggled}");
        let request = request.replace('~', "\r\n");
        assert_eq!(statuses(&answers(address, &request).await), [200], "{name}");
    }
}

/// RFC 9112, section 2.2, permits to read a bare LF as the end of a line, and hyper has no switch
/// for it. It is read so in every line of a header, so that none of them hides another one.
#[tokio::test]
async fn a_bare_lf_ends_a_line_of_a_header_wherever_it_stands() {
    let address = server().await;
    let hidden = [
        "GET /healthz HTTP/1.1~host: a~x: y\nhost: b~CLOSE~~",
        "GET /healthz HTTP/1.1~host: a~x: y\ncontent-length: 1\ncontent-length: 2~~",
        "GET /healthz HTTP/1.1~host: a~x: y\ntransfer-encoding: chunked, identity~~",
    ];
    for request in hidden {
        expect(address, &[(request, request, 400)]).await;
    }
    expect(address, &[("plain", "GET /healthz HTTP/1.1\nhost: a\nCLOSE\n\n", 200)]).await;
}

#[tokio::test]
async fn t33_a_request_is_for_one_host() {
    let address = server().await;
    let cases = [
        ("one", "GET /healthz HTTP/1.1~host: a~CLOSE~~", 200),
        ("none", "GET /healthz HTTP/1.1~CLOSE~~", 400),
        ("none in HTTP/1.0", "GET /healthz HTTP/1.0~~", 200),
        ("two", "GET /healthz HTTP/1.1~host: a~host: b~CLOSE~~", 400),
        ("twice the same", "GET /healthz HTTP/1.1~host: a~host: a~CLOSE~~", 400),
        ("an empty one", "GET /healthz HTTP/1.1~host:~CLOSE~~", 400),
        ("with a path", "GET /healthz HTTP/1.1~host: a/b~CLOSE~~", 400),
        ("with a user", "GET /healthz HTTP/1.1~host: a@b~CLOSE~~", 400),
        ("with a wrong port", "GET /healthz HTTP/1.1~host: a:99999~CLOSE~~", 400),
        ("a whole address", "GET http://a/healthz HTTP/1.1~host: b~CLOSE~~", 200),
        ("a whole address and two", "GET http://a/healthz HTTP/1.1~host: a~host: b~CLOSE~~", 400),
        ("a tunnel", "CONNECT evil.example:443 HTTP/1.1~host: evil.example~CLOSE~~", 405),
        ("a page that is written", "POST / HTTP/1.1~host: a~content-length: 0~CLOSE~~", 405),
    ];
    // Without its pages, which tests may lack, the server has no page to write to.
    let has_pages = statuses(&answers(address, "GET / HTTP/1.0\r\n\r\n").await) == [200];
    expect(address, &cases[..cases.len() - usize::from(!has_pages)]).await;
    // T23: the host is that of the address, whatever the header says.
    let foreign = format!(
        "GET http://evil.example/transports HTTP/1.1~host: {address}~origin: http://{address}~CLOSE~~"
    );
    expect(address, &[("the origin of the header", &foreign, 403)]).await;
}

#[tokio::test]
async fn the_administration_is_asked_under_its_own_name_only() {
    let admin = administered(Config::default()).await.admin;
    let rooms = "/inspect/rooms HTTP/1.1~";
    let cases = [
        ("its own", format!("GET {rooms}host: {admin}"), 200),
        ("its own, as an address", format!("GET http://{admin}{rooms}host: {admin}"), 200),
        (
            "its own, whatever the header says",
            format!("GET http://{admin}{rooms}host: evil.example"),
            200,
        ),
        ("a foreign one", format!("GET {rooms}host: evil.example"), 421),
        ("a foreign address", format!("GET http://evil.example{rooms}host: {admin}"), 421),
        ("two", format!("GET {rooms}host: {admin}~host: evil.example"), 421),
        (
            "two, and an address",
            format!("GET http://{admin}{rooms}host: {admin}~host: evil.example"),
            421,
        ),
        ("none", format!("GET {rooms}x: y"), 421),
        ("none in HTTP/1.0", "GET /inspect/rooms HTTP/1.0~x: y".to_owned(), 421),
        ("with a user", format!("GET {rooms}host: evil.example@{admin}"), 421),
        ("with a wrong port", format!("GET {rooms}host: localhost:99999"), 421),
        ("a tunnel", format!("CONNECT {admin} HTTP/1.1~host: {admin}"), 405),
    ];
    for (name, head, status) in cases {
        let request = format!("{head}~authorization: Bearer {TOKEN}~CLOSE~~");
        expect(admin, &[(name, &request, status)]).await;
    }
}
