//! Rows as tables: a group for each payload, link and size, with bars, as in Figures 4 to 10 of the LMC paper.

use groupwire_lab::lossless::{Part, Row};

use super::super::common::quick;

/// The length of the longest bar in characters.
const BAR: usize = 32;

/// Prints each group when it is complete, and at the end the comparisons of several groups.
#[derive(Default)]
pub(super) struct Table {
    group: Vec<Row>,
    /// The first row of each payload, size and codec.
    ratios: Vec<Row>,
    /// The rows without compression, for the precision of the links.
    plain: Vec<Row>,
    /// For each group with auto: its name, how much slower auto was than the best codec, and that codec.
    lost: Vec<(String, f64, String)>,
}

impl Table {
    pub(super) fn take(&mut self, row: &Row) {
        if self.group.first().is_some_and(|first| title(first) != title(row)) {
            self.print();
        }
        if row.part == Part::Pingpong || row.part == Part::Baseline {
            let is_same = |one: &Row| {
                (&one.payload, one.size, &one.codec) == (&row.payload, row.size, &row.codec)
            };
            if row.part == Part::Pingpong && !self.ratios.iter().any(is_same) {
                self.ratios.push(row.clone());
            }
            let first = self.plain.first().map(|first| first.payload.clone());
            if row.codec == "none" && first.is_none_or(|first| first == row.payload) {
                self.plain.push(row.clone());
            }
        }
        self.group.push(row.clone());
    }

    /// Prints the last group and the comparisons.
    pub(super) fn finish(&mut self) {
        self.print();
        self.print_ratios();
        self.print_precision();
        self.print_lost();
    }

    fn print(&mut self) {
        let group = std::mem::take(&mut self.group);
        let Some(first) = group.first() else { return };
        println!("\n{}\n", title(first));
        let rate = |row: &&Row| row.effective_mbit;
        let Some(best) = group.iter().max_by(|one, other| rate(one).total_cmp(&rate(other))) else {
            return;
        };
        if first.rtt_us.is_none() {
            println!("{:26}{:>9}{:>10}{:>12}", "", "ratio", "Mbit/s", "on the wire");
            for row in &group {
                let what = match row.part {
                    Part::Bandwidth => "TCP alone".to_owned(),
                    _ => format!("messages, {}", row.codec),
                };
                let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
                let wire = row.wire_mbit.unwrap_or(0.0);
                println!("{what:26}{ratio:>9}{:>10.1}{wire:>12.1}{}", rate(&row), remark(row));
            }
            return;
        }
        println!(
            "{:14}{:>7}{:>10}{:>10}{:>8}{:>9}  effective throughput",
            "codec", "ratio", "µs", "mean µs", "Q", "Mbit/s"
        );
        for row in &group {
            println!(
                "{:14}{:>7.2}{:>10.1}{:>10.1}{:>8.3}{:>9.2}  {:BAR$}{}{}",
                row.codec,
                row.ratio.unwrap_or(1.0),
                row.rtt_us.unwrap_or(0.0),
                row.mean_us.unwrap_or(0.0),
                row.q.unwrap_or(1.0),
                rate(&row),
                bar(rate(&row) / rate(&best)),
                if std::ptr::eq(row, best) && group.len() > 1 { " best" } else { "" },
                remark(row),
            );
        }
        let fixed = group.iter().filter(|row| row.codec != "auto");
        let best = fixed.max_by(|one, other| rate(one).total_cmp(&rate(other)));
        if let (Some(auto), Some(best)) = (group.iter().find(|row| row.codec == "auto"), best) {
            let lost = 1.0 - rate(&auto) / rate(&best);
            self.lost.push((title(auto), lost, best.codec.clone()));
        }
    }

    /// Prints the ratios by size, as in Figure 10.
    fn print_ratios(&self) {
        let highest = self.ratios.iter().filter_map(|row| row.ratio).fold(1.0, f64::max);
        let mut title = String::new();
        for row in &self.ratios {
            let own = format!("{}, {} bytes: ratio{}", row.payload, row.size, quick(row.quick));
            if own != title {
                println!("\n{own}\n");
                title = own;
            }
            let ratio = row.ratio.unwrap_or(1.0);
            println!("{:14}{ratio:>7.2}  {}", row.codec, bar(ratio / highest));
        }
    }

    /// Prints how precisely the links delayed packets.
    fn print_precision(&self) {
        if self.plain.is_empty() {
            return;
        }
        println!("\nprecision of the links: round trips of messages as they are, in µs\n");
        println!(
            "{:>8}{:>6}{:>8}{:>12}{:>12}{:>12}{:>10}",
            "Mbit/s", "hops", "bytes", "measured", "no link", "computed", "off by"
        );
        for row in &self.plain {
            let [measured, wire] = [row.rtt_us, row.wire_us].map(|time| time.unwrap_or(0.0));
            let rate = row.link_mbit.map_or("-".to_owned(), |rate| rate.to_string());
            let (base, off) = match row.baseline_us {
                Some(base) => (format!("{base:.1}"), format!("{:.1}", measured - wire - base)),
                None => ("-".to_owned(), "-".to_owned()),
            };
            println!(
                "{rate:>8}{:>6}{:>8}{measured:>12.1}{base:>12}{wire:>12.1}{off:>10}",
                row.hops, row.size
            );
        }
    }

    fn print_lost(&self) {
        let worst = self.lost.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((place, lost, best)) = worst else { return };
        println!(
            "\nauto beside the best fixed codec of each of {} groups: at the worst {:.2} % less ({place}; best: {best})",
            self.lost.len(),
            100.0 * lost
        );
    }
}

fn title(row: &Row) -> String {
    let link = match row.link_mbit {
        Some(rate) => format!("{rate} Mbit/s, {} hops", row.hops),
        None => "a link that takes no time".to_owned(),
    };
    format!("{}, {link}, {} bytes{}", row.payload, row.size, quick(row.quick))
}

fn remark(row: &Row) -> String {
    let mut remarks = Vec::new();
    if let Some(picked) = &row.picked {
        let mut picked: Vec<_> = picked.iter().collect();
        picked.sort_by(|one, other| other.1.total_cmp(one.1));
        let share = |(name, share): &(&String, &f64)| format!("{:.0} % {name}", 100.0 * **share);
        remarks.push(picked.iter().take(3).map(share).collect::<Vec<_>>().join(", "));
    }
    remarks.extend(row.failure.clone());
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join("; ")) }
}

fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * BAR as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.extend(char::from_u32(0x2590 - eighths as u32 % 8));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(1.0).chars().count(), BAR);
        assert_eq!(bar(0.5), "█".repeat(BAR / 2));
        assert_eq!(bar(0.5 / BAR as f64), "▌");
        assert_eq!((bar(0.0), bar(f64::NAN)), (String::new(), String::new()));
    }
}
