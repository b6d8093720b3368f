package kde

import "math"

// groups are those of a point that may count: of the groups so far, those whose logarithms are within the margin of the greatest.
type groups struct {
	point           []float64 // along the axes
	margin          float64   // infinite where there is no bound on what is left out, or there are too many
	greatest, least float32   // logarithms
	found           []group
}

type group struct {
	log    float32 // the greatest
	number int32
}

func (c *groups) begin(margin float64) {
	c.margin, c.found = margin, c.found[:0]
	c.greatest, c.least = float32(math.Inf(-1)), float32(math.Inf(-1))
}

// take takes some groups by the greatest logarithm of each, numbered from the given number on.
func (c *groups) take(greatest []float32, from, most int) {
	if math.IsInf(c.margin, 1) {
		return
	}
	least := c.least
	for i, l := range greatest {
		if l < least {
			continue
		}
		c.found = append(c.found, group{l, int32(from + i)})
		if l > c.greatest {
			c.greatest, c.least = l, float32(float64(l)-c.margin)
			least = c.least
		}
		if len(c.found) > 2*most && !c.areFew(most) {
			c.margin = math.Inf(1)
			return
		}
	}
}

// areFew drops the groups that were taken before a greater one left them out, puts that of the greatest first and says whether they
// are at most so many.
func (c *groups) areFew(most int) bool {
	kept := c.found[:0]
	for _, g := range c.found {
		if g.log >= c.least {
			if kept = append(kept, g); g.log == c.greatest {
				kept[0], kept[len(kept)-1] = kept[len(kept)-1], kept[0]
			}
		}
	}
	c.found = kept
	return len(kept) > 0 && len(kept) <= most && !math.IsInf(c.margin, 1)
}

// groupSum adds up centres at a point, for one goroutine. They are taken relative to one of them, c₀, which loses digits neither
// near the centres nor far from all: log K((y−c)/h) − log K((y−c₀)/h) = t·((y−c₀)/h − t/2), t = (c−c₀)/h.
type groupSum struct {
	*few
	first, away []float64 // c₀ and (y−c₀)/h
	members     []int
	logs        []float64 // log wK less log K of the first
	largest     float64   // of these
	mean        []float64
}

func (f *few) newSum() *groupSum {
	d := len(f.middle)
	return &groupSum{few: f, away: make([]float64, d), mean: make([]float64, d)}
}

// relativeTo begins a sum at y, relative to a centre.
func (s *groupSum) relativeTo(y []float64, i int) {
	s.first, s.members, s.logs, s.largest = s.centre(i), s.members[:0], s.logs[:0], math.Inf(-1)
	for k, c := range s.first {
		s.away[k] = (y[k] - c) * s.inverse[k]
	}
}

// add adds a centre.
func (s *groupSum) add(i int) {
	c := s.centre(i)
	first, away, inverse := s.first[:len(c)], s.away[:len(c)], s.inverse[:len(c)]
	even, odd := s.logWeights[i], 0.0 // two sums at a time
	for k := 0; k+1 < len(c); k += 2 {
		t, u := (c[k]-first[k])*inverse[k], (c[k+1]-first[k+1])*inverse[k+1]
		even += t * (away[k] - t/2)
		odd += u * (away[k+1] - u/2)
	}
	if k := len(c) - 1; k%2 == 0 {
		t := (c[k] - first[k]) * inverse[k]
		even += t * (away[k] - t/2)
	}
	s.members, s.logs, s.largest = append(s.members, i), append(s.logs, even+odd), max(s.largest, even+odd)
}

// at sets out to log q, or with pull to ∇log q, from the groups of a point.
func (s *groupSum) at(c *groups, out []float64) {
	s.relativeTo(c.point, int(c.found[0].number)*groupCentres)
	for _, g := range c.found {
		from := int(g.number) * groupCentres
		for i := from; i < min(from+groupCentres, len(s.logWeights)); i++ {
			s.add(i)
		}
	}
	s.result(c.margin, out)
}

// result is at for the centres that were added, of which those below the margin are left out.
func (s *groupSum) result(margin float64, out []float64) {
	total := 0.0
	clear(s.mean)
	for j, l := range s.logs {
		if l < s.largest-margin {
			continue
		}
		e := math.Exp(l - s.largest)
		total += e
		if s.pull {
			for k, v := range s.centre(s.members[j]) {
				s.mean[k] += e * (v - s.first[k])
			}
		}
	}
	if s.pull {
		for k := range s.mean {
			s.mean[k] = (s.mean[k]/total*s.inverse[k] - s.away[k]) * s.inverse[k]
		}
		s.q.smoothing.back(s.mean, out)
		return
	}
	out[0] = s.largest + math.Log(total)
	for k, u := range s.away {
		out[0] += s.q.kernel.logScale() + math.Log(s.inverse[k]) - 0.5*u*u
	}
}
