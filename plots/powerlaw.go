package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// PowerLaw draws measured values on two logarithmic axes with the power law Y = Factor·X^Exponent fitted to each line:
// how an error falls with a step size or a sample size, how a cost rises with the dimension. The exponent is the slope
// of the fitted line; the legend states it with its standard error.
type PowerLaw struct {
	Title          string
	XLabel, YLabel string
	// Lines are the measured values.
	Lines []Line
	// From is the least X that is fitted, where the law holds only for large X. 0 fits all.
	From float64
	// Expected is a slope to compare with, drawn as a dashed line through the middle of the first fit. 0: none.
	Expected float64
}

// Power is a fitted power law, Y = Factor·X^Exponent.
type Power struct {
	Exponent, Factor float64
	// StandardError is that of the exponent.
	StandardError float64
}

// At returns the law's value at x.
func (p Power) At(x float64) float64 { return p.Factor * math.Pow(x, p.Exponent) }

// FitPower fits a power law by least squares of log Y on log X. Where the line has standard errors, a value's weight is
// (Y/Error)², one over the variance of log Y, and the exponent's standard error follows from them,
//
//	1/√(Σ wᵢ(log xᵢ − m)²), m the weighted mean of log x;
//
// otherwise all weigh the same and it follows from the residuals rᵢ,
//
//	√(Σ rᵢ²/(n−2)) / √(Σ (log xᵢ − m)²).
//
// It returns an error for fewer than 3 values, for X that does not increase, for values that are not positive, and for
// a standard error of 0.
func FitPower(l Line) (Power, error) {
	name := "line"
	if l.Name != "" {
		name += " " + l.Name
	}
	if err := l.check(name, true, true); err != nil {
		return Power{}, fmt.Errorf("plots: power law: %w", err)
	}
	fit, err := l.fit()
	if err != nil {
		return Power{}, fmt.Errorf("plots: power law: %s: %w", name, err)
	}
	return fit, nil
}

// fit fits the law to a line that has been checked.
func (l Line) fit() (Power, error) {
	n := len(l.X)
	if n < 3 {
		return Power{}, fmt.Errorf("%d values to fit: must be at least 3", n)
	}
	weights := make([]float64, n)
	var sum, meanX, meanY float64
	for i := range l.X {
		weights[i] = 1
		if l.Error != nil {
			if l.Error[i] == 0 {
				return Power{}, fmt.Errorf("standard error %d: 0: must be positive to be a weight", i)
			}
			weights[i] = (l.Y[i] / l.Error[i]) * (l.Y[i] / l.Error[i])
		}
		sum += weights[i]
		meanX += weights[i] * math.Log(l.X[i])
		meanY += weights[i] * math.Log(l.Y[i])
	}
	meanX, meanY = meanX/sum, meanY/sum
	var xx, xy float64
	for i, w := range weights {
		dx, dy := math.Log(l.X[i])-meanX, math.Log(l.Y[i])-meanY
		xx, xy = xx+w*dx*dx, xy+w*dx*dy
	}
	p := Power{Exponent: xy / xx, StandardError: 1 / math.Sqrt(xx)}
	p.Factor = math.Exp(meanY - p.Exponent*meanX)
	if l.Error == nil {
		squares := 0.0
		for i := range l.X {
			r := math.Log(l.Y[i]) - meanY - p.Exponent*(math.Log(l.X[i])-meanX)
			squares += r * r
		}
		p.StandardError = math.Sqrt(squares / float64(n-2) / xx)
	}
	return p, nil
}

// Figure draws the points and the fits. It returns an error for no line, for those of [FitPower], and for a line without
// a name beside others.
func (p PowerLaw) Figure() (*Figure, error) {
	f, err := p.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: power law: %w", err)
	}
	return f, nil
}

func (p PowerLaw) figure() (*Figure, error) {
	if len(p.Lines) == 0 {
		return nil, errors.New("no lines")
	}
	if !(p.From >= 0) || math.IsInf(p.From, 1) {
		return nil, fmt.Errorf("from %v: must be 0 or positive", p.From)
	}
	if math.IsNaN(p.Expected) || math.IsInf(p.Expected, 0) {
		return nil, fmt.Errorf("expected slope %v: must be finite", p.Expected)
	}
	out := curvePanel(p.Title, p.XLabel, p.YLabel)
	out.logX, out.logY = true, true
	out.axes.Add(grid())
	expected := draw.LineStyle{Color: ink, Width: 1, Dashes: dashes[1]}
	for i, l := range p.Lines {
		if l.Name == "" && len(p.Lines) > 1 {
			return nil, fmt.Errorf("line %d: no name: must have one to be told from the others", i)
		}
		if err := l.check(numbered("line", i, l.Name), true, true); err != nil {
			return nil, err
		}
		part := l.from(p.From)
		fit, err := part.fit()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", numbered("line", i, l.Name), err)
		}
		ends := plotter.XYs{{X: part.X[0]}, {X: part.X[len(part.X)-1]}}
		for j := range ends {
			ends[j].Y = fit.At(ends[j].X)
		}
		if i == 0 && p.Expected != 0 {
			middle := math.Sqrt(ends[0].X * ends[1].X)
			guide := make(plotter.XYs, 2)
			for j := range guide {
				guide[j] = plotter.XY{X: ends[j].X, Y: fit.At(middle) * math.Pow(ends[j].X/middle, p.Expected)}
			}
			out.axes.Add(&plotter.Line{XYs: guide, LineStyle: expected})
		}
		style := draw.LineStyle{Color: series[i%len(series)], Width: dataLine}
		out.axes.Add(&plotter.Line{XYs: ends, LineStyle: style})
		if l.Error != nil {
			out.axes.Add(whiskers{l, series[i%len(series)], true})
		}
		out.axes.Add(markers{l.points(), i})
		name := "slope " + fit.text()
		if l.Name != "" {
			name = l.Name + ", " + name
		}
		out.keys = append(out.keys, key{name, thumbWidth, func(cell *draw.Canvas) {
			lineSample(style)(cell)
			marker(cell, cell.Center(), i)
		}})
	}
	if p.Expected != 0 {
		name := "slope " + level(p.Expected, []float64{p.Expected}) + " expected"
		out.keys = append(out.keys, key{name, thumbWidth, lineSample(expected)})
	}
	if err := out.room(); err != nil {
		return nil, err
	}
	out.axes.Add(frame{colour: soft, open: true})
	out.measuredAt(p.Lines)
	return single(out, "Power law", against(p.YLabel, p.XLabel)), nil
}

// text is the exponent with its standard error, to the error's first digit: "−0.98 ± 0.03".
func (p Power) text() string {
	decimals := 2
	if p.StandardError > 0 {
		decimals = min(max(-int(math.Floor(math.Log10(p.StandardError))), 1), 3)
	}
	return number(p.Exponent, decimals) + " ± " + number(p.StandardError, decimals)
}

// from returns the part of a line at x and above.
func (l Line) from(x float64) Line {
	i := 0
	for i < len(l.X) && l.X[i] < x {
		i++
	}
	l.X, l.Y = l.X[i:], l.Y[i:]
	if l.Error != nil {
		l.Error = l.Error[i:]
	}
	return l
}
