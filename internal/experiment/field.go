package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field is one setting of a struct whose fields have the tags key and usage: a [Config], or the settings of another
// verb. It reads and writes the setting as text, which makes it the value of a flag.
type Field struct {
	Key, Usage string
	value      reflect.Value
}

// Fields returns the settings of *settings, a pointer to a struct, in the order of its fields.
func Fields(settings any) []*Field {
	s := reflect.ValueOf(settings).Elem()
	var fields []*Field
	for i := range s.NumField() {
		if key := s.Type().Field(i).Tag.Get("key"); key != "" {
			fields = append(fields, &Field{key, s.Type().Field(i).Tag.Get("usage"), s.Field(i)})
		}
	}
	return fields
}

// Fields returns the settings of c, in the order in which they are documented.
func (c *Config) Fields() []*Field { return Fields(c) }

// Type names what Set takes, for help texts: string, int, float, a list of them, or bool.
func (f *Field) Type() string {
	switch f.value.Interface().(type) {
	case []string:
		return "strings"
	case []int:
		return "ints"
	}
	switch f.value.Kind() {
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "float"
	}
	return f.value.Kind().String()
}

// String returns the setting as Set takes it.
func (f *Field) String() string {
	switch v := f.value.Interface().(type) {
	case []string:
		return strings.Join(v, ",")
	case []int:
		texts := make([]string, len(v))
		for i, n := range v {
			texts[i] = strconv.Itoa(n)
		}
		return strings.Join(texts, ",")
	default:
		return fmt.Sprint(v)
	}
}

// Set reads the setting from a text. It returns an error that says what the text must be.
func (f *Field) Set(text string) error {
	switch f.value.Interface().(type) {
	case []string:
		f.value.Set(reflect.ValueOf(split(text)))
		return nil
	case []int:
		var numbers []int
		for _, part := range split(text) {
			n, err := strconv.Atoi(part)
			if err != nil {
				return fmt.Errorf("%q: must be whole numbers separated by commas", text)
			}
			numbers = append(numbers, n)
		}
		f.value.Set(reflect.ValueOf(numbers))
		return nil
	}
	switch f.value.Kind() {
	case reflect.String:
		f.value.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q: must be true or false", text)
		}
		f.value.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q: must be a whole number", text)
		}
		f.value.SetInt(n)
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q: must be a number", text)
		}
		f.value.SetFloat(v)
	}
	return nil
}

// split returns the parts of a list separated by commas, without the space around them.
func split(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// assign sets the field to a value as a config file holds it: text, number, truth, or a list of these. A text setting
// also takes a number, so that sigma = 0.5 needs no quotes.
func (f *Field) assign(v any) error {
	text := ""
	wrong := fmt.Errorf("%v: must be %s", v, map[string]string{
		"string": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
		"strings": "a list of texts", "ints": "a list of whole numbers"}[f.Type()])
	switch v := v.(type) {
	case []any:
		if f.value.Kind() != reflect.Slice {
			return wrong
		}
		var parts []string
		for _, part := range v {
			switch part.(type) {
			case string, int, int64:
				parts = append(parts, fmt.Sprint(part))
			default:
				return wrong
			}
		}
		if f.Type() == "strings" { // a name may hold a comma
			f.value.Set(reflect.ValueOf(parts))
			return nil
		}
		text = strings.Join(parts, ",")
	case string:
		if !slices.Contains([]string{"string", "strings"}, f.Type()) {
			return wrong
		}
		text = v
	case bool:
		if f.Type() != "bool" {
			return wrong
		}
		text = strconv.FormatBool(v)
	case int, int64, float64:
		if f.Type() == "bool" || f.value.Kind() == reflect.Slice {
			return wrong
		}
		text = fmt.Sprint(v)
	default:
		return wrong
	}
	if err := f.Set(text); err != nil {
		return wrong
	}
	return nil
}
