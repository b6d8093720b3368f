// Package implicit trains generators, x = g_θ(ε) of noise ε, with the entropy of their law as a term that can be
// differentiated.
//
// The law q of a generator is implicit: points of it cost one pass through g, but q(x) itself is not known. Its entropy
//
//	H = −E_q log q(x)
//
// is not known either, and yet its gradient for θ is, as soon as there is a score of q (Li and Turner 2018):
//
//	∇_θ H = −E_ε[ (∂g/∂θ)ᵀ ∇ₓ log q(g(ε)) ]
//
// The other way that H depends on θ, through log q_θ at a point held fixed, adds E[∇_θ log q_θ(x)] = ∇_θ ∫q = 0. The minus
// is that of H: where it is left out, as in "Score Matching", §4.2, a training that means to spread the points draws them
// together. And a score is what this project learns from points alone.
//
// # What there is
//
//	EntropyGradient, EntropyTerm   the gradient above, for weights of your own or as a term of your own loss
//	ReverseKL                      a generator towards an unnormalised density: E_q[E(x)] − λH
//	Adversarial                    a generator towards data, against a critic (a GAN), less λH
//	Learned, Stein                 the score of q: by a network that follows the generator, or from its points alone
//	Fit, FitSteps                  the training
//	Draws                          the trained generator as data: for scorekit.Draw, Fit, metrics, plots
//	MLP, Linear                    generators; one of your own is a type with three methods
//
// What the term is for: without it nothing keeps a generator from putting its points where the critic or the target likes
// them best, at a few modes of many. metric.Modes counts the modes reached and the mass at each. On the ring of 8
// Gaussians, where a mode counts from 2 % of the points on, the plain game of [Adversarial] reached 6, 7, 5, 6 and 7 of
// them from five seeds, and with λ = 0.7 it reached 8 each time. The price: 39 % of the points lay between the modes,
// without the term 19 %.
//
// # Whose turn it is
//
// A step of [Fit] is one of the generator. Before it, in the same compiled call and on fresh points, the critic takes
// Adversarial.Steps steps and the score Learned.Steps: ratios of 1 : n, each network with its own learning rate. No
// network's gradient reaches another's weights. Nothing goes to the host between two of these steps, and Fit's progress,
// checkpoints, resuming and cancelling are those of [scorekit.Fit].
//
// # Files
//
//	generator.go mlp.go linear.go   Generator, and two of them
//	entropy.go                      the gradient of the entropy
//	law.go learned.go stein.go      how the score of the law is known
//	reversekl.go adversarial.go     the two trainings
//	fit.go model.go draws.go        Fit; what is trained; its points
//	sample.go inner.go              the points of one step; the steps of the networks that follow
//
// # Sources
//
//   - Y. Li and R. E. Turner, Gradient estimators for implicit models, ICLR (2018): the entropy gradient by a score, and
//     the Stein estimator.
//   - G. Roeder, Y. Wu and D. Duvenaud, Sticking the landing, NeurIPS (2017): the term whose mean is 0.
//   - I. Goodfellow et al., Generative adversarial nets, NeurIPS (2014): the game.
//   - L. Mescheder, A. Geiger and S. Nowozin, Which training methods for GANs do actually converge?, ICML (2018): R1.
package implicit
