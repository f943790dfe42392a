//! Transports: they carry packets between a client and its room. Each connection is one task,
//! whatever its transport.

pub(crate) mod connections;
pub(crate) mod context;
mod elsewhere;
pub(crate) mod emulation;
pub(crate) mod http;
pub(crate) mod routes;
pub(crate) mod serve;
pub(crate) mod socket;
pub(crate) mod upgrade;
mod websocket;
