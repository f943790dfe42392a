//! The integration tests of this crate, in one program: every further program would have to be
//! linked.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod admin_access;
mod admin_api;
mod admin_channels;
mod arrivals;
mod attacks;
mod authority;
mod bad_input;
mod bans;
mod drain;
mod emulation;
mod floods;
mod hook;
mod http1_attacks;
mod http2_attacks;
mod http_transports;
mod https;
mod inspect;
mod jwks;
mod jwt;
mod limits;
mod metrics;
mod observer;
mod other_clients;
mod rooms;
mod slow;
mod start;
mod support;
mod too_large;
mod traces;
mod transports;
mod webhook;
mod webtransport;
mod yjs;
