package metric

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Energy holds the settings of the energy distance.
type Energy struct {
	Permutations int   // random splits of [Energy.Test]; 0 means 499
	Seed         int64 // of the splits
}

// Distance returns the energy distance of two sets of points, tensors [n, dims...] and [m, dims...] or rows as for
// [scorekit.Examples],
//
//	D = 2E‖x−y‖ − E‖x−x′‖ − E‖y−y′‖
//
// (Székely and Rizzo 2013): 0 only if the two distributions are equal, and in the units of the data, without a bandwidth
// to choose. In one dimension it is 2∫(F−G)². Some texts and scipy call √D the distance.
//
// Time grows with (n+m)², memory with n+m. ctx stops it. It returns an error for fewer than 3 points in a set, for sets
// of different dimensions, and for values that are not finite.
func (e Energy) Distance(ctx context.Context, a, b any) (Statistic, error) {
	out, err := e.distance(ctx, a, b)
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: energy distance: %w", err)
	}
	return out, nil
}

func (e Energy) distance(ctx context.Context, a, b any) (Statistic, error) {
	s, unit, err := e.prepare(a, b)
	if err != nil {
		return Statistic{}, err
	}
	out, err := s.estimate(ctx)
	if err != nil {
		return Statistic{}, err
	}
	out = out.times(unit)
	return out, out.check()
}

// Test is [MMD.Test] with the energy distance.
func (e Energy) Test(ctx context.Context, a, b any) (TestResult, error) {
	out, err := e.test(ctx, a, b)
	if err != nil {
		return TestResult{}, fmt.Errorf("metric: energy test: %w", err)
	}
	return out, nil
}

func (e Energy) test(ctx context.Context, a, b any) (TestResult, error) {
	s, unit, err := e.prepare(a, b)
	if err != nil {
		return TestResult{}, err
	}
	out, err := s.test(ctx, e.Permutations, e.Seed)
	if err != nil {
		return TestResult{}, err
	}
	out.Statistic = out.Statistic.times(unit)
	for i := range out.Null {
		out.Null[i] = math.Ldexp(out.Null[i], unit)
	}
	return out, out.check()
}

// prepare returns the sets in units of 2ᵘ, and u.
func (e Energy) prepare(a, b any) (s twoSample, unit int, err error) {
	x, y, err := twoSets(a, b, 3, ", for the standard error")
	if err != nil {
		return twoSample{}, 0, err
	}
	x, y, unit = inUnits(x, y)
	all := slices.Concat(x, y)
	return twoSample{n: len(x), m: len(y), k: func(i, from, to int, out []float64) {
		x := all[i]
		for j, y := range all[from:to] {
			out[j] = -math.Sqrt(squaredDistance(x, y))
		}
	}}, unit, nil
}
