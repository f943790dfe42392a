//! Ends of a transport that are used directly until an emulated path is set for their connection.

use std::mem::replace;
use std::sync::Arc;

use groupwire_session::Error;

use super::line::{Lossy, Recovery, Reliable};
use super::{Receiving, Sending, SendingDatagrams, Way};
use crate::hub::Hub;
use crate::transport::line::Line;
use crate::transport::{Datagrams, Direct, Gone, Incoming, Receive, Transmit};

/// What the ends of one connection need to switch to the emulated path.
#[derive(Clone)]
pub(super) struct Switch {
    pub(super) hub: Arc<Hub>,
    pub(super) way: Way,
    pub(super) recovery: Recovery,
}

/// One end of a transport: used directly, or over the emulated path. It never switches back, because packets under way
/// must not be overtaken.
pub(super) struct End<D, E> {
    switch: Switch,
    now: Now<D, E>,
}

enum Now<D, E> {
    Direct(D),
    Led(E),
    /// Between the two states, during a switch.
    Neither,
}

impl Switch {
    pub(super) fn receive<R: Receive + 'static>(&self, end: R, led: bool) -> End<R, Receiving> {
        self.end(end, led, |switch, end| switch.led_receive(end, Some(Arc::clone(&switch.hub))))
    }

    pub(super) fn transmit<T: Transmit + 'static>(&self, end: T, led: bool) -> End<T, Sending<T>> {
        self.end(end, led, Switch::led_transmit)
    }

    pub(super) fn datagrams<D: Datagrams + 'static>(
        &self,
        end: D,
        led: bool,
    ) -> End<D, SendingDatagrams> {
        self.end(end, led, Switch::led_datagrams)
    }

    fn end<D, E>(&self, end: D, led: bool, lead: impl Fn(&Switch, D) -> E) -> End<D, E> {
        let now = match led {
            true => Now::Led(lead(self, end)),
            false => Now::Direct(end),
        };
        End { switch: self.clone(), now }
    }

    fn led_receive<R: Receive + 'static>(&self, end: R, hub: Option<Arc<Hub>>) -> Receiving {
        let seeds = [self.seed(), self.seed()];
        Receiving::new(hub, end, self.way.clone(), self.recovery, seeds)
    }

    fn led_transmit<T: Transmit + 'static>(&self, end: T) -> Sending<T> {
        Sending::new(end, self.way.clone(), Reliable::new(self.recovery, self.seed()))
    }

    fn led_datagrams<D: Datagrams + 'static>(&self, end: D) -> SendingDatagrams {
        SendingDatagrams::new(end, self.way.clone(), Lossy::new(self.seed()))
    }

    fn seed(&self) -> u64 {
        self.hub.emulations.seed()
    }
}

impl<D, E> End<D, E> {
    /// Switches to the emulated path if one has been set.
    fn look(&mut self, lead: impl Fn(&Switch, D) -> E) {
        if !matches!(self.now, Now::Direct(_)) || !self.switch.way.is_led() {
            return;
        }
        if let Now::Direct(end) = replace(&mut self.now, Now::Neither) {
            self.now = Now::Led(lead(&self.switch, end));
        }
    }
}

impl<R: Receive + 'static> Receive for End<R, Receiving> {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        self.look(|switch, end| switch.led_receive(end, None));
        match &mut self.now {
            Now::Direct(end) => end.receive().await,
            Now::Led(end) => end.receive().await,
            Now::Neither => Ok(None),
        }
    }
}

impl<T: Transmit + 'static> Transmit for End<T, Sending<T>> {
    /// Once the connection is emulated, the room sends its packets through the connection's task: see
    /// `Connection::is_emulated`.
    fn line(&self) -> Option<Arc<Line>> {
        match &self.now {
            Now::Direct(end) => end.line(),
            Now::Led(_) | Now::Neither => None,
        }
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.look(Switch::led_transmit);
        match &mut self.now {
            Now::Direct(end) => end.send(packet).await,
            Now::Led(end) => end.send(packet).await,
            Now::Neither => Err(Gone),
        }
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        match &mut self.now {
            Now::Direct(end) => end.close(packet, reason).await,
            Now::Led(end) => end.close(packet, reason).await,
            Now::Neither => {}
        }
    }
}

impl<D: Datagrams + 'static> Datagrams for End<D, SendingDatagrams> {
    async fn send(&mut self, packet: Vec<u8>) {
        self.look(Switch::led_datagrams);
        match &mut self.now {
            Now::Direct(end) => end.send(packet).await,
            Now::Led(end) => end.send(packet).await,
            Now::Neither => {}
        }
    }
    fn direct(&self) -> Direct {
        match &self.now {
            Now::Direct(end) => end.direct(),
            Now::Led(end) => end.direct(),
            Now::Neither => Box::new(|_| ()),
        }
    }
}
