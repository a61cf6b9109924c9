//! A sparse iterate that is thresholded after every step while most of the step stays the same:
//! `x <- H_k(a x + w - b)` with a dense drift `w` that is fixed for an epoch, a factor `a`, and a sparse
//! correction `b`, at a cost of O(k + nnz(b)) a step.
//!
//! *Where it comes from.* Variance-reduced hard thresholding on linear models has `w = -eta mu` with the
//! snapshot gradient mu, a correction `b` from the mini-batch, and `a = 1 - eta lambda` with the weight
//! lambda of the l2 term. A direct implementation passes over all d coordinates in every step.
//!
//! *Invariant.* Let `u = a x + w - b`, S the support of x, T the places of b. Then
//!
//! 1. `u_j = w_j` for every j outside S and T, since `x_j = 0` and `b_j = 0`. These *untouched* coordinates
//!    have the value that they have throughout the epoch.
//! 2. So the order of all coordinates by (|w_j| falling, j rising), made once per epoch, is also the order in
//!    which untouched coordinates compete: among them `H_k` takes a prefix of the order with S and T skipped.
//! 3. At most k untouched coordinates can be kept, so the walk along the order ends after at most k + |S| +
//!    |T| <= 2k + |T| places; it ends earlier, at the first place that does not beat the worst member of S,
//!    when S is full, because later places are no better.
//! 4. A member of S that beats every entrant stays, whatever happens below it: only members that some entrant
//!    beats compete with the entrants, for as many slots as these members have (and those still free).
//!
//! By 1 to 3 the entrants are exactly the coordinates outside S that H_k could keep, by 4 the rest of S is
//! kept; hence the result is that of H_k on all of u, ties included: both compare by (magnitude, lower
//! index). The values are those of the formula above, evaluated in that order, so a dense implementation has
//! the same bits.
//!
//! *Cost.* A step makes one pass over the members, one over T, and the walk. The order is sorted as far as
//! walks have come, in pieces of doubling length that are found by selection, so that an epoch pays O(d) once
//! in most cases, and O(log(k + |T|)) times at most. If no untouched coordinate ever beats the worst member,
//! nothing is sorted. An entrant that beats the worst member costs a second pass over the members, and a
//! selection among those at risk.
//!
//! The naive step moves each member to `a x_j + w_j - b_j`, and takes the smallest magnitude as the worst.
//! Three departures are for speed:
//!
//! 1. the pass over the members leaves b out. It neither branches nor reads scattered places, so that it uses
//!    the full vector width. Every member moves in every step, so a step without this pass would have other
//!    bits;
//! 2. b is subtracted on T alone. The worst of all members is the worst before b, or a member of T. Only if
//!    the worst before b is itself in T does a second pass over the members find the worst;
//! 3. coordinates in T are marked only before a walk, and most steps have no walk.

mod order;
#[cfg(test)]
mod tests;

use crate::threshold::{HardThreshold, NotFinite, Threshold, check_finite};
use crate::vector::{SparseVector, SparseView};
use multiversion::multiversion;
use order::Order;

/// The slot of every coordinate outside the support. Its value is always zero, so that gathers need no
/// branch.
const OUTSIDE: u32 = 0;

/// A k-sparse iterate `x` of dimension d under steps `x <- H_k(a x + w - b)`.
///
/// Members of the support stand in slots 1, 2, ... in no particular order.
#[derive(Clone, Debug)]
pub struct LazyThresholdIterate {
    sparsity: usize,
    drift: Vec<f64>,
    /// The slot of each coordinate, or [`OUTSIDE`].
    slots: Vec<u32>,
    /// The coordinate in each slot.
    members: Vec<u32>,
    values: Vec<f64>,
    /// Values after the step that is being made. `values` remains until the step is known to be finite.
    moved: Vec<f64>,
    /// `drift` of each member.
    drifts: Vec<f64>,
    /// The smallest magnitude among `moved`.
    worst: f64,
    /// The value of each touched coordinate after the step, if it is outside the support; 0 for members.
    outside: Vec<f64>,
    order: Order,
    /// For each coordinate, the number of the last step that touched it, among the steps with a walk.
    stamps: Vec<u32>,
    /// The number of steps with a walk.
    step: u32,
    entrants: Vec<Rival>,
    rivals: Vec<Rival>,
    free: Vec<u32>,
    dense: Vec<f64>,
    kept: SparseVector,
    threshold: HardThreshold,
}

