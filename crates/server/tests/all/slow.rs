//! Clients that write or read slowly over TCP: the server waits for them only for so long, and
//! others in their room are served.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use groupwire_server::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::support::person::Person;
use crate::support::wire::{error_code, framed, socket, take_packet};
use crate::support::{PATIENCE, opening, servers_with, status};

/// A client writes a byte of its packet this often: seldom enough that the packet never ends.
const DRIP: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    PlainTcp,
    WebSocket,
}

impl Kind {
    /// Opens a transport.
    async fn open(self, http: SocketAddr, tcp: SocketAddr) -> TcpStream {
        if self == Kind::PlainTcp {
            return TcpStream::connect(tcp).await.unwrap();
        }
        let mut stream = TcpStream::connect(http).await.unwrap();
        let request = format!(
            "GET /ws HTTP/1.1\r\nhost: {http}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 101"));
        stream
    }

    /// A packet in the form of the transport. The mask of the WebSocket message is 0, which changes
    /// no byte.
    fn form(self, packet: &[u8]) -> Vec<u8> {
        match self {
            Kind::PlainTcp => framed(packet),
            Kind::WebSocket => {
                let length = (packet.len() as u16).to_be_bytes();
                [&[0x82, 0x80 | 126], &length[..], &[0; 4], packet].concat()
            }
        }
    }

    /// The name of the last error in what the server sent.
    fn error(self, mut bytes: Vec<u8>) -> Option<&'static str> {
        let mut packets = Vec::new();
        match self {
            Kind::PlainTcp => packets.extend(std::iter::from_fn(|| take_packet(&mut bytes))),
            Kind::WebSocket => {
                let mut rest = &bytes[..];
                while let [_, short @ ..] = rest {
                    let (length, body) = match short {
                        [126, high, low, body @ ..] => {
                            (usize::from(u16::from_be_bytes([*high, *low])), body)
                        }
                        [length, body @ ..] => (usize::from(*length), body),
                        [] => break,
                    };
                    packets.push(body[..length.min(body.len())].to_vec());
                    rest = body.get(length..).unwrap_or_default();
                }
            }
        }
        packets.iter().rev().find_map(|packet| error_code(packet))
    }
}

/// Sends these bytes, and then slowly a packet that does not end. The name of the error that the
/// server answers with.
async fn drip(kind: Kind, mut stream: TcpStream, first: Vec<u8>) -> Option<&'static str> {
    stream.write_all(&first).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let writing = tokio::spawn(async move {
        let packet = kind.form(&[0; 1000]);
        for byte in packet {
            // Fails once the server has closed the connection.
            if writer.write_all(&[byte]).await.is_err() {
                return;
            }
            sleep(DRIP).await;
        }
    });
    let mut answer = Vec::new();
    // A reset ends the connection, too.
    let _ = timeout(PATIENCE, reader.read_to_end(&mut answer)).await.expect("the server waits on");
    writing.abort();
    kind.error(answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_never_ends_a_packet_is_silent_before_and_after_joining() {
    let (http, tcp) = servers_with(Config::default()).await;
    let mut ann = Person::join(socket(tcp).await, "demo").await;
    let mut bob = Person::join(socket(tcp).await, "demo").await;
    let attack = |kind: Kind, has_joined: bool| async move {
        let stream = kind.open(http, tcp).await;
        let first = if has_joined { kind.form(&opening("demo")) } else { Vec::new() };
        assert_eq!(drip(kind, stream, first).await, Some("silent"), "{kind:?} {has_joined}");
    };
    let attacks = async {
        tokio::join!(
            attack(Kind::PlainTcp, false),
            attack(Kind::PlainTcp, true),
            attack(Kind::WebSocket, false),
            attack(Kind::WebSocket, true),
        )
    };
    tokio::pin!(attacks);
    let mut said = 0;
    loop {
        ann.send("a line").await;
        said += 1;
        tokio::join!(ann.receive(said), bob.receive(said));
        tokio::select! {
            _ = &mut attacks => break,
            () = sleep(DRIP) => {}
        }
    }
    assert!(said > 1, "nobody talked meanwhile");
}

/// Bytes that hardly compress, so that the kernel's buffers for one connection fill.
fn noise(seed: &mut u64) -> String {
    let mut letter = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        char::from(b'0' + (*seed >> 40) as u8 % 64)
    };
    (0..50_000).map(|_| letter()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_read_over_plain_tcp_is_disconnected_and_slows_nobody() {
    let (http, tcp) = servers_with(Config::default()).await;
    let mut ann = Person::join(socket(tcp).await, "demo").await;
    let mut bob = Person::join(socket(tcp).await, "demo").await;
    let mut not_reading = Kind::PlainTcp.open(http, tcp).await;
    not_reading.write_all(&framed(&opening("demo"))).await.unwrap();
    let (mut seed, mut said) = (1, 0);
    let started = Instant::now();
    while status(http, "connections").await > 2 || said == 0 {
        assert!(started.elapsed() < PATIENCE, "the client is still connected");
        // The client sends PING, so that it does not count as silent.
        let _ = not_reading.write_all(&framed(&[0x0e, 1, 5])).await;
        ann.send(&noise(&mut seed)).await;
        said += 1;
        tokio::join!(ann.receive(said), bob.receive(said));
    }
    assert!(said > 20, "a megabyte and more fills the pipe: {said}");
}
