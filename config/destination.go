package config

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
	s.texts("slots")
	s.text("quiet", "")
	s.count("max_per_day", 0)
	s.later()
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
