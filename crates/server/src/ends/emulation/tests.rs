use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use groupwire_quic::Fate;
use groupwire_session::{Error, PathNeeds};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::ends::{EmulatedDatagrams, EmulatedReceiver, EmulatedTransmitter};
use super::model::{DatagramModel, Recovery, Settings, StreamModel};
use super::path::{Emulations, Path, PathSlot};
use crate::ends::hello::hello;
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{DatagramSink, Datagrams, Gone, Incoming, Receive, Transmit};

const MS: Duration = Duration::from_millis(1);

/// A time limit that no test reaches, even on a loaded machine.
const LONG: Duration = Duration::from_secs(20);

/// A transport that receives what the test has sent to it.
struct Script(mpsc::UnboundedReceiver<Result<Option<Incoming>, Error>>);

impl Receive for Script {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        self.0.recv().await.unwrap_or(Ok(None))
    }
}

type Log = mpsc::UnboundedSender<(Instant, Vec<u8>)>;

struct Noted(Log);

impl Noted {
    fn note(&self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.send((Instant::now(), packet)).map_err(|_| Gone)
    }
}

impl Transmit for Noted {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        None
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.note(packet)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        let _ = self.note(packet);
        let _ = self.note(reason.map(Error::to_string).unwrap_or_default().into());
    }
}

impl Datagrams for Noted {
    async fn send(&mut self, packet: Vec<u8>, _: PathNeeds) -> Fate {
        let _ = self.note(packet);
        Fate::Sent
    }

    fn sink(&self) -> DatagramSink {
        Box::new(|_| ())
    }
}

fn slot(loss: f64, delay: Duration) -> PathSlot {
    let slot = PathSlot::default();
    let emulations = Emulations::new(true);
    let path = emulations.path("bad").unwrap();
    path.set(Settings { loss, delay });
    slot.set(&path);
    slot
}

#[tokio::test]
async fn packets_leave_in_order_after_the_delay_and_send_does_not_wait_for_them() {
    let (log, mut noted) = mpsc::unbounded_channel();
    let model = StreamModel::new(Recovery::TCP, 1);
    let mut sending = EmulatedTransmitter::new(Noted(log), slot(0.2, 50 * MS), model);
    let start = Instant::now();
    for number in 0..100 {
        sending.send(vec![number; 100]).await.unwrap();
    }
    for number in 0..100 {
        let (at, packet) = noted.recv().await.unwrap();
        assert_eq!(packet, vec![number; 100]);
        assert!(at - start >= 50 * MS);
    }
}

#[tokio::test]
async fn the_close_arrives_after_all_packets() {
    let (log, mut noted) = mpsc::unbounded_channel();
    let model = StreamModel::new(Recovery::TCP, 2);
    let mut sending = EmulatedTransmitter::new(Noted(log), slot(0.3, 20 * MS), model);
    for number in 0..20 {
        sending.send(vec![number]).await.unwrap();
    }
    sending.close(b"bye".to_vec(), Some(&Error::Malformed { what: "test" })).await;
    for number in 0..20 {
        assert_eq!(noted.recv().await.unwrap().1, [number]);
    }
    assert_eq!(noted.recv().await.unwrap().1, b"bye");
    assert_eq!(noted.recv().await.unwrap().1, b"malformed test");
    assert!(sending.send(vec![1]).await.is_err());
}

#[tokio::test]
async fn a_closed_transport_is_noticed() {
    let (log, noted) = mpsc::unbounded_channel();
    drop(noted);
    let mut sending =
        EmulatedTransmitter::new(Noted(log), slot(0.0, MS), StreamModel::new(Recovery::TCP, 3));
    let gone = async { while sending.send(vec![1]).await.is_ok() {} };
    timeout(LONG, gone).await.unwrap();
}

#[tokio::test]
async fn datagrams_are_dropped_and_the_others_arrive_after_the_delay() {
    let (log, mut noted) = mpsc::unbounded_channel();
    let mut sending =
        EmulatedDatagrams::new(Noted(log), slot(0.25, 30 * MS), DatagramModel::new(4));
    let start = Instant::now();
    for number in 0..200 {
        sending.send(vec![number], PathNeeds::default()).await;
    }
    let mut count = 0;
    while let Ok(Some((at, _))) = timeout(1000 * MS, noted.recv()).await {
        count += 1;
        assert!(at - start >= 30 * MS);
    }
    // A quarter of the 200 is lost.
    assert!((130..170).contains(&count), "{count}");
}

#[tokio::test]
async fn received_packets_take_the_path_of_their_room_and_the_end_arrives_last() {
    let emulations = Arc::new(Emulations::new(true));
    let path = emulations.path("bad").unwrap();
    path.set(Settings { loss: 0.2, delay: 40 * MS });
    let (script, played) = mpsc::unbounded_channel();
    let _ = script.send(Ok(Some(Incoming::Packet(hello("bad", 0)))));
    for number in 0..50_u8 {
        let _ = script.send(Ok(Some(Incoming::Packet(vec![number].into()))));
        let _ = script.send(Ok(Some(Incoming::Datagram(vec![number].into()))));
    }
    drop(script);
    let start = Instant::now();
    let mut receiving = EmulatedReceiver::new(
        Some(emulations),
        Script(played),
        PathSlot::default(),
        Recovery::TCP,
        [5, 6],
    );
    let (mut packets, mut datagrams) = (Vec::new(), 0);
    while let Ok(Some(incoming)) = receiving.receive().await {
        assert!(start.elapsed() >= 40 * MS);
        match incoming {
            Incoming::Packet(packet) => packets.push(packet),
            Incoming::Datagram(_) => datagrams += 1,
        }
    }
    assert_eq!(packets[0], hello("bad", 0));
    assert!(packets[1..].iter().map(|packet| packet[0]).eq(0..50));
    assert!((30..50).contains(&datagrams), "{datagrams}");
}

#[tokio::test]
async fn a_change_affects_open_connections() {
    let (log, mut noted) = mpsc::unbounded_channel();
    let (slot, path) = (PathSlot::default(), Arc::new(Path::default()));
    path.set(Settings { loss: 0.0, delay: LONG });
    slot.set(&path);
    let mut sending = EmulatedDatagrams::new(Noted(log), slot.clone(), DatagramModel::new(7));
    path.set(Settings::default());
    let start = Instant::now();
    sending.send(vec![1], PathNeeds::default()).await;
    assert_eq!(noted.recv().await.unwrap().1, [1]);
    assert!(start.elapsed() < LONG);
}

#[test]
fn paths_of_rooms_without_connections_are_freed() {
    let emulations = Emulations::new(true);
    let kept: Vec<_> = (0..200).map(|n| emulations.path(&format!("kept {n}")).unwrap()).collect();
    for n in 0..10_000 {
        assert!(emulations.path(&format!("left {n}")).is_some());
    }
    assert!(Arc::ptr_eq(&emulations.path("kept 7").unwrap(), &kept[7]));
    let more: Vec<_> = (0..500).filter_map(|n| emulations.path(&format!("more {n}"))).collect();
    assert_eq!(more.len(), 56);
}
