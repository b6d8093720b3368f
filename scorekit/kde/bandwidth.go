package kde

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/scorekit/lab/scorekit"
)

// Bandwidth says how wide the kernels are: a number, or a rule that finds it from the points. Texts and libraries mean
// different things by the same name. With n points in d dimensions (with weights w, n is 1/Σw²):
//
//	[Fixed]             h                                                      every coordinate
//	[PerCoordinate]     h₁ … h_d                                               one for each
//	[Scott]             h = n^{−1/(d+4)}                                       scikit-learn: for standardised points
//	[Silverman]         h = (n(d+2)/4)^{−1/(d+4)}                              scikit-learn: for standardised points
//	[Covariance]        H = f²C, C the sample covariance                       SciPy, with a number f
//	[ScottCovariance]   H = f²C, f as in Scott                                 SciPy, "scott"
//	[SilvermanCovariance] H = f²C, f as in Silverman                           SciPy, "silverman"
//	[NormalReference]   hₖ = 1.06 sₖ n^{−1/(d+4)}, sₖ² with divisor n          statsmodels
//	[NormalScale]       h = 1.06 s n^{−1/5}, s² with divisor n−1               d = 1; Silverman 1986, eq. 3.28
//	[RuleOfThumb]       h = 0.9 min(s, IQR/1.34) n^{−1/5}, s² with divisor n−1 d = 1; Silverman 1986, eq. 3.31; R's bw.nrd0
//	[LeaveOneOut]       the h of the greatest leave-one-out likelihood         Habbema et al. 1974, Duin 1976
//
// Rules are meant for the Gaussian kernel; another takes the same h, see [Kernel.Variance].
type Bandwidth struct {
	name string
	find func(s sample) (smoothing, error)
}

// smoothing is the square root of the bandwidth matrix H: h for each coordinate, or along each of the axes, the columns
// of V [d, d] row-major.
type smoothing struct {
	h    []float64
	axes []float64 // nil when the axes are the coordinate axes
}

// sample is what a rule may look at: n points of dimension d, row after row, with weights that sum to 1.
type sample struct {
	points  []float64
	weights []float64
	n, d    int
	equal   bool // all weights are
	kernel  Kernel
}

// Fixed is one bandwidth h for all coordinates, positive and finite.
func Fixed(h float64) Bandwidth {
	return Bandwidth{"Fixed", func(s sample) (smoothing, error) {
		return smoothing{h: slices.Repeat([]float64{h}, s.d)}, nil
	}}
}

// PerCoordinate is one bandwidth for each coordinate, all positive and finite.
func PerCoordinate(h ...float64) Bandwidth {
	h = slices.Clone(h)
	return Bandwidth{"PerCoordinate", func(s sample) (smoothing, error) {
		if len(h) != s.d {
			return smoothing{}, fmt.Errorf("%d bandwidths for points of %d coordinates: must be as many", len(h), s.d)
		}
		return smoothing{h: h}, nil
	}}
}

// Scott is h = n^{−1/(d+4)} for every coordinate (Scott 1992), whatever the points' spread: it is meant for points with
// standard deviation 1. scikit-learn's bandwidth="scott".
func Scott() Bandwidth {
	return Bandwidth{"Scott", func(s sample) (smoothing, error) {
		return smoothing{h: slices.Repeat([]float64{s.scott()}, s.d)}, nil
	}}
}

// Silverman is h = (n(d+2)/4)^{−1/(d+4)} for every coordinate (Silverman 1986, eq. 4.14), whatever the points' spread: it
// is meant for points with standard deviation 1. scikit-learn's bandwidth="silverman".
func Silverman() Bandwidth {
	return Bandwidth{"Silverman", func(s sample) (smoothing, error) {
		return smoothing{h: slices.Repeat([]float64{s.silverman()}, s.d)}, nil
	}}
}

// Covariance is the bandwidth matrix H = factor²·C with C the sample covariance (divisor n−1, with weights 1−Σw² of their
// sum), so that kernels are as correlated as the points: SciPy's gaussian_kde with a number. For the Gaussian kernel;
// C must be positive definite.
func Covariance(factor float64) Bandwidth {
	return Bandwidth{"Covariance", func(s sample) (smoothing, error) { return s.scaled(factor) }}
}

