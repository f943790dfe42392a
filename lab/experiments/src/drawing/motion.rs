//! How a hand moves a pointer, and which of its places an application sends.
//!
//! - A stroke goes along 10 s^3 - 15 s^4 + 6 s^5, the path of least jerk (Flash and Hogan, 1985),
//!   bent a little to one side, with a tremor of half a pixel or so.
//! - It takes longer the farther the target, by the square root (Meyer and others, 1988, whose law
//!   for rapid aimed movements is close to Fitts's), times a skewed factor, as people do not always
//!   hurry.
//! - It ends beside the target by some hundredths of the distance; often a short second stroke
//!   corrects that.
//! - Then the hand rests.
//! - The mouse reports 125 times a second; an event loop looks at the last report at each frame of
//!   the screen; the application sends at each second frame, or fourth on a slow machine, and is
//!   sometimes late. A place is sent when it is another than the last.
//!
//! The forms are the literature's. The numbers are not: they were chosen so that the steps between
//! places, and what gzip makes of the session, come near those of the session made of recorded
//! mice. So it is no independent evidence of how people move.

use super::Point;
use super::random::Random;

/// The width of the canvas, in pixels.
pub(crate) const WIDTH: u16 = 1920;
/// The height of the canvas, in pixels.
pub(crate) const HEIGHT: u16 = 1080;
/// The distance that hands keep from the canvas's edges, in pixels.
const MARGIN: f64 = 10.0;

/// The time between two reports of a mouse at USB's usual 125 Hz, in ms. A frame may see a place
/// that is as old.
const REPORT_MS: f64 = 8.0;

/// The loop in which an application samples the pointer.
pub(crate) struct EventLoop {
    /// The time between two frames, in ms.
    pub(crate) frame_ms: f64,
    /// The number of frames between two messages.
    pub(crate) frames: u32,
}

impl EventLoop {
    /// The loop of a screen with 60 frames per second that sends 30 messages per second.
    pub(crate) const FAST: Self = Self { frame_ms: 1000.0 / 60.0, frames: 2 };
    /// The loop of a timer with 64 ticks per second, as in Windows, that sends 16 messages per
    /// second.
    pub(crate) const SLOW: Self = Self { frame_ms: 1000.0 / 64.0, frames: 4 };

    /// The time of the next message after `now`.
    fn next(&self, random: &mut Random, now: f64) -> f64 {
        // About one message in twelve is a frame late.
        let frames = self.frames + u32::from(random.chance(0.08));
        ((now / self.frame_ms).round() + f64::from(frames)) * self.frame_ms
    }
}

/// The kind of movement of the hand.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    /// Strokes with rests between them.
    Pointing,
    /// A drag, without a rest.
    Dragging,
}

/// A pointer and the hand that moves it.
pub(crate) struct Pointer {
    x: f64,
    y: f64,
    sent: Point,
}

impl Pointer {
    /// A pointer at a random place of the canvas.
    pub(crate) fn new(random: &mut Random) -> Self {
        let x = random.between(MARGIN, f64::from(WIDTH) - MARGIN);
        let y = random.between(MARGIN, f64::from(HEIGHT) - MARGIN);
        Self { x, y, sent: pixel(x, y) }
    }

    /// The place that was sent last.
    pub(crate) fn place(&self) -> Point {
        self.sent
    }

    /// Simulates the hand from `clock` on, in ms, until `count` places were sent. Leaves the time
    /// of the last one in `clock`.
    pub(crate) fn sends(
        &mut self,
        random: &mut Random,
        (events, style): (&EventLoop, Style),
        clock: &mut f64,
        count: usize,
    ) -> Vec<(f64, Point)> {
        let mut sent = Vec::with_capacity(count);
        while sent.len() < count {
            let stroke = Stroke::new(random, (self.x, self.y), style);
            let start = *clock;
            while sent.len() < count && *clock < start + stroke.duration_ms {
                *clock = events.next(random, *clock);
                let seen = *clock - random.between(0.0, REPORT_MS) - start;
                (self.x, self.y) = stroke.at(seen.max(0.0) / stroke.duration_ms);
                let tremor = 0.5;
                let place =
                    pixel(self.x + tremor * random.normal(), self.y + tremor * random.normal());
                if place != self.sent {
                    self.sent = place;
                    sent.push((*clock, place));
                }
            }
            if sent.len() < count {
                (self.x, self.y) = stroke.to;
                *clock += rest_ms(random, style);
            }
        }
        sent
    }
}

