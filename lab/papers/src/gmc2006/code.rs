//! The codes of a message that is compressed with a template: an earlier message, whose dictionary
//! gives one-byte keys to parts of it. "Plus" is the profile with the paper's improvements.
//!
//! A message is a sequence of one-byte codes: the keys of the template's dictionary from 0 upwards,
//! and the reserved codes below, counted down from 255. A composite template is a sequence of parts
//! with holes between them, where messages differ.
//!
//! | code | followed by | means |
//! | --- | --- | --- |
//! | key of a part | | the part |
//! | key of a composite template | its holes' contents | its parts with the contents between |
//! | [`ESCAPE`] | length (at least 1), and that many bytes | these bytes |
//! | [`NUMBER`], Plus only | length 1 to 4, and a number in binary | its decimal digits |
//! | [`END`], Plus only | | the message ends and another follows |
//!
//! A hole's content begins with a byte of its own. Up to [`MAX_HOLE`] it is the length of the text
//! that follows; above [`HOLE_NUMBER`] it is [`HOLE_NUMBER`] plus the length of the binary number
//! that follows.

use super::config::Profile;

/// The code before bytes that are not in the template.
pub(super) const ESCAPE: u8 = 255;
/// The code before a number in binary (section 6.4).
pub(super) const NUMBER: u8 = 254;
/// The code between messages of a packet (section 6.4, aggregation).
pub(super) const END: u8 = 253;

/// The longest text in a hole, in bytes.
pub(super) const MAX_HOLE: u8 = 247;
/// The first byte of the content of a hole that is a number of n bytes is this plus n.
pub(super) const HOLE_NUMBER: u8 = 251;

/// The most composite templates for one template. A message type needs one or two; the keys that
/// are kept for them cannot be used for parts.
pub(super) const MAX_COMPOSITES: usize = 16;

/// The most bytes of codes for each byte of a message: a byte that is not in the template takes
/// three, and so does a number of one digit.
pub(super) const MAX_EXPANSION: usize = 3;

/// The number of keys that a dictionary can have: 256 less the reserved codes.
pub(super) fn keys(profile: Profile) -> usize {
    match profile {
        Profile::Gmc2006 => usize::from(ESCAPE),
        Profile::Gmc2006Plus => usize::from(END),
    }
}

/// The number of keys that can stand for parts.
pub(super) fn part_keys(profile: Profile) -> usize {
    match profile {
        Profile::Gmc2006 => keys(profile),
        Profile::Gmc2006Plus => keys(profile) - MAX_COMPOSITES,
    }
}
