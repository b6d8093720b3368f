package benchmark

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scorekit/lab/bench"
	"github.com/scorekit/lab/data"
)

// Suite is what to measure and how.
type Suite struct {
	Tasks   []Task
	Peers   bool     // measure other libraries, too
	Named   []string // which; none: those that some Python has
	Pythons []string // programs; none: python3
	Turns   int
	Seconds float64 // of a turn
	Judge   bool    // train for the fixed numbers of steps, too, and judge the result
	Folder  string  // for what the programs keep: the peers themselves, digits, trained networks
	Out     io.Writer
}

const seed = 0

// Validate returns an error for an impossible setting.
func (s Suite) Validate() error {
	if s.Turns < 1 {
		return fmt.Errorf("--turns %d: must be at least 1", s.Turns)
	}
	if !(s.Seconds > 0) {
		return fmt.Errorf("--seconds %v: must be positive", s.Seconds)
	}
	for _, name := range s.Named {
		if !slices.Contains(PeerNames(), name) {
			return fmt.Errorf("peer %q: must be one of %s", name, strings.Join(PeerNames(), ", "))
		}
	}
	return nil
}

// Run measures. A peer that fails at a task is left out of it, with a line that says why; this program must not fail. Beside
// an error it returns what was measured before, or nil.
func (s Suite) Run(ctx context.Context) (*Report, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	programs, missing, err := s.programs(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{Date: time.Now(), Machine: ThisMachine(ctx), Programs: named(programs), Turns: s.Turns, Seconds: s.Seconds}
	for _, line := range missing {
		s.note(report, line)
	}
	for _, t := range append([]Task{matmul}, s.Tasks...) {
		result, err := s.measure(ctx, t, programs, report)
		if err != nil {
			err = fmt.Errorf("%s: %w", t.Name, err)
			if len(report.Results) == 0 {
				return nil, err
			}
			s.note(report, fmt.Sprintf("stopped early: %v", err))
			return report, err
		}
		if len(result.Measured) > 0 {
			report.Results = append(report.Results, result)
			fmt.Fprintln(s.Out, result.line(t))
		}
	}
	return report, nil
}

// programs are this one and the peers that are asked for; missing says which are not there.
func (s Suite) programs(ctx context.Context) (programs []Program, missing []string, err error) {
	if programs, err = ours(s.Folder); err != nil || !s.Peers {
		return programs, nil, err
	}
	found, missing, err := findPeers(ctx, s.Named, s.Pythons, s.Folder)
	return append(programs, found...), missing, err
}

// named lists programs with their versions.
func named(programs []Program) []string {
	var names []string
	for _, p := range programs {
		names = append(names, strings.TrimSpace(p.Name+" "+p.Version))
	}
	return names
}

// prepare writes the peers and the digits to the folder.
func (s Suite) prepare() error {
	if err := os.MkdirAll(s.Folder, 0o755); err != nil {
		return err
	}
	if err := bench.WritePeers(s.Folder); err != nil {
		return err
	}
	set, err := data.Digits()
	if err != nil {
		return err
	}
	return writeFloat32(filepath.Join(s.Folder, "digits.f32"), set.X)
}

func (s Suite) note(r *Report, line string) {
	r.Notes = append(r.Notes, line)
	fmt.Fprintln(s.Out, line)
}

// player is a program in one task.
type player struct {
	Program
	Measured
	talk *conversation
	took float64 // seconds from the start of the process until it was ready
}

func (s Suite) measure(ctx context.Context, t Task, programs []Program, report *Report) (Result, error) {
	var players []*player
	for _, p := range programs {
		if p.does(t) {
			players = append(players, &player{Program: p, Measured: Measured{Program: p.Name}})
		}
	}
	if t.kind == backend && len(players) < 2 {
		s.note(report, t.Name+" left out: there is no XLA to compare with")
		return Result{}, nil
	}
	// try has each player do f; a peer that fails does not play on.
	try := func(f func(p *player) error) error {
		var failed error
		players = slices.DeleteFunc(players, func(p *player) bool {
			if failed != nil || ctx.Err() != nil {
				return false
			}
			err := f(p)
			if err != nil && ctx.Err() == nil {
				if p.path == programs[0].path {
					failed = fmt.Errorf("%s: %w", p.Name, err)
				} else {
					s.note(report, fmt.Sprintf("%s: %s left out: %v", t.Name, p.Name, err))
				}
			}
			return err != nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return failed
	}
	defer func() {
		for _, p := range players {
			if p.talk != nil {
				p.talk.abandon()
			}
		}
	}()
	if s.Judge && t.Steps > 0 {
		if err := try(func(p *player) error { return p.judged(ctx, t) }); err != nil {
			return Result{}, err
		}
	}
	play, turns := (*player).turn, s.Turns
	if t.kind == cold {
		play = (*player).coldStart
	} else if err := try(func(p *player) error { return p.ready(ctx, t) }); err != nil {
		return Result{}, err
	}
	for range turns {
		if err := try(func(p *player) error { return play(p, ctx, t, s.Seconds) }); err != nil {
			return Result{}, err
		}
		if len(players) > 1 { // each turn begins with another one
			players = append(players[1:], players[0])
		}
	}
	if t.kind != cold {
		if err := try((*player).finish); err != nil {
			return Result{}, err
		}
	}
	result := Result{Task: t.Name, Unit: t.Unit}
	for _, program := range programs {
		for _, p := range players {
			if p.Name == program.Name {
				result.Measured = append(result.Measured, p.Measured)
			}
		}
	}
	return result, nil
}

// judged trains for the task's number of steps.
func (p *player) judged(ctx context.Context, t Task) error {
	talk, err := p.start(ctx, t, seed, Judge)
	if err != nil {
		return err
	}
	m, err := talk.end()
	p.Quality = m.Quality
	return err
}

// ready starts the program and waits until it has compiled what it needs.
func (p *player) ready(ctx context.Context, t Task) error {
	talk, err := p.start(ctx, t, seed, Serve)
	if err != nil {
		return err
	}
	p.talk = talk
	m, err := talk.listen()
	if err == nil && !m.Ready {
		err = fmt.Errorf("it is not ready")
	}
	if err != nil {
		p.talk = nil
	}
	return err
}

func (p *player) turn(_ context.Context, _ Task, seconds float64) error {
	m, err := p.talk.turn(seconds)
	if err != nil {
		p.talk = nil
		return err
	}
	p.Rates = append(p.Rates, float64(m.Steps)/m.Seconds)
	p.CPU = append(p.CPU, m.CPU/float64(m.Steps))
	return nil
}

// coldStart measures from before the process starts to its answer. The rate is one over the seconds.
func (p *player) coldStart(ctx context.Context, t Task, _ float64) error {
	talk, err := p.start(ctx, t, seed, Cold)
	if err != nil {
		return err
	}
	m, err := talk.listen()
	if err != nil {
		return err
	}
	p.Rates = append(p.Rates, 1/time.Since(talk.began).Seconds())
	p.PeakMB = max(p.PeakMB, m.PeakMB)
	return talk.command.Wait()
}

func (p *player) finish() error {
	m, err := p.talk.end()
	p.talk = nil
	if m.Quality != nil {
		p.Quality = m.Quality
	}
	p.Items, p.Flops, p.PeakMB = m.Items, m.Flops, m.PeakMB
	return err
}
