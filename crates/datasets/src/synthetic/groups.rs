//! Groups of signs that agree: one common sign, blocks of equal correlation, duplicated attributes.

use super::words::{chance, fill_signs, mix_signs};
use super::{Design, DesignError, SpectrumBounds, Words, check_dim, identity_times};
use lao_kernels::SparseView;

/// The first `common` attributes are one and the same sign; the others are independent signs. `R_inf = 1`.
///
/// Over the common attributes, all entries of Sigma are 1, so that its least eigenvalue over two or more
/// attributes is 0. The design is a worst case for concentration, not a problem with a unique answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonSign {
    dim: usize,
    common: usize,
}

impl CommonSign {
    /// Returns the design of `dim` attributes, `common` of which are equal.
    ///
    /// # Errors
    /// Fails when `dim` is 0 or above 2^32, or `common` is not from 1 to `dim`.
    pub fn new(dim: usize, common: usize) -> Result<CommonSign, DesignError> {
        const DESIGN: &str = "CommonSign";
        let dim = check_dim(DESIGN, dim, true, "1 to 2^32 attributes")?;
        check_size(DESIGN, "common", common, dim)?;
        Ok(CommonSign { dim, common })
    }

    /// Returns the entries of `v` on the common attributes, summed, and the squares of the others.
    fn split(&self, v: SparseView<'_>) -> (f64, f64) {
        v.iter().fold((0.0, 0.0), |(common, others), (j, value)| {
            if (j as usize) < self.common {
                (common + value, others)
            } else {
                (common, others + value * value)
            }
        })
    }
}

impl Design for CommonSign {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let stream = words.stream(0, if (attribute as usize) < self.common { 0 } else { attribute });
        fill_signs(first_row, out, |row| stream.word(row));
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        let (common, others) = self.split(v);
        common * common + others
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        identity_times(v, out);
        let (common, _) = self.split(v);
        out[..self.common].fill(common);
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        let equal = order.clamp(1, self.common);
        SpectrumBounds::exact(if equal >= 2 { 0.0 } else { 1.0 }, equal as f64)
    }
}

/// Blocks of `size` consecutive attributes: two attributes of a block have correlation `rho`, others are
/// independent. `R_inf = 1`.
///
/// Each attribute shows its block's sign with probability `sqrt(rho)` and a sign of its own otherwise. The
/// last block may be shorter. Over supports of m attributes, with `b = min(m, size)`, the eigenvalues of
/// Sigma extend from `1 - rho` (if b >= 2) to `1 + (b - 1) rho`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EquicorrelatedBlocks {
    dim: usize,
    size: usize,
    rho: f64,
}

impl EquicorrelatedBlocks {
    /// Returns the design of blocks of `size` among `dim` attributes, with correlation `rho` within.
    ///
    /// # Errors
    /// Fails when `dim` is 0 or above 2^32, `size` is not from 1 to `dim`, or `rho` is not from 0 up to, but
    /// not including, 1.
    pub fn new(dim: usize, size: usize, rho: f64) -> Result<EquicorrelatedBlocks, DesignError> {
        const DESIGN: &str = "EquicorrelatedBlocks";
        let dim = check_dim(DESIGN, dim, true, "1 to 2^32 attributes")?;
        check_size(DESIGN, "size", size, dim)?;
        if !(0.0..1.0).contains(&rho) {
            let allowed = "from 0 up to, but not including, 1 (for 1 use Duplicated)";
            return Err(DesignError::Parameter { design: DESIGN, field: "rho", value: rho, allowed });
        }
        Ok(EquicorrelatedBlocks { dim, size, rho })
    }

    fn block_of(&self, attribute: u32) -> usize {
        attribute as usize / self.size
    }

    /// Calls `each(block, sum of the entries of v in it)` for each block where `v` stores entries.
    fn block_sums(&self, v: SparseView<'_>, mut each: impl FnMut(usize, f64)) {
        let mut entries = v.iter().peekable();
        while let Some((j, mut sum)) = entries.next() {
            let block = self.block_of(j);
            while let Some((_, value)) = entries.next_if(|&(j, _)| self.block_of(j) == block) {
                sum += value;
            }
            each(block, sum);
        }
    }
}

