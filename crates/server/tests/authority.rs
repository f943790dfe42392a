//! The server's authority decides about changes of a channel's QoS, asked for by a client over a real socket.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::sync::Arc;

use groupwire_server::Config;
use groupwire_server::session::client::Event;
use groupwire_server::session::{
    AllowAll, Authority, ChangeRequest, Error, Grant, JoinRequest, OpenRequest, Qos,
};
use support::person::Person;
use support::servers_with;
use support::wire::socket;

/// The QoS of channel `draw` that every client here asks for.
const WANTED: Qos = Qos::transaction().priority(7);

/// Gives every channel whose QoS is to change this answer.
struct Answers(Result<Qos, &'static str>);

impl Authority for Answers {
    fn join(&self, request: &JoinRequest<'_>) -> Result<Vec<u8>, String> {
        AllowAll.join(request)
    }

    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        AllowAll.open(request)
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        assert_eq!((request.room, request.channel, request.qos), ("demo", "draw", WANTED));
        self.0.map_err(str::to_owned)
    }
}

/// The event of a client that asks a server with this authority for [`WANTED`].
async fn answer_of(authority: Answers) -> Event {
    let config = Config { authority: Arc::new(authority), ..Config::default() };
    let (_, address) = servers_with(config).await;
    let mut ann = Person::join(socket(address).await, "demo").await;
    ann.set_qos(WANTED).await;
    let is_answer = |event: &Event| matches!(event, Event::Changed { .. } | Event::Error { .. });
    ann.until(is_answer).await
}

#[tokio::test]
async fn the_authority_refuses_a_change_of_qos() {
    match answer_of(Answers(Err("only moderators may"))).await {
        Event::Error { error, fatal: false, .. } => {
            assert!(error.to_string().contains("only moderators may"), "{error}");
            assert!(matches!(error, Error::Remote { .. } | Error::NotChanged { .. }), "{error:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_authority_alters_a_change_of_qos() {
    let allowed = Qos::transaction().priority(3);
    match answer_of(Answers(Ok(allowed))).await {
        Event::Changed { qos, .. } => assert_eq!(qos, allowed),
        other => panic!("{other:?}"),
    }
}
