//! The work of packing and unpacking a message: processor time, and energy where the machine counts
//! it.

use std::fs;
use std::time::Duration;

use groupwire_codecs::{Choice, Packer};

/// The least time of a measurement. Messages are packed again until then, because counters of
/// energy change once a millisecond.
const LEAST: Duration = Duration::from_millis(5);
/// The counter of the energy of the first processor, in µJ, on Linux with Intel's or AMD's RAPL.
const ENERGY: &str = "/sys/class/powercap/intel-rapl:0/energy_uj";

/// The work for one message.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    /// The processor time of this thread, in µs.
    pub(super) cpu_us: f64,
    /// The energy of the whole processor meanwhile, in µJ; `None` where the machine does not count
    /// it.
    pub(super) energy_uj: Option<f64>,
}

impl Work {
    /// Packs and unpacks the messages, all as often. `None` if there is no clock for a thread's
    /// processor time, or the codec fails.
    pub(super) fn measure(
        packer: &mut Packer,
        choice: Choice,
        messages: &[Vec<u8>],
    ) -> Option<Self> {
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        let (start, energy) = (processor_time()?, energy());
        let mut count = 0;
        loop {
            for message in messages {
                packed.clear();
                back.clear();
                packer.pack(choice, message, &mut packed).ok()?;
                packer.unpack(&packed, message.len(), &mut back).ok()?;
            }
            count += messages.len();
            let time = processor_time()?.saturating_sub(start);
            if time >= LEAST || messages.is_empty() {
                let each = |all: f64| all / count.max(1) as f64;
                // The counter begins anew at its end.
                let used = energy.zip(self::energy()).and_then(|(from, to)| to.checked_sub(from));
                return Some(Work {
                    cpu_us: each(time.as_secs_f64() * 1e6),
                    energy_uj: used.map(|used| each(used as f64)),
                });
            }
        }
    }

    /// This share of the work.
    pub(super) fn times(self, share: f64) -> Self {
        let energy_uj = self.energy_uj.map(|energy| energy * share);
        Work { cpu_us: self.cpu_us * share, energy_uj }
    }

    /// The work of all. There is no energy if one of them has none.
    pub(super) fn sum(works: Vec<Self>) -> Self {
        let cpu_us = works.iter().map(|work| work.cpu_us).sum();
        Work { cpu_us, energy_uj: works.iter().map(|work| work.energy_uj).sum() }
    }
}

/// The processor time of this thread.
#[cfg(target_os = "linux")]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

/// The experiment needs Linux.
#[cfg(not(target_os = "linux"))]
fn processor_time() -> Option<Duration> {
    None
}

/// The energy that the processor has used, in µJ.
fn energy() -> Option<u64> {
    fs::read_to_string(ENERGY).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use groupwire_codecs::ALL;

    use super::*;

    #[test]
    fn the_work_of_shares_adds_up() {
        let work = |cpu_us, energy_uj| Work { cpu_us, energy_uj };
        let halves = vec![work(4.0, Some(8.0)).times(0.5), work(2.0, Some(2.0)).times(0.5)];
        assert_eq!(Work::sum(halves), work(3.0, Some(5.0)));
        assert_eq!(Work::sum(vec![work(1.0, None), work(1.0, Some(1.0))]), work(2.0, None));
    }

    #[test]
    fn a_slow_codec_takes_more_processor_time_than_none() {
        let messages =
            vec![(0..1400_u32).map(|n| (n.wrapping_mul(n) >> 5) as u8).collect::<Vec<u8>>(); 3];
        let mut packer = Packer::new(ALL);
        let mut work = |name: &str| {
            Work::measure(&mut packer, name.parse().unwrap(), &messages).unwrap().cpu_us
        };
        assert!(work("bzip2") > 3.0 * work("none"));
    }
}
