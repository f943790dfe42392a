//! A session in a room of a real server.

use std::time::Duration;

use groupwire_client::Qos;
use groupwire_server::session::Limits;
use groupwire_server::{Config as ServerConfig, Server};

use super::{Outgoing, Payload, Session};
use crate::config::Config;

/// A time limit that no test reaches.
const PATIENCE: Duration = Duration::from_secs(60);

// In one thread the client sends nothing before `Session::send` waits.
#[tokio::test(flavor = "current_thread")]
async fn a_given_up_transaction_of_another_channel_does_not_hold_back_a_confirmation() {
    let listen = ([127, 0, 0, 1], 0).into();
    let mut config = ServerConfig { listen, webtransport: None, ..ServerConfig::default() };
    config.room.limits = Limits { max_message: 1000, ..Limits::default() };
    let server = Server::bind(config).await.unwrap();
    let url = format!("ws://{}", server.local_addr());
    let server = tokio::spawn(server.run(std::future::pending()));

    let config = Config { shared: None, ..Config::new(&url, "Tidy bot", ["plan"]) };
    let session = Session::start(&config, "plan", Vec::new(), Vec::new()).unwrap();
    let files = session.room.channel("files", Qos::transaction()).unwrap();
    let chat = session.room.channel("chat", Qos::transaction()).unwrap();
    // The client gives this transaction up when the server states its limit.
    files.send(&[0; 5000], Default::default()).unwrap();
    let hello = Outgoing { payload: Payload::Text("hello"), key: None, to: None };
    assert!(session.send(&chat, hello, PATIENCE).await.unwrap());
    assert_eq!(session.inbox().ordered, 1);
    server.abort();
}