// ScottCovariance is [Covariance] with the factor n^{−1/(d+4)}: SciPy's default.
func ScottCovariance() Bandwidth {
	return Bandwidth{"ScottCovariance", func(s sample) (smoothing, error) { return s.scaled(s.scott()) }}
}

// SilvermanCovariance is [Covariance] with the factor (n(d+2)/4)^{−1/(d+4)}: SciPy's "silverman".
func SilvermanCovariance() Bandwidth {
	return Bandwidth{"SilvermanCovariance", func(s sample) (smoothing, error) { return s.scaled(s.silverman()) }}
}

// NormalReference is hₖ = 1.06·sₖ·n^{−1/(d+4)} for each coordinate, sₖ² its variance with divisor n: statsmodels'
// KDEMultivariate with bw="normal_reference". On the line it is √((n−1)/n) times [NormalScale].
func NormalReference() Bandwidth {
	return Bandwidth{"NormalReference", func(s sample) (smoothing, error) {
		h := make([]float64, s.d)
		for k, v := range s.variances() {
			h[k] = 1.06 * math.Sqrt(v) * s.scott()
		}
		return smoothing{h: h}, nil
	}}
}

// NormalScale is h = 1.06·s·n^{−1/5} for at least two points on the line, s² their variance with divisor n−1 (Silverman
// 1986, eq. 3.28), the best for points of a normal density. R's bw.nrd has min(s, IQR/1.34) in place of s.
func NormalScale() Bandwidth {
	return Bandwidth{"NormalScale", func(s sample) (smoothing, error) {
		if err := s.onLine(); err != nil {
			return smoothing{}, err
		}
		return smoothing{h: []float64{1.06 * s.deviation() * s.scott()}}, nil
	}}
}

// RuleOfThumb is Silverman's, h = 0.9·min(s, IQR/1.34)·n^{−1/5} for at least two points on the line, s² their variance
// with divisor n−1, and IQR the difference of their quartiles, interpolated between order statistics (Silverman 1986, eq.
// 3.31): R's bw.nrd0, where that is positive. It takes no weights.
func RuleOfThumb() Bandwidth {
	return Bandwidth{"RuleOfThumb", func(s sample) (smoothing, error) {
		if err := s.onLine(); err != nil {
			return smoothing{}, err
		}
		if !s.equal {
			return smoothing{}, fmt.Errorf("weights that differ: its quartiles are those of points that count alike")
		}
		sorted := slices.Sorted(slices.Values(s.points))
		iqr := quantile(sorted, 0.75) - quantile(sorted, 0.25)
		return smoothing{h: []float64{0.9 * min(s.deviation(), iqr/1.34) * s.scott()}}, nil
	}}
}

// LeaveOneOut is the h that maximises the leave-one-out likelihood
//
//	L(h) = Σᵢ log [ 1/(n−1) Σ_{j≠i} h^{−d} K((xᵢ−xⱼ)/h) ]
//
// the same for all coordinates (Habbema, Hermans and van den Broek 1974; Duin 1976; Silverman 1986, sec. 3.4.4), found
// to 12 digits as a root of its derivative. If every point occurs more than once, L grows without end as h → 0, which is
// an error; a few duplicates draw h towards 0. It takes two or three dozen passes over all n² pairs on the host, in
// float64, on all cores; ctx, which must be given, can stop it.
//
// Bandwidths are tried from the widest down, and each maximum between two of them is closed in on. progress, if given, is
// told after a pass, at most a few times a second, how many have been tried, of as many as there may have to be: mostly the
// search ends well before.
func LeaveOneOut(ctx context.Context, progress ...func(scorekit.Report)) Bandwidth {
	return Bandwidth{"LeaveOneOut", func(s sample) (smoothing, error) {
		h, err := s.mostLikely(ctx, progress)
		return smoothing{h: slices.Repeat([]float64{h}, s.d)}, err
	}}
}

