//! Several servers that share their rooms: each room is on one of them, and any of them takes any
//! client.

mod relay;
mod secret;
mod tls;
