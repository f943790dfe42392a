//! Why a request of the administration is refused.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use groupwire_session::room::{NotPublished, NotReset};

use crate::access::NotChanged;
use crate::cluster::http::NotForwarded;
use crate::rooms::refused::NoAnswer;
use crate::rooms::task::Refused;

/// Why a request is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The room is not open.
    NoRoom,
    /// The room is neither open nor stored.
    NoRoomAtAll,
    NoConnection,
    NoParticipant,
    NoUser,
    NotStored,
    Wait,
    BanTime,
    Ban(NotChanged),
    /// A room that is stored or open does not answer.
    NotNow,
    /// No server of the cluster has the room at this moment.
    NoOwner,
    NotForwarded(NotForwarded),
    /// Rooms of a file were not all imported.
    PartlyImported(String),
    NoChannel,
    Limit,
    Content,
    IdempotencyKey,
    NotPublished(Refused),
    NotReset(NotReset),
    /// The server does not know whether the change became durable.
    Uncertain,
    /// The server stores no rooms.
    NoStore,
    Moment,
    NotKept,
    BehindReset,
    /// Another export or import is under way.
    Copying,
    /// The sender of a file sends nothing more.
    Stalled,
    FileSize(u64),
    /// The file that was sent is no export, or is damaged.
    File(String),
    Exists(String),
    Store(String),
    Path(PathRejection),
    Query(QueryRejection),
    Unreadable(JsonRejection),
}

impl From<NoAnswer> for Refusal {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::NoRoom => Refusal::NoRoomAtAll,
            NoAnswer::NotNow => Refusal::NotNow,
            NoAnswer::NotHere => Refusal::NoOwner,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Refusal::NoRoom => (StatusCode::NOT_FOUND, "this room is not open\n"),
            Refusal::NoConnection => {
                (StatusCode::NOT_FOUND, "this participant has no connection\n")
            }
            Refusal::NoParticipant => (StatusCode::NOT_FOUND, "there is no such participant\n"),
            Refusal::NoUser => (
                StatusCode::CONFLICT,
                "this participant has no verified user, so that it could join again as another participant: clients need \
                 JSON web tokens or a hook before somebody can be banned\n",
            ),
            Refusal::NotStored => (StatusCode::NOT_FOUND, "this room is not stored\n"),
            Refusal::Wait => {
                (StatusCode::BAD_REQUEST, "wait_seconds: write a number from 0 to 3600\n")
            }
            Refusal::BanTime => {
                (StatusCode::BAD_REQUEST, "ban: write a number of seconds, or forever\n")
            }
            Refusal::Ban(why) => return ban_not_changed(why),
            Refusal::NoRoomAtAll => {
                (StatusCode::NOT_FOUND, "this room is neither open nor stored\n")
            }
            Refusal::NotNow => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the room cannot be opened at present, or is just ending: try again; the server's log says more\n",
            ),
            Refusal::NoOwner => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the room is just moving from one server to another: try again in some seconds\n",
            ),
            Refusal::NotForwarded(why) => {
                let why = format!("another server has this room. {why}\n");
                return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
            }
            Refusal::PartlyImported(why) => {
                return (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response();
            }
            Refusal::NoChannel => (
                StatusCode::NOT_FOUND,
                "the room has no such channel: the first participant that opens a channel makes it\n",
            ),
            Refusal::Limit => (StatusCode::BAD_REQUEST, "limit: write a number from 1 to 200\n"),
            Refusal::Content => (
                StatusCode::BAD_REQUEST,
                "write exactly one of text, json and base64, and at most one of key and key_base64\n",
            ),
            Refusal::IdempotencyKey => (
                StatusCode::BAD_REQUEST,
                "Idempotency-Key: write 1 to 128 visible ASCII characters\n",
            ),
            Refusal::NotPublished(why) => return not_published(why),
            Refusal::NotReset(why) => return not_reset(why),
            Refusal::Uncertain => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the room ended, or its store takes nothing, before this was durable: send the request again, with the same \
                 Idempotency-Key if it has one\n",
            ),
            Refusal::NoStore => (
                StatusCode::NOT_FOUND,
                "this server stores no rooms: `groupwire serve --data FOLDER` does\n",
            ),
            Refusal::Moment => (StatusCode::BAD_REQUEST, "write either snapshot or position\n"),
            Refusal::NotKept => (
                StatusCode::CONFLICT,
                "there is no such snapshot or position, or it is no longer kept: the list of snapshots says from where on the \
                 room can be taken back\n",
            ),
            Refusal::BehindReset => (
                StatusCode::CONFLICT,
                "the channels of this snapshot were reset after it: restore a position before that of the reset\n",
            ),
            Refusal::Copying => (
                StatusCode::SERVICE_UNAVAILABLE,
                "another export or import is under way: try again later\n",
            ),
            Refusal::Stalled => {
                (StatusCode::REQUEST_TIMEOUT, "nothing of the file came for 30 s\n")
            }
            Refusal::FileSize(limit) => {
                let why = format!(
                    "the file has more than {limit} bytes, which is twice the store's quota and 64 MiB\n"
                );
                return (StatusCode::PAYLOAD_TOO_LARGE, why).into_response();
            }
            Refusal::File(error) => {
                return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response();
            }
            Refusal::Exists(error) => {
                return (StatusCode::CONFLICT, format!("{error}\n")).into_response();
            }
            Refusal::Store(error) => {
                return (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response();
            }
            Refusal::Path(rejection) => return rejection.into_response(),
            Refusal::Query(rejection) => return rejection.into_response(),
            Refusal::Unreadable(rejection) => return rejection.into_response(),
        };
        (status, why).into_response()
    }
}

