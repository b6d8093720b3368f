package sde

import (
	"math"
	"math/rand/v2"
	"slices"
)

// diameter is the largest distance between two points.
func diameter(data [][]float64) float64 {
	largest := 0.0
	for i, p := range data {
		for _, q := range data[:i] {
			largest = max(largest, squared(p, q))
		}
	}
	return math.Sqrt(largest)
}

// sweep goes from the mean to the point farthest from it, from there to the farthest, and on while the distance r grows,
// which is a distance of two of the points. All points lie within r of its one end and, from the sweep before, within
// some r₀ ≤ r of the other, so that no two are farther apart than 2r₀, nor than the lens of two balls is long, √3·r
// (Egecioglu and Kalantari 1989).
func sweep(data [][]float64) (found, bound float64) {
	at := make([]float64, len(data[0]))
	for _, p := range data {
		for j, v := range p {
			at[j] += v / float64(len(data))
		}
	}
	at, radius := farthest(data, at)
	bound = 2 * radius
	for range 10 {
		next, r := farthest(data, at)
		bound = min(bound, 2*r)
		if r <= found {
			break
		}
		at, found = next, r
	}
	return found, min(bound, math.Sqrt(3)*found)
}

// farthest returns the point that is farthest from a place, and how far.
func farthest(data [][]float64, from []float64) (point []float64, distance float64) {
	largest := -1.0
	for _, p := range data {
		if s := squared(p, from); s > largest {
			point, largest = p, s
		}
	}
	return point, math.Sqrt(largest)
}

// medianNeighbour is the median over the queries of the distance to the nearest point that is not equal.
func medianNeighbour(data [][]float64, queries []int) float64 {
	nearest := make([]float64, len(queries))
	for k, i := range queries {
		least := math.Inf(1)
		for _, p := range data {
			if s := squared(p, data[i]); s > 0 && s < least {
				least = s
			}
		}
		nearest[k] = least
	}
	slices.Sort(nearest)
	return (math.Sqrt(nearest[(len(nearest)-1)/2]) + math.Sqrt(nearest[len(nearest)/2])) / 2
}

func squared(p, q []float64) float64 {
	sum := 0.0
	for j, v := range p {
		d := v - q[j]
		sum += d * d
	}
	return sum
}

func indexed(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// drawn returns k of the indices below n, drawn without replacement.
func drawn(n, k int, seed int64) []int {
	return rand.New(rand.NewPCG(uint64(seed), 0)).Perm(n)[:k]
}
