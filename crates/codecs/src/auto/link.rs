//! The time of a byte on a link, learned from exchanges of packets.

use super::fit::Fit;

/// The time of a byte on an unknown link: 50 Mbit/s. Nanoseconds.
const DEFAULT: f32 = 160.0;

/// A link's time per byte.
///
/// It is learned by least squares from exchanges of different sizes, so that everything that does
/// not depend on the size cancels out: distance, system calls, the other end's work. Each
/// store-and-forward hop adds its own time per byte, so the result is the sum over all hops.
///
/// ```
/// use core::time::Duration;
/// use groupwire_codecs::Link;
/// let mut link = Link::new();
/// for bytes in [300, 700, 1500, 2900, 400, 900, 1100, 2000, 2500, 1800] {
///     // 50 µs whatever the size, and 80 ns for each byte: 100 Mbit/s.
///     link.heard(bytes, Duration::from_nanos(50_000 + 80 * bytes as u64));
/// }
/// assert_eq!(link.nanos_per_byte().map(|nanos| nanos.round()), Some(80.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    nanos_per_byte: Option<f32>,
    /// `None` if the rate was given and is not learned.
    fit: Option<Fit>,
}

impl Default for Link {
    fn default() -> Self {
        Link::new()
    }
}

impl Link {
    /// A link whose rate is to be learned.
    pub fn new() -> Self {
        Link { nanos_per_byte: None, fit: Some(Fit::default()) }
    }

    /// A link of a known rate over all its hops: two store-and-forward hops of 100 Mbit/s count as
    /// one of 50 Mbit/s.
    pub fn of_rate(bits_per_second: f32) -> Self {
        Link { nanos_per_byte: Some(8e9 / bits_per_second.max(1.0)), fit: None }
    }

    /// Adds an exchange: the bytes of a packet and of its answer together, and the time between
    /// them. The time should not contain packing and unpacking, which also grow with the size:
    /// measure without them, or subtract the [`Costs`](super::Costs).
    pub fn heard(&mut self, bytes: usize, time: core::time::Duration) {
        let Some(fit) = &mut self.fit else { return };
        fit.add(bytes as f64, time.as_nanos() as f64);
        if let Some(slope) = fit.slope() {
            self.nanos_per_byte = Some(slope);
        }
    }

    /// The time of a byte. `None` until exchanges of different sizes have shown it. A known rate
    /// stays until newer exchanges show another one.
    pub fn nanos_per_byte(&self) -> Option<f32> {
        self.nanos_per_byte
    }

    /// The time of a byte to calculate with: the known one, else that of the default rate, but
    /// never more than the measured exchanges allow.
    pub(super) fn assumed_nanos(&self) -> f32 {
        self.nanos_per_byte.unwrap_or(DEFAULT).min(self.most_nanos())
    }

    /// The most time that a byte can take, by the measured exchanges.
    pub(super) fn most_nanos(&self) -> f32 {
        self.fit.as_ref().and_then(Fit::upper_bound).unwrap_or(f32::MAX)
    }

    /// Whether there are too few exchanges to say anything.
    pub(super) fn is_new(&self) -> bool {
        self.fit.as_ref().is_some_and(|fit| !fit.is_full())
    }

    /// Whether the rate is unknown, or the exchanges contradict the rate that was known.
    pub(super) fn is_unknown(&self) -> bool {
        self.nanos_per_byte.is_none_or(|nanos| nanos > self.most_nanos())
    }

    /// The mean time of a packet in one direction, ns; 0 if it is unknown.
    pub(super) fn one_way(&self) -> f32 {
        self.fit.as_ref().map_or(0.0, |fit| fit.mean_time() / 2.0)
    }

    /// Whether exchanges of other sizes would help: there are exchanges, but the time of a byte is
    /// not certain.
    pub(super) fn wants_sizes(&self) -> bool {
        self.fit.as_ref().is_some_and(|fit| fit.is_full() && !fit.is_sure())
    }
}
