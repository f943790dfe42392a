use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use crate::limits::MAX_STATES;
use crate::message::State;

/// A server's view of the awareness of a document: the newest state of each client, and the
/// connection that it came from.
///
/// A client's state belongs to the connection that sent it first, as long as that connection lasts:
/// no other one changes it. When it ends, the server says that its clients have left, at the clock
/// of their last state, so that a client that returns can go on from there.
///
/// ```
/// use groupwire_yjs::{Awareness, State};
///
/// let mut awareness = Awareness::default();
/// let ada = State { client: 7, clock: 1, json: Some(r#"{"name":"Ada"}"#) };
/// let applied = awareness.apply(1, &[ada])?;
/// assert_eq!(applied.changed, [7]);
/// // Another connection passes on what it has received, or claims to be the same client.
/// assert!(awareness.apply(2, &[ada, State { clock: 9, ..ada }])?.changed.is_empty());
/// assert_eq!(awareness.leave(1).gone, [7]);
/// assert_eq!(awareness.states([7]).collect::<Vec<_>>(), [State { json: None, ..ada }]);
/// # Ok::<(), groupwire_yjs::TooManyStates>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Awareness {
    clients: BTreeMap<u64, Known>,
    /// Clients that have left, in the order of their departures, with the number of the departure.
    left: VecDeque<(u64, u64)>,
    departures: u64,
    /// The bytes of all states.
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Known {
    clock: u64,
    presence: Presence,
}

#[derive(Debug, Clone)]
enum Presence {
    Here {
        json: String,
        /// The connection that the state belongs to.
        owner: u64,
        /// Another connection that sent a newer state, which was ignored, and the clock of that
        /// state: the client's earlier connection may have broken without a sign.
        claim: Option<(u64, u64)>,
    },
    Left {
        /// The number of the departure.
        departure: u64,
    },
}

/// The effects of states that a connection sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The clients whose state has changed, or was renewed: tell all connections.
    pub changed: Vec<u64>,
    /// Clients that have left, although the sender sent a state for them. The correction goes to
    /// the sender alone. A client that receives its own removal sends its state again.
    pub corrected: Vec<u64>,
}

/// The effects of the end of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Departed {
    /// The clients that have left: tell all connections.
    pub gone: Vec<u64>,
    /// Connections that have to say again that a client is there.
    pub recalled: Vec<Recall>,
}

/// A connection that has to be told that a client has left, so that it says that the client is
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recall {
    /// The connection.
    pub connection: u64,
    /// The client.
    pub client: u64,
    /// The clock of the state that the connection sent last.
    pub clock: u64,
}

/// There are more states than a document may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("awareness has more states than permitted")]
pub struct TooManyStates;

/// The most bytes of all states of a document together.
const MAX_BYTES: usize = 16 << 20;

/// Clocks up to this are believed. Clients count their changes, or take the time in microseconds.
const MAX_CLOCK: u64 = 1 << 52;

/// Above [`MAX_CLOCK`], a clock may be greater than the last one of its client by this. A client
/// that returns goes on from its last clock. So whoever pretends to be somebody else cannot use up
/// all clocks before: that takes 2^28 states.
const MAX_STEP: u64 = 1 << 24;

