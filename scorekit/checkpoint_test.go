package scorekit_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/internal/safetensors"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

var smallNet = net.MLP{Hidden: []int{8}}

// fitRing trains a small network on a Gaussian with the given options.
func fitSmall(t *testing.T, ctx context.Context, be backends.Backend, steps int, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
	t.Helper()
	options = append([]scorekit.FitOption{scorekit.WithSteps(steps), scorekit.WithBatch(16), scorekit.WithUnroll(2)}, options...)
	return scorekit.Fit(ctx, be, smallNet, objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0, 1), options...)
}

func scoresAt(t *testing.T, be backends.Backend, f *scorekit.Fitted) [][]float64 {
	t.Helper()
	s, err := scorekit.Evaluate(background, be, f, [][]float64{{0, 0}, {1, -2}, {0.5, 3}})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(s)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestResumeEqualsAnUninterruptedRun(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		whole, err := fitSmall(t, background, be, 20, scorekit.WithCheckpoints(t.TempDir(), 5))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(background)
		_, err = fitSmall(t, ctx, be, 20, scorekit.WithCheckpoints(dir, 5), scorekit.WithCallback(func(s *scorekit.FitStep) error {
			if s.Step >= 12 {
				cancel()
			}
			return nil
		}))
		wantError(t, err, "stopped after step 12 of 20")
		if _, err := fitSmall(t, background, be, 20, scorekit.WithCheckpoints(dir, 5)); err == nil {
			t.Error("a folder with checkpoints was taken without WithResume")
		} else {
			wantError(t, err, "holds checkpoints of an earlier run: give WithResume")
		}
		resumed, err := fitSmall(t, background, be, 20, scorekit.WithCheckpoints(dir, 5), scorekit.WithResume())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(scoresAt(t, be, whole)), fmt.Sprint(scoresAt(t, be, resumed)); a != b {
			t.Errorf("uninterrupted %s, resumed %s", a, b)
		}
		if n := len(resumed.History()); n != 8 {
			t.Errorf("the resumed run did %d steps, want 8", n)
		}
		loaded, err := scorekit.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(scoresAt(t, be, loaded)), fmt.Sprint(scoresAt(t, be, resumed)); a != b {
			t.Errorf("loaded %s, resumed %s", a, b)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 2 {
			t.Errorf("folder holds %v, want the two newest checkpoints", files)
		}
	})
}

func TestResumeRefusesAnotherRun(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	if _, err := fitSmall(t, background, be, 4, scorekit.WithCheckpoints(dir, 2)); err != nil {
		t.Fatal(err)
	}
	resume := []scorekit.FitOption{scorekit.WithCheckpoints(dir, 2), scorekit.WithResume(), scorekit.WithBatch(16), scorekit.WithSteps(8)}
	with := func(o ...scorekit.FitOption) []scorekit.FitOption {
		return append(resume[:len(resume):len(resume)], o...)
	}
	good := objective.Denoising{Sigma: 0.5}
	for name, c := range map[string]struct {
		model     scorekit.Model
		objective scorekit.Objective
		data      scorekit.Data
		options   []scorekit.FitOption
		want      string
	}{
		"dimension": {smallNet, good, gaussian(t, 1, 0, 1, 2), resume, "shape of an example: the checkpoint has [2], this run [3]"},
		"model":     {net.MLP{Hidden: []int{9}}, good, gaussian(t, 1, 0, 1), resume, `model: the checkpoint has net.MLP {"hidden":[8]}, this run net.MLP {"hidden":[9]}`},
		"objective": {smallNet, objective.Denoising{Sigma: 0.6}, gaussian(t, 1, 0, 1), resume, "objective: the checkpoint has"},
		"seed":      {smallNet, good, gaussian(t, 1, 0, 1), with(scorekit.WithSeed(5)), "seed: the checkpoint has 0, this run 5"},
		"batch":     {smallNet, good, gaussian(t, 1, 0, 1), with(scorekit.WithBatch(17)), "batch: the checkpoint has 16, this run 17"},
		"optimizer": {smallNet, good, gaussian(t, 1, 0, 1), with(scorekit.WithOptimizer(scorekit.SGD{})), "optimizer: the checkpoint has adam"},
		"steps":     {smallNet, good, gaussian(t, 1, 0, 1), with(scorekit.WithSteps(3)), "is at step 4: steps 3 is less"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scorekit.Fit(background, be, c.model, c.objective, c.data, c.options...)
			wantError(t, err, "scorekit: Fit: ", c.want)
		})
	}
}

