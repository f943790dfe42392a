//! A client of the HTTP transports that keeps the rules, with simulated failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::http::{Target, post, send};
use super::wire::{Wire, framed, take_packet, take_varint, varint};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Multipart,
    Iframe,
    Longpoll,
    Poll,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Multipart, Kind::Iframe, Kind::Longpoll, Kind::Poll];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Kind::Multipart => "/http/multipart",
            Kind::Iframe => "/http/iframe",
            Kind::Longpoll => "/http/longpoll",
            Kind::Poll => "/http/poll",
        }
    }
}

/// The simulated failures, and how often a response is renewed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failures {
    /// A streamed response is renewed after this time (T12).
    pub(crate) renewal: Duration,
    /// A response is broken off after this number of packets, and requested again.
    pub(crate) break_after: usize,
    /// Every upload whose number is a multiple of this is sent twice, as if the first answer had
    /// been lost.
    pub(crate) repeat: u64,
}

impl Default for Failures {
    fn default() -> Self {
        Failures { renewal: Duration::from_millis(150), break_after: usize::MAX, repeat: u64::MAX }
    }
}

/// Counts of what happened.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) responses: AtomicU64,
    pub(crate) breaks: AtomicU64,
    pub(crate) repeats: AtomicU64,
    received: AtomicU64,
}

/// Opens an HTTP transport.
pub(crate) async fn http_transport(
    target: impl Into<Target>,
    kind: Kind,
    failures: Failures,
) -> (Wire, Arc<Counts>) {
    let target = target.into();
    let counts = Arc::new(Counts::default());
    let (outgoing, to_send) = mpsc::channel(1);
    let (received, incoming) = mpsc::channel(64);
    let (id_sender, id) = watch::channel(String::new());
    let mut tasks = JoinSet::new();
    let client = Client { target: target.clone(), kind, failures, counts: Arc::clone(&counts) };
    tasks.spawn(client.down(received, id_sender));
    let client = Client { target, kind, failures, counts: Arc::clone(&counts) };
    tasks.spawn(client.up(to_send, id));
    (Wire { outgoing, incoming, _tasks: tasks }, counts)
}

struct Client {
    target: Target,
    kind: Kind,
    failures: Failures,
    counts: Arc<Counts>,
}

impl Client {
    /// Reads responses until the transport is closed.
    async fn down(self, received: mpsc::Sender<Vec<u8>>, id: watch::Sender<String>) {
        let Some(mut response) = self.ask("").await else { return };
        id.send_replace(response.id.clone());
        let mut older: Option<Response> = None;
        let mut renewal = Instant::now() + self.failures.renewal;
        let mut left = self.failures.break_after;
        loop {
            let is_current = older.is_none();
            let step = tokio::select! {
                packet = older.as_mut().unwrap_or(&mut response).next() => Some(packet),
                () = sleep_until(renewal), if is_current && self.is_stream() => None,
            };
            match step {
                // T11: the older response broke before it was read to its end, which the server did
                // not notice.
                Some(Some((number, _))) if number > self.received() + 1 => older = None,
                Some(Some((number, packet))) => {
                    if !self.deliver(number, packet, &received).await {
                        return;
                    }
                    left -= 1;
                    if left > 0 {
                        continue;
                    }
                    // The response is broken off.
                    left = self.failures.break_after;
                    self.counts.breaks.fetch_add(1, Ordering::Relaxed);
                    older = None;
                }
                // The older response has ended: read the newer one.
                Some(None) if !is_current => {
                    older = None;
                    continue;
                }
                Some(None) => {
                    let pause = if self.kind == Kind::Poll { 20 } else { 0 };
                    sleep(Duration::from_millis(pause)).await;
                }
                None => {
                    let Some(newer) = self.ask(&response.id).await else { return };
                    older = Some(std::mem::replace(&mut response, newer));
                    renewal = Instant::now() + self.failures.renewal;
                    continue;
                }
            }
            let Some(next) = self.ask(&response.id).await else { return };
            response = next;
            renewal = Instant::now() + self.failures.renewal;
        }
    }

    fn is_stream(&self) -> bool {
        matches!(self.kind, Kind::Multipart | Kind::Iframe)
    }

    fn received(&self) -> u64 {
        self.counts.received.load(Ordering::Relaxed)
    }

    async fn deliver(&self, number: u64, packet: Vec<u8>, to: &mpsc::Sender<Vec<u8>>) -> bool {
        if number <= self.received() {
            return true;
        }
        self.counts.received.store(number, Ordering::Relaxed);
        to.send(packet).await.is_ok()
    }

    async fn ask(&self, id: &str) -> Option<Response> {
        self.counts.responses.fetch_add(1, Ordering::Relaxed);
        let received = self.received();
        let body = match id {
            "" => String::new(),
            id => format!("id={id}&received={received}"),
        };
        Response::open(self.target.clone(), self.kind, body).await.ok()
    }