/// A coordinate that competes for a slot, or to keep its own.
#[derive(Clone, Copy, Debug)]
struct Rival {
    value: f64,
    index: u32,
    slot: u32,
}

impl Rival {
    /// Compares by falling magnitude, and equal magnitudes by rising index.
    fn order(&self, other: &Rival) -> std::cmp::Ordering {
        let key = |rival: &Rival| rival.value.abs().to_bits();
        key(other).cmp(&key(self)).then(self.index.cmp(&other.index))
    }
}

impl LazyThresholdIterate {
    /// Returns the zero iterate without drift.
    pub fn new(dim: usize, sparsity: usize) -> LazyThresholdIterate {
        let capacity = sparsity.min(dim) + 1;
        let mut zero = Vec::with_capacity(capacity);
        zero.push(0.0);
        let mut none = Vec::with_capacity(capacity);
        none.push(0);
        LazyThresholdIterate {
            sparsity,
            drift: vec![0.0; dim],
            slots: vec![OUTSIDE; dim],
            members: none,
            values: zero.clone(),
            moved: zero.clone(),
            drifts: zero,
            worst: 0.0,
            outside: Vec::new(),
            order: Order::default(),
            stamps: vec![0; dim],
            step: 0,
            entrants: Vec::with_capacity(capacity),
            rivals: Vec::with_capacity(2 * capacity),
            free: Vec::with_capacity(capacity),
            dense: Vec::new(),
            kept: SparseVector::zeros(dim),
            threshold: HardThreshold::default(),
        }
    }

    /// Returns the dimension.
    pub fn dim(&self) -> usize {
        self.drift.len()
    }

    /// Returns the number of members of the support.
    pub fn len(&self) -> usize {
        self.members.len() - 1
    }

    /// Returns whether the support is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns coordinate `index` of the iterate.
    ///
    /// # Panics
    /// Panics if `index` is not below the dimension.
    pub fn get(&self, index: u32) -> f64 {
        self.values[self.slots[index as usize] as usize]
    }

    /// Returns the inner product of the iterate with a sparse vector, in four accumulators.
    ///
    /// # Panics
    /// Panics if an index is not below the dimension.
    pub fn dot(&self, indices: &[u32], values: &[f64]) -> f64 {
        let (index_chunks, index_tail) = indices.as_chunks::<4>();
        let (value_chunks, value_tail) = values.as_chunks::<4>();
        let mut acc = [0.0; 4];
        for (index, value) in index_chunks.iter().zip(value_chunks) {
            for lane in 0..4 {
                acc[lane] += value[lane] * self.get(index[lane]);
            }
        }
        for (acc, (&index, value)) in acc.iter_mut().zip(index_tail.iter().zip(value_tail)) {
            *acc += value * self.get(index);
        }
        (acc[0] + acc[2]) + (acc[1] + acc[3])
    }

    /// Returns the inner product of the iterate with a dense vector.
    ///
    /// # Panics
    /// Panics if `dense` is shorter than the dimension.
    pub fn dot_dense(&self, dense: &[f64]) -> f64 {
        crate::gather_dot(&self.members[1..], &self.values[1..], dense)
    }

    /// Writes the iterate to `into`.
    pub fn read(&self, into: &mut SparseVector) {
        into.reset(self.dim());
        into.fill_from(&self.members[1..], |member| self.get(member));
    }

    /// Sets the iterate to the k largest entries of `x`; the drift stays.
    ///
    /// # Errors
    /// Fails when an entry is not finite; the iterate stays as it was.
    ///
    /// # Panics
    /// Panics if the dimension of `x` is another.
    pub fn load(&mut self, x: SparseView<'_>) -> Result<(), NotFinite> {
        assert_eq!(x.dim(), self.dim(), "the dimension of the iterate");
        if let Some((index, value)) = x.iter().find(|(_, value)| !value.is_finite()) {
            return Err(NotFinite { index: index as usize, value });
        }
        self.rivals.clear();
        let rivals = x.iter().filter(|(_, value)| *value != 0.0);
        self.rivals.extend(rivals.map(|(index, value)| Rival { value, index, slot: OUTSIDE }));
        let keep = self.sparsity.min(self.rivals.len());
        if keep < self.rivals.len() {
            self.rivals.select_nth_unstable_by(keep, Rival::order);
        }
        self.empty();
        for at in 0..keep {
            let Rival { value, index, .. } = self.rivals[at];
            self.enter(index, value);
        }
        Ok(())
    }

