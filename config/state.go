package config

// state reads where the ledger is kept. n is nil if the file does not say.
func (p *parser) state(n *node, begin place) State {
	if n == nil {
		n = &node{place: begin, kind: isMapping}
	}
	s := p.section("state", n)
	state := State{
		Spot:    s.spot(),
		Backend: s.oneOf("backend", "local", "firestore"),
		Dir:     p.path(s.text("dir", "state")),

		Project: s.text("project", ""), Database: s.text("database", ""), Fleet: s.text("fleet", ""),
	}
	s.finish()
	return state
}
