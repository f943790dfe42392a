//! The encoder's templates, and the compression of a message with one (Figure 4 of the paper). The
//! dictionary of a template gives one-byte keys to parts of it. A composite template is a sequence
//! of such parts with holes between them.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::code::{ESCAPE, MAX_COMPOSITES, NUMBER, part_keys};
use super::composite::{Composite, Lookup, Structures};
use super::config::Profile;
use super::huffman::{CodeSet, Frequencies};
use super::number::Number;
use super::suffix::{Span, SuffixAutomaton};

/// A template: an earlier message, and what was learned from the messages that were compressed with
/// it.
#[derive(Debug)]
pub(super) struct Template {
    /// The number of the template in packets and announcements.
    pub(super) number: u16,
    /// The number of the template that this one replaces; set until this one is announced.
    pub(super) replaces: Option<u16>,
    pub(super) announced: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) codes: Option<CodeSet>,
    /// The number of messages compressed with the template. Together with `frequencies`, which
    /// counts the codes in them, it serves until there is a code set.
    uses: u32,
    frequencies: Frequencies,
    profile: Profile,
    automaton: SuffixAutomaton,
    /// The dictionary. Keys count up from 0 in the order in which parts were added.
    keys: BTreeMap<Span, u8>,
    composites: Vec<(u8, Composite)>,
    structures: Structures,
}

/// A message in the codes of a template (see [`code`](super::code)).
#[derive(Debug, Default)]
pub(super) struct Coded {
    pub(super) bytes: Vec<u8>,
    /// The parts that the dictionary lacks, with the keys that `bytes` already uses for them.
    pub(super) additions: BTreeMap<Span, u8>,
    /// The number of bytes of the message that are not in the template.
    pub(super) escaped: usize,
    /// The places of the parts in the message. Empty if a composite template was used.
    pub(super) lookups: Vec<Lookup>,
    /// The number of bytes when sent: with the Huffman code set if that is shorter.
    pub(super) size: usize,
}

impl Template {
    pub(super) fn new(number: u16, replaces: Option<u16>, bytes: &[u8], profile: Profile) -> Self {
        Self {
            number,
            replaces,
            announced: false,
            bytes: bytes.to_vec(),
            codes: None,
            uses: 0,
            frequencies: [0; 256],
            profile,
            automaton: SuffixAutomaton::new(bytes),
            keys: BTreeMap::new(),
            composites: Vec::new(),
            structures: Structures::default(),
        }
    }

    /// Translates `message` into codes. The dictionary is not changed: see [`Template::add`].
    pub(super) fn compress(&self, message: &[u8], coded: &mut Coded) {
        coded.clear();
        let mut at = 0;
        let mut escape = 0;
        while at < message.len() {
            match self.next_item(message, at, coded) {
                None => at += 1,
                Some(item) => {
                    coded.push_escape(&message[escape..at]);
                    at += match item {
                        Item::Part(part) => {
                            let key = self.key(part, &mut coded.additions);
                            coded.bytes.push(key);
                            coded.lookups.push(Lookup { at, part });
                            usize::from(part.length)
                        }
                        Item::Number(number, length) => {
                            coded.bytes.extend([NUMBER, number.bytes() as u8]);
                            number.write(&mut coded.bytes);
                            coded.escaped += length;
                            length
                        }
                    };
                    escape = at;
                }
            }
        }
        coded.push_escape(&message[escape..]);
        coded.size = self.size(&coded.bytes);
        self.compress_with_composites(message, coded);
    }

    /// The bytes that `codes` take when sent: Huffman coded, if there is a code set and the result
    /// is shorter.
    pub(super) fn size(&self, codes: &[u8]) -> usize {
        self.codes.as_ref().map_or(codes.len(), |set| set.bits(codes).div_ceil(8).min(codes.len()))
    }

    /// Adds to the dictionary the parts that a message needed.
    pub(super) fn add(&mut self, additions: &BTreeMap<Span, u8>) {
        self.keys.extend(additions);
    }

