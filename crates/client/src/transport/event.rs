//! What a transport reports to the driver.

use tokio_tungstenite::tungstenite::Bytes;

/// An event of a transport.
#[derive(Debug)]
pub(crate) enum TransportEvent {
    Packet(Bytes),
    Datagram(Bytes),
    /// This number of packets was handed to the operating system.
    Sent(usize),
    /// This number of datagrams was sent, or dropped because they became too old.
    DatagramsSent(usize),
    Closed,
}