func TestDamagedCheckpointFallsBackToThePrevious(t *testing.T) {
	be := testbackend.Go(t)
	for name, damage := range map[string]func(data []byte) []byte{
		"cut short":     func(d []byte) []byte { return d[:len(d)/2] },
		"empty":         func(d []byte) []byte { return nil },
		"one bit":       func(d []byte) []byte { d[len(d)-9] ^= 4; return d },
		"header bit":    func(d []byte) []byte { d[40] ^= 1; return d },
		"length":        func(d []byte) []byte { d[6] = 0x7f; return d },
		"other content": func(d []byte) []byte { return []byte(strings.Repeat("not a checkpoint ", 100)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := fitSmall(t, background, be, 4, scorekit.WithCheckpoints(dir, 2)); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
			if err != nil || len(files) != 2 {
				t.Fatal(files, err)
			}
			spoil := func(path string) {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, damage(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			spoil(files[1])
			f, err := scorekit.Load(dir)
			if err != nil || f.Steps() != 2 {
				t.Fatalf("the checkpoint of step 2 was not taken: %v", err)
			}
			if _, err := scorekit.Load(files[1]); err == nil {
				t.Error("the damaged file was read")
			} else {
				wantError(t, err, "scorekit: Load: ", "damaged file")
			}
			spoil(files[0])
			_, err = scorekit.Load(dir)
			wantError(t, err, "no checkpoint in", filepath.Base(files[0]), filepath.Base(files[1]), "damaged file")
			_, err = fitSmall(t, background, be, 6, scorekit.WithCheckpoints(dir, 2), scorekit.WithResume())
			wantError(t, err, "no checkpoint in", "damaged file")
		})
	}
}

func TestSaveAndLoad(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		f, err := fitSmall(t, background, be, 3, scorekit.WithMetadata("scale", "16"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		g, err := scorekit.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(scoresAt(t, be, f)), fmt.Sprint(scoresAt(t, be, g)); a != b {
			t.Errorf("saved %s, loaded %s", a, b)
		}
		if m, ok := g.Model().(net.MLP); !ok || len(m.Hidden) != 1 || m.Hidden[0] != 8 {
			t.Errorf("model %#v", g.Model())
		}
		if g.Steps() != 3 || g.Metadata()["scale"] != "16" || fmt.Sprint(g.Shape()) != "[2]" || g.NumParameters() != f.NumParameters() || g.NumParameters() != 2*8+8+8*2+2 {
			t.Errorf("steps %d, metadata %v, shape %v, %d parameters", g.Steps(), g.Metadata(), g.Shape(), g.NumParameters())
		}
	})
}

func TestLoadOfAModelThatIsNotDescribed(t *testing.T) {
	be := testbackend.Go(t)
	f, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, examples(t, [][]float64{{1}}), scorekit.WithSteps(3))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "linear.safetensors")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Load(path)
	wantError(t, err, "does not describe its model: give it to LoadInto")
	g, err := scorekit.LoadInto(path, scorekit.Score(linear))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := weights(t, f)
	b, _ := weights(t, g)
	if a != b {
		t.Errorf("saved %v, loaded %v", a, b)
	}
	_, err = scorekit.LoadInto(path, nil)
	wantError(t, err, "model nil")
	_, err = scorekit.Load(filepath.Join(t.TempDir(), "none"))
	wantError(t, err, "no such file")
	_, err = scorekit.Load(t.TempDir())
	wantError(t, err, "holds no checkpoint")
	if err := f.Save(filepath.Join(t.TempDir(), "no", "folder")); err == nil {
		t.Error("saved into a folder that does not exist")
	}
	_, err = fitSmall(t, background, be, 3, scorekit.WithCheckpoints(path, 1))
	wantError(t, err, "checkpoint folder")
}

