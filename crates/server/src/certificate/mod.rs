//! The server's certificate: made by the server itself, read from files or ordered by ACME, checked
//! before use, and replaced while the server runs. HTTPS and WebTransport take it from here. Rules
//! such as *T7* are those of docs/transports.md.

pub(crate) mod acme;
pub(crate) mod config;
pub(crate) mod keeper;
mod source;
