//! Messages far above a limit, of clients that read nothing before they have sent all of them: each
//! client still learns which limit it is, over every transport (T30).

use std::net::SocketAddr;

use groupwire_server::Config;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::http::{TOKEN, post};
use crate::support::http_transport::{Kind, Response, upload};
use crate::support::secure::Secure;
use crate::support::wire::{error_code, framed, take_packet, varint};
use crate::support::{PATIENCE, administered, opening, server, servers_with};

/// Bytes of a message: more than the buffers of both kernels hold, so that writing it ends only if
/// the server goes on reading.
const LARGE: usize = 20_000_000;

/// Sends bytes, and then reads to the end of the stream.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, sent: &[u8]) -> Vec<u8> {
    let asking = async {
        stream.write_all(sent).await.expect("the server reads all of it");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("the connection is closed in order");
        answer
    };
    timeout(PATIENCE, asking).await.expect("the server closes the connection")
}

async fn tcp(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// The request for a WebSocket.
fn request(path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .into_bytes()
}

/// A binary message of a client, in one frame. The mask is 0, which changes no byte.
fn message(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_be_bytes();
    [&[0x82, 0x80 | 127], &length[..], &[0; 4], content].concat()
}

/// The code and the reason of the last frame, which is a close frame.
fn closed(answer: &[u8]) -> (u16, String) {
    let at = answer.windows(2).rposition(|two| two[0] == 0x88 && two[1] < 126);
    let at = at.expect("the stream ends with a close frame");
    let frame = &answer[at + 2..];
    assert_eq!(frame.len(), usize::from(answer[at + 1]), "it is the last frame");
    let (code, reason) = frame.split_at(2);
    (u16::from_be_bytes(code.try_into().unwrap()), String::from_utf8(reason.to_vec()).unwrap())
}

#[tokio::test]
async fn a_websocket_is_closed_with_code_and_reason() {
    let address = server().await;
    let large = message(&vec![0; LARGE]);
    for hello in [vec![], message(&opening("demo"))] {
        let sent = [request("/ws"), hello, large.clone()].concat();
        let (code, reason) = closed(&answer(tcp(address).await, &sent).await);
        assert_eq!((code, &*reason), (1009, "packet of 20000000 bytes is over the limit of 65536"));
    }
}

#[tokio::test]
async fn a_client_of_a_document_is_told_to_stay_away() {
    let address = server().await;
    let sent = [request("/yjs/plan"), message(&vec![0; LARGE])].concat();
    let (code, reason) = closed(&answer(tcp(address).await, &sent).await);
    // y-websocket's client does not come back after this code.
    assert_eq!(code, 4413);
    assert!(reason.contains("4194304 (--max-document-message)"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reason_arrives_over_tls() {
    let server = Secure::start("too-large", Config::default()).await;
    for (path, expected) in [("/ws", 1009), ("/yjs/plan", 4413)] {
        let stream = server.connect(&["http/1.1"]).await.unwrap();
        let sent = [request(path), message(&vec![0; LARGE])].concat();
        assert_eq!(closed(&answer(stream, &sent).await).0, expected, "{path}");
    }
}

#[tokio::test]
async fn plain_tcp_ends_with_the_error() {
    let (_, address) = servers_with(Config::default()).await;
    for hello in [vec![], framed(&opening("demo"))] {
        let sent = [hello, varint(LARGE as u64), vec![0; LARGE]].concat();
        let mut received = answer(tcp(address).await, &sent).await;
        let packets: Vec<_> = std::iter::from_fn(|| take_packet(&mut received)).collect();
        assert_eq!(packets.last().and_then(|packet| error_code(packet)), Some("too-large"));
    }
}

#[tokio::test]
async fn requests_are_answered_however_much_follows() {
    let address = server().await;
    let response = Response::open(address, Kind::Multipart, String::new()).await.unwrap();
    let hello = upload(&response.id, 1, 0, &[&opening("demo")]);
    assert_eq!(post(address, "/http/up", &[], hello).await.status, 204);
    let body = [upload(&response.id, 2, 0, &[]), vec![0; LARGE]].concat();
    let posted = |path: &str, header: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\n{header}content-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    };
    let padding = format!("padding: {}\r\n", "x".repeat(LARGE));
    let admin = administered(Config::default()).await.admin;
    let bearer = format!("authorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n");
    for (address, sent, status) in [
        (address, posted("/http/up", "", &body), 413),
        (address, posted("/http/up", "", &vec![b'x'; LARGE]), 404),
        (address, posted("/http/poll", "", &vec![b'x'; LARGE]), 413),
        (address, posted("/wrong/path", "", &vec![b'x'; LARGE]), 404),
        (address, posted("/http/poll", &padding, &[]), 431),
        (admin, posted("/api/drain", "", &vec![b' '; LARGE]), 401),
        (admin, posted("/api/drain", &bearer, &vec![b' '; LARGE]), 413),
    ] {
        let received = answer(tcp(address).await, &sent).await;
        let received = String::from_utf8_lossy(&received);
        assert!(received.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {received}");
    }
}
