//! The WEB paper's techniques without a product above them: a message is an HTTP request, a part of
//! a multipart answer, a script in an iframe, or a message of a WebSocket. `web/bench/src/bare.ts`
//! is the other end.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::{SinkExt, StreamExt, stream};
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::{self, Message};

use super::load::Load;
use super::protocol::Received;
use super::server::Ports;

/// What stands before each part of a multipart answer, as in `web/bench/src/bare.ts`: 58 bytes with
/// the end of the part, where the paper's had 40.
const PART: &str = "--part\r\nContent-Type: application/octet-stream\r\n\r\n";
/// What browsers need before they run scripts of a document that is still coming: Chromium looks at
/// the first 512 bytes.
const PREAMBLE: usize = 1024;

/// The transports that the paper measured, by their names here.
pub(super) const TECHNIQUES: [&str; 4] = ["websocket", "multipart", "iframe", "longpoll"];
/// The techniques with an upload of their own: that of `multipart` is the upload of all over HTTP.
pub(super) const SENDING: [&str; 2] = ["websocket", "multipart"];

/// The server, which serves until it is dropped.
#[derive(Debug)]
pub(super) struct BareServer {
    /// The port of HTTP, and that of WebSocket.
    pub(super) ports: Ports,
    tasks: Vec<JoinHandle<()>>,
}

impl BareServer {
    pub(super) fn start(handle: &Handle, address: Ipv4Addr, ports: Ports) -> io::Result<Self> {
        let bind = |port| handle.block_on(TcpListener::bind((address, port)));
        let (http, socket) = (bind(ports.http)?, bind(ports.socket)?);
        let router = Router::new()
            .route("/longpoll/{run}/{number}/{is_last}/{size}", get(long_poll))
            .route("/multipart/{run}/{count}/{size}", get(multipart))
            .route("/iframe/{run}/{count}/{size}", get(iframe))
            .route("/up/{run}/{size}", post(up))
            .route("/done/{run}", get(done))
            .with_state(Arc::<Uploads>::default());
        let serving = handle.spawn(async move {
            // Serving ends with the task.
            let _ = axum::serve(http, router).await;
        });
        let accepting = handle.spawn(async move {
            while let Ok((stream, _)) = socket.accept().await {
                // A page that breaks off reports that itself.
                tokio::spawn(async move { drop(serve_socket(stream).await) });
            }
        });
        Ok(BareServer { ports, tasks: vec![serving, accepting] })
    }
}

impl Drop for BareServer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// What has come by requests, by run.
#[derive(Debug, Default)]
struct Uploads(Mutex<HashMap<u32, Received>>);

/// Notes a message that has come, and checks it.
fn note(received: &mut Received, (run, size): (u32, usize), bytes: &[u8]) {
    let expected = received.messages;
    match Load::read(bytes) {
        Some(load) if load.run == run && load.number == expected && bytes.len() == size => {
            received.complete |= load.is_last;
        }
        _ => {
            received.wrong.get_or_insert_with(|| format!("message {expected} is another one"));
        }
    }
    received.messages += 1;
}

/// A message of a load of `count`.
fn message(run: u32, number: u32, count: u32, size: usize) -> Vec<u8> {
    Load { number, run, is_last: number + 1 == count }.fill(size)
}

fn answer(content_type: &'static str, body: Body) -> Response {
    // Pages of other origins may read it.
    let headers = [
        (CONTENT_TYPE, content_type),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, body).into_response()
}

async fn long_poll(Path((run, number, is_last, size)): Path<(u32, u32, bool, usize)>) -> Response {
    answer("application/octet-stream", Load { number, run, is_last }.fill(size).into())
}

async fn multipart(Path((run, count, size)): Path<(u32, u32, usize)>) -> Response {
    let part = move |number| {
        let message = message(run, number, count, size);
        io::Result::Ok([PART.as_bytes(), &message, b"\r\n"].concat())
    };
    let parts = Body::from_stream(stream::iter((0..count).map(part)));
    answer("multipart/mixed; boundary=part", parts)
}

async fn iframe(Path((run, count, size)): Path<(u32, u32, usize)>) -> Response {
    let script = move |number: u32| {
        // A byte is two digits, and the text has the message's size, as the paper's dummy payload.
        let text = hexadecimal(&message(run, number, count, size / 2));
        io::Result::Ok(format!("<script>parent.postMessage('{text}','*')</script>"))
    };
    let preamble = format!("<!doctype html>{}", " ".repeat(PREAMBLE));
    let parts = stream::iter([Ok(preamble)]).chain(stream::iter((0..count).map(script)));
    answer("text/html", Body::from_stream(parts))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn up(
    State(uploads): State<Arc<Uploads>>,
    Path((run, size)): Path<(u32, usize)>,
    body: Bytes,
) -> Response {
    let mut uploads = uploads.0.lock().unwrap_or_else(PoisonError::into_inner);
    note(uploads.entry(run).or_default(), (run, size), &body);
    answer("text/plain", Body::empty())
}

async fn done(State(uploads): State<Arc<Uploads>>, Path(run): Path<u32>) -> Response {
    let mut uploads = uploads.0.lock().unwrap_or_else(PoisonError::into_inner);
    let received = uploads.remove(&run).unwrap_or_default();
    answer("application/json", serde_json::to_vec(&received).unwrap_or_default().into())
}

/// What a page asks for, in the first message of a WebSocket.
#[derive(Debug, Deserialize)]
struct Asked {
    is_up: bool,
    run: u32,
    count: u32,
    size: usize,
}

async fn serve_socket(stream: TcpStream) -> tungstenite::Result<()> {
    stream.set_nodelay(true)?;
    let mut socket = tokio_tungstenite::accept_async(stream).await?;
    let Some(Ok(Message::Text(asked))) = socket.next().await else { return Ok(()) };
    let Ok(Asked { is_up, run, count, size }) = serde_json::from_str(&asked) else { return Ok(()) };
    if is_up {
        let mut received = Received::default();
        while !received.complete && received.wrong.is_none() {
            match socket.next().await {
                Some(Ok(Message::Binary(bytes))) => note(&mut received, (run, size), &bytes),
                Some(Ok(_)) => {}
                _ => return Ok(()),
            }
        }
        let text = serde_json::to_string(&received).unwrap_or_default();
        socket.send(Message::Text(text.into())).await?;
    } else {
        for number in 0..count {
            // As the paper's server: each message is sent by itself.
            socket.send(Message::Binary(message(run, number, count, size).into())).await?;
        }
    }
    // The page closes the connection.
    while let Some(Ok(_)) = socket.next().await {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_next_message_counts() {
        let mut received = Received::default();
        for number in 0..3 {
            note(&mut received, (7, 20), &message(7, number, 3, 20));
        }
        assert_eq!((received.messages, received.complete, &received.wrong), (3, true, &None));
        for wrong in [message(7, 1, 3, 20), message(8, 0, 3, 20), message(7, 0, 3, 21), vec![0; 20]]
        {
            let mut received = Received::default();
            note(&mut received, (7, 20), &wrong);
            assert!(received.wrong.is_some());
        }
    }
}
