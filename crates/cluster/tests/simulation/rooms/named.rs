//! Situations by name, without chance faults.

use std::time::Duration;

use groupwire_session::client::Status;
use oorandom::Rand64;

use super::{ROOMS, Rooms};
use crate::faults::Weather;
use crate::service::Service;
use crate::until::until;
use crate::world::Event as WorldEvent;

type World = crate::world::World<Rooms>;

/// A world of one shard, in which everybody is connected.
fn calm(nodes: u64) -> World {
    let mut world = World::with(Rooms::default(), Rand64::new(7), Weather::calm(), 1, nodes);
    world.run(Duration::from_secs(20));
    assert!(all_connected(&world));
    world
}

fn owner(world: &World) -> Option<usize> {
    let owns = |node: &crate::node::Node<Rooms>| {
        node.process.as_ref().is_some_and(|process| process.owned[0].is_some())
    };
    world.nodes.iter().position(owns)
}

fn all_connected(world: &World) -> bool {
    world.service.people.iter().all(|person| person.status == Status::Connected)
}

/// Lets everything settle, and checks all promises.
fn end(world: &mut World) {
    let until = world.now;
    Rooms::stop(world);
    world.run(world.now + Duration::from_secs(5));
    Rooms::end(world, until);
}

#[test]
fn people_of_a_server_that_crashed_are_back_within_six_seconds() {
    let mut world = calm(3);
    let before = owner(&world).expect("the shard has an owner");
    world.kill(before, 60_000..60_001);
    world.run(world.now + Duration::from_millis(100));
    assert!(!all_connected(&world));
    let took = until(&mut world, all_connected);
    assert!(took < Duration::from_secs(6), "{took:?}");
    assert_ne!(owner(&world), Some(before));
    world.run(world.now + Duration::from_secs(60));
    end(&mut world);
}

#[test]
fn people_of_a_server_that_is_drained_are_back_within_two_seconds() {
    let mut world = calm(3);
    let before = owner(&world).expect("the shard has an owner");
    world.drain(before);
    until(&mut world, |world| owner(world).is_some_and(|owner| owner != before));
    let took = until(&mut world, all_connected);
    assert!(took < Duration::from_secs(2), "{took:?}");
    world.run(world.now + Duration::from_secs(30));
    end(&mut world);
}

/// The claim of the shard is in a part of the log that the new server never reads.
#[test]
fn a_server_that_begins_from_a_base_passes_clients_on() {
    let mut world = calm(2);
    let owner = owner(&world).expect("the shard has an owner");
    for _ in 0..3 {
        Rooms::base(&mut world, owner, 0);
        world.turn(owner);
        world.run(world.now + Duration::from_secs(3));
    }
    assert!(!world.engine.logs[0].trimmed.is_empty());
    let new = world.add_node("node-new".into(), false);
    until(&mut world, |world| world.counts.loaded > 0);
    world.service.balancer = Some(new);
    let person = world.enter(0);
    let took = until(&mut world, |world| world.service.people[person].status == Status::Connected);
    assert!(took < Duration::from_secs(5), "{took:?}");
    world.run(world.now + Duration::from_secs(30));
    end(&mut world);
}

/// The server that takes over has not read what was lost, and serves less than was confirmed. It
/// learns that from the one that was the owner before.
#[test]
fn people_who_saw_what_the_engine_lost_are_told_of_a_gap() {
    let mut world = calm(2);
    let before = owner(&world).expect("the shard has an owner");
    world.kill(1 - before, 20_000..20_001);
    world.run(world.now + Duration::from_secs(10));
    world.kill(before, 30_000..30_001);
    let lost = world.now - Duration::from_secs(5);
    world.engine.logs[0].lose_tail(lost, world.now);
    until(&mut world, |world| owner(world) == Some(1 - before));
    until(&mut world, |world| world.counts.mended > 0);
    until(&mut world, |world| world.service.people.iter().all(|person| person.gaps > 0));
    world.run(world.now + Duration::from_secs(30));
    end(&mut world);
}

/// It would have another incarnation, so that clients would be told of a gap though nothing was
/// lost.
#[test]
fn a_server_that_lost_its_shard_shows_nobody_a_new_room() {
    let mut world = calm(2);
    let before = owner(&world).expect("the shard has an owner");
    let after = 1 - before;
    world.nodes[before].cut = (true, true);
    until(&mut world, |world| {
        world.nodes[after].process.as_ref().is_some_and(|process| process.owned[0].is_some())
    });
    assert_eq!(owner(&world).map(|_| world.nodes[before].process.is_some()), Some(true));
    // A room that only the new owner can have stored.
    world.service.balancer = Some(after);
    let person = world.enter(ROOMS);
    until(&mut world, |world| !world.service.people[person].confirmed.is_empty());
    let owns = world.nodes[before].running().owned[0].is_some();
    assert!(owns, "the owner before knows already that it is none");
    world.service.balancer = Some(before);
    let link = world.service.people[person].link.expect("it is connected");
    world.cut_link(link);
    world.run(world.now + Duration::from_secs(10));
    assert_eq!(world.service.people[person].gaps, 0);
    world.service.balancer = None;
    world.at(world.now, WorldEvent::Heal { node: before });
    until(&mut world, all_connected);
    assert_eq!(world.service.people[person].gaps, 0);
}
