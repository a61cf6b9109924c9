//! Errata of Liang et al. 2020.

use lao_verification_engine::paper::{Erratum, in_paper, row};

pub(crate) const ERRATA: &[Erratum] = &in_paper(
    "scsg20",
    [
        row(
            1,
            "Theorem 1, x*",
            "x* is the optimum of Problem (1) and k > k*",
            "x* is any k*-sparse vector",
            "Since the optimum may have further non-zeros, all its coordinates are free, so g* = 0 and the \
             residual term says nothing.",
        ),
        row(
            2,
            "Theorem 1, third term",
            "γσ²/B",
            "8(1 + 2ηρ)σ*²/(ρ²B)",
            "Components .5‖x − c_z‖² have a floor that can be computed; it exceeds the printed one by 2.45 \
             at η = 1/64, B/b = 100 and by 61 at η = 1/1024, B/b = 1000.",
        ),
        row(
            3,
            "Inequality (4)",
            "no cross term",
            "−2(1 + α)η E⟨e, x_t − x*⟩ on the right",
            "e has mean zero, but the iterates of the epoch depend on it, in the unfavorable direction. This \
             is the cause of E2.",
        ),
        row(
            4,
            "Theorem 1, step size",
            "η ≤ 1/(32Lκ) and α ≤ 1/(64κ² − 1)",
            "α ≤ ηρ/(2 − ηρ) as well",
            "Small steps never lift a coordinate outside a wrong support over the threshold: there are fixed \
             points far from x*.",
        ),
        row(
            5,
            "Theorem 1, range of θ",
            "θ < 1 for η ≤ 1/(32Lκ)",
            "η < 1/(32Lκ), or κ > 1",
            "At κ = 1 and the largest step θ = 1 and γ is infinite.",
        ),
        row(
            6,
            "Proof of Theorem 1, lower bound of the inner product",
            "⟨∇f(x), x − x*⟩ ≥ (ρ/2)‖x − x*‖²",
            "⟨∇f(x), x − x*⟩ ≥ (ρ/2)‖x − x*‖² − G/(2ρ)",
            "The printed bound is true of the printed x*, the optimum; but then k > k* makes g* = 0 (erratum \
             1), and no residual is left. Where x* may be any sparse vector, which is the reading in which \
             the residual says something, f(x) ≥ f(x*) can fail, and the residual becomes O(G/ρ²), without a \
             factor η.",
        )
        .reading(),
        row(
            7,
            "Proof of Theorem 1, second moment of the step",
            "4L(f(x_0) − f(x*)) + 4L⟨∇f(x_t), x_t − x*⟩ + 2G + 2‖∇f(x_t)‖² + 2L²‖x_0 − x*‖² + 2‖e‖²",
            "the same − 4L(f(x_t) − f(x*))",
            "Inequality (6), right after the display, has the term. With it the bound holds for every x*; \
             without it, only where f(x_t) ≥ f(x*), as at the printed x*, and then (6) does not follow.",
        )
        .improvement(),
        row(
            8,
            "Assumption 1(ii)",
            "f is restricted smooth",
            "every f_z is convex and restricted smooth",
            "The variance of the step is bounded by co-coercivity of single components; f can be far \
             smoother than they are.",
        ),
        row(
            9,
            "Assumption 1(iii)",
            "the variance of ∇f_z(x) is at most σ² for all x",
            "σ*² is the variance at x*",
            "For least squares, the paper's own experiment, the variance grows with ‖x‖². With σ*² the term \
         2L²‖X − x*‖² of Lemma 2 has a purpose.",
        ),
        row(
            10,
            "Lemma 2",
            "expectation over the mini-batch I_t",
            "expectation over the batch I",
            "e does not depend on the mini-batch at all. (The indicator 1(B < n) is right: Algorithm 1 \
             samples a subset, that is, without replacement.)",
        ),
        row(
            11,
            "Remark 1, sparsity",
            "(4(64κ − 1)² + 1)k*",
            "(4(64κ² − 1)² + 1)k*",
            "The printed k violates the theorem's own condition on α for every κ > 1.",
        ),
        row(
            12,
            "Remark 1, rate",
            "θ can be increased to 1 − 1/(64κ²(b/B)/(1 + α) + 13/8)",
            "θ ≤ 1 − (1 − 1/κ)/(512κ²(b/B)/(1 + α) + 14)",
            "The printed value always lies below θ: it uses ηρ/2 as numerator and omits the term that is \
             subtracted from it.",
        ),
        row(
            13,
            "Theorem 1, the set Ĩ",
            "supp(x*) ∪ supp(H_2k(f(x*)))",
            "supp(x*) ∪ supp(H_2k(∇f(x*))), the 2k largest outside supp(x*)",
            "f(x*) is a number. If supp(x*) contains some of the 2k indices, other sets contain more of g*.",
        ),
        row(
            14,
            "Theorem 1, α",
            "α = 2√k*/√(k − k*) and α ≤ min{b/B, 1/(64κ² − 1)}",
            "the first is the definition, the second a condition on k",
            "As printed α is defined twice; read this way it agrees with k ≥ (4(B/b)² + 1)k*.",
        ),
        row(
            15,
            "Theorem 1, exponents",
            "θ^(j+1) with X⁰ in the theorem, with X¹ in its sketch",
            "θ^j with X¹, the start of Algorithm 1",
            "At j = 0 the sketch claims that the start is closer to x* than it is.",
        ),
        row(
            16,
            "Corollary 1.1",
            "J ≤ C₁ log(4‖X¹ − x*‖/ε), B = min{1/ε, n}",
            "log(2‖X¹ − x*‖²/ε) epochs suffice, B ≥ min{n, 18σ*²/(ρ²ε)}",
            "The distance enters squared, as Corollary 1.2 has it. The batch size inherits E2 and depends on \
         units.",
        ),
        row(
            17,
            "Corollary 1.2",
            "min{n, 1/ε} C₁ log(2‖X¹ − x*‖²/ε) calls, O(min{n, 1/ε} κ log(1/ε))",
            "3B C₁ log(2‖X¹ − x*‖²/ε) calls, O((B + κ²b) log(1/ε))",
            "An epoch costs B + 2b E N = 3B; C₁ is of order 1 + κ²b/B.",
        ),
        row(
            18,
            "Corollary 1.3",
            "θ^(j+1)Δ + g₂(x*) + g₃(B), and g₁(w*), g₂(w*) in the text around it",
            "θ^jΔ with the corrected floor in place of g₂ and g₃; x* for w*",
            "The algebra is right given inequality (2), whose third term and exponents are not.",
        ),
        row(
            19,
            "Lemma 4 and the display before Lemma 3",
            "x_(t+1) = H_k(x_(t−1) − v_t); any sequence D",
            "x_(t+1) = H_k(x_t − ηv_t); E|D_N| finite and N independent of the path",
            "Both sides are infinite for D_j = g^(−j), and stopping at the best iterate breaks the identity.",
        ),
        row(
            20,
            "Table 1",
            "thresholdings of SVRG-HT O((n + κ) log(1/ε)), κ for SCSG-HT, no constraint on κ; residuals \
             η‖∇f(x*)‖ for GD-HT and √η‖π∇f(x*)‖ for SCSG-HT",
            "m per epoch, O(κ log(1/ε)) at m = Θ(κ); B + κ²b; k ≤ d caps κ; residuals of order G/ρ²",
            "At B = n SCSG-HT is SVRG-HT, so the two rows compare analyses. k ≤ d with the theorem's k needs \
             κ ≤ 1.75 on all of the paper's data.",
        ),
        row(
            21,
            "Section 5",
            "log(1 + exp(y z'x)); ‖x_j‖₀ ≤ k for j = 1, .., l; E2006 with 3308 rows; B < n at ε = 10⁻⁸",
            "log(1 + exp(−y z'x)); j = 1, .., c; 3308 rows are its test part; B = min{1/ε, n} = n",
            "The printed logistic loss is minimized by minus the right predictor.",
        ),
        row(
            22,
            "Algorithm 1 and Theorem 1, the start",
            "starts from a randomly initialized x̃¹",
            "from a k-sparse x̃¹",
            "The constants ρ and L at sparsity 2k + k* say nothing of differences of a dense start from x*, \
             which the first epoch needs.",
        ),
        row(
            23,
            "Before Corollary 1.2",
            "log(1 + x) ≥ x log 2",
            "for 0 ≤ x ≤ 1",
            "It fails beyond 1. It is applied to 1/θ − 1, which is below 1 for θ > 1/2.",
        ),
    ],
);
