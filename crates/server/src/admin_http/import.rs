//! The administration's request to import stored rooms from the file of an export. `openapi.json`
//! describes it. In a cluster, the file goes to each server that has rooms of it, and each takes
//! its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::Request;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use super::context::AdminContext;
use super::refusal::Refusal;
use super::transfer::Received;
use crate::cluster::http::{Forward, Node, Owner};
use crate::durable::StoreError;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Most bytes of the answer of another server: the names of 10,000 rooms take 3 MB.
const MAX_ANSWER: usize = 16 << 20;

/// Maps the path to its handler.
pub(super) fn router() -> Router<AdminContext> {
    Router::new().route("/api/import", post(import).layer(DefaultBodyLimit::disable()))
}

/// Maps the path at which other servers send files.
pub(super) fn router_of_servers() -> Router<AdminContext> {
    Router::new().route("/own/import", post(import_own).layer(DefaultBodyLimit::disable()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Import {
    /// The room to take; all if it is missing.
    room: Option<String>,
    #[serde(default)]
    replace: bool,
}

impl Import {
    /// True if the room is to be taken.
    fn wants(&self, name: &str) -> bool {
        self.room.as_ref().is_none_or(|room| room == name)
    }
}

#[derive(Serialize, Deserialize)]
struct Imported {
    rooms: Vec<String>,
}

async fn import(
    State(context): State<AdminContext>,
    query: Result<Query<Import>, QueryRejection>,
    body: Body,
) -> Result<impl IntoResponse, Refusal> {
    let Query(wanted) = query.map_err(Refusal::Query)?;
    let received = Received::new(&context, body).await?;
    let replace = wanted.replace;
    let rooms = match context.forward {
        Some(forward) => import_everywhere(forward, &received, Arc::new(wanted)).await?,
        None => received.take(move |name| wanted.wants(name), replace).await?,
    };
    tracing::info!(?rooms, "rooms imported");
    Ok(([NO_SNIFF, NO_STORE], Json(Imported { rooms })))
}

/// Takes those rooms of a file that another server sends which this server has itself.
async fn import_own(
    State(context): State<AdminContext>,
    query: Result<Query<Import>, QueryRejection>,
    body: Body,
) -> Result<impl IntoResponse, Refusal> {
    let Query(wanted) = query.map_err(Refusal::Query)?;
    let received = Received::new(&context, body).await?;
    let forward = context.forward.ok_or(Refusal::NoOwner)?;
    let rooms = take_own(forward, &received, Arc::new(wanted)).await?;
    tracing::info!(?rooms, "rooms imported for another server");
    Ok(Json(Imported { rooms }))
}

/// Sends a file to all servers that have rooms of it. Nothing is imported if a room exists that is
/// not to be replaced, or if no server has a room.
async fn import_everywhere(
    forward: Arc<Forward>,
    received: &Received,
    wanted: Arc<Import>,
) -> Result<Vec<String>, Refusal> {
    let wants = Arc::clone(&wanted);
    let names = received.names(move |name| wants.wants(name)).await?;
    let stored = &received.durable.stores.directory;
    if let Some(name) = names.iter().find(|name| !wanted.replace && stored.contains(name)) {
        return Err(Refusal::Exists(StoreError::Exists(name.clone()).to_string()));
    }
    let mut others = BTreeMap::new();
    for name in &names {
        match forward.owner_of(name) {
            Owner::Here => {}
            Owner::There(node) => drop(others.insert(node.name.clone(), node)),
            Owner::Nowhere => return Err(Refusal::NoOwner),
        }
    }
    let mut done = Vec::new();
    for node in others.values() {
        match send(&forward, node, received, &wanted).await {
            Ok(rooms) => done.extend(rooms),
            Err(why) => return Err(partly(&names, &done, &why)),
        }
    }
    done.extend(take_own(forward, received, wanted).await?);
    done.sort();
    match names.iter().all(|name| done.binary_search(name).is_ok()) {
        true => Ok(done),
        false => Err(partly(&names, &done, "rooms have moved from one server to another")),
    }
}

/// Takes those rooms of a file that this server has.
async fn take_own(
    forward: Arc<Forward>,
    received: &Received,
    wanted: Arc<Import>,
) -> Result<Vec<String>, Refusal> {
    let replace = wanted.replace;
    let is_here = move |name: &str| matches!(forward.owner_of(name), Owner::Here);
    received.take(move |name| wanted.wants(name) && is_here(name), replace).await
}

/// Sends a file to another server. Returns the names of the rooms that it took, or why it took
/// none.
async fn send(
    forward: &Forward,
    node: &Node,
    received: &Received,
    wanted: &Import,
) -> Result<Vec<String>, String> {
    let body = received.open().await.map_err(|_| "the file cannot be read".to_owned())?;
    let request = Request::post(path(wanted)).body(body).map_err(|error| error.to_string())?;
    let answer = forward.send(node, request).await.map_err(|why| why.to_string())?;
    let status = answer.status();
    let bytes = to_bytes(answer.into_body(), MAX_ANSWER).await;
    let bytes = bytes.map_err(|error| format!("the answer of {} broke off: {error}", node.name))?;
    if !status.is_success() {
        let why = String::from_utf8_lossy(&bytes);
        return Err(format!("the server {} answered {status}: {}", node.name, why.trim_end()));
    }
    let imported: Imported = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    Ok(imported.rooms)
}

fn path(wanted: &Import) -> String {
    let mut path = format!("/own/import?replace={}", wanted.replace);
    if let Some(room) = &wanted.room {
        path.push_str("&room=");
        path.extend(utf8_percent_encode(room, NON_ALPHANUMERIC));
    }
    path
}

fn partly(names: &[String], done: &[String], why: &str) -> Refusal {
    let missing: Vec<_> = names.iter().filter(|name| !done.contains(name)).collect();
    Refusal::PartlyImported(format!(
        "{why}. Imported: {done:?}. Not imported: {missing:?}. Send the file again with ?replace=true"
    ))
}
