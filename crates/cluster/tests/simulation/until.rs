//! Waits for something in a simulated world.

use std::time::Duration;

use crate::service::Service;
use crate::world::World;

/// Runs until the condition holds: how long that took.
pub(crate) fn until<S: Service>(
    world: &mut World<S>,
    condition: impl Fn(&World<S>) -> bool,
) -> Duration {
    let start = world.now;
    while !condition(world) {
        assert!(world.now - start < Duration::from_secs(60), "it never happens");
        world.run(world.now + Duration::from_millis(10));
    }
    world.now - start
}
