//! Transports as the session core sees them: packets in and out.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A transport. It ends when this is dropped.
pub struct Wire {
    pub outgoing: mpsc::Sender<Vec<u8>>,
    pub incoming: mpsc::Receiver<Vec<u8>>,
    pub tasks: JoinSet<()>,
}

/// Plain TCP (T8).
pub async fn socket(address: SocketAddr) -> Wire {
    let (mut reader, mut writer) = TcpStream::connect(address).await.unwrap().into_split();
    let (outgoing, mut to_send) = mpsc::channel::<Vec<u8>>(1);
    let (received, incoming) = mpsc::channel(64);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(packet) = to_send.recv().await {
            if writer.write_all(&framed(&packet)).await.is_err() {
                return;
            }
        }
    });
    tasks.spawn(async move {
        let (mut octets, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(1..) = reader.read(&mut piece).await.inspect(|&count| {
            octets.extend_from_slice(&piece[..count]);
        }) {
            while let Some(packet) = take_packet(&mut octets) {
                if received.send(packet).await.is_err() {
                    return;
                }
            }
        }
    });
    Wire { outgoing, incoming, tasks }
}

/// The packet with its length before it (T1).
pub fn framed(packet: &[u8]) -> Vec<u8> {
    let mut octets = varint(packet.len() as u64);
    octets.extend_from_slice(packet);
    octets
}

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut octets = Vec::new();
    while value >= 0x80 {
        octets.push(value as u8 | 0x80);
        value >>= 7;
    }
    octets.push(value as u8);
    octets
}

/// A number from the front.
pub fn take_varint(octets: &mut Vec<u8>) -> Option<u64> {
    let size = octets.iter().position(|octet| octet & 0x80 == 0)? + 1;
    let bits = octets.drain(..size).enumerate();
    Some(bits.fold(0, |value, (at, octet)| value | u64::from(octet & 0x7f) << (7 * at)))
}

/// A packet with its length before it, from the front.
pub fn take_packet(octets: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut rest = octets.clone();
    let length = take_varint(&mut rest)? as usize;
    if rest.len() < length {
        return None;
    }
    *octets = rest.split_off(length);
    Some(rest)
}
