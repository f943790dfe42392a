use super::*;
use crate::ids::{Index, ParticipantId};
use std::vec::Vec;

const MS: Duration = Duration::from_millis(1);
const POINTER: Qos = Qos::awareness().deadline(Duration::from_millis(100)).rate(10, 25);

/// Judges a pointer at 25 values per second from index `start` on. Every `of`-th value is received,
/// with the age `age`. Returns the events.
fn point(judge: &mut Judge, start: u32, count: u32, of: u32, age: Duration) -> Vec<ContractState> {
    let mut news = Vec::new();
    for index in (start..start + count).step_by(of as usize) {
        let now = MS * 40 * index + age;
        let message = ReceivedMessage {
            sender: ParticipantId(1),
            index: Some(Index(index)),
            age,
            is_state: false,
        };
        judge.judge(now, &POINTER, Rate::ZERO, message);
        news.extend(judge.news(now, &POINTER, Rate::ZERO));
    }
    news
}

#[test]
fn a_contract_is_missed_once_and_met_once() {
    let mut judge = Judge::default();
    assert_eq!(point(&mut judge, 1, 250, 1, MS * 30), []);
    let news = point(&mut judge, 251, 250, 1, MS * 180);
    let [
        ContractState::Missed(Breach::Loss { target: 50, missed: 50.., .. }),
        ContractState::CannotMeet(Breach::Loss { missed: 1000, deadline, .. }),
    ] = news[..]
    else {
        panic!("{news:?}");
    };
    assert!(deadline.is_some_and(|deadline| (MS * 180..MS * 200).contains(&deadline)));
    assert_eq!(point(&mut judge, 501, 500, 1, MS * 30).last(), Some(&ContractState::Met));
    let report = judge.total;
    assert_eq!((report.judged, report.missed, report.late), (1000, 250, 250));
    assert_eq!(judge.recent(), Tally { judged: 226, missed: 0, late: 0 });
}

#[test]
fn a_contract_that_cannot_be_met_is_reported() {
    let mut judge = Judge::default();
    let news = point(&mut judge, 1, 250, 1, MS * 180);
    assert!(
        matches!(news[..], [ContractState::CannotMeet(Breach::Loss { missed: 1000, .. })]),
        "{news:?}"
    );
    assert_eq!(judge.rate(), Some(Rate::per_second(25)));
}

#[test]
fn the_minimum_rate_is_missed_if_values_are_lost() {
    let mut judge = Judge::default();
    let qos = POINTER.deadline(Duration::from_secs(2));
    let mut news = Vec::new();
    for index in (1..250).step_by(5) {
        let now = MS * 40 * index;
        let message = ReceivedMessage {
            sender: ParticipantId(1),
            index: Some(Index(index)),
            age: MS * 30,
            is_state: false,
        };
        judge.judge(now, &qos, Rate::ZERO, message);
        news.extend(judge.news(now, &qos, Rate::ZERO));
    }
    assert_eq!(
        news,
        [ContractState::Missed(Breach::Rate {
            target: Rate::per_second(10),
            rate: Rate::per_second(5)
        })]
    );
}

/// Judges a pointer at 25 values per second, of which 5 % may miss. Returns the events and their
/// times.
fn news_of(count: u32, is_late: impl Fn(u32) -> bool) -> Vec<(Duration, ContractState)> {
    let age = |index| if is_late(index) { MS * 150 } else { MS * 20 };
    news_at(&POINTER, (1..count).map(|index| (MS * 40 * index + MS * 150, age(index))))
}

/// Judges a channel. `messages`: when each is received, in order, and its age. Returns the events
/// and their times.
fn news_at(
    qos: &Qos,
    messages: impl IntoIterator<Item = (Duration, Duration)>,
) -> Vec<(Duration, ContractState)> {
    let (mut judge, mut news) = (Judge::default(), Vec::new());
    for (index, (now, age)) in (1..).zip(messages) {
        let message = ReceivedMessage {
            sender: ParticipantId(1),
            index: Some(Index(index)),
            age,
            is_state: false,
        };
        judge.judge(now, qos, Rate::ZERO, message);
        news.extend(judge.news(now, qos, Rate::ZERO).map(|state| (now, state)));
    }
    news
}

