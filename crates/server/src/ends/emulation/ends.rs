//! Wrappers of a transport's sending and receiving ends that pass packets through a model of a bad
//! network path.

use std::sync::Arc;

use groupwire_quic::Fate;
use groupwire_session::{Error, Opening, PathNeeds};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::model::{DatagramModel, PathModel, Recovery, StreamModel};
use super::path::{Emulations, PathSlot};
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{DatagramSink, Datagrams, Gone, Incoming, Receive, Transmit};

/// Most packets that may wait until a path model accepts them.
const MAX_ENTERING: usize = 4;

/// Moves packets through a path model until `entering` is closed and all packets have arrived, or
/// until `leaving` is closed.
async fn carry<P: Size>(
    mut entering: mpsc::Receiver<P>,
    mut model: impl PathModel<P>,
    slot: PathSlot,
    leaving: mpsc::Sender<P>,
) {
    let mut is_over = false;
    loop {
        let next = model.next();
        tokio::select! {
            packet = entering.recv(), if !is_over && model.has_space() => match packet {
                Some(packet) => {
                    let size = packet.size();
                    model.send(Instant::now(), slot.settings(), packet, size);
                }
                None => is_over = true,
            },
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            else => return,
        }
        while let Some(packet) = model.take(Instant::now(), slot.settings()) {
            if leaving.send(packet).await.is_err() {
                return;
            }
        }
    }
}

trait Size: Send {
    fn size(&self) -> usize;
}

impl Size for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }
}

impl Size for Result<Option<Incoming>, Error> {
    fn size(&self) -> usize {
        match self {
            Ok(Some(Incoming::Packet(packet) | Incoming::Datagram(packet))) => packet.len(),
            // The end of a connection is delayed like a packet.
            Ok(None) | Err(_) => 0,
        }
    }
}

/// A task that is aborted when its owner is dropped.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The receiving end of a transport, over an emulated path.
pub(crate) struct EmulatedReceiver {
    arriving: mpsc::Receiver<Result<Option<Incoming>, Error>>,
    _task: Task<()>,
}

impl EmulatedReceiver {
    /// Wraps `receive`. With `emulations`, `slot` is set to the path of the room that the first
    /// packet names.
    pub(crate) fn new<R: Receive + 'static>(
        emulations: Option<Arc<Emulations>>,
        receive: R,
        slot: PathSlot,
        recovery: Recovery,
        seeds: [u64; 2],
    ) -> Self {
        let (arrived, arriving) = mpsc::channel(1);
        let (packets, to_packets) = mpsc::channel(MAX_ENTERING);
        let (datagrams, to_datagrams) = mpsc::channel(MAX_ENTERING);
        let reliable = StreamModel::new(recovery, seeds[0]);
        let carried = carry(to_packets, reliable, slot.clone(), arrived.clone());
        let datagrams_carried =
            carry(to_datagrams, DatagramModel::new(seeds[1]), slot.clone(), arrived);
        let task = tokio::spawn(async move {
            let read = read(emulations, receive, slot, packets, datagrams);
            tokio::join!(read, carried, datagrams_carried);
        });
        EmulatedReceiver { arriving, _task: Task(task) }
    }
}

impl Receive for EmulatedReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        self.arriving.recv().await.unwrap_or(Ok(None))
    }
}

async fn read(
    mut emulations: Option<Arc<Emulations>>,
    mut receive: impl Receive,
    slot: PathSlot,
    packets: mpsc::Sender<Result<Option<Incoming>, Error>>,
    datagrams: mpsc::Sender<Result<Option<Incoming>, Error>>,
) {
    loop {
        let incoming = receive.receive().await;
        if let Some(emulations) = emulations.take() {
            set_path_of_room(&slot, &emulations, &incoming);
        }
        let goes_on = matches!(incoming, Ok(Some(_)));
        let entered = match incoming {
            Ok(Some(Incoming::Datagram(_))) => datagrams.send(incoming).await,
            _ => packets.send(incoming).await,
        };
        if !goes_on || entered.is_err() {
            return;
        }
    }
}

/// Sets `slot` to the path of the room that the first packet of a connection names.
fn set_path_of_room(
    slot: &PathSlot,
    emulations: &Emulations,
    first: &Result<Option<Incoming>, Error>,
) {
    let Ok(Some(Incoming::Packet(opening))) = first else { return };
    let Ok(opening) = Opening::read(opening) else { return };
    match emulations.path(opening.room()) {
        Some(path) => slot.set(&path),
        None => tracing::warn!("connection not emulated: too many rooms have an emulated network"),
    }
}

/// The reliable sending end of a transport, over an emulated path.
pub(crate) struct EmulatedTransmitter<T> {
    /// The entrance of the path model; `None` once the transport is being closed.
    entrance: Option<mpsc::Sender<Vec<u8>>>,
    slot: PathSlot,
    /// Returns the transport when all packets were sent, unless it broke.
    task: Task<Option<T>>,
}

impl<T: Transmit + 'static> EmulatedTransmitter<T> {
    pub(crate) fn new(mut transmit: T, slot: PathSlot, model: StreamModel<Vec<u8>>) -> Self {
        let (entrance, entering) = mpsc::channel(MAX_ENTERING);
        let (leaving, mut left) = mpsc::channel(1);
        let carried = carry(entering, model, slot.clone(), leaving);
        let task = tokio::spawn(async move {
            let write = async move {
                while let Some(packet) = left.recv().await {
                    transmit.send(packet).await.ok()?;
                }
                Some(transmit)
            };
            tokio::join!(carried, write).1
        });
        EmulatedTransmitter { entrance: Some(entrance), slot, task: Task(task) }
    }
}

impl<T: Transmit + 'static> Transmit for EmulatedTransmitter<T> {
    // Packets that bypass the path model would overtake those in it.
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        None
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        let Some(entrance) = &self.entrance else { return Err(Gone) };
        entrance.send(packet).await.map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        if self.entrance.take().is_none() {
            return;
        }
        let (transmit, ()) = tokio::join!(&mut self.task.0, sleep(self.slot.settings().delay));
        if let Ok(Some(mut transmit)) = transmit {
            transmit.close(packet, reason).await;
        }
    }
}

/// The datagrams of a transport, over an emulated path.
pub(crate) struct EmulatedDatagrams {
    entrance: mpsc::Sender<Vec<u8>>,
    _task: Task<()>,
}

impl EmulatedDatagrams {
    pub(crate) fn new<D: Datagrams + 'static>(
        mut datagrams: D,
        slot: PathSlot,
        model: DatagramModel<Vec<u8>>,
    ) -> Self {
        let (entrance, entering) = mpsc::channel(MAX_ENTERING);
        let (leaving, mut left) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let write = async move {
                while let Some(packet) = left.recv().await {
                    // A lost datagram is one that the emulated path has lost.
                    datagrams.send(packet, PathNeeds::default()).await;
                }
            };
            tokio::join!(carry(entering, model, slot, leaving), write);
        });
        EmulatedDatagrams { entrance, _task: Task(task) }
    }
}

impl Datagrams for EmulatedDatagrams {
    async fn send(&mut self, packet: Vec<u8>, _: PathNeeds) -> Fate {
        // The reliable end notices that the connection is closed.
        let _ = self.entrance.send(packet).await;
        Fate::Sent
    }

    fn sink(&self) -> DatagramSink {
        let entrance = self.entrance.clone();
        Box::new(move |parts| drop(entrance.try_send(parts.concat())))
    }
}
