//! Measures a room with many receivers over WebSocket on loopback: the server's CPU time per delivery, bytes on the
//! socket, delay, and memory of idle connections. The server is a process of its own.
//!
//! ```text
//! cargo run --release -p groupwire-server --example fanout -- RECEIVERS [SECONDS [TICK_MS]]
//! ```
//!
//! Ten senders send 25 messages of 90 bytes per second each, and measure the delay of the messages that they receive.
//! The receivers only count.
#![allow(clippy::unwrap_used, reason = "a measurement may fail by panicking")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use groupwire_server::Server;
use groupwire_server::session::Qos;
use groupwire_server::session::client::{
    ChannelId, Client, Config, Event, Input, Outgoing, Output,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

const SENDERS: usize = 10;
const EVERY: Duration = Duration::from_millis(40);
const SIZE: usize = 90;
const PATHS: Qos = Qos::awareness().aggregate();

#[derive(Default)]
struct Counts {
    bytes: AtomicU64,
    frames: AtomicU64,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: u64| args.get(at).map_or(usual, |arg| arg.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if args.first().is_some_and(|first| first == "serve") {
        return runtime.block_on(serve(Duration::from_millis(number(1, 40))));
    }
    let (receivers, seconds, tick) = (number(0, 500), number(1, 10), number(2, 40));
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["serve", &tick.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    runtime.block_on(measure(server.id(), address.trim().to_owned(), receivers, seconds));
    server.kill().unwrap();
    server.wait().unwrap();
}

async fn serve(tick: Duration) {
    let mut config = groupwire_server::Config {
        listen: ([127, 0, 0, 1], 0).into(),
        webtransport: None,
        ..groupwire_server::Config::default()
    };
    config.room.timing.tick = tick;
    let server = Server::bind(config).await.unwrap();
    println!("{}", server.local_addr());
    server.run(std::future::pending()).await.unwrap();
}

async fn measure(server: u32, address: String, receivers: u64, seconds: u64) {
    let idle = memory(server);
    let counts = Arc::new(Counts::default());
    for _ in 0..receivers {
        tokio::spawn(receive(address.clone(), Arc::clone(&counts)));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let each = memory(server).saturating_sub(idle) / receivers.max(1);
    println!("{receivers} idle connections: {each} bytes each");
    let start = Instant::now();
    let (done, mut delays) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..SENDERS {
        tokio::spawn(send(address.clone(), start, done.clone()));
    }
    tokio::time::sleep(Duration::from_secs(4)).await;
    while delays.try_recv().is_ok() {}
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let before = (cpu(server), read(&counts.bytes), read(&counts.frames));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let after = (cpu(server), read(&counts.bytes), read(&counts.frames));
    let mut took: Vec<u64> = std::iter::from_fn(|| delays.try_recv().ok()).collect();
    took.sort_unstable();
    let messages = took.len() as u64 / (SENDERS as u64 - 1);
    let deliveries = messages * receivers + took.len() as u64;
    let cpu = (after.0 - before.0).as_nanos() as f64 / 1e3 / deliveries as f64;
    let bytes = (after.1 - before.1) as f64 / (messages * receivers) as f64;
    let at = |share: f64| took[(took.len() as f64 * share) as usize] as f64 / 1e3;
    println!(
        "{messages} messages, {deliveries} deliveries: {cpu:.2} us of CPU each, {bytes:.2} bytes each, {} reads; \
         p50 {:.1} ms, p99 {:.1} ms; {} MB",
        after.2 - before.2,
        at(0.5),
        at(0.99),
        memory(server) >> 20
    );
}

/// Joins the room and counts the bytes received.
async fn receive(address: String, counts: Arc<Counts>) {
    let mut client = client();
    client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 });
    let mut opening = Vec::new();
    while let output = client.poll_output(Duration::ZERO)
        && !matches!(output, Output::Timeout(_))
    {
        if let Output::Send(packet) = output {
            opening.push(packet);
        }
    }
    let mut socket = TcpStream::connect(&address).await.unwrap();
    let request = format!(
        "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut buffer = vec![0; 16 << 10];
    assert!(socket.read(&mut buffer).await.unwrap() > 0);
    for packet in opening {
        socket.write_all(&masked(&packet)).await.unwrap();
    }
    let mut ping = tokio::time::interval(Duration::from_secs(2));
    loop {
        tokio::select! {
            // A PING with a time of 1.
            _ = ping.tick() => socket.write_all(&masked(&[0x0e, 1, 1])).await.unwrap(),
            read = socket.read(&mut buffer) => {
                let Ok(bytes @ 1..) = read else { return };
                counts.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                counts.frames.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// A binary WebSocket message of a client, with a mask of zeros.
fn masked(packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x82];
    match packet.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length => frame.extend([0x80 | 126, (length >> 8) as u8, length as u8]),
    }
    frame.extend([0; 4]);
    frame.extend(packet);
    frame
}

fn client() -> Client {
    let mut client = Client::new(Duration::ZERO, Config::new("fanout")).unwrap();
    client.channel("paths", PATHS).unwrap();
    client
}

/// Sends messages, and reports the delay of the others' messages in microseconds.
async fn send(address: String, start: Instant, done: tokio::sync::mpsc::UnboundedSender<u64>) {
    let url = format!("ws://{address}/ws");
    let (socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let (mut sink, mut stream) = socket.split();
    let mut client = client();
    let paths = ChannelId(0);
    client.handle_input(start.elapsed(), Input::Opened { max_datagram: 0 });
    let mut next = tokio::time::interval(EVERY);
    let mut timer = tokio::time::interval(Duration::from_millis(100));
    let mut packets = VecDeque::new();
    loop {
        loop {
            match client.poll_output(start.elapsed()) {
                Output::Timeout(_) => break,
                Output::Send(packet) => packets.push_back(packet),
                Output::Event(Event::Message(message)) => {
                    let text = String::from_utf8(message.bytes).unwrap();
                    let sent: u64 = text[6..18].parse().unwrap();
                    let _ = done.send((start.elapsed().as_micros() as u64).saturating_sub(sent));
                }
                Output::Event(Event::Error { error, .. }) => panic!("{error}"),
                _ => {}
            }
        }
        while let Some(packet) = packets.pop_front() {
            sink.send(Message::Binary(packet.into())).await.unwrap();
            client.handle_input(start.elapsed(), Input::Sent);
        }
        tokio::select! {
            _ = next.tick() => {
                let now = start.elapsed();
                let (time, x, y) = (now.as_micros(), now.as_millis() % 1777, now.as_millis() % 913);
                let mut text = format!("{{\"at\":{time:012},\"x\":{x:04},\"y\":{y:03},\"user\":\"b81d6e04\",\"tool\":\"pen\"");
                text.push_str(&format!(",\"s\":\"{}\"}}", "-".repeat(SIZE - 8 - text.len())));
                let message = Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
                client.send(now, paths, message).unwrap();
            }
            _ = timer.tick() => client.handle_input(start.elapsed(), Input::Timeout),
            packet = stream.next() => {
                let packet = packet.unwrap().unwrap().into_data();
                client.handle_input(start.elapsed(), Input::Packet(&packet));
            }
        }
    }
}

/// The CPU time of a process so far.
fn cpu(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split(' ').collect();
    let ticks: u64 = fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// The resident memory of a process, in bytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}
