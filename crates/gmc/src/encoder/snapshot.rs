//! Snapshots of an encoder. Its model is all that it has learned from messages so far.

use alloc::vec::Vec;

use super::Encoder;
use crate::batch::Batch;
use crate::datagram::position::Position;
use crate::snapshot;
use crate::trace::Trace;

/// A clone makes the same packets from the same messages. Its model is a copy, so that it costs
/// about as much time as copying [`Config::memory`](crate::Config::memory) bytes.
///
/// ```
/// use groupwire_gmc::{Config, Encoder};
///
/// let mut encoder = Encoder::new(Config::default());
/// let (mut packet, mut same) = (Vec::new(), Vec::new());
/// encoder.encode(br#"{"x":51,"y":7}"#, &mut packet)?;
/// let mut clone = encoder.clone();
/// packet.clear();
/// encoder.encode(br#"{"x":52,"y":7}"#, &mut packet)?;
/// clone.encode(br#"{"x":52,"y":7}"#, &mut same)?;
/// assert_eq!(packet, same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Clone for Encoder {
    fn clone(&self) -> Self {
        Self {
            stream: self.stream.copy(),
            sent: self.sent.clone(),
            chain: self.chain,
            wanted: self.wanted,
            given: Batch::default(),
            done: Batch::default(),
            trace: Trace::default(),
            plain: Vec::new(),
            #[cfg(feature = "accounting")]
            expenses: self.expenses.clone(),
        }
    }
}

impl Encoder {
    /// Appends to `out` a snapshot, from which
    /// [`Decoder::from_snapshot`](crate::Decoder::from_snapshot) makes a decoder that continues as
    /// if it had received all packets so far. Neither the encoder nor other decoders have to wait
    /// for the new decoder. Packets that are made after the snapshot must reach it as they reach
    /// all others.
    ///
    /// A snapshot holds the model, and the packets that not all decoders have acknowledged. It can
    /// be made at any time. Its size is about a third of [`Config::memory`](crate::Config::memory),
    /// and less than 4 KiB after [`Encoder::compact`].
    ///
    /// ```
    /// use groupwire_gmc::{Config, Decoder, Encoder};
    ///
    /// let config = Config::default();
    /// let (mut encoder, mut packet) = (Encoder::new(config.clone()), Vec::new());
    /// for x in 0..50 {
    ///     encoder.encode(format!(r#"{{"x":{x},"y":7}}"#).as_bytes(), &mut packet)?;
    /// }
    /// encoder.compact();
    /// encoder.encode(br#"{"x":50,"y":7}"#, &mut packet)?;
    /// let mut snapshot = Vec::new();
    /// encoder.snapshot(&mut snapshot);
    /// assert!(snapshot.len() < 500);
    ///
    /// let mut decoder = Decoder::from_snapshot(config, &snapshot)?;
    /// let (mut packet, mut message) = (Vec::new(), Vec::new());
    /// encoder.encode(br#"{"x":51,"y":7}"#, &mut packet)?;
    /// decoder.decode(&packet, &mut message)?;
    /// assert_eq!(message, br#"{"x":51,"y":7}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self, out: &mut Vec<u8>) {
        let position = match &self.sent {
            None => Position { chain: self.chain, ..Position::default() },
            Some(sent) => sent.position(),
        };
        let pending = self.sent.iter().flat_map(|sent| sent.pending());
        snapshot::write(self.stream.copy(), position, pending, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Delivery};
    use alloc::format;

    #[test]
    fn a_clone_makes_the_same_packets() {
        for delivery in [Delivery::Ordered, Delivery::Datagrams, Delivery::Room] {
            let mut encoder = Encoder::new(Config { delivery, ..Config::default() });
            let message = |nth: u32| format!(r#"{{"type":"pointer","x":{nth},"y":{}}}"#, nth * 7);
            for nth in 0..100 {
                encoder.encode(message(nth).as_bytes(), &mut Vec::new()).unwrap();
                if nth % 10 == 9 {
                    encoder.advance(encoder.newest());
                }
            }
            let mut clone = encoder.clone();
            assert_eq!((clone.memory(), clone.newest()), (encoder.memory(), encoder.newest()));
            for nth in 100..200 {
                let (mut packet, mut same) = (Vec::new(), Vec::new());
                encoder.encode(message(nth).as_bytes(), &mut packet).unwrap();
                clone.encode(message(nth).as_bytes(), &mut same).unwrap();
                assert_eq!(packet, same);
                if nth % 10 == 9 {
                    encoder.advance(encoder.newest());
                    clone.advance(clone.newest());
                }
            }
        }
    }
}
