package collect

import "bytes"

// binding is a namespace that the root declares.
type binding struct {
	prefix, value []byte
	// from and to are the place of the attribute, with the blanks before it.
	from, to int
	used     bool
}

// use notes that a prefix of the root's is used by something that stays.
func (c *cutter) use(prefix []byte) {
	if len(prefix) == 0 {
		return
	}
	for i := range c.declared {
		if bytes.Equal(c.declared[i].prefix, prefix) {
			c.declared[i].used = true
		}
	}
}

// finish copies what is left to copy, and takes from the root's tag the namespaces
// that nothing uses any more: the parser copies all that are in scope for every
// element.
func (c *cutter) finish() []byte {
	if c.from >= 0 {
		c.out = append(c.out, c.src[c.from:]...)
	}
	header := make([]byte, 0, c.header)
	from := 0
	for i, d := range c.declared {
		if d.used || c.declaredTwice(i) {
			continue
		}
		header = append(header, c.src[from:d.from]...)
		from = d.to
	}
	header = append(header, c.src[from:c.header]...)
	start := c.header - len(header)
	copy(c.out[start:], header)
	return c.out[start:]
}

// declaredTwice reports whether the root has another prefix for the same namespace.
func (c *cutter) declaredTwice(i int) bool {
	for j, d := range c.declared {
		if i != j && bytes.Equal(bytes.TrimSpace(d.value), bytes.TrimSpace(c.declared[i].value)) {
			return true
		}
	}
	return false
}
