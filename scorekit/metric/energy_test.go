package metric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/scorekit/lab/internal/testvalues"
)

// Small sets with both estimates in closed form, and scipy's for sets on a line: energy_distance is √V there.
func TestEnergyReference(t *testing.T) {
	var cases []struct {
		ID   string
		X, Y [][]float64
		U, V float64
	}
	testvalues.Read(t, "energy.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			got, err := Energy{}.Distance(t.Context(), c.X, c.Y)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "U", got.U, c.U, 1e-9)
			testvalues.NearNumber(t, "V", got.V, c.V, 1e-9)
		})
	}
}

// matrix returns the kernel of all pairs of points, a point with itself included.
func (s twoSample) matrix() [][]float64 {
	n := s.n + s.m
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, n)
		s.k(i, 0, n, all[i])
	}
	return all
}

// hyppo's statistics are others than those of this package: with c = (n+m)⁴/(2n²m²), the centred pooled matrix A of
// distances (or of 1 − kernel) and that of whether two points are of different sets, B,
//
//	Energy, biased       √(c·V), V the V-statistic of this package
//	Energy, unbiased     c·⟨A, B⟩/(N(N−3)), U-centred
//	MMD, biased          √(⟨A, B⟩/√(⟨A, A⟩⟨B, B⟩))/c
//	MMD, unbiased        ⟨A, B⟩/√(⟨A, A⟩⟨B, B⟩)/c, U-centred
//
// so that all four check the kernels, and the first the statistic. The plain estimates are listed beside them.
func TestHyppo(t *testing.T) {
	var cases []struct {
		ID             string
		X, Y           [][]float64
		Gamma          float64
		EnergyBiased   float64 `json:"energy_biased"`
		EnergyUnbiased float64 `json:"energy_unbiased"`
		MMDBiased      float64 `json:"mmd_biased"`
		MMDUnbiased    float64 `json:"mmd_unbiased"`
		Plain          struct {
			VEnergy float64 `json:"own_V_energy"`
			UEnergy float64 `json:"own_U_energy"`
			VMMD    float64 `json:"own_V_mmd2"`
			UMMD    float64 `json:"own_U_mmd2"`
		}
	}
	testvalues.Read(t, "hyppo.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			energy, unit, err := Energy{}.prepare(c.X, c.Y)
			if err != nil {
				t.Fatal(err)
			}
			mmd, err := MMD{Bandwidths: []float64{1 / math.Sqrt(2*c.Gamma)}}.prepare(c.X, c.Y)
			if err != nil {
				t.Fatal(err)
			}
			e, err := energy.estimate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			e = e.times(unit)
			m, err := mmd.estimate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "energy U", e.U, c.Plain.UEnergy, 1e-9)
			testvalues.NearNumber(t, "energy V", e.V, c.Plain.VEnergy, 1e-9)
			testvalues.NearNumber(t, "MMD U", m.U, c.Plain.UMMD, 1e-9)
			testvalues.NearNumber(t, "MMD V", m.V, c.Plain.VMMD, 1e-9)

			n, all := len(c.X), len(c.X)+len(c.Y)
			factor := math.Pow(float64(all), 4) / (2 * math.Pow(float64(n*(all-n)), 2))
			sets, distances, similar := make([][]float64, all), energy.matrix(), mmd.matrix()
			for i := range all {
				sets[i] = make([]float64, all)
				for j := range all {
					distances[i][j] *= -math.Ldexp(1, unit)
					similar[i][j] = 1 - similar[i][j]
					if (i < n) != (j < n) {
						sets[i][j] = 1
					}
				}
			}
			correlation := func(unbiased bool) float64 {
				a, b := centred(similar, unbiased), centred(sets, unbiased)
				return inner(a, b) / math.Sqrt(inner(a, a)*inner(b, b))
			}
			testvalues.NearNumber(t, "hyppo Energy(bias=True)", math.Sqrt(factor*e.V), c.EnergyBiased, 1e-9)
			testvalues.NearNumber(t, "hyppo Energy(bias=False)", factor*inner(centred(distances, true), centred(sets, true))/float64(all*(all-3)), c.EnergyUnbiased, 1e-9)
			testvalues.NearNumber(t, "hyppo MMD(bias=True)", math.Sqrt(correlation(false))/factor, c.MMDBiased, 1e-9)
			testvalues.NearNumber(t, "hyppo MMD(bias=False)", correlation(true)/factor, c.MMDUnbiased, 1e-9)
		})
	}
}

// centred takes the means of rows and columns off a symmetric matrix, or U-centres it (Székely and Rizzo 2014).
func centred(a [][]float64, unbiased bool) [][]float64 {
	n := float64(len(a))
	row, all := n, n*n
	if unbiased {
		row, all = n-2, (n-1)*(n-2)
	}
	total := 0.0
	for _, r := range a {
		total += floats.Sum(r)
	}
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(a))
		for j := range a {
			if i != j || !unbiased {
				out[i][j] = a[i][j] - floats.Sum(a[i])/row - floats.Sum(a[j])/row + total/all
			}
		}
	}
	return out
}

func inner(a, b [][]float64) float64 {
	total := 0.0
	for i := range a {
		total += floats.Dot(a[i], b[i])
	}
	return total
}
