package notebook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Form returns a notebook file as JupyterLab itself saves it, so that opening and saving it changes nothing: names in
// alphabetical order, one space a level, texts as lists of lines, a line end at the end. Those who write notebooks otherwise, by
// programs, bring them into this form by
//
//	go test ./internal/notebook -run Form -rewrite
func Form(file []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.UseNumber()
	var book map[string]any
	if err := decoder.Decode(&book); err != nil {
		return nil, err
	}
	cells, _ := book["cells"].([]any)
	for _, c := range cells {
		cell, _ := c.(map[string]any)
		split(cell, "source")
		if cell["cell_type"] == "code" {
			setDefault(cell, "execution_count", nil)
			setDefault(cell, "outputs", []any{})
		}
		outputs, _ := cell["outputs"].([]any)
		for _, o := range outputs {
			output, _ := o.(map[string]any)
			split(output, "text")
			data, _ := output["data"].(map[string]any)
			for kind := range data {
				if kind != "application/json" {
					split(data, kind)
				}
			}
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(book)
	return out.Bytes(), err
}

// split makes a text a list of its lines.
func split(values map[string]any, name string) {
	text, ok := values[name].(string)
	if !ok {
		return
	}
	lines := []any{}
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	values[name] = lines
}

func setDefault(values map[string]any, name string, value any) {
	if _, ok := values[name]; !ok {
		values[name] = value
	}
}
