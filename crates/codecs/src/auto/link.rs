//! What a byte costs on a link, learned from exchanges.

use super::fit::Fit;

/// What a byte takes where nothing is known: 50 Mbit/s. Nanoseconds.
const DEFAULT: f32 = 160.0;

/// A link's time per byte.
///
/// It is learned by least squares from exchanges of different sizes, so that everything that does not depend on the
/// size drops out: distance, system calls, the other end's work. Each store-and-forward hop adds its own time per byte,
/// so their number is contained.
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
    /// `None`: it is told, not learned.
    fit: Option<Fit>,
}

impl Default for Link {
    fn default() -> Self {
        Link::new()
    }
}

impl Link {
    /// A link that nothing is known of yet.
    pub fn new() -> Self {
        Link { nanos_per_byte: None, fit: Some(Fit::default()) }
    }

    /// A link of a known rate, over all its hops: two hops of 100 Mbit/s that each store and forward are one of 50.
    pub fn of_rate(bits_per_second: f32) -> Self {
        Link { nanos_per_byte: Some(8e9 / bits_per_second.max(1.0)), fit: None }
    }

    /// One exchange: a packet of ours and what came back for it, their bytes taken together, and the time from one to
    /// the other. That should not contain packing and unpacking, which grow with the size too: measure without them,
    /// or subtract what [`Costs`](super::Costs) says.
    pub fn heard(&mut self, bytes: usize, time: core::time::Duration) {
        let Some(fit) = &mut self.fit else { return };
        fit.add(bytes as f64, time.as_nanos() as f64);
        if let Some(slope) = fit.slope() {
            self.nanos_per_byte = Some(slope);
        }
    }

    /// The time that a byte takes. `None` until exchanges of distinct sizes have shown it. It is not forgotten when
    /// the evidence grows old, but replaced by newer evidence.
    pub fn nanos_per_byte(&self) -> Option<f32> {
        self.nanos_per_byte
    }

    /// The former name of [`Link::nanos_per_byte`].
    #[doc(hidden)]
    pub fn nanos_per_octet(&self) -> Option<f32> {
        self.nanos_per_byte()
    }

    /// The time of a byte to reckon with: if it is not known, that of the default rate. Less if exchanges so short
    /// rule that out.
    pub(super) fn reckoned(&self) -> f32 {
        self.nanos_per_byte.unwrap_or(DEFAULT).min(self.most())
    }

    /// What a byte may take at most, whatever is still to be learned.
    pub(super) fn most(&self) -> f32 {
        self.fit.as_ref().and_then(Fit::most).unwrap_or(f32::MAX)
    }

    /// Whether too little was heard to say anything.
    pub(super) fn is_new(&self) -> bool {
        self.fit.as_ref().is_some_and(|fit| !fit.is_full())
    }

    /// Whether the rate is not known, or was that of another link than this one has become.
    pub(super) fn is_unknown(&self) -> bool {
        self.nanos_per_byte.is_none_or(|nanos| nanos > self.most())
    }

    /// The usual time of a packet, one way, ns; 0 if it is not known.
    pub(super) fn way(&self) -> f32 {
        self.fit.as_ref().map_or(0.0, |fit| fit.usual_time() / 2.0)
    }

    /// Whether exchanges of other sizes would help: there are exchanges, but they do not quite tell what a byte takes.
    pub(super) fn wants_sizes(&self) -> bool {
        self.fit.as_ref().is_some_and(|fit| fit.is_full() && !fit.is_sure())
    }
}
