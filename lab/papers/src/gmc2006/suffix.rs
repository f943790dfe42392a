//! The suffix structure of a template. It finds the longest start of a text that occurs in the
//! template, which is an earlier message.

use alloc::vec;
use alloc::vec::Vec;

/// A suffix automaton: the smallest automaton of all substrings of the template.
///
/// It answers what the paper's suffix trie answers (section 4.1). Its size and the time to build it
/// grow with the template's length, not with the square of that.
#[derive(Debug)]
pub(super) struct SuffixAutomaton {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The edges of the start node, by byte. Every search begins there.
    start: Vec<u32>,
}

/// A set of substrings that end at the same places of the template.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The length of the longest of these substrings.
    length: u32,
    /// The node of the longest suffix of these substrings that ends at more places of the template.
    link: u32,
    /// The end of the first occurrence in the template, exclusive.
    end: u32,
    first_edge: u32,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    byte: u8,
    target: u32,
    next: u32,
}

const NONE: u32 = u32::MAX;
const START: u32 = 0;

/// A part of a template: the first occurrence of a substring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) offset: u16,
    pub(super) length: u16,
}

/// The longest part, in bytes: a dictionary entry stores its length in one byte.
pub(super) const MAX_SPAN: usize = 256;

impl SuffixAutomaton {
    /// Builds the automaton of a template of at most 65,535 bytes, so that every offset fits into a
    /// [`Span`].
    pub(super) fn new(template: &[u8]) -> Self {
        debug_assert!(template.len() <= usize::from(u16::MAX));
        let mut this = Self {
            nodes: Vec::with_capacity(2 * template.len() + 1),
            edges: Vec::with_capacity(3 * template.len()),
            start: vec![NONE; 256],
        };
        this.nodes.push(Node { length: 0, link: NONE, end: 0, first_edge: NONE });
        let mut last = START;
        for &byte in template {
            last = this.extend(last, byte);
        }
        this
    }

    /// The longest start of `text`, up to [`MAX_SPAN`] bytes, that occurs in the template.
    pub(super) fn longest_prefix(&self, text: &[u8]) -> Option<Span> {
        self.prefixes(text).last()
    }

    /// Every start of `text`, up to [`MAX_SPAN`] bytes, that occurs in the template; shortest
    /// first.
    pub(super) fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = Span> {
        let mut node = START;
        text.iter().take(MAX_SPAN).zip(1_u16..).map_while(move |(&byte, length)| {
            node = self.follow(node, byte)?;
            Some(Span { offset: self.nodes[node as usize].end as u16 - length, length })
        })
    }

    /// The memory of the automaton, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.start.len() * size_of::<u32>()
    }

    fn extend(&mut self, last: u32, byte: u8) -> u32 {
        let length = self.nodes[last as usize].length + 1;
        let new = self.push(Node { length, link: START, end: length, first_edge: NONE });
        let mut from = last;
        while from != NONE && self.follow(from, byte).is_none() {
            self.connect(from, byte, new);
            from = self.nodes[from as usize].link;
        }
        if from == NONE {
            return new;
        }
        let target = self.edge(from, byte);
        let length = self.nodes[from as usize].length + 1;
        if self.nodes[target as usize].length == length {
            self.nodes[new as usize].link = target;
            return new;
        }
        let split = self.split(target, length);
        self.nodes[new as usize].link = split;
        while from != NONE && self.follow(from, byte) == Some(target) {
            self.redirect(from, byte, split);
            from = self.nodes[from as usize].link;
        }
        new
    }

    /// Moves those substrings of `node` that have at most `length` bytes into a node of their own.
    fn split(&mut self, node: u32, length: u32) -> u32 {
        let original = self.nodes[node as usize];
        let copy = self.push(Node { length, first_edge: NONE, ..original });
        let mut edge = original.first_edge;
        while edge != NONE {
            let Edge { byte, target, next } = self.edges[edge as usize];
            self.connect(copy, byte, target);
            edge = next;
        }
        self.nodes[node as usize].link = copy;
        copy
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn connect(&mut self, from: u32, byte: u8, target: u32) {
        if from == START {
            self.start[usize::from(byte)] = target;
            return;
        }
        let next = self.nodes[from as usize].first_edge;
        self.nodes[from as usize].first_edge = self.edges.len() as u32;
        self.edges.push(Edge { byte, target, next });
    }

    fn redirect(&mut self, from: u32, byte: u8, target: u32) {
        if from == START {
            self.start[usize::from(byte)] = target;
            return;
        }
        let mut edge = self.nodes[from as usize].first_edge;
        while edge != NONE {
            if self.edges[edge as usize].byte == byte {
                self.edges[edge as usize].target = target;
                return;
            }
            edge = self.edges[edge as usize].next;
        }
    }

    fn follow(&self, from: u32, byte: u8) -> Option<u32> {
        Some(self.edge(from, byte)).filter(|&target| target != NONE)
    }

    fn edge(&self, from: u32, byte: u8) -> u32 {
        if from == START {
            return self.start[usize::from(byte)];
        }
        let mut edge = self.nodes[from as usize].first_edge;
        while edge != NONE {
            let Edge { byte: label, target, next } = self.edges[edge as usize];
            if label == byte {
                return target;
            }
            edge = next;
        }
        NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plain search that the automaton replaces.
    fn search(template: &[u8], text: &[u8]) -> Option<Span> {
        (1..=text.len().min(MAX_SPAN)).rev().find_map(|length| {
            let offset = template.windows(length).position(|part| part == &text[..length])?;
            Some(Span { offset: offset as u16, length: length as u16 })
        })
    }

    #[test]
    fn spans_are_limited() {
        let template = vec![7; 1000];
        let found = SuffixAutomaton::new(&template).longest_prefix(&template);
        assert_eq!(found, Some(Span { offset: 0, length: 256 }));
    }

    #[test]
    fn an_empty_template_has_no_prefix() {
        assert_eq!(SuffixAutomaton::new(b"").longest_prefix(b"a"), None);
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(
            template in prop::collection::vec(b'a'..b'd', 0..200),
            text in prop::collection::vec(b'a'..b'e', 0..50),
        ) {
            let automaton = SuffixAutomaton::new(&template);
            prop_assert_eq!(automaton.longest_prefix(&text), search(&template, &text));
        }
    }
}
