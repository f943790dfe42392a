//! Counts the datagrams of a fan-out group that a receiver lost. The number of repeats that the
//! receiver needs follows from the counts.

use groupwire_afec::loss::LossModel;

/// For each step, after how many ticks a group of this step repeats a message (W73). A group of
/// step n repeats it n times. The repeats are spread out, as losses come in bursts.
pub(in crate::room) const LADDER: [&[u32]; 4] = [&[], &[1], &[1, 3], &[1, 2, 4]];

/// Packets over which losses are averaged: ten seconds at 25 a second.
const WINDOW: f32 = 256.0;

/// Packets without a loss that are assumed at the beginning, so that a first loss is not taken for
/// a loss rate.
const PRIOR: f32 = 32.0;

/// No loss rate is shown for fewer packets than this.
const LEAST_PACKETS: f32 = 20.0;

/// The losses that were counted on the path to one receiver.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::room) struct Loss {
    /// The number of packets. Each packet counts less the older it is.
    packets: f32,
    /// Packets that were lost.
    lost: f32,
    /// Packets that were lost directly after a lost one.
    again: f32,
    was_lost: bool,
}

impl Loss {
    pub(in crate::room) fn count(&mut self, is_lost: bool) {
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

    /// The share of packets that were lost, from 0 to 1. `None` before [`LEAST_PACKETS`] packets.
    pub(in crate::room) fn share(&self) -> Option<f64> {
        (self.packets >= LEAST_PACKETS).then(|| f64::from(self.lost / self.packets))
    }

    /// The losses as a two-state Markov chain.
    pub(in crate::room) fn model(&self) -> LossModel {
        let rate = self.lost / (self.packets + PRIOR);
        // The probability that a packet is lost if the packet before it was lost.
        let again = ((self.again + rate) / (self.lost + 1.0)).max(rate);
        LossModel::chain(rate.into(), again.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss_of(pattern: impl Fn(u32) -> bool) -> Loss {
        let mut loss = Loss::default();
        (0..1000).for_each(|packet| loss.count(pattern(packet)));
        loss
    }

    fn step(loss: Loss, target: f64) -> u8 {
        loss.model().repeats_for(target, LADDER.len() as u8)
    }

    #[test]
    fn each_step_repeats_once_more() {
        for (step, lags) in LADDER.iter().enumerate() {
            assert_eq!(lags.len(), step);
        }
    }

    #[test]
    fn more_loss_needs_more_repeats() {
        assert_eq!(step(Loss::default(), 0.001), 0);
        assert_eq!(step(loss_of(|packet| packet % 50 == 0), 0.025), 0);
        assert_eq!(step(loss_of(|packet| packet % 10 == 0), 0.025), 1);
        assert_eq!(step(loss_of(|packet| packet % 5 == 0), 0.025), 2);
        assert_eq!(step(loss_of(|packet| packet % 10 < 7), 0.025), 4, "no step is enough");
    }

    #[test]
    fn bursts_need_more_repeats_than_single_losses() {
        let single = loss_of(|packet| packet % 20 == 0);
        let bursts = loss_of(|packet| packet % 100 < 5);
        assert!(step(bursts, 0.02) > step(single, 0.02));
    }

    #[test]
    fn old_losses_are_forgotten() {
        let mut loss = loss_of(|packet| packet % 2 == 0);
        (0..2000).for_each(|_| loss.count(false));
        assert_eq!(step(loss, 0.01), 0);
    }
}
