//! The time per telepointer packet in a steady state, with a tenth of the packets lost: sending,
//! receiving, and choosing a code. Prints the memory of both ends, too.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use groupwire_afec::choice::{Situation, choose};
use groupwire_afec::loss::{LossEstimator, LossModel};
use groupwire_afec::{Config, Delivery, Endpoint, Qos, Submission};

const MESSAGE: &[u8] = b"pointer 1020 2040 17";
const INTERVAL: Duration = Duration::from_millis(33);
/// The messages before the measurement: enough for a steady state.
const SETTLED: u32 = 3000;

/// Two endpoints with a path of 25 ms; one of them sends.
struct Talk {
    here: Endpoint,
    there: Endpoint,
    now: Duration,
    packet: Vec<u8>,
    answer: Vec<u8>,
    random: oorandom::Rand32,
}

impl Talk {
    fn settled() -> Self {
        let [here, there] = [(); 2].map(|()| {
            let mut end = Endpoint::new(Config::default());
            end.open(7, Qos::new()).expect("the QoS makes sense");
            end
        });
        let (packet, answer) = (Vec::with_capacity(1500), Vec::with_capacity(1500));
        let random = oorandom::Rand32::new(1);
        let mut talk = Talk { here, there, now: Duration::ZERO, packet, answer, random };
        for _ in 0..SETTLED {
            talk.next();
            while talk.transmit() {
                talk.carry(|_| {});
            }
        }
        talk
    }

    /// Sends a message.
    fn next(&mut self) {
        self.now += INTERVAL;
        self.here.send(self.now, 7, Submission::new(MESSAGE)).expect("it is small");
    }

    fn transmit(&mut self) -> bool {
        self.here.transmit(self.now, &mut self.packet).is_some()
    }

    /// Carries the packet to the other end, unless it is lost, and the reports back.
    fn carry(&mut self, deliver: impl FnMut(Delivery<'_>)) {
        let delay = Duration::from_millis(25);
        if self.random.rand_float() > 0.1 {
            self.there.receive(self.now + delay, &self.packet, deliver).expect("it is well-formed");
        }
        while self.there.transmit(self.now + delay, &mut self.answer).is_some() {
            self.here
                .receive(self.now + delay * 2, &self.answer, |_| {})
                .expect("it is well-formed");
        }
    }
}

fn endpoint(bench: &mut Criterion) {
    let mut talk = Talk::settled();
    println!("{} repeats of {SETTLED} messages", talk.here.sent(7).expect("it is open").0.repeats);
    println!("memory: {} bytes here, {} there", talk.here.memory(), talk.there.memory());
    bench.bench_function("a packet there and reports back", |bencher| {
        bencher.iter(|| {
            talk.next();
            while talk.transmit() {
                talk.carry(|message| {
                    black_box(message.payload);
                });
            }
        });
    });
    let mut talk = Talk::settled();
    bench.bench_function("send and transmit", |bencher| {
        bencher.iter(|| {
            talk.next();
            while talk.transmit() {
                black_box(&talk.packet);
            }
        });
    });
    let mut talk = Talk::settled();
    bench.bench_function("receive", |bencher| {
        bencher.iter_custom(|packets| {
            let mut spent = Duration::ZERO;
            for _ in 0..packets {
                talk.next();
                while talk.transmit() {
                    let lost = talk.random.rand_float() <= 0.1;
                    let at = talk.now + Duration::from_millis(25);
                    let began = std::time::Instant::now();
                    if !lost {
                        let _ = talk.there.receive(at, &talk.packet, |message| {
                            black_box(message.payload);
                        });
                    }
                    spent += began.elapsed();
                    while talk.there.transmit(at, &mut talk.answer).is_some() {
                        let _ = talk.here.receive(at, &talk.answer, |_| {});
                    }
                }
            }
            spent
        });
    });
}

fn parts(bench: &mut Criterion) {
    let mut estimator = LossEstimator::new();
    let mut random = oorandom::Rand32::new(1);
    bench.bench_function("loss of a packet", |bencher| {
        bencher.iter(|| estimator.push(random.rand_float() < 0.1));
    });
    bench.bench_function("loss model", |bencher| bencher.iter(|| black_box(estimator.model())));
    let loss = LossModel { rate: 0.1, again: [0.1; 12], weight: 1000.0 };
    let situation = Situation {
        loss: &loss,
        loss_back: 0.1,
        one_way: Duration::from_millis(25),
        round_trip: Duration::from_millis(50),
        jitter: Duration::from_millis(3),
        deadline: Duration::from_millis(250),
        interval: INTERVAL,
        cluster: 40.0,
        target: 0.05,
        repeat_bytes: 25.0,
        packet_bytes: 33.0,
        ask_bytes: 43.0,
        ask_delay: INTERVAL,
        request_copies: 1,
        requests_all: false,
    };
    bench.bench_function("choice of a code", |bencher| {
        bencher.iter_batched(|| situation, |now| choose(black_box(&now)), BatchSize::SmallInput);
    });
}

criterion_group!(benches, endpoint, parts);
criterion_main!(benches);
