//! Several servers that share their rooms: each room is on one of them, and any of them takes any
//! client.

mod listen;
mod peers;
mod relay;
mod routes;
mod secret;
mod shards;
mod tls;
