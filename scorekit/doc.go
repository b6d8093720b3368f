// Package scorekit learns scores and draws with them.
//
// A score is the gradient of a log-density with respect to the point, s(x) = ∇ₓ log p(x): it says which way points
// become more likely. It does not contain the normalising constant of p, so that it can be learned where p itself
// cannot (Hyvärinen 2005), and it is all that is needed to draw new points from p.
//
// # One idea
//
// Everything here is made of one value, a [Score]: a function that adds s(x) to a GoMLX graph.
//
//   - A [Model] has a score: a density in closed form (package density), a network (package net), an [Energy] E with
//     s = −∇ₓE, or any GoMLX function of a user's own.
//   - An [Objective] turns a score and a batch of [Data] into a loss (package objective).
//   - A [Sampler] turns a score into draws (package sampler).
//
// Data are points held in memory ([Examples]), a density to draw from, or whatever a [Source] reads ([Stream]). Where
// they have classes ([Labelled]) a model can learn the score of each, and of all together ([Conditional]); [Given] is
// then the score of one, with guidance if that is wished.
//
// Any objective can so be tried on an exact score, and any sampler tested with one.
//
// # The verbs
//
//	fitted, err := scorekit.Fit(ctx, backend, model, objective, data, options…)    // data → weights
//	draws, err := scorekit.Sample(ctx, backend, fitted, sampler, n, options…)      // score → draws
//	scores, err := scorekit.Evaluate(ctx, backend, fitted, points)                 // score at points
//	loss, se, err := scorekit.EvaluateLoss(ctx, backend, fitted, objective, data, n, seed)
//	points, err := scorekit.Draw(ctx, backend, data, n, seed)                      // data → points on the host
//	err := fitted.Save(path)
//	fitted, err := scorekit.Load(path)
//
// [FitSteps] and [SampleSteps] are the loops under [Fit] and [Sample] as iterators, to look inside a run. A backend comes
// from package backend. The model, objective, data and sampler may be a user's own: each is an interface of one to
// three methods, given in score.go.
//
// # What holds everywhere
//
// Points are [batch, dims...]; losses are per example, [batch]; noise levels σ are standard deviations in the units of
// the data. Numbers are float32 unless [WithDType] says float64. The same seed, backend and version give the same
// result. Verbs return errors that name the argument, its value and what is allowed; functions that take and return
// *[Node] build graphs and may panic with an error, as GoMLX's do, and the verbs turn that into their error. A loss or
// a chain that is no longer finite stops the run with an error that names the step, and what was good is kept.
//
// # Files
//
//	score.go                    the vocabulary: Score, Model, Energy, Objective, Data, Sampler
//	fitted.go                   Fit, and Fitted, a trained model
//	fitsteps.go training.go     FitSteps; a training run
//	stepgraph.go stepper.go     what one block of training steps is; what is compiled, kept from run to run
//	optimizer.go                Adam, AdamW, SGD and the learning rate
//	sample.go                   Sample
//	samplesteps.go sampling.go  SampleSteps; what one block of sampling steps is
//	diverged.go predict.go      chains that ran away; the noiseless points that chains stand for
//	finisher.go                 chains that are at their end before the last step
//	blocks.go                   how many steps make a block
//	evaluate.go evaluateloss.go scores and losses of a model as it is
//	inblocks.go losses.go       many points, and many losses, worked through a block at a time
//	bind.go                     a model and points made ready for a graph of one's own
//	examples.go labelled.go     data held in memory; with classes
//	source.go stream.go         data from outside the graph: what gives them, and what Fit takes them as
//	feeder.go                   how a stream is read ahead
//	augment.go draw.go          data changed at random; data on the host
//	classes.go conditional.go   data and models with classes; how such a model is trained
//	given.go                    the score of one class, with guidance
//	options.go progress.go      what Fit and Sample can be told, and what they report
//	checkpoint.go store.go      checkpoints: what is in one, and the folder that holds them
//	registry.go settings.go     models that a checkpoint can rebuild; settings that it must agree with
//	guard.go                    graph-building panics as errors
//
// # Sources
//
//   - A. Hyvärinen, Estimation of non-normalized statistical models by score matching, JMLR 6 (2005): scores can be
//     learned without the normalising constant.
//   - P. Vincent, A connection between score matching and denoising autoencoders, Neural Computation 23 (2011):
//     denoising score matching.
//   - Y. Song and S. Ermon, Generative modeling by estimating gradients of the data distribution, NeurIPS (2019): many
//     noise levels and annealed Langevin dynamics.
package scorekit
