//! The QoS contract of each channel: judges received messages by it, changes it, and asks for a
//! lower rate (wire W76 to W80).

use alloc::vec::Vec;
use core::time::Duration;

use super::Client;
use super::channel::Channel;
use super::channel_id::ChannelId;
use super::event::{Event, Incoming};
use super::phase::{Joined, Phase};
use super::session::Session;
use crate::contract::{Measure, ReceivedMessage};
use crate::datagrams::Datagrams;
use crate::wire::contract::{self, Entry};
use crate::wire::frame::Frame;
use crate::{ContractEvent, ContractReport, Error, Kind, Overflow, Qos, Rate};

impl Client {
    /// Asks for another QoS for a channel, for everybody; kind, overflow and privacy stay. The
    /// server decides: [`Event::Changed`] has the new QoS, [`Event::Error`] with
    /// [`Error::NotChanged`](crate::Error) says that the QoS stays the same. If the transport
    /// breaks before the server has answered, the client asks again over the next one.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config};
    /// use groupwire_session::Qos;
    ///
    /// let pointer = Qos::awareness().loss_per_mille(200).rate(10, 25);
    /// let mut client = Client::new(Duration::ZERO, Config::new("demo"))?;
    /// let channel = client.channel("pointer", pointer)?;
    /// // People talk: the pointer has to keep up with what is said.
    /// client.set_qos(channel, pointer.loss_per_mille(100).rate(20, 30))?;
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// A channel that is unknown or closed, a QoS that contradicts itself or is of another kind.
    pub fn set_qos(&mut self, channel: ChannelId, qos: Qos) -> Result<(), Error> {
        let open = self.session.open_mut(channel)?;
        open.qos.can_become(&qos)?;
        open.wish = Some(qos);
        if let Phase::Joined(joined) = &mut self.phase {
            joined.announce_wish(&mut self.session, channel.0 as usize);
        }
        Ok(())
    }

    /// Asks the server for a conflated channel's values at a lower rate: at most `rate` values of
    /// each key; `None`: all of them. The received values are always the newest, and the last value
    /// always arrives. The limit also applies to later transports.
    ///
    /// # Errors
    /// A channel that is unknown or closed, or does not conflate.
    pub fn limit_rate(&mut self, channel: ChannelId, rate: Option<Rate>) -> Result<(), Error> {
        let open = self.session.open_mut(channel)?;
        if open.qos.overflow != Overflow::Conflate {
            return Err(Error::InvalidQos {
                why: "only a channel that conflates can be downsampled: on others every value matters",
            });
        }
        open.limit = rate.unwrap_or(Rate::ZERO);
        open.judge.begin_anew();
        if let Phase::Joined(joined) = &mut self.phase {
            joined.announce_limit(&mut self.session, channel.0 as usize);
        }
        Ok(())
    }

    /// Reports whether a channel's contract is kept for the messages that this end receives on it.
    pub fn contract(&self, channel: ChannelId) -> Option<ContractReport> {
        let open = self.session.channels.get(channel.0 as usize)?;
        let datagrams = self.phase.welcomed().and_then(|joined| joined.datagrams.as_ref());
        Some(ContractReport {
            qos: open.qos,
            state: open.judge.state(&open.qos),
            recent: open.judge.recent(),
            total: open.judge.total,
            rate: open.judge.rate().filter(|_| !open.qos.rate_min.is_zero()),
            latency: open.judge.latency,
            upstream: open.judge.upstream,
            measures: self.session.measures(channel.0 as usize, datagrams),
        })
    }
}

impl Session {
    /// Compares a message of another participant with the contract. `is_state`: the message was
    /// sent before this participant opened the channel, so that the contract does not apply to it.
    pub(super) fn judge(
        &mut self,
        now: Duration,
        message: &Incoming,
        datagrams: Option<&Datagrams>,
    ) {
        let at = message.channel.0 as usize;
        let channel = &mut self.channels[at];
        let judged = ReceivedMessage {
            sender: message.sender,
            index: (channel.qos.kind == Kind::Awareness).then_some(message.index),
            age: message.age,
            is_state: message.state,
        };
        channel.judge.judge(now, &channel.qos, channel.limit, judged);
        self.emit_news(now, at, datagrams);
    }

    /// Tells the application that a channel's contract began to be missed, or is kept again.
    fn emit_news(&mut self, now: Duration, at: usize, datagrams: Option<&Datagrams>) {
        let channel = &mut self.channels[at];
        let Some(state) = channel.judge.news(now, &channel.qos, channel.limit) else { return };
        let (channel, measures) = (ChannelId(at as u32), self.measures(at, datagrams));
        self.emit(Event::Contract(ContractEvent { channel, state, measures }));
    }

