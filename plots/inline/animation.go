package inline

import (
	"encoding/base64"
	"fmt"
	"html"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/scorekit/lab/plots"
)

// Animation makes an animation and shows it in one: Animation(plots.PointStrip{…}.Animation()). It ends the cell with an
// error of either, as [Figure] does.
func Animation(animation plots.Animation, err error) {
	if err == nil {
		err = GIF(animation)
	}
	if err != nil {
		panic(err)
	}
}

// GIF displays an animation at its true size. For print, and beside it where readers may have switched animations off,
// show its Still. It returns the animation's own errors, and one outside a notebook.
func GIF(animation plots.Animation) error {
	if err := inNotebook("Save the animation to a file instead, with its Save method"); err != nil {
		return err
	}
	data, err := animation.GIF()
	if err != nil {
		return err
	}
	width, height, err := animation.Size()
	if err != nil {
		return err
	}
	return send(map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  picture("image/gif", data, width, height, animation.Alt()),
		protocol.MIMETextPlain: animation.Alt(),
	})
}

// picture is an image as an element of a page, of a fixed size where the page has room for it.
func picture(kind string, data []byte, width, height int, alt string) string {
	return fmt.Sprintf(`<img width="%d" height="%d" style="max-width:100%%;height:auto" alt="%s" src="data:%s;base64,%s">`,
		width, height, html.EscapeString(alt), kind, base64.StdEncoding.EncodeToString(data))
}
