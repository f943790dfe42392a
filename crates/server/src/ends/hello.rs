//! The first packet of a client, for tests.

use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::client::{Client, Config, Input, Output};

/// The first packet of a client that joins a room. `max_datagram`: the most bytes of a datagram of
/// its transport; 0 if it has none.
pub(crate) fn hello(room: &str, max_datagram: usize) -> Bytes {
    let mut client = Client::new(Duration::ZERO, Config::new(room)).unwrap();
    client.handle_input(Duration::ZERO, Input::Opened { max_datagram });
    loop {
        match client.poll_output(Duration::ZERO) {
            Output::Send(packet) => return packet.into(),
            Output::Timeout(_) => panic!("the client sends no first packet"),
            _ => {}
        }
    }
}
