//! Compares results with those of Yjs itself: `tests/vectors/make.mjs`.

use groupwire_yjs::{Document, StateVector, Update, diff, merge, without_deleted};

/// What Yjs made of a document: values by name.
pub(crate) struct Vector(&'static str);

impl Vector {
    /// The words of the line with this name.
    fn line(&self, name: &str) -> impl Iterator<Item = &'static str> + use<> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_default().split(' ').filter(|word| !word.is_empty())
    }

    /// The updates of the line with this name.
    pub(crate) fn all(&self, name: &str) -> Vec<Vec<u8>> {
        self.line(name).map(bytes).collect()
    }

    pub(crate) fn one(&self, name: &str) -> Vec<u8> {
        bytes(self.line(name).next().expect("the vector has this value"))
    }

    fn state_vector(&self, name: &str) -> StateVector {
        StateVector::parse(&self.one(name)).expect("a state vector")
    }

    fn deletions(&self) -> Vec<(u64, Vec<(u64, u64)>)> {
        let number = |digits: &str| digits.parse().expect("a number");
        let range = |range: &str| {
            range.split_once('-').map(|(start, end)| (number(start), number(end))).expect("a range")
        };
        let client = |word: &'static str| {
            let mut parts = word.split(':');
            (number(parts.next().expect("a client")), parts.map(range).collect())
        };
        let mut all: Vec<_> = self.line("deletions").map(client).collect();
        all.sort_by_key(|(client, _)| core::cmp::Reverse(*client));
        all
    }
}

pub(crate) fn vectors() -> Vec<Vector> {
    include_str!("../vectors/documents.txt").split("\n\n").map(Vector).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16).expect("digits"))
        .collect()
}

/// The bytes of an update in the form that `merge` gives to all with the same content.
pub(crate) fn canonical(update: &[u8]) -> Vec<u8> {
    merge(&[parse(update)])
}

pub(crate) fn parse(update: &[u8]) -> Update<'_> {
    Update::parse(update).unwrap_or_else(|error| panic!("{error}: {update:?}"))
}

fn merge_all(updates: &[Vec<u8>]) -> Vec<u8> {
    let updates: Vec<_> = updates.iter().map(|update| parse(update)).collect();
    merge(&updates)
}

#[test]
fn updates_merge_as_yjs_merges_them() {
    for vector in vectors() {
        for (updates, merged) in [("updates", "merged"), ("some", "part")] {
            let mut updates = vector.all(updates);
            let (ours, theirs) = (merge_all(&updates), vector.one(merged));
            assert_eq!(ours, canonical(&theirs));
            assert!(ours.len() <= theirs.len(), "{} bytes, Yjs has {}", ours.len(), theirs.len());
            // The updates may come in any order.
            updates.reverse();
            assert_eq!(merge_all(&updates), ours);
            // The updates may be merged in any groups.
            let groups: Vec<_> = updates.chunks(3).map(merge_all).collect();
            assert_eq!(merge_all(&groups), ours);
        }
    }
}

#[test]
fn state_vectors_are_those_of_yjs() {
    for vector in vectors() {
        let (merged, part) = (vector.one("merged"), vector.one("part"));
        assert_eq!(parse(&merged).state_vector(), vector.state_vector("stateVector"));
        assert_eq!(parse(&part).state_vector(), vector.state_vector("partStateVector"));
        let since = vector.state_vector("since");
        assert_eq!(StateVector::parse(&since.encode()), Ok(since.clone()));
        assert_eq!(since.encode().len(), vector.one("since").len());
    }
}

#[test]
fn differences_are_those_of_yjs() {
    for vector in vectors() {
        let since = vector.state_vector("since");
        let (merged, document) = (vector.one("merged"), vector.one("document"));
        assert_eq!(diff(&parse(&merged), &since), canonical(&vector.one("difference")));
        let ours = diff(&parse(&document), &since);
        assert_eq!(ours, canonical(&vector.one("documentSince")));
        // Cutting off the same clocks once more changes nothing.
        assert_eq!(diff(&parse(&ours), &since), ours);
    }
}

#[test]
fn without_deleted_content_a_document_has_the_same_structs_and_deletions() {
    let mut saved = 0;
    for vector in vectors() {
        for update in [vector.one("document"), merge_all(&vector.all("updates"))] {
            let collected = without_deleted(&parse(&update));
            let [before, after] =
                [&update, &collected].map(|one| Document::of([one.as_slice()]).expect("an update"));
            assert!(after.is_alike(&before));
            assert_eq!(without_deleted(&parse(&collected)), collected, "there is no more to do");
            assert!(collected.len() <= update.len());
            saved += update.len() - collected.len();
            // The content from before the deletions is known, and brings nothing back.
            let again = merge(&[parse(&collected), parse(&update)]);
            assert!(Document::of([again.as_slice()]).expect("an update").is_alike(&before));
        }
    }
    assert!(saved > 100, "{saved}");
}

#[test]
fn deletions_are_those_of_the_document() {
    for vector in vectors() {
        let document = vector.one("document");
        let deleted = parse(&document).delete_set();
        let expected = vector.deletions();
        let ours: Vec<_> =
            deleted.iter().map(|(client, ranges)| (client, ranges.to_vec())).collect();
        assert_eq!(ours, expected);
        // The merge of all updates and of the document has the document's deletions, and no others.
        let all = [vector.all("updates"), vec![document.clone()]].concat();
        assert_eq!(parse(&merge_all(&all)).delete_set(), deleted);
        assert_eq!(deleted.is_empty(), expected.is_empty());
    }
}
