//! The conditions of the paper's tables and figures, and the times that it measured, in seconds.

use super::real::{Busy, Busyness, Cell, Phase};

/// The policies that the paper compares ACE with.
const OTHERS: [&str; 4] = ["never", "zlib", "bzip2", "lzo"];
/// The one without which the paper compares once more, because it never is the best.
const SLOWEST: &str = "bzip2";
/// The paper's own policy.
const ACE: &str = "ace-2005";

/// What choosing gains over each policy alone in the three scenarios, "on average" (section 5.2.3
/// and Figure 4): from, to.
const GAINS: [(&str, [f64; 2]); 4] = [
    ("never", [0.09, 0.20]),
    ("lzo", [0.08, 0.16]),
    ("zlib", [0.52, 0.79]),
    ("bzip2", [0.89, 0.93]),
];

/// The times of one row of Tables 2 and 3.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    never: f64,
    zlib: f64,
    bzip2: f64,
    lzo: f64,
    ace: f64,
}

/// The last three columns of Tables 2 and 3, as shares.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LastColumns {
    /// By how much a time exceeds the least of the paper's four policies; below 0 if it is less,
    /// for which the paper prints 0.
    pub(super) over_best: Option<f64>,
    /// By how much a time is below the greatest of the four.
    pub(super) gain_over_worst: Option<f64>,
    /// The same without bzip2.
    pub(super) gain_without_bzip2: Option<f64>,
}

impl LastColumns {
    /// The columns of a policy that takes `seconds`, where the others take the times that
    /// `seconds_of` returns. A column is unknown if one of these times is.
    pub(super) fn of(seconds: f64, seconds_of: impl Fn(&str) -> Option<f64>) -> Self {
        let others = |bzip2: bool| -> Option<Vec<f64>> {
            let others = OTHERS.into_iter().filter(|name| bzip2 || *name != SLOWEST);
            others.map(&seconds_of).collect()
        };
        let (all, some) = (others(true), others(false));
        let worst = |times: &Option<Vec<f64>>| {
            let times = times.iter().flatten().copied();
            times.max_by(f64::total_cmp).map(|worst| 1.0 - seconds / worst)
        };
        let best = all.iter().flatten().copied().min_by(f64::total_cmp);
        LastColumns {
            over_best: best.map(|best| seconds / best - 1.0),
            gain_over_worst: worst(&all),
            gain_without_bzip2: worst(&some),
        }
    }
}

impl Times {
    /// The time of a policy, if the paper has it.
    pub(super) fn of(&self, policy: &str) -> Option<f64> {
        match policy {
            "never" => Some(self.never),
            "zlib" => Some(self.zlib),
            "bzip2" => Some(self.bzip2),
            "lzo" => Some(self.lzo),
            ACE => Some(self.ace),
            _ => None,
        }
    }

    /// The last columns of the paper's policy.
    pub(super) fn last_columns(&self, policy: &str) -> LastColumns {
        let ace = (policy == ACE).then(|| LastColumns::of(self.ace, |name| self.of(name)));
        ace.unwrap_or_default()
    }
}

/// The rows of both tables, and the two conditions of Figure 2, for which the paper has no numbers.
/// Those of Figure 3 are among the rows of Table 3.
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
    let figure_2 = [Medium, Heavy].map(|client| {
        let phase = Phase { fast: Some(Busy::Idle), server: Heavy, client };
        Cell { phase, paper: None }
    });
    let cell = |(fast, server, client, times): (_, _, _, [f64; 5])| {
        let [never, zlib, bzip2, lzo, ace] = times;
        let paper = Times { never, zlib, bzip2, lzo, ace };
        Cell { phase: Phase { fast, server, client }, paper: Some(paper) }
    };
    let fast = fast.map(|(busy, server, client, times)| cell((Some(busy), server, client, times)));
    let slow = slow.map(|(server, client, times)| cell((None, server, client, times)));
    fast.into_iter().chain(figure_2).chain(slow).collect()
}

