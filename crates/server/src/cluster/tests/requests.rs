//! Transports made of HTTP requests, of which each request comes to another server.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use bytes::Buf;
use futures_util::StreamExt;
use groupwire_session::Qos;
use groupwire_session::client::{Client, Config as ClientConfig, Event, Input, Outgoing, Output};
use tokio::time::{Instant, sleep, timeout};
use tower_service::Service;

use super::{MemoryEngine, Node};
use crate::ends::framing::{measure, put, put_varint, varint};

/// A client whose requests come to all servers in turn.
struct Traveller<'a> {
    nodes: &'a [Node],
    turn: usize,
    client: Client,
    started: Instant,
    id: String,
    uploads: u64,
    received: u64,
}

impl<'a> Traveller<'a> {
    fn new(nodes: &'a [Node]) -> Self {
        let client = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
        let (id, started) = (String::new(), Instant::now());
        Traveller { nodes, turn: 0, client, started, id, uploads: 0, received: 0 }
    }

    async fn post(&mut self, path: &str, body: Vec<u8>) -> Response {
        self.turn += 1;
        post(&self.nodes[self.turn % self.nodes.len()], path, body).await
    }

    fn asked(&self) -> Vec<u8> {
        format!("id={}&received={}", self.id, self.received).into()
    }

    async fn upload(&mut self, packet: &[u8]) {
        self.uploads += 1;
        let mut body = self.id.clone().into_bytes();
        put_varint(self.uploads, &mut body);
        put_varint(self.received, &mut body);
        put(packet, &mut body);
        assert_eq!(self.post("/http/up", body).await.status(), StatusCode::NO_CONTENT);
    }

    /// Fetches packets.
    async fn fetch(&mut self, form: &str, asked: Vec<u8>) {
        let answer = self.post(&format!("/http/{form}"), asked).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let mut body = read(answer).await;
        self.id = String::from_utf8(body.split_to(32).into()).unwrap();
        let (first, size) = varint(&body).unwrap().unwrap();
        body.advance(size);
        assert_eq!(first, self.received + 1);
        while let Some((prefix, length)) = measure(&body, 1 << 20).unwrap() {
            body.advance(prefix);
            let packet = body.split_to(length);
            self.received += 1;
            self.client.handle_input(self.started.elapsed(), Input::Packet(&packet));
        }
    }

    async fn event(&mut self) -> Event {
        loop {
            let now = self.started.elapsed();
            match self.client.poll_output(now) {
                Output::Dial => {
                    self.fetch("poll", Vec::new()).await;
                    self.client.handle_input(now, Input::Opened { max_datagram: 0 });
                }
                Output::Send(packet) => {
                    self.upload(&packet).await;
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Event(event) => return event,
                Output::Timeout(due) => {
                    if due.is_some_and(|due| due <= now) {
                        self.client.handle_input(now, Input::Timeout);
                    }
                    self.fetch("poll", self.asked()).await;
                    sleep(Duration::from_millis(5)).await;
                }
                Output::Hangup | Output::Datagram(_) => panic!("the transport stays open"),
            }
        }
    }

    async fn until<T>(&mut self, wanted: impl Fn(Event) -> Option<T>) -> T {
        let waiting = async {
            loop {
                if let Some(found) = wanted(self.event().await) {
                    return found;
                }
            }
        };
        timeout(Duration::from_secs(20), waiting).await.expect("an event is due")
    }
}

async fn post(node: &Node, path: &str, body: impl Into<Body>) -> Response {
    let mut request = Request::post(path).header("host", "localhost").body(body.into()).unwrap();
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
    node.services.routes().call(request).await.unwrap()
}

async fn read(answer: Response) -> Bytes {
    to_bytes(answer.into_body(), 1 << 20).await.unwrap()
}

#[tokio::test]
async fn requests_of_a_transport_come_to_any_server() {
    let mut nodes = Node::three(&MemoryEngine::new(4)).await;
    let mut ada = Traveller::new(&nodes);
    let text = ada.client.channel("text", Qos::transaction()).unwrap();
    ada.until(|event| matches!(event, Event::Opened { .. }).then_some(())).await;
    for round in 0..6_u8 {
        let message = Outgoing { bytes: &[round; 100], ..Outgoing::default() };
        ada.client.send(ada.started.elapsed(), text, message).unwrap();
        let received = ada.until(|event| match event {
            Event::Message(message) => Some(message.bytes),
            _ => None,
        });
        assert_eq!(received.await, [round; 100]);
    }
    // A response that streams comes in pieces, while the stream is open.
    for node in &nodes {
        let answer = post(node, "/http/multipart", ada.asked()).await;
        assert_eq!(answer.headers()["content-type"], "multipart/mixed; boundary=gw");
        let mut pieces = answer.into_body().into_data_stream();
        let piece = timeout(Duration::from_secs(5), pieces.next()).await.unwrap();
        let piece = String::from_utf8_lossy(&piece.unwrap().unwrap()).into_owned();
        assert!(piece.ends_with(&format!("{} {}", ada.id, ada.received + 1)), "{piece}");
    }
    // A request that is held ends with the next one, whichever server has it.
    let (id, asked) = (ada.id.clone(), ada.asked());
    let held = post(&nodes[0], "/http/longpoll", asked.clone());
    let next = async {
        sleep(Duration::from_millis(300)).await;
        post(&nodes[1], "/http/poll", asked.clone()).await
    };
    let ended = timeout(Duration::from_secs(5), async { tokio::join!(held, next) }).await;
    let (held, next) = ended.expect("the held request ends");
    assert_eq!((held.status(), next.status()), (StatusCode::OK, StatusCode::OK));
    // Once its server has died, the transport is none any more.
    let at = nodes.iter().position(|node| node.mark() == id[..8]).expect("one has opened it");
    drop(nodes.remove(at));
    for node in &nodes {
        let answer = post(node, "/http/longpoll", asked.clone()).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert_eq!(read(answer).await, "no open transport has this id\n");
        let upload = post(node, "/http/up", format!("{id}\u{1}\u{1}")).await;
        assert_eq!(upload.status(), StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn requests_for_no_transport_are_refused_wherever_they_come() {
    let nodes = Node::three(&MemoryEngine::new(1)).await;
    let marks = nodes.iter().map(Node::mark).chain(["00000000".to_owned()]);
    for mark in marks {
        for node in &nodes {
            let asked = format!("id={mark}{:024}&received=0", 0);
            let answer = post(node, "/http/poll", asked).await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{mark}");
            let upload = post(node, "/http/up", format!("{mark}{:024}\u{1}\u{1}", 0)).await;
            assert_eq!(upload.status(), StatusCode::NOT_FOUND, "{mark}");
        }
    }
}
