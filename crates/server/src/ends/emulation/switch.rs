//! Ends of a transport that are used directly until an emulated path is set for their connection.

use std::mem::replace;
use std::sync::Arc;

use groupwire_quic::Fate;
use groupwire_session::{Error, PathNeeds};

use super::ends::{EmulatedDatagrams, EmulatedReceiver, EmulatedTransmitter};
use super::model::{DatagramModel, Recovery, StreamModel};
use super::path::{Emulations, PathSlot};
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{DatagramSink, Datagrams, Gone, Incoming, Receive, Transmit};

/// What the ends of one connection need to switch to the emulated path.
#[derive(Clone)]
pub(crate) struct Switch {
    pub(crate) emulations: Arc<Emulations>,
    pub(crate) slot: PathSlot,
    pub(crate) recovery: Recovery,
}

/// One end of a transport: used directly, or over the emulated path. It never switches back,
/// because packets under way must not be overtaken.
pub(crate) struct End<D, E> {
    switch: Switch,
    state: State<D, E>,
}

enum State<D, E> {
    Direct(D),
    Emulated(E),
    /// Between the two states, during a switch.
    Switching,
}

impl Switch {
    pub(crate) fn receive<R: Receive + 'static>(
        &self,
        end: R,
        emulated: bool,
    ) -> End<R, EmulatedReceiver> {
        self.end(end, emulated, |switch, end| {
            switch.emulated_receive(end, Some(Arc::clone(&switch.emulations)))
        })
    }

    pub(crate) fn transmit<T: Transmit + 'static>(
        &self,
        end: T,
        emulated: bool,
    ) -> End<T, EmulatedTransmitter<T>> {
        self.end(end, emulated, Switch::emulated_transmit)
    }

    pub(crate) fn datagrams<D: Datagrams + 'static>(
        &self,
        end: D,
        emulated: bool,
    ) -> End<D, EmulatedDatagrams> {
        self.end(end, emulated, Switch::emulated_datagrams)
    }

    fn end<D, E>(&self, end: D, emulated: bool, emulate: impl Fn(&Switch, D) -> E) -> End<D, E> {
        let state = match emulated {
            true => State::Emulated(emulate(self, end)),
            false => State::Direct(end),
        };
        End { switch: self.clone(), state }
    }

    fn emulated_receive<R: Receive + 'static>(
        &self,
        end: R,
        emulations: Option<Arc<Emulations>>,
    ) -> EmulatedReceiver {
        let seeds = [self.seed(), self.seed()];
        EmulatedReceiver::new(emulations, end, self.slot.clone(), self.recovery, seeds)
    }

    fn emulated_transmit<T: Transmit + 'static>(&self, end: T) -> EmulatedTransmitter<T> {
        EmulatedTransmitter::new(
            end,
            self.slot.clone(),
            StreamModel::new(self.recovery, self.seed()),
        )
    }

    fn emulated_datagrams<D: Datagrams + 'static>(&self, end: D) -> EmulatedDatagrams {
        EmulatedDatagrams::new(end, self.slot.clone(), DatagramModel::new(self.seed()))
    }

    fn seed(&self) -> u64 {
        self.emulations.seed()
    }
}

impl<D, E> End<D, E> {
    /// Switches to the emulated path if one has been set.
    fn switch_if_set(&mut self, emulate: impl Fn(&Switch, D) -> E) {
        if !matches!(self.state, State::Direct(_)) || !self.switch.slot.is_set() {
            return;
        }
        if let State::Direct(end) = replace(&mut self.state, State::Switching) {
            self.state = State::Emulated(emulate(&self.switch, end));
        }
    }
}

impl<R: Receive + 'static> Receive for End<R, EmulatedReceiver> {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        self.switch_if_set(|switch, end| switch.emulated_receive(end, None));
        match &mut self.state {
            State::Direct(end) => end.receive().await,
            State::Emulated(end) => end.receive().await,
            State::Switching => Ok(None),
        }
    }
}

impl<T: Transmit + 'static> Transmit for End<T, EmulatedTransmitter<T>> {
    /// Once the connection is emulated, the room sends its packets through the connection's task:
    /// see `Connection::is_emulated`.
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        match &self.state {
            State::Direct(end) => end.socket_writer(),
            State::Emulated(_) | State::Switching => None,
        }
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.switch_if_set(Switch::emulated_transmit);
        match &mut self.state {
            State::Direct(end) => end.send(packet).await,
            State::Emulated(end) => end.send(packet).await,
            State::Switching => Err(Gone),
        }
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        match &mut self.state {
            State::Direct(end) => end.close(packet, reason).await,
            State::Emulated(end) => end.close(packet, reason).await,
            State::Switching => {}
        }
    }
}

impl<D: Datagrams + 'static> Datagrams for End<D, EmulatedDatagrams> {
    async fn send(&mut self, packet: Vec<u8>, needs: PathNeeds) -> Fate {
        self.switch_if_set(Switch::emulated_datagrams);
        match &mut self.state {
            State::Direct(end) => end.send(packet, needs).await,
            State::Emulated(end) => end.send(packet, needs).await,
            State::Switching => Fate::Dropped,
        }
    }

    fn sink(&self) -> DatagramSink {
        match &self.state {
            State::Direct(end) => end.sink(),
            State::Emulated(end) => end.sink(),
            State::Switching => Box::new(|_| ()),
        }
    }
}
