//! A client on WebTransport (T5, T6). All of them decode as they go: what the server sends next depends on what they
//! acknowledge.

use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::wtransport::config::IpBindConfig;
use groupwire_quic::wtransport::endpoint::endpoint_side;
use groupwire_quic::wtransport::{ClientConfig, Connection, Endpoint, RecvStream, SendStream};
use groupwire_quic::{Datagrams, End, endpoint_settings, settings, write_all};
use groupwire_session::limits::DEFAULT_MAX_PACKET;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::member::{Member, Packet};
use super::shared::Shared;

/// The server states a shorter time.
const IDLE: Duration = Duration::from_secs(30);
/// Octets read at a time.
const READ: usize = 4 << 10;

pub(super) struct Quic {
    connection: Connection,
    writer: SendStream,
    reader: RecvStream,
    datagrams: Datagrams,
    /// The front of a packet of the stream that is not all there.
    partial: Vec<u8>,
    packets: Vec<Packet>,
    pub(super) member: Box<Member>,
    /// A socket of its own, as participants have.
    _endpoint: Endpoint<endpoint_side::Client>,
}

/// What has come.
pub(super) enum News {
    Stream(Vec<u8>),
    Datagram(Vec<u8>),
}

impl Quic {
    pub(super) async fn open(shared: &Shared, mut member: Box<Member>) -> Result<Self, String> {
        let hashes = shared.certificates.iter().map(|hash| (*hash).into());
        let mut config = ClientConfig::builder()
            .with_bind_config(IpBindConfig::InAddrAnyV4)
            .with_server_certificate_hashes(hashes)
            .build();
        let transport = settings(End::Client, DEFAULT_MAX_PACKET, IDLE);
        config.quic_config_mut().transport_config(Arc::new(transport));
        *config.quic_endpoint_config_mut() = endpoint_settings(End::Client);
        let endpoint = Endpoint::client(config).map_err(|error| error.to_string())?;
        let url = format!("https://127.0.0.1:{}/wt", shared.port);
        let connection = endpoint.connect(&url).await.map_err(|error| error.to_string())?;
        let opening = connection.open_bi().await.map_err(|error| error.to_string())?;
        let (writer, reader) = opening.await.map_err(|error| error.to_string())?;
        let datagrams = Datagrams::new(&connection);
        shared.watch(connection.quic_connection().clone());
        let mut packets = Vec::new();
        member.open(&shared.ledger, datagrams.max(), &mut packets);
        let (partial, _endpoint) = (Vec::new(), endpoint);
        Ok(Quic { connection, writer, reader, datagrams, partial, packets, member, _endpoint })
    }

    /// Waits for what comes.
    pub(super) async fn next(&mut self) -> Result<News, String> {
        let mut space = [0; READ];
        tokio::select! {
            read = self.reader.read(&mut space) => match read {
                Ok(Some(count)) => Ok(News::Stream(space[..count].to_vec())),
                Ok(None) => Err("the server ended the stream".to_owned()),
                Err(error) => Err(error.to_string()),
            },
            datagram = self.connection.receive_datagram() => match datagram {
                Ok(datagram) => Ok(News::Datagram(datagram.payload().to_vec())),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    pub(super) fn take(&mut self, shared: &Shared, news: News) -> Result<(), String> {
        let (ledger, at) = (&shared.ledger, shared.ledger.now());
        match news {
            News::Datagram(packet) => {
                self.member.hear_datagram(ledger, at, &packet, &mut self.packets);
            }
            News::Stream(octets) => {
                self.partial.extend(octets);
                while let Some((start, end)) = packet(&self.partial)? {
                    let rest = self.partial.split_off(end);
                    let octets = std::mem::replace(&mut self.partial, rest);
                    self.member.hear(ledger, at, &octets[start..], &mut self.packets);
                }
            }
        }
        Ok(())
    }

    pub(super) fn say(&mut self, shared: &Shared, message: &[u8]) {
        self.member.say(&shared.ledger, message, &mut self.packets);
    }

    pub(super) fn due(&mut self, shared: &Shared) -> Option<u64> {
        self.member.due(&shared.ledger, &mut self.packets)
    }

    pub(super) fn wake(&mut self, shared: &Shared) {
        self.member.wake(&shared.ledger, &mut self.packets);
    }

    pub(super) async fn flush(&mut self) -> Result<(), String> {
        for packet in std::mem::take(&mut self.packets) {
            match packet {
                Packet::Datagram(packet) => {
                    let sent = self.datagrams.send(&packet, Instant::now()).await;
                    sent.map_err(|_| "the connection is lost".to_owned())?;
                }
                Packet::Stream(packet) => {
                    let octets = [length(packet.len()), packet].concat();
                    let sent = write_all(&self.connection, &mut self.writer, &octets).await;
                    sent.map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(())
    }
}

/// What goes before a packet on a stream (T1).
fn length(mut value: usize) -> Vec<u8> {
    let mut octets = Vec::new();
    while value >= 0x80 {
        octets.push(value as u8 | 0x80);
        value >>= 7;
    }
    octets.push(value as u8);
    octets
}

/// Where the first packet of a stream begins and ends, if it is all there (T1).
fn packet(octets: &[u8]) -> Result<Option<(usize, usize)>, String> {
    let Some(digits) = octets.iter().position(|octet| octet & 0x80 == 0) else {
        return if octets.len() < 4 { Ok(None) } else { Err("no length of a packet".to_owned()) };
    };
    if digits > 3 {
        return Err("no length of a packet".to_owned());
    }
    let digits = digits + 1;
    let value =
        octets[..digits].iter().rev().fold(0, |sum, octet| sum << 7 | usize::from(octet & 0x7f));
    Ok((octets.len() >= digits + value).then_some((digits, digits + value)))
}

/// The certificates that a server may have (T4).
pub(super) async fn certificates(port: u16) -> Result<Vec<[u8; 32]>, String> {
    let answer = ask(port).await.map_err(|error| format!("GET /transports: {error}"))?;
    hashes(&answer).ok_or_else(|| "it offers no WebTransport".to_owned())
}

async fn ask(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(b"GET /transports HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn hashes(answer: &str) -> Option<Vec<[u8; 32]>> {
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    let hashes = body.pointer("/webtransport/hashes")?.as_array()?;
    hashes.iter().map(|hash| octets(hash.as_str()?)).collect()
}

fn octets(digits: &str) -> Option<[u8; 32]> {
    let mut octets = [0; 32];
    for (at, octet) in octets.iter_mut().enumerate() {
        *octet = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_packets_are_found_when_they_are_there() {
        for size in [0, 127, 128, 20_000] {
            let mut octets = length(size);
            let start = octets.len();
            octets.resize(start + size, 7);
            if size > 0 {
                assert_eq!(packet(&octets[..start + size - 1]), Ok(None));
            }
            octets.push(9);
            assert_eq!(packet(&octets), Ok(Some((start, start + size))));
        }
        assert_eq!(packet(&[]), Ok(None));
        assert!(packet(&[0xff; 4]).is_err());
    }

    #[test]
    fn t4_certificates_are_read() {
        let hash = "01".repeat(32);
        let answer =
            format!("HTTP/1.0 200 OK\r\n\r\n{{\"webtransport\":{{\"hashes\":[\"{hash}\"]}}}}");
        assert_eq!(hashes(&answer), Some(vec![[1; 32]]));
        assert_eq!(hashes("HTTP/1.0 200 OK\r\n\r\n{}"), None);
        assert_eq!(hashes(""), None);
    }
}
