//! Clients of other protocols, and of ours at the wrong path: each is told what is spoken where.
//! Their bytes are those of the programs that are named, recorded.

use std::net::SocketAddr;

use axum::body::Body;
use futures_util::{SinkExt, StreamExt};
use groupwire_server::Config;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::http::{get, read, send};
use crate::support::{PATIENCE, opening, server, server_with};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens a WebSocket and names these subprotocols. Returns it with the one that the server chose.
async fn open(
    address: SocketAddr,
    path: &str,
    protocols: &'static str,
) -> Result<(Socket, String), Error> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    if !protocols.is_empty() {
        request.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
    }
    let (socket, answer) = connect_async(request).await?;
    let chosen = answer.headers().get("sec-websocket-protocol");
    Ok((socket, chosen.map_or("", |name| name.to_str().unwrap()).to_owned()))
}

/// The code and the reason with which the server closes.
async fn closed(mut socket: Socket) -> (u16, String) {
    loop {
        match timeout(PATIENCE, socket.next()).await.expect("it is closed") {
            Some(Ok(Message::Close(Some(close)))) => {
                return (close.code.into(), close.reason.to_string());
            }
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The close code and reason that a client is told which sends this first.
async fn told(address: SocketAddr, path: &str, first: Message) -> (u16, String) {
    let (mut socket, _) = open(address, path, "").await.unwrap();
    socket.send(first).await.unwrap();
    closed(socket).await
}

fn binary(bytes: &[u8]) -> Message {
    Message::Binary(bytes.to_vec().into())
}

#[tokio::test]
async fn t31_the_first_subprotocol_that_a_client_offers_is_chosen() {
    let address = server().await;
    for path in ["/ws", "/yjs/plan"] {
        for (offered, expected) in [("", ""), ("one", "one"), ("one, two", "one"), (" ,two", "two")]
        {
            let (mut socket, chosen) = open(address, path, offered).await.unwrap();
            assert_eq!(chosen, expected, "{path} {offered:?}");
            if path == "/ws" {
                socket.send(binary(&opening("demo"))).await.unwrap();
            }
            let answer = timeout(PATIENCE, socket.next()).await.unwrap();
            assert!(matches!(answer, Some(Ok(Message::Binary(_)))), "{path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn t31_a_request_that_asks_for_no_websocket_is_told_what_is_there() {
    let address = server().await;
    for path in ["/ws", "/yjs/plan", "/yjs", "/ws/plan"] {
        let answer = get(address, path, &[]).await;
        assert_eq!((answer.status, answer.header("upgrade")), (426, "websocket"), "{path}");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains("WebSockets") && text.contains("proxy"), "{text}");
        let old = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "8"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let answer = get(address, path, &old).await;
        assert_eq!((answer.status, answer.header("sec-websocket-version")), (426, "13"), "{path}");
    }
}

#[tokio::test]
async fn t32_clients_of_other_protocols_are_told_what_is_spoken() {
    let address = server().await;
    // @hocuspocus/provider 4.8: the name of the document, the type of the message, then its
    // content.
    for (first, name) in [
        (&b"\x04demo\x02\x00\x00\x054.8.0"[..], "a name that is no type of y-websocket's messages"),
        (b"\x01a\x02\x00\x00\x054.8.0", "a name whose length is such a type"),
        (b"\x00\x02\x00\x00\x054.8.0", "no name"),
        (b"\x00\x00\x00\x01\x00", "no name, without a token"),
    ] {
        let (code, reason) = told(address, "/yjs/demo", binary(first)).await;
        assert!(code == 4400 && reason.contains("Hocuspocus"), "{name}: {code} {reason}");
        let (code, reason) = told(address, "/ws", binary(first)).await;
        assert!(code == 1002 && reason.contains("Groupwire's protocol"), "{name}: {code} {reason}");
    }
    // graphql-ws 6.4, and many others that send JSON.
    let init = Message::Text("{\"type\":\"connection_init\"}".into());
    let (code, reason) = told(address, "/yjs/demo", init.clone()).await;
    assert!(code == 4400 && reason.contains("y-websocket's protocol is spoken"), "{reason}");
    let (code, reason) = told(address, "/ws", init).await;
    assert!(code == 1002 && reason.contains("a binary message is due, not text"), "{reason}");
    // Groupwire's own client at the door of y-websocket.
    let (code, reason) = told(address, "/yjs/ws", binary(&opening("demo"))).await;
    assert!(code == 4400 && reason.contains("without /yjs"), "{reason}");
    // y-websocket's client at Groupwire's door: "sync step 1".
    let (code, reason) = told(address, "/ws", binary(&[0, 0, 1, 0])).await;
    assert!(code == 1002 && reason.contains("Groupwire's protocol"), "{reason}");
}

#[tokio::test]
async fn t32_a_document_at_another_path_is_refused_for_good_with_the_right_path() {
    let address = server().await;
    for path in ["/ws/plan", "/ws/ws/plan", "/yjs", "/yjs/"] {
        let (socket, _) = open(address, path, "").await.unwrap();
        let (code, reason) = closed(socket).await;
        // y-websocket's client stays away after this code.
        assert_eq!(code, 4404, "{path}");
        assert!(reason.contains("/yjs/DOCUMENT"), "{path}: {reason}");
    }
    let foreign = [("origin", "https://foreign.example")];
    assert_eq!(get(address, "/ws/plan", &foreign).await.status, 403, "T2");
}

#[tokio::test]
async fn t32_other_paths_have_no_websocket() {
    let open_at = async |address, path| match open(address, path, "").await {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        other => panic!("{path}: {:?}", other.map(|(_, chosen)| chosen)),
    };
    let address = server().await;
    // A Groupwire client with the address of a path, also that of its own WebSocket.
    for path in ["/", "/index.html", "/base/ws", "/ws/ws", "/socket.io/?EIO=4&transport=websocket"]
    {
        assert_eq!(open_at(address, path).await, 404, "{path}");
    }
    // socket.io-client 4.8 begins with a request.
    for method in ["GET", "POST"] {
        let path = "/socket.io/?EIO=4&transport=polling";
        let answer = send(address, method, path, &[], Body::empty()).await.unwrap();
        let answer = read(answer).await.unwrap();
        assert_eq!(answer.status, 404);
        assert!(String::from_utf8(answer.body).unwrap().contains("Groupwire server"));
    }
    let without = server_with(Config { yjs: None, ..Config::default() }).await;
    for path in ["/ws/plan", "/yjs", "/yjs/plan"] {
        assert_eq!(open_at(without, path).await, 404, "{path}");
    }
}
