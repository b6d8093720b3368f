package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/plots"
	"github.com/scorekit/lab/scorekit"
)

// history is the loss of each step, those of the runs before a resumed one included.
type history struct {
	dir    string
	before []scorekit.StepStats
}

// openHistory reads what an earlier run has left in a folder.
func openHistory(dir string) (*history, error) {
	h := &history{dir: dir}
	file, err := os.Open(filepath.Join(dir, lossName))
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	for i, line := range lines {
		if i == 0 || len(line) != 3 {
			continue
		}
		step, err1 := strconv.Atoi(line[0])
		loss, err2 := strconv.ParseFloat(line[1], 64)
		norm, err3 := strconv.ParseFloat(line[2], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file.Name(), i+1, err)
		}
		h.before = append(h.before, scorekit.StepStats{Step: step, Loss: loss, GradientNorm: norm})
	}
	return h, nil
}

// all returns the steps before those of now, and these. Steps that an interrupted run had done after its checkpoint are
// done again and replaced.
func (h *history) all(now []scorekit.StepStats) []scorekit.StepStats {
	var kept []scorekit.StepStats
	for _, s := range h.before {
		if len(now) == 0 || s.Step < now[0].Step {
			kept = append(kept, s)
		}
	}
	return append(kept, now...)
}

// write writes loss.csv and loss.png.
func (h *history) write(now []scorekit.StepStats) error {
	all := h.all(now)
	err := atomicfile.WriteFunc(filepath.Join(h.dir, lossName), 0o644, func(w io.Writer) error {
		if _, err := fmt.Fprintln(w, "step,loss,gradient_norm"); err != nil {
			return err
		}
		for _, s := range all {
			if _, err := fmt.Fprintf(w, "%d,%.9g,%.9g\n", s.Step, s.Loss, s.GradientNorm); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(all) < 2 {
		return err
	}
	run := plots.Run{}
	least, largest := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		run.Steps, run.Loss = append(run.Steps, s.Step), append(run.Loss, s.Loss)
		least, largest = min(least, s.Loss), max(largest, s.Loss)
	}
	figure, err := plots.LossCurve{Runs: []plots.Run{run}, Smooth: len(all) / 50, Log: least > 0 && largest > 20*least}.Figure()
	if err != nil {
		return err
	}
	return savePNG(figure, filepath.Join(h.dir, curveName))
}

// recent is the mean loss of the last steps, and NaN where there are none.
func recent(all []scorekit.StepStats) float64 {
	n := min(len(all), 50)
	sum := 0.0
	for _, s := range all[len(all)-n:] {
		sum += s.Loss
	}
	return sum / float64(n)
}

func savePNG(figure *plots.Figure, path string) error {
	png, err := figure.PNG()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, png, 0o644)
}
