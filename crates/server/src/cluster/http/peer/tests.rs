use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::routing::post;
use futures_util::future::join_all;
use futures_util::stream;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;
use crate::cluster::http::serve;
use crate::cluster::secret::ClusterSecrets;

const TOTAL: usize = 1 << 20;

fn tls() -> ClusterTls {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "s".repeat(32)).unwrap();
    ClusterTls::new(&ClusterSecrets::read(&file).unwrap())
}

async fn listen(address: &str) -> (TcpListener, Node) {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, Node { name: "b".to_owned(), address })
}

/// Answers each request with its own body, until this is dropped.
fn echo(listener: TcpListener) -> JoinSet<()> {
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let router = Router::new().route("/echo", post(|body: Body| async { body }));
        let mut connections = JoinSet::new();
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let router = router.clone();
            connections.spawn(async move {
                let stream = tls().accept(socket).await.unwrap();
                let _ = serve(stream, router).await;
            });
        }
    });
    serving
}

fn request(body: Body) -> Request<Body> {
    Request::post("https://groupwire-cluster/echo").body(body).unwrap()
}

async fn is_echoed(peer: &Peer, node: &Node) -> bool {
    match peer.send(node, &tls(), request("hello".into())).await {
        Ok(answer) => to_bytes(answer.into_body(), 100).await.is_ok_and(|body| body == "hello"),
        Err(_) => false,
    }
}

#[tokio::test]
async fn many_bodies_stream_both_ways_and_one_that_nobody_reads_holds_up_none() {
    let (listener, node) = listen("127.0.0.1:0").await;
    let _serving = echo(listener);
    let (peer, tls) = (Peer::default(), tls());
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![7; 16 << 10])));
    let unread = peer.send(&node, &tls, request(Body::from_stream(endless))).await.unwrap();
    let bodies = (0..40_u8).map(|number| {
        let (peer, node, tls) = (&peer, &node, &tls);
        async move {
            let pieces = (0..64).map(move |_| Ok::<_, std::io::Error>(vec![number; TOTAL / 64]));
            let body = Body::from_stream(stream::iter(pieces));
            let answer = peer.send(node, tls, request(body)).await.unwrap();
            let echoed = to_bytes(answer.into_body(), TOTAL).await.unwrap();
            assert!(echoed.len() == TOTAL && echoed.iter().all(|&byte| byte == number));
        }
    });
    timeout(Duration::from_secs(20), join_all(bodies)).await.expect("all bodies come back");
    assert_eq!(peer.places.available_permits(), MAX_REQUESTS as usize - 1);
    drop(unread);
    assert_eq!(peer.places.available_permits(), MAX_REQUESTS as usize);
}

#[tokio::test]
async fn a_server_that_is_back_is_connected_to_again() {
    let (listener, node) = listen("127.0.0.1:0").await;
    let serving = echo(listener);
    let peer = Peer::default();
    assert!(is_echoed(&peer, &node).await);
    drop(serving);
    let until = |wanted: bool| {
        let (peer, node) = (&peer, &node);
        let waiting = async move {
            while is_echoed(peer, node).await != wanted {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(Duration::from_secs(10), waiting)
    };
    until(false).await.expect("the server is gone");
    let (listener, _) = listen(&node.address).await;
    let _serving = echo(listener);
    until(true).await.expect("the server is back");
}

#[tokio::test]
async fn a_server_that_falls_silent_is_given_up() {
    let (listener, node) = listen("127.0.0.1:0").await;
    let accepting = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        tls().accept(socket).await.unwrap()
    });
    let peer = Peer::default();
    let began = Instant::now();
    let refused = peer.send(&node, &tls(), request(Body::empty())).await.unwrap_err();
    assert!(matches!(refused, NotForwarded::Unreachable { .. }), "{refused}");
    assert!(began.elapsed() < SIGN_OF_LIFE + 2 * SILENCE);
    drop(accepting);
}
