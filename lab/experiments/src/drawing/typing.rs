//! How somebody types: words, times between keys, mistakes and their correction.
//!
//! - Words come by Zipf's law: the n-th most frequent one with a weight of 1/n.
//! - Times between keys are skewed around 140 ms, longer before a word and longest before a
//!   sentence, shorter for a key hit twice. Median and spread are those of the session made of
//!   recorded typing.
//! - About one letter in seventy is a neighbour of the right one. It is noticed at once or a few
//!   keys later, deleted with all that came after it, and typed again: 1 to 3 % of all keys delete,
//!   in that session 3 %.

use super::random::Random;

/// A key that was hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Character(char),
    /// Deletes the character before the cursor.
    Delete,
}

/// Simulates `count` keystrokes, each with the time since the one before it, in ms.
pub(crate) fn keys(random: &mut Random, count: usize) -> Vec<(f64, Key)> {
    let mut typist = Typist { random, keys: Vec::with_capacity(count), last: ' ' };
    while typist.keys.len() < count {
        typist.sentence();
    }
    typist.keys.truncate(count);
    typist.keys
}

/// A sentence without mistakes.
pub(crate) fn sentence(random: &mut Random) -> String {
    let count = 2 + random.below(11);
    let mut text = String::new();
    for at in 0..count {
        let word = word(random);
        match at {
            0 => text.push_str(&capitalized(word)),
            _ => text.extend([" ", word]),
        }
    }
    text.push_str(random.pick(&["", "", ".", "!", "?"]));
    text
}

struct Typist<'a> {
    random: &'a mut Random,
    keys: Vec<(f64, Key)>,
    last: char,
}

impl Typist<'_> {
    fn sentence(&mut self) {
        let text = sentence(self.random);
        let end = if self.random.chance(0.15) { "\n" } else { " " };
        let text: Vec<char> = text.chars().chain(end.chars()).collect();
        self.last = ' ';
        let mut at = 0;
        while at < text.len() {
            let pause = if at == 0 { 4.0 } else { 1.0 };
            if text[at].is_ascii_lowercase() && self.random.chance(1.0 / 70.0) {
                self.mistake(&text[at..]);
            }
            self.hit(text[at], pause);
            at += 1;
        }
    }

    fn mistake(&mut self, rest: &[char]) {
        let wrong = neighbour(self.random, rest[0]);
        self.hit(wrong, 1.0);
        let after = self.random.below(4).min(rest.len() - 1);
        for character in &rest[1..=after] {
            self.hit(*character, 1.0);
        }
        for at in 0..=after {
            // The typist needs a moment to see the mistake, then hits the key fast.
            let median = if at == 0 { 350.0 } else { 110.0 };
            self.keys.push((self.random.skewed(median, 0.3), Key::Delete));
        }
    }

    fn hit(&mut self, character: char, pause: f64) {
        let median = match (self.last, character) {
            (last, now) if last == now => 110.0,
            (' ', _) => 200.0,
            _ => 140.0,
        };
        let time = self.random.skewed(median, 0.45);
        self.keys.push((pause * time, Key::Character(character)));
        self.last = character;
    }
}

fn neighbour(random: &mut Random, key: char) -> char {
    const ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];
    let place = |row: &[u8]| row.iter().position(|other| char::from(*other) == key);
    let Some((row, at)) = ROWS.iter().find_map(|row| place(row).map(|at| (row, at))) else {
        return key;
    };
    let left = at > 0 && (at + 1 == row.len() || random.chance(0.5));
    char::from(if left { row[at - 1] } else { row[at + 1] })
}

fn word(random: &mut Random) -> &'static str {
    let weights = || (1..=WORDS.len()).map(|rank| 1.0 / rank as f64);
    let mut left = random.between(0.0, weights().sum());
    let found = weights().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Because of rounding, the number may lie beyond the last word.
    WORDS[found.unwrap_or(0)]
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// Words of people who draw together, the most frequent first.
const WORDS: [&str; 128] = [
    "the", "to", "and", "a", "is", "of", "it", "in", "that", "we", "this", "you", "for", "I", "on",
    "be", "with", "have", "but", "not", "are", "can", "so", "at", "if", "was", "what", "one", "or",
    "all", "from", "there", "just", "like", "do", "box", "line", "here", "should", "will", "about",
    "they", "more", "your", "could", "when", "which", "then", "would", "make", "some", "up",
    "left", "right", "move", "need", "think", "our", "text", "out", "how", "maybe", "over", "same",
    "draw", "put", "get", "into", "no", "yes", "good", "look", "arrow", "red", "blue", "first",
    "next", "page", "user", "time", "part", "label", "still", "only", "other", "also", "where",
    "two", "bigger", "smaller", "below", "above", "between", "because", "button", "server",
    "screen", "picture", "change", "point", "start", "title", "list", "name", "work", "wait",
    "really", "better", "finish", "group", "corner", "colour", "sketch", "window", "message",
    "circle", "question", "example", "problem", "version", "network", "another", "ready", "thing",
    "probably", "everyone", "tomorrow", "empty",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_after_corrections_are_the_words() {
        let keys = keys(&mut Random::new(5), 3000);
        assert_eq!(keys.len(), 3000);
        let mut text = String::new();
        let mut deleted = 0;
        for (_, key) in keys {
            match key {
                Key::Character(character) => text.push(character),
                Key::Delete => {
                    deleted += 1;
                    assert!(text.pop().is_some());
                }
            }
        }
        assert!((30..250).contains(&deleted), "{deleted}");
        // The last word may be cut off.
        let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphabetic()).collect();
        let known =
            |word: &&&str| word.is_empty() || WORDS.iter().any(|w| w.eq_ignore_ascii_case(word));
        let unknown: Vec<_> = words[..words.len() - 2].iter().filter(|word| !known(word)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn frequent_words_are_frequent() {
        let mut random = Random::new(1);
        let words: Vec<_> = (0..10_000).map(|_| word(&mut random)).collect();
        let count = |word| words.iter().filter(|other| **other == word).count();
        assert!(count("the") > 3 * count("for"), "{} {}", count("the"), count("for"));
        assert!(count("for") > count("empty"));
        assert!(count("empty") > 0);
    }
}
