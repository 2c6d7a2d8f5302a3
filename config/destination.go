package config

import (
	"regexp"
	"strconv"
	"sync"
	"time"
)

// commonKeys are the keys that mean the same for every platform. The others are
// the platform's own.
func commonKeys() []string {
	return []string{
		"name", "type", "former_webhooks", "former_webhooks_file", "slots", "min_interval", "quiet",
		"max_per_day", "max_per_run", "text",
	}
}

// destination reads what every destination has in common, and leaves the rest to
// its platform.
func (p *parser) destination(n *node, seen names) Destination {
	s := p.section("destination", n)
	d := Destination{
		Spot:        s.spot(),
		Name:        seen.read(s),
		Type:        s.text("type", "webhook"),
		MinInterval: s.duration("min_interval", 0),
		MaxPerRun:   s.count("max_per_run", 0),
		Text:        s.template("text"),
	}
	d.Settings = p.settings(s, d.Type)
	p.formerWebhooks(s, &d.FormerWebhooks)
	for _, n := range s.texts("slots") {
		d.Slots = append(d.Slots, Text{Value: n.text, at: n.place})
	}
	if n := s.n.get("slots"); n != nil && n.kind == isList && len(n.items) == 0 {
		p.note(n.problem("slots is empty; leave it out to post at once"))
	}
	s.quiet(&d.Quiet)
	d.MaxPerDay = s.count("max_per_day", 0)
	return d
}

// formerWebhooks reads a list of secrets, or the file that has one on each line.
func (p *parser) formerWebhooks(s *section, into *[]Secret) {
	var given struct {
		FormerWebhooks []Secret `yaml:"former_webhooks"`
	}
	own := &node{place: s.n.place, kind: isMapping}
	for _, f := range s.n.fields {
		if f.key == "former_webhooks" || f.key == "former_webhooks_file" {
			own.fields = append(own.fields, f)
		}
	}
	for _, problem := range p.decode(own, &given) {
		p.note(problem)
	}
	*into = given.FormerWebhooks
}

// template reads a text that is a template.
func (s *section) template(key string) Text {
	text := Text{Value: s.text(key, ""), at: s.n.place}
	if n := s.n.get(key); n != nil {
		text.at = n.place
	}
	return text
}

var quietTimes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])\s*-\s*([01]?[0-9]|2[0-4]):([0-5][0-9])$`)
})

// quiet reads when nothing is sent: two wall-clock times.
func (s *section) quiet(into *Quiet) {
	text := s.text("quiet", "")
	if text == "" {
		return
	}
	m := quietTimes().FindStringSubmatch(text)
	if m == nil || m[3] == "24" && m[4] != "00" {
		s.p.note(s.n.get("quiet").problem("quiet: want two times, as in 22:00-07:00"))
		return
	}
	at := func(hour, minute string) time.Duration {
		h, _ := strconv.Atoi(hour)
		m, _ := strconv.Atoi(minute)
		return (time.Duration(h)*time.Hour + time.Duration(m)*time.Minute) % (24 * time.Hour)
	}
	*into = Quiet{From: at(m[1], m[2]), To: at(m[3], m[4])}
	if into.From == into.To {
		s.p.note(s.n.get("quiet").problem("quiet: begins when it ends; leave it out, or give two times that differ"))
	}
}
