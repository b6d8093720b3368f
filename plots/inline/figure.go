package inline

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/scorekit/lab/plots"
)

// Show displays a figure as a PNG, which has two pixels to each screen pixel and up to 256 colours, for the notebook's
// size.
//
// It is sent as an HTML image with a width, as that is what JupyterLab, VS Code and HTML exports agree on: they show it
// at its true size, and keep the words that describe it. It returns the figure's own errors, and one outside a
// notebook.
func Show(figure *plots.Figure) error {
	if err := inNotebook("Save the figure to a file instead, with its Save method"); err != nil {
		return err
	}
	markup, err := image(figure)
	if err != nil {
		return err
	}
	return send(map[protocol.MIMEType]any{protocol.MIMETextHTML: markup, protocol.MIMETextPlain: figure.Alt})
}

func image(figure *plots.Figure) (string, error) {
	data, err := figure.IndexedPNG()
	if err != nil {
		return "", err
	}
	width, height, err := figure.Size()
	if err != nil {
		return "", err
	}
	return picture("image/png", data, width, height, figure.Alt), nil
}

// SVG displays a figure as SVG, sharp at any size, but large where it holds thousands of points. It returns the
// figure's own errors, and one outside a notebook.
func SVG(figure *plots.Figure) error {
	if err := inNotebook("Save the figure to a file instead, with its Save method"); err != nil {
		return err
	}
	markup, err := vector(figure)
	if err != nil {
		return err
	}
	return send(map[protocol.MIMEType]any{protocol.MIMETextHTML: markup, protocol.MIMETextPlain: figure.Alt})
}

// vector returns the figure as an element of a page, without the head of an XML document.
func vector(figure *plots.Figure) (string, error) {
	data, err := figure.SVG()
	if err != nil {
		return "", err
	}
	_, element, found := strings.Cut(string(data), "<svg")
	if !found {
		return "", errors.New("inline: SVG: the document has no svg element")
	}
	return "<div><svg" + element + "</div>", nil
}

func inNotebook(cure string) error {
	if !gonbui.IsNotebook {
		return fmt.Errorf("inline: not in a notebook run by GoNB. %s", cure)
	}
	return nil
}

func send(data map[protocol.MIMEType]any) error {
	gonbui.SendData(&protocol.DisplayData{Data: data})
	if err := gonbui.Error(); err != nil {
		return fmt.Errorf("inline: the notebook cannot be reached: %w", err)
	}
	settle()
	return nil
}

// patience is how long a kernel that does not answer is waited for.
var patience = 5 * time.Second

// settle waits until the kernel has taken what was sent: what a program leaves in the pipe when it ends may be lost.
func settle() {
	taken := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(taken)
	}()
	select {
	case <-taken:
	case <-time.After(patience):
	}
}
