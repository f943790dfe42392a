use axum::body::Bytes;
use groupwire_quic::Fate;
use groupwire_session::PathNeeds;

use super::*;
use crate::ends::hello::hello;
use crate::ends::{DatagramSink, Gone};
use crate::server::config::Config;
use crate::server::services::Services;

/// A client that joins the room `demo` and then sends without end.
struct Flood {
    has_joined: bool,
    sent: usize,
}

impl Receive for Flood {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        if !std::mem::replace(&mut self.has_joined, true) {
            return Ok(Some(Incoming::Packet(hello("demo", 1200))));
        }
        self.sent += 1;
        let packet = Bytes::from_static(&[0; 100]);
        Ok(Some(match self.sent % 2 {
            0 => Incoming::Packet(packet),
            _ => Incoming::Datagram(packet),
        }))
    }
}

/// A transport that takes everything at once.
struct Hole;

impl Transmit for Hole {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        None
    }

    async fn send(&mut self, _: Vec<u8>) -> Result<(), Gone> {
        Ok(())
    }

    async fn close(&mut self, _: Vec<u8>, _: Option<&Error>) {}
}

impl Datagrams for Hole {
    async fn send(&mut self, _: Vec<u8>, _: PathNeeds) -> Fate {
        Fate::Sent
    }

    fn sink(&self) -> DatagramSink {
        Box::new(|_| ())
    }
}

#[tokio::test]
async fn few_messages_of_a_connection_wait_for_a_room_that_is_busy() {
    let context = Services::new(Config::default(), None, None).unwrap().transports;
    let (sender, mut room) = mpsc::unbounded_channel();
    context.rooms.add("demo", sender);
    let info = ConnInfo { transport: "WebTransport", path: None };
    let flood = Flood { has_joined: false, sent: 0 };
    let serving = tokio::spawn(serve(context, info, flood, Hole, Some((Hole, 1200))));
    let Some(Message::Join { connection, .. }) = room.recv().await else { panic!("it joins") };
    // A room has at most three packets under way, and as many datagrams as have a place.
    for _ in 0..3 {
        connection.outlet.packet(vec![0]);
    }
    let datagram = |_: &_| connection.outlet.datagram((vec![0], PathNeeds::default()));
    let put = (0..1000).filter(datagram).count();
    let settled = async || {
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
    };
    settled().await;
    assert_eq!((room.len(), put), (16 + 3 + 16, 16));
    // Each message that the room handles makes place for one.
    let handled = std::iter::from_fn(|| room.try_recv().ok()).take(10).count();
    settled().await;
    assert!(handled == 10 && room.len() <= 16 + 3 + 16, "{}", room.len());
    drop(connection);
    drop(room);
    serving.await.unwrap();
}