impl Awareness {
    /// Takes the states that a connection sends. States that are not newer, states of other
    /// connections' clients, and clocks to which nobody counts change nothing.
    ///
    /// # Errors
    /// There would be too many states; those before were taken.
    pub fn apply(
        &mut self,
        connection: u64,
        states: &[State<'_>],
    ) -> Result<Applied, TooManyStates> {
        let mut applied = Applied::default();
        for state in states {
            self.apply_one(connection, state, &mut applied)?;
        }
        Ok(applied)
    }

    fn apply_one(
        &mut self,
        connection: u64,
        state: &State<'_>,
        applied: &mut Applied,
    ) -> Result<(), TooManyStates> {
        let &State { client, clock, json } = state;
        let length = json.map_or(0, str::len);
        let last = self.clients.get(&client).map_or(0, |known| known.clock);
        if clock > last.max(MAX_CLOCK) + MAX_STEP {
            return Ok(());
        }
        let is_full = self.clients.len() - self.left.len() >= MAX_STATES;
        let before = match self.clients.get_mut(&client) {
            // The client is unknown, so nobody has to be told that it has left.
            None if json.is_none() => return Ok(()),
            None if is_full => return Err(TooManyStates),
            None => 0,
            Some(known) => match &mut known.presence {
                Presence::Here { owner, claim, .. } if *owner != connection => {
                    if clock > known.clock && json.is_some() {
                        *claim = Some((connection, clock));
                    }
                    return Ok(());
                }
                Presence::Here { json: before, .. } => {
                    if clock < known.clock || clock == known.clock && json.is_some() {
                        return Ok(());
                    }
                    before.len()
                }
                Presence::Left { .. } => {
                    if clock <= known.clock {
                        if json.is_some() {
                            applied.corrected.push(client);
                        }
                        return Ok(());
                    }
                    if is_full && json.is_some() {
                        return Err(TooManyStates);
                    }
                    0
                }
            },
        };
        if self.bytes - before + length > MAX_BYTES {
            return Err(TooManyStates);
        }
        self.bytes = self.bytes - before + length;
        let presence = match json {
            Some(json) => {
                self.forget_departure(client);
                Presence::Here { json: json.to_owned(), owner: connection, claim: None }
            }
            None => self.departure(client),
        };
        self.clients.insert(client, Known { clock, presence });
        applied.changed.push(client);
        self.trim();
        Ok(())
    }

    /// A connection has ended: its clients have left.
    pub fn leave(&mut self, connection: u64) -> Departed {
        let mut departed = Departed::default();
        let mut freed = 0;
        for (&client, known) in &self.clients {
            let Presence::Here { json, owner, claim } = &known.presence else { continue };
            if *owner != connection {
                continue;
            }
            departed.gone.push(client);
            freed += json.len();
            let claim = claim.filter(|(by, _)| *by != connection);
            departed.recalled.extend(claim.map(|(by, clock)| Recall {
                connection: by,
                client,
                clock,
            }));
        }
        self.bytes -= freed;
        for &client in &departed.gone {
            let presence = self.departure(client);
            if let Some(known) = self.clients.get_mut(&client) {
                known.presence = presence;
            }
        }
        self.trim();
        departed
    }

    /// The states of these clients.
    pub fn states(
        &self,
        clients: impl IntoIterator<Item = u64>,
    ) -> impl Iterator<Item = State<'_>> {
        clients.into_iter().filter_map(|client| Some(state(client, self.clients.get(&client)?)))
    }

    /// The states of all clients that are there.
    pub fn here(&self) -> impl Iterator<Item = State<'_>> {
        self.all().filter(|state| state.json.is_some())
    }

    /// The states of all clients that are known, those included that have left.
    pub fn all(&self) -> impl Iterator<Item = State<'_>> {
        self.clients.iter().map(|(&client, known)| state(client, known))
    }

    /// An estimate of the bytes of memory that the awareness takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes + 100 * self.clients.len()
    }

    /// Notes that a client leaves.
    fn departure(&mut self, client: u64) -> Presence {
        self.forget_departure(client);
        self.departures += 1;
        self.left.push_back((client, self.departures));
        Presence::Left { departure: self.departures }
    }

    /// Removes a client from those that have left.
    fn forget_departure(&mut self, client: u64) {
        let Some(Presence::Left { departure }) = self.clients.get(&client).map(|one| &one.presence)
        else {
            return;
        };
        // Departures are in order.
        if let Ok(at) = self.left.binary_search_by_key(departure, |(_, departure)| *departure) {
            self.left.remove(at);
        }
    }

    /// Forgets the clients that left longest ago, if there are many.
    fn trim(&mut self) {
        while self.left.len() > MAX_STATES {
            if let Some((client, _)) = self.left.pop_front() {
                self.clients.remove(&client);
            }
        }
    }
}

