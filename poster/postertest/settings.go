package postertest

import (
	"fmt"
	"reflect"
	"slices"

	"bot/poster"
)

// Settings are a destination's settings as a config file would give them, by the
// names of its keys: texts, booleans, lists and maps of texts.
type Settings map[string]any

var _ poster.Settings = Settings(nil)

// Decode fills the struct that into points to by its yaml tags, strictly.
func (s Settings) Decode(into any) error {
	v := reflect.ValueOf(into).Elem()
	var known []string
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		known = append(known, name)
		if given, ok := s[name]; ok {
			if err := set(v.Field(i), reflect.ValueOf(given)); err != nil {
				return s.Errorf(name, "%w", err)
			}
		}
	}
	for name := range s {
		if !slices.Contains(known, name) {
			return s.Errorf(name, "unknown setting %s", name)
		}
	}
	return nil
}

// Errorf names the setting in front of the error.
func (s Settings) Errorf(key, format string, args ...any) error {
	return fmt.Errorf("%s: %w", key, fmt.Errorf(format, args...))
}

func set(field, given reflect.Value) error {
	if secret, ok := field.Addr().Interface().(interface{ SetSecret(string) }); ok && given.Kind() == reflect.String {
		secret.SetSecret(given.String())
		return nil
	}
	switch {
	case given.Kind() != field.Kind():
		return fmt.Errorf("a %s where a %s belongs", given.Kind(), field.Kind())
	case field.Kind() == reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), given.Len(), given.Len()))
		for i := range given.Len() {
			if err := set(field.Index(i), given.Index(i)); err != nil {
				return err
			}
		}
	case field.Kind() == reflect.Map:
		field.Set(reflect.MakeMap(field.Type()))
		for _, key := range given.MapKeys() {
			v := reflect.New(field.Type().Elem()).Elem()
			if err := set(v, given.MapIndex(key)); err != nil {
				return err
			}
			field.SetMapIndex(key, v)
		}
	default:
		field.Set(given)
	}
	return nil
}
