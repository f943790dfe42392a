//! Traces of joins, as a receiver of OTLP over HTTP gets them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::{
    ByRights, Config, DurableConfig, HookAuthenticator, HookConfig, Traces, TracesConfig,
};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::support::person::Person;
use crate::support::{servers_with, wire};

/// The receiver of traces, and the application that is asked who may join.
#[derive(Clone)]
struct Receiver {
    requests: Arc<Mutex<Vec<Bytes>>>,
    /// The `traceparent` of each request to the application.
    parents: Arc<Mutex<Vec<String>>>,
    /// How many requests with spans are answered.
    answers: Arc<Semaphore>,
}

impl Receiver {
    /// Starts a receiver that answers the first `answers` requests with spans at once, and later
    /// ones never.
    async fn start(answers: usize) -> (Receiver, SocketAddr) {
        let answers = Arc::new(Semaphore::new(answers));
        let it = Receiver { requests: Arc::default(), parents: Arc::default(), answers };
        let router = Router::new()
            .route("/v1/traces", post(take))
            .route("/who", post(decide))
            .with_state(it.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, router).into_future());
        (it, address)
    }

    /// All spans so far, and the bytes of the requests.
    fn spans(&self) -> (Vec<Span>, Vec<u8>) {
        let requests = self.requests.lock().unwrap();
        let spans = requests.iter().flat_map(|body| {
            let request = ExportTraceServiceRequest::decode(body.clone()).unwrap();
            let scopes = request.resource_spans.into_iter().flat_map(|spans| spans.scope_spans);
            scopes.flat_map(|scope| scope.spans).collect::<Vec<_>>()
        });
        (spans.collect(), requests.concat())
    }
}

async fn take(State(it): State<Receiver>, headers: HeaderMap, body: Bytes) -> Bytes {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    it.requests.lock().unwrap().push(body);
    it.answers.acquire().await.unwrap().forget();
    Bytes::new()
}

async fn decide(
    State(it): State<Receiver>,
    headers: HeaderMap,
    Json(asked): Json<serde_json::Value>,
) -> (axum::http::StatusCode, Json<serde_json::Value>) {
    let parent = headers.get("traceparent").map_or("", |parent| parent.to_str().unwrap());
    it.parents.lock().unwrap().push(parent.to_owned());
    match asked["token"].as_str() {
        Some("mary-token") => (axum::http::StatusCode::OK, Json(json!({ "sub": "mary" }))),
        _ => (axum::http::StatusCode::FORBIDDEN, Json(json!({ "reason": "not you, eve" }))),
    }
}

fn traces(address: SocketAddr, ratio: f64, room_names: bool) -> Traces {
    let address = format!("http://{address}");
    Traces::new(TracesConfig { address, service: "demo".to_owned(), ratio, room_names }).unwrap()
}

/// A server with stored rooms that asks the application, which has the address of the receiver.
async fn server(traces: &Traces, application: SocketAddr) -> SocketAddr {
    let hook = HookConfig {
        address: format!("http://{application}/who?key=hook-secret"),
        secret: Some("between us".to_owned()),
        keep: std::time::Duration::ZERO,
        root: None,
    };
    let config = Config {
        authenticator: Arc::new(HookAuthenticator::new(hook).unwrap()),
        authority: Arc::new(ByRights),
        durable: Some(DurableConfig::in_memory()),
        traces: traces.clone(),
        ..Config::default()
    };
    servers_with(config).await.1
}

/// A client with this token, which has asked to join the room `attic`.
async fn ask(server: SocketAddr, token: &str) -> Person {
    let config = ClientConfig { token: token.into(), ..ClientConfig::new("attic") };
    Person::ask(wire::socket(server).await, config)
}

async fn join(server: SocketAddr) -> Person {
    let mut person = ask(server, "mary-token").await;
    person.until(|event| matches!(event, Event::Synced { channel: None })).await;
    person
}

async fn be_refused(server: SocketAddr) {
    let mut eve = ask(server, "eve-token").await;
    eve.until(|event| matches!(event, Event::Error { .. })).await;
}

fn find<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let mut found = spans.iter().filter(|span| span.name == name);
    let span = found.next().unwrap_or_else(|| panic!("there is no span {name}: {spans:?}"));
    assert!(found.next().is_none(), "there are several spans {name}");
    span
}

fn attribute(span: &Span, key: &str) -> Option<Value> {
    let pair = span.attributes.iter().find(|pair| pair.key == key)?;
    pair.value.clone()?.value
}