/// The scenarios of Figure 4: all files are sent in each of the phases, one phase after the other.
pub(super) fn scenarios() -> [(&'static str, Vec<Phase>); 3] {
    use Busyness::{Heavy, Idle, Medium, VeryHeavy};
    let fast = |busy, server, client| Phase { fast: Some(busy), server, client };
    let slow = |server, client| Phase { fast: None, server, client };
    [
        (
            "scenario1",
            vec![
                fast(Busy::Idle, Idle, Idle),
                fast(Busy::Heavy, Medium, Medium),
                slow(Idle, Idle),
                slow(VeryHeavy, Heavy),
            ],
        ),
        (
            "scenario2",
            vec![
                fast(Busy::Idle, Heavy, Heavy),
                fast(Busy::Medium, Idle, Idle),
                fast(Busy::Heavy, Heavy, Medium),
            ],
        ),
        ("scenario3", vec![slow(Idle, Heavy), slow(Medium, Heavy), slow(VeryHeavy, Heavy)]),
    ]
}

/// The rate in Mbit/s that the times without compression in Tables 2 and 3 imply for a network, at
/// the least load of the processors. For the unloaded networks they are 30 and 3.4 Mbit/s, where
/// section 5.1 says 71 and 1.7.
pub(super) fn mbit(phase: &Phase) -> f64 {
    /// The bytes of the benchmark files (Table 1).
    const BYTES: f64 = 36_768.23 * 1024.0;
    let is_same = |cell: &Cell| cell.phase.fast == phase.fast;
    let times = cells().into_iter().filter(is_same).filter_map(|cell| cell.paper?.of("never"));
    let least = times.min_by(f64::total_cmp).expect("each network has a row");
    BYTES * 8.0 / 1e6 / least
}

/// What the paper's system gains over a policy alone in its scenarios: from, to. `None` for
/// policies that the paper does not compare.
pub(super) fn gain(policy: &str) -> Option<[f64; 2]> {
    // The simulated part names the level, which is the default one.
    let policy = if policy == "zlib-6" { "zlib" } else { policy };
    GAINS.iter().find(|(name, _)| *name == policy).map(|(_, gain)| *gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_columns_are_those_that_the_paper_prints() {
        let printed = [
            [25, 86, 30],
            [18, 93, 48],
            [0, 89, 34],
            [28, 92, 38],
            [68, 80, 25],
            [3, 89, 53],
            [0, 93, 42],
            [0, 88, 46],
            [24, 89, 33],
            [11, 43, 43],
            [10, 81, 45],
            [20, 84, 46],
            [96, 85, 71],
        ];
        let rows: Vec<_> = cells().into_iter().filter_map(|cell| cell.paper).collect();
        assert_eq!(rows.len(), printed.len());
        for (times, printed) in rows.iter().zip(printed) {
            let columns = times.last_columns(ACE);
            let percent = |share: Option<f64>| (100.0 * share.unwrap()).round().max(0.0) as i32;
            let here = [columns.over_best, columns.gain_over_worst, columns.gain_without_bzip2];
            assert_eq!(here.map(percent), printed, "{times:?}");
        }
        assert_eq!(rows[0].last_columns("lzo"), LastColumns::default());
    }

    #[test]
    fn a_missing_time_leaves_a_column_unknown() {
        let without = |missing: &'static str| {
            move |name: &str| (name != missing).then_some(if name == SLOWEST { 8.0 } else { 4.0 })
        };
        let columns = LastColumns::of(2.0, without(SLOWEST));
        assert_eq!((columns.over_best, columns.gain_over_worst), (None, None));
        assert_eq!(columns.gain_without_bzip2, Some(0.5));
        assert_eq!(LastColumns::of(2.0, without("lzo")), LastColumns::default());
        assert_eq!(LastColumns::of(2.0, without("")).gain_over_worst, Some(0.75));
    }

    #[test]
    fn the_tables_imply_other_rates_than_the_text() {
        let rate = |fast| {
            let phase = Phase { fast, server: Busyness::Heavy, client: Busyness::Idle };
            (10.0 * mbit(&phase)).round() / 10.0
        };
        let networks = [Some(Busy::Idle), Some(Busy::Medium), Some(Busy::Heavy), None];
        assert_eq!(networks.map(rate), [30.2, 20.3, 11.3, 3.4]);
    }

    #[test]
    fn figure_2_is_an_idle_network_with_a_heavily_loaded_server() {
        let names: Vec<_> = cells().iter().map(ToString::to_string).collect();
        assert!(names.contains(&"fast/heavy/medium".to_owned()), "{names:?}");
        assert!(names.contains(&"fast/heavy/heavy".to_owned()), "{names:?}");
        assert_eq!(names.len(), 15);
    }
}
