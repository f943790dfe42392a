//! The ends of a connection, which its transport and its room share: the sending and receiving ends
//! of a transport, the socket that both write to, and the queues and limits between them.

pub(crate) mod accept;
pub(crate) mod brake;
pub(crate) mod conn_info;
pub(crate) mod emulation;
pub(crate) mod framing;
#[cfg(test)]
pub(crate) mod hello;
pub(crate) mod linger;
pub(crate) mod link;
pub(crate) mod socket_writer;
mod tls_state;

use std::future::Future;
use std::sync::Arc;

use axum::body::Bytes;
use groupwire_quic::Fate;
use groupwire_session::{Error, PathNeeds};

use socket_writer::SocketWriter;

/// What a transport received.
pub(crate) enum Incoming {
    /// A packet of the reliable stream: in order, and once.
    Packet(Bytes),
    /// A datagram: it may be lost, repeated or reordered.
    Datagram(Bytes),
}

impl Incoming {
    /// A client's BYE (W36), for a transport that was closed the way browsers close the transports
    /// of a page that is gone.
    pub(crate) fn goodbye() -> Self {
        Incoming::Packet(Bytes::from_static(&BYE))
    }
}

/// The frame BYE with no reason and no time to come back.
const BYE: [u8; 4] = [0x11, 2, 0, 0];

/// The receiving end of a transport.
pub(crate) trait Receive: Send {
    /// The next packet or datagram; `None` if the transport is closed or broken. An error means
    /// that the client broke a rule of the transport.
    fn receive(&mut self) -> impl Future<Output = Result<Option<Incoming>, Error>> + Send;
}

/// The transport is closed or broken.
#[derive(Debug)]
pub(crate) struct Gone;

/// The reliable sending end of a transport.
pub(crate) trait Transmit: Send {
    /// The socket, if the room's task may write packets to it directly. This function has no
    /// default, so that a type that wraps another transport cannot forget it.
    fn socket_writer(&self) -> Option<Arc<SocketWriter>>;

    /// Sends a packet; done when the kernel or QUIC has it.
    fn send(&mut self, packet: Vec<u8>) -> impl Future<Output = Result<(), Gone>> + Send;

    /// Sends a last packet, which may be empty, and closes the transport, with the reason if the
    /// transport can carry one.
    fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>)
    -> impl Future<Output = ()> + Send;
}

/// Sends datagrams, independently of the reliable end, so that neither waits for the other.
pub(crate) trait Datagrams: Send {
    /// Sends a datagram; done when it was sent, or dropped because it became too old. `needs` is
    /// for the congestion control.
    fn send(&mut self, packet: Vec<u8>, needs: PathNeeds) -> impl Future<Output = Fate> + Send;

    /// The sink by which the room's task itself sends datagrams whose payload several receivers
    /// share: waking a task for each would cost more than sending.
    fn sink(&self) -> DatagramSink;
}

/// A datagram, and what the congestion control is told with it.
pub(crate) type Datagram = (Vec<u8>, PathNeeds);

/// Sends a datagram, given as header and payload: at once or not at all.
pub(crate) type DatagramSink = Box<dyn Fn([&[u8]; 2]) + Send>;

/// The type of the datagrams of a transport that has none; no value of this type exists.
pub(crate) enum NoDatagrams {}

impl Datagrams for NoDatagrams {
    async fn send(&mut self, _: Vec<u8>, _: PathNeeds) -> Fate {
        match *self {}
    }

    fn sink(&self) -> DatagramSink {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn w36_a_goodbye_is_the_frame_bye() {
        let Incoming::Packet(packet) = Incoming::goodbye() else { panic!("a packet is due") };
        // What a server writes begins with the version.
        assert_eq!(packet, groupwire_session::goodbye(Duration::ZERO)[1..]);
    }
}