fn text(value: &str) -> Option<Value> {
    Some(Value::StringValue(value.to_owned()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_join_is_a_trace_of_what_it_waits_for_and_the_hook_is_part_of_it() {
    let (receiver, address) = Receiver::start(100).await;
    let traces = traces(address, 1.0, false);
    let server = server(&traces, address).await;
    let _mary = join(server).await;
    traces.close().await;

    let (spans, bytes) = receiver.spans();
    let join = find(&spans, "join");
    assert!(join.parent_span_id.is_empty());
    let within = [
        ("opening", "join"),
        ("authenticate", "join"),
        ("hook", "authenticate"),
        ("room", "join"),
        ("load", "room"),
    ];
    for (name, parent) in within {
        let (span, parent) = (find(&spans, name), find(&spans, parent));
        assert_eq!((&span.parent_span_id, &span.trace_id), (&parent.span_id, &join.trace_id));
        assert!(span.start_time_unix_nano >= parent.start_time_unix_nano, "{name}");
        assert!(span.end_time_unix_nano <= parent.end_time_unix_nano, "{name}");
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{name}");
    }
    assert_eq!(spans.len(), 1 + within.len());
    assert_eq!(attribute(join, "groupwire.transport"), text("TCP socket"));
    assert_eq!(attribute(join, "groupwire.link"), Some(Value::IntValue(1)));
    assert_eq!(attribute(join, "groupwire.resumed"), Some(Value::BoolValue(false)));
    let hook = find(&spans, "hook");
    assert_eq!(attribute(hook, "http.response.status_code"), Some(Value::IntValue(200)));
    assert_eq!(attribute(hook, "server.address"), text("127.0.0.1"));
    let parent = format!("00-{}-{}-01", hex(&hook.trace_id), hex(&hook.span_id));
    assert_eq!(*receiver.parents.lock().unwrap(), [parent]);

    let sent = String::from_utf8_lossy(&bytes);
    assert!(sent.contains("service.name") && sent.contains("demo"), "{sent}");
    for secret in ["mary", "token", "attic", "hook-secret", "between us"] {
        assert!(!sent.contains(secret), "{secret} is in {sent}");
    }
}

#[tokio::test]
async fn a_refused_join_has_the_name_of_the_error_and_nothing_of_its_text() {
    let (receiver, address) = Receiver::start(100).await;
    let traces = traces(address, 1.0, true);
    let server = server(&traces, address).await;
    be_refused(server).await;
    traces.close().await;
    let (spans, bytes) = receiver.spans();
    assert_eq!(spans.len(), 4, "{spans:?}");
    let (join, authenticate) = (find(&spans, "join"), find(&spans, "authenticate"));
    for span in [join, authenticate] {
        assert_eq!(attribute(span, "error.type"), text("refused"));
        assert_eq!(span.status.as_ref().unwrap().message, "refused");
    }
    assert_eq!(
        attribute(find(&spans, "hook"), "http.response.status_code"),
        Some(Value::IntValue(403))
    );
    // The operator wants the names of rooms.
    assert_eq!(attribute(join, "groupwire.room"), text("attic"));
    assert!(!String::from_utf8_lossy(&bytes).contains("eve"));
}

#[tokio::test]
async fn a_room_that_takes_nobody_ends_the_trace_with_its_error() {
    let (receiver, address) = Receiver::start(100).await;
    let traces = traces(address, 1.0, false);
    let config = Config { max_rooms: 0, traces: traces.clone(), ..Config::default() };
    let server = servers_with(config).await.1;
    let mut nobody = ask(server, "").await;
    nobody.until(|event| matches!(event, Event::Error { .. })).await;
    traces.close().await;
    let spans = receiver.spans().0;
    assert_eq!(attribute(find(&spans, "join"), "error.type"), text("too-many"));
    assert_eq!(attribute(find(&spans, "join"), "groupwire.resumed"), None);
    find(&spans, "room");
}

#[tokio::test]
async fn joins_that_are_not_sampled_are_not_sent_and_the_hook_is_told_so() {
    let (receiver, address) = Receiver::start(100).await;
    let traces = traces(address, 0.0, false);
    let server = server(&traces, address).await;
    let _mary = join(server).await;
    be_refused(server).await;
    traces.close().await;
    assert_eq!(receiver.spans().0.len(), 0);
    let parents = receiver.parents.lock().unwrap();
    assert_eq!(parents.len(), 2);
    assert!(parents.iter().all(|parent| parent.ends_with("-00")), "{parents:?}");
}

#[tokio::test]
async fn without_traces_the_hook_gets_no_parent() {
    let (receiver, address) = Receiver::start(100).await;
    let server = server(&Traces::default(), address).await;
    let _mary = join(server).await;
    assert_eq!(*receiver.parents.lock().unwrap(), [""]);
}

#[tokio::test]
async fn a_receiver_that_never_answers_delays_no_join_and_few_spans_wait_for_it() {
    // The receiver does not answer the first requests.
    let (receiver, address) = Receiver::start(0).await;
    let traces = traces(address, 1.0, false);
    let config = Config { traces: traces.clone(), max_rooms: 0, ..Config::default() };
    let server = servers_with(config).await.1;
    // More spans than the queue holds: four of each.
    const JOINS: usize = 1_000;
    for _ in 0..JOINS / 50 {
        let asking = (0..50).map(|_| async move {
            let mut person = ask(server, "").await;
            person.until(|event| matches!(event, Event::Error { .. })).await;
        });
        futures_util::future::join_all(asking).await;
    }
    // Now the receiver answers.
    receiver.answers.add_permits(100);
    traces.close().await;
    let count = receiver.spans().0.len();
    // A queue of 2,048, and what was on the way: batches of 512.
    assert!(count > 0 && count < 4 * JOINS, "{count}");
}

#[tokio::test]
async fn an_address_that_cannot_be_meant_is_refused() {
    for address in ["", "localhost:4318", "ftp://localhost", "http://localhost/?key=x"] {
        let address = address.to_owned();
        let config =
            TracesConfig { address, service: String::new(), ratio: 1.0, room_names: false };
        let error = Traces::new(config).unwrap_err();
        assert!(error.contains("address") || error.contains("http://127.0.0.1:4318"), "{error}");
    }
}
