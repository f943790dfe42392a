use std::sync::{Arc, Mutex};
use std::time::Duration;

use groupwire_client::Options;
use groupwire_simulation::{Advanced, Join, Simulation};

use super::{Person, seeded};

#[test]
fn sleepers_wake_in_order_at_their_times() {
    let simulation = seeded(1);
    let woken = Arc::new(Mutex::new(Vec::new()));
    for ms in [30, 10, 20, 10] {
        let (simulation_, woken) = (simulation.clone(), Arc::clone(&woken));
        let sleep = simulation.sleep(Duration::from_millis(ms));
        simulation.spawn(async move {
            sleep.await;
            woken.lock().unwrap().push((ms, simulation_.now()));
        });
    }
    assert_eq!(simulation.advance(None), Ok(Advanced::Idle));
    let times = [10, 10, 20, 30].map(|ms| (ms, Duration::from_millis(ms)));
    assert_eq!(*woken.lock().unwrap(), times);
}

#[test]
fn time_goes_to_where_it_is_told_and_not_further() {
    let simulation = seeded(1);
    let _ada = Person::join(&simulation, Join::default());
    let limit = Duration::from_millis(1234);
    assert_eq!(simulation.advance(Some(limit)), Ok(Advanced::Reached));
    assert_eq!(simulation.now(), limit);
    assert_eq!(simulation.advance(Some(Duration::ZERO)), Ok(Advanced::Reached));
    assert_eq!(simulation.now(), limit, "time does not go back");
}

#[test]
fn an_interruption_ends_the_advance_at_its_time() {
    let simulation = seeded(1);
    let (other, sleep) = (simulation.clone(), simulation.sleep(Duration::from_secs(5)));
    simulation.spawn(async move {
        sleep.await;
        other.interrupt();
    });
    assert_eq!(simulation.advance(Some(Duration::from_secs(60))), Ok(Advanced::Interrupted));
    assert_eq!(simulation.now(), Duration::from_secs(5));
}

#[test]
fn what_cannot_go_on_says_so() {
    let simulation = seeded(1);
    let never = simulation.block_on(std::future::pending::<()>()).unwrap_err();
    assert!(never.to_string().contains("nothing will happen any more"), "{never}");
    let endless = simulation.clone();
    simulation.spawn(async move {
        loop {
            endless.sleep(Duration::ZERO).await;
            let mut yielded = false;
            std::future::poll_fn(|cx| {
                cx.waker().wake_by_ref();
                if std::mem::replace(&mut yielded, true) {
                    std::task::Poll::Ready(())
                } else {
                    std::task::Poll::Pending
                }
            })
            .await;
        }
    });
    let stuck = simulation.advance(None).unwrap_err();
    assert!(stuck.to_string().contains("time does not go on"), "{stuck}");
}

#[test]
fn a_simulation_within_itself_is_refused() {
    let simulation = seeded(1);
    let inner = simulation.clone();
    simulation.spawn(async move {
        for _ in 0..2 {
            assert!(inner.advance(None).is_err());
        }
    });
    assert_eq!(simulation.advance(None), Ok(Advanced::Idle));
}

/// Nothing holds a simulation that its program has dropped, even if rooms were in it.
#[test]
fn a_dropped_simulation_ends_its_tasks() {
    let simulation = seeded(1);
    let alive = Arc::new(());
    let (held, sleep) = (Arc::clone(&alive), simulation.sleep(Duration::from_secs(1)));
    simulation.spawn(async move {
        sleep.await;
        drop(held);
    });
    let (room, _events, _) = simulation.join(Join::default(), Options::new("room")).unwrap();
    drop::<Simulation>(simulation);
    assert_eq!(Arc::strong_count(&alive), 1);
    assert!(!room.is_over(), "the room is not told, as nothing happens any more");
}
