// Package net holds score networks: scores with weights, as plain structs of settings. Each is registered with
// scorekit, so that a checkpoint carries its description and [scorekit.Load] rebuilds it.
//
// Weights start as N(0, 1/fan-in), biases at zero. The matrices are rank 2 throughout, for which the gradient rule of
// scorekit/autodiff is a matrix product; all activations can be differentiated as often as a second-order loss needs.
//
// Files: mlp.go (one noise level), noisemlp.go (many), layer.go (what they are made of).
package net
