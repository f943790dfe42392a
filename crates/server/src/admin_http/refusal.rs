//! Why a request of the administration is refused.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::access::NotChanged;

/// Why a request is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    NoRoom,
    NoConnection,
    NoParticipant,
    NoUser,
    NotStored,
    Wait,
    BanTime,
    Ban(NotChanged),
    Store(String),
    Path(PathRejection),
    Query(QueryRejection),
    Unreadable(JsonRejection),
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
            Refusal::Ban(NotChanged::Unknown) => {
                (StatusCode::NOT_FOUND, "there is no ban of this number\n")
            }
            Refusal::Ban(NotChanged::TooMany) => (
                StatusCode::CONFLICT,
                "there are 10,000 bans, and no more are possible: remove some, or let the login service refuse users\n",
            ),
            Refusal::Ban(NotChanged::Wrong(why)) => {
                return (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response();
            }
            Refusal::Ban(NotChanged::NotStored(why)) => {
                let why = format!("this is done, but not stored: a restart undoes it. {why}\n");
                return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
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
