//! Situations by name, without chance faults.

use std::time::Duration;

use groupwire_cluster::{MAX_PAYLOAD, MAX_QUEUED, ProposeError, VERSION, crc32c};
use oorandom::Rand64;

use super::Payloads;
use crate::faults::Weather;
use crate::service::Service;
use crate::until::until;

type World = crate::world::World<Payloads>;

fn calm(shards: u16, nodes: u64) -> World {
    let service = Payloads::default();
    let mut world = World::with(service, Rand64::new(7), Weather::calm(), shards, nodes);
    world.run(Duration::from_secs(20));
    world
}

/// The shards that a node owns.
fn owned(world: &World, node: usize) -> usize {
    let process = world.nodes[node].process.as_ref();
    process.map_or(0, |process| process.owned.iter().flatten().count())
}

fn all_owned(world: &World) -> usize {
    (0..world.nodes.len()).map(|node| owned(world, node)).sum()
}

#[test]
fn shards_are_spread_and_a_crash_is_over_within_six_seconds() {
    let mut world = calm(64, 3);
    assert_eq!(all_owned(&world), 64);
    for node in 0..3 {
        assert!((10..35).contains(&owned(&world, node)), "{}", owned(&world, node));
    }
    world.kill(0, 60_000..60_001);
    let took = until(&mut world, |world| all_owned(world) == 64);
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[test]
fn a_drained_node_hands_its_shards_over_one_by_one() {
    let mut world = calm(64, 3);
    let before = owned(&world, 1);
    let now = world.nodes[1].now(world.now);
    world.nodes[1].running().cluster.drain(now);
    world.turn(1);
    let took = until(&mut world, |world| owned(world, 1) == 0 && all_owned(world) == 64);
    let process = world.nodes[1].process.as_ref().expect("it runs");
    assert!(process.cluster.is_drained());
    let each = took / u32::try_from(before).expect("a few");
    assert!(each < Duration::from_millis(100), "{each:?} for each of {before} shards");
}

#[test]
fn a_node_that_comes_and_goes_moves_nothing() {
    let mut world = calm(8, 3);
    world.kill(0, 30_000..30_001);
    until(&mut world, |world| all_owned(world) == 8);
    world.run(world.now + Duration::from_secs(30));
    for _ in 0..5 {
        assert_eq!(owned(&world, 0), 0);
        world.kill(0, 100..101);
        world.run(world.now + Duration::from_secs(9));
    }
    until(&mut world, |world| owned(world, 0) > 0);
}

#[test]
fn of_two_servers_with_one_name_the_newer_one_is_refused() {
    let mut world = calm(4, 2);
    let name = world.nodes[0].name.clone();
    let before = owned(&world, 0);
    let double = world.add_node(name, false);
    let is_refused = |world: &World, node: usize| {
        world.nodes[node].process.as_ref().is_some_and(|process| process.refused)
    };
    let took = until(&mut world, |world| is_refused(world, double));
    assert!(took < Duration::from_secs(6), "{took:?}");
    assert!(!is_refused(&world, 0));
    assert_eq!((owned(&world, 0), owned(&world, double)), (before, 0));
}

#[test]
fn a_new_node_begins_behind_the_trim() {
    let mut world = calm(1, 1);
    for _ in 0..3 {
        Payloads::base(&mut world, 0, 0);
        world.turn(0);
        world.run(world.now + Duration::from_secs(3));
    }
    assert!(!world.engine.logs[0].trimmed.is_empty());
    let new = world.add_node("node-new".into(), false);
    world.run(world.now + Duration::from_secs(5));
    let applied = |node: usize| {
        world.nodes[node].process.as_ref().expect("it runs").service.state[0].applied.len()
    };
    assert!(applied(new) + 10 > applied(0), "{} of {}", applied(new), applied(0));
    assert_eq!(world.checker.reported[0], None);
}

#[test]
fn a_node_that_finds_its_records_lost_says_so_though_a_base_is_there() {
    let mut world = calm(1, 2);
    let owner = if owned(&world, 0) == 1 { 0 } else { 1 };
    world.kill(owner, 40_000..40_001);
    let lost = world.now - Duration::from_secs(1);
    world.engine.logs[0].lose_tail(lost, world.now);
    // The other node had read what was lost, too, so it begins anew.
    world.nodes[1 - owner].disk = Default::default();
    world.kill(1 - owner, 0..1);
    until(&mut world, |world| owned(world, 1 - owner) == 1);
    world.run(world.now + Duration::from_secs(10));
    Payloads::base(&mut world, 1 - owner, 0);
    world.turn(1 - owner);
    assert_eq!(world.checker.reported[0], None);
    until(&mut world, |world| world.checker.reported[0].is_some());
    assert_eq!(world.counts.mended, 0);
    catches_up(&mut world, owner);
    assert_eq!(world.counts.mended, 1);
}

/// The owner had not read what was lost, and cannot know that it serves less than was confirmed.
#[test]
fn a_log_is_mended_for_a_node_that_has_what_was_lost() {
    let mut world = calm(1, 2);
    let owner = if owned(&world, 0) == 1 { 0 } else { 1 };
    world.kill(1 - owner, 20_000..20_001);
    world.run(world.now + Duration::from_secs(10));
    world.kill(owner, 30_000..30_001);
    let lost = world.now - Duration::from_secs(5);
    world.engine.logs[0].lose_tail(lost, world.now);
    until(&mut world, |world| owned(world, 1 - owner) == 1);
    assert_eq!((world.counts.mended, world.checker.reported[0]), (0, None));
    until(&mut world, |world| world.counts.mended == 1);
    catches_up(&mut world, owner);
    world.run(world.now + Duration::from_secs(20));
    assert_eq!(world.counts.mended, 1);
}

/// A log that lost its tail grows again, and a claim that was made behind the lost records lands at
/// the sequence that it expects. Its writer goes on from what was lost, and nobody from what was
/// confirmed since.
#[test]
fn a_log_is_mended_for_a_node_from_which_others_have_not_gone_on() {
    let mut collisions = 0;
    for lost_ms in (200..3000).step_by(100) {
        let mut world = calm(1, 2);
        let first = if owned(&world, 0) == 1 { 0 } else { 1 };
        let second = 1 - first;
        world.kill(first, 10_000..10_001);
        until(&mut world, |world| owned(world, second) == 1);
        world.run(world.now + Duration::from_secs(5));
        world.kill(second, 5_000..5_001);
        let lost = world.now - Duration::from_millis(lost_ms);
        let end = world.engine.logs[0].last(Duration::MAX);
        world.engine.logs[0].lose_tail(lost, world.now);
        until(&mut world, |world| owned(world, first) == 1);
        while world.engine.logs[0].last(Duration::MAX) < end {
            world.run(world.now + Duration::from_millis(1));
        }
        if world.engine.logs[0].last(Duration::MAX) > end {
            continue;
        }
        Payloads::stop(&mut world);
        world.run(world.now + Duration::from_secs(10));
        if owned(&world, second) == 0 {
            continue;
        }
        collisions += 1;
        Payloads::go_on(&mut world);
        until(&mut world, |world| world.counts.mended > 0);
        catches_up(&mut world, first);
        world.run(world.now + Duration::from_secs(40));
        assert_eq!(world.counts.mended, 1);
        if collisions == 2 {
            return;
        }
    }
    assert!(collisions > 0, "no claim landed behind other records than it was made for");
}

/// A node applies as much as the other one within seconds.
fn catches_up(world: &mut World, node: usize) {
    until(world, |world| {
        let applied = |node: usize| {
            let process = world.nodes[node].process.as_ref();
            process.map_or(0, |process| process.service.state[0].applied.len())
        };
        applied(node).abs_diff(applied(1 - node)) < 10
    });
}

/// All machines lost power, and the engine had not synced what the nodes have.
#[test]
fn a_tail_that_is_lost_while_no_node_runs_is_mended_with_what_the_nodes_applied() {
    let mut world = calm(1, 3);
    // One node starts later, when the others have noticed the loss.
    (0..3).for_each(|node| world.kill(node, [1, 500, 15_000][node]..[2, 501, 15_001][node]));
    let applied = world.nodes.iter().map(|node| node.disk.states[0].applied.clone());
    let most = applied.max_by_key(Vec::len).expect("three nodes");
    let lost = world.now - Duration::from_secs(10);
    world.engine.logs[0].lose_tail(lost, world.now);
    assert!(world.engine.logs[0].entries.len() < most.len(), "nothing was lost");
    world.run(world.now + Duration::from_secs(100));
    assert_eq!(all_owned(&world), 1);
    for node in &world.nodes {
        assert!(
            node.disk.states[0].applied.starts_with(&most),
            "{} dropped what it had",
            node.name
        );
    }
}

/// The checksum is right, and only the version is not known.
#[test]
fn a_log_of_a_newer_version_ends_a_node_and_keeps_what_it_has() {
    let mut world = calm(1, 2);
    let owner = if owned(&world, 0) == 1 { 0 } else { 1 };
    let mut newer = world.engine.logs[0].entries.last().expect("a claim").entry.bytes.clone();
    newer.truncate(newer.len() - 4);
    newer[0] = VERSION + 1;
    newer.extend(crc32c(&newer).to_le_bytes());
    world.engine.logs[0].put(newer.clone(), world.now);
    let is_refused = |world: &World, node: usize| {
        world.nodes[node].process.as_ref().is_some_and(|it| it.refused)
    };
    until(&mut world, |world| is_refused(world, 0) && is_refused(world, 1));
    assert_eq!(owned(&world, owner), 0);
    let applied =
        world.nodes.iter().map(|node| node.disk.states[0].applied.len()).collect::<Vec<_>>();
    world.run(world.now + Duration::from_secs(30));
    assert_eq!(world.engine.logs[0].entries.last().expect("it is there").entry.bytes, newer);
    for (node, applied) in world.nodes.iter().zip(applied) {
        assert!(node.disk.states[0].applied.len() >= applied);
    }
}

#[test]
fn proposals_that_wait_have_a_limit() {
    let mut world = calm(1, 1);
    let now = world.nodes[0].now(world.now);
    let cluster = &mut world.nodes[0].running().cluster;
    let refused = (0..).find_map(|count| Some((count, cluster.propose(0, vec![1], now).err()?)));
    let (count, error) = refused.expect("there is a limit");
    assert_eq!(error, ProposeError::NotNow);
    assert!(count <= MAX_QUEUED + 1, "{count}");
    assert_eq!(cluster.propose(0, Vec::new(), now), Err(ProposeError::Size));
    assert_eq!(cluster.propose(1, vec![1], now), Err(ProposeError::NotOwner));
}

/// The engine would refuse such a base for ever, and the shard would append nothing else.
#[test]
fn a_base_that_is_too_large_holds_nothing_up() {
    let mut world = calm(1, 1);
    let now = world.nodes[0].now(world.now);
    let process = world.nodes[0].running();
    let (cursor, applied) =
        (process.service.state[0].cursor.clone(), process.service.state[0].applied.len());
    let state = vec![0; MAX_PAYLOAD + 1];
    assert_eq!(process.cluster.base(0, cursor, state, now), Err(ProposeError::Size));
    until(&mut world, |world| {
        world.nodes[0].process.as_ref().expect("it runs").service.state[0].applied.len()
            > applied + 10
    });
}

#[test]
fn an_owner_is_silent_after_a_pause_until_its_log_answers() {
    let mut world = calm(1, 2);
    let owner = if owned(&world, 0) == 1 { 0 } else { 1 };
    // Cut off and paused: nobody can tell it that another node has taken over.
    world.nodes[owner].cut = (true, true);
    world.pause_for(owner, Duration::from_secs(4));
    world.run(world.now + Duration::from_millis(4001));
    world.turn(owner);
    assert_eq!(owned(&world, owner), 0);
    until(&mut world, |world| owned(world, 1 - owner) == 1);
    world.nodes[owner].cut = (false, false);
    world.run(world.now + Duration::from_secs(3));
    let process = world.nodes[owner].process.as_ref().expect("it runs");
    let names = process.cluster.owner(0).map(|owner| owner.node.as_str().to_owned());
    assert_eq!(names.as_ref(), Some(&world.nodes[1 - owner].name));
}
