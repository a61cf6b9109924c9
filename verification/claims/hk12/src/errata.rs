//! Errata of Hazan & Koren 2012.

use lao_verification_engine::paper::{Erratum, in_paper, row};

pub(crate) const ERRATA: &[Erratum] = &in_paper(
    "hk12",
    [
        row(
            1,
            "Display (9)",
            "E‖x̃‖² = ((2d + k − 1)/(2k))‖x‖²",
            "E‖x̃‖² = ((d + k − 1)/k)‖x‖²",
            "The sum over pairs of draws counts each unordered pair once; ordered pairs are k(k − 1). The \
             two expressions agree only at k = 1.",
        ),
        row(
            2,
            "Lemmas 3.3 and 3.8",
            "E‖g̃‖² ≤ 8B²d/k for every k ≥ 1",
            "the same for k ≤ d + 1; 4B²(d + k − 1)/k for every k",
            "Draws are with replacement, so k may exceed d + 1; the exact maximum is then larger than the \
             bound (d = 2, k = 10: 4.4 B² against 1.6 B²).",
        ),
        row(
            3,
            "Lemma 3.7",
            "E Σ g̃·w_t ≤ E Σ ḡ·w_t + 4BηG²m",
            "w_t − w* in place of w_t on both sides",
            "The supplement proves the form with w*, and Theorem 3.4 needs this form: the printed line \
             leaves the term with w* uncontrolled.",
        ),
        row(
            4,
            "Lemma 3.8",
            "‖E[g̃]²‖_∞ ≤ 8B²d/k",
            "‖E[g̃²]‖_∞ ≤ 8B²d/k",
            "The square belongs inside the expectation; the printed quantity is at most 4B² for any \
             estimator, and is of no use in Lemma 3.6.",
        ),
        row(
            5,
            "Supplement A.5",
            "E[x̃²] = ((d + k − 1)/k) x and ‖w‖₁Σ|w_j|x_j² ≤ ‖w‖₁²‖w²‖_∞",
            "x² on the right of the first, ‖x²‖_∞ on the right of the second",
            "With w = (1/2, 1/2) and x = (1, 1) the printed chain would say 1 ≤ 1/4.",
        ),
        row(
            6,
            "Theorem 3.4, step size",
            "η = (1/(4B²))√(2k log(2d)/(5md))",
            "η = (1/(4B))√(2k log(2d)/(5md))",
            "Scaling w, y and B by c scales gradients by c, so η must scale by 1/c. With the printed η the \
             bound fails for large B.",
        ),
        row(
            7,
            "Proof of Theorem 3.4",
            "‖w̄‖₂ ≤ B and a sum up to T",
            "‖w̄‖₁ ≤ B and a sum up to m",
            "Algorithm 2 keeps the 1-norm, and its number of rounds is m.",
        ),
        row(
            8,
            "Algorithm 1, line 8, and Algorithm 2, line 9",
            "j drawn from w²/‖w‖₂² and from |w|/‖w‖₁",
            "w_t; whenever w_t = 0 any j may be read, and φ_t = −y_t",
            "At w_t = 0 the law of j is undefined: in Algorithm 2 in the first round, in Algorithm 1 \
             whenever it starts or comes back there. The inner product is zero then.",
        ),
        row(
            9,
            "Lemma A.1 and (11)",
            "min over i in [d], and an equality after the induction",
            "min over i in [n], and ≤",
            "The vectors have n entries (2d where the lemma is used), and each step of the induction is an \
             inequality.",
        ),
        row(
            10,
            "Lemma A.2",
            "|E clip(X, C) − E X| ≤ 2 Var(X)/C",
            "the constant 1/2 suffices, and is sharp",
            "For u = x − μ and D = C − μ ≥ C/2, (u − D)/u² ≤ 1/(4D) ≤ 1/(2C).",
        )
        .improvement(),
        row(
            11,
            "Lemma 3.7 and Theorem 3.4, conditions",
            "η ≤ 1/(2G), m ≥ log 2d, constant 4",
            "no condition, constant 1/2",
            "By (u − C)₊ ≤ u²/(4C), the clipping bias is at most ηG²/4, whatever the mean is.",
        )
        .improvement(),
        row(
            12,
            "Lemma 4.1, hypothesis",
            "f real-analytic on the line, series used for |x| ≤ 1",
            "f' entire, or of a radius of convergence above max(2B, E|θ̃|)",
            "1/(1 + x²/4) is analytic on the whole line, but its series diverges at 3, where the estimate is \
         needed.",
        ),
        row(
            13,
            "Lemma 4.1 and A.6, averaged branch",
            "E θ̃² ≤ 4B²/N",
            "E θ̃² = θ² + Var(θ̃)/N",
            "Averaging N copies divides the variance, not the second moment. At B = 2 the log moment is \
             57.1, above the printed 35.0.",
        ),
        row(
            14,
            "A.6, second sum",
            "the factor 2ⁿ left out",
            "E θ̃² ≤ 1/2 would be needed",
            "2ⁿ⁺¹ multiplies every term of the second moment; with E θ̃² ≤ 1 the sum need not be bounded as \
         stated.",
        ),
        row(
            15,
            "Lemma 4.1 and Theorem 4.4, (8)",
            "exp(O(log² B)), and exp(O(log²(B/ε))) in (8)",
            "exp(O(B²)), and exp(O(B²/ε²)) in (8)",
            "For erf the exact series of the worst case grows like exp(16 B²); no constant in the printed \
         exponent can cover it.",
        ),
        row(
            16,
            "A.6",
            "E φ = f(θ); E[n] for the expected number of attributes",
            "E φ = f'(θ); the expected number of attributes",
            "The series is that of the derivative; the expectation of n itself is 1.",
        ),
        row(
            17,
            "Lemma 4.1 and Theorem 4.4, attributes",
            "at most 3 per call, k + 6 per round",
            "7/4 per call, k + 3.5 per round",
            "1 + (N − 1)(r + 1)2⁻ʳ with r = ⌊2 log₂ N⌋ + 1 is largest at N = 5.",
        )
        .improvement(),
        row(
            18,
            "Section 4, from smooth to plain loss",
            "uniform ε-approximation makes an ε-optimum 2ε-optimal",
            "true because the approximation is one-sided; two-sided closeness gives 3ε",
            "0 ≤ f_ε − |x|_δ ≤ ε/√π, which gives the factor 1 + 1/√π.",
        ),
        row(
            19,
            "Procedure 3 in AESVR",
            "N = ⌈4B²⌉",
            "N = ⌈4(2B/ε)²⌉",
            "GenEst is called at w/ε, whose radius is B/ε, with labels up to 2B/ε; the printed N does not \
             depend on ε.",
        ),
        row(
            20,
            "Fact B.2",
            "i in [r]",
            "i in [d]",
            "The random position ranges over all entries; r is its sign.",
        ),
        row(
            21,
            "Appendix B, loss",
            "squared loss without 1/2",
            "Section 2 defines it with 1/2",
            "Risks of the appendix are twice those of Section 2.",
        ),
        row(
            22,
            "Lemma B.5",
            "for any vector w",
            "for ‖w‖₂ ≤ 1",
            "At ε = 0.02, w = r_i on 98 of the 2500 coordinates reaches the loss, and 98 < K/10.",
        ),
        row(
            23,
            "Proof of Theorem B.1, range of ε",
            "δ = 10⁻⁵ and any ε",
            "needs ε ≤ δ",
            "(1 − ε)² + δε ≤ 1 − 2(1 − δ)ε holds only then; the theorem is proved for ε below an absolute \
         constant.",
        ),
        row(
            24,
            "Proof of Theorem B.1, remaining weight",
            "weight δ, hence 100δk",
            "2δ, hence 200δk",
            "Lemma B.5 gives (1 − δ)² ≥ 1 − 2δ.",
        ),
        row(
            25,
            "Proof of Theorem 3.1",
            "G² = max_t E_t‖g̃_t‖²",
            "G² = 8B²d/k, for k ≤ d + 1",
            "The maximum depends on the run, while η is fixed before it; the proof needs a number, and the \
             bound of Lemma 3.3 is one.",
        ),
        row(
            26,
            "A.6, last step of the second moment",
            "2(8B²)^ν S + 2S ≤ (4B)^(2ν) · 2S",
            "for N ≥ 2; for N = 1 the left side is 4S",
            "The step says (8B²)^ν + 1 ≤ (16B²)^ν. For B ≤ 1/2, where N = 1 and ν = 0, that is 2 ≤ 1; and \
             where 8B² < 1 a smaller power is the larger number.",
        ),
        row(
            27,
            "Theorems 3.1, 3.4 and 4.4, Table 1",
            "k attributes per example in Table 1 and Section 2, k + 1 in the algorithms",
            "k + 1, at most: k uniform draws, with replacement, and one by weight",
            "The k = 4 and k = 56 of Section 5 count all of them; k = 0 is impossible.",
        )
        .reading(),
        row(
            28,
            "Theorem 4.4",
            "η properly tuned",
            "left open",
            "No constant is named in (8), so no run can refute it; the library takes 2B/(G√m) with a bound \
             on E φ².",
        )
        .reading(),
        row(
            29,
            "Appendix B.2, end of the proof of Theorem B.1",
            "a set of size (1/10 + 100δ)k, most of which lies in T",
            "at least K/10 coordinates of T, and their signs",
            "Lemma B.5 gives at least K/10 large coordinates, not about as many, and |w_i| ≥ ε/10 does not \
             give the sign of r_i, which Corollary B.3 asks for.",
        ),
    ],
);
