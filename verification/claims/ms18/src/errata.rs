//! Errata of Murata & Suzuki 2018, main text and supplement.

use lao_verification_engine::paper::{Erratum, in_paper, row};

pub(crate) const ERRATA: &[Erratum] = &in_paper(
    "ms18",
    [
        row(
            1,
            "Remark in Section 2.3",
            "Assumptions 2 and 3 are equivalent to the existence of L_s ≥ sup u'Σu and μ_s ≤ inf u'Σu over \
             2s-sparse unit vectors u",
            "the constants of Assumptions 2 and 3 are L_s = 2 sup u'Σu and μ_s = 2 inf u'Σu",
            "The equivalence of existence is true as printed. If the letters are to mean the same numbers, \
             there is a factor 2, since the Hessian of E(θ'x − y)² is 2Σ: a step size 1/(4L_s) with the \
             eigenvalue for L_s is one that Proposition A.1 excludes.",
        )
        .reading(),
        row(
            2,
            "Assumptions 2 and 3",
            "for all s in [d]",
            "for the s in use",
            "If 2s ≥ d, the restriction is void and Assumption 3 forces Σ > 0; the assumption would then not \
             be weaker than linear independence.",
        ),
        row(
            3,
            "Supplement A.1, sup-norm bound before (7)",
            "4(s + s*)R⁴ log(2d/δ)‖v‖²/B + 4σ²R² log(d/δ)/B",
            "16 in place of both 4s, and log(2d/δ) in both terms",
            "The error is twice a sum of two means: (2(a + b))² ≤ 8(a² + b²), and the bounds of a² and b² \
             each contain another factor 2. The noise tail is two-sided.",
        ),
        row(
            4,
            "Supplement A.1, first tail of the noise mean",
            "exp(−Bt²/(2R²σ²))",
            "2 exp(−Bt²/(2R²σ²))",
            "The event is two-sided; the next display has the factor 2, and the union bound loses it again.",
        ),
        row(
            5,
            "Proposition A.1, condition on B_t",
            "B_t without R⁴",
            "B_t with R⁴, as in the proof's choice of parameters",
            "Replacing x by cx and θ by θ/c changes no prediction, but divides the printed B_t by c⁴.",
        ),
        row(
            6,
            "Proposition A.1 and (7), noise term",
            "c_t = 4σ²s(5/2 + ηL)η log(d/δ_t)",
            "c_t = 16σ²s(5/2 + ηL)R²η log(2d/δ_t)",
            "The corrected term follows from the sup-norm bound (erratum 3); R² is needed for the same \
             reason of scaling as in erratum 5.",
        ),
        row(
            7,
            "End of the proof of Proposition A.1",
            "… + c_t, with a c_t that already contains 1/B_t",
            "… + c_t/B_t",
            "The symbol is used with two meanings.",
        ),
        row(
            8,
            "Proof of Proposition A.1, third condition",
            "constant 4 from the sup-norm bound",
            "constant 16; the printed s and B_t then satisfy the condition with equality",
            "The condition reads 4 + C/4 ≤ 8 in units of q s*/(s + s*): 5 ≤ 8 for C = 4, 8 ≤ 8 for C = 16.",
        ),
        row(
            9,
            "Lemma A.3 and the inner-product step",
            "|S_t| = |S_{t−1}|",
            "the supports padded to size s with indices outside",
            "The equality is false for θ_0 = 0, the usual start. Every later step uses only that θ_{t−1} \
             vanishes off the support, so padding repairs the proof.",
        ),
        row(
            10,
            "Supplement A.1, display before (5)",
            "(θ_t − θ_{t−1} − ηg) restricted to R",
            "(θ_t − θ_{t−1} + ηg) restricted to R",
            "θ_t vanishes on R, so only the sign of the gradient step is at stake.",
        ),
        row(
            11,
            "Supplement A.1, size of the extended support without R",
            "at most s + 2s*",
            "at most s + s*, hence the factor s*/s in place of 2s*/(s + s*)",
            "The printed bound is true. The elements of S* that enter and those that stay outside are \
             disjoint parts of S*, which the print counts twice.",
        )
        .improvement(),
        row(
            12,
            "Supplement A.1, formula for g_t",
            "block index ⌈j/s⌉",
            "block index ⌈j/(s' − s)⌉",
            "A block holds s' − s coordinates.",
        ),
        row(
            13,
            "Theorem 4.1, second branch of B_t",
            "(σ²R²/Δ) · T s/(1 − α)^T",
            "the same times 1/L_s",
            "The printed branch is not invariant under x → cx; the proof has the factor.",
        ),
        row(
            14,
            "Proof of Theorem 4.1",
            "R⁴/(κ²L²), and (1 − α)^T gap_0 + Δ",
            "κ²R⁴/L², and (1 − α)^T (gap_0 + Δ)",
            "s/s* is of order κ². The sum of the noise terms carries the factor (1 − α)^T, as the statement \
             has it.",
        ),
        row(
            15,
            "Theorem 4.1",
            "L(θ_0)",
            "L(HT_s(θ_0))",
            "The first line of Algorithm 1 thresholds the start, which can raise the loss of a dense start.",
        ),
        row(
            16,
            "Section 4, meaning of Õ",
            "hides log(κd/δ)",
            "hides log²(gap_0/ε) as well",
            "T = O(κ log(gap_0/ε)) enters the number of examples once in the first and twice in the second \
             term.",
        ),
        row(
            17,
            "Remark on consistency",
            "θ_T is consistent as T → ∞",
            "with the B_t of Theorem 4.1, which grow like (1 − α)^{−T}",
            "The remark stands under that theorem and does not repeat its batch sizes. With a fixed batch \
             size the gap would stop at a floor of order σ²s/B.",
        )
        .reading(),
        row(
            18,
            "Supplement, (9)",
            "constants 4 and log(s/δ)",
            "constants 16 and log(2s/δ)",
            "The reason is that of erratum 3, restricted to the support. The printed bound fails for s = 1, \
             and for features with a common sign.",
        ),
        row(
            19,
            "Theorem 4.3, special case",
            "first term without (2 − ηL); B_t with 32/(1 − ηL)",
            "B_t with 128(2 − ηL)/(1 − ηL)",
            "The corrected B_t follows from (8) and the corrected (9); it is larger by a factor 7 at η = \
             1/(4L).",
        ),
        row(
            20,
            "Theorem 4.3, special case, last displays",
            "(1 − α) gap_0 + Δ",
            "(1 − α)^T (gap_0 + Δ)",
            "Solving the recursion gives the statement's form.",
        ),
        row(
            21,
            "Theorem 4.3, general case",
            "2‖θ_{t−1} − θ_0‖² ≤ t · (sum of squared steps)",
            "2(t − 1) · (sum of squared steps)",
            "Equal steps attain 2(t − 1), which exceeds t from t = 3 on.",
        ),
        row(
            22,
            "Theorem 4.3, general case",
            "a condition on B_t that bounds each summand",
            "a factor T more; or, shorter, gap_t ≤ gap_{t−1} + (η/2)‖e_S‖² with B ≥ 128 T s(s + s*)R⁴ \
         log(2s/δ_t)/μ²",
            "The sum over t must stay below the limit, not only each of its T summands.",
        ),
        row(
            23,
            "Theorem 4.3, general case",
            "(1 − α)T",
            "((1 − α)/α)T",
            "The target 1/(1 − α) leaves room for a growth of α/(1 − α); with the printed factor the bound \
             would be about 2 gap_0.",
        ),
        row(
            24,
            "Proof of Theorem 4.4",
            "δ_k = 3/(π²k²δ)",
            "δ_k = 3δ/(π²k²)",
            "There are two stages per round, and the sum over all rounds must be δ.",
        ),
        row(
            25,
            "Proof of Theorem 4.4",
            "exponent (k' − 1)T̃ in the sum",
            "exponent (k' − 1)(2 + T̃)",
            "The printed sum grows without limit for T̃ = 0; the three Exploration updates per round \
             contribute two further factors.",
        ),
        row(
            26,
            "End of the proof of Theorem 4.4",
            "log(gap_0 (s' − s)/(r²μα²dε))",
            "gap_0² in place of gap_0; better, the larger of the two requirements in place of their sum",
            "The term is the logarithm of a product of two terms, each of which contains gap_0.",
        ),
        row(
            27,
            "Corollary 4.5, Table 1, and the remark after it",
            "κ²s/(μr²)",
            "κ²s gap_0/(μr²); sharper: d s/((s' − s)μr²) + κ²s/ε in place of the minimum's argument",
            "The correction follows from erratum 26. The printed term is not invariant when θ*, σ and √ε are \
             scaled together, and falls below the minimax rate.",
        ),
        row(
            28,
            "Proof of Corollary 4.5",
            "(T_k/L)(1 − α)^{T_k} s",
            "T_k s/(L(1 − α)^{T_k})",
            "The power belongs in the denominator, as in Theorem 4.1.",
        ),
        row(
            29,
            "Table 1, caption",
            "r_min² is the smallest magnitude of θ*",
            "r_min is",
            "Section 4 defines r_min in this way.",
        ),
        row(
            30,
            "Figure 1",
            "normal features",
            "bounded features, if the theorems are meant to apply",
            "Assumption 1 asks for bounded features.",
        ),
        row(
            31,
            "References inside the paper",
            "Proposition 4.1, Algorithm 4.2, Algorithm 4.4, Theorem 4.5",
            "Proposition A.1, Algorithm 1, Algorithm 3, Theorem 4.4",
            "No such items exist.",
        ),
        row(
            32,
            "Table 1, rows of Exploration and Hybrid",
            "d s²/s' and d s_*/s'",
            "s' − s in place of s', as in Corollaries 4.2 and 4.5",
            "An example fills s' − s coordinates of the gradient. At s' = s + 1 the table is too small by \
             the factor s'; it is right up to a constant for s' ≥ (1 + c)s.",
        ),
        row(
            33,
            "Remark after Corollary 4.5",
            "κ_s, R_∞/μ_s and μ_s r_min² are Θ(1)",
            "κ_s, R_∞²/μ_s and μ_s r_min² are Θ(1)",
            "The corollary contains R_∞⁴/μ_s² and R_∞²/μ_s. Neither follows from R_∞/μ_s, which has a unit: \
             x → cx divides it by c.",
        ),
        row(
            34,
            "Proof of Corollary 4.5, second term",
            "t²/(1 − α)^{T_k^-}, and (T_k^-)³ in the sum over t",
            "T_k^-/(1 − α)^{T_k^-}, and (T_k^-)²",
            "B_{t,k}^- has the T of its stage, as in Theorem 4.1. Since T_k^- = 3, no order changes.",
        ),
        row(
            35,
            "Theorem 4.4, k-check",
            "k-check rounded up, and K ≥ k-check + 1",
            "every K > k-check, without rounding, as in the proof",
            "The statement follows from the proof's; where k-check is no integer it gives away one stage.",
        )
        .improvement(),
    ],
);
