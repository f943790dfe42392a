//! Cuts the power under load: the server's folder is on a file system that is cut off from its
//! disk, so that unsynced data is lost. The variable POWER_CUTS says how often the power is cut, 1
//! by default. The test needs root and loop devices.

use std::time::Duration;

use tokio::time::sleep;

use super::disk::LoopDisk;
use super::kills::is_stored_and_not_confirmed;
use super::people::People;
use super::server::Server;

/// The number of confirmations between two power cuts.
const CONFIRMED: usize = 100;

#[tokio::test]
async fn after_power_cuts_nothing_confirmed_is_lost_repeated_or_moved() {
    let cuts = std::env::var("POWER_CUTS").map_or(1, |cuts| cuts.parse().unwrap());
    let Some(disk) = LoopDisk::new("power", 256) else { return };
    let mut server = Server::start_in("power", disk.path.join("rooms"));
    let people = People::join(&server.url());
    let mut between = 0;
    for cut in 0..cuts {
        people.progress(CONFIRMED).await;
        // Each cut is at another moment of the tick and of the commit.
        sleep(Duration::from_micros(cut as u64 * 977 % 10_000)).await;
        // The server stops before the disk does. A sync that is under way at the cut may return
        // success although its bytes are not on the disk (seen with a program that only writes and
        // syncs), and no client may be told of that success.
        server.freeze();
        disk.cut();
        server.kill();
        disk.unmount();
        disk.mount("loop");
        between += usize::from(is_stored_and_not_confirmed(&server, &people).await);
        server.restart();
    }
    let outcome = people.finish().await;
    println!(
        "{cuts} power cuts, {between} of them between a commit and its confirmation; {outcome}"
    );
}
