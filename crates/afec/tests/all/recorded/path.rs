//! Paths that lose, delay, reorder, repeat, damage and queue packets, as a seed determines.

use std::time::Duration;

use oorandom::Rand64;

/// How a path treats packets, in both directions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Process {
    /// The path loses no packets.
    Clean,
    /// This share of the packets is lost, each packet independently of the others.
    Random(f64),
    /// Gilbert losses: the probability that a burst begins with a packet, and that it continues
    /// with the next one.
    Bursts(f64, f64),
    /// All packets of 400 ms in every 5 s are lost, and one in fifty of the others.
    Outages,
    /// No packet is lost for ten seconds, then a quarter for ten seconds, and so on.
    Steps,
    /// A link of this number of bytes per second with a queue of 400 ms, which also loses one
    /// packet in fifty.
    Narrow(f64),
    /// A tenth of the packets is lost, a tenth is delayed, some arrive twice, some are damaged.
    Rough,
}

/// One direction of a path.
#[derive(Debug)]
pub(crate) struct Direction {
    process: Process,
    delay: Duration,
    random: Rand64,
    in_burst: bool,
    /// When the link of [`Process::Narrow`] will have sent all waiting packets, in seconds.
    busy: f64,
}

impl Direction {
    pub(crate) fn new(process: Process, delay: Duration, seed: u64) -> Self {
        let random = Rand64::new(seed.into());
        Direction { process, delay, random, in_burst: false, busy: 0.0 }
    }

    /// Carries a packet. Returns the copies that arrive, each with its time of arrival.
    pub(crate) fn carry(&mut self, now: Duration, packet: &[u8]) -> Vec<(Duration, Vec<u8>)> {
        let copies =
            if matches!(self.process, Process::Rough) && self.chance(0.03) { 2 } else { 1 };
        (0..copies).filter_map(|_| self.carry_one(now, packet)).collect()
    }

    fn carry_one(&mut self, now: Duration, packet: &[u8]) -> Option<(Duration, Vec<u8>)> {
        if self.is_lost(now) {
            return None;
        }
        let mut delay = self.delay + Duration::from_micros(self.random.rand_range(0..1000));
        let mut packet = packet.to_vec();
        match self.process {
            Process::Narrow(rate) => {
                let now = now.as_secs_f64();
                if self.busy - now > 0.4 {
                    return None;
                }
                self.busy = self.busy.max(now) + (packet.len() + 28) as f64 / rate;
                delay += Duration::from_secs_f64(self.busy - now);
            }
            Process::Rough => {
                if self.chance(0.1) {
                    delay += Duration::from_micros(self.random.rand_range(0..80_000));
                }
                if self.chance(0.02) && !packet.is_empty() {
                    let place = self.random.rand_range(0..packet.len() as u64) as usize;
                    packet[place] ^= 1 << self.random.rand_range(0..8);
                }
            }
            _ => {}
        }
        Some((now + delay, packet))
    }

    fn is_lost(&mut self, now: Duration) -> bool {
        let ms = now.as_millis();
        match self.process {
            Process::Clean => false,
            Process::Random(share) => self.chance(share),
            Process::Bursts(begins, goes_on) => {
                self.in_burst = self.chance(if self.in_burst { goes_on } else { begins });
                self.in_burst
            }
            Process::Outages => self.chance(0.02) || ms % 5000 < 400,
            Process::Steps => self.chance(0.25) && ms / 10_000 % 2 == 1,
            Process::Narrow(_) => self.chance(0.02),
            Process::Rough => self.chance(0.1),
        }
    }

    fn chance(&mut self, share: f64) -> bool {
        self.random.rand_float() < share
    }
}