    /// Begins an epoch with the drift `w_j = weight * direction_j`.
    ///
    /// # Errors
    /// Fails when an entry is not finite; the drift stays as it was.
    ///
    /// # Panics
    /// Panics if `direction` does not have one entry per coordinate.
    pub fn begin(&mut self, weight: f64, direction: &[f64]) -> Result<(), NotFinite> {
        assert_eq!(direction.len(), self.dim(), "one entry per coordinate");
        check_finite(direction)?;
        let mut largest = [0.0; 8];
        let (chunks, tail) = direction.as_chunks::<8>();
        let (drifts, drift_tail) = self.drift.as_chunks_mut::<8>();
        for (drift, direction) in drifts.iter_mut().zip(chunks) {
            for lane in 0..8 {
                drift[lane] = weight * direction[lane];
                largest[lane] = max(largest[lane], drift[lane].abs());
            }
        }
        for (drift, direction) in drift_tail.iter_mut().zip(tail) {
            *drift = weight * direction;
            largest[0] = max(largest[0], drift.abs());
        }
        self.order.begin(largest.into_iter().fold(0.0, max));
        for (drift, &member) in self.drifts[1..].iter_mut().zip(&self.members[1..]) {
            *drift = self.drift[member as usize];
        }
        Ok(())
    }

    /// Makes one step: `x <- H_k(factor x + w - b)`, where b has `correction[i]` at `touched[i]` and zeros
    /// elsewhere. The places must be distinct, in any order.
    ///
    /// # Errors
    /// Fails when an entry of `factor x + w - b` is not finite; the iterate stays as it was.
    ///
    /// # Panics
    /// Panics if a place is not below the dimension.
    pub fn step(&mut self, factor: f64, touched: &[u32], correction: &[f64]) -> Result<(), NotFinite> {
        self.prepare(factor, touched, correction)?;
        self.commit(touched);
        Ok(())
    }

    /// Computes and checks the first half of a [`step`](Self::step), without moving the iterate. A caller
    /// with several iterates prepares all of them before it commits any.
    ///
    /// # Errors
    /// Fails when an entry is not finite.
    ///
    /// # Panics
    /// Panics if a place is not below the dimension.
    pub fn prepare(&mut self, factor: f64, touched: &[u32], correction: &[f64]) -> Result<(), NotFinite> {
        debug_assert_eq!(touched.len(), correction.len());
        // 1. All members move, without the correction.
        let (untouched, members_finite) =
            advance(factor, &self.values[1..], &self.drifts[1..], &mut self.moved[1..]);
        // 2. The correction is subtracted where it is not zero.
        let (mut finite, mut lowest, mut holds_worst) = (0.0, untouched, false);
        self.outside.clear();
        for (&index, correction) in touched.iter().zip(correction) {
            let slot = self.slots[index as usize];
            // All coordinates outside the support share one slot, whose content is never used.
            let is_member = slot != OUTSIDE;
            let before = self.moved[slot as usize];
            let member = before - correction;
            self.moved[slot as usize] = member;
            let nonmember = self.drift[index as usize] - correction;
            self.outside.push(if is_member { 0.0 } else { nonmember });
            holds_worst |= is_member & (before.abs() == untouched);
            lowest = min(lowest, if is_member { member.abs() } else { untouched });
            finite += 0.0 * if is_member { member } else { nonmember };
        }
        self.moved[OUTSIDE as usize] = 0.0;
        self.worst = if holds_worst { worst(&self.moved[1..]) } else { lowest };
        if finite == 0.0 && members_finite { Ok(()) } else { Err(self.not_finite(touched, correction)) }
    }

    /// Does the second half of a [`step`](Self::step): moves the iterate. The caller has called
    /// [`prepare`](Self::prepare) with the same places.
    pub fn commit(&mut self, touched: &[u32]) {
        let bar = if self.len() < self.sparsity { 0.0 } else { self.worst };
        let best = self.collect_entrants(touched, bar);
        if best > 0.0 || (self.worst == 0.0 && !self.is_empty()) {
            self.exchange(best);
        }
        std::mem::swap(&mut self.values, &mut self.moved);
    }

