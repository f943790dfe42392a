//! Documents of updates that come in any order, and more than once.

use groupwire_yjs::{Document, StateVector, Update, diff, merge};
use oorandom::Rand32;

use crate::vectors::{canonical, parse, vectors};

/// Adds what is new in an update, as a server does. Returns whether something was.
fn take(document: &mut Document, update: &[u8]) -> bool {
    let Some(news) = document.news(&parse(update)) else { return false };
    assert!(news.len() <= update.len() + 16, "{} of {}", news.len(), update.len());
    document.add(news).expect("what is new is an update");
    assert_eq!(document.news(&parse(update)), None, "it is there now");
    true
}

fn whole(document: &mut Document) -> Vec<u8> {
    document.diff(&StateVector::default())
}

#[test]
fn updates_in_any_order_and_repeated_make_the_same_document() {
    let mut random = Rand32::new(11);
    for vector in vectors() {
        let updates = vector.all("updates");
        let expected = canonical(&vector.one("merged"));
        for _ in 0..4 {
            let mut below = |limit: usize| random.rand_range(0..limit as u32) as usize;
            let mut order: Vec<_> = (0..updates.len()).collect();
            (1..order.len()).rev().for_each(|at| order.swap(at, below(at + 1)));
            let mut document = Document::default();
            for &at in &order {
                take(&mut document, &updates[at]);
                // A client repeats an update, or sends what several others have sent.
                let (one, other) = (below(updates.len()), below(updates.len()));
                take(&mut document, &merge(&[parse(&updates[one]), parse(&updates[other])]));
                if below(4) == 0 {
                    document.merge();
                }
            }
            for update in &updates {
                assert!(!take(&mut document, update), "everything is there");
            }
            assert_eq!(document.state_vector(), parse(&expected).state_vector());
            let again = Document::of(updates.iter().map(Vec::as_slice)).expect("updates");
            assert!(document.is_alike(&again) && again.is_alike(&document));
            assert_eq!(whole(&mut document), expected);
            let since = again.state_vector();
            assert_eq!(document.diff(&since), diff(&parse(&expected), &since));
            assert_eq!(document.size(), document.merge().len());
        }
    }
}

#[test]
fn whoever_is_sent_what_is_new_has_everything() {
    for vector in vectors() {
        // The part has a gap, and the rest comes in one update.
        let (part, all) = (vector.one("part"), vector.one("merged"));
        let mut document = Document::default();
        take(&mut document, &part);
        let news = document.news(&parse(&all)).expect("something is missing");
        assert_eq!(merge(&[parse(&part), parse(&news)]), canonical(&all));
    }
}

#[test]
fn deletions_that_are_there_are_not_news() {
    // Client 1 wrote "hi" into the text "t", and deleted the "h".
    let update = [1, 1, 1, 0, 4, 1, 1, b't', 2, b'h', b'i', 1, 1, 1, 0, 1];
    let mut document = Document::default();
    assert!(take(&mut document, &update));
    // This update deletes both letters, and changes nothing else.
    let both = [1, 1, 1, 0, 4, 1, 1, b't', 2, b'h', b'i', 1, 1, 1, 0, 2];
    let news = document.news(&parse(&both)).expect("a deletion is new");
    assert_eq!(news, [0, 1, 1, 1, 1, 1]);
    // A letter that follows, with a deletion that is known.
    let more = [1, 1, 1, 2, 0x84, 1, 1, 1, b'!', 1, 1, 1, 0, 1];
    let news = document.news(&parse(&more)).expect("a letter is new");
    assert_eq!(news, [1, 1, 1, 2, 0x84, 1, 1, 1, b'!', 0]);
}

#[test]
fn an_empty_document_answers_and_scattered_updates_are_merged_now_and_then() {
    let mut document = Document::default();
    assert_eq!(whole(&mut document), [0, 0]);
    assert_eq!(document.state_vector(), StateVector::default());
    let mut merges = 0;
    for clock in 0..10_000_u64 {
        let mut update = vec![1, 1, 1];
        update.extend([clock as u8 | 0x80, (clock >> 7) as u8]);
        match clock {
            0 => update.extend([4, 1, 1, b't', 1, b'a', 0]),
            _ => update.extend([0, 1, 0]),
        }
        if clock < 128 {
            update[3] &= 0x7f;
            update.remove(4);
        }
        assert!(take(&mut document, &update), "{clock}");
        if document.is_scattered() {
            document.merge();
            merges += 1;
        }
    }
    assert!((5..20).contains(&merges), "{merges}");
    let all = whole(&mut document);
    assert_eq!(Update::parse(&all).expect("an update").state_vector().get(1), 10_000);
    assert!(document.memory() >= document.size());
    assert!(Document::of([&[1_u8][..]]).is_err() && document.add(vec![1]).is_err());
}
