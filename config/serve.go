package config

import "net"

// The schedules of the daemon, if the file gives none.
const (
	defaultEnqueue = "*/15 * * * *"
	defaultProcess = "* * * * *"
)

// serve reads the section of that name.
func (p *parser) serve(config *section) Serve {
	n := config.take("serve")
	if n == nil {
		n = &node{place: config.n.place, kind: isMapping}
	}
	s := p.section("serve", n)
	serve := Serve{
		Spot:    s.spot(),
		Enqueue: s.schedule("enqueue", defaultEnqueue),
		Process: s.schedule("process", defaultProcess),
		Listen:  s.optional("listen"),
		Ping:    s.optional("ping"),
	}
	if _, _, err := net.SplitHostPort(serve.Listen); serve.Listen != "" && err != nil {
		p.note(n.get("listen").problem("listen: want host:port or :port"))
	}
	if serve.Ping != "" && !isHTTP(serve.Ping) {
		p.note(n.get("ping").problem("ping: want an address that begins with https:// or http://"))
	}
	s.finish()
	return serve
}

// schedule reads a cron expression, or returns otherwise.
func (s *section) schedule(key, otherwise string) Text {
	text := Text{Value: s.text(key, otherwise), at: s.n.place}
	if n := s.n.get(key); n != nil {
		text.at = n.place
	}
	return text
}

// optional reads a text that may be empty, which is the same as none.
func (s *section) optional(key string) string {
	n := s.take(key)
	if n == nil || !s.p.want(key, n, isText) {
		return ""
	}
	return n.text
}
