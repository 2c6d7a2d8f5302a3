package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fileSuffix makes of a secret's key the one that names a file.
const fileSuffix = "_file"

// setter is a type for secrets, as poster.Secret is.
type setter interface{ SetSecret(text string) }

var durationType = reflect.TypeFor[time.Duration]()

// isSecret reports whether values of the type, or what they point to, are secrets.
func isSecret(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return reflect.PointerTo(t).Implements(reflect.TypeFor[setter]())
}

// asSetter returns the secret that v is or points to, making the one to point to.
func asSetter(v reflect.Value) setter {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return v.Interface().(setter)
	}
	return v.Addr().Interface().(setter)
}

func isSecretList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && isSecret(t.Elem())
}

// decode fills the struct that into points to from a mapping. Keys in passed are
// not its business, but may have been meant by one that nobody knows.
func (p *parser) decode(n *node, into any, passed ...string) Problems {
	d := &decoder{p: p}
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return Problems{n.problem("cannot decode settings into a %T", into)}
	}
	d.structure(n, v.Elem(), passed)
	return d.problems
}

// decoder fills Go values from nodes.
type decoder struct {
	p        *parser
	problems Problems
}

func (d *decoder) note(problem Problem) { d.problems = append(d.problems, problem) }

// member is one field of a struct.
type member struct {
	key      string
	required bool
	value    reflect.Value
}

// members lists the struct's tagged fields, and those of structs it embeds.
func members(v reflect.Value) []member {
	var all []member
	for f, value := range v.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case key == "-" || !f.IsExported() && !f.Anonymous:
		case key == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			all = append(all, members(value)...)
		case key == "":
			all = append(all, member{key: strings.ToLower(f.Name), value: value})
		default:
			all = append(all, member{key: key, required: options == "required", value: value})
		}
	}
	return all
}

// structure fills a struct. Of keys in passed it knows nothing.
func (d *decoder) structure(n *node, v reflect.Value, passed []string) {
	var known []string
	for _, m := range members(v) {
		known = append(known, m.key)
		given := n.get(m.key)
		if isSecret(m.value.Type()) || isSecretList(m.value.Type()) {
			known = append(known, m.key+fileSuffix)
			if file := n.get(m.key + fileSuffix); file != nil {
				d.fromFile(m.key, given, file, m.value)
				continue
			}
		}
		switch {
		case given != nil:
			d.value(m.key, given, m.value)
		case m.required:
			d.note(n.problem("%s is missing", m.key))
		}
	}
	known = append(known, passed...)
	for _, f := range n.fields {
		if !slices.Contains(known, f.key) {
			d.note(unknownKey(f, known))
		}
	}
}

// value fills v from a node that is there.
func (d *decoder) value(key string, n *node, v reflect.Value) {
	if isSecret(v.Type()) {
		d.secret(key, n, asSetter(v))
		return
	}
	if v.Type() == durationType {
		value, problem := duration(key, n)
		d.set(problem, func() { v.SetInt(int64(value)) })
		return
	}
	switch v.Kind() {
	case reflect.String:
		d.set(mismatch(key, n, isText), func() { v.SetString(n.text) })
	case reflect.Bool:
		value, problem := flag(key, n)
		d.set(problem, func() { v.SetBool(value) })
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.integer(key, n, v)
	case reflect.Float64:
		d.float(key, n, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(key, n, v.Elem())
	case reflect.Struct:
		d.set(mismatch(key, n, isMapping), func() { d.structure(n, v, nil) })
	case reflect.Slice:
		d.set(mismatch(key, n, isList), func() { d.list(key, n, v) })
	case reflect.Map:
		d.set(mismatch(key, n, isMapping), func() { d.mapping(key, n, v) })
	default:
		d.note(n.problem("%s: cannot decode settings into a %s", key, v.Type()))
	}
}

// set does set unless there is a problem, which it notes.
func (d *decoder) set(problem *Problem, set func()) {
	if problem != nil {
		d.note(*problem)
		return
	}
	set()
}

func (d *decoder) integer(key string, n *node, v reflect.Value) {
	i, problem := number(key, n)
	if problem == nil && v.OverflowInt(i) {
		tooLarge := n.problem("%s: %s is too large", key, n.quote())
		problem = &tooLarge
	}
	d.set(problem, func() { v.SetInt(i) })
}

func (d *decoder) float(key string, n *node, v reflect.Value) {
	if !n.expanded {
		if problem := mismatch(key, n, isNumber); problem != nil {
			d.note(*problem)
			return
		}
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		d.note(n.problem("%s: want a number, not %s", key, n.quote()))
		return
	}
	v.SetFloat(f)
}

func (d *decoder) list(key string, n *node, v reflect.Value) {
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		d.value("in "+key, item, v.Index(i))
	}
}

// mapping fills a map by string. Of a map of secrets, NAME_file is the file of
// NAME.
func (d *decoder) mapping(name string, n *node, v reflect.Value) {
	elem := v.Type().Elem()
	if v.Type().Key().Kind() != reflect.String {
		d.note(n.problem("%s: cannot decode settings into a %s", name, v.Type()))
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.fields)))
	for _, f := range n.fields {
		value := reflect.New(elem).Elem()
		key, isFile := strings.CutSuffix(f.key, fileSuffix)
		if isFile && isSecret(elem) {
			d.fromFile(key, n.get(key), f.value, value)
		} else {
			key = f.key
			d.value("in "+name, f.value, value)
		}
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), value)
	}
}

// secret sets a secret to a text that is not empty.
func (d *decoder) secret(key string, n *node, s setter) {
	problem := mismatch(key, n, isText)
	if problem == nil && n.text == "" {
		empty := n.problem("%s is empty", key)
		problem = &empty
	}
	d.set(problem, func() { s.SetSecret(n.text) })
}

// fromFile sets a secret, or a list of them, to what the file holds that the node
// file names. given is the value of the key itself, which must not be there too.
func (d *decoder) fromFile(key string, given, file *node, v reflect.Value) {
	if given != nil {
		d.note(file.problem("%s and %s are both here; leave one out", key, key+fileSuffix))
		return
	}
	text, problem := d.p.secretFile(key+fileSuffix, file)
	if problem != nil {
		d.note(*problem)
		return
	}
	if isSecret(v.Type()) {
		asSetter(v).SetSecret(text)
		return
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			item := reflect.New(v.Type().Elem()).Elem()
			asSetter(item).SetSecret(line)
			v.Set(reflect.Append(v, item))
		}
	}
}
