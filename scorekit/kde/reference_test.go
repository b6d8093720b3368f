package kde_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/kde"
)

// listed is one case of the files in testdata: an estimate, points, and what was recorded there. The fields that are used
// depend on the file.
type listed struct {
	ID      string
	Kernel  string
	Points  [][]float64
	Weights []float64
	X       [][]float64
	H       any // a number or a list
	Rule    string

	LogQ  []float64
	Q     any // a list, or a number for a single point
	Score any // rows, or a row for a single point

	Factor, Neff float64     // SciPy's factor and effective number of points
	Covariance   [][]float64 // of the kernel (SciPy), or of the points

	GradQ, WrongGradQ, WrongScore []float64 // errata
	WrongQ                        float64

	Scott, Silverman, Rule106, Rule09 float64 // rules
	ScottLogQ, SilvermanLogQ          []float64
}

// list reads a field that is a number or a list.
func list(v any) []float64 {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		var all []float64
		for _, e := range v {
			all = append(all, list(e)...)
		}
		return all
	}
	return nil
}

func must(t testing.TB) func(q kde.Estimate, err error) kde.Estimate {
	return func(q kde.Estimate, err error) kde.Estimate {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
}

var kernels = map[string]kde.Kernel{"": kde.Gaussian, "gaussian": kde.Gaussian, "logistic": kde.Logistic, "sech2": kde.Sech2, "biweight": kde.Biweight}

// rules are the bandwidths by their names in each file.
var rules = map[string]map[string]func() kde.Bandwidth{
	"sklearn.json":     {"scott": kde.Scott, "silverman": kde.Silverman},
	"scipy.json":       {"scott": kde.ScottCovariance, "silverman": kde.SilvermanCovariance},
	"statsmodels.json": {"normal_reference": kde.NormalReference},
}

// estimate makes a case's estimate.
func (c listed) estimate(t *testing.T, file string) kde.Estimate {
	t.Helper()
	bandwidth := kde.PerCoordinate(list(c.H)...)
	if len(list(c.H)) == 1 {
		bandwidth = kde.Fixed(list(c.H)[0])
	}
	if rule, ok := rules[file][c.Rule]; ok {
		bandwidth = rule()
	} else if file == "scipy.json" {
		factor, err := strconv.ParseFloat(c.Rule, 64)
		if err != nil {
			t.Fatal(err)
		}
		bandwidth = kde.Covariance(factor)
	}
	if c.Weights != nil {
		return must(t)(kde.NewWeighted(c.Points, c.Weights, kernels[c.Kernel], bandwidth))
	}
	return must(t)(kde.New(c.Points, kernels[c.Kernel], bandwidth))
}

// nearEach compares number by number, each to rtol of itself or of 1.
func nearEach(t *testing.T, what string, got, want []float64, rtol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		testvalues.NearOne(t, fmt.Sprintf("%s, value %d", what, i), got[i:i+1], want[i:i+1], rtol)
	}
}

// Log-densities, densities and scores of every kernel, and the gradient of the log-density, agree with the recorded ones
// to 1e-9 of each, or of 1 where it is smaller; points lie up to thousands of bandwidths away.
func TestKernels(t *testing.T) {
	var cases []listed
	testvalues.Read(t, "kernels.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			var out []*kde.Node
			for _, c := range cases {
				q, x := c.estimate(t, "kernels.json"), in.Of(c.X)
				log := q.LogDensity(x)
				out = append(out, log, q.Score(nil, x, nil), graph.Gradient(graph.ReduceAllSum(log), x)[0])
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				nearEach(t, "log q", got[3*i], c.LogQ, 1e-9)
				for j, want := range list(c.Q) {
					testvalues.Near(t, "q", []float64{math.Exp(got[3*i][j])}, []float64{want}, 1e-9)
				}
				nearEach(t, "score", got[3*i+1], list(c.Score), 1e-9)
				nearEach(t, "gradient of log q", got[3*i+2], list(c.Score), 1e-9)
			})
		}
	})
}

// The factors 1/hᵈ of q and 1/hᵈ⁺¹ of its gradient, and the 1/h of the score: the right values are met, and 1/h, 1/h² and
// no factor give the wrong ones that are recorded with them, another number in each but d = 1.
func TestFactorsOfBandwidth(t *testing.T) {
	var cases []listed
	testvalues.Read(t, "errata.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			var out []*kde.Node
			for _, c := range cases {
				q, x := c.estimate(t, "errata.json"), in.Of(c.X)
				density := graph.Exp(q.LogDensity(x))
				out = append(out, density, graph.Gradient(graph.ReduceAllSum(density), x)[0], q.Score(nil, x, nil))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				q, gradient, score := got[3*i], got[3*i+1], got[3*i+2]
				testvalues.Near(t, "q", q, list(c.Q), 1e-9)
				testvalues.Near(t, "gradient of q", gradient, c.GradQ, 1e-9)
				testvalues.Near(t, "score", score, list(c.Score), 1e-9)
				h, d := list(c.H)[0], len(c.Points[0])
				lost := math.Pow(h, float64(d-1))
				testvalues.Near(t, "q with 1/h", []float64{q[0] * lost}, []float64{c.WrongQ}, 1e-9)
				for k := range d {
					testvalues.NearNumber(t, "gradient with 1/h²", gradient[k]*lost, c.WrongGradQ[k], 1e-9)
					testvalues.NearNumber(t, "score without 1/h", score[k]*h, c.WrongScore[k], 1e-9)
					if math.Abs(score[k]-c.WrongScore[k]) < 0.1*math.Abs(score[k]) || d > 1 && math.Abs(q[0]-c.WrongQ) < 0.1*q[0] {
						t.Error("the wrong values do not differ from the right ones")
					}
				}
			})
		}
	})
}

