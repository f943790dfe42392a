//! The network between one participant and the server. The testing kit for TypeScript has the same
//! model (`web/client/src/testing/path.ts`).

use std::time::Duration;

use crate::clients::random::Random;

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the server.
    Up,
    /// To the participant.
    Down,
}

impl Way {
    pub(crate) const BOTH: [Way; 2] = [Way::Up, Way::Down];

    pub(crate) fn words(self) -> &'static str {
        match self {
            Way::Up => "to the server",
            Way::Down => "from the server",
        }
    }
}

/// One direction of a network. What is `None` stays as it was.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Direction {
    /// The time from one end to the other, at most an hour: 20 ms at first.
    pub delay: Option<Duration>,
    /// The largest additional delay, at most an hour, drawn for each packet. Datagrams overtake
    /// each other by it: 0 at first.
    pub jitter: Option<Duration>,
    /// The share of packets that is lost, 0 to 1. A lost datagram does not arrive. What a stream
    /// loses is sent again, so its messages arrive late: 0 at first.
    pub loss: Option<f64>,
    /// Bytes per second: without a limit at first.
    pub rate: Option<f64>,
}

/// A network. `up` and `down` override the values for both directions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Conditions {
    /// The values for both directions.
    pub both: Direction,
    /// To the server.
    pub up: Direction,
    /// To the participant.
    pub down: Direction,
}

impl Direction {
    /// These values, and those of `other` where there is none.
    fn or(self, other: Direction) -> Direction {
        Direction {
            delay: self.delay.or(other.delay),
            jitter: self.jitter.or(other.jitter),
            loss: self.loss.or(other.loss),
            rate: self.rate.or(other.rate),
        }
    }
}

/// The data of one packet in an Ethernet frame, after the headers of IPv6, TCP and TLS.
const SEGMENT: usize = 1400;

/// The shortest time until a lost packet of a stream is sent again. Linux waits this long at least
/// (`TCP_RTO_MIN`).
const LEAST_RESEND: Duration = Duration::from_millis(200);

/// The most losses of one packet in a row. The bound keeps a loss of 1 from stopping time.
const MOST_RESENDS: u32 = 6;

/// The longest delay.
const LONGEST: Duration = Duration::from_secs(3600);

/// The slowest link, in bytes a second. Not a number becomes this, too.
const LEAST_RATE: f64 = 0.01;

#[derive(Debug, Clone, Copy)]
struct Lane {
    delay: Duration,
    jitter: Duration,
    loss: f64,
    rate: f64,
    /// The time when all packets sent so far have left the sender.
    free: Duration,
    /// The earliest time at which stream data arrives, so that data which waited for the network
    /// comes first.
    not_before: Duration,
}

const FRESH: Lane = Lane {
    delay: Duration::from_millis(20),
    jitter: Duration::ZERO,
    loss: 0.0,
    rate: f64::INFINITY,
    free: Duration::ZERO,
    not_before: Duration::ZERO,
};

/// The network of one participant, which all its connections share.
pub(crate) struct Path {
    conditions: Conditions,
    lanes: [Lane; 2],
    /// The time when the network returns: [`Duration::MAX`] if unknown, `None` while it is there.
    pub(crate) cut_until: Option<Duration>,
}

impl Path {
    pub(crate) fn new(conditions: &Conditions) -> Path {
        let mut path =
            Path { conditions: Conditions::default(), lanes: [FRESH; 2], cut_until: None };
        path.change(conditions);
        path
    }

    /// Changes the conditions that are named.
    pub(crate) fn change(&mut self, conditions: &Conditions) {
        let all = &mut self.conditions;
        all.both = conditions.both.or(all.both);
        all.up = conditions.up.or(all.up);
        all.down = conditions.down.or(all.down);
        let Conditions { both, up, down } = *all;
        for (way, own) in [(Way::Up, up), (Way::Down, down)] {
            let (now, lane) = (own.or(both), self.lane(way));
            lane.delay = now.delay.unwrap_or(lane.delay).min(LONGEST);
            lane.jitter = now.jitter.unwrap_or(lane.jitter).min(LONGEST);
            lane.loss = now.loss.unwrap_or(lane.loss);
            lane.rate = now.rate.unwrap_or(lane.rate).max(LEAST_RATE);
        }
    }

    /// Ends a cut: stream data that waits arrives after the usual time.
    pub(crate) fn heal(&mut self, now: Duration, random: &mut Random) {
        self.cut_until = None;
        for way in Way::BOTH {
            self.lane(way).not_before = now + self.transit(way, random);
        }
    }

    /// The earliest time at which stream data may arrive.
    pub(crate) fn not_before(&self, way: Way) -> Duration {
        self.lanes[way as usize].not_before
    }

    /// The time when `bytes` that are sent now have left the sender.
    pub(crate) fn departure(&mut self, now: Duration, way: Way, bytes: usize) -> Duration {
        let lane = self.lane(way);
        let time = Duration::from_secs_f64(bytes as f64 / lane.rate);
        lane.free = now.max(lane.free).saturating_add(time);
        lane.free
    }

    /// The time that bytes of a stream take after they have left, with that in which lost packets
    /// are sent again, and how often one packet was lost.
    pub(crate) fn stream_time(
        &self,
        way: Way,
        bytes: usize,
        random: &mut Random,
    ) -> (Duration, u32) {
        let loss = self.lanes[way as usize].loss;
        let losses = (0..bytes.div_ceil(SEGMENT).max(1))
            .map(|_| (0..MOST_RESENDS).take_while(|_| random.chance(loss)).count() as u32)
            .max()
            .unwrap_or(0);
        (self.transit(way, random) + self.resend_time(losses), losses)
    }

    /// The time that a datagram takes; `None` if it is lost.
    pub(crate) fn datagram_time(&self, way: Way, random: &mut Random) -> Option<Duration> {
        let is_lost = random.chance(self.lanes[way as usize].loss);
        (!is_lost).then(|| self.transit(way, random))
    }

    /// The time until a connection is open whose handshake takes this many round trips.
    pub(crate) fn handshake_time(&self, round_trips: u32, random: &mut Random) -> Duration {
        let mut time = |way| self.stream_time(way, 0, random).0;
        (0..round_trips).map(|_| time(Way::Up) + time(Way::Down)).sum()
    }

    fn transit(&self, way: Way, random: &mut Random) -> Duration {
        let Lane { delay, jitter, .. } = self.lanes[way as usize];
        if jitter.is_zero() { delay } else { delay + jitter.mul_f64(random.fraction()) }
    }

    /// The first loss is repaired by a tail loss probe after two round trips (RFC 8985), further
    /// ones by TCP's retransmission timer, which doubles each time (RFC 6298).
    fn resend_time(&self, losses: u32) -> Duration {
        if losses == 0 {
            return Duration::ZERO;
        }
        let round_trip = self.lanes.iter().map(|lane| lane.delay + lane.jitter).sum::<Duration>();
        let timer = LEAST_RESEND.max(round_trip);
        round_trip * 2 + timer * (2u32.pow(losses - 1) - 1)
    }

    fn lane(&mut self, way: Way) -> &mut Lane {
        &mut self.lanes[way as usize]
    }
}
