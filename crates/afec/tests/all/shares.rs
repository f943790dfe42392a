//! Channels that share a path of limited rate.

use std::time::Duration;

use groupwire_afec::{Config, Order};
use groupwire_sim::{Capacity, LinkConfig, Queue};

use crate::support::{World, losing, pointer};

const POINTER: u32 = 1;
const STROKE: u32 = 2;
const NEVER_USED: u32 = 3;

/// Opens the channels of a drawing program.
fn open(world: &mut World) {
    world.open(POINTER, pointer(Order::Newest));
    world.open(STROKE, pointer(Order::AsTheyCome));
    world.open(NEVER_USED, pointer(Order::AsTheyCome));
}

/// Sends on these channels 25 times a second. Returns how many of the pointer's messages came in
/// each second.
fn work(world: &mut World, seconds: u64, channels: &[u32]) -> Vec<usize> {
    let second = |world: &mut World| {
        world.delivered.clear();
        for _ in 0..25 {
            channels.iter().for_each(|channel| world.send(0, *channel, 0));
            world.run(world.now + Duration::from_millis(40));
        }
        world.delivered.iter().filter(|message| message.channel == POINTER).count()
    };
    (0..seconds).map(|_| second(world)).collect()
}

#[test]
fn channels_that_send_nothing_take_no_rate_from_others() {
    let mut world = World::new(Config::default(), &losing(0.0), 1);
    open(&mut world);
    work(&mut world, 3, &[POINTER, STROKE]);
    // A message of the pointer has 20 bytes and about 35 of headers.
    world.ends[0].set_transport_rate(Some(1500));
    let came = work(&mut world, 8, &[POINTER]);
    assert!(came[4..].iter().all(|count| *count >= 20), "{came:?}");
}

#[test]
fn a_pointer_is_fast_again_soon_after_the_path_was_narrow() {
    let mut world = World::new(Config::default(), &losing(0.0), 1);
    open(&mut world);
    work(&mut world, 3, &[POINTER, STROKE]);
    let narrow = LinkConfig {
        capacity: Capacity::kbit(12.0),
        queue: Queue::Time(Duration::from_secs(1)),
        ..losing(0.0)
    };
    world.change_path(&narrow);
    work(&mut world, 3, &[POINTER, STROKE]);
    world.change_path(&losing(0.0));
    let came = work(&mut world, 20, &[POINTER]);
    assert!(came[10..].iter().all(|count| *count >= 23), "{came:?}");
}
