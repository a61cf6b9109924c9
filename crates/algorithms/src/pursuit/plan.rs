//! How many examples a study needs, before the first one is paid for: simulated.

use super::{NAME, PursuitParams};
use crate::money::Money;
use crate::params::{ParamError, number, require};
use lao_observation::{Ask, Basket, BlockBuf, Learner, Request, Seed, Told};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

/// What somebody who plans a study guesses.
///
/// ```
/// use lao_algorithms::pursuit::StudyGuess;
/// use lao_observation::Seed;
///
/// // Of 60 measurements 12 can be afforded per patient. Five are thought to matter, each as much as the rest
/// // of the label's variation that no measurement explains.
/// let guess = StudyGuess { sparsity: 5, signal: 1.0, ..StudyGuess::within(60, 12) };
/// let plan = guess.simulate(&Seed::root(1))?;
/// let (likely, safe) = (plan.examples(0.5), plan.examples(0.9));
/// assert!(likely.is_some_and(|n| (200..700).contains(&n)) && safe >= likely);
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudyGuess {
    /// `d`, the number of attributes.
    pub dim: usize,
    /// `s'`, the number of attributes observed per example.
    pub budget: usize,
    /// The number of attributes that matter.
    pub sparsity: usize,
    /// The effect of each: by how many standard deviations of the noise the label changes, if the attribute
    /// changes by one of its own standard deviations.
    pub signal: f64,
    /// The number of examples at which a simulated study is given up.
    pub most: u64,
    /// The number of simulated studies.
    pub studies: usize,
}

/// What the simulated studies needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyPlan {
    /// The examples after which a study had found exactly the attributes that matter, ascending.
    pub found: Vec<u64>,
    /// The number of studies that were given up.
    pub given_up: usize,
}

impl StudyGuess {
    /// Returns a guess of 5 attributes with an effect of 1, and 50 studies of up to 100,000 examples.
    pub fn within(dim: usize, budget: usize) -> Self {
        StudyGuess { dim, budget, sparsity: 5, signal: 1.0, most: 100_000, studies: 50 }
    }

    /// Returns the number of examples by the law that the median of simulated studies follows, `10 (s* +
    /// 1/signal^2) d/s'`, for independent attributes (claim `pursuit-support-law`, where d is from 60 to 960
    /// and s* is 5). The factor is from 5 for one attribute to 14.
    pub fn law(&self) -> f64 {
        let StudyGuess { dim, budget, sparsity, signal, .. } = *self;
        10.0 * (sparsity as f64 + signal.powi(-2)) * dim as f64 / budget.max(1) as f64
    }

