package scorekit

import (
	"bytes"
	"encoding/json"
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
// the JSON form of the model, and [Load] rebuilds it. Packages of models call it once, in an init function. It panics
// if the kind or the type is taken.
func RegisterModel(kind string, example Model) {
	registryMu.Lock()
	defer registryMu.Unlock()
	t := reflect.TypeOf(example)
	if _, taken := typeOf[kind]; taken || kindOf[t] != "" {
		panic(fmt.Errorf("scorekit: RegisterModel: kind %q or type %s is registered already", kind, t))
	}
	kindOf[t], typeOf[kind] = kind, t
}

// description is a model as a checkpoint holds it. Kind is empty for a model that was not registered.
type description struct {
	Kind   string          `json:"kind,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
}

func describe(m Model) (description, error) {
	registryMu.RLock()
	kind := kindOf[reflect.TypeOf(m)]
	registryMu.RUnlock()
	if kind == "" {
		return description{}, nil
	}
	config, err := json.Marshal(m)
	if err != nil {
		return description{}, fmt.Errorf("model %s: %w", kind, err)
	}
	return description{kind, config}, nil
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
		return nil, fmt.Errorf("the checkpoint does not describe its model: give it to LoadInto")
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
	m, ok := pointer.Elem().Interface().(Model)
	if !ok {
		return nil, fmt.Errorf("model kind %q is registered with a type that is no model", d.Kind)
	}
	return m, validate(m)
}