    /// Looks at the structure of a message that this template has compressed, when all its parts
    /// are in the dictionary. If the structure was seen before, makes a composite template of it,
    /// and returns its key and the keys of its parts.
    pub(super) fn learn_structure(
        &mut self,
        coded: &Coded,
        message: usize,
    ) -> Option<(u8, Composite, Vec<u8>)> {
        let plus = self.profile == Profile::Gmc2006Plus;
        if !plus || self.composites.len() == MAX_COMPOSITES {
            return None;
        }
        let structure = Composite::of(&coded.lookups, message)?;
        let composite = self.structures.repeats(structure)?;
        let parts = composite.parts.iter().map(|part| self.keys.get(part).copied());
        let parts = parts.collect::<Option<_>>()?;
        let key = self.next_key();
        self.composites.push((key, composite.clone()));
        Some((key, composite, parts))
    }

    /// Counts the codes of a message. After `enough` messages makes the Huffman code set, and
    /// returns the frequencies that it was made from.
    pub(super) fn count(&mut self, codes: &[u8], enough: u32) -> Option<Box<Frequencies>> {
        if self.codes.is_some() {
            return None;
        }
        self.uses += 1;
        for &code in codes {
            self.frequencies[usize::from(code)] += 1;
        }
        (self.uses >= enough).then(|| {
            self.codes = Some(CodeSet::new(&self.frequencies));
            Box::new(self.frequencies)
        })
    }

    /// The approximate memory of the template, in bytes.
    pub(super) fn memory(&self) -> usize {
        // An entry of the dictionary, in a tree, takes about 16 bytes.
        size_of::<Self>() + self.bytes.len() + self.automaton.memory() + self.keys.len() * 16
    }

    fn next_key(&self) -> u8 {
        (self.keys.len() + self.composites.len()) as u8
    }

    /// The longest part that begins at `at`, or in the profile Plus perhaps a number.
    fn next_item(&self, message: &[u8], at: usize, coded: &Coded) -> Option<Item> {
        let text = &message[at..];
        let part = self.longest_part(text, coded);
        if self.profile == Profile::Gmc2006 {
            return part.map(Item::Part);
        }
        let length = part.map_or(0, |part| usize::from(part.length));
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits(&text[length..]) == 0 {
            return part.map(Item::Part);
        }
        // The part ends within a number, or just before it.
        let before = length - digits_at_end(&text[..length]);
        if before > 0 {
            return self.longest_part(&text[..before], coded).map(Item::Part);
        }
        let length = digits(text);
        match Number::parse(&text[..length]) {
            Some(number) => Some(Item::Number(number, length)),
            None => part.map(Item::Part),
        }
    }

    /// The longest start of `text` that is in the template and has a key or can get one.
    fn longest_part(&self, text: &[u8], coded: &Coded) -> Option<Span> {
        let longest = self.automaton.longest_prefix(text)?;
        if self.has_room(&coded.additions) || self.has_key(longest, &coded.additions) {
            return Some(longest);
        }
        let known = |part: &Span| self.has_key(*part, &coded.additions);
        self.automaton.prefixes(text).filter(known).last()
    }

    fn has_room(&self, additions: &BTreeMap<Span, u8>) -> bool {
        self.keys.len() + additions.len() < part_keys(self.profile)
    }

    fn has_key(&self, part: Span, additions: &BTreeMap<Span, u8>) -> bool {
        self.keys.contains_key(&part) || additions.contains_key(&part)
    }

    /// The key of a part. A part without a key gets the next free one, which is noted in
    /// `additions`.
    fn key(&self, part: Span, additions: &mut BTreeMap<Span, u8>) -> u8 {
        let next = self.next_key() + additions.len() as u8;
        match self.keys.get(&part) {
            Some(&key) => key,
            None => *additions.entry(part).or_insert(next),
        }
    }

    fn compress_with_composites(&self, message: &[u8], coded: &mut Coded) {
        for (key, composite) in &self.composites {
            let mut bytes = Vec::with_capacity(message.len());
            bytes.push(*key);
            if let Some(escaped) = composite.fill(&self.bytes, message, &mut bytes) {
                let size = self.size(&bytes);
                if size < coded.size {
                    coded.clear();
                    *coded = Coded { bytes, escaped, size, ..core::mem::take(coded) };
                }
            }
        }
    }
}

