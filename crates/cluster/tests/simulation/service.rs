//! What nodes do with the shards that they own: the part in which simulated worlds differ.

use std::time::Duration;

use groupwire_cluster::{Cursor, Output};

use super::node::ToApply;
use super::world::World;

/// What nodes do with their shards, and who uses it.
pub(crate) trait Service: Sized {
    /// What happens to the service, beside what happens to nodes and engine.
    type Event;
    /// What survives the end of a process.
    type Disk: Default;
    /// What a process has beside the state machine of its node.
    type Process;

    /// Adds clients to a new world.
    fn begin(world: &mut World<Self>);

    /// A process begins with what is on the disk. Returns also the cursors of all shards.
    fn start(disk: &mut Self::Disk, shards: u16) -> (Self::Process, Vec<Cursor>);

    /// The process of a node has ended.
    fn stopped(_world: &mut World<Self>, _node: usize) {}

    /// The nodes that handle an event, which waits while one of them is paused.
    fn nodes_of(&self, event: &Self::Event) -> [Option<usize>; 2];

    fn happen(world: &mut World<Self>, event: Self::Event);

    /// Carries out an output of a node, as far as it concerns the service.
    fn output(world: &mut World<Self>, node: usize, output: &Output);

    /// Carries on what outputs of a node have begun. Returns false if there was nothing.
    fn settle(_world: &mut World<Self>, _node: usize) -> bool {
        false
    }

    /// Applies a record, and tells the node's state machine. `is_saved`: also what was applied
    /// before survives a power cut from now on.
    fn apply(world: &mut World<Self>, node: usize, record: ToApply, is_saved: bool);

    /// Has a node make a base of a shard.
    fn base(world: &mut World<Self>, node: usize, shard: u16);

    /// True if the process has applied all that clients know to be confirmed.
    fn has_confirmed(&self, process: &Self::Process, shard: u16) -> Result<(), String>;

    /// Clients begin nothing new.
    fn stop(world: &mut World<Self>);

    /// Checks the promises, when all nodes had time to read everything. `until`: when clients
    /// stopped.
    fn end(world: &mut World<Self>, until: Duration);
}
