package cmd_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// growthData is what TestBench/growth measured last, and growthPlot shows it.
var (
	growthData = filepath.Join("..", "docs", "performance", "growth.csv")
	growthPlot = filepath.Join("..", "docs", "performance", "growth.svg")
	replot     = flag.Bool("plot", false, "draw docs/performance/growth.svg anew (TestGrowthPlot)")
)

// growthPoint is how long a work of some size takes, and how much memory.
type growthPoint struct {
	work, unit     string
	size           int
	seconds, bytes float64
}

// TestGrowthPlot holds the plot to the data, and draws it with -plot, as `make plot`
// does.
func TestGrowthPlot(t *testing.T) {
	t.Parallel()
	points := readGrowth(t)
	if *replot {
		require.NoError(t, os.WriteFile(growthPlot, drawGrowth(points), 0o644))
	}
	plot, err := os.ReadFile(growthPlot)
	require.NoError(t, err)
	require.True(t, bytes.Equal(drawGrowth(points), bytes.ReplaceAll(plot, []byte("\r"), nil)),
		"growth.svg does not show growth.csv: run `make plot`")
}

var growthHead = []string{"work", "unit", "size", "seconds", "bytes"}

func growthCSV(points []growthPoint) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(growthHead)
	for _, p := range points {
		w.Write([]string{p.work, p.unit, strconv.Itoa(p.size), strconv.FormatFloat(p.seconds, 'f', 4, 64), strconv.FormatFloat(p.bytes, 'f', 0, 64)})
	}
	w.Flush()
	return b.Bytes()
}

func readGrowth(t *testing.T) []growthPoint {
	t.Helper()
	f, err := os.Open(growthData)
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Equal(t, growthHead, lines[0])
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Positive(t, v)
		return v
	}
	var points []growthPoint
	for _, l := range lines[1:] {
		points = append(points, growthPoint{l[0], l[1], int(number(l[2])), number(l[3]), number(l[4])})
	}
	return points
}

// grouped writes a number with commas.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// panel is one diagram of the plot. Its axes are logarithmic, and their bounds are
// powers of ten.
type panel struct {
	left       float64
	title      string
	minY, maxY int
	value      func(growthPoint) float64
	label      func(power int) string
	// even: a line shows how what takes ten times as long for ten times the work grows.
	even bool
}

// Where things are in the plot, in pixels, and the bounds of the sizes.
const (
	plotWidth, plotHeight = 816, 372
	panelTop, panelHeight = 92, 220
	panelWidth            = 320
	minX, maxX            = 1, 6
)

func (p panel) x(power float64) float64 { return p.left + (power-minX)/(maxX-minX)*panelWidth }

func (p panel) y(power float64) float64 {
	return panelTop + (float64(p.maxY)-power)/float64(p.maxY-p.minY)*panelHeight
}

func (p panel) at(g growthPoint) (x, y float64) {
	return p.x(math.Log10(float64(g.size))), p.y(math.Log10(p.value(g)))
}

// growthStyle is for pages of either mode. The plot has no ground of its own.
const growthStyle = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #59636e }
.title { font-size: 14px; font-weight: 600; fill: #1f2328 }
.x { text-anchor: middle } .y { text-anchor: end }
.grid { stroke: #d1d9e0 } .even { stroke: #818b98; stroke-dasharray: 3 4 }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round } .dot { fill: var(--c) }
.c0 { --c: #0969da } .c1 { --c: #bc4c00 } .c2 { --c: #1a7f37 } .c3 { --c: #8250df }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .grid { stroke: #3d444d } .even { stroke: #656c76 }
.c0 { --c: #4493f8 } .c1 { --c: #f0883e } .c2 { --c: #3fb950 } .c3 { --c: #ab7df8 }
}
</style>
`

// drawGrowth draws the points: time on the left, memory on the right.
func drawGrowth(points []growthPoint) []byte {
	works := byWork(points)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %[1]d %[2]d\" width=\"%[1]d\" height=\"%[2]d\" role=\"img\" aria-labelledby=\"t\">\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<title id=\"t\">How time and memory grow with the size of the work</title>\n%s", growthStyle)
	for i, work := range works {
		x, y := 56+400*(i%2), 18+22*(i/2)
		fmt.Fprintf(&b, "<g class=\"c%d\"><path class=\"line\" d=\"M%d %dh20\"/><circle class=\"dot\" cx=\"%d\" cy=\"%d\" r=\"3.5\"/></g>", i, x, y, x+10, y)
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s, by %s</text>\n", x+28, y+4, work[0].work, work[0].unit)
	}
	panel{
		left: 56, title: "Time", minY: -3, maxY: 1, even: true,
		value: func(p growthPoint) float64 { return p.seconds },
		label: func(power int) string { return []string{"1 ms", "10 ms", "100 ms", "1 s", "10 s"}[power+3] },
	}.draw(&b, works)
	panel{
		left: 456, title: "Peak memory", minY: 6, maxY: 9,
		value: func(p growthPoint) float64 { return p.bytes },
		label: func(power int) string { return []string{"1 MB", "10 MB", "100 MB", "1 GB"}[power-6] },
	}.draw(&b, works)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// byWork groups the points, which are in the order of works and sizes.
func byWork(points []growthPoint) [][]growthPoint {
	var all [][]growthPoint
	for _, p := range points {
		if n := len(all); n == 0 || all[n-1][0].work != p.work {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], p)
	}
	return all
}

func (p panel) draw(b *bytes.Buffer, works [][]growthPoint) {
	fmt.Fprintf(b, "<text class=\"title\" x=\"%g\" y=\"%d\">%s</text>\n", p.left, panelTop-12, p.title)
	for power := p.minY; power <= p.maxY; power++ {
		y := p.y(float64(power))
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%g %.1fh%d\"/><text class=\"y\" x=\"%g\" y=\"%.1f\">%s</text>\n", p.left, y, panelWidth, p.left-8, y+4, p.label(power))
	}
	for power := minX; power <= maxX; power++ {
		x := p.x(float64(power))
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%.1f %dv%d\"/><text class=\"x\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, panelTop, panelHeight, x, panelTop+panelHeight+18, grouped(int(math.Pow10(power))))
	}
	fmt.Fprintf(b, "<text class=\"x\" x=\"%g\" y=\"%d\">records, due entries, sources</text>\n", p.left+panelWidth/2, panelTop+panelHeight+42)
	if p.even {
		x, y := p.x(float64(minX+p.maxY-p.minY)), p.y(float64(p.maxY))
		fmt.Fprintf(b, "<path class=\"even\" d=\"M%g %.1fL%.1f %.1f\"/><text class=\"y\" x=\"%.1f\" y=\"%.1f\">in proportion</text>\n",
			p.left, p.y(float64(p.minY)), x, y, x-20, y+14)
	}
	for i, work := range works {
		fmt.Fprintf(b, "<g class=\"c%d\"><path class=\"line\" d=\"", i)
		for j, point := range work {
			x, y := p.at(point)
			fmt.Fprintf(b, "%c%.1f %.1f", "ML"[min(j, 1)], x, y)
		}
		b.WriteString("\"/>")
		for _, point := range work {
			x, y := p.at(point)
			fmt.Fprintf(b, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>%s, %s %s: %s</title></circle>",
				x, y, point.work, grouped(point.size), point.unit, strconv.FormatFloat(p.value(point), 'g', 3, 64))
		}
		b.WriteString("</g>\n")
	}
}
