//! What of a class's datagrams a receiver loses, and so which of the ladder's steps it needs.

/// After how many ticks a class of each step repeats what it sent (W73): spread, as losses come in bursts.
pub(super) const LADDER: [&[u32]; 4] = [&[], &[1], &[1, 3], &[1, 2, 4]];

/// Packets over which losses are averaged: ten seconds at 25 a second.
const WINDOW: f32 = 256.0;

/// Packets without a loss that nobody has seen: a first loss is no loss rate.
const PRIOR: f32 = 32.0;

/// Packets that a share of lost ones is drawn from, at least.
#[cfg(feature = "describe")]
const LEAST_PACKETS: f32 = 20.0;

/// A loss process, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loss {
    /// Packets, those lost, and those lost behind a lost one; older ones count less.
    packets: f32,
    lost: f32,
    again: f32,
    was_lost: bool,
}

impl Loss {
    pub(super) fn count(&mut self, is_lost: bool) {
        let fade = 1.0 - 1.0 / WINDOW;
        for sum in [&mut self.packets, &mut self.lost, &mut self.again] {
            *sum *= fade;
        }
        self.packets += 1.0;
        if is_lost {
            self.lost += 1.0;
            self.again += f32::from(u8::from(self.was_lost));
        }
        self.was_lost = is_lost;
    }

    /// The share of packets that were lost, once there were some.
    #[cfg(feature = "describe")]
    pub(super) fn share(&self) -> Option<f64> {
        (self.packets >= LEAST_PACKETS).then(|| f64::from(self.lost / self.packets))
    }

    /// The least step at which no more than `target` of the messages are lost; `None` if that is none.
    pub(super) fn step(&self, target: f32) -> Option<u8> {
        let rate = self.lost / (self.packets + PRIOR);
        // How likely a packet is lost when the one before was.
        let again = ((self.again + rate) / (self.lost + 1.0)).max(rate);
        let mut expected = rate;
        for step in 0..LADDER.len() as u8 {
            if expected <= target {
                return Some(step);
            }
            expected *= again;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: impl Fn(u32) -> bool) -> Loss {
        let mut loss = Loss::default();
        (0..1000).for_each(|packet| loss.count(pattern(packet)));
        loss
    }

    #[test]
    fn more_loss_needs_more_repeats() {
        assert_eq!(Loss::default().step(0.001), Some(0));
        assert_eq!(of(|packet| packet % 50 == 0).step(0.025), Some(0));
        assert_eq!(of(|packet| packet % 10 == 0).step(0.025), Some(1));
        assert_eq!(of(|packet| packet % 5 == 0).step(0.025), Some(2));
        assert_eq!(of(|packet| packet % 10 < 7).step(0.025), None);
    }

    #[test]
    fn bursts_need_more_than_single_losses() {
        let single = of(|packet| packet % 20 == 0);
        let bursts = of(|packet| packet % 100 < 5);
        assert!(bursts.step(0.02) > single.step(0.02));
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut loss = of(|packet| packet % 2 == 0);
        (0..2000).for_each(|_| loss.count(false));
        assert_eq!(loss.step(0.01), Some(0));
    }
}
