// Command docs draws the README's picture, docs/ring.png: a score in closed form, the same score learned from samples,
// and points drawn with what was learned. It is notebook 00 in one program; run it in the top folder.
//
//	go run ./docs
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/plots"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
)

// sigma is how much the data are blurred: the score that is learned is that of the blurred ring.
const sigma = 0.5

var window = plots.Window{XMin: -6.5, XMax: 6.5, YMin: -6.5, YMax: 6.5}

func main() {
	b, err := backend.Open()
	if err != nil {
		log.Fatal(err)
	}
	picture, err := ring(context.Background(), b, 2000)
	if err != nil {
		log.Fatal(err)
	}
	full, err := picture.PNG()
	if err != nil {
		log.Fatal(err)
	}
	small, err := reduce(full)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join("docs", "ring.png")
	if err := os.WriteFile(path, small, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", path)
}

// ring trains the network for some steps and sets the three panels side by side.
func ring(ctx context.Context, b backends.Backend, steps int) (*plots.Figure, error) {
	set := data.Ring{}
	exact, err := set.Density()
	if err != nil {
		return nil, err
	}
	fitted, err := scorekit.Fit(ctx, b, net.MLP{}, objective.Denoising{Sigma: sigma}, set,
		scorekit.WithSteps(steps), scorekit.WithBatch(512), scorekit.WithSeed(1))
	if err != nil {
		return nil, err
	}
	fields, err := compare(ctx, b, exact, fitted)
	if err != nil {
		return nil, err
	}
	draws, err := scorekit.Sample(ctx, b, fitted, sampler.Langevin{StepSize: 0.02, Steps: 500}, 2000,
		scorekit.WithStartNormal(4), scorekit.WithSeed(4))
	if err != nil {
		return nil, err
	}
	samples, err := plots.Scatter{Title: "drawn with it", Sets: []plots.PointSet{{Points: draws.X}}, Window: window}.Figure()
	if err != nil {
		return nil, err
	}
	row, err := plots.Row(fields, samples)
	if err != nil {
		return nil, err
	}
	row.Width = 24 // cm; a README is wider than a notebook's cell
	return row, nil
}

// compare draws the exact and the learned score of the blurred ring over its density.
func compare(ctx context.Context, b backends.Backend, exact density.Mixture, learned scorekit.Model) (*plots.Figure, error) {
	points, lattice, err := plots.Grid(window.XMin, window.XMax, window.YMin, window.YMax, 21, 21)
	if err != nil {
		return nil, err
	}
	figure := plots.ScoreField{Lattice: lattice}
	for _, m := range []struct {
		title string
		model scorekit.Model
	}{{"exact score", exact}, {"learned from samples", learned}} {
		score, err := scorekit.Evaluate(ctx, b, m.model, points, sigma)
		if err != nil {
			return nil, err
		}
		figure.Fields = append(figure.Fields, plots.Field{Title: m.title, Score: score})
	}
	blurred, err := exact.Noised(sigma)
	if err != nil {
		return nil, err
	}
	points, lattice, err = plots.Grid(window.XMin, window.XMax, window.YMin, window.YMax, 120, 120)
	if err != nil {
		return nil, err
	}
	logDensity, err := graph.ExecOnce(b, blurred.LogDensity, points)
	if err != nil {
		return nil, err
	}
	figure.Density = plots.Density{Lattice: lattice, Log: logDensity, Label: "density p_σ(x)"}
	return figure.Figure()
}

// reduce encodes a PNG anew with its 256 most frequent colours, in a third of the space: everybody who clones the
// project fetches it.
func reduce(encoded []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		// The colour itself decides between two that are as frequent, so that the same picture gives the same file.
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	small := image.NewPaletted(full.Bounds(), colours[:min(len(colours), 256)])
	draw.Draw(small, small.Bounds(), full, image.Point{}, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}