// Other libraries' bandwidths, log-densities (to 1e-9) and scores (to 1e-6: theirs are finite differences).
func TestParity(t *testing.T) {
	files := []string{"sklearn.json", "scipy.json", "statsmodels.json"}
	cases := map[string][]listed{}
	for _, file := range files {
		var of []listed
		testvalues.Read(t, file, &of)
		cases[file] = of
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, file := range files {
			got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
				var out []*kde.Node
				for _, c := range cases[file] {
					q, x := c.estimate(t, file), in.Of(c.X)
					out = append(out, q.LogDensity(x), q.Score(nil, x, nil))
				}
				return out
			})
			for i, c := range cases[file] {
				testvalues.Case(t, c.ID, func(t *testing.T) {
					q := c.estimate(t, file)
					if file == "scipy.json" {
						var matrix, want []float64
						for k, row := range q.BandwidthMatrix() {
							matrix, want = append(matrix, row...), append(want, c.Covariance[k]...)
						}
						testvalues.Near(t, "bandwidth matrix", matrix, want, 1e-9)
					} else {
						want := list(c.H)
						for len(want) < q.Dim() {
							want = append(want, want[0])
						}
						testvalues.Near(t, "bandwidth", q.Bandwidth(), want, 1e-12)
					}
					nearEach(t, "log q", got[2*i], c.LogQ, 1e-9)
					nearEach(t, "score", got[2*i+1], list(c.Score), 1e-6)
				})
			}
		}
	})
}

// The rules for the bandwidth, and log-densities under the two with a covariance.
func TestBandwidthRules(t *testing.T) {
	var cases []listed
	testvalues.Read(t, "bandwidths.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			var out []*kde.Node
			for _, c := range cases {
				for _, rule := range []func() kde.Bandwidth{kde.ScottCovariance, kde.SilvermanCovariance} {
					out = append(out, must(t)(kde.New(c.Points, kde.Gaussian, rule())).LogDensity(in.Of(c.X)))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				with := func(b kde.Bandwidth) kde.Estimate { return must(t)(kde.New(c.Points, kde.Gaussian, b)) }
				testvalues.NearNumber(t, "Scott", with(kde.Scott()).Bandwidth()[0], c.Scott, 1e-12)
				testvalues.NearNumber(t, "Silverman", with(kde.Silverman()).Bandwidth()[0], c.Silverman, 1e-12)
				for k, row := range with(kde.Covariance(1)).BandwidthMatrix() {
					testvalues.Near(t, "covariance", row, c.Covariance[k], 1e-9)
				}
				testvalues.Near(t, "log q, ScottCovariance", got[2*i], c.ScottLogQ, 1e-9)
				testvalues.Near(t, "log q, SilvermanCovariance", got[2*i+1], c.SilvermanLogQ, 1e-9)
				if len(c.Points[0]) == 1 {
					testvalues.NearNumber(t, "NormalScale", with(kde.NormalScale()).Bandwidth()[0], c.Rule106, 1e-9)
					testvalues.NearNumber(t, "RuleOfThumb", with(kde.RuleOfThumb()).Bandwidth()[0], c.Rule09, 1e-9)
				}
			})
		}
	})
}

// The leave-one-out likelihood at listed bandwidths, its maximum, and where it is.
func TestLeaveOneOut(t *testing.T) {
	var cases []struct {
		ID                   string
		Points               [][]float64
		H, Likelihood        []float64
		Best, BestLikelihood float64
	}
	testvalues.Read(t, "leaveoneout.json", &cases)
	ctx := context.Background()
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			for i, h := range c.H {
				l, err := must(t)(kde.New(c.Points, kde.Gaussian, kde.Fixed(h))).LeaveOneOut(ctx)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, fmt.Sprintf("likelihood at %v", h), l, c.Likelihood[i], 1e-8)
			}
			q := must(t)(kde.New(c.Points, kde.Gaussian, kde.LeaveOneOut(ctx)))
			testvalues.NearNumber(t, "best bandwidth", q.Bandwidth()[0], c.Best, 1e-8)
			l, err := q.LeaveOneOut(ctx)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "its likelihood", l, c.BestLikelihood, 1e-8)
		})
	}
}

// The maximum is one for every kernel and with weights: the likelihood is smaller a little to either side, and nowhere
// larger on a grid. A point that occurs twice does no harm as long as others do not.
func TestLeaveOneOutIsGreatest(t *testing.T) {
	ctx := context.Background()
	points := append(spread(40, 2, 1.5), []float64{0.3, 0.4}, []float64{0.3, 0.4})
	weights := make([]float64, len(points))
	for i := range weights {
		weights[i] = 1 + float64(i%3)
	}
	for _, k := range allKernels {
		at := func(bandwidth kde.Bandwidth) (h, likelihood float64) {
			q := must(t)(kde.NewWeighted(points, weights, k, bandwidth))
			likelihood, err := q.LeaveOneOut(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return q.Bandwidth()[0], likelihood
		}
		best, greatest := at(kde.LeaveOneOut(ctx))
		for _, h := range []float64{best * 0.999, best * 1.001} {
			if _, l := at(kde.Fixed(h)); !(l < greatest) {
				t.Errorf("%v: likelihood %v at %v, %v at the maximum %v", k, l, h, greatest, best)
			}
		}
		for h := 0.01; h < 10; h *= 1.1 {
			if _, l := at(kde.Fixed(h)); l > greatest {
				t.Errorf("%v: likelihood %v at %v, %v at the maximum %v", k, l, h, greatest, best)
			}
		}
	}
}
