// Package sampler turns a score into draws. Each sampler is a struct of settings with a schedule and one update;
// [scorekit.Sample] runs any of them, with progress, cancellation, thinning, trajectories and predictions of the noiseless
// points.
//
// # Which sampler for what
//
// Langevin's family follows the score of one law, or of a ladder of noised ones:
//
//	sampler            needs            its law at rest, at a finite step       for
//	Langevin           score            too wide: v/(1 − ε/(2v)) for N(μ, v)    a quick look; one mode
//	GradientAscent     score            none: every chain ends at a mode        modes
//	Underdamped        score            right for Gaussians, else off by h²     narrow valleys, many dimensions
//	MALA               score and log p  exact                                   moments to be relied on; one mode
//	ParallelTempering  score and log p  exact, the modes' weights too           several modes, log p known
//	AnnealedLangevin   score at every   near p; the modes' weights nearly, the  a learned score; several modes
//	                   noise level      better the finer the ladder
//	SVGD               score            points evenly over p, not draws of it   few points that stand for one mode
//
// A chain of the first four stays in the mode that it finds: between modes that are apart it does not cross, and how many
// chains are in each says nothing of its weight.
//
// The others undo noise, with the score of the data at every noise level, from levels that drown the data down to the
// data. They draw from all modes with their weights, as well as the score knows them. On an [sde.SDE], or on noise levels σ
// alone:
//
//	sampler             a step                                          order        scores a step
//	ReverseSDE          reverse SDE, Euler–Maruyama                     1            1
//	PredictorCorrector  a move between levels, Langevin corrections     1            1, and 1 a correction
//	ProbabilityFlow     the ODE without noise, by its Solver:
//	                      Euler                                         1            1
//	                      Heun, DPMSolver2, DPMSolver2S, DPMSolverSDE   2            2
//	                      DPMSolver2M, DPMSolver3M, ExponentialAB2,
//	                      AdamsBashforth2                               2            1
//	                      ExponentialAB3, AdamsBashforth4               3, 4         1
//	                    or, with Eta, a reverse SDE by those from
//	                    DPM-Solver and ExponentialAB                    2            as above
//	Churn               fresh noise, then Heun or Euler (Karras et al.) as these     2 or 1
//	DormandPrince       the ODE, to a tolerance, each chain its own     5            6 an attempt
//	DDPM                on indices or levels: law of the step given x̂₀  1            1
//	DDIM                that with less noise, or none: Eta              1            1
//
// Few scores: ProbabilityFlow with Heun or DPMSolver2M on [sde.KarrasSigmas]. Exactness to a tolerance: DormandPrince. Many
// scores and a score with errors: noise mends them, by Churn, Eta or corrections.
//
// [Inpaint] has any of these but DormandPrince draw points some of whose numbers are known, and [Guide] adds a guidance
// term to a score; neither takes training.
//
// # Has it worked?
//
// Diagnostics come apart from the chains, in [scorekit.Draws.Info]: acceptance and ε of MALA, acceptance and swaps of
// tempering, the temperature of underdamped chains. Keep draws with [scorekit.WithThinning]: metric.RHat tells whether
// chains agree, metric.EffectiveSampleSize how many independent draws they are worth. A chain that runs away stops the run
// with a [scorekit.DivergedError], which says by how much to shorten the step.
//
// # Memory
//
// It does not grow with the number of steps. A compiled block of several steps (see [scorekit.WithUnroll]) costs some tens of
// megabytes once, on top of the chains and of what the score takes.
//
// # Files
//
//	langevin.go            Langevin: the unadjusted algorithm, in both ways to write its step
//	ascent.go              GradientAscent
//	svgd.go                SVGD: without noise, kept apart by a kernel
//	underdamped.go         Underdamped: with a velocity
//	mala.go                MALA: with acceptance
//	tempering.go           ParallelTempering: on a ladder of temperatures, with swaps
//	target.go              what MALA and tempering share: a law known up to a constant, a proposal and its acceptance
//	annealed.go            AnnealedLangevin: from high to low noise
//	reversetime.go         what those that undo noise share: their grid and the first columns of their schedules
//	reversesde.go          ReverseSDE
//	predictorcorrector.go  PredictorCorrector: its moves and its corrections
//	probabilityflow.go     ProbabilityFlow, with and without noise
//	solver.go              Solver: the methods of ProbabilityFlow; multistep.go: those that remember
//	churn.go               Churn
//	dormandprince.go       DormandPrince
//	ddpm.go ddim.go        DDPM and DDIM; ddpmlevels.go: what they share
//	inpaint.go             Inpaint: known numbers kept
//	guidance.go            Guide: a term added to the score
//	steps.go               pieces of steps; checks.go: of settings
package sampler
