//! A transport made of HTTP requests: responses to down requests carry packets to the client,
//! uploads carry packets to the server (docs/transports.md, HTTP).
//!
//! An [`HttpTransport`](state::HttpTransport) holds the state between requests. Requests change it
//! and wait for changes; so do its two ends, which the connection's task reads and writes.

mod context;
mod down;
mod ends;
mod form;
mod headers;
mod open;
mod pass_on;
mod registry;
mod state;
mod up;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::BytesMut;
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::web::origins::is_origin;
pub(crate) use context::HttpContext;
use down::{Down, answer, stream};
use form::{Form, StreamForm};
use headers::{HEADERS, not_open, refusal};
use pass_on::pass_on;
use state::HttpTransport;

/// Most bytes of a down request's body: `id=<id>&received=<n>` takes up to 65.
const MAX_DOWN: usize = 128;

/// Content security policy of `iframe` responses: inline scripts and nothing else (T14).
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static("default-src 'none'; script-src 'unsafe-inline'"),
);

/// Maps paths to their handlers.
pub(super) fn routes(context: Arc<HttpContext>) -> Router {
    Router::new()
        .route("/http/up", post(up::up))
        .route("/http/{form}", post(down))
        .with_state(context)
}

/// Maps the paths of requests that other servers pass on: those of transports that are open here.
pub(crate) fn passed_on(context: Arc<HttpContext>) -> Router {
    Router::new()
        .route("/http/up", post(up::passed_on))
        .route("/http/{form}", post(down_passed_on))
        .with_state(context)
}

/// Answers a down request (T9 to T15).
async fn down(
    State(context): State<Arc<HttpContext>>,
    Path(name): Path<String>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let client = context.transports.addresses.client(peer.ip(), request.headers());
    let (head, body) = request.into_parts();
    let (form, asked) = match read_down(&context, &name, &head.headers, body).await {
        Ok(read) => read,
        Err(refused) => return *refused,
    };
    if asked.is_empty() {
        return match open::open(&context, client) {
            Ok(transport) => begin(&context, form, transport, None).await,
            Err(refused) => *refused,
        };
    }
    let Some((id, received)) = form::read_asked(&asked) else { return not_open() };
    match context.registry.find(id) {
        Some(transport) => begin(&context, form, transport, Some(received)).await,
        None => pass_on(&context, id, &head, asked.into()).await,
    }
}

/// Answers a down request that another server has passed on.
async fn down_passed_on(
    State(context): State<Arc<HttpContext>>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let (form, asked) = match read_down(&context, &name, &head.headers, body).await {
        Ok(read) => read,
        Err(refused) => return *refused,
    };
    let found = form::read_asked(&asked)
        .and_then(|(id, received)| Some((context.registry.find(id)?, received)));
    match found {
        Some((transport, received)) => begin(&context, form, transport, Some(received)).await,
        None => not_open(),
    }
}

/// Reads a down request: how it is answered, and its body, which is empty if it opens a transport.
async fn read_down(
    context: &HttpContext,
    name: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Form, Bytes), Box<Response>> {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let form = match (name, origin) {
        ("multipart", _) => Form::Stream(StreamForm::Multipart),
        ("iframe", Some(origin)) if is_origin(origin) => {
            Form::Stream(StreamForm::Iframe { origin: origin.to_owned() })
        }
        ("iframe", _) => {
            const WHY: &str = "the iframe transport needs a page with an origin";
            return Err(refusal(StatusCode::FORBIDDEN, WHY).into());
        }
        ("longpoll", _) => Form::Held,
        ("poll", _) => Form::AtOnce,
        _ => return Err(refusal(StatusCode::NOT_FOUND, "unknown transport").into()),
    };
    match timeout(context.limits.request, read(body, MAX_DOWN)).await {
        Ok(Ok(asked)) => Ok((form, asked)),
        Ok(Err(status)) => Err(refusal(status, "the request is incomplete").into()),
        Err(_) => Err(refusal(StatusCode::REQUEST_TIMEOUT, "the request takes too long").into()),
    }
}

/// Begins the response to a client that has received packets up to this number;
/// `None`: the transport is new.
async fn begin(
    context: &HttpContext,
    form: Form,
    transport: Arc<HttpTransport>,
    received: Option<u64>,
) -> Response {
    let limits = &context.limits;
    let Some(down) = Down::begin(transport, received.unwrap_or(0)) else { return not_open() };
    match form {
        Form::Stream(form) => {
            let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(form.content_type()))];
            let policy = matches!(form, StreamForm::Iframe { .. }).then_some([POLICY]);
            let body = Body::from_stream(stream(down, form, limits));
            (HEADERS, kind, policy, body).into_response()
        }
        Form::Held if received.is_some() => {
            (HEADERS, answer(down, limits.held).await).into_response()
        }
        Form::Held | Form::AtOnce => (HEADERS, answer(down, Duration::ZERO).await).into_response(),
    }
}

/// Reads a body of at most `limit` bytes.
async fn read(mut body: Body, limit: usize) -> Result<Bytes, StatusCode> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(StatusCode::BAD_REQUEST) };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}