    /// Simulates studies in which attributes are independent signs and the noise is normal. Correlated
    /// attributes need more examples.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn simulate(&self, seed: &Seed) -> Result<StudyPlan, ParamError> {
        self.simulate_with(PursuitParams::within(self.dim, self.budget), seed)
    }

    /// Simulates studies in which attributes have prices, and the budget is money; `dim` and `budget` of the
    /// guess are those of the prices. The attributes that matter are drawn from those that a predictor can
    /// pay together.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn simulate_within(&self, money: Money, seed: &Seed) -> Result<StudyPlan, ParamError> {
        let params = PursuitParams::within_money(money);
        StudyGuess { dim: params.dim, budget: params.budget, ..*self }.simulate_with(params, seed)
    }

    fn simulate_with(&self, params: PursuitParams, seed: &Seed) -> Result<StudyPlan, ParamError> {
        let StudyGuess { sparsity, signal, studies, .. } = *self;
        params.check()?;
        let most = params.largest_support();
        let allowed = format_args!("from 1 to {most}, which is what the budget allows a predictor to have");
        require((1..=most).contains(&sparsity), NAME, "sparsity", sparsity, allowed)?;
        let fits = (1e-6..=1e6).contains(&signal);
        require(fits, NAME, "signal", number(signal), "a number from 1e-6 to 1e6")?;
        require(studies >= 1, NAME, "studies", studies, "at least 1")?;
        let mut plan = StudyPlan { found: Vec::new(), given_up: 0 };
        for study in 0..studies {
            match self.study(&params, &seed.child(&format!("study {study}")))? {
                Some(examples) => plan.found.push(examples),
                None => plan.given_up += 1,
            }
        }
        plan.found.sort_unstable();
        Ok(plan)
    }

    /// Returns the number of examples after which one study had found the attributes.
    fn study(&self, params: &PursuitParams, seed: &Seed) -> Result<Option<u64>, ParamError> {
        let mut learner = params.clone().build()?;
        let (mut rng, mut draws) = (seed.child("data").rng(), seed.child("learner").rng());
        let mut attributes: Vec<u32> = (0..self.dim as u32).collect();
        attributes.shuffle(&mut rng);
        if let Some(Money { tariff, .. }) = &params.money {
            let (mut basket, most) = (Basket::default(), params.most_per_prediction());
            attributes.retain(|&j| basket.buy(tariff, j, most));
        }
        attributes.truncate(self.sparsity);
        if attributes.len() < self.sparsity {
            return Ok(None);
        }
        attributes.sort_unstable();
        let (mut ask, mut block, mut seen) = (Ask::new(self.dim), BlockBuf::new(), 0);
        while seen < self.most {
            learner.ask(&mut draws, &mut ask);
            let Request::Values { attributes: asked, examples } = ask.request() else { return Ok(None) };
            let rows = examples as usize;
            block.reset(asked.len(), rows);
            block.labels_mut().fill_with(|| {
                // The sum of twelve uniform numbers, less its mean, has variance 1 and is nearly normal.
                (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
            });
            for (c, j) in asked.iter().enumerate() {
                let effect = if attributes.binary_search(j).is_ok() { self.signal } else { 0.0 };
                for r in 0..rows {
                    let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                    block.column_mut(c)[r] = sign;
                    block.labels_mut()[r] += effect * sign;
                }
            }
            for _ in attributes.iter().filter(|j| !asked.contains(j)) {
                let unseen =
                    |y: &mut f64| *y += if rng.random::<bool>() { self.signal } else { -self.signal };
                block.labels_mut().iter_mut().for_each(unseen);
            }
            block.set_rows(rows);
            if learner.tell(Told::Values(block.view(asked))).is_err() {
                return Ok(None);
            }
            seen += examples;
            if learner.support() == attributes {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }
}

impl StudyPlan {
    /// Returns the number of examples that suffice for this share of the studies: `None` if more of them were
    /// given up.
    pub fn examples(&self, share: f64) -> Option<u64> {
        let studies = self.found.len() + self.given_up;
        let needed = (share.clamp(0.0, 1.0) * studies as f64).ceil() as usize;
        self.found.get(needed.max(1) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(guess: StudyGuess) -> StudyPlan {
        guess.simulate(&Seed::root(3)).unwrap()
    }

    #[test]
    fn more_signal_and_more_budget_need_fewer_examples() {
        let guess = StudyGuess { sparsity: 2, studies: 20, ..StudyGuess::within(30, 8) };
        let median = |guess: StudyGuess| plan(guess).examples(0.5).unwrap();
        assert!(median(guess) < median(StudyGuess { signal: 0.5, ..guess }));
        assert!(median(guess) < median(StudyGuess { budget: 4, ..guess }));
    }

    #[test]
    fn prices_of_1_need_as_many_examples_and_higher_ones_more() {
        let guess = StudyGuess { sparsity: 2, studies: 20, ..StudyGuess::within(30, 8) };
        let within = |price: f64| {
            let prices = (0..30).map(|j| if j % 2 == 0 { 1.0 } else { price }).collect();
            let tariff = lao_observation::Tariff::new(prices).unwrap();
            guess.simulate_within(Money::new(tariff, 8.0), &Seed::root(3)).unwrap()
        };
        assert_eq!(within(1.0), plan(guess));
        assert!(within(3.0).examples(0.5) > within(1.0).examples(0.5));
        let studies = within(9.0);
        assert_eq!(studies.given_up, 0, "the attributes that matter are those that can be paid");
    }

    #[test]
    fn the_law_foretells_the_median_within_a_third() {
        for guess in [StudyGuess::within(60, 12), StudyGuess { signal: 0.5, ..StudyGuess::within(60, 20) }] {
            let guess = StudyGuess { studies: 20, ..guess };
            let ratio = plan(guess).examples(0.5).unwrap() as f64 / guess.law();
            assert!((0.67..1.5).contains(&ratio), "{ratio}");
        }
    }

    #[test]
    fn studies_without_enough_examples_are_given_up() {
        let guess = StudyGuess { most: 30, studies: 4, ..StudyGuess::within(60, 12) };
        let plan = plan(guess);
        assert_eq!((plan.given_up, plan.examples(0.1)), (4, None));
        let refused = StudyGuess { sparsity: 11, ..guess }.simulate(&Seed::root(1)).unwrap_err();
        assert_eq!(refused.field, "sparsity");
    }
}
