//! Clients, their networks and their server in simulated time.

mod connection;
mod log;
mod path;
mod random;
mod server;
mod shared;
mod simulation;
mod state;
mod tasks;
mod world;

pub use groupwire_session::Identity;
pub use path::{Conditions, Direction};
pub use server::{Restart, Settings};
pub use shared::Advanced;
pub use simulation::{Join, Member, Simulation, SimulationOptions, Stuck};
pub use state::Identify;
