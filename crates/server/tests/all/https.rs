//! HTTPS: HTTP/1.1, HTTP/2 and WebSocket over TLS, beside a listener without TLS, with a
//! certificate that is replaced.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use groupwire_server::{Config, DurableConfig, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, HandshakeKind};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use crate::support::PATIENCE;
use crate::support::certificate::{CHECK_INTERVAL, DAY, Files, identity};
use crate::support::http::{get, send};
use crate::support::http_transport::{Failures, Kind, http_transport};
use crate::support::person::Person;
use crate::support::secure::{Secure, client, connect, connect_with};
use crate::support::wire::Wire;
use crate::transports::talk;

async fn server(test: &str) -> Secure {
    Secure::start(test, Config::default()).await
}

/// A WebSocket over TLS, as a transport.
async fn websocket(server: &Secure) -> Wire {
    let stream = server.connect(&["http/1.1"]).await.unwrap();
    let url = format!("wss://{}/ws", server.authority());
    let (mut sink, mut stream) = client_async(url, stream).await.unwrap().0.split();
    let (outgoing, mut to_send) = mpsc::channel::<Vec<u8>>(1);
    let (received, incoming) = mpsc::channel(64);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(packet) = to_send.recv().await {
            if sink.send(Message::Binary(packet.into())).await.is_err() {
                return;
            }
        }
    });
    tasks.spawn(async move {
        while let Some(Ok(message)) = stream.next().await {
            let Message::Binary(packet) = message else { continue };
            if received.send(packet.to_vec()).await.is_err() {
                return;
            }
        }
    });
    Wire { outgoing, incoming, _tasks: tasks }
}

