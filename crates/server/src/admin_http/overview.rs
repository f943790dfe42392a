//! The administration's requests about the whole server, and about all servers of a cluster: the
//! list of rooms, and totals. `openapi.json` describes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::AdminContext;
use crate::cluster::http::{Answers, Forward};
use crate::durable::Durable;
use crate::metrics::sources::Sources;
use crate::metrics::status::{self, Report};
use crate::rooms::directory::Directory;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// The paths at which other servers ask for what this one has itself.
const OWN_ROOMS: &str = "/own/rooms";
const OWN_STATUS: &str = "/own/status";

/// Maps paths to their handlers.
pub(super) fn router() -> Router<AdminContext> {
    Router::new().route("/api/status", get(status)).route("/api/rooms", get(rooms))
}

/// Maps the paths at which other servers ask.
pub(super) fn router_of_servers() -> Router<AdminContext> {
    Router::new().route(OWN_ROOMS, get(own_rooms)).route(OWN_STATUS, get(status::report))
}

/// A room, open or stored.
#[derive(Serialize, Deserialize)]
struct RoomLine {
    name: String,
    /// True if the room is in memory, because somebody is there or was a short time ago.
    is_open: bool,
    /// Participants with a connection.
    participants: usize,
    /// The bytes that count towards the quota; `null` if the room is not stored.
    stored_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Rooms {
    rooms: Vec<RoomLine>,
    /// Servers of the cluster whose open rooms are missing, because they did not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unanswered: Vec<String>,
}

/// Lists the open rooms of all servers, and the stored ones, of which each server has a copy.
async fn rooms(
    State(directory): State<Arc<Directory>>,
    State(durable): State<Option<Arc<Durable>>>,
    State(forward): State<Option<Arc<Forward>>>,
) -> impl IntoResponse {
    let mut rooms = open_rooms(&directory).await;
    let mut unanswered = Vec::new();
    if let Some(forward) = forward {
        let others: Answers<Vec<RoomLine>> = forward.ask_all(OWN_ROOMS).await;
        rooms.extend(others.answers.into_iter().flat_map(|(_, rooms)| rooms));
        unanswered = others.unanswered;
    }
    rooms.sort_by(|one, two| one.name.cmp(&two.name));
    // A room that moved meanwhile may be open at two servers.
    rooms.dedup_by(|one, two| one.name == two.name);
    let open = rooms.len();
    let stored = durable.map(|durable| durable.stores.directory.rooms()).unwrap_or_default();
    for room in stored {
        let stored_bytes = Some(room.bytes);
        match rooms[..open].binary_search_by(|line| line.name.cmp(&room.name)) {
            Ok(at) => rooms[at].stored_bytes = stored_bytes,
            Err(_) => {
                let name = room.name;
                rooms.push(RoomLine { name, is_open: false, participants: 0, stored_bytes });
            }
        }
    }
    rooms.sort_by(|one, two| one.name.cmp(&two.name));
    ([NO_SNIFF, NO_STORE], Json(Rooms { rooms, unanswered }))
}

async fn own_rooms(State(directory): State<Arc<Directory>>) -> Json<Vec<RoomLine>> {
    Json(open_rooms(&directory).await)
}

/// The open rooms of this server. What is stored of them is not looked up.
async fn open_rooms(directory: &Arc<Directory>) -> Vec<RoomLine> {
    let mut rooms = Vec::new();
    for name in directory.names() {
        let here = directory.with_room(&name, |driver, _| driver.room.count_here()).await;
        if let Some(participants) = here {
            rooms.push(RoomLine { name, is_open: true, participants, stored_bytes: None });
        }
    }
    rooms
}

/// The figures of this server, and in a cluster those of all.
#[derive(Serialize)]
struct Status {
    #[serde(flatten)]
    own: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<OfCluster>,
}

#[derive(Serialize)]
struct OfCluster {
    /// The name of the server that answers.
    server: String,
    /// The sums over all servers that answered.
    totals: Map<String, Value>,
    /// The figures of all servers by their names, as `GET /status` of each has them.
    servers: BTreeMap<String, Value>,
    /// Servers that did not answer.
    unanswered: Vec<String>,
}

async fn status(
    State(sources): State<Arc<Sources>>,
    State(forward): State<Option<Arc<Forward>>>,
) -> impl IntoResponse {
    let own = Report::of(&sources).await;
    let cluster = match forward {
        Some(forward) => Some(of_cluster(&forward, &own).await),
        None => None,
    };
    ([NO_SNIFF, NO_STORE], Json(Status { own, cluster }))
}

async fn of_cluster(forward: &Forward, own: &Report) -> OfCluster {
    let Answers { answers, unanswered } = forward.ask_all(OWN_STATUS).await;
    let mut servers: BTreeMap<String, Value> = answers.into_iter().collect();
    let server = forward.own_name().to_owned();
    servers.insert(server.clone(), json(own));
    let names = json(&own.totals);
    let names = names.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    let names = names.chain(["connections", "rooms"]);
    let sum = |name: &str| servers.values().filter_map(|one| one[name].as_u64()).sum::<u64>();
    let totals = names.map(|name| (name.to_owned(), sum(name).into())).collect();
    OfCluster { server, totals, servers, unanswered }
}

/// Figures always have a form as JSON.
fn json(figures: &impl Serialize) -> Value {
    serde_json::to_value(figures).unwrap_or_default()
}
