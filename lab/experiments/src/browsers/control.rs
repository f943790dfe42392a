//! The HTTP server that pages are loaded from and get their commands from, on loopback addresses,
//! beside the paths that are measured.
//!
//! A page asks what to do (`POST next/N`), with its answer to the question before, and waits until
//! there is something. Each page has a host of its own, so that browsers give it a process of its
//! own.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use rust_embed::Embed;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, mpsc};

use super::protocol::{Command, Numbered, Reply, Stage, StageError};
use crate::Result;

#[derive(Embed)]
#[folder = "../../web/bench/dist"]
#[allow_missing = true]
struct Bench;

/// The most bytes of an answer. It has all messages that a page received in a session of some
/// minutes, and when each arrived.
const MAX_ANSWER: usize = 256 << 20;

/// The HTTP server of some pages.
#[derive(Debug)]
pub(super) struct Control {
    port: u16,
    pages: usize,
    /// The runtime of the WebSocket server, which serves until this is dropped.
    _runtime: Runtime,
}

/// A page to which commands can be given.
#[derive(Debug)]
pub(crate) struct Page {
    commands: mpsc::UnboundedSender<Numbered<Command>>,
    replies: Receiver<Numbered<Reply>>,
    /// The number of the last command.
    number: u32,
}

/// The commands and answers of one page, as the server stores them.
#[derive(Debug)]
struct Desk {
    commands: Mutex<mpsc::UnboundedReceiver<Numbered<Command>>>,
    replies: Sender<Numbered<Reply>>,
}

impl Control {
    /// Starts a server that `pages` pages can connect to.
    pub(super) fn start(pages: usize) -> Result<(Self, Vec<Page>)> {
        if Bench::get("index.html").is_none() {
            return Err("this program was built without the page for browsers: run `make build`, which builds it first".into());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("control")
            .enable_all()
            .build()?;
        let mut desks = Vec::new();
        let pages: Vec<_> = std::iter::repeat_with(|| {
            let (commands, theirs) = mpsc::unbounded_channel();
            let (replies, ours) = channel();
            desks.push(Desk { commands: Mutex::new(theirs), replies });
            Page { commands, replies: ours, number: 0 }
        })
        .take(pages)
        .collect();
        let router = Router::new()
            .route("/next/{page}", post(next))
            .layer(DefaultBodyLimit::max(MAX_ANSWER))
            .fallback(|uri: Uri| async move { file(&uri) })
            .with_state(Arc::new(desks));
        let mut port = 0;
        for page in 0..pages.len() {
            let listen = SocketAddr::from((host(page), port));
            let listener = runtime.block_on(TcpListener::bind(listen))?;
            port = listener.local_addr()?.port();
            let serving = axum::serve(listener, router.clone());
            runtime.spawn(async move { serving.await });
        }
        Ok((Control { port, pages: pages.len(), _runtime: runtime }, pages))
    }

    /// The address of the first page, which opens the others.
    pub(super) fn url(&self) -> String {
        let others =
            (1..self.pages).map(|page| format!("&open={}/?page={page}", self.origin(page)));
        format!("{}/?page=0{}", self.origin(0), others.collect::<String>())
    }

    /// The origins of the pages.
    pub(super) fn origins(&self) -> Vec<String> {
        (0..self.pages).map(|page| self.origin(page)).collect()
    }

    fn origin(&self, page: usize) -> String {
        format!("http://{}:{}", host(page), self.port)
    }
}

/// Browsers treat all of 127.0.0.0/8 as secure as TLS, which WebTransport needs.
fn host(page: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, 1 + page as u8)
}

async fn next(
    State(desks): State<Arc<Vec<Desk>>>,
    Path(page): Path<usize>,
    body: Bytes,
) -> Response {
    let Some(desk) = desks.get(page) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match serde_json::from_slice(&body) {
        Ok(Some(reply)) => drop(desk.replies.send(reply)),
        Ok(None) => {}
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
    match desk.commands.lock().await.recv().await.map(|command| serde_json::to_vec(&command)) {
        Some(Ok(command)) => {
            ([(header::CONTENT_TYPE, "application/json")], command).into_response()
        }
        _ => StatusCode::NO_CONTENT.into_response(),
    }
}

fn file(uri: &Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let Some(file) = Bench::get(path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let content_type = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    ([(header::CONTENT_TYPE, content_type)], file.data).into_response()
}

impl Stage for Page {
    fn start(&mut self, content: Command) -> std::result::Result<(), StageError> {
        self.number += 1;
        self.commands.send(Numbered { number: self.number, content }).map_err(|_| StageError::Gone)
    }

    fn finish(&mut self, patience: Duration) -> std::result::Result<Reply, StageError> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left) {
                Ok(reply) if reply.number != self.number => {}
                Ok(Numbered { content: Reply::Fail { why }, .. }) => {
                    return Err(StageError::Failed(why));
                }
                Ok(reply) => return Ok(reply.content),
                Err(RecvTimeoutError::Timeout) => return Err(StageError::Silent(patience)),
                Err(RecvTimeoutError::Disconnected) => return Err(StageError::Gone),
            }
        }
    }
}
