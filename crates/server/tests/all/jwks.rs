//! Keys for tokens that are fetched from a real HTTPS server, where they rotate.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Redirect;
use axum::routing::get;
use groupwire_server::{
    Authenticator, JoinRequest, JwtAuthenticator, JwtConfig, KeySource, Refusal,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{advance, pause, resume};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::server::TlsStream;

use crate::support::certificate::{DAY, Files, identity};
use crate::support::tokens::{claims, set, signed};

/// A login service, which publishes its keys.
#[derive(Clone)]
struct Login {
    published: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
    /// Where it is, without a path.
    address: String,
    /// The file of its certificate.
    certificate: PathBuf,
}

/// Connections with TLS.
struct Listener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, from) = self.listener.accept().await.unwrap();
            // A client that does not trust the certificate ends the handshake.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl Login {
    /// Starts a service with the keys of these names. `test` is the name of the folder of its
    /// certificate.
    async fn start(test: &str, ids: &[&str]) -> Self {
        let (files, identity) = (Files::new(test), identity(DAY));
        files.write(&identity);
        let certificate = identity.certificate_chain().as_slice()[0].der().to_vec();
        let key = PrivatePkcs8KeyDer::from(identity.private_key().secret_der().to_vec());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(certificate)], PrivateKeyDer::from(key))
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let login = Login {
            published: Arc::new(Mutex::new(set(ids))),
            asked: Arc::default(),
            address,
            certificate: files.cert,
        };
        let router = Router::new()
            .route("/keys", get(published))
            .route("/moved", get(|| async { Redirect::temporary("/keys") }))
            .with_state(login.clone());
        let listener = Listener { listener, acceptor: TlsAcceptor::from(Arc::new(config)) };
        tokio::spawn(axum::serve(listener, router).into_future());
        login
    }

    fn publishes(&self, keys: String) {
        *self.published.lock().unwrap() = keys;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// An authenticator that fetches the keys at this path, and trusts the certificate in the file.
    async fn authenticator(&self, path: &str, root: Option<PathBuf>) -> JwtAuthenticator {
        let config = JwtConfig {
            keys: KeySource::Address(format!("{}{path}", self.address)),
            issuer: "https://login.example".into(),
            audience: "groupwire".into(),
            root,
        };
        JwtAuthenticator::open(config).await.unwrap()
    }

    async fn trusted(&self, path: &str) -> JwtAuthenticator {
        self.authenticator(path, Some(self.certificate.clone())).await
    }
}

async fn published(State(login): State<Login>) -> String {
    login.asked.fetch_add(1, Ordering::Relaxed);
    login.published.lock().unwrap().clone()
}

/// The answer to a client with a token that this key signed.
async fn ask(by: &JwtAuthenticator, id: &str) -> &'static str {
    let token = signed(id, &claims());
    match by.authenticate(JoinRequest::new("docs/plan", token.as_bytes())).await {
        Ok(_) => "welcome",
        Err(Refusal::Refused(why)) if why.contains("not known") => "unknown",
        Err(Refusal::NotNow(_)) => "not now",
        Err(other) => panic!("{other:?}"),
    }
}

/// Advances the server's clock. It then runs in real time again, which the sockets need.
async fn pass(seconds: u64) {
    pause();
    advance(Duration::from_secs(seconds)).await;
    resume();
}

#[tokio::test]
async fn keys_rotate_at_the_address_and_old_ones_hold_for_ten_minutes() {
    let login = Login::start("jwks-rotate", &["ed"]).await;
    let by = login.trusted("/keys").await;
    assert_eq!(ask(&by, "ed").await, "welcome");
    login.publishes(set(&["ec"]));
    assert_eq!(ask(&by, "ec").await, "not now", "the address was asked less than 10 s ago");
    assert_eq!(login.asked(), 1);
    pass(10).await;
    assert_eq!(ask(&by, "ec").await, "welcome", "a new key is looked for at once");
    assert_eq!(ask(&by, "rsa").await, "not now");
    assert_eq!(login.asked(), 2, "invented keys cost the address one request in 10 s");
    pass(10).await;
    assert_eq!(ask(&by, "rsa").await, "unknown");
    pass(500).await;
    let asked = login.asked();
    assert_eq!(ask(&by, "ed").await, "welcome", "its tokens were signed just before");
    // The address is asked every 5 minutes, in the background.
    while login.asked() == asked {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    pass(100).await;
    assert_eq!(ask(&by, "ed").await, "unknown", "10 minutes are over");
    assert_eq!(ask(&by, "ec").await, "welcome");
}

#[tokio::test]
async fn keys_hold_while_the_address_sends_no_set_or_one_that_is_too_large() {
    let login = Login::start("jwks-wrong", &["ed"]).await;
    let by = login.trusted("/keys").await;
    let large =
        set(&["ec"]).replacen('{', &format!("{{\"more\":\"{}\",", "x".repeat(256 << 10)), 1);
    for wrong in [large, "<html>".to_owned()] {
        login.publishes(wrong);
        pass(600).await;
        let asked = login.asked();
        assert_eq!(ask(&by, "ec").await, "not now");
        assert_eq!((ask(&by, "ed").await, login.asked()), ("welcome", asked + 1));
    }
    // The same set is taken when it is small enough.
    login.publishes(set(&["ec"]).replacen('{', "{\"more\":\"x\",", 1));
    pass(10).await;
    assert_eq!(ask(&by, "ec").await, "welcome");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_a_certificate_that_nobody_vouches_for_is_not_trusted() {
    let login = Login::start("jwks-redirect", &["ed"]).await;
    let moved = login.trusted("/moved").await;
    assert_eq!(ask(&moved, "ed").await, "not now");
    let untrusting = login.authenticator("/keys", None).await;
    assert_eq!(ask(&untrusting, "ed").await, "not now");
    assert_eq!(login.asked(), 0);
    assert_eq!(ask(&login.trusted("/keys").await, "ed").await, "welcome");
}

#[tokio::test]
async fn a_secret_that_an_address_publishes_signs_no_token() {
    let login = Login::start("jwks-secret", &["secret", "ed"]).await;
    let by = login.trusted("/keys").await;
    assert_eq!(ask(&by, "ed").await, "welcome");
    pass(10).await;
    assert_eq!(ask(&by, "secret").await, "unknown");
}
