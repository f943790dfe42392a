//! Makes packets as late as possible: only when the transport accepts one.

use alloc::vec::Vec;
use core::time::Duration;

use super::Client;
use super::api::Output;
use super::channel::Channel;
use super::due::Due;
use super::phase::{Greeting, Joined, Phase};
use super::session::Session;
use crate::Error;
use crate::datagrams::OutgoingDatagram;
use crate::ids::Order;
use crate::link::Link;
use crate::packing::Packing;
use crate::trace::Carrier;
use crate::wire::frame::Frame;

/// A settled value waits at most this long for a datagram to share its packet, and a regular ping
/// goes at most this much earlier, with a datagram: packets of their own cost the headers of IP,
/// UDP and QUIC, and an acknowledgement. A pointer sends datagrams more often.
pub(super) const SHARES_PACKET: Duration = Duration::from_millis(60);

impl Client {
    /// Makes packets and datagrams of the messages that are due, as many as the transport accepts.
    pub(super) fn compose(&mut self, now: Duration) {
        let Client { phase, session, packing, .. } = self;
        let composed = match phase {
            Phase::Joined(joined) => joined.compose(session, packing, now),
            Phase::Greeting(greeting) => {
                compose_control(&mut greeting.link, session, now);
                match greeting.link.datagrams.is_some() {
                    true => greeting.ask(session, now),
                    false => Ok(()),
                }
            }
            Phase::Leaving(joined) => {
                compose_control(&mut joined.link, session, now);
                Ok(())
            }
            Phase::Waiting { .. } | Phase::Dialing | Phase::HangingUp { .. } | Phase::Ended => {
                Ok(())
            }
        };
        if let Err(error) = composed {
            return self.fail(error);
        }
        self.finish_closing();
        self.hang_up_after_bye();
        self.session.emit_drain();
    }
}

/// Sends the control frames that wait.
fn compose_control(link: &mut Link, session: &mut Session, now: Duration) {
    while link.ready() && link.has_control() {
        let packet = link.begin(now);
        if packet.is_empty() {
            break;
        }
        link.launched(packet.len());
        session.count_out(packet.len());
        session.outputs.push_back(Output::Send(packet));
    }
}

impl Greeting {
    /// Asks the server for signs of life if WELCOME has not come for some time (wire W120).
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn ask(&mut self, session: &mut Session, now: Duration) -> Result<(), Error> {
        let Some(datagrams) = &mut self.link.datagrams else { return Ok(()) };
        for OutgoingDatagram { bytes, .. } in datagrams.make(now, false)? {
            session.count_out(bytes.len());
            session.outputs.push_back(Output::Datagram(bytes));
        }
        Ok(())
    }
}

impl Joined {
    fn compose(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
    ) -> Result<(), Error> {
        let shares = self.datagrams.is_some() && self.compose_datagrams(session, packing, now)?;
        if shares && now + SHARES_PACKET >= self.link.last_ping() + self.timing.ping {
            self.link.ping(now);
        }
        let settled = if shares { now } else { now.saturating_sub(SHARES_PACKET) };
        while self.link.ready() {
            if session.transports.presence_changed {
                session.transports.presence_changed = false;
                self.link.queue(&Frame::Presence(&session.config.presence));
            }
            drop_late(&mut session.channels, now);
            let due = self.due(session, now, settled, Carrier::Stream);
            let has_control = self.link.has_control();
            if !has_control && self.upload.is_none() && due.is_empty() {
                break;
            }
            let mut packet = self.link.begin(now);
            // The meaning of a payload can depend on control frames, so the payload is sent after
            // all of them.
            if !self.link.has_control() {
                self.add_chunk(packing, now, &mut packet);
                self.add_payload(session, packing, now, &due, &mut packet)?;
            }
            if packet.is_empty() {
                break;
            }
            self.link.launched(packet.len());
            if !due.is_empty() {
                self.link.on_app_data(now);
            }
            session.count_out(packet.len());
            session.outputs.push_back(Output::Send(packet));
        }
        Ok(())
    }

    /// Makes the datagrams that are due. Returns true if there were any.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn compose_datagrams(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
    ) -> Result<bool, Error> {
        let mut any = false;
        while let Some(datagrams) = self.datagrams.as_ref().filter(|datagrams| datagrams.ready()) {
            let is_due = datagrams.is_due(now);
            let is_clear = datagrams.clear_at().is_none_or(|at| at <= now);
            let answers = self.groups.must_answer(now);
            let mut due = Vec::new();
            if is_clear {
                drop_late(&mut session.channels, now);
                due = self.due(session, now, now, Carrier::Datagrams);
            }
            if due.is_empty() && !is_due && !answers {
                break;
            }
            self.add_records(session, packing, now, &due, 0, Carrier::Datagrams);
            // Only the stream has pings.
            self.link.choosing.take_probe();
            let Joined { datagrams: Some(datagrams), groups, link, .. } = self else { break };
            let mut made = datagrams.make(now, false)?;
            if answers || !made.is_empty() {
                let mut header = Vec::new();
                groups.acknowledge(now, &mut header);
                datagrams.put_before(header, &mut made);
            }
            if made.is_empty() && due.is_empty() {
                break;
            }
            for OutgoingDatagram { bytes, header_bytes, .. } in made {
                if !due.is_empty() {
                    link.on_app_data(now);
                }
                session.count_out(bytes.len());
                session.stats.payload_bytes_out += (bytes.len() - header_bytes) as u64;
                session.outputs.push_back(Output::Datagram(bytes));
                any = true;
            }
        }
        Ok(any)
    }

    /// Adds the next chunk of the snapshot that is on its way to the server.
    fn add_chunk(&mut self, packing: &mut Packing, now: Duration, packet: &mut Vec<u8>) {
        let Joined { upload: Some(upload), link, .. } = self else { return };
        let at = packet.len();
        upload.add_chunk(now, link, packing, packet);
        link.probe(now, packet, at);
        if upload.is_sent() {
            self.upload = None;
        }
    }

    /// Adds as many messages of `due` as fit into the packet.
    fn add_payload(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
        due: &[(Order, Due)],
        packet: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let remaining = self.link.remaining(packet);
        self.add_records(session, packing, now, due, remaining, Carrier::Stream);
        let Joined { link, coders, .. } = self;
        let at = packet.len();
        if !coders.encoder.is_empty() {
            coders.encoder.finish(&mut link.choosing, packing, packet)?;
            session.stats.payload_bytes_out += (packet.len() - at) as u64;
            link.probe(now, packet, at);
            let is_timed = coders.encoder.take_timed();
            link.stamp(now, is_timed, packet, at);
        }
        Ok(())
    }
}

/// Drops waiting messages past their deadline.
fn drop_late(channels: &mut [Channel], now: Duration) {
    channels.iter_mut().for_each(|channel| channel.values.drop_late(&channel.qos, now));
}
