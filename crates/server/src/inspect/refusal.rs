//! Why a request of an inspector is refused.

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    NoRoom,
    TooMany,
    NoFolder,
    NotRecorded,
    Disk(std::io::Error),
    Query(QueryRejection),
    Unreadable(JsonRejection),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Refusal::NoRoom => (StatusCode::NOT_FOUND, "there is no such room\n"),
            Refusal::TooMany => (
                StatusCode::SERVICE_UNAVAILABLE,
                "too many inspectors or recordings, try again later\n",
            ),
            Refusal::NoFolder => {
                (StatusCode::FORBIDDEN, "recording is off: start the server with --record-dir\n")
            }
            Refusal::NotRecorded => (StatusCode::NOT_FOUND, "this room is not being recorded\n"),
            Refusal::Disk(error) => {
                let why = format!("the recording cannot be written: {error}\n");
                return (StatusCode::INSUFFICIENT_STORAGE, why).into_response();
            }
            Refusal::Query(rejection) => return rejection.into_response(),
            Refusal::Unreadable(rejection) => return rejection.into_response(),
        };
        (status, why).into_response()
    }
}
