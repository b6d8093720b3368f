package scorekit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// The kinds of model that a checkpoint can describe.
var (
	registryMu sync.RWMutex
	kindOf     = map[reflect.Type]string{}
	typeOf     = map[string]reflect.Type{}
)

// RegisterModel makes models of the type of example storable by description: a checkpoint then carries the kind and
// the JSON form of the model, and [Load] rebuilds it. Packages of models call it once, in an init function. All settings
// must be part of the JSON form: [Fit] refuses a model that does not come back from it as it was. A model among the
// settings gets its JSON form from [Described].
//
// It panics if the kind is empty, the example is nil, or one of them is registered already.
func RegisterModel(kind string, example Model) {
	registryMu.Lock()
	defer registryMu.Unlock()
	t := reflect.TypeOf(example)
	if kind == "" || t == nil {
		panic(fmt.Errorf("scorekit: RegisterModel: kind %q, example %v: both must be given", kind, example))
	}
	if _, taken := typeOf[kind]; taken || kindOf[t] != "" {
		panic(fmt.Errorf("scorekit: RegisterModel: kind %q or type %s is registered already", kind, t))
	}
	kindOf[t], typeOf[kind] = kind, t
}

// Described is a model with a JSON form, for a registered model whose settings hold another model. The form is
// {"kind": …, "config": …} with the kind of [RegisterModel], and {} for a model that was not registered.
//
// Marshalling returns an error for a model whose own JSON form loses settings. Unmarshalling returns one for a kind
// that this program does not know, for settings that are unknown or impossible, and for {}. The outer model with an
// unregistered one inside can be trained and saved nevertheless, and is loaded with [LoadInto].
type Described struct{ Model }

// MarshalJSON returns the description of the model.
func (d Described) MarshalJSON() ([]byte, error) {
	form, err := describe(d.Model)
	if err != nil {
		return nil, err
	}
	return json.Marshal(form)
}

// UnmarshalJSON makes the model again from its description.
func (d *Described) UnmarshalJSON(text []byte) error {
	var form description
	err := json.Unmarshal(text, &form)
	if err == nil {
		d.Model, err = form.build()
	}
	return err
}

// description is a model as a checkpoint holds it. Kind is empty for a model that was not registered.
type description struct {
	Kind   string          `json:"kind,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
}

var errNotDescribed = errors.New("the checkpoint does not describe its model: give it to LoadInto")

func describe(m Model) (description, error) {
	registryMu.RLock()
	kind := kindOf[reflect.TypeOf(m)]
	registryMu.RUnlock()
	if kind == "" {
		return description{}, nil
	}
	config, err := json.Marshal(m)
	if err != nil {
		return description{}, fmt.Errorf("model %s: %s cannot be stored: %w", kind, settingsOf(m), err)
	}
	d := description{kind, config}
	again, err := d.build()
	if errors.Is(err, errNotDescribed) { // a model inside it is not registered
		return d, nil
	}
	if err != nil {
		return description{}, fmt.Errorf("its JSON form cannot be read back: %w", err)
	}
	if stored, back := settingsOf(m), settingsOf(again); stored != back {
		return description{}, fmt.Errorf("model %s: its JSON form %s loses settings: %s comes back as %s", kind, config, stored, back)
	}
	return d, nil
}

func (d description) String() string {
	if d.Kind == "" {
		return "a model that is not registered"
	}
	return d.Kind + " " + string(d.Config)
}

func (d description) equal(other description) bool {
	return d.Kind == other.Kind && bytes.Equal(d.Config, other.Config)
}

// build makes the model again.
func (d description) build() (Model, error) {
	if d.Kind == "" {
		return nil, errNotDescribed
	}
	registryMu.RLock()
	t, ok := typeOf[d.Kind]
	registryMu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("model kind %q is not known to this program: import the package that registers it", d.Kind)
	}
	pointer := reflect.New(t)
	decoder := json.NewDecoder(bytes.NewReader(d.Config))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(pointer.Interface()); err != nil {
		return nil, fmt.Errorf("model %s: %w", d.Kind, err)
	}
	m := pointer.Elem().Interface().(Model) // of the type of an example, which was one
	if isNil(m) {
		return nil, fmt.Errorf("model %s: its description is empty", d.Kind)
	}
	return m, validate(m)
}
