//! The application's own server is asked who may join.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use axum::{Json, Router};
use groupwire_server::{
    Admission, Authenticator, HookAuthenticator, HookConfig, JoinRequest, Refusal, Rights,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The application's server: what it was asked, and how often.
#[derive(Clone, Default)]
struct Application {
    asked: Arc<Mutex<Vec<Value>>>,
    count: Arc<AtomicUsize>,
}

async fn answer(
    State(it): State<Application>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Response {
    it.count.fetch_add(1, Ordering::Relaxed);
    assert_eq!(headers["authorization"], "Bearer between us");
    let token = asked["token"].as_str().unwrap_or("binary").to_owned();
    it.asked.lock().unwrap().push(asked);
    let json = |status: StatusCode, body: Value| (status, Json(body)).into_response();
    match token.as_str() {
        "ann" => {
            let rights = json!({ "publish": ["draw"] });
            json(
                StatusCode::OK,
                json!({ "sub": "ann", "expires": 4_000_000_000_u64, "groupwire": rights }),
            )
        }
        "binary" => json(StatusCode::OK, json!({ "sub": "it" })),
        "old" => StatusCode::UNAUTHORIZED.into_response(),
        "eve" => json(StatusCode::FORBIDDEN, json!({ "reason": "you were banned" })),
        "nobody" => StatusCode::FORBIDDEN.into_response(),
        "moved" => Redirect::temporary("/elsewhere").into_response(),
        "large" => json(StatusCode::OK, json!({ "sub": "x".repeat(100_000) })),
        "odd" => json(StatusCode::OK, json!({ "name": "ann" })),
        "later" => json(StatusCode::OK, json!({ "sub": "a", "groupwire": { "fly": true } })),
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn application() -> (Application, SocketAddr) {
    let it = Application::default();
    let router = Router::new()
        .route("/who", post(answer))
        .route("/elsewhere", post(|| async { Json(json!({ "sub": "somebody" })) }))
        .with_state(it.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, router).into_future());
    (it, address)
}

fn hook(address: String, keep: u64) -> Result<HookAuthenticator, String> {
    let (secret, keep) = (Some("between us".to_owned()), Duration::from_secs(keep));
    HookAuthenticator::new(HookConfig { address, secret, keep, root: None })
}

async fn ask(hook: &HookAuthenticator, token: &[u8]) -> Result<Admission, Refusal> {
    hook.authenticate(JoinRequest::new("docs/plan", token)).await
}

#[tokio::test]
async fn the_application_lets_in_refuses_and_says_why() {
    let (it, address) = application().await;
    let hook = hook(format!("http://{address}/who"), 0).unwrap();
    let ann = ask(&hook, b"ann").await.unwrap();
    assert_eq!((ann.identity.subject.as_slice(), ann.expires.is_some()), (&b"ann"[..], true));
    let rights: Rights = serde_json::from_slice(&ann.identity.rights).unwrap();
    assert_eq!(rights.rooms, ["docs/plan"], "the room that was asked about");
    assert_eq!(rights.publish, ["draw"]);
    assert_eq!(it.asked.lock().unwrap()[0], json!({ "room": "docs/plan", "token": "ann" }));
    assert_eq!(ask(&hook, &[0xff, 0]).await.unwrap().identity.subject, b"it");
    assert_eq!(it.asked.lock().unwrap()[1]["token_base64"], "/wA=");
    assert_eq!(ask(&hook, b"old").await, Err(Refusal::Expired));
    assert_eq!(ask(&hook, b"eve").await, Err(Refusal::Refused("you were banned".into())));
    assert!(matches!(ask(&hook, b"nobody").await, Err(Refusal::Refused(_))));
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_lets_nobody_in_and_may_be_asked_for_again() {
    let (_it, address) = application().await;
    let hook = hook(format!("http://{address}/who"), 60).unwrap();
    for token in [&b"moved"[..], b"large", b"odd", b"later", b"broken"] {
        let answer = ask(&hook, token).await;
        assert!(matches!(answer, Err(Refusal::NotNow(_))), "{answer:?}");
    }
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let nobody = self::hook(format!("http://{free}/who"), 60).unwrap();
    assert!(matches!(ask(&nobody, b"ann").await, Err(Refusal::NotNow(_))));
}

#[tokio::test]
async fn an_answer_that_lets_in_is_kept_for_the_same_room_and_token() {
    let (it, address) = application().await;
    let hook = hook(format!("http://{address}/who"), 60).unwrap();
    for _ in 0..3 {
        assert!(ask(&hook, b"ann").await.is_ok());
        assert!(ask(&hook, b"eve").await.is_err());
    }
    let other = hook.authenticate(JoinRequest::new("other", b"ann")).await.unwrap();
    let rights: Rights = serde_json::from_slice(&other.identity.rights).unwrap();
    assert_eq!(rights.rooms, ["other"]);
    assert_eq!(it.count.load(Ordering::Relaxed), 1 + 3 + 1);
}

#[test]
fn addresses_are_https_or_on_this_machine() {
    assert!(hook("https://app.example/who".into(), 0).is_ok());
    assert!(hook("http://127.0.0.1:9/who".into(), 0).is_ok());
    for wrong in ["http://app.example/who", "ftp://app.example", "app.example", ""] {
        assert!(hook(wrong.into(), 0).is_err(), "{wrong}");
    }
}