#[test]
fn a_share_near_the_target_causes_no_event() {
    // 5 % of the values are late, at uneven distances.
    assert_eq!(news_of(2000, |index| index * 7919 % 100 < 5), []);
}

#[test]
fn many_misses_for_a_moment_cause_no_event_and_a_few_more_for_long_do() {
    // 24 of 250 values within ten seconds are late, in two outages.
    assert_eq!(news_of(2000, |index| matches!(index, 500..512 | 650..662)), []);
    let news = news_of(2000, |index| index % 12 == 0);
    let [(at, ContractState::Missed(Breach::Loss { missed: 70.., .. }))] = news[..] else {
        panic!("{news:?}");
    };
    assert!((MS * 10_000..MS * 40_000).contains(&at), "{at:?}");
}

#[test]
fn rare_transactions_are_judged_by_the_last_ones() {
    let mut judge = Judge::default();
    let qos = Qos::transaction().deadline(MS * 250);
    let mut news = Vec::new();
    let mut add = |news: &mut Vec<ContractState>, numbers: core::ops::Range<u32>, of: u32| {
        for number in numbers {
            // One transaction every five seconds.
            let now = MS * 5000 * number;
            let age = if number % of == 1 { MS * 400 } else { MS * 50 };
            let message =
                ReceivedMessage { sender: ParticipantId(1), index: None, age, is_state: false };
            judge.judge(now, &qos, Rate::ZERO, message);
            news.extend(judge.news(now, &qos, Rate::ZERO));
        }
    };
    // Two late ones of sixty are within the tolerance.
    add(&mut news, 1..60, 50);
    assert_eq!(news, []);
    add(&mut news, 60..100, 10);
    assert!(
        matches!(
            news[..],
            [ContractState::Missed(Breach::Loss {
                target: 10,
                missed: 40..100,
                deadline: Some(_)
            })]
        ),
        "{news:?}"
    );
    add(&mut news, 100..125, 1000);
    assert_eq!(news[1..], [ContractState::Met]);
}

#[test]
fn two_late_transactions_are_reported_and_one_is_not() {
    let qos = Qos::transaction().deadline(MS * 250);
    let told = |late: &[u32]| {
        let (mut judge, mut news) = (Judge::default(), Vec::new());
        for number in 1..100 {
            let now = MS * 3000 * number;
            let age = if late.contains(&number) { MS * 300 } else { MS * 50 };
            let message =
                ReceivedMessage { sender: ParticipantId(1), index: None, age, is_state: false };
            judge.judge(now, &qos, Rate::ZERO, message);
            news.extend(judge.news(now, &qos, Rate::ZERO).map(|state| (number, state)));
        }
        news
    };
    assert_eq!(told(&[40]), []);
    assert_eq!(told(&[30, 70]), []);
    let news = told(&[40, 60]);
    assert!(
        matches!(news[..], [(60, ContractState::Missed(_)), (_, ContractState::Met)]),
        "{news:?}"
    );
}

/// A pointer of which a fifth may miss.
const ROUGH: Qos = POINTER.loss_per_mille(200).rate(1, 25);

#[test]
fn that_nothing_is_in_time_is_reported_within_three_seconds() {
    for interval in [40, 100, 200, 400, 600] {
        for begin in (0..1000).step_by(50) {
            let received = |nth: u32| MS * (5000 + begin + interval * nth);
            let news = news_at(&ROUGH, (0..100).map(|nth| (received(nth), MS * 300)));
            let [(at, ContractState::CannotMeet(Breach::Loss { missed: 1000, .. })), ..] = news[..]
            else {
                panic!("{interval} {begin}: {news:?}");
            };
            assert!(at <= received(0) + MS * 3000, "{interval} {begin}: {at:?}");
        }
    }
}

