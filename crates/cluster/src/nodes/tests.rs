extern crate std;

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn nodes(incarnation: u64) -> Nodes {
    Nodes::new(&Config {
        node: name("me"),
        address: vec![],
        incarnation,
        shards: 1,
        timing: Timing::default(),
    })
}

fn name(name: &str) -> NodeName {
    NodeName::new(name).expect("a short name")
}

fn listed(name: &str, revision: u64, incarnation: u64, count: u64) -> ListedBeat {
    let beat = Beat { incarnation, count, draining: false, address: vec![], unfit: vec![] };
    ListedBeat { node: name.to_string(), revision, bytes: beat.to_bytes() }
}

#[test]
fn a_node_that_comes_moves_only_shards_to_itself() {
    let names: Vec<_> = (0..10).map(|index| name(&format!("node-{index}"))).collect();
    let best = |shard, count| names[..count].iter().max_by_key(|name| score(shard, name));
    let mut moved = 0;
    for shard in 0..1000 {
        let (before, after) = (best(shard, 9), best(shard, 10));
        assert!(before == after || after == names.last());
        moved += usize::from(before != after);
    }
    assert!((60..140).contains(&moved), "{moved} of 1000");
}

#[test]
fn a_node_lives_while_its_beat_changes() {
    let mut nodes = nodes(1);
    for second in 0..10 {
        // The other node beats until the fifth second.
        nodes.list(vec![listed("other", second.min(5), 2, second.min(5))], SECOND * second as u32);
        assert_eq!(nodes.live().count(), usize::from(second < 8), "{second}");
    }
    nodes.list(vec![listed("other", 6, 2, 6)], SECOND * 20);
    assert_eq!(nodes.live().count(), 1);
    nodes.list(vec![], SECOND * 21);
    assert_eq!(nodes.live().count(), 0);
}

#[test]
fn a_name_whose_process_died_is_taken_over() {
    let mut nodes = nodes(1);
    for second in 0..4 {
        assert!(!nodes.may_beat());
        nodes.list(vec![listed("me", 40, 2, 40)], SECOND * second);
    }
    assert!(nodes.may_beat() && !nodes.is_taken());
}

#[test]
fn a_name_whose_process_lives_is_not_taken_over() {
    let mut nodes = nodes(1);
    for second in 0..5 {
        nodes.list(vec![listed("me", 40 + second, 2, 40 + second)], SECOND * second as u32);
    }
    assert!(nodes.is_taken() && !nodes.may_beat());
}

#[test]
fn a_name_is_taken_over_though_replicas_list_beats_of_the_dead_process_late() {
    let mut nodes = nodes(1);
    for (second, count) in [38, 40, 38, 41, 40, 38, 40].into_iter().enumerate() {
        nodes.list(vec![listed("me", count, 2, count)], SECOND * second as u32);
        assert!(!nodes.is_taken());
    }
    assert!(nodes.may_beat());
}

#[test]
fn a_dead_node_does_not_live_by_older_beats_that_a_replica_lists() {
    let mut nodes = nodes(1);
    for second in 0..8 {
        let (incarnation, count) = [(2, 90), (3, 5), (3, 4)][second % 3];
        nodes.list(
            vec![listed("other", 100 * incarnation, incarnation, count)],
            SECOND * second as u32,
        );
    }
    assert_eq!(nodes.live().count(), 0);
}

#[test]
fn of_two_that_beat_the_one_with_fewer_beats_ends() {
    for (own, foreign, is_taken) in [(5, 50, true), (50, 5, false)] {
        let mut nodes = nodes(1);
        nodes.list(vec![], Duration::ZERO);
        for second in 1..7 {
            nodes.beats = own + second;
            let beat = listed("me", 100 + second, 2, foreign + second);
            nodes.list(vec![beat], SECOND * second as u32);
        }
        assert_eq!(nodes.is_taken(), is_taken);
    }
}

#[test]
fn a_late_beat_of_a_process_before_ends_nothing() {
    let mut nodes = nodes(1);
    nodes.list(vec![], Duration::ZERO);
    nodes.beats = 1;
    for second in 1..6 {
        nodes.list(vec![listed("me", 100 + second, 2, 900)], SECOND * second as u32);
    }
    assert!(nodes.may_beat());
}
