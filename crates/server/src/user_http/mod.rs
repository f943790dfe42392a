//! Requests of users over plain HTTP, below `/v1/`, for programs that have only an HTTP client:
//! they publish messages, read them, and wait for further ones (docs/http.md, `openapi.json`).
//!
//! A user is a visitor of the room ([`groupwire_session::Room::visit`]): a participant without a
//! transport. The server that has the room answers; other servers pass the requests on to it.

mod answer;
mod ask;
pub(crate) mod context;
mod edge;
mod events;
mod follow;
mod frames;
mod participants;
mod place;
mod publish;
mod query;
mod read;
mod refusal;
pub(crate) mod routes;
