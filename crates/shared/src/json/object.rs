//! The members of an object, in JavaScript's order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::json::Json;
use crate::text::Text;

/// The members of a JSON object. Names that are indexes (`"0"` to `"4294967294"`) come first, in
/// ascending order; the others follow in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(Vec<(Text, Json)>);

impl Object {
    /// A member.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find_map(|(other, value)| (other == name).then_some(value))
    }

    /// The members, in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Text, &Json)> + ExactSizeIterator {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// If a name comes twice, the last value counts, at the place of the first.
impl FromIterator<(Text, Json)> for Object {
    fn from_iter<Members: IntoIterator<Item = (Text, Json)>>(members: Members) -> Self {
        let mut places = BTreeMap::new();
        let mut all: Vec<(Text, Json)> = Vec::new();
        let mut indexes = 0;
        for (name, value) in members {
            let place = *places.entry(name.clone()).or_insert(all.len());
            match all.get_mut(place) {
                Some(member) => member.1 = value,
                None => {
                    indexes += usize::from(index_of(&name).is_some());
                    all.push((name, value));
                }
            }
        }
        if indexes > 0 {
            // Stable: what is no index keeps its place behind them.
            all.sort_by_key(|(name, _)| index_of(name).unwrap_or(u32::MAX));
        }
        Object(all)
    }
}

/// The number that a name stands for, if JavaScript takes it for an index.
fn index_of(name: &Text) -> Option<u32> {
    let digits = name.bytes();
    let is_canonical = match digits {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let index: u32 = is_canonical.then(|| name.as_str()?.parse().ok()).flatten()?;
    (index < u32::MAX).then_some(index)
}