// secretive loses a setting in its JSON form; unstorable has none at times.
type (
	secretive struct {
		linearModel
		secret int
	}
	unstorable struct {
		linearModel
		Scale float64
	}
)

func init() {
	scorekit.RegisterModel("scorekit_test.secretive", secretive{})
	scorekit.RegisterModel("scorekit_test.unstorable", unstorable{})
	scorekit.RegisterModel("scorekit_test.pointer", &pointerModel{})
}

// A model that would be another one after Load, or could not be saved at all, is refused before the training.
func TestModelsThatCannotBeStored(t *testing.T) {
	be := testbackend.Go(t)
	data := examples(t, [][]float64{{1}})
	fit := func(m scorekit.Model) (*scorekit.Fitted, error) {
		return scorekit.Fit(background, be, m, regression{2}, data, scorekit.WithSteps(2),
			scorekit.WithCallback(func(*scorekit.FitStep) error { return fmt.Errorf("a step was done") }))
	}
	_, err := fit(secretive{secret: 7})
	wantError(t, err, "scorekit: Fit: model scorekit_test.secretive: its JSON form", "loses settings", "secret:7", "comes back as", "secret:0")
	_, err = fit(unstorable{Scale: math.NaN()})
	wantError(t, err, "scorekit: Fit: model scorekit_test.unstorable:", "NaN", "cannot be stored")
	for _, m := range []scorekit.Model{secretive{}, unstorable{Scale: 0.1}} {
		_, err = fit(m)
		wantError(t, err, "a step was done")
	}

	f, err := scorekit.Fit(background, be, &pointerModel{Name: "p"}, regression{2}, data, scorekit.WithSteps(2))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pointer")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	g, err := scorekit.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := g.Model().(*pointerModel); !ok || m.Name != "p" {
		t.Errorf("model %#v", g.Model())
	}
}

// An objective's address is another one in every process: it must not keep a run from going on. What it tells of
// itself without addresses is compared (TestResumeRefusesAnotherRun).
func TestResumeWithAnObjectiveThatHoldsAPointer(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	for _, steps := range []int{2, 4} {
		target := 2.0
		f, err := scorekit.Fit(background, be, linearModel{}, &pointerObjective{&target}, examples(t, [][]float64{{1}}), scorekit.WithSteps(steps),
			scorekit.WithCheckpoints(dir, 2), scorekit.WithResume())
		if err != nil || len(f.History()) != 2 {
			t.Fatalf("steps %d: model %v, error %v", steps, f, err)
		}
	}
}

// With another number of steps the rate goes on as that of a run with the new number; of a run that is at its end
// already there is nothing to do but to hand the model over.
func TestResumeWithAnotherNumberOfSteps(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	run := func(steps int) (*scorekit.Fitted, []scorekit.Report) {
		t.Helper()
		var reports []scorekit.Report
		f, err := scorekit.Fit(background, be, linearModel{}, drift, examples(t, [][]float64{{0}}), scorekit.WithSteps(steps), scorekit.WithBatch(1),
			scorekit.WithEMA(0), scorekit.WithDType(dtypes.Float64), scorekit.WithCheckpoints(dir, 3), scorekit.WithResume(),
			scorekit.WithProgress(func(r scorekit.Report) { reports = append(reports, r) }),
			scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1, Cosine: true}}))
		if err != nil {
			t.Fatal(err)
		}
		return f, reports
	}
	cosine := func(t, n int) float64 { return 0.5 * (1 + math.Cos(math.Pi*float64(t)/float64(n))) }
	want := cosine(0, 3) + cosine(1, 3) + cosine(2, 3)
	f, _ := run(3)
	_, b := weights(t, f)
	within(t, "sum of rates after 3 steps", b[0], want, 1e-12)
	for s := 3; s < 8; s++ {
		want += cosine(s, 8)
	}
	for range 2 {
		f, reports := run(8)
		_, b = weights(t, f)
		within(t, "sum of rates after 8 steps", b[0], want, 1e-12)
		last := reports[len(reports)-1]
		if f.Steps() != 8 || last.Step != 8 || last.Total != 8 || !last.Done {
			t.Errorf("steps %d, last report %+v", f.Steps(), last)
		}
	}
}

