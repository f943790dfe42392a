//! The application's server that is told of events: it checks signatures, and answers as a test
//! wants.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groupwire_server::{EventKind, WebhookConfig, WebhookPauses, WebhookSecrets};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use super::PATIENCE;

/// A secret that the receiver knows, and one that it does not know yet.
const KNOWN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// What the receiver answers to one request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reply {
    Status(u16),
    Redirect,
    /// Nothing, as long as the server waits.
    Silence,
}

/// See the [module](self).
#[derive(Clone, Default)]
pub(crate) struct Receiver {
    /// The answers to the next requests. Later requests succeed.
    pub(crate) replies: Arc<Mutex<Vec<Reply>>>,
    /// The ids of all requests.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    /// The ids of the requests that were answered with 200.
    pub(crate) taken: Arc<Mutex<HashSet<String>>>,
    /// The events of these requests, each once.
    pub(crate) events: Arc<Mutex<Vec<Value>>>,
    /// The number of requests to the address that it redirects to.
    pub(crate) redirected: Arc<Mutex<usize>>,
}

impl Receiver {
    /// Listens on an address; port 0 takes any free port.
    pub(crate) async fn listen(&self, address: SocketAddr) -> SocketAddr {
        let router = Router::new()
            .route("/events", post(take))
            .route(
                "/elsewhere",
                any(async |State(it): State<Receiver>| *it.redirected.lock().unwrap() += 1),
            )
            .with_state(self.clone());
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, router).into_future());
        address
    }

    /// The types of all events, in the order in which they were told.
    pub(crate) fn types(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// The events of a type.
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        let events = self.events.lock().unwrap();
        events.iter().filter(|event| event["type"] == kind).map(|it| it["data"].clone()).collect()
    }

    /// Waits until the events are as a test wants.
    pub(crate) async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let told = async {
            while !wanted(self) {
                sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(PATIENCE, told)
            .await
            .unwrap_or_else(|_| panic!("{:?}", self.events.lock().unwrap()));
    }
}

/// A webhook to this address, with both secrets and short pauses.
pub(crate) fn webhook(address: SocketAddr) -> Option<WebhookConfig> {
    let secrets = WebhookSecrets::parse(&format!("{NEW}\n{KNOWN}\n")).unwrap();
    let first = Duration::from_millis(5);
    let pauses = WebhookPauses { first, longest: 4 * first, deadline: Duration::from_millis(500) };
    let address = format!("http://{address}/events");
    let all = EventKind::ALL.into_iter().collect();
    Some(WebhookConfig::new(&address, secrets, all, None, pauses).unwrap())
}

async fn take(State(it): State<Receiver>, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let id = header("webhook-id");
    let timestamp = header("webhook-timestamp");
    assert!(
        header("webhook-signature").split(' ').any(|one| one == signature(&id, &timestamp, &body))
    );
    assert_eq!(header("content-type"), "application/json");
    it.requests.lock().unwrap().push(id.clone());
    let reply = {
        let mut replies = it.replies.lock().unwrap();
        if replies.is_empty() { Reply::Status(200) } else { replies.remove(0) }
    };
    match reply {
        Reply::Status(200) => {
            let body: Value = serde_json::from_slice(&body).unwrap();
            // Events whose answer came too late for the server come again with the same id.
            if it.taken.lock().unwrap().insert(id) {
                let events = body["data"]["events"].as_array().unwrap().clone();
                it.events.lock().unwrap().extend(events);
            }
            StatusCode::OK.into_response()
        }
        Reply::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Reply::Redirect => {
            (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response()
        }
        Reply::Silence => std::future::pending().await,
    }
}

fn signature(id: &str, timestamp: &str, body: &[u8]) -> String {
    let key = BASE64_STANDARD.decode(KNOWN.trim_start_matches("whsec_")).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(&[id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat());
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}
