package dedupe

import "strings"

// trackingPrefixes begin the names of whole families of tracking parameters.
var trackingPrefixes = [...]string{
	"utm_", // Urchin and Google Analytics: https://support.google.com/analytics/answer/10917952
}

// trackingNames are query parameters that say where a reader came from and never
// which page is meant. They are written in lower case and compared without regard
// to case.
//
// They are drawn from the public lists, AdGuard's TrackParamFilter (general_url.txt)
// above all, and from the vendors' own documentation. Names that select a page at
// some site, such as ref, source, cid or sid, are left out on purpose: dropping one
// of those would make two articles one, and the second would never be announced. A
// site that uses them for tracking names them in its source's strip_params.
//
// The map is never written to.
var trackingNames = names(
	// Google Ads, Analytics and Merchant Center
	"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl", "usqp",
	// Meta
	"fbclid", "fb_action_ids", "fb_action_types", "fb_comment_id", "fb_ref", "fb_source", "igshid", "igsh",
	// Other advertisers' click identifiers: Microsoft, Yandex and Yahoo! Japan,
	// X, TikTok, LinkedIn, Pinterest, Reddit, Snapchat
	"msclkid", "yclid", "ysclid", "_openstat", "twclid", "ttclid", "li_fat_id", "epik", "rdt_cid", "sccid",
	// Mailchimp, HubSpot, Marketo, Klaviyo, Vero, MailerLite, Dynamics 365
	"mc_cid", "mc_eid", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "mkt_tok", "_kx",
	"vero_conv", "vero_id", "ml_subscriber", "ml_subscriber_hash", "_clde", "_cldee",
	// HubSpot's ad parameters
	"hsa_acc", "hsa_ad", "hsa_cam", "hsa_grp", "hsa_kw", "hsa_la", "hsa_mt", "hsa_net", "hsa_ol", "hsa_src", "hsa_tgt", "hsa_ver",
	// Matomo, formerly Piwik
	"mtm_campaign", "mtm_cid", "mtm_content", "mtm_group", "mtm_keyword", "mtm_kwd", "mtm_medium", "mtm_placement", "mtm_source",
	"pk_campaign", "pk_cid", "pk_content", "pk_keyword", "pk_kwd", "pk_medium", "pk_source",
	"piwik_campaign", "piwik_keyword", "piwik_kwd",
	// AT Internet, now Piano: https://developers.atinternet-solutions.com
	"xtor", "at_medium", "at_campaign", "at_custom1", "at_custom2", "at_custom3", "at_custom4", "at_format", "at_creation", "at_variant",
	// Parse.ly: https://www.parse.ly/help/kb/campaign-tracking-guide
	"itm_source", "itm_medium", "itm_campaign", "itm_content", "itm_term",
	// Adobe, Mapp, Blueshift, Omeda, Wicked Reports, Branch, AD EBiS, LINE
	"s_cid", "s_kwcid", "ef_id", "wt_mc", "bsft_aaid", "bsft_clkid", "bsft_eid", "bsft_ek", "bsft_mid", "bsft_uid",
	"oly_anon_id", "oly_enc_id", "wickedid", "rb_clickid", "_branch_match_id", "_branch_referrer", "ebisadid", "ldtag_cl",
	// Affiliate networks' click identifiers: Awin, Impact, Admitad
	"awc", "irclickid", "irgwc", "admitad_uid",
	// Yahoo's consent pages
	"guccounter", "guce_referrer", "guce_referrer_sig",
)

func names(all ...string) map[string]struct{} {
	set := make(map[string]struct{}, len(all))
	for _, name := range all {
		set[name] = struct{}{}
	}
	return set
}

// longestTracking bounds the names worth looking up.
const longestTracking = 24

// isTracking reports whether a parameter only tracks. param is name or name=value
// with its escapes in normal form.
func isTracking(param []byte, extra []string) bool {
	name, value := param, []byte(nil)
	for i, c := range param {
		if c == '=' {
			name, value = param[:i], param[i+1:]
			break
		}
	}
	for _, drop := range extra {
		var space [64]byte
		if strings.EqualFold(string(name), string(appendEscaped(space[:0], drop))) {
			return drop != ""
		}
	}
	// ref names a branch or a version at some sites; only this value is a feed's own.
	if len(name) == 3 && len(value) == 3 && strings.EqualFold(string(param), "ref=rss") {
		return true
	}
	var space [longestTracking]byte
	lower := space[:0]
	for _, c := range name[:min(len(name), longestTracking)] {
		lower = append(lower, lowerByte(c))
	}
	for _, prefix := range trackingPrefixes {
		if strings.HasPrefix(string(lower), prefix) {
			return true
		}
	}
	if len(name) > longestTracking {
		return false
	}
	_, known := trackingNames[string(lower)]
	return known
}

// StripTracking returns the address to announce: the source's own without
// tracking parameters, without those that extra names (in any case), without user
// info and without the blanks around it. Everything else stays as it was and in
// its order, but for three things that no client would send as they stand: line
// breaks and tabs inside are removed, other blanks and control characters are
// percent-encoded, and an ampersand that is still escaped for HTML is unescaped.
// An address without a scheme (//host/path) gets https. A text that is no http(s)
// address is returned without the blanks around it.
func StripTracking(raw string, extra []string) string {
	s := unescapeAmpersands(removeBreaks(trim(raw)))
	_, rest, err := cutScheme(s)
	if err != nil {
		return trim(raw)
	}
	prefix := s[:len(s)-len(rest)]
	if prefix == "//" {
		prefix = "https://"
	}
	authority, rest := cutAuthority(rest)
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	out := make([]byte, 0, len(s)+8)
	out = append(out, prefix...)
	out = appendBlankless(out, authority)
	out = appendBlankless(out, path)
	if query, dropped := keepParams(query, extra); hasQuery && (query != "" || !dropped) {
		out = append(out, '?')
		out = appendBlankless(out, query)
	}
	// Some trackers sit behind the number sign, where they reach no server.
	if left, dropped := keepParams(fragment, nil); hasFragment && (left != "" || !dropped) {
		out = append(out, '#')
		out = appendBlankless(out, fragment)
	}
	return string(out)
}

// keepParams returns the query without what only tracks, and whether it dropped
// anything. Only empty parameters left count as nothing left.
func keepParams(query string, extra []string) (kept string, dropped bool) {
	var parts []string
	something := false
	for part := range strings.SplitSeq(query, "&") {
		var space [128]byte
		if isTracking(appendEscaped(space[:0], part), extra) {
			dropped = true
			continue
		}
		parts = append(parts, part)
		something = something || part != ""
	}
	switch {
	case !dropped:
		return query, false
	case !something:
		return "", true
	}
	return strings.Join(parts, "&"), true
}
