//! Uploads, which carry packets to the server: `POST /http/up` (docs/transports.md, T16, T17).

use std::future::ready;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::{Buf, BytesMut};
use futures_util::{StreamExt, stream};
use groupwire_session::Error;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::context::HttpContext;
use super::form::{Head, HttpTransportId, read_head};
use super::headers::{HEADERS, NOT_OPEN_TEXT, refusal};
use super::pass_on::pass_on;
use super::registry::HttpTransports;
use super::state::{HttpTransport, UploadOrder};
use crate::ends::Gone;
use crate::ends::framing::{MAX_VARINT, measure};

/// Most bytes of a refused upload that are still read and dropped: a client whose connection is
/// closed while it sends may not see the answer.
const MAX_DROPPED: usize = 1 << 20;

/// Answers an upload.
pub(super) async fn up(State(context): State<Arc<HttpContext>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let mut reading = Reading { body, bytes: BytesMut::new() };
    match timeout(context.limits.request, reading.id()).await {
        Ok(Some(id)) if context.registry.find(id).is_none() => {
            pass_on(&context, id, &head, reading.whole()).await
        }
        Ok(_) => answer(&context, reading).await,
        Err(_) => answer_refusal(SLOW),
    }
}

/// Answers an upload that another server has passed on.
pub(super) async fn passed_on(
    State(context): State<Arc<HttpContext>>,
    request: Request,
) -> Response {
    answer(&context, Reading { body: request.into_body(), bytes: BytesMut::new() }).await
}

async fn answer(context: &HttpContext, reading: Reading) -> Response {
    match take_upload(context, reading).await {
        Ok(()) => (StatusCode::NO_CONTENT, HEADERS).into_response(),
        Err(refused) => answer_refusal(refused),
    }
}

fn answer_refusal(Refusal(status, why): Refusal) -> Response {
    tracing::debug!(%status, why, "upload refused");
    refusal(status, why)
}

struct Refusal(StatusCode, &'static str);

const NOT_OPEN: Refusal = Refusal(StatusCode::NOT_FOUND, NOT_OPEN_TEXT);

const SLOW: Refusal = Refusal(StatusCode::REQUEST_TIMEOUT, "the upload takes too long");

async fn take_upload(context: &HttpContext, mut reading: Reading) -> Result<(), Refusal> {
    let max_packet = context.transports.max_packet();
    let patience = context.limits.request;
    let slow = |_| SLOW;
    let (transport, head) =
        timeout(patience, reading.head(&context.registry)).await.map_err(slow)??;
    let upload = match transport.begin_upload(head.number, head.received) {
        UploadOrder::Next => Uploading(transport),
        UploadOrder::Repeated => {
            let _ = timeout(patience, reading.drop_rest()).await;
            return Ok(());
        }
        UploadOrder::Wrong => {
            return Err(Refusal(
                StatusCode::CONFLICT,
                "unexpected upload number; the transport is closed",
            ));
        }
        UploadOrder::Gone => return Err(NOT_OPEN),
    };
    let packets = timeout(patience, reading.packets(max_packet)).await.map_err(slow)?;
    let packets = match packets {
        Ok(packets) => packets,
        Err(Unread::Broken) => {
            return Err(Refusal(StatusCode::BAD_REQUEST, "the upload is incomplete"));
        }
        Err(Unread::Wrong(error)) => {
            let status = match error {
                Error::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                _ => StatusCode::BAD_REQUEST,
            };
            upload.0.fail(error);
            return Err(Refusal(status, "malformed upload; the transport is closed"));
        }
    };
    match timeout(patience, upload.0.accept_upload(head.number, packets)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Gone)) => Err(NOT_OPEN),
        Err(_) => Err(Refusal(StatusCode::SERVICE_UNAVAILABLE, "the room is busy")),
    }
}

/// An upload that is being read. Dropping it tells the transport that the upload has ended.
struct Uploading(Arc<HttpTransport>);

impl Drop for Uploading {
    fn drop(&mut self) {
        self.0.end_upload();
    }
}

/// Why an upload's packets could not be read.
enum Unread {
    /// The connection broke.
    Broken,
    /// The client broke a rule.
    Wrong(Error),
}

struct Reading {
    body: Body,
    bytes: BytesMut,
}

impl Reading {
    /// Reads the transport's id, which stays at the beginning of what was read; `None` if the
    /// upload does not begin with one.
    async fn id(&mut self) -> Option<HttpTransportId> {
        while self.bytes.len() < HttpTransportId::DIGITS {
            if !matches!(self.more().await, Ok(true)) {
                return None;
            }
        }
        HttpTransportId::read(&self.bytes[..HttpTransportId::DIGITS])
    }

    /// The whole upload: what was read, and what is still to come.
    fn whole(self) -> Body {
        let read = stream::once(ready(Ok(self.bytes.freeze())));
        Body::from_stream(read.chain(self.body.into_data_stream()))
    }

    /// Reads the transport's id and the numbers before the packets.
    async fn head(
        &mut self,
        registry: &HttpTransports,
    ) -> Result<(Arc<HttpTransport>, Head), Refusal> {
        let broken = Refusal(StatusCode::BAD_REQUEST, "the upload is incomplete");
        let transport = self.id().await.and_then(|id| registry.find(id)).ok_or(NOT_OPEN)?;
        loop {
            match read_head(&self.bytes[HttpTransportId::DIGITS..]) {
                Ok(Some(head)) => {
                    self.bytes.advance(HttpTransportId::DIGITS + head.size);
                    return Ok((transport, head));
                }
                Ok(None) => match self.more().await {
                    Ok(true) => {}
                    Ok(false) | Err(Gone) => return Err(broken),
                },
                Err(error) => {
                    transport.fail(error);
                    return Err(Refusal(StatusCode::BAD_REQUEST, "malformed upload"));
                }
            }
        }
    }

    /// Reads all packets and checks their lengths; returns them length-prefixed.
    async fn packets(&mut self, max_packet: usize) -> Result<Bytes, Unread> {
        let limit = 2 * (max_packet + MAX_VARINT);
        while self.bytes.len() <= limit {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => return self.check(max_packet).map_err(Unread::Wrong),
                Err(Gone) => return Err(Unread::Broken),
            }
        }
        let size = self.bytes.len();
        self.drop_rest().await;
        Err(Unread::Wrong(Error::TooLarge { what: "upload", size, limit }))
    }

    fn check(&mut self, max_packet: usize) -> Result<Bytes, Error> {
        let mut rest = &self.bytes[..];
        while let Some((prefix, length)) = measure(rest, max_packet)? {
            rest = &rest[prefix + length..];
        }
        match rest.is_empty() {
            true => Ok(self.bytes.split().freeze()),
            false => Err(Error::Malformed { what: "upload: it ends within a packet" }),
        }
    }

    async fn drop_rest(&mut self) {
        let mut dropped = 0;
        while dropped < MAX_DROPPED && matches!(self.more().await, Ok(true)) {
            dropped += self.bytes.len();
            self.bytes.clear();
        }
    }

    /// Reads more bytes. Returns false at the end of the body.
    async fn more(&mut self) -> Result<bool, Gone> {
        loop {
            let Some(frame) = self.body.frame().await else { return Ok(false) };
            let Ok(data) = frame.map_err(|_| Gone)?.into_data() else { continue };
            self.bytes.extend_from_slice(&data);
            return Ok(true);
        }
    }
}
