//! What the room does for all its participants when its timers are due: at ticks, and at
//! housekeeping four times a second.

mod directs;
mod grouping;
mod housekeeping;
mod release;
mod sharing;
