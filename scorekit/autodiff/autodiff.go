// Package autodiff adds derivatives of vector fields to GoMLX graphs, and mends the gradient rules they rest on.
//
// GoMLX differentiates in reverse: one pass from a scalar back to everything it was made from. A score s(x) of
// shape [batch, dims...] has a Jacobian ∂s/∂x per row, which is never formed; what is wanted of it comes from a few
// passes that share the pass that made s. Through dense layers the passes of the first four go forward, many directions
// in one matrix product; elsewhere, and for the others, they are reverse passes:
//
//	Divergence  Σᵢ ∂sᵢ/∂xᵢ           d passes (d numbers per row), exact
//	Diagonal    ∂sᵢ/∂xᵢ, each i      d passes
//	Hutchinson  mean of vᵀ(∂s/∂x)v   k passes (k probes), unbiased; variance below
//	Bilinear    uᵀ(∂s/∂x)v           1 pass for each pair
//	VJP         vᵀ(∂s/∂x)            1 pass
//	JVP         (∂s/∂x)v             2 passes
//	HVP         ∇ₓ(∇ₓlog p · v)      2 passes
//
// Take the exact trace while d is small or a test needs it; take Hutchinson's when d is large, with as many probes as
// the loss can bear noise. With H̃ = (H + Hᵀ)/2 the symmetric part of the Jacobian H, one probe has the variance
// 2 Σ_{i≠j} H̃ᵢⱼ² for Rademacher probes, 2‖H̃‖_F² for Gaussian ones, and k probes 1/k of that.
//
// # Rows
//
// All of these differentiate a sum over the batch, so the rows of s must not influence one another. Batch
// normalisation and anything else that averages over the batch breaks this; [RowCoupling] measures it.
//
// # Operations
//
// Importing the package replaces some of GoMLX's gradient rules in the whole program. Every operation not named here
// keeps GoMLX's rule. "any" means derivatives of any order, on the XLA and the pure Go backend alike.
//
//	Dot, DotGeneral, Einsum        any; as matrix products (GoMLX: broadcast, multiply, reduce)
//	x·Sigmoid(x)                   any; the sigmoid computed anew (GoMLX: kept)
//	Convolve, ConvGeneral          any; also even kernels, strides, dilations, groups (GoMLX: even kernels wrong)
//	Slice, Split, Concatenate,     any (GoMLX: first order, XLA only)
//	  Stack, Pad, Reverse
//	MeanPool, SumPool, CumSum      any (GoMLX: first order, XLA only)
//	ReduceMax, ReduceMin           any; the first of equal elements (GoMLX: can vanish on XLA)
//	ReduceMultiply, Rsqrt, Expm1,  any (GoMLX: none)
//	  Identity, Clip, Mod
//	Floor, Ceil, Round, comparing  zero (GoMLX: none)
//	ConvertDType to an integer     zero (GoMLX: a truncated gradient)
//	MaxPool, MinPool               first order on XLA; instead: MeanPool, or Reshape and ReduceMax
//	Interpolate, GatherSlices      first order on XLA; instead: Broadcast and Reshape (nearest), Slice
//	BatchNorm in training          first order on XLA, mixes rows; instead: layer or group normalisation
//
// Pure Go does not implement Pad, Reverse and DynamicSlice at all, with or without a gradient, and its convolutions want
// Strides(1), and Dilations(1) beside channel groups, to be written out. An operation asked for
// a derivative that it has not got, or that a backend gets wrong, panics with an error while the graph is built (Exec
// returns it), which names the operation and what to use instead.
//
// # Files
//
// divergence.go (Divergence, Diagonal), products.go (VJP, JVP, HVP), hutchinson.go (Hutchinson, HutchinsonProbes,
// Bilinear), forward.go (directions pushed forward), rows.go (RowCoupling), stable.go (StableMax, LogSumExp), shapes.go
// (argument checks), rules.go (the table of rules), rules_*.go (the rules by kind), params.go (reads an operation's settings).
package autodiff

import "github.com/gomlx/gomlx/pkg/core/graph"

// Node is a GoMLX graph node.
type Node = graph.Node
