//! Transports: they carry packets between a client and its room. Each connection is one task, whatever its transport.

pub(crate) mod brake;
pub(crate) mod conn_info;
pub(crate) mod emulation;
pub(crate) mod ends;
pub(crate) mod framing;
pub(crate) mod http;
pub(crate) mod linger;
pub(crate) mod link;
pub(crate) mod outbox;
pub(crate) mod serve;
pub(crate) mod socket;
pub(crate) mod socket_writer;
mod tls_state;
pub(crate) mod upgrade;
pub(crate) mod websocket;
