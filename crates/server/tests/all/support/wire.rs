//! A transport as the session core sees it: packets in and out.

use std::net::SocketAddr;

use groupwire_server::session::name_of;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A transport, which is closed when this is dropped.
pub(crate) struct Wire {
    pub(crate) outgoing: mpsc::Sender<Vec<u8>>,
    pub(crate) incoming: mpsc::Receiver<Vec<u8>>,
    pub(crate) _tasks: JoinSet<()>,
}

impl Wire {
    /// A transport that leads nowhere.
    pub(crate) fn broken() -> Self {
        let (outgoing, incoming) = (mpsc::channel(1).0, mpsc::channel(1).1);
        Wire { outgoing, incoming, _tasks: JoinSet::new() }
    }
}

/// Plain TCP (T8).
pub(crate) async fn socket(address: SocketAddr) -> Wire {
    socket_of(TcpStream::connect(address).await.unwrap())
}

/// Plain TCP over an open connection.
pub(crate) fn socket_of(stream: TcpStream) -> Wire {
    let (mut reader, mut writer) = stream.into_split();
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
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(1..) = reader.read(&mut piece).await.inspect(|&count| {
            bytes.extend_from_slice(&piece[..count]);
        }) {
            while let Some(packet) = take_packet(&mut bytes) {
                if received.send(packet).await.is_err() {
                    return;
                }
            }
        }
    });
    Wire { outgoing, incoming, _tasks: tasks }
}

/// The length-prefixed form of a packet (T1).
pub(crate) fn framed(packet: &[u8]) -> Vec<u8> {
    let mut bytes = varint(packet.len() as u64);
    bytes.extend_from_slice(packet);
    bytes
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Removes a varint from the front.
pub(crate) fn take_varint(bytes: &mut Vec<u8>) -> Option<u64> {
    let size = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let bits = bytes.drain(..size).enumerate();
    Some(bits.fold(0, |value, (at, byte)| value | u64::from(byte & 0x7f) << (7 * at)))
}

/// Removes a length-prefixed packet from the front.
pub(crate) fn take_packet(bytes: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut rest = bytes.clone();
    let length = take_varint(&mut rest)? as usize;
    if rest.len() < length {
        return None;
    }
    *bytes = rest.split_off(length);
    Some(rest)
}

/// The name of the error, if the packet consists of an ERROR frame.
pub(crate) fn error_code(packet: &[u8]) -> Option<&'static str> {
    match packet {
        [1, 0x10, _, code, ..] | [0x10, _, code, ..] => Some(name_of(u32::from(*code))),
        _ => None,
    }
}