    /// The measures that are in use to keep a channel's contract.
    fn measures(&self, at: usize, datagrams: Option<&Datagrams>) -> Vec<Measure> {
        let channel = &self.channels[at];
        let carrier = match channel.qos.kind {
            Kind::Awareness if datagrams.is_some() => Measure::Datagrams,
            _ => Measure::Stream,
        };
        let mut measures = Vec::from([carrier]);
        let stats = channel.id.zip(datagrams).and_then(|(id, datagrams)| datagrams.stats(id));
        if let Some((_, _, received)) = stats {
            let (saved, asked) = (received.recovered, received.asked);
            measures.extend((saved > 0).then_some(Measure::Repeated { saved }));
            measures.extend((asked > 0).then_some(Measure::Requested { messages: asked }));
        }
        if channel.qos.overflow == Overflow::Conflate {
            let (rate, values) = (channel.qos.rate_max, channel.judge.replaced);
            measures.extend((!rate.is_zero()).then_some(Measure::RateLimited { rate }));
            let limited = Measure::Downsampled { rate: channel.limit };
            measures.extend((!channel.limit.is_zero()).then_some(limited));
            measures.extend((values > 0).then_some(Measure::Conflated { values }));
        }
        measures
    }
}

impl Joined {
    /// Passes on what afec notices of the path of datagrams to the server.
    pub(super) fn heed_notices(&mut self, now: Duration, session: &mut Session) {
        let Some(datagrams) = &mut self.datagrams else { return };
        while let Some(notice) = datagrams.notice() {
            let at = self.inbound.numbers.at(notice.channel);
            if let Some(at) = at.filter(|at| session.channels[*at].id.is_some()) {
                session.channels[at].judge.outlook[0] = notice.outlook();
                session.emit_news(now, at, Some(datagrams));
            }
        }
    }

    /// W79, W80: reads a CONTRACT frame. Its entries say for a channel what share of messages
    /// reached the server late or not at all, and what share the server expects this client to
    /// miss. It may also hold the time at which the server made the packet.
    ///
    /// # Errors
    /// The frame cannot be read.
    pub(super) fn on_contract(
        &mut self,
        now: Duration,
        session: &mut Session,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let numbers = &mut self.inbound.numbers;
        let mut news = Vec::new();
        let stamp = contract::read(bytes, |Entry { channel, upstream, expected }| {
            // Entries of channels that were closed meanwhile are skipped.
            if let Some(at) = numbers.at(channel) {
                let judge = &mut session.channels[at].judge;
                judge.upstream = upstream;
                judge.outlook[1] = expected;
                news.push(at);
            }
            if let Some(needs) = numbers.needs_mut(channel) {
                needs.upstream = Some(upstream);
            }
        })?;
        if let Some(stamp) = stamp {
            self.link.stamps.came(now, stamp, &self.link.clock);
        }
        for at in news {
            session.emit_news(now, at, self.datagrams.as_ref());
        }
        Ok(())
    }

    /// The server stated a channel's QoS, unasked or as an answer to OPEN. `before`: the QoS until
    /// now.
    pub(super) fn on_terms(
        &mut self,
        now: Duration,
        session: &mut Session,
        at: usize,
        is_change: bool,
        before: Qos,
    ) {
        let channel = &mut session.channels[at];
        let (id, qos) = (ChannelId(at as u32), channel.qos);
        if qos != before {
            channel.judge.begin_anew();
            channel.next_slot = channel.next_slot.min(now + qos.interval());
        }
        if is_change {
            channel.wish = None;
            return session.emit(Event::Changed { channel: id, qos });
        }
        channel.judge.forget_path();
        let has_limit = !channel.limit.is_zero();
        session.emit(Event::Opened { channel: id, qos });
        self.announce_wish(session, at);
        if has_limit {
            self.announce_limit(session, at);
        }
    }

    /// W77: asks for the QoS that the application wishes, once the server has numbered the channel.
    fn announce_wish(&mut self, session: &mut Session, at: usize) {
        let channel = &session.channels[at];
        if let (Some(qos), Some(id)) = (channel.wish, channel.id) {
            self.ask(session, at, &Frame::Change { id, qos });
        }
    }

    /// W78: asks for the rate that the application wishes, once the server has numbered the
    /// channel.
    fn announce_limit(&mut self, session: &mut Session, at: usize) {
        let channel = &session.channels[at];
        if let Some(id) = channel.id {
            self.ask(session, at, &Frame::Rate { id, rate: channel.limit });
        }
    }

    fn ask(&mut self, session: &mut Session, at: usize, frame: &Frame<'_>) {
        if self.agreed.contracts {
            return self.link.queue(frame);
        }
        session.channels[at].wish = None;
        session.emit_error(
            at,
            Error::NotAllowed { what: "changing what a channel needs, on this server" },
        );
    }
}

/// W69: reports to the sender of datagrams how many messages were missed, so that it adapts the
/// number of repeats.
pub(super) fn pass_missed(channels: &mut [Channel], datagrams: &mut Datagrams) {
    for channel in channels {
        let beyond = channel.judge.take_beyond();
        if let Some(id) = channel.id.filter(|_| beyond != 0.0) {
            datagrams.report_misses(id, beyond);
        }
    }
}
