//! Rows of unit length.

use crate::format::SparseRows;

/// Divides every row by its l2 norm. Rows of zeros stay as they are; the function returns their number.
pub fn normalize_rows(rows: &mut SparseRows) -> usize {
    let mut zero_rows = 0;
    for i in 0..rows.rows() {
        let row = &mut rows.values[rows.starts[i]..rows.starts[i + 1]];
        // Scaled by the largest entry, squares neither overflow nor vanish.
        let largest = row.iter().map(|v| v.abs()).fold(0.0, f64::max);
        if largest == 0.0 {
            zero_rows += 1;
            continue;
        }
        let norm = row.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
        row.iter_mut().for_each(|v| *v = *v / largest / norm);
    }
    zero_rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::SparseRow;

    #[test]
    fn rows_get_unit_length_and_zero_rows_are_counted() {
        let mut rows = SparseRows::new(4);
        for values in [[3.0, 4.0], [0.0, 0.0], [3e200, 4e200], [3e-200, 4e-200]] {
            rows.push(SparseRow { label: 1.0, indices: &[0, 3], values: &values });
        }
        assert_eq!(normalize_rows(&mut rows), 1);
        for i in [0, 2, 3] {
            let row = rows.row(i).values;
            assert!((row[0] - 0.6).abs() < 1e-15 && (row[1] - 0.8).abs() < 1e-15, "{row:?}");
        }
    }
}
