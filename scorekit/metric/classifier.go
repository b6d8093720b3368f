package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// ClassifierTest holds the settings of the classifier two-sample test.
type ClassifierTest struct {
	Neighbours int   // k, at least 1; 0 means the root of the number of points that are learned from
	Seed       int64 // of the halves
}

// ClassifierResult is the result of [ClassifierTest.Test].
type ClassifierResult struct {
	Accuracy      float64   // mean of the shares of each set that were recognised: ½ is chance, 1 tells the sets apart
	StandardError float64   // of Accuracy, the judged points being independent
	P             float64   // p-value
	Table         [2][2]int // [set][answer]: how many judged points of a set were taken for one of which set
}

// Test tests whether two sets of points, tensors [n, dims...] and [m, dims...] or rows as for [scorekit.Examples], are
// draws from one distribution, by whether a classifier can tell them apart (Lopez-Paz and Oquab 2017). A random half of
// each set is learned from; each point of the other halves is judged by its k nearest neighbours in the first ones,
// each set's votes counting in inverse proportion to its number of points. Distances are Euclidean: scale the
// coordinates first if their units differ.
//
// The p-value is that of Fisher's exact test on the table of the answers: if there is no difference, all orders of the
// true sets among the judged points are equally likely, whatever was learned, so that P(p ≤ α) ≤ α for every α.
//
// Time grows with n·m·d, memory with n+m. ctx stops it. It returns an error for a negative number of neighbours or more
// than half of the points, for fewer than 4 points in a set, for sets of different dimensions, and for values that are
// not finite.
func (c ClassifierTest) Test(ctx context.Context, a, b any) (ClassifierResult, error) {
	out, err := c.test(ctx, a, b)
	if err != nil {
		return ClassifierResult{}, fmt.Errorf("metric: classifier test: %w", err)
	}
	return out, nil
}

func (c ClassifierTest) test(ctx context.Context, a, b any) (ClassifierResult, error) {
	x, y, err := twoSets(a, b, 4, ", two to learn from and two to judge")
	if err != nil {
		return ClassifierResult{}, err
	}
	x, y, _ = inUnits(x, y)
	rng := rand.New(rand.NewPCG(uint64(c.Seed), 0xc257))
	var learned, judged []labelled
	var counts [2]int
	for set, rows := range [][][]float64{x, y} {
		for place, i := range rng.Perm(len(rows)) {
			if place < len(rows)/2 {
				learned = append(learned, labelled{rows[i], set})
				counts[set]++
			} else {
				judged = append(judged, labelled{rows[i], set})
			}
		}
	}
	// Among points at one distance those of no set shall come first.
	rng.Shuffle(len(learned), func(i, j int) { learned[i], learned[j] = learned[j], learned[i] })
	k := c.Neighbours
	if k == 0 {
		k = int(math.Sqrt(float64(len(learned))))
	}
	if k < 1 || k > len(learned) {
		return ClassifierResult{}, fmt.Errorf("%d neighbours: must be from 1 to %d, the number of points to learn from, or 0 for its root", k, len(learned))
	}
	answers := make([]int, len(judged))
	err = parallel(ctx, len(judged), func(i int) {
		votes := neighbours(learned, judged[i].point, k)
		if votes[1]*counts[0] > votes[0]*counts[1] {
			answers[i] = 1
		}
	})
	if err != nil {
		return ClassifierResult{}, err
	}
	var out ClassifierResult
	for i, p := range judged {
		out.Table[p.set][answers[i]]++
	}
	variance := 0.0
	for set, row := range out.Table {
		all := float64(row[0] + row[1])
		right := float64(row[set]) / all
		out.Accuracy += right / 2
		variance += right * (1 - right) / all / 4
	}
	out.StandardError = math.Sqrt(variance)
	out.P = fisherExact(out.Table)
	return out, nil
}

// labelled is a point and the set that it is from.
type labelled struct {
	point []float64
	set   int
}

// neighbours counts the sets of the k points nearest to x.
func neighbours(points []labelled, x []float64, k int) (votes [2]int) {
	type candidate struct {
		distance float64
		place    int
	}
	nearest := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.place, b.place))
	}
	// Candidates are gathered, and thinned to the best k whenever there are twice as many.
	limit, found := math.Inf(1), make([]candidate, 0, 2*k)
	for place, p := range points {
		if d := squaredDistance(p.point, x); d < limit {
			if found = append(found, candidate{d, place}); len(found) == 2*k {
				slices.SortFunc(found, nearest)
				found, limit = found[:k], found[k-1].distance
			}
		}
	}
	slices.SortFunc(found, nearest)
	for _, c := range found[:k] {
		votes[points[c.place].set]++
	}
	return votes
}

// fisherExact is the probability of at least as many right answers for set 1 as in the table, its margins given: the
// upper tail of the hypergeometric distribution.
func fisherExact(table [2][2]int) float64 {
	first, second := table[0][0]+table[0][1], table[1][0]+table[1][1]
	ones := table[0][1] + table[1][1]
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	p := 0.0
	for right := table[1][1]; right <= min(second, ones); right++ {
		if ones-right <= first {
			p += math.Exp(choose(second, right) + choose(first, ones-right) - choose(first+second, ones))
		}
	}
	return min(1, p)
}
