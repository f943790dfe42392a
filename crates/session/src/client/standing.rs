//! What channels need, while they are open: judging it, changing it, asking for less (wire.md W76 to W80).

use alloc::vec::Vec;
use core::time::Duration;

use super::{ChannelId, Client, Event, Incoming, Phase};
use crate::contract::{Judged, Measure};
use crate::datagrams::Datagrams;
use crate::ids::ChannelNo;
use crate::wire::contract::{self, Entry};
use crate::wire::frame::Frame;
use crate::{ContractNews, ContractReport, Error, Kind, Overflow, Qos};

impl Client {
    /// Asks for another QoS for a channel, for everybody; kind, overflow and privacy stay. The server's word is final:
    /// [`Event::Changed`] says what holds, [`Event::Error`] with [`Error::NotChanged`](crate::Error) that nothing does.
    /// Holds over broken transports until the server has answered.
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
    /// A channel that is unknown, a QoS that contradicts itself or is of another kind.
    pub fn set_qos(&mut self, channel: ChannelId, qos: Qos) -> Result<(), Error> {
        let open = self.channels.get_mut(channel.0 as usize);
        let open = open.ok_or(Error::UnknownChannel { channel: channel.0 })?;
        open.qos.can_become(&qos)?;
        open.wish = Some(qos);
        self.tell_wish(channel.0 as usize);
        Ok(())
    }

    /// Asks the server for at most so many values of each key of a conflated channel, in 1/1000 per second; `None`: for
    /// all. What comes is always the newest, and the last value always arrives. Other channels are not thinned. Holds over
    /// broken transports.
    ///
    /// # Errors
    /// A channel that is unknown, or does not conflate.
    pub fn limit_rate(&mut self, channel: ChannelId, rate: Option<u32>) -> Result<(), Error> {
        let open = self.channels.get_mut(channel.0 as usize);
        let open = open.ok_or(Error::UnknownChannel { channel: channel.0 })?;
        if open.qos.overflow != Overflow::Conflate {
            return Err(Error::InvalidQos {
                why: "only a channel that conflates can be thinned: every other value matters",
            });
        }
        open.limit = rate.unwrap_or(0);
        open.judge.begin_anew();
        self.tell_limit(channel.0 as usize);
        Ok(())
    }

    /// How a channel's contract stands, as far as this end receives on it.
    pub fn contract(&self, channel: ChannelId) -> Option<ContractReport> {
        let open = self.channels.get(channel.0 as usize)?;
        Some(ContractReport {
            qos: open.qos,
            state: open.judge.state(&open.qos),
            recent: open.judge.recent(),
            total: open.judge.total,
            rate: open.judge.rate().filter(|_| open.qos.rate_min > 0),
            latency: open.judge.latency,
            upstream: open.judge.upstream,
            measures: self.measures(channel.0 as usize),
        })
    }

    fn measures(&self, at: usize) -> Vec<Measure> {
        let channel = &self.channels[at];
        let datagrams = self.link.as_ref().is_some_and(|link| link.datagrams.is_some());
        let way = match channel.qos.kind {
            Kind::Awareness if datagrams => Measure::Datagrams,
            _ => Measure::Stream,
        };
        let mut measures = Vec::from([way]);
        if let Some((_, _, came)) = self.path(ChannelId(at as u32)) {
            let (saved, asked) = (came.recovered, came.asked);
            measures.extend((saved > 0).then_some(Measure::Repeated { saved }));
            measures.extend((asked > 0).then_some(Measure::Asked { messages: asked }));
        }
        if channel.qos.overflow == Overflow::Conflate {
            let (rate, values) = (channel.qos.rate_max, channel.judge.replaced);
            measures.extend((rate > 0).then_some(Measure::Paced { rate }));
            let thinned = Measure::Thinned { rate: channel.limit };
            measures.extend((channel.limit > 0).then_some(thinned));
            measures.extend((values > 0).then_some(Measure::Conflated { values }));
        }
        measures
    }

    /// A message of another participant came. `is_fill`: it is older than this participant's interest in the channel.
    pub(super) fn judge(&mut self, message: &Incoming, is_fill: bool) {
        let (Some(link), Some(session)) = (self.link.as_ref(), self.session.as_ref()) else {
            return;
        };
        let now = link.heard();
        let channel = &mut self.channels[message.channel.0 as usize];
        let judged = Judged {
            sender: message.sender,
            index: (channel.qos.kind == Kind::Awareness).then_some(message.index),
            age: message.age,
            // Who comes back was meant to be sent it in time.
            is_state: is_fill || (message.state && !session.resumed),
        };
        channel.judge.judge(now, &channel.qos, channel.limit, judged);
        self.tell_news(now, message.channel.0 as usize);
    }

