//! Length-prefixed packets over plain TCP (docs/transports.md, T8), for native programs.

use std::net::SocketAddr;
use std::sync::Arc;

use groupwire_session::Error;
use tokio::net::{TcpListener, TcpStream};

use super::ends::{Gone, Incoming, NoDatagrams, Receive, Transmit};
use super::framing::Framed;
use super::link::Link;
use super::socket_writer::{Framing, SocketStream, SocketWriter};
use crate::addresses::Counted;
use crate::arrivals::Newcomer;
use crate::backlog::Backlog;
use crate::hub::Hub;

/// Accepts and serves connections; never returns. Once the server says goodbye it accepts no others.
pub(crate) async fn serve(listener: TcpListener, hub: Arc<Hub>) {
    let backlog = Backlog::new(Newcomer::Plain);
    let serving = async {
        loop {
            let (socket, peer, counted) = backlog.next(&hub.arrivals).await;
            tracing::debug!(%peer, transport = "TCP socket", "connected");
            let hub = Arc::clone(&hub);
            tokio::spawn(async move {
                serve_one(hub, socket).await;
                drop(counted);
            });
        }
    };
    let most = |newcomer| hub.arrivals.most_waiting(newcomer);
    let filling = backlog.fill(listener, most, &hub.drain, |peer| admit(&hub, peer));
    tokio::join!(filling, serving);
}

/// Counts a connection; `None` if it is refused.
fn admit(hub: &Hub, peer: SocketAddr) -> Option<Option<Counted>> {
    if hub.refuses_connection() {
        tracing::warn!(%peer, "connection refused: too many connections");
        return None;
    }
    let handshake = hub.addresses.handshake(peer.ip());
    let counted = handshake.and_then(|()| hub.addresses.open(peer.ip()));
    counted
        .inspect_err(|refusal| tracing::debug!(%peer, "connection refused: {}", refusal.why()))
        .ok()
}

async fn serve_one(hub: Arc<Hub>, socket: TcpStream) {
    let writer = SocketWriter::new(Link::plain(socket), Framing::Length);
    let reader = Framed::new(SocketStream(Arc::clone(&writer)), hub.config.room.limits.max_packet);
    let datagrams = None::<(NoDatagrams, usize)>;
    super::emulation::serve(hub, "TCP socket", false, reader, Writer(writer), datagrams).await;
}

impl Receive for Framed<SocketStream> {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        Ok(self.next().await?.map(Incoming::Packet))
    }
}

struct Writer(Arc<SocketWriter>);

impl Transmit for Writer {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        Some(Arc::clone(&self.0))
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.send(&packet, &[]);
        self.0.flush().await.map(drop).map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, _: Option<&Error>) {
        if !packet.is_empty() {
            self.0.send(&packet, &[]);
        }
        if self.0.flush().await.is_err() {
            return;
        }
        self.0.finish();
        // Read and drop what still comes: closing a socket with unread bytes resets the connection, and the client
        // would lose the last packet.
        let socket = self.0.link().socket();
        let mut dropped = [0; 1024];
        while socket.readable().await.is_ok() {
            match socket.try_read(&mut dropped) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}
