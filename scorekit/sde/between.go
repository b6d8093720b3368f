package sde

import (
	"fmt"
	"math"
)

// Between returns the law of a later state of a linear diffusion given an earlier one,
//
//	x_later = r x_earlier + q z,  r = Mean_later/Mean_earlier,  q² = Std_later² − r² Std_earlier²
//
// as the level {r, q}. It returns an error unless both are levels and later holds at least as much noise for the data
// in it: q² ≥ 0 to rounding.
func Between(earlier, later Level) (Level, error) {
	if err := order("Between", earlier, later); err != nil {
		return Level{}, err
	}
	r := later.Mean / earlier.Mean
	return Level{r, math.Sqrt(spread(earlier, later))}, nil
}

// spread is q². Its two terms cancel where the levels are close: it is exact to rounding of Std_later².
func spread(earlier, later Level) float64 {
	r := later.Mean / earlier.Mean
	return max(0, later.Std*later.Std-r*r*earlier.Std*earlier.Std)
}

// Posterior returns the law of an earlier state given a later one and the data, q(x_s | x_t, x₀) = N(m, v):
//
//	m = OfData·x₀ + OfState·x_t,  with r and q of [Between]:
//	OfData = Mean_s q²/Std_t²,  OfState = r Std_s²/Std_t²,  v = Variance = q² Std_s²/Std_t²
//
// (Ho et al. 2020, eq. 6 and 7, for any two levels.) It returns an error as Between does, and where the later state has no
// noise.
func Posterior(later, earlier Level) (BridgeLaw, error) {
	if err := order("Posterior", earlier, later); err != nil {
		return BridgeLaw{}, err
	}
	if later.Std == 0 {
		return BridgeLaw{}, fmt.Errorf("sde: Posterior: later level %+v: its Std must be positive", later)
	}
	q2, share := spread(earlier, later), earlier.Std*earlier.Std/(later.Std*later.Std)
	return BridgeLaw{
		OfData:   earlier.Mean * q2 / (later.Std * later.Std),
		OfState:  later.Mean / earlier.Mean * share,
		Variance: q2 * share,
	}, nil
}

// BridgeLaw is N(OfData·x₀ + OfState·x_t, Variance·I): see [Posterior].
type BridgeLaw struct{ OfData, OfState, Variance float64 }

// Ancestral splits the noise of an earlier level into what a reverse step keeps of the estimated noise and what it draws
// anew,
//
//	x_s = Mean_s x̂₀ + down·ε̂ + up·z,  up = η √v of [Posterior],  down = √(Std_s² − up²)
//
// η = 0 is the deterministic step of DDIM and η = 1 ancestral sampling (Song, Meng and Ermon 2021, eq. 12 and 16; in the
// form σ_down, σ_up of k-diffusion for levels {1, σ}). For η > 1 up is kept to at most Std_s. It returns an error as
// Posterior does, and unless η is finite and not negative.
func Ancestral(later, earlier Level, eta float64) (down, up float64, err error) {
	law, err := Posterior(later, earlier)
	if err != nil {
		return 0, 0, err
	}
	if !(eta >= 0) || math.IsInf(eta, 0) {
		return 0, 0, fmt.Errorf("sde: Ancestral: eta %v: must be finite and not negative", eta)
	}
	up = min(eta*math.Sqrt(law.Variance), earlier.Std)
	return math.Sqrt((earlier.Std - up) * (earlier.Std + up)), up, nil
}

// order returns an error unless both are levels and later follows from earlier.
func order(who string, earlier, later Level) error {
	for _, l := range []Level{earlier, later} {
		if err := l.Validate(); err != nil {
			return fmt.Errorf("sde: %s: %w", who, err)
		}
	}
	if earlier.Mean == 0 {
		return fmt.Errorf("sde: %s: earlier level %+v: its Mean must be positive", who, earlier)
	}
	r := later.Mean / earlier.Mean
	if !(later.Std*later.Std-r*r*earlier.Std*earlier.Std >= -1e-12*later.Std*later.Std) {
		return fmt.Errorf("sde: %s: from level %+v to level %+v: the later one must not have less noise than it inherits, %v", who, earlier, later, r*earlier.Std)
	}
	return nil
}