// A checkpoint that cannot be written ends the training with one clear error, and what was there stays. A folder in
// the place of the file stands for a full disk: both fail after the folder was found to be good.
func TestCheckpointThatCannotBeWritten(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	f, err := fitSmall(t, background, be, 8, scorekit.WithCheckpoints(dir, 2), scorekit.WithCallback(func(*scorekit.FitStep) error {
		return os.MkdirAll(filepath.Join(dir, "step-000000004.safetensors"), 0o755)
	}))
	wantError(t, err, "scorekit: Fit: checkpoint: writing ", "step-000000004.safetensors")
	if err != nil && strings.Count(err.Error(), "checkpoint: ") != 1 {
		t.Errorf("the error says it more than once: %v", err)
	}
	if f == nil || f.Steps() != 4 {
		t.Errorf("model %v, want that of step 4", f)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("%v were left", left)
	}
	good, err := scorekit.Load(filepath.Join(dir, "step-000000002.safetensors"))
	if err != nil || good.Steps() != 2 {
		t.Errorf("the checkpoint of step 2: %v", err)
	}
}

// A folder that cannot be written to is found before the first step.
func TestReadOnlyCheckpointFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder cannot be made read-only on Windows")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if file, err := os.Create(filepath.Join(dir, "probe")); err == nil { // the super-user may write anywhere but here
		file.Close()
		dir = "/proc/self"
	}
	f, err := fitSmall(t, background, testbackend.Go(t), 8, scorekit.WithCheckpoints(dir, 8))
	wantError(t, err, "scorekit: Fit: checkpoint folder: ", dir)
	if f != nil {
		t.Error("steps were done")
	}
}

// A damaged file of a later step is no reason to keep only one good checkpoint.
// TestCheckpointFolderOfAnotherRun starts a second run on the folder of one that is going on, which must be refused and
// harm nothing, and once more after its end and after runs that failed, which must have let go of the folder.
func TestCheckpointFolderOfAnotherRun(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	const refused = "another run is writing to it"
	second := func(options ...scorekit.FitOption) error {
		_, err := fitSmall(t, background, be, 8, append(options, scorekit.WithCheckpoints(dir, 2))...)
		return err
	}
	tried := 0
	if _, err := fitSmall(t, background, be, 4, scorekit.WithCheckpoints(dir, 2), scorekit.WithCallback(func(*scorekit.FitStep) error {
		tried++
		wantError(t, second(), "scorekit: Fit: checkpoint folder", refused)
		wantError(t, second(scorekit.WithResume()), refused)
		return nil
	})); err != nil || tried == 0 {
		t.Fatalf("the first run, disturbed %d times: %v", tried, err)
	}
	wantError(t, second(), "give WithResume")
	wantError(t, second(scorekit.WithResume(), scorekit.WithSeed(5)), "seed")
	for range scorekit.FitSteps(background, be, smallNet, objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0, 1), scorekit.WithBatch(16),
		scorekit.WithSteps(8), scorekit.WithCheckpoints(dir, 2), scorekit.WithResume()) {
		break
	}
	if err := second(scorekit.WithResume()); err != nil {
		t.Fatal(err)
	}
}

