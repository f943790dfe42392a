//! The administration's requests about rooms and people, below `/api/`. `openapi.json` describes
//! them and those of the neighbouring files.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use groupwire_session::{Identity, ParticipantId, PresenceState};
use serde::{Deserialize, Serialize};

use super::context::AdminContext;
use super::refusal::Refusal;
use crate::durable::{Durable, StoreError, wait};
use crate::lifecycle::drain::Drain;
use crate::metrics::sampling;
use crate::rooms::directory::Directory;
use crate::rooms::task::Driver;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Most bytes of a request's body; `{"wait_seconds":10}` has 19.
const MAX_BODY: usize = 256;

/// The longest time between the request to drain and the end, in seconds.
const MAX_WAIT: u64 = 3600;

/// The description of these requests.
const OPENAPI: &str = include_str!("openapi.json");

/// Maps paths to the handlers of requests about this server.
pub(super) fn router_of_server() -> Router<AdminContext> {
    Router::new()
        .route("/api/history", get(sampling::answer))
        .route("/api/drain", post(drain).layer(DefaultBodyLimit::max(MAX_BODY)))
        .route("/api/openapi.json", get(openapi))
}

/// Maps paths to the handlers of requests about one room.
pub(super) fn router() -> Router<AdminContext> {
    Router::new()
        .route("/api/rooms/{room}", delete(delete_room))
        .route("/api/rooms/{room}/participants", get(participants))
}

/// A participant of a room.
#[derive(Serialize)]
struct ParticipantLine {
    participant: u32,
    /// `here`, or `away`: without a connection, and able to resume.
    state: &'static str,
    /// The user that its token names; `null` if there are no tokens.
    user: Option<String>,
    /// What carries its packets; `null` while it is away.
    transport: Option<&'static str>,
}

#[derive(Serialize)]
struct Participants {
    participants: Vec<ParticipantLine>,
}

async fn participants(
    State(rooms): State<Arc<Directory>>,
    room: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    let found = rooms.with_room(&room, people).await;
    let participants = found.ok_or(Refusal::NoRoom)?;
    Ok(([NO_SNIFF, NO_STORE], Json(Participants { participants })))
}

fn people(driver: &mut Driver, now: Duration) -> Vec<ParticipantLine> {
    let facts = driver.room.inspect(now).participants;
    let line = |(id, state): (ParticipantId, PresenceState)| ParticipantLine {
        participant: id.get(),
        state: match state {
            PresenceState::Here => "here",
            PresenceState::Away | PresenceState::Left => "away",
        },
        user: driver.room.identity_of(id).and_then(Identity::user).map(str::to_owned),
        transport: driver.transport_of(id),
    };
    let present = facts.into_iter().map(|one| (one.id, one.state));
    present.filter(|(_, state)| *state != PresenceState::Left).map(line).collect()
}

/// Deletes what is stored of a room. Its participants are disconnected, and come back to an empty
/// room.
async fn delete_room(
    State(rooms): State<Arc<Directory>>,
    State(durable): State<Option<Arc<Durable>>>,
    room: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    let durable = durable.ok_or(Refusal::NotStored)?;
    let name = room.clone();
    // This blocks for as long as the disk takes.
    let deleting = tokio::task::spawn_blocking(move || {
        wait(|done| durable.stores.directory.delete(name, done))
    });
    match deleting.await {
        Ok(Ok(())) => {
            rooms.end_stored(&room);
            tracing::info!(room, "room deleted");
            Ok(StatusCode::NO_CONTENT)
        }
        Ok(Err(StoreError::NoRoom)) => Err(Refusal::NotStored),
        Ok(Err(error)) => Err(Refusal::Store(error.to_string())),
        Err(error) => Err(Refusal::Store(error.to_string())),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DrainRequest {
    /// If it is missing, the time in the server's configuration applies.
    wait_seconds: Option<u64>,
}

/// Makes the server not ready, and stops it after a time, in which balancers and monitoring notice.
async fn drain(
    State(drain): State<Arc<Drain>>,
    wanted: Result<Json<DrainRequest>, JsonRejection>,
) -> Result<StatusCode, Refusal> {
    let Json(DrainRequest { wait_seconds }) = wanted.map_err(Refusal::Unreadable)?;
    if wait_seconds.is_some_and(|seconds| seconds > MAX_WAIT) {
        return Err(Refusal::Wait);
    }
    drain.stop_after(wait_seconds.map(Duration::from_secs));
    Ok(StatusCode::ACCEPTED)
}

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], [NO_SNIFF], OPENAPI)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::body::Body;
    use axum::http::{Method, Request};
    use serde_json::Value;
    use tower_service::Service;

    use super::*;
    use crate::admin_http::access::Access;
    use crate::admin_http::routes;
    use crate::server::config::Config;
    use crate::server::services::Services;

    /// Every method and path of the description, with examples in place of parameters.
    fn described() -> Vec<(Method, String)> {
        let openapi: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut all = Vec::new();
        for (path, operations) in openapi["paths"].as_object().unwrap() {
            let path = path.replace("{room}", "a%2Fb").replace("{participant}", "7");
            let path = path.replace("{ban}", "7").replace("{channel}", "c%2Fd");
            for method in operations.as_object().unwrap().keys().filter(|key| *key != "parameters")
            {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                all.push((method, path.clone()));
            }
        }
        all
    }

    #[tokio::test]
    async fn the_description_and_the_routes_agree() {
        let services = Services::new(Config::default(), None, None).unwrap();
        let access = Access { token: None, hosts: Vec::new() };
        let mut router = routes::router(services.admin.clone(), Arc::new(access));
        let mut ask = async |method: &Method, path: &str| {
            let request = Request::builder().method(method).uri(path).header("host", "localhost");
            let answer = router.call(request.body(Body::empty()).unwrap()).await.unwrap();
            let (status, headers) = (answer.status(), answer.headers().clone());
            (status, headers.get(header::ALLOW).map(|all| all.to_str().unwrap().to_owned()))
        };
        let all = described();
        let paths: BTreeSet<_> = all.iter().map(|(_, path)| path).collect();
        assert!(paths.len() >= 6, "{paths:?}");
        for path in paths {
            // The answer to a method that no route has lists those that it has.
            let (status, allowed) = ask(&Method::PATCH, path).await;
            assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
            let allowed: BTreeSet<_> =
                allowed.unwrap().split(',').map(str::to_owned).filter(|m| m != "HEAD").collect();
            let described = all.iter().filter(|(_, other)| other == path);
            let described: BTreeSet<_> = described.map(|(method, _)| method.to_string()).collect();
            assert_eq!(allowed, described, "{path}");
        }
        // And no route is missing in the description: the sources name each once.
        let sources = concat!(
            include_str!("api.rs"),
            include_str!("bans.rs"),
            include_str!("channels.rs"),
            include_str!("import.rs"),
            include_str!("overview.rs"),
            include_str!("publish.rs"),
            include_str!("snapshots.rs"),
            include_str!("transfer.rs")
        );
        let lines = sources.split(".route(").skip(1);
        let routes = lines.filter(|rest| rest.trim_start().starts_with("\"/api/")).count();
        let paths: BTreeSet<_> = all.iter().map(|(_, path)| path).collect();
        assert_eq!(paths.len(), routes);
    }
}
