//! The server's authority decides who may join, and about changes of a channel's QoS, asked for by
//! a client over a real socket.

use std::sync::Arc;

use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::session::{
    AllowAll, Authority, ChangeRequest, Error, Fault, Grant, Identity, OpenRequest, Qos,
};
use groupwire_server::{
    Admission, Answer, Authenticator, Config, JoinRequest, Refusal, is_same_secret,
};

use crate::support::person::Person;
use crate::support::servers_with;
use crate::support::wire::socket;

/// The QoS of channel `draw` that every client here asks for.
const WANTED: Qos = Qos::transaction().priority(7);

/// Answers every change of a channel's QoS with this.
struct Answers(Result<Qos, &'static str>);

impl Authority for Answers {
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

/// Takes in clients that present this token, and refuses all others.
struct Members(&'static [u8]);

impl Authenticator for Members {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async move {
            // The answer is not ready at once.
            tokio::task::yield_now().await;
            match is_same_secret(request.token, self.0) {
                true => Ok(Admission {
                    identity: Identity { subject: b"ann".into(), rights: b"member".into() },
                    ..Admission::default()
                }),
                false => Err(Refusal::Refused("only members may join".to_owned())),
            }
        })
    }
}

impl Authority for Members {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        assert_eq!(request.identity.rights, b"member");
        AllowAll.open(request)
    }
}

/// The server's answer to a client that asks to join with this token: [`Event::Synced`] or a fatal
/// [`Event::Error`].
async fn answer_to(token: &[u8]) -> Event {
    let members = Arc::new(Members(b"right"));
    let config = Config { authenticator: members.clone(), authority: members, ..Config::default() };
    let (_, address) = servers_with(config).await;
    let client = ClientConfig { token: token.to_vec(), ..ClientConfig::new("demo") };
    let mut ann = Person::ask(socket(address).await, client);
    let is_answer = |event: &Event| {
        matches!(event, Event::Synced { channel: None } | Event::Error { fatal: true, .. })
    };
    ann.until(is_answer).await
}

#[tokio::test]
async fn the_authority_refuses_a_join_by_its_token() {
    for wrong in [&b""[..], b"wrong"] {
        match answer_to(wrong).await {
            Event::Error { error, .. } => {
                assert_eq!(error.fault(), Fault::Refused);
                assert!(error.to_string().contains("only members may join"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_authority_takes_in_who_has_the_token() {
    assert!(matches!(answer_to(b"right").await, Event::Synced { .. }));
}
