//! TCP without anything on top (T8), for native programs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use groupwire_session::Error;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::framing::{Framed, framed};
use super::{Gone, Incoming, NoDatagrams, Receive, Transmit};
use crate::hub::Hub;
use crate::listen::accept;

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, hub: Arc<Hub>) {
    loop {
        let (socket, peer) = accept(&listener).await;
        if hub.connections.load(Ordering::Relaxed) >= hub.config.max_connections {
            tracing::warn!(%peer, "turned away: too many connections");
            continue;
        }
        tracing::debug!(%peer, "connected");
        tokio::spawn(serve_one(Arc::clone(&hub), socket));
    }
}

async fn serve_one(hub: Arc<Hub>, socket: TcpStream) {
    let (reader, writer) = socket.into_split();
    let reader = Framed::new(reader, hub.config.limits.max_packet);
    super::serve(hub, reader, Writer(writer), None::<(NoDatagrams, usize)>).await;
}

impl Receive for Framed<OwnedReadHalf> {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        Ok(self.next().await?.map(Incoming::Packet))
    }
}

struct Writer(OwnedWriteHalf);

impl Transmit for Writer {
    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.write_all(&framed(&packet)).await.map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, _: Option<&Error>) {
        if !packet.is_empty() && self.send(packet).await.is_err() {
            return;
        }
        let _ = self.0.shutdown().await;
        // What comes unread when a socket is closed resets the connection, and the last packet with it.
        let socket: &TcpStream = self.0.as_ref();
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