    async fn up(self, mut packets: mpsc::Receiver<Vec<u8>>, mut id: watch::Receiver<String>) {
        let Ok(id) = id.wait_for(|id| !id.is_empty()).await.map(|id| id.clone()) else { return };
        let mut number = 0;
        while let Some(packet) = packets.recv().await {
            number += 1;
            let body = upload(&id, number, self.received(), &[&packet]);
            let times = if number % self.failures.repeat == 0 { 2 } else { 1 };
            for _ in 0..times {
                if post(self.target.clone(), "/http/up", &[], body.clone()).await.status != 204 {
                    return;
                }
            }
            self.counts.repeats.fetch_add(times - 1, Ordering::Relaxed);
        }
    }
}

/// An upload (T16).
pub(crate) fn upload(id: &str, number: u64, received: u64, packets: &[&[u8]]) -> Vec<u8> {
    let mut body = id.as_bytes().to_vec();
    body.extend(varint(number));
    body.extend(varint(received));
    packets.iter().for_each(|packet| body.extend(framed(packet)));
    body
}

/// A down response, read as it arrives.
pub(crate) struct Response {
    kind: Kind,
    pub(crate) id: String,
    pub(crate) first: u64,
    next: u64,
    body: Incoming,
    bytes: Vec<u8>,
}

impl Response {
    /// Requests a response. An error is the HTTP status, or 0 if the connection broke.
    pub(crate) async fn open(
        target: impl Into<Target>,
        kind: Kind,
        body: String,
    ) -> Result<Self, u16> {
        let target = target.into();
        let origin = target.origin();
        let headers = [("origin", origin.as_str())];
        let response = send(target, "POST", kind.path(), &headers, body.into()).await;
        let response = response.map_err(|_| 0u16)?;
        if response.status() != 200 {
            return Err(response.status().as_u16());
        }
        let bytes = Vec::new();
        let (id, body) = (String::new(), response.into_body());
        let mut response = Response { kind, id, first: 0, next: 0, body, bytes };
        let (id, first) = loop {
            if let Some(preamble) = response.preamble() {
                break preamble;
            }
            if !response.more().await {
                return Err(0);
            }
        };
        (response.id, response.first, response.next) = (id, first, first);
        Ok(response)
    }

    /// The next packet and its number. The future may be dropped without losing a packet.
    pub(crate) async fn next(&mut self) -> Option<(u64, Vec<u8>)> {
        loop {
            let packet = match self.kind {
                Kind::Multipart => self.part(),
                Kind::Iframe => self.call().map(|text| STANDARD.decode(text).unwrap()),
                Kind::Longpoll | Kind::Poll => take_packet(&mut self.bytes),
            };
            if let Some(packet) = packet {
                self.next += 1;
                return Some((self.next - 1, packet));
            }
            if !self.more().await {
                return None;
            }
        }
    }

    fn preamble(&mut self) -> Option<(String, u64)> {
        let text = match self.kind {
            Kind::Multipart => String::from_utf8(self.part()?).unwrap(),
            Kind::Iframe => self.call()?,
            Kind::Longpoll | Kind::Poll => {
                let mut rest = self.bytes.get(32..)?.to_vec();
                let first = take_varint(&mut rest)?;
                let id = String::from_utf8(self.bytes[..32].to_vec()).unwrap();
                self.bytes = rest;
                return Some((id, first));
            }
        };
        let (id, first) = text.split_once(' ').unwrap();
        Some((id.to_owned(), first.parse().unwrap()))
    }

    fn part(&mut self) -> Option<Vec<u8>> {
        let start = find(&self.bytes, b"--gw\r\n")?;
        let end = start + find(&self.bytes[start..], b"\r\n\r\n")? + 4;
        let header = std::str::from_utf8(&self.bytes[start..end]).unwrap();
        let length = header.trim().rsplit_once("Content-Length: ").unwrap().1;
        let length: usize = length.parse().unwrap();
        let part = self.bytes.get(end..end + length)?.to_vec();
        self.bytes.drain(..end + length);
        Some(part)
    }

    fn call(&mut self) -> Option<String> {
        let start = find(&self.bytes, b"p(\"")? + 3;
        let end = start + find(&self.bytes[start..], b"\")</script>\n")?;
        let text = String::from_utf8(self.bytes[start..end].to_vec()).unwrap();
        self.bytes.drain(..end);
        Some(text)
    }

    async fn more(&mut self) -> bool {
        let Some(Ok(frame)) = self.body.frame().await else { return false };
        frame.into_data().is_ok_and(|data| {
            self.bytes.extend_from_slice(&data);
            true
        })
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}
