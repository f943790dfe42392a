//! The compressor of the paper on which this crate is based, as a baseline for measurements.
//!
//! Carl Gutwin, Christopher Fedak, Mark Watson, Jeff Dyck and Tim Bell, *Improving Network
//! Efficiency in Real-Time Groupware with General Message Compression*, CSCW 2006. Sections,
//! tables and figures below are the paper's.
//!
//! ```
//! use groupwire_papers::gmc2006::{Config, Decoder, Encoder};
//!
//! let mut encoder = Encoder::new(Config::default());
//! let mut decoder = Decoder::new(Config::default());
//! for x in 0..100 {
//!     let message = format!("(sender_id: 12 session_id: 9357)(telepointer x: {x}.0 y: 78.0)");
//!     let (mut announcements, mut packet) = (Vec::new(), Vec::new());
//!     encoder.encode(message.as_bytes(), &mut announcements, &mut packet)?;
//!
//!     let mut decoded = Vec::new();
//!     decoder.announce(&announcements)?;
//!     decoder.decode(&packet, &mut decoded)?;
//!     assert_eq!(decoded, message.as_bytes());
//!     assert!(x == 0 || packet.len() < 10);
//! }
//! assert_eq!(encoder.overhead().templates.count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! An earlier message is a *template*. Parts of a new message that are in the template become
//! one-byte keys of the template's dictionary, the rest is escaped (section 4.1). After 200
//! messages the bytes of a template's messages are Huffman coded. A message that no template makes
//! smaller than the target ratio becomes a template itself, if that would have saved bytes on the
//! previous messages. Long escapes are deflated (section 4.2).
//!
//! [`Profile::Gmc2006Plus`] adds what section 6.4 proposes: composite templates, which are message
//! structures with holes; numbers in binary; and messages that share a packet
//! ([`Encoder::encode_packet`]).
//!
//! # Guarantees
//!
//! - Announcements must reach the decoder all, in order, and before the packet that they come with.
//!   Announcing one again while its template lives does no harm. Their cost is the sum of
//!   [`Encoder::overhead`].
//! - Packets may be lost, repeated or reordered: they do not depend on each other. One that comes
//!   after its template has been replaced is answered with [`DecodeError::NotAnnounced`].
//! - The encoder has no clock: report times with [`Encoder::took`]. Without that, the same messages
//!   give the same bytes everywhere.
//! - Bytes out equal bytes in, for every input. A packet is at most one byte longer than its
//!   message.
//! - Memory is bounded by the [`Config`] at both ends; the decoder takes any bytes. Encoding grows
//!   with the message, the templates and, where a new template is judged, the history.
//!
//! # Where the paper is silent, or was not followed
//!
//! - *Escapes* are an escape code, a length byte and the bytes. Numbers in Plus have the second
//!   reserved code, as Table 6 wants, and a length byte; a fourth binary byte was added to the
//!   table, for the timestamps of the paper's own messages.
//! - *Dictionary*: 255 keys in the order of their additions; 253 in Plus, which has two more
//!   reserved codes. Parts are up to 256 bytes. Once the dictionary is full, only its parts are
//!   used. An addition is 6 bytes: template (2), key (1), offset (2), length (1).
//! - *Templates* are announced as they are, with 6 bytes more. Section 4.1 speaks of some 700 bytes
//!   for each; but the 718 bytes of Table 5 for seven templates of 88-byte messages, and 1077 for
//!   four of XML, are plainly sums.
//! - *Code sets*: one for each template, over all 256 bytes of coded messages, whether keys or
//!   escaped; its frequency list is 256 numbers of 4 bytes, the paper's 1 KB, sent once.
//! - *Header*: two bytes with a template, one without. Of the 14 bits for the template, one tells
//!   whether the code set was used.
//! - *A new template* must have paid for its announcements after twice the previous n messages, n =
//!   20. The paper asks for a better ratio only. Where 2 ms are never exceeded the target ratio
//!   falls to zero, and that rule then announces thousands of templates.
//! - *The least efficient template* is the one that saved the fewest bytes on the previous n
//!   messages. What it saved there counts against the new template.
//! - *The target ratio* moves by a thousandth of its start, down or, above the budget, up.
//! - *Deflate* gets codes before Huffman coding, and is tried on the message itself too.
//! - *Composite templates* are structures of parts of at least 3 bytes, seen twice, up to 16 for
//!   each template. In Plus a part does not end within a decimal number.
//!
//! # How near it comes
//!
//! Bytes per message with everything counted, on traces of 12,850 messages made anew from the
//! paper's description (`examples/gmc2006.rs`; the target falls to zero where the 2 ms are never
//! exceeded):
//!
//! | | text | XML | serialized objects |
//! | --- | --- | --- | --- |
//! | the paper's Table 4 | 17.7 of 88.4, 20 % | 19.7 of 224.5, 8 % | 25.3 of 277.5, 9 % |
//! | `Gmc2006`, target falling | 17.0 of 89.2, 19.0 % | 18.5 of 237.1, 7.8 % | 17.2 of 272.9, 6.3 % |
//! | `Gmc2006`, target 30 % | 18.1, 20.3 % | 21.4, 9.0 % | 25.0, 9.2 % |
//! | `Gmc2006Plus`, target falling | 15.0, 16.8 % | 15.2, 6.4 % | 15.9, 5.8 % |
//! | ... ten messages to a packet | 12.3, 13.7 % | 13.2, 5.6 % | 14.7, 5.4 % |
//!
//! With a target that stays at 30 % it matters which message comes first. Those traces begin with a
//! telepointer, which becomes the template of most messages. If twenty messages of another type are
//! put in front, their first one becomes the template, and telepointers then take less than 30 %
//! with it, so that they never get their own: XML takes 13 to 16 % in place of 9.0, serialized
//! objects 14 to 16 % in place of 9.2. With a target that falls it is 7.5 to 7.8 % and 6.3 to 7.0 %
//! in any order.
//!
//! Announcements, against the paper's Table 5:
//!
//! | | templates | dictionary additions | frequency lists |
//! | --- | --- | --- | --- |
//! | text, the paper | 7 (718 bytes) | 781 (6 bytes each) | 5 (1K bytes each) |
//! | text, target falling | 16 (1786 bytes) | 1505 | 4 |
//! | text, target 30 % | 4 (457 bytes) | 652 | 3 |
//! | XML, the paper | 4 (1077 bytes) | 534 (6 bytes each) | 3 (1K bytes each) |
//! | XML, target falling | 4 (1075 bytes) | 638 | 4 |
//!
//! The paper's 2.8 ms for an object are above its own budget, so its target cannot have fallen
//! there; compare the row "target 30 %". In 5.3.1, 6819 bytes a second are those of the XML stream;
//! 5.3 counts three XML templates, Table 5 four.

mod announcement;
mod code;
mod composite;
mod config;
mod decoder;
mod encoder;
mod error;
mod history;
mod huffman;
mod number;
mod overhead;
mod packet;
mod suffix;
mod template;
mod tuning;

pub use config::{Config, Profile};
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use error::{DecodeError, EncodeError};
pub use overhead::{Announced, Overhead};
