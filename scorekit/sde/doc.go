// Package sde holds the processes that turn data into noise, and everything that follows from their formulas: schedules,
// levels, grids of times, the laws of single steps, and conversions between the quantities that networks predict. It
// draws no samples from data; the samplers of package sampler are made of it.
//
// # One idea
//
// Each process here is a linear stochastic differential equation, an [SDE],
//
//	dx = f(t) x dt + g(t) dW
//
// whose state at time t, given the data x₀, is a·x₀ + b·z with z ~ N(0, I): data shrunk by a, and noise of standard
// deviation b. The pair is its [Level], {Mean, Std}. From the time on which all data are drowned in noise, the process can
// be run backwards if the score of its states is known (Anderson 1982; Song et al. 2021), and that score follows from the
// score of noised data that this project trains, by [ScoreAt]. With I(t) = ∫₀ᵗ β:
//
//	process            f          g                         Mean a    Std b                     prior
//	VP                 −½β(t)     √β(t)                     e^{−I/2}  √(1 − e^{−I})             N(0, I)
//	SubVP              −½β(t)     √(β(t)(1 − e^{−2I}))      e^{−I/2}  1 − e^{−I}                N(0, I)
//	CosineVP           −ω tan ωt  √(2ω tan ωt)              cos ωt    sin ωt                    N(0, I)
//	VE                 0          σ(t) √(2 ln(σ_max/σ_min)) 1         σ(t) = σ_min(σ_max/σ_min)ᵗ N(0, σ_max² I)
//	Wiener             0          σ                         1         σ√t                       N(0, σ²T I)
//	OrnsteinUhlenbeck  −θ         σ                         e^{−θt}   σ√((1 − e^{−2θt})/(2θ))   N(0, σ²/(2θ) I)
//	Rectified          −1/(1−t)   √(2t/(1−t))               1 − t     t                         N(0, I)
//
// [Discrete] is the DDPM chain, whose limit for many steps is VP: see [Discretize]. Zero values of the settings are those
// of the papers, so that sde.VP{} is the usual VP.
//
// # Three clocks
//
// The same level is known by a time t, by an index of a chain, and by the noise level σ = b/a in the units of the data:
// that of x/a = x₀ + σz, and of a [scorekit.Score]. Marginal(t).Sigma() leads from the first two to the third, and
// Time(σ) back; [Preserving] goes from σ to the level of a variance-preserving process.
//
// # What networks predict
//
// Score, noise ε, data x₀, v and flow velocity of a state are one thing in five forms: [Convert] and [ConvertNode].
// [FromNetwork] makes a scorekit.Score of a network that was made for states and times, and [ToNetwork] the reverse.
//
// # Steps
//
// [Between] is the law of a later state given an earlier one, [Posterior] that of an earlier one given a later one and the
// data, and [Ancestral] the split of noise in a reverse step with η. They take any two levels, of any process, grid or
// chain, on the host in float64: a sampler puts what they return into the rows of its schedule. Functions whose names end
// in Node are for what must be known in a graph, such as a time drawn for each example.
//
// # Choosing
//
// [Advise] looks at data and says which noise levels suit them, with the source of each rule.
//
// # Files
//
//	sde.go level.go prior.go           the vocabulary: SDE, Level, Prior
//	vp.go cosine.go ve.go rectified.go wiener.go ou.go    the processes
//	oumatrix.go                        Ornstein–Uhlenbeck with a matrix and a mean
//	discrete.go betas.go               the DDPM chain and its β; the limit of many steps
//	timesteps.go sigmas.go             grids of indices, noise levels and times
//	between.go                         laws of single steps
//	predict.go score.go edm.go         conversions; scores of states; Karras et al.'s coefficients
//	paths.go integrals.go              forward paths, exact and by Euler–Maruyama; their variations and stochastic sums
//	advice.go distances.go             noise levels from data
//	number.go                          what lets a formula stand once, for the host and the graph
//
// # Sources
//
//   - Y. Song, J. Sohl-Dickstein, D. Kingma, A. Kumar, S. Ermon, B. Poole, Score-based generative modeling through
//     stochastic differential equations, ICLR (2021): VP, sub-VP, VE and the reverse of each.
//   - J. Ho, A. Jain, P. Abbeel, Denoising diffusion probabilistic models, NeurIPS (2020): the chain.
//   - A. Nichol, P. Dhariwal, Improved denoising diffusion probabilistic models, ICML (2021): squared cosine.
//   - J. Song, C. Meng, S. Ermon, Denoising diffusion implicit models, ICLR (2021): reverse steps with η.
//   - T. Salimans, J. Ho, Progressive distillation for fast sampling of diffusion models, ICLR (2022): v.
//   - T. Karras, M. Aittala, T. Aila, S. Laine, Elucidating the design space of diffusion-based generative models, NeurIPS
//     (2022): the ρ grid and preconditioning.
//   - Y. Song, S. Ermon, Improved techniques for training score-based generative models, NeurIPS (2020): noise levels and
//     Langevin steps from data.
package sde