    fn tell_news(&mut self, now: Duration, at: usize) {
        let channel = &mut self.channels[at];
        let Some(state) = channel.judge.news(now, &channel.qos, channel.limit) else { return };
        let (channel, measures) = (ChannelId(at as u32), self.measures(at));
        self.tell(Event::Contract(ContractNews { channel, state, measures }));
    }

    /// W69: repeats are chosen by what is missed from application to application.
    pub(super) fn tell_missed(&mut self, datagrams: &mut Datagrams) {
        for channel in &mut self.channels {
            let beyond = channel.judge.take_beyond();
            if let Some(id) = channel.id.filter(|_| beyond != 0.0) {
                datagrams.judged(id, beyond);
            }
        }
    }

    /// What afec says of the way of datagrams to the server.
    pub(super) fn heed_path(&mut self, now: Duration) {
        let next = |client: &mut Self| client.link.as_mut()?.datagrams.as_mut()?.notice();
        while let Some(notice) = next(self) {
            if let Some(&at) = self.by_id.get(&notice.channel) {
                self.channels[at].judge.outlook[0] = notice.outlook();
                self.tell_news(now, at);
            }
        }
    }

    /// W79, W80.
    pub(super) fn contract_came(&mut self, now: Duration, octets: &[u8]) -> Result<(), Error> {
        let Some(link) = self.link.as_mut().filter(|link| link.stamps.agreed) else {
            return Err(Error::malformed("CONTRACT: it was not agreed on"));
        };
        let (channels, by_id, known) = (&mut self.channels, &self.by_id, &mut self.known);
        let mut news = Vec::new();
        let stamp = contract::read(octets, |Entry { channel, upstream, expected }| {
            // One that was shut meanwhile is nobody's business.
            if let Some(&at) = by_id.get(&channel) {
                channels[at].judge.upstream = upstream;
                if let Some(Some(needs)) = known.get_mut(channel.get() as usize) {
                    needs.upstream = Some(upstream);
                }
                channels[at].judge.outlook[1] = expected;
                news.push(at);
            }
        })?;
        if let Some(stamp) = stamp {
            link.stamps.came(now, stamp, &link.clock);
        }
        news.into_iter().for_each(|at| self.tell_news(now, at));
        Ok(())
    }

    /// The server said what holds, unasked or as an answer to OPEN.
    pub(super) fn terms_came(&mut self, at: usize, is_change: bool, before: Qos) {
        let now = self.link.as_ref().map_or(Duration::ZERO, |link| link.heard());
        let channel = &mut self.channels[at];
        let (id, qos) = (ChannelId(at as u32), channel.qos);
        if qos != before {
            channel.judge.begin_anew();
            channel.next_slot = channel.next_slot.min(now + qos.interval());
        }
        if is_change {
            channel.wish = None;
            return self.tell(Event::Changed { channel: id, qos });
        }
        channel.judge.forget_path();
        self.tell(Event::Opened { channel: id, qos });
        self.tell_wish(at);
        if self.channels[at].limit > 0 {
            self.tell_limit(at);
        }
    }

    /// W77: a QoS that was asked for, once the server has a number for the channel.
    pub(super) fn tell_wish(&mut self, at: usize) {
        let channel = &self.channels[at];
        if let (Some(qos), Some(id)) = (channel.wish, channel.id) {
            self.tell_terms(at, &Frame::Change { id, qos });
        }
    }

    /// W78.
    pub(super) fn tell_limit(&mut self, at: usize) {
        let channel = &self.channels[at];
        if let Some(id) = channel.id {
            self.tell_terms(at, &Frame::Rate { id, rate: channel.limit });
        }
    }

    fn tell_terms(&mut self, at: usize, frame: &Frame<'_>) {
        if self.phase != Phase::Joined {
            return;
        }
        match self.link.as_mut() {
            Some(link) if link.stamps.agreed => link.queue(frame),
            Some(_) => {
                self.channels[at].wish = None;
                self.tell_of(
                    at,
                    Error::NotAllowed { what: "changing what a channel needs, on this server" },
                );
            }
            None => {}
        }
    }

    /// The server left a channel's QoS as it is. `true`: it was about a channel that is known.
    pub(super) fn not_changed(&mut self, id: ChannelNo, error: &Error) -> bool {
        let Some(&at) = self.by_id.get(&id) else { return false };
        self.channels[at].wish = None;
        self.tell_of(at, error.clone());
        true
    }
}
