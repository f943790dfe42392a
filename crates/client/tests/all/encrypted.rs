//! Clients over WebSocket with TLS and over WebTransport, with a server whose certificate is from
//! files.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groupwire_client::{DialError, Error, Event, Options, Qos, Room, SendOptions, Trust};
use groupwire_server::{Certificate, CertificateConfig, Config, Server};
use tokio::time::timeout;
use wtransport::Identity;

const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, and the file of its self-signed certificate.
struct Encrypted {
    port: u16,
    cert: PathBuf,
}

impl Encrypted {
    async fn start(test: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        std::fs::create_dir_all(&directory).unwrap();
        let (cert, key) = (directory.join("cert.pem"), directory.join("key.pem"));
        let identity = Identity::self_signed(["localhost"]).unwrap();
        std::fs::write(&key, identity.private_key().to_secret_pem()).unwrap();
        std::fs::write(&cert, identity.certificate_chain().as_slice()[0].to_pem()).unwrap();
        let source = Certificate::Files { cert: cert.clone(), key };
        let certificate = CertificateConfig { source, ..CertificateConfig::default() };
        // The tests use one port number for TCP and UDP. The one that is free for TCP may be taken
        // for UDP, by another test.
        let server = loop {
            let listen = SocketAddr::from(([127, 0, 0, 1], 0));
            let certificate = certificate.clone();
            let server = Server::bind(Config { listen, certificate, ..Config::default() }).await;
            let server = server.unwrap();
            if server.webtransport_port() == Some(server.local_addr().port()) {
                break server;
            }
        };
        let port = server.local_addr().port();
        tokio::spawn(server.run(std::future::pending()));
        Encrypted { port, cert }
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}", self.port)
    }

    async fn refusal(&self, scheme: &str, trust: Trust) -> Arc<DialError> {
        let joining = Room::connect_trusting(&self.url(scheme), trust, Options::new("demo"));
        let (room, _events) = joining.unwrap();
        match timeout(PATIENCE, room.joined()).await.unwrap() {
            Err(Error::Unreachable { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_knows_the_root_certificate_exchanges_messages() {
    let server = Encrypted::start("encrypted").await;
    for scheme in ["wss", "https"] {
        let options = Options::new(&format!("over {scheme}"));
        let trust = Trust::File(server.cert.clone());
        let (room, mut events) =
            Room::connect_trusting(&server.url(scheme), trust, options).unwrap();
        let chat = room.channel("chat", Qos::transaction()).unwrap();
        timeout(PATIENCE, room.joined()).await.unwrap().unwrap();
        let text = "x".repeat(50_000);
        chat.send(&*text, SendOptions::default()).unwrap();
        let mut arrived = false;
        while !arrived {
            let event = timeout(PATIENCE, events.next()).await.unwrap().unwrap();
            arrived = matches!(event, Event::Message(message) if message.bytes == text.as_bytes());
        }
        timeout(PATIENCE, room.leave()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_an_unknown_authority_is_refused() {
    let (server, other) = (Encrypted::start("own").await, Encrypted::start("other").await);
    for trust in [Trust::Auto, Trust::Roots, Trust::File(other.cert), Trust::Hashes(vec![[0; 32]])]
    {
        let why = server.refusal("wss", trust.clone()).await;
        assert!(matches!(*why, DialError::Tls { .. }), "{trust:?}: {why:?}");
        let why = server.refusal("https", trust.clone()).await;
        assert!(why.to_string().contains("cert"), "{trust:?}: {why:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn root_certificates_that_cannot_be_read_are_named() {
    let server = Encrypted::start("roots").await;
    let empty = server.cert.with_file_name("empty.pem");
    std::fs::write(&empty, "hello").unwrap();
    for path in [PathBuf::from("/nonexistent/ca.pem"), empty] {
        for scheme in ["wss", "https"] {
            let why = server.refusal(scheme, Trust::File(path.clone())).await;
            assert!(why.to_string().contains(path.to_str().unwrap()), "{why}");
        }
    }
    let why = server.refusal("wss", Trust::Ask).await;
    assert!(why.to_string().contains("wss://"), "{why}");
}
