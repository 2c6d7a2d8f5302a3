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
	}
	for _, key := range []string{"project", "database", "fleet"} {
		s.text(key, "")
	}
	s.later()
	s.finish()
	return state
}

// serve reads the section of that name.
func (p *parser) serve(config *section) {
	n := config.take("serve")
	if n == nil {
		return
	}
	s := p.section("serve", n)
	for _, key := range []string{"enqueue", "process", "listen", "ping"} {
		if v := s.take(key); v != nil {
			p.want(key, v, isText)
		}
	}
	s.finish()
	config.later()
}