    /// Makes one step with a dense correction: `x <- H_k(factor x + w - b)`, in O(d).
    ///
    /// # Errors
    /// Fails in the cases of [`step`](Self::step).
    ///
    /// # Panics
    /// Panics if `correction` does not have one entry per coordinate.
    pub fn step_dense(&mut self, factor: f64, correction: &[f64]) -> Result<(), NotFinite> {
        self.prepare_dense(factor, correction)?;
        self.commit_dense();
        Ok(())
    }

    /// Computes and checks the first half of a [dense step](Self::step_dense), without moving the iterate.
    ///
    /// # Errors
    /// Fails when an entry is not finite.
    ///
    /// # Panics
    /// Panics if `correction` does not have one entry per coordinate.
    pub fn prepare_dense(&mut self, factor: f64, correction: &[f64]) -> Result<(), NotFinite> {
        assert_eq!(correction.len(), self.dim(), "one entry per coordinate");
        self.dense.clear();
        self.dense.extend(self.drift.iter().zip(correction).map(|(drift, correction)| drift - correction));
        for (&member, value) in self.members.iter().zip(&self.values).skip(1) {
            // The order of the terms is that of a sparse step.
            let at = member as usize;
            self.dense[at] = (factor * value + self.drift[at]) - correction[at];
        }
        self.threshold.keep(&self.dense, self.sparsity, &mut self.kept)
    }

    /// Does the second half of a [dense step](Self::step_dense): moves the iterate.
    pub fn commit_dense(&mut self) {
        self.empty();
        for at in 0..self.kept.len() {
            self.enter(self.kept.indices()[at], self.kept.values()[at]);
        }
    }

    /// Lists the coordinates outside the support whose magnitude reaches `bar`. Returns the largest of these
    /// magnitudes, or 0 if there are none.
    fn collect_entrants(&mut self, touched: &[u32], bar: f64) -> f64 {
        self.entrants.clear();
        let mut best = 0.0;
        for (&index, &value) in touched.iter().zip(&self.outside) {
            if value.abs() >= bar && value != 0.0 {
                self.entrants.push(Rival { value, index, slot: OUTSIDE });
                best = max(best, value.abs());
            }
        }
        if self.order.largest < bar || self.order.largest == 0.0 {
            return best;
        }
        // 3. Only a step with a walk marks the coordinates that it touches.
        self.next_stamp();
        touched.iter().for_each(|&index| self.stamps[index as usize] = self.step);
        let (mut place, mut free) = (0, self.sparsity);
        while free > 0
            && let Some(index) = self.order.get(place, &self.drift, self.sparsity + 64)
        {
            place += 1;
            let value = self.drift[index as usize];
            if value.abs() < bar || value == 0.0 {
                break;
            }
            if self.slots[index as usize] == OUTSIDE && self.stamps[index as usize] != self.step {
                self.entrants.push(Rival { value, index, slot: OUTSIDE });
                best = max(best, value.abs());
                free -= 1;
            }
        }
        best
    }

    /// Lets the entrants compete with the members whose magnitude is at most `best`, that of the best
    /// entrant.
    fn exchange(&mut self, best: f64) {
        self.rivals.clear();
        for (slot, (&value, &index)) in self.moved.iter().zip(&self.members).enumerate().skip(1) {
            if value.abs() <= best {
                self.rivals.push(Rival { value, index, slot: slot as u32 });
            }
        }
        let safe = self.len() - self.rivals.len();
        self.rivals.append(&mut self.entrants);
        let keep = (self.sparsity - safe).min(self.rivals.len());
        if keep > 0 && keep < self.rivals.len() {
            self.rivals.select_nth_unstable_by(keep - 1, Rival::order);
        }
        self.free.clear();
        for (at, rival) in self.rivals.iter().enumerate() {
            if rival.slot != OUTSIDE && (at >= keep || rival.value == 0.0) {
                self.slots[rival.index as usize] = OUTSIDE;
                self.free.push(rival.slot);
            }
        }
        for at in 0..keep {
            let Rival { value, index, slot } = self.rivals[at];
            if slot != OUTSIDE {
                continue;
            }
            match self.free.pop() {
                Some(slot) => {
                    self.slots[index as usize] = slot;
                    self.members[slot as usize] = index;
                    self.moved[slot as usize] = value;
                    self.drifts[slot as usize] = self.drift[index as usize];
                }
                None => {
                    self.enter(index, value);
                    let last = self.moved.len() - 1;
                    self.moved[last] = value;
                }
            }
        }
        // More members left than entered, because fewer than k entries differ from zero. Free the higher
        // slots first, so that the slot that moves down is never itself free.
        self.free.sort_unstable();
        while let Some(slot) = self.free.pop() {
            self.leave(slot as usize);
        }
    }

