package benchmark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// What ends a program's part in a curve: its next point would take longer.
const (
	tooLong      = 2.0              // seconds a step
	startingTime = 60 * time.Second // from the start of the process until it has compiled what it needs
)

var errStarting = fmt.Errorf("not ready after %v: most of it is compiling", startingTime)

// RunCurves measures the time of a step along each curve. A program whose step takes longer than 2 s at a point, or that is
// not ready after a minute, or that fails, goes no further along that curve; the report says so. Beside an error it returns what
// was measured before, or nil.
func (s Suite) RunCurves(ctx context.Context, curves []Curve) (*CurveReport, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	programs, missing, err := s.programs(ctx)
	if err != nil {
		return nil, err
	}
	report := &CurveReport{Date: time.Now(), Machine: ThisMachine(ctx), Turns: s.Turns, Seconds: s.Seconds, Notes: missing}
	for _, c := range curves {
		var result CurveResult
		if result, err = s.curve(ctx, c, programs); result.measured() {
			report.Results = append(report.Results, result)
		}
		if err != nil {
			report.Notes = append(report.Notes, fmt.Sprintf("stopped early, along %s: %v", c.Name, err))
			break
		}
	}
	if len(report.Results) == 0 && err != nil {
		return nil, err
	}
	taking := slices.DeleteFunc(programs, func(p Program) bool { return !slices.Contains(report.programs(), p.Name) })
	report.Programs = named(taking)
	return report, err
}

// curve measures one curve, point by point from the least.
func (s Suite) curve(ctx context.Context, c Curve, programs []Program) (CurveResult, error) {
	result := CurveResult{Curve: c.Name}
	first := Task{Name: c.at(c.At[0]).String(), kind: onCurve}
	programs = slices.DeleteFunc(slices.Clone(programs), func(p Program) bool { return !p.does(first) })
	for _, p := range programs {
		result.Lines = append(result.Lines, CurveLine{Program: p.Name})
	}
	for _, n := range c.At {
		t := Task{Name: c.at(n).String(), kind: onCurve}
		var players []*player
		for i, p := range programs {
			if result.Lines[i].Stopped == "" {
				players = append(players, &player{Program: p, Measured: Measured{Program: p.Name}})
			}
		}
		if len(players) == 0 {
			break
		}
		failed := s.play(ctx, t, players)
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		var told []string
		for i, p := range players {
			line := result.line(p.Name)
			if failed[i] != nil {
				line.Stopped = fmt.Sprintf("%s = %d: %v", c.Along, n, failed[i])
				told = append(told, p.Name+" stops: "+failed[i].Error())
				continue
			}
			times := make([]float64, len(p.Rates))
			for j, rate := range p.Rates {
				times[j] = 1 / rate
			}
			spread := spreadOf(times)
			line.Points = append(line.Points, CurvePoint{At: n, Seconds: spread, Ready: p.took, PeakMB: p.PeakMB})
			if spread.Median > tooLong && n != c.At[len(c.At)-1] {
				line.Stopped = fmt.Sprintf("%s = %d: a step takes %s s", c.Along, n, short(spread.Median))
			}
			told = append(told, fmt.Sprintf("%s %s ms", p.Name, short(1000*spread.Median)))
		}
		fmt.Fprintf(s.Out, "%s, %s = %d: %s\n", c.Name, c.Along, n, strings.Join(told, ", "))
	}
	return result, nil
}

// play starts all players of a task at once, lets them take turns, and ends them. It returns what failed, player by player.
func (s Suite) play(ctx context.Context, t Task, players []*player) []error {
	failed := make([]error, len(players))
	defer func() {
		for _, p := range players {
			if p.talk != nil {
				p.talk.abandon()
			}
		}
	}()
	var starting sync.WaitGroup
	for i, p := range players {
		starting.Go(func() { failed[i] = p.readyInTime(ctx, t) })
	}
	starting.Wait()
	for turn := range s.Turns {
		for i := range players {
			i = (i + turn) % len(players) // each turn begins with another one
			if failed[i] == nil && ctx.Err() == nil {
				failed[i] = players[i].turn(ctx, t, s.Seconds)
			}
		}
	}
	for i, p := range players {
		if failed[i] == nil && ctx.Err() == nil {
			failed[i] = p.finish()
		}
	}
	return failed
}

// readyInTime is ready, and gives up after [startingTime].
func (p *player) readyInTime(ctx context.Context, t Task) error {
	ctx, give := context.WithCancelCause(ctx)
	timer := time.AfterFunc(startingTime, func() { give(errStarting) })
	err := p.ready(ctx, t)
	timer.Stop()
	if p.talk != nil {
		p.took = time.Since(p.talk.began).Seconds()
	}
	if err != nil && errors.Is(context.Cause(ctx), errStarting) {
		return errStarting
	}
	return err // the program goes on under this context, which ends with the outer one
}
