//! A template as the encoder has it, and compressing a message with it (Figure 4).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::code::{ESCAPE, MAX_COMPOSITES, NUMBER, part_keys};
use super::composite::{Composite, Lookup, Structures};
use super::config::Profile;
use super::huffman::{CodeSet, Frequencies};
use super::number::Number;
use super::suffix::{Span, SuffixAutomaton};

/// A message of the past, and what was learned of those that were compressed with it.
#[derive(Debug)]
pub(super) struct Template {
    /// Its number, and those it goes by in announcements.
    pub(super) number: u16,
    /// The number of the template that it takes the place of, as long as it is not announced.
    pub(super) replaces: Option<u16>,
    pub(super) announced: bool,
    pub(super) bytes: Vec<u8>,
    /// Messages compressed with it.
    pub(super) uses: u32,
    pub(super) frequencies: Frequencies,
    pub(super) codes: Option<CodeSet>,
    profile: Profile,
    automaton: SuffixAutomaton,
    /// The dictionary: keys count up from 0 in the order of the additions.
    keys: BTreeMap<Span, u8>,
    composites: Vec<(u8, Composite)>,
    structures: Structures,
}

/// A message in the codes of a template, see [`code`](super::code).
#[derive(Debug, Default)]
pub(super) struct Coded {
    pub(super) bytes: Vec<u8>,
    /// Parts that the dictionary lacks, in the order of the keys that `bytes` has for them.
    pub(super) additions: Vec<Span>,
    /// Bytes of the message that are not in the template.
    pub(super) escaped: usize,
    /// Where the parts were found; empty if a composite template was used.
    pub(super) lookups: Vec<Lookup>,
    /// Bytes when sent, with the code set if that is shorter.
    pub(super) size: usize,
}

impl Template {
    pub(super) fn new(number: u16, replaces: Option<u16>, bytes: &[u8], profile: Profile) -> Self {
        Self {
            number,
            replaces,
            announced: false,
            bytes: bytes.to_vec(),
            uses: 0,
            frequencies: [0; 256],
            codes: None,
            profile,
            automaton: SuffixAutomaton::new(bytes),
            keys: BTreeMap::new(),
            composites: Vec::new(),
            structures: Structures::default(),
        }
    }

    /// Puts `message` into codes. The dictionary stays as it is: see [`Template::add`].
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
                            coded.bytes.extend(key);
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

    /// Bytes that codes take when sent.
    pub(super) fn size(&self, codes: &[u8]) -> usize {
        self.codes.as_ref().map_or(codes.len(), |set| set.bits(codes).div_ceil(8).min(codes.len()))
    }

    /// Adds a part to the dictionary. Returns its key.
    pub(super) fn add(&mut self, part: Span) -> u8 {
        let key = self.next_key();
        self.keys.insert(part, key);
        key
    }

    /// Looks at the structure of a message that this template has coded, now with all its parts in
    /// the dictionary. Returns a new composite template's key and its parts' keys, if it makes one.
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

    /// About how many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        // An entry of the dictionary, in a tree, takes about 16.
        size_of::<Self>() + self.bytes.len() + self.automaton.memory() + self.keys.len() * 16
    }

    fn next_key(&self) -> u8 {
        (self.keys.len() + self.composites.len()) as u8
    }

    /// The longest part, or in Plus perhaps a number, that begins at `at`.
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

    /// The longest prefix of `text` in the template that has a key or can get one.
    fn longest_part(&self, text: &[u8], coded: &Coded) -> Option<Span> {
        let longest = self.automaton.longest_prefix(text)?;
        if self.has_room(&coded.additions) || self.has_key(longest, &coded.additions) {
            return Some(longest);
        }
        let known = |part: &Span| self.has_key(*part, &coded.additions);
        self.automaton.prefixes(text).filter(known).last()
    }

    fn has_room(&self, additions: &[Span]) -> bool {
        self.keys.len() + additions.len() < part_keys(self.profile)
    }

    fn has_key(&self, part: Span, additions: &[Span]) -> bool {
        self.keys.contains_key(&part) || additions.contains(&part)
    }

    /// The key of a part, or the one that it gets.
    fn key(&self, part: Span, additions: &mut Vec<Span>) -> Option<u8> {
        self.keys.get(&part).copied().or_else(|| {
            let index = additions.iter().position(|&addition| addition == part);
            let index = index.unwrap_or_else(|| {
                additions.push(part);
                additions.len() - 1
            });
            u8::try_from(usize::from(self.next_key()) + index).ok()
        })
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
    /// And its length as text.
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