func TestTwoGoodCheckpointsAreKept(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	later := filepath.Join(dir, "step-000000100.safetensors")
	if _, err := fitSmall(t, background, be, 2, scorekit.WithCheckpoints(dir, 2)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(later, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := fitSmall(t, background, be, 8, scorekit.WithCheckpoints(dir, 2), scorekit.WithResume()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []int{6, 8} {
		if f, err := scorekit.Load(filepath.Join(dir, fmt.Sprintf("step-%09d.safetensors", step))); err != nil || f.Steps() != step {
			t.Errorf("the checkpoint of step %d: %v", step, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "step-000000004.safetensors")); err == nil {
		t.Error("the checkpoint of step 4 is still there")
	}
}

// A newest checkpoint that is whole but of a later format must not be passed over in silence for an older one.
func TestLaterFormatIsNotPassedOver(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	if _, err := fitSmall(t, background, be, 4, scorekit.WithCheckpoints(dir, 2)); err != nil {
		t.Fatal(err)
	}
	later, err := os.Create(filepath.Join(dir, "step-000000006.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(safetensors.Write(later, nil, map[string]string{"scorekit": `{"format":2}`}), later.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Load(dir)
	wantError(t, err, "scorekit: Load: ", "step-000000006.safetensors: checkpoint format 2: this version reads format 1")
	_, err = fitSmall(t, background, be, 8, scorekit.WithCheckpoints(dir, 2), scorekit.WithResume())
	wantError(t, err, "checkpoint format 2")
}

// A dimension that does not fit a loaded model is refused where it is used.
func TestLoadedModelRefusesPointsOfAnotherDimension(t *testing.T) {
	be := testbackend.Go(t)
	f, err := fitSmall(t, background, be, 2)
	if err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Evaluate(background, be, f, [][]float64{{1, 2, 3}})
	wantError(t, err, "points of shape [3] for a model of points of shape [2]")
}

// killedRun is the environment variable that makes the test binary train into a folder until it is killed.
const killedRun = "SCOREKIT_TEST_TRAIN_INTO"

// kills is how often TestKilledWhileWritingCheckpoints kills: go test ./scorekit -run Killed -kills 200.
var kills = flag.Int("kills", 50, "kills of TestKilledWhileWritingCheckpoints")

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedRun); dir != "" {
		trainUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// trainUntilKilled writes a checkpoint at every step, as fast as it can.
func trainUntilKilled(dir string) {
	be, err := backend.OpenConfig("go")
	if err == nil {
		var data scorekit.Data
		if data, err = scorekit.Examples([][]float64{{1, 2}, {3, 4}}); err == nil {
			_, err = scorekit.Fit(context.Background(), be, net.MLP{Hidden: []int{256, 256}}, objective.Denoising{Sigma: 0.5}, data,
				scorekit.WithSteps(1_000_000), scorekit.WithBatch(1), scorekit.WithCheckpoints(dir, 1), scorekit.WithResume(),
				scorekit.WithCallback(func(s *scorekit.FitStep) error { fmt.Println(s.Step); return nil }))
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Each of many runs goes on from the one before and is killed at a random moment of two steps, however long these take here,
// while it writes checkpoints of about 2 MB after each, so that many kills hit a write. A good checkpoint must always be left, and never one older
// than the last step that the killed run reported: a step is reported after its file has got its name.
func TestKilledWhileWritingCheckpoints(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 7))
	interrupted := 0
	for i := range *kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedRun+"="+dir, "SCOREKIT_QUIET=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var problems strings.Builder
		cmd.Stderr = &problems
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		reported := 0
		read := func() bool {
			ok := lines.Scan()
			if ok {
				fmt.Sscan(lines.Text(), &reported)
			}
			return ok
		}
		var begin time.Time
		for range 2 {
			begin = time.Now()
			if !read() {
				t.Fatalf("run %d ended by itself: %s", i, problems.String())
			}
		}
		step := time.Since(begin)
		go func() {
			time.Sleep(time.Duration(rng.Int64N(2*int64(step) + 1)))
			cmd.Process.Kill()
		}()
		for read() {
		}
		cmd.Wait()
		if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(left) > 0 {
			interrupted++
		}
		f, err := scorekit.Load(dir)
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		if f.Steps() < reported {
			t.Errorf("after kill %d the newest good checkpoint is of step %d, but step %d had been written", i, f.Steps(), reported)
		}
	}
	t.Logf("%d of %d kills hit a write", interrupted, *kills)
	if interrupted == 0 {
		t.Error("no kill hit a write: the test shows nothing")
	}
}
