//! The setup `gprs`: four people behind 2G links, with contracts that such links can hold and one
//! that they cannot.

use std::sync::Arc;
use std::time::Duration;

use super::channels::{Channel, MOVE, POINTER, POINTER_VOICE, table1};
use super::hand::Hands;
use super::notes::Arrival;
use super::path::Path;
use super::row::Setup;
use super::scene::Scene;
use super::script::{Action, Script};
use crate::sim::{Capacity, Lane, LinkConfig, Loss, Queue};

/// The round trip of a client's link to the server: as long as the path from one application to
/// another.
const ROUND_TRIP: Duration = Duration::from_millis(600);
/// The rate of the link, in kbit/s each way.
const RATE: f64 = 40.0;
/// Radio links repeat lost packets themselves, so the layers above see little loss.
const LOSS: Loss = Loss::Random { percent: 1.0 };
/// The longest wait in the link's queue, which is deep, as in mobile networks.
const QUEUE: Duration = Duration::from_secs(1);
/// The longest time between the one-way delay and the display of a pointer's place.
const BEHIND: Duration = Duration::from_millis(400);
/// The deadline of text and objects.
const TEXT: Duration = Duration::from_millis(1500);
/// The wire name of both channels of pointers.
pub(super) const POINTERS: &str = "telepointer";
/// The interval at which the displayed places are sampled.
const LOOK: Duration = Duration::from_millis(5);

pub(super) fn scene(hands: &Hands, seed: u64, length: Duration) -> Scene {
    let script = Script::table1(channels(), hands, seed, 4, length);
    let paths = vec![path(); 4];
    Scene::new(Setup::Gprs, LOSS.to_string(), Arc::new(script), paths)
}

fn path() -> Path {
    let link = LinkConfig {
        delay: ROUND_TRIP / 2,
        loss: LOSS,
        capacity: Capacity::kbit(RATE),
        queue: Queue::Time(QUEUE),
        ..LinkConfig::default()
    };
    Path::both(Lane::WebTransport, link)
}

/// The channels of Table 1 with their rates and losses, and deadlines for such a link.
/// `move-object` keeps its deadline, which is shorter than the way.
fn channels() -> Vec<Channel> {
    let mut channels = table1();
    for (place, channel) in channels.iter_mut().enumerate() {
        let deadline = match place {
            POINTER | POINTER_VOICE => ROUND_TRIP + BEHIND,
            MOVE => continue,
            _ => TEXT,
        };
        channel.qos = channel.qos.deadline(deadline);
    }
    channels
}

/// The ages of displayed pointers in ms, sorted: at each sample at which a place was sent and is
/// not yet displayed, the time since the oldest such place was sent.
pub(super) fn ages(script: &Script, arrivals: &[Vec<Arrival>]) -> Vec<f64> {
    let is_pointer = |action: &Action| script.channels[action.channel].wire == POINTERS;
    let mut ages = Vec::new();
    for (receiver, arrivals) in arrivals.iter().enumerate() {
        for sender in (0..script.actions.len()).filter(|sender| *sender != receiver) {
            let places =
                script.actions[sender].iter().enumerate().filter(|(_, one)| is_pointer(one));
            let is_place = |number: usize| is_pointer(&script.actions[sender][number]);
            let came = arrivals.iter().filter(|one| one.message.0 == sender);
            let came = came.filter(|one| is_place(one.message.1));
            add_ages(places.map(|(number, one)| (number, one.at)), came, script.end, &mut ages);
        }
    }
    ages.sort_by(f64::total_cmp);
    ages
}

/// The longest time, in seconds, from the first message of a channel to when each application was
/// told that its contract is not kept. `None` if one was not told.
pub(super) fn told_after(
    script: &Script,
    told_at: &[Vec<Option<Duration>>],
    wire: &str,
) -> Option<f64> {
    let place = script.channels.iter().position(|channel| channel.wire == wire)?;
    let is_sent = |one: &&Action| script.channels[one.channel].wire == wire;
    let firsts = script.actions.iter().filter_map(|actions| Some(actions.iter().find(is_sent)?.at));
    let first = firsts.min()?;
    let times = told_at.iter().map(|told| told[place].map(|at| at.saturating_sub(first)));
    Some(times.collect::<Option<Vec<_>>>()?.into_iter().max()?.as_secs_f64())
}

/// `places`: the places of one sender, by number and time; `came`: its messages that reached one
/// receiver.
fn add_ages<'a>(
    places: impl Iterator<Item = (usize, Duration)>,
    mut came: impl Iterator<Item = &'a Arrival>,
    end: Duration,
    ages: &mut Vec<f64>,
) {
    let mut newest: Option<usize> = None;
    let mut from = Duration::ZERO;
    for (number, sent) in places {
        // A place is shown as soon as it or a newer one has arrived.
        let mut shown = from;
        while newest.is_none_or(|newest| newest < number) {
            let Some(one) = came.next() else {
                shown = end.max(sent);
                break;
            };
            newest = newest.max(Some(one.message.1));
            shown = one.at.max(from);
        }
        let mut at = sent.max(from);
        while at < shown {
            ages.push((at - sent).as_micros() as f64 / 1e3);
            at += LOOK;
        }
        from = shown.max(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_ages_until_something_newer_comes() {
        let ms = Duration::from_millis;
        let places = [(0, ms(0)), (1, ms(100)), (2, ms(200)), (5, ms(300))];
        let arrival = |number, at| Arrival { at: ms(at), message: (0, number) };
        // The second message is lost, the first comes late, and the last never comes.
        let came = [arrival(0, 50), arrival(2, 260), arrival(1, 280)];
        let mut ages = Vec::new();
        add_ages(places.into_iter(), came.iter(), ms(400), &mut ages);
        let looks = |from: u64, to: u64| (from / 5..to / 5).map(|look| 5.0 * look as f64);
        // The receiver waits 50 ms for the first message, for the second until the third has come,
        // and for the last until the end.
        assert_eq!(
            ages,
            looks(0, 50).chain(looks(0, 160)).chain(looks(0, 100)).collect::<Vec<_>>()
        );
    }
}