    /// Gives coordinate `index` a new slot.
    fn enter(&mut self, index: u32, value: f64) {
        self.slots[index as usize] = self.members.len() as u32;
        self.members.push(index);
        self.values.push(value);
        self.moved.push(value);
        self.drifts.push(self.drift[index as usize]);
    }

    /// Removes a slot whose coordinate has left already; the last slot moves there.
    fn leave(&mut self, slot: usize) {
        self.members.swap_remove(slot);
        self.values.swap_remove(slot);
        self.moved.swap_remove(slot);
        self.drifts.swap_remove(slot);
        if let Some(&member) = self.members.get(slot) {
            self.slots[member as usize] = slot as u32;
        }
    }

    fn empty(&mut self) {
        for &member in &self.members[1..] {
            self.slots[member as usize] = OUTSIDE;
        }
        self.members.truncate(1);
        self.values.truncate(1);
        self.moved.truncate(1);
        self.drifts.truncate(1);
    }

    fn next_stamp(&mut self) {
        if self.step == u32::MAX {
            self.stamps.fill(0);
            self.step = 0;
        }
        self.step += 1;
    }

    /// Returns the lowest coordinate at which the step is not finite.
    #[cold]
    fn not_finite(&self, touched: &[u32], correction: &[f64]) -> NotFinite {
        let outside =
            touched.iter().zip(correction).filter(|(index, _)| self.slots[**index as usize] == OUTSIDE);
        let outside = outside.map(|(&index, correction)| (index, self.drift[index as usize] - correction));
        let members = self.members.iter().copied().zip(self.moved.iter().copied()).skip(1);
        let not_finite = outside.chain(members).filter(|(_, value)| !value.is_finite());
        let (index, value) = not_finite.min_by_key(|(index, _)| *index).unwrap_or((0, f64::NAN));
        NotFinite { index: index as usize, value }
    }
}

/// The number of values that are processed at a time: two of the widest vectors, which do not depend on each
/// other.
const LANES: usize = 16;

/// Sets `moved` to `factor value + drift`. Returns the smallest magnitude (infinite for no values), and
/// whether all are finite.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn advance(factor: f64, values: &[f64], drifts: &[f64], moved: &mut [f64]) -> (f64, bool) {
    let (value_chunks, value_tail) = values.as_chunks::<LANES>();
    let (drift_chunks, drift_tail) = drifts.as_chunks::<LANES>();
    let (moved_chunks, moved_tail) = moved.as_chunks_mut::<LANES>();
    let (mut smallest, mut carries) = ([f64::INFINITY; LANES], [0; LANES]);
    for ((moved, value), drift) in moved_chunks.iter_mut().zip(value_chunks).zip(drift_chunks) {
        for lane in 0..LANES {
            let next = factor * value[lane] + drift[lane];
            moved[lane] = next;
            smallest[lane] = min(smallest[lane], next.abs());
            // The exponent of a value that is not finite is all ones, so that one more carries.
            carries[lane] |= next.abs().to_bits() + (1 << 52);
        }
    }
    let (mut lowest, mut carry) = (smallest.into_iter().fold(f64::INFINITY, min), 0);
    for ((moved, value), drift) in moved_tail.iter_mut().zip(value_tail).zip(drift_tail) {
        let next = factor * value + drift;
        *moved = next;
        lowest = min(lowest, next.abs());
        carry |= next.abs().to_bits() + (1 << 52);
    }
    let carry: u64 = carries.into_iter().fold(carry, |all, carry| all | carry);
    (lowest, carry >> 63 == 0)
}

/// Returns the smallest magnitude; infinite for no values.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn worst(values: &[f64]) -> f64 {
    let (chunks, tail) = values.as_chunks::<LANES>();
    let mut smallest = [f64::INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            smallest[lane] = min(smallest[lane], chunk[lane].abs());
        }
    }
    let lowest = smallest.into_iter().fold(f64::INFINITY, min);
    tail.iter().fold(lowest, |lowest, value| min(lowest, value.abs()))
}

// These comparisons compile to one instruction each. The callers detect NaN by other means.
#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}
