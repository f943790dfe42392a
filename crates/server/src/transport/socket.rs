//! Length-prefixed packets over plain TCP (docs/transports.md, T8), for native programs.

use std::sync::Arc;

use groupwire_session::Error;
use tokio::net::{TcpListener, TcpStream};

use super::context::TransportContext;
use crate::arrivals::Newcomer;
use crate::ends::accept::accept;
use crate::ends::framing::Framed;
use crate::ends::linger::close_in_order;
use crate::ends::link::Link;
use crate::ends::socket_writer::{Framing, SocketStream, SocketWriter};
use crate::ends::{Gone, Incoming, NoDatagrams, Receive, Transmit};

/// Accepts and serves connections; never returns.
pub(crate) async fn serve(listener: TcpListener, context: Arc<TransportContext>) {
    loop {
        let (socket, peer) = accept(&listener).await;
        if context.connections.refuse() {
            tracing::warn!(%peer, "connection refused: too many connections");
            continue;
        }
        let handshake = context.addresses.handshake(peer.ip());
        let counted = match handshake.and_then(|()| context.addresses.open(peer.ip())) {
            Ok(counted) => counted,
            Err(refusal) => {
                tracing::debug!(%peer, "connection refused: {}", refusal.why());
                continue;
            }
        };
        context.arrivals.connected(Newcomer::Plain).await;
        tracing::debug!(%peer, transport = "TCP socket", "connected");
        let context = Arc::clone(&context);
        tokio::spawn(async move {
            serve_one(context, socket).await;
            drop(counted);
        });
    }
}

async fn serve_one(context: Arc<TransportContext>, socket: TcpStream) {
    let writer = SocketWriter::new(Link::plain(socket), Framing::Length);
    let reader = Framed::new(SocketStream(Arc::clone(&writer)), context.max_packet());
    let datagrams = None::<(NoDatagrams, usize)>;
    super::emulation::serve(context, "TCP socket", false, reader, Writer(writer), datagrams).await;
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
        close_in_order(&mut SocketStream(Arc::clone(&self.0))).await;
    }
}
