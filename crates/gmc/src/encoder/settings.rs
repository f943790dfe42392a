//! The settings that can be changed while an encoder runs. Decoders learn from packets what they need to know of them.

use super::Encoder;
use crate::config::{Config, Effort};

impl Encoder {
    /// Sets whether the model learns from messages; by default it does. While it does not, messages are coded with the
    /// model as it is and leave it unchanged. This is for messages that no later message resembles, and for secrets:
    /// the lengths of later packets then reveal nothing about them.
    ///
    /// Each packet that is not learned takes about a byte more on links that are not ordered.
    pub fn set_learning(&mut self, learning: bool) {
        self.settings.is_off = !learning;
    }

    /// Sets whether the model learns from messages of this channel, their first field; by default it does. A packet is
    /// learned only if all its messages may be learned, so channels that are not learned should have packets of their
    /// own.
    ///
    /// Messages of such a channel are still coded with what was learned from other channels, so that their own lengths
    /// tell how much they resemble those channels. That matters if an attacker sees the lengths and can write to
    /// another channel: then give this channel an encoder of its own.
    ///
    /// ```
    /// use groupwire_gmc::{Config, Decoder, Encoder, Message};
    ///
    /// let config = Config { fields: 1, ..Config::default() };
    /// let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
    /// encoder.set_channel_learning(7, false);
    /// let secret = Message { fields: &[7], bytes: b"the key is 83a1fd" };
    /// let (mut first, mut second) = (Vec::new(), Vec::new());
    /// encoder.encode_packet([secret], &mut first)?;
    /// encoder.encode_packet([secret], &mut second)?;
    /// assert!(second.len() + 2 >= first.len(), "it is as new as it was");
    /// decoder.decode_packet(&first, |message| assert_eq!(message, secret))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_channel_learning(&mut self, channel: u32, learning: bool) {
        let unlearned = &mut self.settings.unlearned;
        match unlearned.binary_search(&channel) {
            Ok(at) if learning => _ = unlearned.remove(at),
            Err(at) if !learning => unlearned.insert(at, channel),
            _ => {}
        }
    }

    /// Keeps at most `count` templates of messages, but at least one. The limit takes effect with the next packet that the
    /// models learn from. Fewer templates make encoding faster where messages are of many types.
    pub fn set_templates_max(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.settings.templates_max = Some(count);
        self.settings.wanted.templates_max = Some(count);
    }

    /// Starts a new, empty model of `bytes` bytes, at least [`Config::MEMORY_MIN`] and at most the [`Config::memory`]
    /// of both ends; a value outside is taken as the nearer bound.
    ///
    /// On an ordered link the new model takes over after the next packet, which is coded with the
    /// old one. On other links the next packet starts anew: see [`Encoder::restart`].
    pub fn set_memory(&mut self, bytes: usize) {
        let memory = bytes.clamp(Config::MEMORY_MIN, self.stream.memory_max());
        if self.sent.is_some() {
            self.restart_with(memory);
        } else {
            self.settings.wanted.memory = u32::try_from(memory).ok();
        }
    }

    /// Sets how much work is spent on each packet from now on. Decoders do not depend on it.
    pub fn set_effort(&mut self, effort: Effort) {
        self.settings.effort = effort;
    }

    /// Makes the model small enough for a snapshot of less than 4 KiB, in most sessions at a cost of one to two percent
    /// of the bytes of the next thousand messages: rounds probabilities, and forgets what was used little or long ago.
    /// The models of both ends are compacted after they learned the next packet that is learned; snapshots after that
    /// are small.
    ///
    /// Compaction takes some milliseconds for a model of 64 KiB, at both ends. On links that are not ordered a decoder
    /// cannot go back to a version of the model before the compaction. A packet that was coded before and arrives after
    /// a packet that was coded later is answered with [`DecodeError::UnknownEpoch`](crate::DecodeError::UnknownEpoch);
    /// in a room the decoder that lacks the packet then needs a snapshot.
    pub fn compact(&mut self) {
        self.settings.wanted.compact = true;
    }
}