enum Item {
    Part(Span),
    /// A number, and its length as text in bytes.
    Number(Number, usize),
}

fn digits_at_end(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count()
}

impl Coded {
    fn clear(&mut self) {
        self.bytes.clear();
        self.additions.clear();
        self.lookups.clear();
        self.escaped = 0;
        self.size = 0;
    }

    fn push_escape(&mut self, sequence: &[u8]) {
        self.escaped += sequence.len();
        for piece in sequence.chunks(usize::from(u8::MAX)) {
            self.bytes.extend([ESCAPE, piece.len() as u8]);
            self.bytes.extend_from_slice(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &[u8] = b"(x: 1138 y: 601)";

    fn compress(template: &Template, message: &[u8]) -> Coded {
        let mut coded = Coded::default();
        template.compress(message, &mut coded);
        coded
    }

    #[test]
    fn parts_become_keys_and_the_rest_escapes() {
        let mut template = Template::new(0, None, MESSAGE, Profile::Gmc2006);
        let coded = compress(&template, b"(x: 749 y: 60)");
        // "(x: ", not "749", " y: 60", ")": the keys that the parts get when they are added.
        assert_eq!(coded.bytes, [0, ESCAPE, 3, b'7', b'4', b'9', 1, 2]);
        assert_eq!((coded.additions.len(), coded.escaped, coded.size), (3, 3, 8));
        template.add(&coded.additions);
        let again = compress(&template, b"(x: 749 y: 60)");
        assert_eq!((again.bytes, again.additions), (coded.bytes, BTreeMap::new()));
    }

    #[test]
    fn a_full_dictionary_is_used_as_far_as_it_goes() {
        let bytes: Vec<u8> = (0..=255).flat_map(|byte| [byte, 255 - byte]).collect();
        let mut template = Template::new(0, None, &bytes, Profile::Gmc2006);
        let coded = compress(&template, &(0..=255).collect::<Vec<u8>>());
        assert_eq!(coded.additions.len(), 255, "one byte found no place");
        template.add(&coded.additions);
        let coded = compress(&template, &bytes);
        assert!(coded.additions.is_empty());
        assert_eq!(coded.escaped, 2);
    }

    #[test]
    fn long_escapes_are_written_in_pieces() {
        let template = Template::new(0, None, b"a", Profile::Gmc2006);
        assert_eq!(compress(&template, &[b'b'; 600]).bytes.len(), 600 + 3 * 2);
    }

    #[test]
    fn plus_leaves_numbers_whole() {
        let template = Template::new(0, None, MESSAGE, Profile::Gmc2006Plus);
        let coded = compress(&template, b"(x: 1139 y: 0601)");
        assert_eq!(coded.bytes[..5], [0, NUMBER, 2, 4, 115], "1139 in binary");
        assert!(!coded.bytes[5..].contains(&NUMBER), "0601 is not written as a number");
    }

    #[test]
    fn plus_learns_a_structure_and_fills_its_holes() {
        let mut template = Template::new(0, None, MESSAGE, Profile::Gmc2006Plus);
        let mut learned = None;
        for message in [b"(x: 20 y: 3)!", b"(x: 40 y: 5)!"] {
            let coded = compress(&template, message);
            template.add(&coded.additions);
            learned = learned.or(template.learn_structure(&coded, message.len()));
        }
        let (key, _, parts) = learned.unwrap();
        assert_eq!(parts.len(), 2);
        let coded = compress(&template, b"(x: 6 y: 7)!");
        assert_eq!(coded.bytes, [key, 252, 6, 3, b'7', b')', b'!']);
    }

    #[test]
    fn the_code_set_comes_after_enough_messages() {
        let mut template = Template::new(0, None, MESSAGE, Profile::Gmc2006);
        assert!(template.count(&[1, 1], 2).is_none());
        assert_eq!(template.size(&[1; 80]), 80);
        assert_eq!(template.count(&[1, 2], 2).unwrap()[..3], [0, 3, 1]);
        assert!(template.size(&[1; 80]) < 40);
        assert!(template.count(&[1], 2).is_none());
    }
}