#[test]
fn a_channel_with_few_messages_is_met_again() {
    // The window never has twenty messages, the least for judging the share of missed ones.
    let age = |nth| if nth < 10 { MS * 300 } else { MS * 20 };
    let news = news_at(&ROUGH, (0..60).map(|nth| (MS * 1500 * nth, age(nth))));
    assert!(
        matches!(news[..], [(_, ContractState::CannotMeet(_)), .., (_, ContractState::Met)]),
        "{news:?}"
    );
}

#[test]
fn bursts_and_outages_on_a_path_that_holds_a_contract_are_not_taken_for_hopeless() {
    for seed in 0..40 {
        let mut drawn = seed << 32;
        let mut draw = || {
            drawn += 1;
            crate::backoff::mixed(drawn) % 1000
        };
        // Ten minutes with five messages per second. An eighth of them is late, in bursts of five
        // on average.
        let mut is_late = false;
        let messages = (0..3000).map(|nth| {
            let made = MS * 200 * nth;
            is_late = draw() < if is_late { 800 } else { 28 };
            // In each minute, all messages made in one span of two seconds arrive at the end of the
            // span.
            let into = made.as_millis() as u64 % 60_000;
            let held = MS * (32_000 - into.clamp(30_000, 32_000)) as u32;
            let is_held = (30_000..32_000).contains(&into);
            let age = match (is_held, is_late) {
                (true, _) => held + MS * 40,
                (false, true) => MS * 190,
                (false, false) => MS * 40,
            };
            (made + age, age)
        });
        let news = news_at(&ROUGH, messages);
        let is_hopeless = |state: &ContractState| matches!(state, ContractState::CannotMeet(_));
        assert!(!news.iter().any(|(_, state)| is_hopeless(state)), "{seed}: {news:?}");
    }
}

#[test]
fn senders_are_bounded() {
    let mut judge = Judge::default();
    for sender in 0..MAX_SENDERS as u32 + 10 {
        let message = ReceivedMessage {
            sender: ParticipantId(sender),
            index: Some(Index(1)),
            age: MS,
            is_state: false,
        };
        judge.judge(MS, &POINTER, Rate::ZERO, message);
    }
    assert!(judge.progress.len() <= MAX_SENDERS);
}

#[test]
fn counts_do_not_overflow() {
    let mut judge = Judge::default();
    let full = Tally { judged: u64::MAX, missed: u64::MAX, late: u64::MAX };
    (judge.total, judge.replaced, judge.excess) = (full, u64::MAX, f64::MAX);
    let qos = Qos {
        rate_min: Rate::from_millihertz(u32::MAX),
        deadline: Some(Duration::from_millis(u64::MAX)),
        ..Qos::awareness()
    };
    // The clock counts from 1970, and ages are up to half a year.
    let now = MS * 1000 * 1_800_000_000;
    judge.judge(
        now,
        &qos,
        Rate::from_millihertz(1),
        ReceivedMessage {
            sender: ParticipantId(1),
            index: Some(Index(0)),
            age: Duration::ZERO,
            is_state: false,
        },
    );
    let ages = [Duration::from_millis(u64::from(u32::MAX) * 4), Duration::ZERO];
    for step in 0..100u32 {
        let index = Some(step.wrapping_mul(0x7fff_fff0));
        let age = ages[step as usize % 2];
        for limit in [0, 1, u32::MAX].map(Rate::from_millihertz) {
            judge.judge(
                now,
                &qos,
                limit,
                ReceivedMessage {
                    sender: ParticipantId(1),
                    index: index.map(Index),
                    age,
                    is_state: false,
                },
            );
        }
        judge.seconds[judge.current as usize % WINDOW].tally = full;
        judge.news(now + MS * 4000 * step, &qos, Rate::ZERO);
    }
    assert_eq!(judge.total, full);
    assert_eq!(judge.total.missed_per_mille(), 1000);
    assert!(matches!(judge.state(&qos), ContractState::CannotMeet(_)));
}