fn state(client: u64, known: &Known) -> State<'_> {
    let json = match &known.presence {
        Presence::Here { json, .. } => Some(json.as_str()),
        Presence::Left { .. } => None,
    };
    State { client, clock: known.clock, json }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_NUMBER;

    fn state(client: u64, clock: u64, json: Option<&str>) -> State<'_> {
        State { client, clock, json }
    }

    const JSON: Option<&str> = Some("{}");

    fn changed(awareness: &mut Awareness, connection: u64, one: State<'_>) -> bool {
        !awareness.apply(connection, &[one]).unwrap().changed.is_empty()
    }

    #[test]
    fn what_is_not_newer_or_belongs_to_another_connection_changes_nothing() {
        let mut awareness = Awareness::default();
        assert!(!changed(&mut awareness, 1, state(7, 3, None)), "nobody has heard of it");
        assert!(changed(&mut awareness, 1, state(7, 3, JSON)));
        assert!(!changed(&mut awareness, 1, state(7, 3, Some("[1]"))), "not newer");
        assert!(!changed(&mut awareness, 2, state(7, 9, Some("[1]"))), "another's");
        assert!(!changed(&mut awareness, 2, state(7, 9, None)), "another's");
        assert!(changed(&mut awareness, 1, state(7, 4, Some("[2]"))));
        assert_eq!(awareness.here().collect::<Vec<_>>(), [state(7, 4, Some("[2]"))]);
        assert!(changed(&mut awareness, 1, state(7, 4, None)), "it leaves at the same clock");
        assert!(!changed(&mut awareness, 1, state(7, 4, None)));
        assert!(changed(&mut awareness, 2, state(7, 5, JSON)), "it is nobody's now");
    }

    #[test]
    fn a_departure_has_the_same_clock_and_who_is_back_is_told_of_it() {
        let mut awareness = Awareness::default();
        assert!(changed(&mut awareness, 1, state(7, 3, JSON)));
        assert!(changed(&mut awareness, 2, state(8, 1, JSON)));
        assert_eq!(awareness.leave(1), Departed { gone: [7].into(), recalled: Vec::new() });
        assert_eq!(awareness.all().collect::<Vec<_>>(), [state(7, 3, None), state(8, 1, JSON)]);
        let applied = awareness.apply(3, &[state(7, 3, JSON)]).unwrap();
        assert_eq!(applied, Applied { changed: Vec::new(), corrected: [7].into() });
        assert!(changed(&mut awareness, 3, state(7, 4, JSON)));
        assert!(awareness.leave(9).gone.is_empty());
    }

    #[test]
    fn whoever_came_back_before_its_broken_connection_ended_is_asked_again() {
        let mut awareness = Awareness::default();
        assert!(changed(&mut awareness, 1, state(7, 3, JSON)));
        assert!(!changed(&mut awareness, 2, state(7, 6, JSON)));
        let recalled = [Recall { connection: 2, client: 7, clock: 6 }].into();
        assert_eq!(awareness.leave(1), Departed { gone: [7].into(), recalled });
        assert!(changed(&mut awareness, 2, state(7, 7, JSON)));
    }

    #[test]
    fn nobody_uses_up_the_clocks_of_somebody_else() {
        let mut awareness = Awareness::default();
        // An attacker pretends to be client 7 while that client is away.
        for clock in [MAX_NUMBER, MAX_NUMBER - 1, MAX_CLOCK + MAX_STEP + 1] {
            assert!(!changed(&mut awareness, 1, state(7, clock, JSON)), "{clock}");
        }
        let mut last = MAX_CLOCK + MAX_STEP;
        for _ in 0..100 {
            assert!(changed(&mut awareness, 1, state(7, last, JSON)));
            assert!(!changed(&mut awareness, 1, state(7, last + MAX_STEP + 1, JSON)));
            last += MAX_STEP;
        }
        last -= MAX_STEP;
        awareness.leave(1);
        // The client comes, is told that it has left, and goes on from there.
        let applied = awareness.apply(2, &[state(7, 1, JSON)]).unwrap();
        assert_eq!(applied.corrected, [7]);
        assert_eq!(awareness.states([7]).next(), Some(state(7, last, None)));
        assert!(changed(&mut awareness, 2, state(7, last + 1, JSON)));
        assert!(last + 1_000_000 < MAX_NUMBER);
    }

    #[test]
    fn states_and_those_who_left_have_limits() {
        let mut awareness = Awareness::default();
        for client in 0..MAX_STATES as u64 {
            assert!(changed(&mut awareness, 1, state(client, 1, JSON)));
        }
        assert_eq!(awareness.apply(1, &[state(1 << 40, 1, JSON)]), Err(TooManyStates));
        assert_eq!(awareness.leave(1).gone.len(), MAX_STATES);
        for client in 0..MAX_STATES as u64 {
            assert!(changed(&mut awareness, 2, state(client + (1 << 40), 1, JSON)));
        }
        awareness.leave(2);
        assert_eq!(awareness.all().count(), MAX_STATES);
        assert!(awareness.all().all(|one| one.client >= 1 << 40), "the last ones are known");
        assert_eq!(awareness.bytes, 0);
        let large = alloc::format!("\"{}\"", "x".repeat(MAX_BYTES - 2));
        assert!(changed(&mut awareness, 3, state(1, 1, Some(&large))));
        assert_eq!(awareness.apply(3, &[state(2, 1, JSON)]), Err(TooManyStates));
        assert!(changed(&mut awareness, 3, state(1, 2, JSON)));
        assert_eq!(awareness.bytes, 2);
    }
}
