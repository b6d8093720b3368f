// Package likelihood computes how probable points are under a score model, by the probability-flow ODE.
//
// A diffusion dx = f(t) x dt + g(t) dW turns data into noise (package sde). The ODE
//
//	dx/dt = F(x, t) = f(t) x − ½ g(t)² ∇log p_t(x)
//
// has states of the same law p_t at every time, and no randomness (Song et al. 2021, section 4.3). Along its path the
// density changes only by how much F spreads or gathers what is near (the instantaneous change of variables, Chen et al.
// 2018; Grathwohl et al. 2019), so that from the point x at time s to where it is at T
//
//	log p_s(x) = log p_T(x(T)) + ∫ₛᵀ ∇·F(x(t), t) dt
//
// (Song et al. 2021, eq. 39). [LogDensity] solves both together. It is exact for the density that the score belongs to, but
// for four things:
//
//   - p_T is taken to be the SDE's prior, which leaves out what is left of the data at T (see [sde.Prior]): e^{−5} of them
//     for sde.VP{}, and for sde.VE{} the data beside noise of σ_max. For data of size 1 that is about 10⁻² nats a point; it
//     belongs to the model that such a score defines, and to every published number.
//   - p_s is the density of the data as they are at time s, with their noise of 10⁻³ or so of a standard deviation: see
//     Settings.From.
//   - The solver: Dormand and Prince's (1980) pair of orders 5 and 4, with a step that keeps the error of the pair within
//     the tolerances of Settings.
//   - Hutchinson's estimate of the divergence, where it is asked for: unbiased for the integral, with a standard error for
//     each point. Exact divergence takes as many passes a step as a point has numbers.
//
// A learned score need not be a gradient, and the density it defines by this ODE is not the one by its reverse SDE.
//
// # Bits per dimension
//
// [BitsPerDim] is −log p/(d ln 2), of data on the scale that the model was given. For data of integers k = 0 … n−1, such
// as 8-bit images, what is wanted is the probability of a cell: [Bins] adds uniform noise within each cell and the offset
// log₂(n/range) of its size.
//
// # Files
//
// settings.go ([Settings]), logdensity.go ([LogDensity], [Result]), field.go (F and its divergence on the device),
// solver.go (the steps), numbers.go (to and from the device), bits.go ([BitsPerDim], [Bins]).
package likelihood
