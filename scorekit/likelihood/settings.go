package likelihood

import (
	"fmt"
	"math"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/sde"
)

// Settings of [LogDensity]. Only SDE must be given.
type Settings struct {
	SDE sde.SDE // the diffusion; its prior and the end of its range are where the ODE ends

	// From is the time s at which points are taken to be states: the density is that of the data with the noise and the
	// scale of that time, Marginal(s). 0 means the first time of the SDE's range.
	From float64

	// Probes is the number of probe vectors of Hutchinson's estimate of the divergence, drawn once for each point and held
	// along its path; 0 means the exact divergence.
	Probes int
	Probe  autodiff.Probe // their distribution
	Seed   int64          // of the probes

	// RTol and ATol are the tolerances of a step: its error must stay within ATol + RTol·|v| in the root mean square over
	// the numbers of each point, and in each log-density. 0 means 10⁻⁷ for both in float64 and 10⁻⁵ in float32. The errors
	// of the steps add up: on mixtures that of the result is of the order of 10⁻⁵ nats in float64 and 10⁻³ in float32.
	RTol, ATol float64

	Chunk  int                   // points that are solved together, which bounds memory; 0 means 512
	Report func(scorekit.Report) // told of progress, in points, after each chunk
}

// validate returns an error that names a setting, its value and what is allowed.
func (s Settings) validate() error {
	if err := given.Check("SDE", s.SDE); err != nil {
		return err
	}
	if err := s.SDE.Validate(); err != nil {
		return err
	}
	from, last := s.times()
	if !(from > 0 && from < last) {
		return fmt.Errorf("from time %v: must be above 0 and below the last time of the SDE, %v", from, last)
	}
	if l := s.SDE.Marginal(from); !(l.Std > 0) || !(l.Mean > 0) {
		return fmt.Errorf("from time %v: its level %+v must have data and noise", from, l)
	}
	if s.Probes < 0 {
		return fmt.Errorf("%d probes: must be positive, or 0 for the exact divergence", s.Probes)
	}
	if s.Probe != autodiff.Rademacher && s.Probe != autodiff.Gaussian && s.Probe != autodiff.Sphere {
		return fmt.Errorf("probe kind %v: must be Rademacher, Gaussian or Sphere", s.Probe)
	}
	for _, tol := range []struct {
		name  string
		value float64
	}{{"RTol", s.RTol}, {"ATol", s.ATol}} {
		if !(tol.value >= 0) || math.IsInf(tol.value, 0) {
			return fmt.Errorf("%s %v: must be positive and finite, or 0 for the default", tol.name, tol.value)
		}
	}
	if s.Chunk < 0 {
		return fmt.Errorf("chunks of %d points: must be positive, or 0 for 512", s.Chunk)
	}
	return nil
}

// times returns where the ODE starts and ends.
func (s Settings) times() (from, last float64) {
	from, last = s.SDE.Range()
	if s.From != 0 {
		from = s.From
	}
	return from, last
}
