//! The administration's requests about what channels hold, and to reset them. `openapi.json`
//! describes them.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use groupwire_session::room::{ChannelContents, LookedAt, Newest};
use groupwire_session::{Kind, Order, Overflow, Position, Qos};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::answer::{MAX_SHOWN, MessageLine};
use super::context::AdminContext;
use super::publish::{Outcome, wait};
use super::refusal::Refusal;
use crate::rooms::directory::Directory;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Most bytes of a request to reset: the names of all channels of a usual room.
const MAX_RESET: usize = 64 << 10;

/// Most transactions and values in an answer, and their number if the request names none.
const MOST: usize = 200;
const USUAL: usize = 20;

/// Maps paths to their handlers.
pub(super) fn router() -> Router<AdminContext> {
    Router::new()
        .route("/api/rooms/{room}/channels", get(channels))
        .route("/api/rooms/{room}/channels/{channel}", get(channel))
        .route("/api/rooms/{room}/reset", post(reset).layer(DefaultBodyLimit::max(MAX_RESET)))
}

#[derive(Serialize)]
struct Channels {
    channels: Vec<ChannelLine>,
}

/// What a channel holds.
#[derive(Serialize)]
struct ChannelLine {
    id: u32,
    name: String,
    kind: &'static str,
    qos: QosLine,
    /// Participants that receive its messages.
    receivers: usize,
    /// Transactions in memory, and the bytes of their messages.
    transactions: usize,
    transaction_bytes: usize,
    /// Awareness values, and the bytes of their messages.
    values: usize,
    value_bytes: usize,
    /// The part of the snapshot that stands for older transactions.
    part: Option<PartLine>,
    /// The position of the last reset; `null` without one.
    reset: Option<u64>,
}

#[derive(Serialize)]
struct PartLine {
    name: String,
    as_of: u64,
    bytes: usize,
}

#[derive(Serialize)]
struct QosLine {
    overflow: &'static str,
    priority: u8,
    loss: f64,
    deadline_ms: Option<u64>,
    rate_min: f64,
    rate_max: f64,
}

impl ChannelLine {
    fn new(one: ChannelContents) -> Self {
        let (transactions, transaction_bytes) = one.transactions;
        let (values, value_bytes) = one.values;
        ChannelLine {
            id: one.id.get(),
            name: one.name,
            kind: match one.qos.kind {
                Kind::Transaction => "transaction",
                Kind::Awareness => "awareness",
            },
            qos: QosLine::new(&one.qos),
            receivers: one.receivers,
            transactions,
            transaction_bytes,
            values,
            value_bytes,
            part: one.part.map(|part| PartLine {
                name: part.name,
                as_of: part.as_of.get(),
                bytes: part.size,
            }),
            reset: Some(one.reset.get()).filter(|&position| position > 0),
        }
    }
}

impl QosLine {
    fn new(qos: &Qos) -> Self {
        QosLine {
            overflow: match qos.overflow {
                Overflow::Conflate => "conflate",
                Overflow::Aggregate => "aggregate",
            },
            priority: qos.priority,
            loss: f64::from(qos.loss) / 1000.0,
            deadline_ms: qos.deadline.map(|deadline| deadline.as_millis() as u64),
            rate_min: qos.rate_min.hertz(),
            rate_max: qos.rate_max.hertz(),
        }
    }
}

async fn channels(
    State(rooms): State<Arc<Directory>>,
    room: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    let channels = rooms.with_stored_room(&room, |driver, _| driver.room.channels()).await?;
    let channels = channels.into_iter().map(ChannelLine::new).collect();
    Ok(([NO_SNIFF, NO_STORE], Json(Channels { channels })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    limit: Option<usize>,
    /// Transactions before this position.
    before: Option<u64>,
    /// Values before this order.
    values_before: Option<u64>,
}

/// The newest transactions and values of a channel.
#[derive(Serialize)]
struct Contents {
    #[serde(flatten)]
    channel: ChannelLine,
    newest_transactions: Vec<MessageLine>,
    newest_values: Vec<MessageLine>,
    /// The `before` of the next page, if there are more transactions in memory.
    next_before: Option<u64>,
    /// The `values_before` of the next page, if there are more values.
    next_values_before: Option<u64>,
}

async fn channel(
    State(rooms): State<Arc<Directory>>,
    target: Result<Path<(String, String)>, PathRejection>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Path((room, name)) = target.map_err(Refusal::Path)?;
    let Query(Page { limit, before, values_before }) = page.map_err(Refusal::Query)?;
    let limit = limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Refusal::Limit);
    }
    let wanted = Newest {
        transactions_before: before.map(Position),
        values_before: values_before.map(Order),
        // One entry more than the answer shows tells whether there is another page.
        limit: limit + 1,
        max_bytes: MAX_SHOWN,
    };
    let looked_at = rooms.with_stored_room(&room, move |driver, now| {
        let channel = driver.room.channels().into_iter().find(|one| one.name == name)?;
        Some((channel, driver.room.newest(now, &name, &wanted)?))
    });
    let found = looked_at.await?.ok_or(Refusal::NoChannel)?;
    let (channel, (transactions, values)) = found;
    let last = |all: &[LookedAt]| (all.len() > limit).then(|| all[limit - 1].clone());
    let contents = Contents {
        channel: ChannelLine::new(channel),
        next_before: last(&transactions).map(|last| last.position.get()),
        next_values_before: last(&values).map(|last| last.order.get()),
        newest_transactions: lines(transactions, limit),
        newest_values: lines(values, limit),
    };
    Ok(([NO_SNIFF, NO_STORE], Json(contents)))
}

fn lines(all: Vec<LookedAt>, limit: usize) -> Vec<MessageLine> {
    all.into_iter().take(limit).map(MessageLine::new).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    channels: Vec<String>,
}

async fn reset(
    State(rooms): State<Arc<Directory>>,
    room: Result<Path<String>, PathRejection>,
    wanted: Result<Json<Reset>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    let Json(Reset { channels }) = wanted.map_err(Refusal::Unreadable)?;
    if channels.is_empty() {
        return Err(Refusal::NoChannel);
    }
    let (durable, is_durable) = oneshot::channel();
    let names = channels.clone();
    let done = rooms.with_stored_room(&room, move |driver, now| driver.reset(now, &names, durable));
    let position = done.await?.map_err(Refusal::NotReset)?.get();
    wait(is_durable).await?;
    tracing::info!(room, ?channels, position, "channels reset");
    Ok(([NO_SNIFF, NO_STORE], Json(Outcome { position: Some(position) })))
}
