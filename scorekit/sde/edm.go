package sde

import "math"

// Preconditioning is how Karras et al. (2022, table 1) wrap a network F whose inputs and targets have variance 1 at every
// noise level, for data of root mean square sd:
//
//	D(x, σ) = Skip·x + Out·F(In·x, Noise)
//	Skip = sd²/(σ²+sd²),  Out = σ sd/√(σ²+sd²),  In = 1/√(σ²+sd²),  Noise = ln(σ)/4
//
// D is the denoiser, and Weight = (σ²+sd²)/(σ sd)² the weight of its squared error, with which the loss of F is the same
// at every level.
type Preconditioning struct{ Skip, Out, In, Noise, Weight float64 }

// Precondition returns the preconditioning at noise level σ for data of root mean square dataStd. It returns an error
// unless both are positive and finite. A network is wrapped in it by net.Preconditioned.
func Precondition(sigma, dataStd float64) (Preconditioning, error) {
	for _, err := range []error{positive("Precondition", "sigma", sigma), positive("Precondition", "dataStd", dataStd)} {
		if err != nil {
			return Preconditioning{}, err
		}
	}
	v := sigma*sigma + dataStd*dataStd
	return Preconditioning{
		Skip:   dataStd * dataStd / v,
		Out:    sigma * dataStd / math.Sqrt(v),
		In:     1 / math.Sqrt(v),
		Noise:  math.Log(sigma) / 4,
		Weight: v / (sigma * dataStd) / (sigma * dataStd),
	}, nil
}
