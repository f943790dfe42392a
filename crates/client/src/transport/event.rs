//! What a transport reports to the driver.

use groupwire_quic::Fate;
use tokio_tungstenite::tungstenite::Bytes;

/// An event of a transport.
#[derive(Debug)]
pub(crate) enum TransportEvent {
    Packet(Bytes),
    Datagram(Bytes),
    /// This number of packets was handed to the operating system.
    Sent(usize),
    /// A datagram was sent, or dropped because it became too old.
    DatagramGone(Fate),
    Closed,
}
