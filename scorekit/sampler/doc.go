// Package sampler turns a score into draws. Each sampler is a struct of settings with a schedule and one update;
// [scorekit.Sample] runs any of them, with progress, cancellation, thinning and trajectories.
//
// Files: langevin.go (one target, fixed step), annealed.go (from high to low noise).
package sampler
