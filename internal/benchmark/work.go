package benchmark

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/gomlx/backends"

	backendpkg "github.com/scorekit/lab/scorekit/backend"
)

// work is a task under way in this process.
type work interface {
	// advance does a chunk of steps, waits for the device, and returns how many they were. The first time it compiles them.
	advance() (steps int, err error)
	// judge says how good the result is so far.
	judge(ctx context.Context) (map[string]float64, error)
	// size returns the items of a step and the flops of its matrix products.
	size() (items, flops float64)
	close()
}

// Request is what this program is asked to do as one of the programs.
type Request struct {
	Task   string
	How    string // Cold, Judge or Serve
	Steps  int    // with Judge
	Seed   int64
	Folder string // where trained networks are kept for the tasks that draw with them
}

// Do works as it is asked and writes a [Message] a line. With [Serve] it reads seconds from in, a turn a line, until that
// ends.
func Do(ctx context.Context, r Request, in io.Reader, out io.Writer) error {
	b, err := backendpkg.Open()
	if err != nil {
		return err
	}
	w, err := begin(ctx, b, r)
	if err != nil {
		return err
	}
	defer w.close()
	_, trains := trainings[r.Task]
	return do(ctx, w, !trains && !isPoint(r.Task), r, in, out)
}

// do is Do for work that has begun. What trains is judged after a fixed number of steps alone; judged says that it is after
// turns, too.
func do(ctx context.Context, w work, judged bool, r Request, in io.Reader, out io.Writer) (err error) {
	say := func(m Message) error { return json.NewEncoder(out).Encode(m) }
	last := Message{}
	last.Items, last.Flops = w.size()
	switch r.How {
	case Cold:
		_, err = w.advance()
	case Judge:
		for done, steps := 0, 0; done < r.Steps && err == nil; done += steps {
			steps, err = w.advance()
		}
		if err == nil {
			last.Quality, err = w.judge(ctx)
		}
	case Serve:
		if _, err = w.advance(); err != nil {
			break
		}
		if err = say(Message{Ready: true}); err != nil {
			break
		}
		for lines := bufio.NewScanner(in); lines.Scan() && err == nil; {
			var turn Message
			if turn, err = oneTurn(w, lines.Text()); err == nil {
				err = say(turn)
			}
		}
		if judged && err == nil {
			last.Quality, err = w.judge(ctx)
		}
	default:
		err = fmt.Errorf("asked to %q: must be %s, %s or %s", r.How, Cold, Judge, Serve)
	}
	if err != nil {
		return err
	}
	last.PeakMB = peakMB()
	return say(last)
}

func oneTurn(w work, text string) (Message, error) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return Message{}, fmt.Errorf("turn %q: must be a number of seconds", text)
	}
	var turn Message
	begin, cpu := time.Now(), cpuSeconds()
	for turn.Seconds < seconds {
		steps, err := w.advance()
		if err != nil {
			return Message{}, err
		}
		turn.Steps, turn.Seconds = turn.Steps+steps, time.Since(begin).Seconds()
	}
	turn.CPU = cpuSeconds() - cpu
	return turn, nil
}

func begin(ctx context.Context, b backends.Backend, r Request) (work, error) {
	if t, ok := trainings[r.Task]; ok {
		return t.begin(ctx, b, r)
	}
	if isPoint(r.Task) {
		p, err := parsePoint(r.Task)
		if err != nil {
			return nil, err
		}
		return p.begin(ctx, b, r)
	}
	switch r.Task {
	case "sample_ald":
		return beginAnnealed(ctx, b, r)
	case "sample_pfode":
		return beginFlow(ctx, b, r)
	case "langevin_analytic":
		return beginLangevin(ctx, b, r, 10_000, 1000, 330)
	case "kde_score_d2":
		return beginKernels(ctx, b, r, 2, 10_000, 10_000)
	case "kde_score_d64":
		return beginKernels(ctx, b, r, 64, 10_000, 10_000)
	case "matmul":
		return beginProduct(b)
	}
	return nil, fmt.Errorf("task %q: there is none of this name", r.Task)
}
