//! The cheapest mixtures of two sets of repeats: some messages are sent with one set, all others
//! with the other set. A message misses if it does not arrive by its deadline; the target is the
//! share of messages that may miss.

use alloc::vec::Vec;

use crate::code::Repeats;

/// A set of repeats as a point: the share of messages that miss, and the cost in bytes per message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) misses: f64,
    pub(super) cost: f64,
    pub(super) repeats: Repeats,
}

/// The lower convex hull of points, those with the fewest misses first: the points that no mixture
/// of two others beats.
pub(super) struct Hull {
    points: Vec<Point>,
}

impl Hull {
    pub(super) const fn new() -> Self {
        Hull { points: Vec::new() }
    }

    /// Adds a point, and removes points that no longer belong to the hull.
    pub(super) fn add(&mut self, point: Point) {
        let points = &mut self.points;
        let at = points.partition_point(|other| other.misses < point.misses);
        let beaten = match (at.checked_sub(1).map(|left| &points[left]), points.get(at)) {
            (Some(left), _) if left.cost <= point.cost => true,
            (_, Some(right)) if right.misses == point.misses && right.cost <= point.cost => true,
            (Some(left), Some(right)) => !is_below(&point, left, right),
            _ => false,
        };
        if beaten {
            return;
        }
        let dearer = points[at..].iter().take_while(|other| other.cost >= point.cost).count();
        points.splice(at..at + dearer, [point]);
        while at + 2 < points.len() && !is_below(&points[at + 1], &point, &points[at + 2]) {
            points.remove(at + 1);
        }
        let mut at = at;
        while at >= 2 && !is_below(&points[at - 1], &points[at - 2], &point) {
            points.remove(at - 1);
            at -= 1;
        }
    }

    /// The two neighbouring points of the hull on either side of the target: first the one that
    /// holds the target, then the one that misses more. `None` if all points lie on one side.
    pub(super) fn around(&self, target: f64) -> Option<(&Point, &Point)> {
        let at = self.points.partition_point(|point| point.misses <= target);
        Some((self.points.get(at.checked_sub(1)?)?, self.points.get(at)?))
    }
}

/// Whether a point lies below the line between a point to its left and one to its right.
fn is_below(point: &Point, left: &Point, right: &Point) -> bool {
    (point.cost - left.cost) * (right.misses - left.misses)
        < (right.cost - left.cost) * (point.misses - left.misses)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn points_that_no_mixture_beats_are_kept() {
        let mut random = oorandom::Rand64::new(1);
        let points: Vec<Point> = (0..300)
            .map(|_| {
                let misses = random.rand_float();
                Point {
                    misses,
                    cost: 1.0 / (0.1 + misses) + random.rand_float(),
                    repeats: Repeats::NONE,
                }
            })
            .collect();
        let mut hull = Hull::new();
        points.iter().for_each(|point| hull.add(*point));
        assert!(hull.points.len() > 3);
        for target in [0.05, 0.2, 0.5, 0.8] {
            let (stronger, weaker) = hull.around(target).unwrap();
            let mixed = |a: &Point, b: &Point| {
                let share = (b.misses - target) / (b.misses - a.misses);
                share * a.cost + (1.0 - share) * b.cost
            };
            let mut least = f64::INFINITY;
            for a in points.iter().filter(|point| point.misses <= target) {
                for b in points.iter().filter(|point| point.misses > target) {
                    least = least.min(mixed(a, b));
                }
            }
            assert!((mixed(stronger, weaker) - least).abs() < 1e-9);
        }
    }
}
