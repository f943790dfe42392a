use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::error::Error;
use crate::reader::Reader;
use crate::writer;

/// The content that a client or a server has of a document: for each client, the clock up to which
/// everything is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateVector {
    clocks: BTreeMap<u64, u64>,
}

impl StateVector {
    /// Reads a state vector as Yjs writes it.
    ///
    /// # Errors
    /// The bytes are no state vector.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, 0);
        let mut clocks = BTreeMap::new();
        for _ in 0..reader.count()? {
            let at = reader.at();
            let id = reader.id()?;
            if clocks.insert(id.client, id.clock).is_some() {
                return Err(Error::Malformed { what: "a client that comes twice", at });
            }
        }
        match reader.left() {
            0 => Ok(StateVector { clocks }),
            _ => Err(Error::TooLong { at: reader.at() }),
        }
    }

    /// Writes it as Yjs does.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        writer::number(&mut out, self.clocks.len() as u64);
        for (&client, &clock) in self.clocks.iter().rev() {
            writer::number(&mut out, client);
            writer::number(&mut out, clock);
        }
        out
    }

    /// The clock up to which everything of this client is there; 0 if nothing is.
    #[must_use]
    pub fn get(&self, client: u64) -> u64 {
        self.clocks.get(&client).copied().unwrap_or(0)
    }

    /// The state that both vectors have: of each client, the lower clock.
    ///
    /// ```
    /// use groupwire_yjs::StateVector;
    ///
    /// let (one, other) = (StateVector::parse(&[2, 7, 3, 5, 9])?, StateVector::parse(&[1, 5, 4])?);
    /// assert_eq!(one.least(&other), other);
    /// # Ok::<(), groupwire_yjs::Error>(())
    /// ```
    #[must_use]
    pub fn least(&self, other: &StateVector) -> StateVector {
        let lower = self.iter().map(|(client, clock)| (client, clock.min(other.get(client))));
        StateVector { clocks: lower.filter(|(_, clock)| *clock > 0).collect() }
    }

    /// The clients of which something is there, each with its clock.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.clocks.iter().map(|(&client, &clock)| (client, clock))
    }

    pub(crate) fn insert(&mut self, client: u64, clock: u64) {
        self.clocks.insert(client, clock);
    }
}
