//! What the server does that a user's request reaches: it counts the request for its address, and
//! passes it on if another server has the room.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};

use super::context::UserContext;
use super::refusal::Refusal;
use crate::cluster::http::{Forward, Owner};
use crate::ends::conn_info::VISITOR;

/// Counts a request, and answers it here or passes it on. It counts as a connection until its
/// answer has been sent.
pub(super) async fn admit(
    State(context): State<Arc<UserContext>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let transports = &context.transports;
    let client = transports.addresses.client(peer.ip(), request.headers());
    if let Err(refusal) = transports.addresses.handshake(client) {
        let why = format!("{}: send fewer requests", refusal.why());
        return Refusal::too_often(&why, Duration::from_secs(1)).into_response();
    }
    let Ok(of_address) = transports.addresses.open(client) else {
        return Refusal::too_many(true).into_response();
    };
    if transports.connections.refuse() {
        return Refusal::too_many(false).into_response();
    }
    let counted = (of_address, transports.connections.count(VISITOR));
    let answer = match &context.forward {
        None => next.run(request).await,
        Some(forward) => answer_or_pass_on(forward, request, next).await,
    };
    answer.map(|body| Body::new(CountedBody { body, _counted: counted }))
}

/// The body of an answer, whose request counts as a connection until it is dropped.
struct CountedBody<T> {
    body: Body,
    _counted: T,
}

impl<T: Unpin> HttpBody for CountedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

async fn answer_or_pass_on(forward: &Forward, request: Request, next: Next) -> Response {
    match find_owner(forward, request).await {
        (Owner::Here, request) => next.run(request).await,
        (Owner::Nowhere, _) => Refusal::moving().into_response(),
        (Owner::There(node), mut request) => {
            request.headers_mut().remove(header::COOKIE);
            match forward.send(&node, request).await {
                Ok(answer) => answer,
                Err(why) => Refusal::from(why).into_response(),
            }
        }
    }
}

/// Refuses a request of another server about a room that this one does not have.
pub(super) async fn refuse_others(
    State(context): State<Arc<UserContext>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(forward) = &context.forward else { return next.run(request).await };
    match find_owner(forward, request).await {
        (Owner::Here, request) => next.run(request).await,
        (Owner::Nowhere | Owner::There(_), _) => Refusal::moving().into_response(),
    }
}

/// The server that has the room of a request.
async fn find_owner(forward: &Forward, request: Request) -> (Owner, Request) {
    let (mut head, body) = request.into_parts();
    let params = RawPathParams::from_request_parts(&mut head, &()).await;
    let room = params.ok().and_then(|params| {
        params.iter().find(|(name, _)| *name == "room").map(|(_, room)| room.to_owned())
    });
    let owner = room.map_or(Owner::Here, |room| forward.owner_of(&room));
    (owner, Request::from_parts(head, body))
}