impl Design for EquicorrelatedBlocks {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let own = words.stream(0, attribute);
        let common = words.stream(1, self.block_of(attribute) as u32);
        let (coin, shows_common) = (words.stream(2, attribute), chance(self.rho.sqrt()));
        fill_signs(first_row, out, |row| own.word(row));
        mix_signs(coin, shows_common, first_row, out, |row| common.word(row));
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        let mut common = 0.0;
        self.block_sums(v, |_, sum| common += sum * sum);
        (1.0 - self.rho) * v.norm_squared() + self.rho * common
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        identity_times(v, out);
        out.iter_mut().for_each(|x| *x *= 1.0 - self.rho);
        self.block_sums(v, |block, sum| {
            let end = self.dim.min((block + 1) * self.size);
            out[block * self.size..end].iter_mut().for_each(|x| *x += self.rho * sum);
        });
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        let together = order.clamp(1, self.size);
        let smallest = if together >= 2 { 1.0 - self.rho } else { 1.0 };
        SpectrumBounds::exact(smallest, 1.0 + (together - 1) as f64 * self.rho)
    }
}

/// Independent signs, and after them copies of some: attribute `originals + i` equals attribute `copied[i]`.
/// `R_inf = 1`.
///
/// An attribute and its copy are interchangeable, so `mu_s = 0` for every s; what can still be learned is the
/// prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicated {
    originals: usize,
    copied: Vec<u32>,
    largest_group: usize,
}

impl Duplicated {
    /// Returns the design of `originals` independent attributes, followed by a copy of each attribute in
    /// `copied` (which may name one several times).
    ///
    /// # Errors
    /// Fails when there are no originals, there are more than 2^32 attributes in all, or a copied attribute
    /// is not an original.
    pub fn new(originals: usize, copied: Vec<u32>) -> Result<Duplicated, DesignError> {
        const DESIGN: &str = "Duplicated";
        let total = originals.saturating_add(copied.len());
        check_dim(DESIGN, total, originals >= 1, "at least 1 original and at most 2^32 attributes in all")?;
        let mut sorted = copied.clone();
        sorted.sort_unstable();
        if let Some(&last) = sorted.last().filter(|&&last| last as usize >= originals) {
            let (field, allowed) = ("copied", "the number of an original");
            return Err(DesignError::Parameter { design: DESIGN, field, value: f64::from(last), allowed });
        }
        let most_copies = sorted.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0);
        Ok(Duplicated { originals, copied, largest_group: 1 + most_copies })
    }

    fn original(&self, attribute: u32) -> u32 {
        match (attribute as usize).checked_sub(self.originals) {
            Some(copy) => self.copied[copy],
            None => attribute,
        }
    }
}

impl Design for Duplicated {
    fn dim(&self) -> usize {
        self.originals + self.copied.len()
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let stream = words.stream(0, self.original(attribute));
        fill_signs(first_row, out, |row| stream.word(row));
    }

    /// Takes time O(k^2) for k stored entries.
    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        let equal = |i, j| self.original(i) == self.original(j);
        let row = |i, x| v.iter().filter(move |&(j, _)| equal(i, j)).map(move |(_, y)| x * y).sum::<f64>();
        v.iter().map(|(i, x)| row(i, x)).sum()
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        out.fill(0.0);
        for (j, value) in v.iter() {
            out[self.original(j) as usize] += value;
        }
        let (originals, copies) = out.split_at_mut(self.originals);
        for (copy, &original) in copies.iter_mut().zip(&self.copied) {
            *copy = originals[original as usize];
        }
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        let equal = order.clamp(1, self.largest_group);
        SpectrumBounds::exact(if equal >= 2 { 0.0 } else { 1.0 }, equal as f64)
    }
}

fn check_size(design: &'static str, field: &'static str, size: usize, dim: usize) -> Result<(), DesignError> {
    if (1..=dim).contains(&size) {
        return Ok(());
    }
    Err(DesignError::Parameter { design, field, value: size as f64, allowed: "from 1 to the dimension" })
}