fn ban_not_changed(why: NotChanged) -> Response {
    match why {
        NotChanged::Unknown => {
            (StatusCode::NOT_FOUND, "there is no ban of this number\n").into_response()
        }
        NotChanged::TooMany => {
            const WHY: &str = "there are 10,000 bans, and no more are possible: remove some, or let the login \
                service refuse users\n";
            (StatusCode::CONFLICT, WHY).into_response()
        }
        NotChanged::Wrong(why) => (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response(),
        NotChanged::NotShared(why) => {
            let why = format!(
                "it is not known whether this is done: the log that all servers follow does not answer, look at the list \
                 of bans and try again. {why}\n"
            );
            (StatusCode::SERVICE_UNAVAILABLE, why).into_response()
        }
        NotChanged::NotStored(why) => {
            let why = format!("this is done, but not stored: a restart undoes it. {why}\n");
            (StatusCode::SERVICE_UNAVAILABLE, why).into_response()
        }
    }
}

fn not_published(why: Refused) -> Response {
    let (status, why) = match why {
        Refused::TooOften => (
            StatusCode::TOO_MANY_REQUESTS,
            "the administration publishes at most 10 messages per second in a room: try again later\n",
        ),
        Refused::Room(NotPublished::NoChannel) => return Refusal::NoChannel.into_response(),
        Refused::Room(NotPublished::NoRequestKey) => (
            StatusCode::BAD_REQUEST,
            "this channel carries transactions: send an Idempotency-Key, so that a repeated request publishes nothing\n",
        ),
        Refused::Room(NotPublished::OtherContent) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "another message was published with this Idempotency-Key: take another key\n",
        ),
        Refused::Room(NotPublished::NotNow) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the room can take no transactions at present: its store has no space, or is behind\n",
        ),
        Refused::Room(NotPublished::Failed(error)) => {
            return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response();
        }
        Refused::Room(other) => {
            return (StatusCode::BAD_REQUEST, format!("{other:?}\n")).into_response();
        }
    };
    (status, why).into_response()
}

fn not_reset(why: NotReset) -> Response {
    match why {
        NotReset::NoChannel(_) => Refusal::NoChannel.into_response(),
        NotReset::SharesPart(others) => {
            let others = serde_json::to_string(&others).unwrap_or_default();
            let why = format!(
                "a part of the snapshot stands for these channels and for others: reset them together, with {others}\n"
            );
            (StatusCode::CONFLICT, why).into_response()
        }
        NotReset::Failed(error) => (StatusCode::CONFLICT, format!("{error}\n")).into_response(),
        other => (StatusCode::CONFLICT, format!("{other:?}\n")).into_response(),
    }
}
