//! An emulated bad network between a transport and its room, for demonstrations: connections that ask for it
//! (`emulate` in their address's query) go over the path that [`control`] sets for their room.
//!
//! Datagrams are dropped and delayed. Bytes of a reliable transport cannot be dropped here without breaking it, so the
//! effect of a lost segment on a stream is modelled: the segment arrives one retransmission later, and all behind it
//! waits. `docs/operations.md` describes the model.

pub(crate) mod control;
mod line;
mod switch;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groupwire_session::{Error, Opening};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Datagrams, Direct, Gone, Incoming, Origin, Receive, Transmit};
use crate::hub::Hub;
use line::{Line, Lossy, Recovery, Reliable, Settings};
use switch::Switch;

pub(crate) use control::{Emulations, Path};

/// The parameter in the query of a connection's address that asks for the emulated network.
const HINT: &str = "emulate";

/// True if a connection whose address has this query asks for the emulated network, and may have it.
pub(crate) fn is_wanted(hub: &Hub, query: Option<&str>) -> bool {
    let mut words = query.unwrap_or_default().split('&').map(|pair| pair.split('=').next());
    hub.emulations.are_allowed() && words.any(|word| word == Some(HINT))
}

/// Serves a connection until it ends, as [`super::serve`] does: over its room's emulated path if that is `wanted`,
/// else over a path of its own once one is set.
pub(crate) async fn serve<R, T, D>(
    hub: Arc<Hub>,
    kind: &'static str,
    wanted: bool,
    receive: R,
    transmit: T,
    datagrams: Option<(D, usize)>,
) where
    R: Receive + 'static,
    T: Transmit + 'static,
    D: Datagrams + 'static,
{
    if !hub.emulations.are_allowed() {
        let origin = Origin { kind, way: None };
        return super::serve(hub, origin, receive, transmit, datagrams).await;
    }
    let way = Way::default();
    let recovery = match datagrams {
        Some(_) => Recovery::QUIC,
        None => Recovery::TCP,
    };
    let switch = Switch { hub: Arc::clone(&hub), way: way.clone(), recovery };
    let receive = switch.receive(receive, wanted);
    let transmit = switch.transmit(transmit, wanted);
    let datagrams = datagrams.map(|(one, max)| (switch.datagrams(one, wanted), max));
    super::serve(hub, Origin { kind, way: Some(way) }, receive, transmit, datagrams).await;
}

/// The emulated path of a connection, shared by its ends: its room's, or its own. Empty, and nothing is emulated,
/// until a path is set.
#[derive(Clone, Default)]
pub(crate) struct Way(Arc<OnceLock<Mutex<Arc<Path>>>>);

impl Way {
    /// Sets the path, which takes effect with the next packet.
    pub(crate) fn lead(&self, path: &Arc<Path>) {
        let place = self.0.get_or_init(|| Mutex::new(Arc::clone(path)));
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(path);
    }

    /// True if a path is set.
    pub(crate) fn is_led(&self) -> bool {
        self.0.get().is_some()
    }

    fn settings(&self) -> Settings {
        let path = self.0.get().map(|place| place.lock().unwrap_or_else(PoisonError::into_inner));
        path.map(|path| path.settings()).unwrap_or_default()
    }

    fn find(&self, hub: &Hub, first: &Result<Option<Incoming>, Error>) {
        let Ok(Some(Incoming::Packet(opening))) = first else { return };
        let Ok(opening) = Opening::read(opening) else { return };
        match hub.emulations.path(opening.room()) {
            Some(path) => self.lead(&path),
            None => {
                tracing::warn!("connection not emulated: too many rooms have an emulated network")
            }
        }
    }
}

/// Packets that may wait for a path model.
const ENTERING: usize = 4;

/// Moves packets through a path model until no more come and all have arrived, or nothing receives them.
async fn carry<P: Bytes>(
    mut entering: mpsc::Receiver<P>,
    mut line: impl Line<P>,
    way: Way,
    leaving: mpsc::Sender<P>,
) {
    let mut is_over = false;
    loop {
        let next = line.next();
        tokio::select! {
            what = entering.recv(), if !is_over && line.has_room() => match what {
                Some(what) => {
                    let bytes = what.bytes();
                    line.enter(Instant::now(), way.settings(), what, bytes);
                }
                None => is_over = true,
            },
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            else => return,
        }
        while let Some(what) = line.take(Instant::now(), way.settings()) {
            if leaving.send(what).await.is_err() {
                return;
            }
        }
    }
}

