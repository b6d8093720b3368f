package metric

import (
	"math"
	"slices"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
)

// The tea-tasting table of Fisher 1935: (16 + 1)/70, and all right: 1/70.
func TestFisherExact(t *testing.T) {
	testvalues.NearNumber(t, "three of four", fisherExact([2][2]int{{3, 1}, {1, 3}}), 17.0/70, 1e-12)
	testvalues.NearNumber(t, "all", fisherExact([2][2]int{{4, 0}, {0, 4}}), 1.0/70, 1e-12)
	testvalues.NearNumber(t, "none", fisherExact([2][2]int{{0, 4}, {4, 0}}), 1, 1e-12)
	testvalues.NearNumber(t, "one answer only", fisherExact([2][2]int{{5, 0}, {3, 0}}), 1, 1e-12)
	// {2, 3, 1, 4}: Σ over right ≥ 4 of C(5, r)·C(5, 7−r)/C(10, 7) = (5·10 + 1·10)/120.
	testvalues.NearNumber(t, "unequal answers", fisherExact([2][2]int{{2, 3}, {1, 4}}), 60.0/120, 1e-12)
}

// The neighbours are those of a full sort.
func TestNeighbours(t *testing.T) {
	points := normal(1, 200, 2)
	var all []labelled
	for i, p := range points {
		all = append(all, labelled{p, i % 2})
	}
	x := []float64{0.3, -0.2}
	order := slices.Clone(all)
	slices.SortFunc(order, func(a, b labelled) int {
		if squaredDistance(a.point, x) < squaredDistance(b.point, x) {
			return -1
		}
		return 1
	})
	for _, k := range []int{1, 2, 7, 50, 200} {
		var want [2]int
		for _, p := range order[:k] {
			want[p.set]++
		}
		if got := neighbours(all, x, k); got != want {
			t.Errorf("k = %d: %v, want %v", k, got, want)
		}
	}
}

// Where there is no difference, also between sets of unequal sizes, at most one test in twenty rejects at the level 0.05
// (3 standard errors of a share of 400 are allowed) and half of the points are recognised. With a shift of 2 a normal
// classifier reaches Φ(1) = 0.84.
func TestClassifier(t *testing.T) {
	const runs = 400
	var accuracies, claimed []float64
	rejected := 0
	for i := range runs {
		x, y := normal(uint64(2*i), 40, 2), normal(uint64(2*i+1), 90, 2)
		got, err := ClassifierTest{Seed: int64(i)}.Test(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		if got.P <= 0.05 {
			rejected++
		}
		accuracies, claimed = append(accuracies, got.Accuracy), append(claimed, got.StandardError*got.StandardError)
	}
	testvalues.MeanWithin(t, "accuracy without a difference", accuracies, 0.5)
	// The variance of 400 numbers is known to √(2/400) = 7 %; 3 of these are allowed.
	_, se := meanAndError(accuracies)
	testvalues.NearNumber(t, "mean square of the standard error", mean(claimed), se*se*runs, 0.21)
	t.Logf("type-I error %.4f at the level 0.05", float64(rejected)/runs)
	if most := 0.05*runs + 3*math.Sqrt(0.05*0.95*runs); float64(rejected) > most {
		t.Errorf("%d of %d tests reject, want at most %v", rejected, runs, most)
	}
	x, y := normal(1, 2000, 2), moved(normal(2, 1000, 2), 1, []float64{2, 0})
	got, err := ClassifierTest{}.Test(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	best := math.Erfc(-1/math.Sqrt2) / 2
	if got.Accuracy > best+5*got.StandardError || got.Accuracy < best-0.02-5*got.StandardError || got.P > 1e-50 {
		t.Errorf("%+v, want an accuracy near %v", got, best)
	}
	if all := got.Table[0][0] + got.Table[0][1]; all != 1000 || got.Table[1][0]+got.Table[1][1] != 500 {
		t.Errorf("table %v: want rows of 1000 and 500", got.Table)
	}
	testvalues.NearNumber(t, "accuracy", got.Accuracy, (float64(got.Table[0][0])/1000+float64(got.Table[1][1])/500)/2, 1e-12)

	// Of a set that is a tenth of the other as large a share is recognised: Φ(½) = 0.69 for a shift of 1, less what few
	// points teach.
	x, y = normal(3, 3000, 2), moved(normal(4, 300, 2), 1, []float64{1, 0})
	if got, err = (ClassifierTest{}).Test(t.Context(), x, y); err != nil {
		t.Fatal(err)
	}
	for set, row := range got.Table {
		if right := float64(row[set]) / float64(row[0]+row[1]); right < 0.55 {
			t.Errorf("%v of set %d recognised, want near 0.69", right, set)
		}
	}
}
