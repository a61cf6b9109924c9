//! Errata of Ito et al. 2017.

use lao_verification_engine::paper::{Erratum, in_paper, row};

pub(crate) const ERRATA: &[Erratum] = &in_paper(
    "ito17",
    [
        row(
            1,
            "Theorem 1",
            "hard under (1) and (2), in the text also (a)",
            "hard under (1) and (a), without (2)",
            "Under (1), (2) and (a) Algorithm 1 is efficient by Theorem 2, and the printed theorem would put \
             NP in BPP. Table 1 has it right.",
        ),
        row(
            2,
            "Theorem 2",
            "λ_t = 8√t/C",
            "λ_t = 8√(t/C)",
            "Only this choice gives (7); the printed one loses a factor (1 + C)/(2√C).",
        ),
        row(3, "Proof of Theorem 2", "λ_t = 8√(Ct)", "λ_t = 8√(t/C)", "The proof's own next line uses it."),
        row(
            4,
            "Lemma 3",
            "no condition on k₁",
            "k₁ ≥ |S*|",
            "w = w* = (1, 1)/√2 with k₁ = 1 has a positive left side and zero on the right.",
        ),
        row(
            5,
            "Lemma 3, constant",
            "3/σ_d²",
            "(3 + √5)/2 suffices, sharp for V = I",
            "Matching each missed index with a wrong one gives the maximum of (1 + b²)/((1 − b)² + b²), at \
             the golden section.",
        )
        .improvement(),
        row(
            6,
            "Section 5.1, first paragraph",
            "|S_t| = k' = k ≥ k₁ = |U_t|, so U_t = S_t",
            "k₁ ≥ k",
            "Equality of the sets needs the opposite inequality too.",
        ),
        row(7, "Section 3, V", "V = E[xᵀx]", "V = E[xxᵀ]", "The printed product is a number."),
        row(
            8,
            "Section 3, L",
            "the Cholesky decomposition of V, V = LᵀL",
            "any L with V = LᵀL",
            "The display defines all that is used, ‖Lw‖² = wᵀVw; the factor that is usually called by this \
             name is the transposed one.",
        )
        .reading(),
        row(
            9,
            "Section 4, X̃_t",
            "D_t xᵀx D_t",
            "D_t xxᵀ D_t",
            "The printed product has the wrong dimensions, as in erratum 7.",
        ),
        row(
            10,
            "Assumption (1)",
            "‖w‖ ≤ 1",
            "‖w*‖ ≤ 1",
            "The bound is meant for the comparator; with |y| ≤ 1 it also restricts the noise.",
        ),
        row(
            11,
            "Computing w_t",
            "ĥ is the average of all estimators",
            "the sum",
            "(5) and Lemma 4 need the sum; with the average w_t stays near zero.",
        ),
        row(
            12,
            "Observation 1",
            "p_ij ≥ q(q − 1)/(d(d − 1))",
            "p_ij ≥ q(q − 1)/((d − k₁)(d − k₁ − 1))",
            "The random features come from outside U_t, which has d − k₁ members.",
        )
        .improvement(),
        row(
            13,
            "p_i and p_ij",
            "probabilities",
            "conditional probabilities, given the history",
            "U_t depends on w_t. With unconditional probabilities the estimate is biased.",
        ),
        row(
            14,
            "Lemma 5, hypothesis",
            "linear independence is supposed",
            "not needed",
            "The derivation uses norms only.",
        )
        .improvement(),
        row(
            15,
            "Lemma 4",
            "ΣG_t/λ_t",
            "ΣG_t/(2λ_t) suffices",
            "This is the usual bound of regularized dual averaging.",
        )
        .improvement(),
        row(
            16,
            "Section 5.1, constant sets",
            "S_t constant on [t_s, t_{s+1} − 1]",
            "constant on t_s < t < t_{s+1}, random at t_s",
            "With a fixed set some p_ij is zero and no unbiased estimate exists.",
        )
        .reading(),
        row(
            17,
            "Section 5.1, D_t g̃_t and k₁",
            "computed from w_t; k₁ at most k − 2",
            "from w̃_t; k₁ = 0, which is one of them",
            "The bounds contain C_{d,k',0}, which is the probability for k₁ = 0.",
        )
        .reading(),
        row(
            18,
            "Theorem 6, exponent",
            "|w_i*|²σ_d²",
            "probably |w_i*|⁴σ_d⁴",
            "The constant 18432 = 2·96² and the third term point to fourth powers. This is not settled: the \
             proof is in a supplement that is not available.",
        )
        .reading(),
        row(19, "Theorems 6 and 7, range", "k ≤ k'", "also k' ≥ 2", "C_{d,1,0} = 0 makes the bounds void."),
        row(
            20,
            "Theorems 6 and 7, bound",
            "O(√(dT) + d¹⁶/k'¹⁶)",
            "says nothing below T = 1.8·10¹⁸",
            "The exponential term exceeds the largest possible regret until its exponent reaches 1.",
        )
        .reading(),
        row(
            21,
            "Section 3, RIP and (b)",
            "RIP implies (b)",
            "a small RIP constant implies (b)",
            "x_1 = (2/m)Σx_j satisfies RIP with a constant below 1 and has φ_0 = 0.",
        ),
        row(
            22,
            "Tables 2 and 3, header",
            "(d, k₁, k) in both",
            "(d, k, k') in Table 2",
            "The text of the experiments says so.",
        ),
        row(
            23,
            "Section 6, normalization",
            "|y| ≤ 1 and ‖x‖ ≤ 1",
            "probably features of unit variance",
            "Under |y| ≤ 1 the predictor zero loses at most 5000 in 5000 rounds, and AELR has a printed \
             regret of 6076. Regrets of the uniform choice near (1 − k'/d)|w*|² per round fit unit variance. \
             This is not settled: the generator is in a supplement that is not available.",
        )
        .reading(),
        row(
            24,
            "Section 1, FKK",
            "enumerates C(d, k') sets",
            "probably C(d, k), for k-subsets",
            "As reconstructed here, the method has one predictor per candidate support of size k. The paper \
             of Foster et al. was not at hand.",
        )
        .reading(),
        row(
            25,
            "Table 3, setting",
            "Algorithm 1 with k₁ < k",
            "outside Theorem 2",
            "Lemma 3 fails for k₁ < |S*|, and the regret is linear.",
        )
        .improvement(),
        row(
            26,
            "Section 3, σ_1 ≤ 1",
            "1 bounds the largest eigenvalue",
            "1 bounds the trace of V, so 1/σ_d² ≥ d",
            "Then Theorem 2 gives at best O(d²√T/(k' − k)).",
        )
        .improvement(),
        row(
            27,
            "Section 1, footnote 3, Theorem 7",
            "O(√(dT) + d¹⁶/k'¹⁶)",
            "O(√(dT) + k⁸d¹⁶/k'¹⁶)",
            "The exponent of Theorem 7 contains |w_i*|²φ_0²/k, so the maximum of its second term over T has \
             the factor k⁸, and the third term k⁴.",
        ),
        row(
            28,
            "Section 1, footnote 3, Theorem 6",
            "O(√(dT) + d¹⁶/k'¹⁶)",
            "O(√(dT) + d²⁰/k'¹⁶) at best",
            "The maximum of the second term is of order (C|w_i*|σ_d)⁻⁸, and trace V ≤ 1 gives σ_d² ≤ 1/d: a \
             σ_d that does not depend on d is excluded.",
        ),
        row(
            29,
            "Section 4",
            "if w_t converges to w*, we have D_t w_t = w*",
            "D_t w_t converges to w*",
            "For every t, w_t may be away from w*, and so may D_t w_t.",
        ),
        row(
            30,
            "Section 5.2, S_t",
            "the set of the k largest features with respect to w̄_s",
            "the k' largest",
            "The learner is not told k, and observes k' attributes; with k' > k the sets are larger than the \
             text has them, and a relevant feature is missed less often.",
        )
        .reading(),
    ],
);
