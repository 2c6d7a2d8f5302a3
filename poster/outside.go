package poster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What stands in a feed, on a page or in a redirect was written by other people, and
// may name an address that only this machine can reach. A client of Outside does not
// go there. It looks at the address that is connected to, after names were resolved,
// so that a name cannot change its meaning in between.

// Outside returns a copy of a client (nil: Go's default) that goes to addresses which
// other people wrote only if everybody can reach them. It fails with an
// *AddressError, before anything is sent, where one leads to this machine, its own
// network or a cloud's metadata service, by redirects too. Hosts that Trust names are
// the operator's own business, and so is a proxy: behind one, and with a transport
// that has its own way to connect, only addresses written as numbers are seen.
func Outside(base *http.Client) *http.Client {
	c := http.Client{}
	if base != nil {
		c = *base
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	o := &outside{base: c.Transport}
	if t, ok := c.Transport.(*http.Transport); ok {
		o.proxy = t.Proxy
		if c.Transport == http.DefaultTransport || t.DialContext == nil && t.DialTLSContext == nil && t.Dial == nil && t.DialTLS == nil { //nolint:staticcheck // Whoever still sets the old fields is heard.
			o.guarded = guardedTransport(t)
		}
	}
	c.Transport = o
	return &c
}

// Trust returns a context for requests on behalf of a source. The hosts are those
// that the config names for it: a client of Outside goes there whatever they are, and
// to other addresses of the same class as theirs.
func Trust(ctx context.Context, hosts ...string) context.Context {
	return context.WithValue(ctx, trustKey{}, trusted(hosts))
}

// AddressError tells of an address that is not to be gone to.
type AddressError struct {
	// Host is the host as it was written.
	Host string
	// Addr is where it leads.
	Addr string
	// Class says what kind of address that is.
	Class string
}

func (e *AddressError) Error() string {
	leads := ""
	if e.Addr != e.Host {
		leads = " leads to " + e.Addr + ", which"
	}
	return fmt.Sprintf("%s%s is a %s address, and what other people write must not lead there; if it is meant, name %s in the source's hosts",
		e.Host, leads, e.Class, e.Host)
}

// outside is the transport of a client of Outside.
type outside struct {
	base http.RoundTripper
	// guarded looks at where it connects to. Nil: that is not to be seen.
	guarded http.RoundTripper
	// proxy is the base transport's. Nil: there is none.
	proxy func(*http.Request) (*url.URL, error)
}

// RoundTrip implements http.RoundTripper.
func (o *outside) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, host := req.Context(), req.URL.Hostname()
	trust := trustOf(ctx)
	if trust.names(host) {
		return o.base.RoundTrip(req)
	}
	direct := o.guarded != nil
	if direct && o.proxy != nil {
		if through, err := o.proxy(req); err != nil || through != nil {
			direct = false
		}
	}
	if direct {
		return o.guarded.RoundTrip(req.WithContext(context.WithValue(ctx, hostKey{}, host)))
	}
	if class := writtenClass(host); class != "" && !trust.has(class) {
		return nil, &AddressError{Host: host, Addr: host, Class: class}
	}
	return o.base.RoundTrip(req)
}

// guardedTransport returns a copy of a transport that looks at every address it
// connects to. It keeps no connection: one that was allowed for one source must not
// serve another.
func guardedTransport(t *http.Transport) *http.Transport {
	t = t.Clone()
	t.DisableKeepAlives = true
	dialer := &net.Dialer{Timeout: 30 * time.Second, ControlContext: checkDialled}
	t.DialContext = dialer.DialContext
	return t
}

// checkDialled is called with each address that is about to be connected to.
func checkDialled(ctx context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	class := addressClass(to.Addr())
	if class == "" {
		return nil
	}
	if trust := trustOf(ctx); trust.has(class) || trust.resolvesTo(ctx, class) {
		return nil
	}
	host, _ := ctx.Value(hostKey{}).(string)
	return &AddressError{Host: host, Addr: to.Addr().Unmap().String(), Class: class}
}

type (
	trustKey struct{}
	hostKey  struct{}
)

// trusted are hosts that the operator named.
type trusted []string

func trustOf(ctx context.Context) trusted {
	hosts, _ := ctx.Value(trustKey{}).(trusted)
	return hosts
}

func (t trusted) names(host string) bool {
	return slices.ContainsFunc(t, func(own string) bool { return strings.EqualFold(own, host) })
}

// has reports whether one of the hosts is written as an address of this class.
func (t trusted) has(class string) bool {
	return class != classMetadata && slices.ContainsFunc(t, func(own string) bool { return writtenClass(own) == class })
}

// resolvesTo reports whether one of the hosts has an address of this class.
func (t trusted) resolvesTo(ctx context.Context, class string) bool {
	if class == classMetadata {
		return false
	}
	for _, host := range t {
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err == nil && slices.ContainsFunc(all, func(a netip.Addr) bool { return addressClass(a) == class }) {
			return true
		}
	}
	return false
}