/// `count` places that an application sends of a pointer that never rests.
pub(crate) fn places(seed: u64, count: usize) -> Vec<Point> {
    let mut random = Random::new(seed);
    let mut pointer = Pointer::new(&mut random);
    let sent = pointer.sends(&mut random, (&EventLoop::FAST, Style::Dragging), &mut 0.0, count);
    sent.into_iter().map(|(_, place)| place).collect()
}

/// The rest of the hand after a stroke, in ms: none before a correction, otherwise the time of a
/// look.
fn rest_ms(random: &mut Random, style: Style) -> f64 {
    match style {
        Style::Dragging => 0.0,
        Style::Pointing if random.chance(0.6) => 0.0,
        Style::Pointing => random.skewed(250.0, 0.8),
    }
}

struct Stroke {
    from: (f64, f64),
    to: (f64, f64),
    /// The distance of the stroke's middle from the straight line, as a part of its length.
    bend: f64,
    duration_ms: f64,
}

impl Stroke {
    fn new(random: &mut Random, from: (f64, f64), style: Style) -> Self {
        // Two strokes in five are small: corrections, and following a line with the pointer.
        let reach = match style {
            Style::Pointing if random.chance(0.4) => random.skewed(35.0, 0.8),
            Style::Pointing => random.skewed(420.0, 0.7),
            Style::Dragging => random.skewed(170.0, 0.6),
        };
        let (x, y) = direction(random);
        let error = 0.05 * reach * random.normal();
        // Screens are wider than high, and so are movements on them.
        let to = (
            within(from.0 + reach * x + error, WIDTH),
            within(from.1 + 0.6 * (reach * y + error), HEIGHT),
        );
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let distance = (dx * dx + dy * dy).sqrt();
        // A stroke takes 60 ms to start, and 11 ms for the root of each pixel: 170 ms over 100
        // pixels, 350 ms over 700.
        let duration_ms = (60.0 + 11.0 * distance.sqrt()) * random.skewed(1.0, 0.5);
        Self { from, to, bend: 0.05 * random.normal(), duration_ms }
    }

    /// The place of the pointer after this part of the stroke's time.
    fn at(&self, part: f64) -> (f64, f64) {
        let s = part.min(1.0);
        let way = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
        let aside = 4.0 * self.bend * way * (1.0 - way);
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        (self.from.0 + dx * way - dy * aside, self.from.1 + dy * way + dx * aside)
    }
}

/// A random direction: a point on the unit circle.
fn direction(random: &mut Random) -> (f64, f64) {
    loop {
        let (x, y) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
        let square = x * x + y * y;
        if (0.01..1.0).contains(&square) {
            let length = square.sqrt();
            return (x / length, y / length);
        }
    }
}

fn within(place: f64, size: u16) -> f64 {
    place.clamp(MARGIN, f64::from(size) - MARGIN)
}

fn pixel(x: f64, y: f64) -> Point {
    Point {
        x: x.round().clamp(0.0, f64::from(WIDTH - 1)) as u16,
        y: y.round().clamp(0.0, f64::from(HEIGHT - 1)) as u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stroke_starts_and_ends_at_rest() {
        let stroke = Stroke { from: (10.0, 20.0), to: (110.0, 20.0), bend: 0.1, duration_ms: 1.0 };
        assert_eq!(stroke.at(0.0), (10.0, 20.0));
        assert_eq!(stroke.at(0.5), (60.0, 30.0));
        assert_eq!(stroke.at(1.0), (110.0, 20.0));
        // The third derivative is finite at the ends: a hundredth of the time covers 10 millionths
        // of the way.
        assert!((stroke.at(0.01).0 - 10.0 - 100.0 * 9.85e-6).abs() < 1e-5);
    }

    #[test]
    fn an_application_sends_what_is_new_at_its_pace() {
        let mut random = Random::new(3);
        let mut pointer = Pointer::new(&mut random);
        let mut clock = 1000.0;
        let how = (&EventLoop::FAST, Style::Pointing);
        let sent = pointer.sends(&mut random, how, &mut clock, 2000);
        assert_eq!((sent.len(), sent.last().map(|last| last.0)), (2000, Some(clock)));
        assert!(sent.windows(2).all(|two| two[0].1 != two[1].1));
        let mut gaps: Vec<_> = sent.windows(2).map(|two| two[1].0 - two[0].0).collect();
        gaps.sort_by(f64::total_cmp);
        assert!((gaps[1000] - 1000.0 / 30.0).abs() < 1e-6, "{}", gaps[1000]);
        assert!(gaps[0] > 33.0, "{}", gaps[0]);
    }
}