// of finds the bandwidth for a sample and checks it.
func (b Bandwidth) of(s sample) (smoothing, error) {
	if b.find == nil {
		return smoothing{}, fmt.Errorf("bandwidth: zero value: must be made by a function such as Fixed")
	}
	sm, err := b.find(s)
	if err != nil {
		return smoothing{}, fmt.Errorf("bandwidth %s: %w", b.name, err)
	}
	if sm.axes != nil && s.kernel != Gaussian {
		return smoothing{}, fmt.Errorf("bandwidth %s with the %s kernel: must be Gaussian, as the others are products over the coordinates", b.name, s.kernel)
	}
	for k, h := range sm.h {
		if !(h > 0) || math.IsInf(h, 0) || h*h == 0 || math.IsInf(h*h, 0) {
			return smoothing{}, fmt.Errorf("bandwidth %s: %v for coordinate %d: must be positive and finite, and its square too", b.name, h, k)
		}
	}
	return sm, nil
}

// size is how many points of one weight vary as much as these do, 1/Σw² (Kish).
func (s sample) size() float64 {
	if s.equal {
		return float64(s.n)
	}
	squares := 0.0
	for _, w := range s.weights {
		squares += w * w
	}
	return 1 / squares
}

func (s sample) scott() float64 { return math.Pow(s.size(), -1/float64(s.d+4)) }

func (s sample) silverman() float64 {
	return math.Pow(s.size()*float64(s.d+2)/4, -1/float64(s.d+4))
}

func (s sample) mean() []float64 {
	mean := make([]float64, s.d)
	for i, w := range s.weights {
		for k := range mean {
			mean[k] += w * s.points[i*s.d+k]
		}
	}
	return mean
}

// variances are those of the coordinates with divisor n.
func (s sample) variances() []float64 {
	mean, v := s.mean(), make([]float64, s.d)
	for i, w := range s.weights {
		for k := range v {
			away := s.points[i*s.d+k] - mean[k]
			v[k] += w * away * away
		}
	}
	return v
}

// unbiased is the factor from divisor n to n−1; Inf for a single point.
func (s sample) unbiased() float64 { return s.size() / (s.size() - 1) }

// onLine returns an error unless there are at least two points, on the line.
func (s sample) onLine() error {
	switch {
	case s.d != 1:
		return fmt.Errorf("points of %d coordinates: must be of one", s.d)
	case s.n < 2:
		return fmt.Errorf("one point: must be at least 2")
	}
	return nil
}

// deviation is the standard deviation of points on the line, with divisor n−1.
func (s sample) deviation() float64 { return math.Sqrt(s.variances()[0] * s.unbiased()) }

// scaled is the root of factor²·C.
func (s sample) scaled(factor float64) (smoothing, error) {
	if !(factor > 0) || math.IsInf(factor, 0) {
		return smoothing{}, fmt.Errorf("factor %v: must be positive and finite", factor)
	}
	if s.n < 2 {
		return smoothing{}, fmt.Errorf("one point: must be at least 2 to have a covariance")
	}
	mean, deviations := s.mean(), mat.NewDense(s.n, s.d, nil)
	for i, w := range s.weights {
		root := math.Sqrt(w * s.unbiased())
		for j, v := range s.points[i*s.d : (i+1)*s.d] {
			deviations.Set(i, j, root*(v-mean[j]))
		}
	}
	var cov mat.SymDense
	cov.SymOuterK(1, deviations.T())
	if s.d == 1 {
		return smoothing{h: []float64{factor * math.Sqrt(cov.At(0, 0))}}, nil
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&cov, true) {
		return smoothing{}, fmt.Errorf("the eigenvalues of the sample covariance could not be computed")
	}
	variances := eigen.Values(nil) // ascending
	if least := variances[0]; !(least > 1e-15*float64(s.d)*variances[s.d-1]) {
		return smoothing{}, fmt.Errorf("the sample covariance of %d points in %d coordinates has eigenvalues from %v to %v: must be positive definite",
			s.n, s.d, least, variances[s.d-1])
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	h := make([]float64, s.d)
	for k := range h {
		h[k] = factor * math.Sqrt(variances[k])
	}
	return smoothing{h, v.RawMatrix().Data}, nil
}

// quantile interpolates linearly between the values at (n−1)p.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
