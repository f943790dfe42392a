//! Requests about rooms of other servers of the cluster: they are passed on to the server that has
//! the room.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Query, RawPathParams, Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::refusal::Refusal;
use crate::cluster::http::{Forward, Owner};

/// Below this path, the query names the room that a request is about.
const INSPECT: &str = "/inspect/";

/// Passes a request about a room of another server on to that server, which does not ask for the
/// token again. `forward` is `None` if this server has all rooms.
pub(super) async fn pass_on(
    State(forward): State<Option<Arc<Forward>>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(forward) = forward else { return next.run(request).await };
    let (owner, mut request) = find_owner(&forward, request).await;
    match owner {
        Owner::Here => next.run(request).await,
        Owner::Nowhere => Refusal::NoOwner.into_response(),
        Owner::There(node) => {
            request.headers_mut().remove(header::AUTHORIZATION);
            request.headers_mut().remove(header::COOKIE);
            let passed = forward.send(&node, request).await;
            passed.unwrap_or_else(|why| Refusal::NotForwarded(why).into_response())
        }
    }
}

/// Refuses a request of another server about a room that this one does not have any more, or does
/// not have yet.
pub(super) async fn refuse_others(
    State(forward): State<Option<Arc<Forward>>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(forward) = forward else { return next.run(request).await };
    match find_owner(&forward, request).await {
        (Owner::Here, request) => next.run(request).await,
        (Owner::Nowhere | Owner::There(_), _) => Refusal::NoOwner.into_response(),
    }
}

/// The server that a request is for. One that is about no room is for this server.
async fn find_owner(forward: &Forward, request: Request) -> (Owner, Request) {
    let (mut head, body) = request.into_parts();
    let room = room_of(&mut head).await;
    let owner = room.map_or(Owner::Here, |room| forward.owner_of(&room));
    (owner, Request::from_parts(head, body))
}

#[derive(Deserialize)]
struct InQuery {
    room: String,
}

/// The room that a request is about, if it is about one.
async fn room_of(head: &mut Parts) -> Option<String> {
    if let Ok(params) = RawPathParams::from_request_parts(head, &()).await
        && let Some((_, room)) = params.iter().find(|(name, _)| *name == "room")
    {
        return Some(room.to_owned());
    }
    if !head.uri.path().starts_with(INSPECT) {
        return None;
    }
    Query::try_from_uri(&head.uri).ok().map(|Query(InQuery { room })| room)
}
