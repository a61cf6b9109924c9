//! Inner products of the columns of a support with each other and with the labels, in each layout.
//!
//! All functions add to their [`Products`].

use crate::sweep::PARALLEL;
use lao_kernels::{Compressed, Element, TILE, axpy_column, gradient_block, scatter_axpy};
use rayon::prelude::*;

/// What is added to: inner products of the columns of the support with each other, the lower triangle row by
/// row, and with the labels.
pub(crate) struct Products<'a> {
    pub gram: &'a mut [f64],
    pub right: &'a mut [f64],
}

/// Buffers for inner products of columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct GramScratch {
    own: Vec<f64>,
    slots: Vec<u32>,
    places: Vec<u32>,
}

/// Returns the values in double precision: borrowed where they are stored so, else converted.
pub(crate) fn doubles<'a, T: Element>(values: &'a [T], scratch: &'a mut Vec<f64>) -> &'a [f64] {
    if let Some(values) = T::as_f64(values) {
        return values;
    }
    scratch.clear();
    scratch.extend(values.iter().map(|value| value.to_f64()));
    scratch
}

/// Adds for dense columns of `n` values: each row of the Gram matrix is one thread's.
pub(crate) fn columns<T: Element>(
    values: &[T],
    n: usize,
    support: &[u32],
    labels: &[f64],
    products: Products<'_>,
) {
    let Products { gram, right } = products;
    let size = support.len();
    let row = |(a, gram): (usize, &mut [f64])| {
        let mut wide = Vec::new();
        for start in (0..n).step_by(TILE) {
            let end = n.min(start + TILE);
            let column = |&j: &u32| &values[j as usize * n..][start..end];
            let own = doubles(column(&support[a]), &mut wide);
            gradient_block(support[..=a].iter().map(column), own, &mut gram[..=a]);
        }
    };
    if n * size * size < PARALLEL {
        gram.chunks_exact_mut(size.max(1)).enumerate().for_each(row);
    } else {
        gram.par_chunks_exact_mut(size).enumerate().for_each(row);
    }
    let column = |&j: &u32| &values[j as usize * n..][..n];
    gradient_block(support.iter().map(column), labels, right);
}

/// Adds for dense rows.
pub(crate) fn rows<T: Element>(
    values: &[T],
    dim: usize,
    support: &[u32],
    labels: &[f64],
    products: Products<'_>,
    GramScratch { own, .. }: &mut GramScratch,
) {
    let Products { gram, right } = products;
    let size = support.len();
    own.resize(size, 0.0);
    for (row, label) in values.chunks_exact(dim.max(1)).zip(labels) {
        own.iter_mut().zip(support).for_each(|(own, &j)| *own = row[j as usize].to_f64());
        for (a, &value) in own.iter().enumerate() {
            axpy_column(&mut gram[a * size..][..=a], &own[..=a], value);
        }
        axpy_column(right, own, *label);
    }
}

/// Adds for compressed rows.
pub(crate) fn compressed_rows<T: Element>(
    rows: &Compressed<T>,
    support: &[u32],
    labels: &[f64],
    products: Products<'_>,
    GramScratch { own, slots, places }: &mut GramScratch,
) {
    let Products { gram, right } = products;
    let size = support.len();
    slots.clear();
    slots.resize(rows.width(), u32::MAX);
    support.iter().zip(0..).for_each(|(&j, slot)| slots[j as usize] = slot);
    for (i, label) in labels.iter().enumerate() {
        let (indices, values) = rows.line(i);
        places.clear();
        own.clear();
        for (&j, value) in indices.iter().zip(values) {
            let slot = slots[j as usize];
            if slot != u32::MAX {
                places.push(slot);
                own.push(value.to_f64());
            }
        }
        for (a, (&slot, &value)) in places.iter().zip(&*own).enumerate() {
            // Slots ascend with the attributes, so this stays in the lower triangle.
            scatter_axpy(&mut gram[slot as usize * size..], &places[..=a], &own[..=a], value);
        }
        scatter_axpy(right, places, own, *label);
    }
}
