package main

func ofObjectives() []mutant {
	const in = "scorekit/objective/"
	return []mutant{
		{in + "contrastive.go", `loss := graph.Sub(low, high)`, `loss := graph.Sub(high, low)`, "the sign of the loss", "TestContrastiveListed"},
		{in + "contrastive.go", `graph.Add(graph.Square(low), graph.Square(high)), c.Penalty`, `graph.Sub(graph.Square(low), graph.Square(high)), c.Penalty`, "the sign in the penalty", "TestContrastiveTorchebm"},
		{in + "contrastive.go", `graph.StopGradient(c.run(vars, rng, score, starts))`, `c.run(vars, rng, score, starts)`, "a gradient through the chain", "TestContrastiveListed"},
		{in + "contrastive.go", `overflowing(low, loss, 1)`, `overflowing(low, loss, -1)`, "−Inf for an infinite energy of the data", "TestContrastiveTellsWhatIsNotFinite"},
		{in + "contrastivechains.go", `Temperature: noise * noise`, `Temperature: noise`, "the noise factor for its square", "TestContrastiveTorchebm"},
		{in + "contrastivechains.go", `steps, noise := max(1, c.Steps), c.Noise`, `steps, noise := max(1, c.Steps-1), c.Noise`, "a step too few", "TestContrastiveExpected"},
		{in + "contrastivechains.go", `graph.Slice(normals, graph.AxisElem(k))`, `graph.Slice(normals, graph.AxisElem(0))`, "the same noise at each step", "TestContrastiveExpected"},
		{in + "contrastivechains.go", `graph.MulScalar(rng.Normal(dims...), c.Spread)`, `graph.MulScalar(rng.Normal(dims...), c.Spread*c.Spread)`, "Spread² for Spread", "TestContrastiveRestarts"},
		{in + "contrastivechains.go", `state.X = within(state.X, c.Limit)`, `state.X = within(state.X, 0)`, "no limit", "TestContrastiveBounds"},
		{in + "contrastivechains.go", `within(score(vars, x, sigma), c.MaxGradient)`, `within(score(vars, x, sigma), 2*c.MaxGradient)`, "twice the largest gradient", "TestContrastiveBounds"},
		{in + "contrastivechains.go", `graph.GreaterOrEqual(rng.Uniform(n), graph.Scalar(g, x.DType(), c.Restart))`, `graph.LessThan(rng.Uniform(n), graph.Scalar(g, x.DType(), c.Restart))`, "restarts with probability 1 − Restart", "TestContrastiveBuffer"},
		{in + "contrastivechains.go", `graph.AddScalar(i, -n))`, `graph.AddScalar(i, 1-n))`, "the buffer's end one off", "TestContrastiveBuffer"},
		{in + "contrastivechains.go", `graph.LessThan(who, graph.Scalar(g, dtypes.Int32, n))`, `graph.LessThan(who, graph.Scalar(g, dtypes.Int32, n-1))`, "the last chain is not put back", "TestContrastiveBuffer"},

		{in + "denoising.go", `d.Sigma*d.Sigma)`, `d.Sigma)`, "σ for σ² in the plain loss", "TestEquivalence"},
		{in + "denoising.go", `if !d.Weighted {`, `if d.Weighted {`, "the weight the other way round", "TestEquivalence"},
		{in + "denoising.go", `graph.Add(x, graph.Mul(wide, z))`, `graph.Add(x, graph.Mul(graph.Square(wide), z))`, "noise σ²z", "TestEquivalence"},
		{in + "denoising.go", `graph.Add(graph.Mul(wide, s), z)`, `graph.Sub(graph.Mul(wide, s), z)`, "the sign of the target", "TestEquivalence"},
		{in + "denoising.go", `floor := 0.5 * float64(dim)`, `floor := float64(dim)`, "no ½ in the floor", "TestFloor"},
		{in + "denoising.go", `std * std / (s2 * v)`, `std / (s2 * v)`, "std for std² in the floor", "TestFloor"},

		{in + "explicit.go", `graph.Sub(ask(who, score, vars, x, nil), known)`, `graph.Add(ask(who, score, vars, x, nil), known)`, "the sign of the target", "TestExplicitAndImplicitOfGaussians"},
		{in + "explicitkde.go", `graph.Sub(ask(who, score, vars, points, nil), target)`, `graph.Add(ask(who, score, vars, points, nil), target)`, "the sign of the target", "TestExplicitKDEReference"},
		{in + "explicitkde.go", `differentiable(q.Batch(vars, rng, x.Shape().Dimensions[0]))`, `differentiable(x)`, "points of the batch, not of the estimate", "TestExplicitKDEReference"},
		{in + "explicitkde.go", `q = e.Target.Subset(vars, rng, e.Centres)`, `q = e.Target.Subset(vars, rng, 1)`, "one centre for Centres", "TestSomeCentres"},
		{in + "flat.go", `(v - mean[j]) / std[j]`, `v / std[j]`, "planes through the origin alone", "TestPointsInAPlane"},
		{in + "flat.go", `if n <= d {`, `if n < d {`, "as many points as numbers pass for enough", "TestPointsInAPlane"},

		{in + "implicit.go", `graph.Add(halfSquare(s), autodiff.Divergence(s, x))`, `graph.Sub(halfSquare(s), autodiff.Divergence(s, x))`, "the sign of the trace", "TestContrastiveExpected"},
		{in + "implicit.go", `graph.Add(halfSquare(s), trace)`, `graph.Add(halfSquare(s), graph.MulScalar(trace, 2))`, "twice Hutchinson's trace", "TestExactScoreIsTheMinimum"},
		{in + "implicit.go", `graph.DivScalar(squares, k*(k-1))`, `graph.DivScalar(squares, k*k)`, "k for k − 1 in the variance of the probes", "TestHutchinsonListed"},

		{in + "levels.go", `graph.MulScalar(u, math.Log(l.Max/l.Min))`, `graph.MulScalar(u, math.Log(l.Max))`, "log-uniform levels up to Min·Max", "TestLevelsListed"},
		{in + "levels.go", `float64(i)/float64(levels-1)`, `float64(i)/float64(levels)`, "levels for levels − 1 in the ladder", "TestGeometricIsTheSamplersLadder"},
		{in + "levels.go", `rng.Int(len(l.Sigmas), n, 1)`, `rng.Int(max(1, len(l.Sigmas)-1), n, 1)`, "the last level is never drawn", "TestLevelsDrawn"},
		{in + "levels.go", `graph.MulScalar(rng.Normal(n), l.Std)`, `graph.MulScalar(rng.Normal(n), l.Std*l.Std)`, "Std² for Std in log-normal levels", "TestLevelsListed"},
		{in + "levels.go", `t = count.ValueGraph(g)`, `t = graph.AddScalar(count.ValueGraph(g), 1)`, "annealed levels one step ahead", "TestAnnealedFallsWithTraining"},
		{in + "levels.go", `graph.MaxScalar(sigma, a.Min)`, `graph.MaxScalar(sigma, 0)`, "annealed levels fall below Min", "TestAnnealedFallsWithTraining"},

		{in + "multinoise.go", `graph.Div(loss, graph.Square(sigma))`, `graph.Div(loss, sigma)`, "σ for σ² in the weighting Plain", "TestMultiNoiseReference"},
		{in + "multinoise.go", `graph.OnePlus(graph.Square(graph.DivScalar(sigma, m.DataStd)))`, `graph.OnePlus(graph.DivScalar(sigma, m.DataStd))`, "σ/σ_d for its square in the weighting EDM", "TestWeightingsByHand"},
		{in + "multinoise.go", `floor *= 1 + sigma*sigma/(m.DataStd*m.DataStd)`, `floor *= sigma * sigma / (m.DataStd * m.DataStd)`, "no 1 in the floor of EDM", "TestFloorOfEDM"},
		{in + "multinoise.go", `graph.LessOrEqual(sigma, graph.ZerosLike(sigma))`, `graph.LessThan(sigma, graph.ZerosLike(sigma))`, "level 0 passes", "TestWeightingsByHand"},

		{in + "nonnegative.go", `rows.Sum(graph.MulScalar(graph.Mul(w, s), 2))`, `rows.Sum(graph.Mul(w, s))`, "no 2 in 2w·s", "TestNonNegativeReference"},
		{in + "nonnegative.go", `graph.Mul(squared, autodiff.Diagonal(s, x))`, `graph.Mul(w, autodiff.Diagonal(s, x))`, "w for w² before the slopes", "TestNonNegativeReference"},
		{in + "nonnegative.go", `graph.AddScalar(x, -o.Origin)`, `graph.AddScalar(x, o.Origin)`, "the sign of the origin", "TestNonNegativeReference"},
		{in + "nonnegative.go", `graph.Mul(graph.InsertAxes(squared, 0), v))`, `graph.Mul(graph.InsertAxes(squared, 0), graph.OnesLike(v)))`, "a probe on one side only", "TestNonNegativeByHand"},
		{in + "nonnegative.go", `graph.ReduceMean(autodiff.Bilinear`, `graph.ReduceSum(autodiff.Bilinear`, "the sum of the probes for their mean", "TestNonNegativeByHand"},

		{in + "points.go", `graph.MulScalar(rows.Sum(graph.Square(r)), 0.5)`, `rows.Sum(graph.Square(r))`, "no ½ in any loss", "TestEquivalence"},
		{in + "points.go", `func differentiable(x *Node) *Node { return graph.Identity(x) }`, `func differentiable(x *Node) *Node { return x }`, "slopes at drawn points are 0", "TestEnergyIsItsScore"},
		{in + "points.go", `graph.StopGradient(rows.Sum(graph.Sub(x, x)))`, `graph.ZerosLike(loss)`, "examples that are not finite pass", "TestEveryObjectiveRefusesBadData"},

		{in + "sliced.go", `graph.MulScalar(graph.Square(along), 0.5)`, `graph.Square(along)`, "no ½ in (vᵀs)²", "TestSlicedReference"},
		{in + "sliced.go", `terms[j] = graph.Add(slope, `, `terms[j] = graph.Sub(slope, `, "the sign of (vᵀs)²", "TestSlicedReference"},
		{in + "sliced.go", `Probes: o.Projections`, `Probes: 1`, "one projection for all", "TestSlicedReference"},
	}
}
