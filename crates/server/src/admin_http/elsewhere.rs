//! Requests about rooms of other servers of the cluster: they are passed on to the server that has
//! the room.

use std::sync::Arc;

use axum::body::Body;
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
    let (mut head, body) = request.into_parts();
    let owner = room_of(&mut head).await.map(|room| forward.owner_of(&room));
    match owner {
        None | Some(Owner::Here) => next.run(Request::from_parts(head, body)).await,
        Some(Owner::Nowhere) => Refusal::NoOwner.into_response(),
        Some(Owner::There(node)) => {
            head.headers.remove(header::AUTHORIZATION);
            head.headers.remove(header::COOKIE);
            let passed = forward.send(&node, Request::from_parts(head, body)).await;
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
    let (mut head, body) = request.into_parts();
    let owner = room_of(&mut head).await.map(|room| forward.owner_of(&room));
    match owner {
        None | Some(Owner::Here) => next.run(Request::<Body>::from_parts(head, body)).await,
        Some(Owner::Nowhere | Owner::There(_)) => Refusal::NoOwner.into_response(),
    }
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
