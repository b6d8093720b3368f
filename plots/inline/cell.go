package inline

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/scorekit/lab/plots"
)

// Must returns v, and ends the cell with err where there is one: a cell that panics fails, and shows the error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Must2 is [Must] for a call with two results beside the error.
func Must2[T, U any](v T, w U, err error) (T, U) {
	if err != nil {
		panic(err)
	}
	return v, w
}

// Figure makes a figure and shows it in one: Figure(plots.Scatter{…}.Figure()). It ends the cell with an error of either.
func Figure(figure *plots.Figure, err error) {
	if err == nil {
		err = Show(figure)
	}
	if err != nil {
		panic(err)
	}
}

// Printf shows a line of text, Markdown with mathematics between dollar signs, in its order among the figures of the
// cell; what fmt prints comes through another pipe and may overtake them. Outside a notebook it prints the line.
func Printf(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if !gonbui.IsNotebook {
		fmt.Println(text)
		return
	}
	if err := Markdown(text); err != nil {
		panic(err)
	}
}

// Context returns a context that ends when the cell is interrupted, so that a long run stops cleanly and keeps what it
// has. An interrupt a second later or more ends the program.
func Context() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// One press of the button is two interrupts, a millisecond apart: Jupyter's to the kernel's whole process group, and GoNB's.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx
}
