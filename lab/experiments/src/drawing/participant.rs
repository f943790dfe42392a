//! The user behind a sender, as a web application knows it: an identity and a view of the canvas.

/// A user of the application.
pub(super) struct Participant {
    /// A random UUID (RFC 9562, version 4), as accounts have.
    pub(super) user_id: String,
    /// Screen pixels per canvas unit.
    zoom: f64,
    /// The scroll position of the canvas.
    scroll: (f64, f64),
}

/// The senders of the recorded session, who also make the generated one: number, user, zoom and
/// scroll. The four views give coordinates with a short fraction, a long one, none, and one that
/// never repeats.
const KNOWN: [(u32, &str, f64, (f64, f64)); 4] = [
    (7, "b81d6e04-72aa-4c19-8f3d-1c5e9a7042d6", 0.9, (213.5, -88.25)),
    (12, "3f9c2a71-5b0e-4d7a-9c61-8e2f4b1d0a37", 1.0, (0.0, 0.0)),
    (23, "0d47f5c2-e9b3-4a68-b1f0-6a2c83d95e14", 1.25, (-410.0, 77.125)),
    (5, "97e0c3ab-148d-4f52-a6d9-f03b7c2e6815", 0.7351, (1033.6, -512.3)),
];

impl Participant {
    /// The numbers of the senders in [`KNOWN`].
    pub(super) const SENDERS: [u32; KNOWN.len()] = [KNOWN[0].0, KNOWN[1].0, KNOWN[2].0, KNOWN[3].0];

    /// The user behind a sender's number. An unknown sender has an identity made of the number, and
    /// a view without zoom and scroll.
    pub(super) fn of(sender: u32) -> Self {
        match KNOWN.iter().find(|known| known.0 == sender) {
            Some(&(_, user_id, zoom, scroll)) => Self { user_id: user_id.to_owned(), zoom, scroll },
            None => Self { user_id: user_id(sender), zoom: 1.0, scroll: (0.0, 0.0) },
        }
    }

    /// The horizontal position on the canvas of a pixel of the screen.
    pub(super) fn canvas_x(&self, x: u16) -> f64 {
        f64::from(x) / self.zoom + self.scroll.0
    }

    /// The vertical position on the canvas of a pixel of the screen.
    pub(super) fn canvas_y(&self, y: u16) -> f64 {
        f64::from(y) / self.zoom + self.scroll.1
    }
}

fn user_id(sender: u32) -> String {
    let mut random = oorandom::Rand64::new(u128::from(sender));
    let (a, b) = (random.rand_u64(), random.rand_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        8 + (b >> 60) % 4,
        b >> 48 & 0xfff,
        b & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anybody_has_an_identity() {
        let ids: std::collections::BTreeSet<_> =
            (0..100).map(|sender| Participant::of(sender).user_id).collect();
        assert_eq!(ids.len(), 100);
        for id in ids {
            assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
            assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        }
    }
}
