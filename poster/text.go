package poster

// Unit is what a platform counts in a text.
type Unit int

// The units platforms count in.
const (
	// CodePoints are Unicode code points.
	CodePoints Unit = iota
	// Graphemes are what a reader sees as one character (UAX #29).
	Graphemes
	// UTF16 are UTF-16 code units.
	UTF16
	// Bytes are UTF-8 bytes.
	Bytes
)

// Limit says how long a text may be.
type Limit struct {
	// Max is the greatest length, in Unit. Zero: no limit.
	Max int
	// Unit is what is counted.
	Unit Unit
	// URL is what an http(s) address counts as, whatever its length. Zero: as it is
	// written.
	URL int
}
