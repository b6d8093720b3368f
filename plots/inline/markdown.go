package inline

import "github.com/janpfeifer/gonb/gonbui/protocol"

// Markdown displays text as Markdown, with mathematics between dollar signs. It returns an error outside a notebook.
func Markdown(text string) error {
	if err := inNotebook("Print the text instead"); err != nil {
		return err
	}
	return send(map[protocol.MIMEType]any{protocol.MIMETextMarkdown: text})
}
