package data

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// A damaged file is an error that says where.
func TestDamagedDigits(t *testing.T) {
	pack := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := strings.Repeat("0,", 64) + "7\n"
	for want, file := range map[string][]byte{
		"gzip":                        []byte("no archive"),
		"unexpected EOF":              digitsFile[:1000],
		"wrong number of fields":      pack("1,2,3\n"),
		"line 2, column 1: value 17":  pack(good + "17" + good[1:]),
		"line 1, column 65: value 10": pack(strings.Replace(good, "7", "10", 1)),
		"line 1, column 3: strconv":   pack("0,0,x" + good[5:]),
		"no examples":                 pack(""),
	} {
		if _, err := readDigits(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
	if set, err := readDigits(pack(good)); err != nil || set.Labels[0] != 7 {
		t.Errorf("a good line: %v, %v", set.Labels, err)
	}
}
