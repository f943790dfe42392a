use super::*;
use crate::ids::PacketNumber;
use crate::path::Path;
use crate::qos::Order;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A sender of a pointer with a deadline of 250 ms, of which 1 % of the values may miss on this
/// leg, where a fifth is lost.
fn sender() -> Sender {
    let mut sender = Sender::new(Scheme::Adaptive, 62, Some(4.0));
    let qos = Qos { order: Order::Newest, target: 0.01, deadline: 250 * MS, ..Qos::new() };
    sender.open(ChannelId(1), qos).unwrap();
    sender.set_loss(LossModel { weight: 1000.0, ..LossModel::chain(0.2, 0.2) });
    sender
}

/// A path with a round trip of 50 ms whose queue has lately added as much as `queue`.
fn queued(queue: Duration) -> Path {
    let mut path = Path::new();
    path.sample(50 * MS);
    (1..16).for_each(|_| path.sample(50 * MS + queue));
    path
}

/// Sends a value every 33 ms for three seconds from `from` on. Returns the numbers of new values
/// and of repeats.
fn point(sender: &mut Sender, from: Duration, path: &Path) -> (u32, u32) {
    let (mut new, mut repeated) = (0, 0);
    let mut number = PacketNumber(from.as_millis() as u32);
    for nth in 0..90 {
        let at = from + nth * 33 * MS;
        sender.submit(at, ChannelId(1), Submission::new(b"pointer"), 1000).unwrap();
        sender.decide(at, path, 0.2, |_, _, _| {});
        while let Some(due) = sender.next(at).filter(|due| *due < at + 33 * MS) {
            let made = sender.fill(due, number, path, 1000, |_, _| {});
            number = number.next();
            new += made.new;
            repeated += made.repeated;
        }
    }
    (new, repeated)
}

#[test]
fn a_path_counts_as_narrow_for_a_minute_after_its_last_limit() {
    let path = queued(170 * MS);
    let mut wide = sender();
    let repeated_on_wide = point(&mut wide, SECOND, &path).1;
    let mut narrow = sender();
    narrow.on_report(SECOND, Some(3000));
    narrow.on_report(2 * SECOND, Some(0));
    let repeated_on_narrow = point(&mut narrow, 3 * SECOND, &path).1;
    assert!(repeated_on_narrow * 2 < repeated_on_wide, "{repeated_on_narrow} {repeated_on_wide}");
    let repeated_later = point(&mut narrow, 62 * SECOND, &path).1;
    assert!(repeated_later > repeated_on_narrow, "{repeated_later} {repeated_on_narrow}");
}
