//! What visitors may see of the participants: what all participants see.

use alloc::vec::Vec;

use super::{PeopleNews, Person};
use crate::ParticipantId;
use crate::room::Room;
use crate::room::members::news::entry;

impl Room {
    /// The participants with numbers above `after`, `limit` at most, in the order of their numbers.
    pub fn people(&self, after: ParticipantId, limit: usize) -> Vec<Person> {
        let page = self.common.members.roster.after(after).take(limit);
        page.map(|id| self.person(id)).collect()
    }

    /// How many participants the room has, here and away.
    pub fn count_people(&self) -> usize {
        self.common.members.roster.count()
    }

    /// What has changed among the participants after this version; 0: all of them. In a large room
    /// (wire W103) only their number is told.
    pub fn people_after(&self, version: u64) -> PeopleNews {
        let roster = &self.common.members.roster;
        let (count, newest) = (roster.count(), roster.version());
        let mut news = PeopleNews { count, version: newest, ..PeopleNews::default() };
        if roster.is_large() {
            return news;
        }
        let changed = (version > 0).then(|| roster.changed_after(version)).flatten();
        news.complete = changed.is_none();
        let ids = changed.unwrap_or_else(|| roster.everybody().collect());
        news.changed = ids.into_iter().map(|id| self.person(id)).collect();
        news
    }

    fn person(&self, id: ParticipantId) -> Person {
        let entry = entry(id, &self.common.members.roster);
        Person {
            id,
            state: entry.state,
            user: entry.user.map(Into::into),
            presence: entry.presence.to_vec(),
        }
    }
}
