//! The times that the paper measured (Tables 2 and 3), in seconds.

use super::real::{Busy, Busyness, Cell};

/// The times of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    never: f64,
    zlib: f64,
    bzip2: f64,
    lzo: f64,
    ace: f64,
}

impl Times {
    /// The time of a policy, if the paper has it.
    pub(super) fn of(&self, policy: &str) -> Option<f64> {
        match policy {
            "never" => Some(self.never),
            "zlib" => Some(self.zlib),
            "bzip2" => Some(self.bzip2),
            "lzo" => Some(self.lzo),
            "ace-2005" => Some(self.ace),
            _ => None,
        }
    }
}

/// The rows of both tables.
pub(super) fn cells() -> Vec<Cell> {
    use Busyness::{Heavy, Idle, Medium, VeryHeavy};
    let fast = [
        (Busy::Idle, Idle, Idle, [9.970, 5.613, 50.493, 5.980, 6.990]),
        (Busy::Idle, Idle, Heavy, [20.451, 16.064, 151.453, 9.007, 10.671]),
        (Busy::Medium, Idle, Medium, [14.872, 12.959, 92.365, 9.900, 9.869]),
        (Busy::Medium, Idle, Heavy, [19.737, 24.294, 193.577, 11.789, 15.054]),
        (Busy::Heavy, Idle, Idle, [26.727, 55.902, 226.737, 60.385, 45.004]),
        (Busy::Heavy, Medium, Idle, [30.646, 29.367, 277.160, 63.812, 30.270]),
        (Busy::Heavy, Medium, Medium, [49.179, 44.414, 388.405, 43.316, 28.740]),
        (Busy::Heavy, Medium, Heavy, [44.051, 64.519, 301.924, 36.414, 34.898]),
        (Busy::Heavy, Heavy, Medium, [63.582, 34.314, 380.225, 43.645, 42.517]),
    ];
    let slow = [
        (Idle, Idle, [87.321, 45.026, 70.971, 51.373, 49.999]),
        (Medium, Idle, [90.984, 45.617, 265.922, 51.332, 50.155]),
        (Heavy, Idle, [94.029, 42.710, 324.258, 55.796, 51.232]),
        (VeryHeavy, Idle, [89.321, 598.879, 1201.230, 119.373, 175.373]),
    ];
    let fast = fast.map(|(busy, server, client, times)| (Some(busy), server, client, times));
    let slow = slow.map(|(server, client, times)| (None, server, client, times));
    let cell = |(fast, server, client, times): (_, _, _, [f64; 5])| {
        let [never, zlib, bzip2, lzo, ace] = times;
        let paper = Times { never, zlib, bzip2, lzo, ace };
        Cell { fast, server, client, paper }
    };
    fast.into_iter().chain(slow).map(cell).collect()
}
