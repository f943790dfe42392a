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
mod registry;
mod state;
mod up;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::BytesMut;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::context::TransportContext;
use crate::web::limits::HttpLimits;
use crate::web::origins::is_origin;
use context::HttpContext;
use down::{Down, answer, stream};
use form::{Form, StreamForm};
use headers::{HEADERS, NOT_OPEN_TEXT, refusal};
use registry::HttpTransports;
use up::up;

/// Most bytes of a down request's body: `id=<id>&received=<n>` takes up to 65.
const MAX_DOWN: usize = 128;

/// Content security policy of `iframe` responses: inline scripts and nothing else (T14).
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static("default-src 'none'; script-src 'unsafe-inline'"),
);

/// Maps paths to their handlers.
pub(super) fn routes(transports: Arc<TransportContext>, limits: HttpLimits) -> Router {
    let context = HttpContext { transports, limits, registry: HttpTransports::default() };
    Router::new()
        .route("/http/up", post(up))
        .route("/http/{form}", post(down))
        .with_state(Arc::new(context))
}

/// Answers a down request (T9 to T15).
async fn down(
    State(context): State<Arc<HttpContext>>,
    Path(name): Path<String>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let origin = request.headers().get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let form = match (name.as_str(), origin) {
        ("multipart", _) => Form::Stream(StreamForm::Multipart),
        ("iframe", Some(origin)) if is_origin(origin) => {
            Form::Stream(StreamForm::Iframe { origin: origin.to_owned() })
        }
        ("iframe", _) => {
            return refusal(
                StatusCode::FORBIDDEN,
                "the iframe transport needs a page with an origin",
            );
        }
        ("longpoll", _) => Form::Held,
        ("poll", _) => Form::AtOnce,
        _ => return refusal(StatusCode::NOT_FOUND, "unknown transport"),
    };
    let client = context.transports.addresses.client(peer.ip(), request.headers());
    let limits = &context.limits;
    let asked = match timeout(limits.request, read(request.into_body(), MAX_DOWN)).await {
        Ok(Ok(asked)) => asked,
        Ok(Err(status)) => return refusal(status, "the request is incomplete"),
        Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT, "the request takes too long"),
    };
    let is_new = asked.is_empty();
    let down = match is_new {
        true => match open::open(&context, client) {
            Ok(transport) => Down::begin(transport, 0),
            Err(refused) => return *refused,
        },
        false => form::read_asked(&asked)
            .and_then(|(id, received)| Some((context.registry.find(id)?, received)))
            .and_then(|(transport, received)| Down::begin(transport, received)),
    };
    let Some(down) = down else { return refusal(StatusCode::NOT_FOUND, NOT_OPEN_TEXT) };
    match form {
        Form::Stream(form) => {
            let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(form.content_type()))];
            let policy = matches!(form, StreamForm::Iframe { .. }).then_some([POLICY]);
            let body = Body::from_stream(stream(down, form, limits));
            (HEADERS, kind, policy, body).into_response()
        }
        Form::Held if !is_new => (HEADERS, answer(down, limits.held).await).into_response(),
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
