// Package compare trains several objectives on the same data with the same network, and says how they did and what
// they cost.
//
// All objectives of score matching have the score of the data, or of noised data, as their minimiser. They differ in
// what they need to know, in the noise of their gradients and in their cost:
//
//	compare.Objectives   one data set → loss, Fisher divergence from the truth, time per step: a [Table]
//	compare.Cost         a list of dimensions → time per step against d, with the exponent: a [CostTable]
//
// Both run [scorekit.Fit]'s own loop, with the same seed for all, and leave the objectives' losses as they are: the
// losses of two objectives may differ by a number that no score changes, so that only the divergence says which
// score is nearer to the truth.
//
// Times are wall-clock times of the machine as it is, measured after the first call, which compiles. On a machine that
// is busy with other things compare what one run of a function measured, not two.
//
// Files: objectives.go ([Objectives]), cost.go ([Cost]), timing.go (how a step is timed), markdown.go (tables as text).
package compare