trait Bytes: Send {
    fn bytes(&self) -> usize;
}

impl Bytes for Vec<u8> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Bytes for Result<Option<Incoming>, Error> {
    fn bytes(&self) -> usize {
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

struct Receiving {
    arriving: mpsc::Receiver<Result<Option<Incoming>, Error>>,
    _task: Task<()>,
}

impl Receiving {
    /// With `hub`, sets the path of the room that the first packet names.
    fn new<R: Receive + 'static>(
        hub: Option<Arc<Hub>>,
        receive: R,
        way: Way,
        recovery: Recovery,
        seeds: [u64; 2],
    ) -> Self {
        let (arrived, arriving) = mpsc::channel(1);
        let (packets, to_packets) = mpsc::channel(ENTERING);
        let (datagrams, to_datagrams) = mpsc::channel(ENTERING);
        let reliable = Reliable::new(recovery, seeds[0]);
        let carried = carry(to_packets, reliable, way.clone(), arrived.clone());
        let datagrams_carried = carry(to_datagrams, Lossy::new(seeds[1]), way.clone(), arrived);
        let task = tokio::spawn(async move {
            let read = read(hub, receive, way, packets, datagrams);
            tokio::join!(read, carried, datagrams_carried);
        });
        Receiving { arriving, _task: Task(task) }
    }
}

impl Receive for Receiving {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        self.arriving.recv().await.unwrap_or(Ok(None))
    }
}

async fn read(
    mut hub: Option<Arc<Hub>>,
    mut receive: impl Receive,
    way: Way,
    packets: mpsc::Sender<Result<Option<Incoming>, Error>>,
    datagrams: mpsc::Sender<Result<Option<Incoming>, Error>>,
) {
    loop {
        let incoming = receive.receive().await;
        if let Some(hub) = hub.take() {
            way.find(&hub, &incoming);
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

struct Sending<T> {
    /// The entrance of the path model; `None` once the transport is being closed.
    entrance: Option<mpsc::Sender<Vec<u8>>>,
    way: Way,
    /// Returns the transport when all packets were sent, unless it broke.
    task: Task<Option<T>>,
}

impl<T: Transmit + 'static> Sending<T> {
    fn new(mut transmit: T, way: Way, line: Reliable<Vec<u8>>) -> Self {
        let (entrance, entering) = mpsc::channel(ENTERING);
        let (leaving, mut left) = mpsc::channel(1);
        let carried = carry(entering, line, way.clone(), leaving);
        let task = tokio::spawn(async move {
            let write = async move {
                while let Some(packet) = left.recv().await {
                    transmit.send(packet).await.ok()?;
                }
                Some(transmit)
            };
            tokio::join!(carried, write).1
        });
        Sending { entrance: Some(entrance), way, task: Task(task) }
    }
}

impl<T: Transmit + 'static> Transmit for Sending<T> {
    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        let Some(entrance) = &self.entrance else { return Err(Gone) };
        entrance.send(packet).await.map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        if self.entrance.take().is_none() {
            return;
        }
        let (transmit, ()) = tokio::join!(&mut self.task.0, sleep(self.way.settings().delay));
        if let Ok(Some(mut transmit)) = transmit {
            transmit.close(packet, reason).await;
        }
    }
}

struct SendingDatagrams {
    entrance: mpsc::Sender<Vec<u8>>,
    _task: Task<()>,
}

impl SendingDatagrams {
    fn new<D: Datagrams + 'static>(mut datagrams: D, way: Way, line: Lossy<Vec<u8>>) -> Self {
        let (entrance, entering) = mpsc::channel(ENTERING);
        let (leaving, mut left) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let write = async move {
                while let Some(packet) = left.recv().await {
                    datagrams.send(packet).await;
                }
            };
            tokio::join!(carry(entering, line, way, leaving), write);
        });
        SendingDatagrams { entrance, _task: Task(task) }
    }
}

impl Datagrams for SendingDatagrams {
    async fn send(&mut self, packet: Vec<u8>) {
        // The reliable end notices that the connection is closed.
        let _ = self.entrance.send(packet).await;
    }

    fn direct(&self) -> Direct {
        let entrance = self.entrance.clone();
        Box::new(move |parts| drop(entrance.try_send(parts.concat())))
    }
}

#[cfg(test)]
mod tests;
