//! Syncs and standbys, as the primary reports them.

use super::link::Link;
use crate::{Durability, ServerSync, Syncs, Unavailable};

const SETTINGS: &str = "
    SELECT current_setting('server_version'), current_setting('fsync'),
        current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
        current_setting('cluster_name')";

/// Standbys that acknowledge. Only members of `pg_monitor` see their state.
const STANDBYS: &str = "
    SELECT application_name::text FROM pg_stat_replication
    WHERE sync_state IN ('sync', 'quorum') ORDER BY 1";

pub(super) async fn durability(link: &Link, address: &str) -> Result<Durability, Unavailable> {
    let settings = link.query(SETTINGS, &[]).await?;
    let text = |index| settings.first().map(|row| row.get::<_, String>(index)).unwrap_or_default();
    let [version, fsync, pages, standbys, name] = [0, 1, 2, 3, 4].map(text);
    let syncs = match (fsync.as_str(), pages.as_str()) {
        ("on", "on") => Syncs::Always,
        _ => Syncs::Lazily(format!(
            "fsync = {fsync}, full_page_writes = {pages}; set both to on in postgresql.conf"
        )),
    };
    let name = if name.is_empty() { address.to_owned() } else { name };
    let mut servers = vec![ServerSync { name, version, syncs }];
    for row in link.query(STANDBYS, &[]).await? {
        let why = "a standby's setting of fsync cannot be asked through the primary".into();
        let (name, version) = (row.get(0), String::new());
        servers.push(ServerSync { name, version, syncs: Syncs::Unknown(why) });
    }
    let replication = format!("synchronous_standby_names = '{standbys}'");
    Ok(Durability { servers, copies: 1 + needed(&standbys), replication })
}

/// How many standbys have to acknowledge: `ANY 2 (a, b, c)`, `FIRST 2 (a, b)`, `2 (a, b)`, or a
/// list, of which one has to.
fn needed(standbys: &str) -> u16 {
    let names = standbys.trim().to_ascii_uppercase();
    if names.is_empty() {
        return 0;
    }
    let count = names.strip_prefix("ANY").or(names.strip_prefix("FIRST")).unwrap_or(&names);
    let digits = count.split('(').next().unwrap_or_default().trim();
    if names.contains('(') { digits.parse().unwrap_or(1) } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standbys_that_have_to_acknowledge_are_counted() {
        let lists =
            [("", 0), ("a, b", 1), ("*", 1), ("ANY 2 (a,b,c)", 2), ("first 3(*)", 3), ("2 (a)", 2)];
        for (names, count) in lists {
            assert_eq!(needed(names), count, "{names}");
        }
    }
}
