package queue

import (
	"cmp"
	"slices"

	"bot/dedupe"
)

// siteOf returns the site that an address given by hand belongs to, so that it
// has the same identity as through its source.
func (q *Queue) siteOf(url string) dedupe.Site {
	for i := range q.Sources {
		if q.Sources[i].Site.Has(url) {
			return q.Sources[i].Site
		}
	}
	return dedupe.Site{}
}

// elsewhere returns the other addresses of a page. A host that one source names for
// its site is that site's for all sources, since they may list the same article.
func (q *Queue) elsewhere(canonical string) []string {
	var all []string
	for i := range q.Sources {
		if len(q.Sources[i].Site.Aliases) == 0 {
			continue // most have none
		}
		for _, url := range q.Sources[i].Site.Elsewhere(canonical) {
			if !slices.Contains(all, url) {
				all = append(all, url)
			}
		}
	}
	return all
}

// samePlaces returns the other addresses of an article's page: those on other hosts,
// and those that it had while one of its site's strip_params, or none, was in the
// config.
func (q *Queue) samePlaces(canonical string, a Article, site dedupe.Site) []string {
	all := q.elsewhere(canonical)
	if len(site.StripParams) == 0 {
		return all
	}
	listed := cmp.Or(a.Listed, a.URL)
	for i := -1; i < len(site.StripParams); i++ {
		var params []string
		if i >= 0 {
			params = slices.Delete(slices.Clone(site.StripParams), i, i+1)
		}
		before, err := dedupe.Site{StripParams: params}.Canonical(listed)
		if err == nil && before != canonical && !slices.Contains(all, before) {
			all = append(append(all, before), q.elsewhere(before)...)
		}
	}
	return all
}

// mainOf returns the one address of a page among all that it has. site is that of the
// source that lists it.
func (q *Queue) mainOf(canonical string, site dedupe.Site) string {
	if main := site.Main(canonical); main != canonical {
		return main
	}
	for i := range q.Sources {
		if main := q.Sources[i].Site.Main(canonical); main != canonical {
			return main
		}
	}
	return canonical
}

// others returns the addresses but for one, each once.
func others(one string, all []string) []string {
	var rest []string
	for _, url := range all {
		if url != one && !slices.Contains(rest, url) {
			rest = append(rest, url)
		}
	}
	return rest
}
