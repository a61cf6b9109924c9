//! The split of a leaf of a regression tree that grows on histograms.

use multiversion::multiversion;

/// The number of bins of a column.
pub const BINS: usize = 16;

/// The rows of a leaf, by the bins of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The sums of the residuals of the rows in each bin.
    pub sums: [f64; BINS],
    /// The numbers of these rows.
    pub rows: [f64; BINS],
}

/// A cut of a column: the rows of the bins up to `cut`, and the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// What the cut gains; see [`best_split`].
    pub gain: f64,
    /// The number of the column.
    pub column: usize,
    /// The number of the last bin below the cut.
    pub cut: usize,
}

/// What a split must have.
#[derive(Clone, Copy, Debug)]
pub struct SplitRule {
    /// `l2`: each part counts as if it had this many rows of residual zero besides its own.
    pub prior: f64,
    /// The least number of rows of a part.
    pub least_rows: f64,
    /// Its gain is above this.
    pub least_gain: f64,
}

/// Returns the split of largest gain; of equal ones the first. With `G` the sum of the residuals of `n` rows,
/// the gain is
///
/// ```text
/// G_below^2 / (n_below + l2) + G_above^2 / (n_above + l2) - G^2 / (n + l2)
/// ```
///
/// `histograms` has one histogram per column, and `whole` the sum of the residuals of all rows and their
/// number. A gain that is NaN is none.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn best_split(histograms: &[Histogram], whole: (f64, f64), rule: SplitRule) -> Option<Split> {
    let (all, all_rows) = whole;
    let score = |sum: f64, rows: f64| sum * sum / (rows + rule.prior);
    let before = score(all, all_rows);
    let mut best = None;
    let mut least = rule.least_gain;
    for (column, histogram) in histograms.iter().enumerate() {
        let Histogram { mut sums, mut rows } = *histogram;
        for bin in 1..BINS {
            sums[bin] += sums[bin - 1];
            rows[bin] += rows[bin - 1];
        }
        // Of all cuts, so that several divisions are made at once.
        let gains: [f64; BINS] = std::array::from_fn(|cut| {
            let (below, above) = (rows[cut], all_rows - rows[cut]);
            let gain = score(sums[cut], below) + score(all - sums[cut], above) - before;
            let enough = (below >= rule.least_rows) & (above >= rule.least_rows);
            if enough { gain } else { f64::NEG_INFINITY }
        });
        let largest = gains.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        if largest > least
            && let Some(cut) = gains.iter().position(|&gain| gain == largest)
        {
            least = largest;
            best = Some(Split { gain: largest, column, cut });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_cut_gains_more(
            // Few values, so that several cuts gain the same.
            bins in prop::collection::vec((-3..4i32, 0..5u32), 3 * BINS),
            least_rows in 0..8u32,
        ) {
            let mut histograms = [Histogram::default(); 3];
            for (at, &(sum, rows)) in bins.iter().enumerate() {
                let (column, bin) = (&mut histograms[at / BINS], at % BINS);
                (column.sums[bin], column.rows[bin]) = (f64::from(sum), f64::from(rows));
            }
            let total = |values: &[f64]| values.iter().sum::<f64>();
            let whole = (total(&histograms[0].sums), total(&histograms[0].rows));
            let rule = SplitRule { prior: 1.0, least_rows: f64::from(least_rows), least_gain: 0.25 };
            let mut naive: Option<Split> = None;
            for (column, Histogram { sums, rows }) in histograms.iter().enumerate() {
                for cut in 0..BINS {
                    let (sum, n) = (total(&sums[..=cut]), total(&rows[..=cut]));
                    let score = |sum: f64, n: f64| sum * sum / (n + 1.0);
                    let gain = score(sum, n) + score(whole.0 - sum, whole.1 - n) - score(whole.0, whole.1);
                    let enough = n.min(whole.1 - n) >= rule.least_rows;
                    if enough && gain > naive.map_or(0.25, |best| best.gain) {
                        naive = Some(Split { gain, column, cut });
                    }
                }
            }
            prop_assert_eq!(best_split(&histograms, whole, rule), naive);
        }
    }
}
