package poster

import (
	"net/netip"
	"strings"
)

// The classes of addresses that not everybody can reach. Empty: everybody can.
const (
	classLoopback    = "loopback"
	classPrivate     = "private"
	classShared      = "carrier's private"
	classLinkLocal   = "link-local"
	classMetadata    = "metadata service's"
	classUnspecified = "unspecified"
	classMulticast   = "multicast"
	classReserved    = "reserved"
	classDisguised   = "disguised"
)

// addressClasses are ranges of addresses and what they are, the narrowest first.
// Sources: IANA's special-purpose address registries (RFC 6890), and the metadata
// services of AWS, Google, Azure, Oracle and Alibaba.
var addressClasses = [...]struct {
	prefix netip.Prefix
	class  string
}{
	{netip.MustParsePrefix("169.254.169.254/32"), classMetadata},
	{netip.MustParsePrefix("169.254.170.2/32"), classMetadata},
	{netip.MustParsePrefix("168.63.129.16/32"), classMetadata},
	{netip.MustParsePrefix("192.0.0.192/32"), classMetadata},
	{netip.MustParsePrefix("100.100.100.200/32"), classMetadata},
	{netip.MustParsePrefix("fd00:ec2::254/128"), classMetadata},
	{netip.MustParsePrefix("fd20:ce::254/128"), classMetadata},

	{netip.MustParsePrefix("0.0.0.0/8"), classUnspecified},
	{netip.MustParsePrefix("127.0.0.0/8"), classLoopback},
	{netip.MustParsePrefix("10.0.0.0/8"), classPrivate},
	{netip.MustParsePrefix("172.16.0.0/12"), classPrivate},
	{netip.MustParsePrefix("192.168.0.0/16"), classPrivate},
	{netip.MustParsePrefix("100.64.0.0/10"), classShared},
	{netip.MustParsePrefix("169.254.0.0/16"), classLinkLocal},
	{netip.MustParsePrefix("192.0.0.0/24"), classReserved},
	{netip.MustParsePrefix("198.18.0.0/15"), classReserved},
	{netip.MustParsePrefix("224.0.0.0/4"), classMulticast},
	{netip.MustParsePrefix("240.0.0.0/4"), classReserved},

	{netip.MustParsePrefix("::/128"), classUnspecified},
	{netip.MustParsePrefix("::1/128"), classLoopback},
	{netip.MustParsePrefix("64:ff9b:1::/48"), classPrivate},
	{netip.MustParsePrefix("fc00::/7"), classPrivate},
	{netip.MustParsePrefix("fec0::/10"), classPrivate},
	{netip.MustParsePrefix("fe80::/10"), classLinkLocal},
	{netip.MustParsePrefix("ff00::/8"), classMulticast},
	{netip.MustParsePrefix("100::/64"), classReserved},
}

// embedding are ranges of IPv6 that stand for an IPv4 address, and where in the
// sixteen bytes it is: NAT64 (RFC 6052), 6to4 (RFC 3056), IPv4-translated (RFC 2765)
// and IPv4-compatible (RFC 4291), the last.
var embedding = [...]struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
	{netip.MustParsePrefix("::/96"), 12},
}

// teredo are addresses whose last four bytes are an IPv4 address with its bits
// turned (RFC 4380).
var teredo = netip.MustParsePrefix("2001::/32")

// addressClass returns what kind of address this is, or "" for one that everybody
// can reach.
func addressClass(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	for _, c := range addressClasses {
		if c.prefix.Contains(a) {
			return c.class
		}
	}
	if a.Is4() {
		return ""
	}
	b := a.As16()
	for _, e := range embedding {
		if e.prefix.Contains(a) {
			return addressClass(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	if teredo.Contains(a) {
		return addressClass(netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	return ""
}

// writtenClass returns the class of a host that is an address as it is written, or a
// name that never stands for anything else. Any other name has none here.
func writtenClass(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return addressClass(a)
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	switch {
	case name == "localhost", strings.HasSuffix(name, ".localhost"):
		return classLoopback
	case name == "metadata.google.internal":
		return classMetadata
	case endsInNumber(name):
		return classDisguised
	}
	return ""
}

// endsInNumber reports whether a name is no name, but an IPv4 address in a spelling that
// some readers understand: 127.1, 2130706433, 0x7f.0.0.1 (URL Standard, "ends in a
// number checker").
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	digits, hexadecimal := strings.CutPrefix(last, "0x")
	return hexadecimal && strings.Trim(digits, "0123456789abcdef") == ""
}
