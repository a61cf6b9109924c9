//! The order in which coordinates that no step touches compete for slots.

/// The coordinates by falling magnitude of the drift, sorted as far as needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    coordinates: Vec<u32>,
    sorted: usize,
    /// The largest magnitude.
    pub(super) largest: f64,
}

impl Order {
    /// Discards the order, since the drift has changed; `largest` is the new largest magnitude.
    pub(super) fn begin(&mut self, largest: f64) {
        (self.sorted, self.largest) = (0, largest);
        self.coordinates.clear();
    }

    /// Returns the coordinate at a place of the order. At least `at_least` places are sorted at first.
    #[inline(always)]
    pub(super) fn get(&mut self, place: usize, drift: &[f64], at_least: usize) -> Option<u32> {
        if place >= self.sorted {
            self.sort_more(drift, at_least);
        }
        self.coordinates.get(place).copied()
    }

    #[cold]
    fn sort_more(&mut self, drift: &[f64], at_least: usize) {
        if self.coordinates.is_empty() {
            self.coordinates.extend(0..drift.len() as u32);
        }
        let rest = &mut self.coordinates[self.sorted..];
        let size = self.sorted.max(at_least).min(rest.len());
        let key = |j: u32| (std::cmp::Reverse(drift[j as usize].abs().to_bits()), j);
        if size > 0 && size < rest.len() {
            rest.select_nth_unstable_by_key(size, |&j| key(j));
        }
        rest[..size].sort_unstable_by_key(|&j| key(j));
        self.sorted += size;
    }
}