/// What the server answers to a request that is written by hand.
async fn answer(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin) -> String {
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn http1_and_http2_are_served_over_tls_and_the_plain_listener_stays() {
    let server = server("https").await;
    let answered = send(server.http2().await, "GET", "/healthz", &[], Default::default()).await;
    let answered = answered.unwrap();
    assert_eq!((answered.status().as_u16(), answered.version()), (200, hyper::Version::HTTP_2));
    for protocols in [&[][..], &["http/1.1"], &["http/1.1", "unknown"]] {
        let stream = server.connect(protocols).await.unwrap();
        assert!(answer(stream).await.ends_with("\r\n\r\nok\n"), "{protocols:?}");
    }
    let stream = server.connect(&["h2", "http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]), "HTTP/2 is preferred");
    assert!(server.connect(&["smtp"]).await.is_err(), "no protocol in common");
    assert_eq!(get(server.plain, "/healthz", &[]).await.body, b"ok\n");
}

#[tokio::test]
async fn a_client_that_speaks_http_without_tls_is_told_so() {
    let server = server("https-plain").await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let answer = answer(stream).await;
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "T29: {answer}");
    // A page that was given the wrong scheme may read it.
    for header in [
        "Groupwire: 1",
        "Access-Control-Allow-Origin: *",
        "Access-Control-Expose-Headers: groupwire",
    ] {
        assert!(answer.contains(&format!("\r\n{header}\r\n")), "T29: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_arrive_over_http_transports_over_http2() {
    for kind in Kind::ALL {
        let server = server(&format!("https-{kind:?}")).await;
        let (ann, _) = http_transport(server.http2().await, kind, Failures::default()).await;
        let (bob, _) = http_transport(server.http2().await, kind, Failures::default()).await;
        talk(ann, bob).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_arrive_over_websocket_over_tls() {
    let server = server("https-websocket").await;
    talk(websocket(&server).await, websocket(&server).await).await;
}

/// Messages that the kernel does not take at once: encrypted bytes wait, and none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn large_messages_reach_a_slow_reader_over_tls() {
    const COUNT: usize = 100;
    let server = server("https-slow").await;
    let mut ann = Person::join(websocket(&server).await, "demo").await;
    let mut bob = Person::join(websocket(&server).await, "demo").await;
    // Text that hardly compresses.
    let mut noise = 1u64;
    let mut letter = || {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'0' + (noise >> 40) as u8 % 64)
    };
    for _ in 0..COUNT {
        ann.send(&(0..50_000).map(|_| letter()).collect::<String>()).await;
        ann.for_a_while(Duration::from_millis(5)).await;
    }
    tokio::join!(ann.receive(COUNT), bob.receive(COUNT));
    assert_eq!(ann.messages, bob.messages);
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_t23_the_origin_of_a_request_over_http2_is_compared_with_its_authority() {
    let server = server("https-origin").await;
    let target = server.http2().await;
    for (origin, due) in [
        (format!("https://{}", server.authority()), 200),
        (format!("https://localhost:{}", server.address.port() ^ 1), 403),
        ("https://example.org".to_owned(), 403),
    ] {
        let headers = [("origin", origin.as_str())];
        let found = get(target.clone(), "/transports", &headers).await.status;
        assert_eq!(found, due, "{origin}");
        // A `Host` beside the authority does not count.
        let headers = [("origin", origin.as_str()), ("host", "example.org")];
        let found = get(target.clone(), "/transports", &headers).await.status;
        assert_eq!(found, due, "{origin} with another host");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t23_a_websocket_over_http2_is_refused_and_not_offered() {
    let server = server("https-connect").await;
    let target = server.http2().await;
    let headers =
        [("sec-websocket-version", "13"), ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")];
    assert_eq!(get(target, "/ws", &headers).await.status, 426);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_certificate_is_used_for_new_connections_and_open_ones_stay() {
    let server = server("https-reload").await;
    let target = server.http2().await;
    let mut ann = Person::join(websocket(&server).await, "demo").await;
    let second = identity(DAY);
    server.files.write(&second);
    let started = Instant::now();
    while connect(server.address, &second, &["h2"]).await.is_err() {
        assert!(started.elapsed() < PATIENCE, "the new certificate is not served");
        sleep(CHECK_INTERVAL).await;
    }
    assert!(server.connect(&["h2"]).await.is_err(), "the old certificate is no longer served");
    assert_eq!(get(target, "/healthz", &[]).await.body, b"ok\n");
    ann.send("still here").await;
    ann.receive(1).await;

    std::fs::write(&server.files.key, identity(DAY).private_key().to_secret_pem()).unwrap();
    sleep(5 * CHECK_INTERVAL).await;
    assert!(connect(server.address, &second, &["h2"]).await.is_ok(), "a wrong key is ignored");
}

/// Whether a connection of a client resumed a session. The client has its tickets afterwards.
async fn resumes(address: SocketAddr, client: &Arc<ClientConfig>) -> bool {
    let stream = connect_with(address, Arc::clone(client)).await.unwrap();
    let kind = stream.get_ref().1.handshake_kind();
    assert!(answer(stream).await.ends_with("ok\n"));
    kind == Some(HandshakeKind::Resumed)
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_tls_1_3_are_resumed_by_many_clients_also_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let (files, accepted) = (Files::new("https-resumed"), identity(DAY));
    files.write(&accepted);
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let start = async |folder: &std::path::Path| {
        let (certificate, durable) = (files.config(), Some(DurableConfig::new(folder)));
        let config = Config { listen: any, certificate, durable, ..Config::default() };
        let server = Server::bind(config).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let address = server.local_addr();
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        (address, stop, running)
    };
    let (address, stop, running) = start(data.path()).await;
    let client = |version| client(&accepted, &["http/1.1"], &[version]);
    // More sessions than a server remembers without tickets.
    let newer: Vec<_> = (0..300).map(|_| client(&TLS13)).collect();
    let older = client(&TLS12);
    for one in &newer {
        assert!(!resumes(address, one).await);
    }
    assert!(!resumes(address, &older).await);
    for one in &newer {
        assert!(resumes(address, one).await);
    }
    stop.send(()).unwrap();
    timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();

    let (address, _stop, _running) = start(data.path()).await;
    assert!(resumes(address, &newer[0]).await);
    assert!(!resumes(address, &older).await, "a key that outlives the server is not for TLS 1.2");
    let other = tempfile::tempdir().unwrap();
    let (address, _stop, _running) = start(other.path()).await;
    assert!(!resumes(address, &newer[1]).await, "the tickets of another server");
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_and_openssl_accept_the_server() {
    let server = server("https-curl").await;
    let url = format!("https://{}/healthz", server.authority());
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--http2", "--write-out", "%{http_version}", "--cacert"]);
    curl.arg(&server.files.cert).arg(url);
    if let Some(said) = run(curl).await {
        // A curl without HTTP/2 says 1.1.
        assert!(["ok\n2", "ok\n1.1"].contains(&said.as_str()), "{said}");
    }
    for version in ["-tls1_2", "-tls1_3"] {
        let connect = format!("127.0.0.1:{}", server.address.port());
        let mut openssl = Command::new("openssl");
        openssl.args(["s_client", "-brief", "-verify_return_error", version, "-alpn", "h2"]);
        openssl.args(["-servername", "localhost", "-connect", &connect, "-CAfile"]);
        openssl.arg(&server.files.cert);
        if let Some(said) = run(openssl).await {
            assert!(said.contains("Verification: OK"), "{version}: {said}");
        }
    }
}

/// What a program writes; `None` if it is not installed.
async fn run(mut command: Command) -> Option<String> {
    command.stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = timeout(PATIENCE, output).await.expect("it does not end").unwrap().ok()?;
    let said = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&said).into_owned())
}
