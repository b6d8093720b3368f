package given

import (
	"io"
	"os"
	"testing"
)

func TestMissing(t *testing.T) {
	var file *os.File
	var reader io.Reader = file
	var f func()
	for name, v := range map[string]any{"nil": nil, "pointer": file, "interface": reader, "function": f} {
		if err := Check("x", v); err == nil || err.Error() != "x nil: must be given" {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, v := range map[string]any{"number": 0, "pointer": new(int), "function": func() {}, "empty slice": []int(nil), "struct": struct{}{}} {
		if err := Check("x", v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
