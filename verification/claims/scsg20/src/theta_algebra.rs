//! The constants of Theorem 1.
//!
//! *Statements.* With `beta`, `theta`, `gamma` as printed and `alpha <= r`:
//! - `gamma = 4 eta / (rho/2 - (2 rho L + 14 L^2) eta)`, whatever r and alpha;
//! - at `eta = 1/(32 L kappa)` the decrease `(1-theta) beta` is `(1 - 1/kappa)/(512 kappa^2)` and `beta` is
//!   `(r-alpha)/(1+alpha) + (14 - 1/kappa)/(512 kappa^2)`;
//! - `0 < theta < 1` for `eta < 1/(32 L kappa)`, and at the largest step for `kappa > 1`. At `kappa = 1` and
//!   the largest step `theta = 1` and gamma is infinite: the print includes that corner.
//! - The proof arrives at the coefficient `r/(1+alpha) + 10 L^2 eta^2` of `D_0`, and needs it to be at most
//!   `beta theta = (r-alpha)/(1+alpha) + eta rho/2 + 10 L^2 eta^2`: true iff
//!   `alpha <= eta rho/(2 - eta rho)`, which is `1/(64 kappa^2 - 1)` at the largest step only.
//! - `alpha <= b/B` iff `k >= (4 (B/b)^2 + 1) k*`.

use lao_algorithms::thresholding::theory::{Epoch, expansion, required_sparsity};
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::in_units;
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand::RngExt;

/// A problem with `kappa` up to 50 and `alpha <= r`, at this share of the largest step.
fn random_epoch(rng: &mut Rng, share: f64) -> Epoch {
    let convexity = 10f64.powf(rng.random_range(-3.0..3.0));
    let smoothness = convexity * 50f64.powf(rng.random());
    let ratio = 10f64.powf(rng.random_range(-4.0..0.0));
    let step_size = share * Epoch::largest_step(smoothness, convexity);
    let alpha = ratio * rng.random::<f64>();
    Epoch { smoothness, convexity, step_size, ratio, alpha }
}

const THIRTEEN_FOR_FOURTEEN: Mutant = Mutant::refuted("thirteen_for_fourteen", "13 L^2 in place of 14 L^2");
const NINE_FOR_TEN: Mutant = Mutant::refuted("nine_for_ten", "9 L^2 eta^2 in place of 10 L^2 eta^2");
const STEP_TOO_LONG: Mutant = Mutant::refuted("step_too_long", "steps of up to twice the largest");
const CAP_AS_PRINTED: Mutant =
    Mutant::refuted("cap_as_printed", "alpha up to 1/(64 kappa^2 - 1) at every step size");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let rng = &mut cx.seed("grid").rng();
    let fourteen = if cx.commits(&THIRTEEN_FOR_FOURTEEN) { 13.0 } else { 14.0 };
    let ten = if cx.commits(&NINE_FOR_TEN) { 9.0 } else { 10.0 };
    let (mut identities, mut corner) = (Vec::new(), Vec::new());
    let (mut inside, mut sufficient, mut necessary) =
        (PropertyTally::new(), PropertyTally::new(), PropertyTally::new());
    for _ in 0..cx.size("points")? {
        let share = rng.random_range(0.001..0.999);
        let epoch = random_epoch(rng, if cx.commits(&STEP_TOO_LONG) { 2.0 * share } else { share });
        let Epoch { smoothness: l, convexity: rho, step_size: eta, ratio: r, alpha } = epoch;
        let gamma = 4.0 * eta / (0.5 * rho - (2.0 * rho * l + fourteen * l * l) * eta);
        identities.push((epoch.gamma() / gamma, 1.0));
        identities.push((
            epoch.beta() * epoch.theta(),
            (r - alpha) / (1.0 + alpha) + 0.5 * eta * rho + ten * (l * eta).powi(2),
        ));
        inside.check(epoch.theta(), 1.0 - 1e-9 * share);
        inside.check(1e-12, epoch.theta());

        // Up to the cap of alpha, beta theta covers the proof's coefficient; beyond, it does not.
        let cap = if cx.commits(&CAP_AS_PRINTED) { epoch.largest_alpha() } else { epoch.needed_alpha() };
        let wanted = |alpha: f64| r.max(alpha) / (1.0 + alpha) + ten * (l * eta).powi(2);
        for (excess, tally) in [(0.999, &mut sufficient), (1.001, &mut necessary)] {
            let alpha = excess * cap;
            let epoch = Epoch { alpha, ratio: r.max(alpha), ..epoch };
            let (proof, theorem) = (wanted(alpha), epoch.beta() * epoch.theta());
            let (lesser, greater) = if excess < 1.0 { (proof, theorem) } else { (theorem, proof) };
            // Both have r in common, which is far larger than what decides.
            let common = epoch.ratio / (1.0 + alpha);
            let (lesser, greater) = in_units(alpha, lesser - common, greater - common);
            tally.check(lesser, greater);
        }

        let epoch = random_epoch(rng, 1.0);
        let kappa = epoch.condition();
        let scale = 512.0 * kappa * kappa;
        corner.push((epoch.decrease() * scale, 1.0 - 1.0 / kappa));
        corner.push((epoch.beta() * scale, epoch.excess_ratio() * scale + fourteen - 1.0 / kappa));
        corner.push((epoch.needed_alpha() / epoch.largest_alpha(), 1.0));
        let (star, ratio) = (rng.random_range(1..20), rng.random_range(1..100));
        let least = (4 * ratio * ratio + 1) * star;
        corner.push((required_sparsity(star, 1.0 / ratio as f64), least as f64));
        corner.push((expansion(star, least) * ratio as f64, 1.0));
    }
    let at_one = Epoch { smoothness: 1.0, convexity: 1.0, step_size: 1.0 / 32.0, ratio: 0.5, alpha: 0.0 };
    corner.push((at_one.theta(), 1.0));
    corner.push((1.0 / at_one.gamma(), 0.0));
    cx.judge("gamma, and beta theta", exact_all(identities, 1e-10));
    cx.judge("at the largest step", exact_all(corner, 1e-10));
    cx.judge("theta lies between 0 and 1 below the largest step", inside.finish());
    cx.judge("beta theta covers the proof's coefficient up to the cap on alpha", sufficient.finish());
    cx.judge("and not beyond", necessary.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-theta-algebra",
    place: "Theorem 1, constants",
    sentence: "Below the largest step theta lies between 0 and 1, and the proof's recursion follows from \
               alpha <= eta rho/(2 - eta rho), not from the printed cap.",
    formula: r"\theta = 1 - \frac{\eta (\rho/2 - (2 \rho L + 14 L^2) \eta)}{\beta}, \;
               \frac{r}{1+\alpha} + 10 L^2 \eta^2 \le \beta \theta \Leftrightarrow \alpha \le \frac{\eta
               \rho}{2 - \eta \rho}",
    design: "Random kappa, L, r, alpha, eta on wide ranges; the production constants against these formulas.",
    standing: Standing::corrected(&[4, 5, 14]),
    mutants: &[THIRTEEN_FOR_FOURTEEN, NINE_FOR_TEN, STEP_TOO_LONG, CAP_AS_PRINTED],
    experiment,
};
