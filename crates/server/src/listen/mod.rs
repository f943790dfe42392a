//! The public listeners of HTTP: accepting connections, and the routes of requests.

mod connection;
pub(crate) mod http;
pub(crate) mod routes;
