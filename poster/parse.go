package poster

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"
	"unicode/utf8"
)

// syntax is what a template's output is written in. A state is a place in it, such
// as inside of a string; the zero state is where it begins and has to end.
type syntax interface {
	// after returns the state behind literal text.
	after(state int, text string) (int, error)
	// fill names the function that writes a value of this kind into a hole.
	fill(state int, k kind) (string, error)
}

// parser checks a template and fills its holes. text/template finds a wrong field
// only when it meets one, so every branch is looked at here.
type parser struct {
	fields    map[string]kind
	functions map[string]function
	syntax    syntax
	tree      *parse.Tree
	vars      []variable
	// repeating is the state at the beginning of the range that is being read, or
	// -1 outside of one.
	repeating int
}

type variable struct {
	name string
	kind kind
}

// parseTemplate reads a template whose holes can name these fields.
func parseTemplate(text string, fields map[string]kind, all map[string]function, s syntax, fills template.FuncMap) (*template.Template, error) {
	if !utf8.ValidString(text) || strings.ContainsAny(text, valueMark+wholeMark+linkMark+endMark) {
		return nil, errors.New("it holds what are no characters")
	}
	names := map[string]any{}
	for name := range all {
		names[name] = true
	}
	trees, err := parse.Parse("text", text, "", "", names)
	if err != nil {
		return nil, located(err)
	}
	tree := trees["text"]
	if len(trees) > 1 {
		return nil, errors.New("templates within the template are not possible")
	}
	if tree == nil || tree.Root == nil {
		return nil, errors.New("it is empty")
	}
	p := &parser{fields: fields, functions: all, syntax: s, tree: tree, repeating: -1,
		vars: []variable{{"$", kindData}}}
	state, err := p.list(tree.Root, kindData, 0)
	if err != nil {
		return nil, err
	}
	if state != 0 {
		return nil, errors.New("it ends inside of a string")
	}
	return template.New("text").Option("missingkey=error").Funcs(calls(all)).Funcs(fills).AddParseTree("text", tree)
}

var parsePosition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^template: text:(\d+): `) })

// located turns an error of text/template/parse into one line.
func located(err error) error {
	return errors.New(parsePosition().ReplaceAllString(err.Error(), "line $1: "))
}

// errorf returns an error about a node.
func (p *parser) errorf(n parse.Node, format string, args ...any) error {
	where, _ := p.tree.ErrorContext(n)
	at := strings.Split(where, ":") // text:LINE:COLUMN, the column counted from 0
	return fmt.Errorf("line %s: %s", at[1], fmt.Sprintf(format, args...))
}

// list reads nodes, and returns the state behind them.
func (p *parser) list(l *parse.ListNode, dot kind, state int) (int, error) {
	if l == nil {
		return state, nil
	}
	for _, n := range l.Nodes {
		var err error
		if state, err = p.node(n, dot, state); err != nil {
			return 0, err
		}
	}
	return state, nil
}

func (p *parser) node(n parse.Node, dot kind, state int) (int, error) {
	switch n := n.(type) {
	case *parse.TextNode:
		next, err := p.syntax.after(state, string(n.Text))
		if err != nil {
			return 0, p.errorf(n, "%v", err)
		}
		return next, nil
	case *parse.ActionNode:
		return state, p.action(n, dot, state)
	case *parse.IfNode:
		return p.branch(&n.BranchNode, dot, state)
	case *parse.WithNode:
		return p.branch(&n.BranchNode, dot, state)
	case *parse.RangeNode:
		return p.repeat(n, dot, state)
	case *parse.BreakNode, *parse.ContinueNode:
		if state != p.repeating {
			return 0, p.errorf(n, "%s leaves a string open", n)
		}
		return state, nil
	case *parse.CommentNode:
		return state, nil
	default:
		return 0, p.errorf(n, "%s is not possible here", n)
	}
}

// action reads {{…}}, and lets the syntax write what it gives.
func (p *parser) action(n *parse.ActionNode, dot kind, state int) error {
	k, err := p.pipe(n.Pipe, dot)
	if err != nil || len(n.Pipe.Decl) > 0 {
		return err
	}
	if k == kindData {
		return p.errorf(n, "{{.}} is all of the fields here; name one, such as {{.Title}}")
	}
	name, err := p.syntax.fill(state, k)
	if err != nil {
		return p.errorf(n, "%v", err)
	}
	n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{
		NodeType: parse.NodeCommand,
		Pos:      n.Pos,
		Args:     []parse.Node{parse.NewIdentifier(name).SetTree(p.tree).SetPos(n.Pos)},
	})
	return nil
}

// branch reads if and with. Both of its ways have to end in the same state.
func (p *parser) branch(n *parse.BranchNode, dot kind, state int) (int, error) {
	defer p.leave(len(p.vars))
	k, err := p.pipe(n.Pipe, dot)
	if err != nil {
		return 0, err
	}
	inner := dot
	if n.NodeType == parse.NodeWith {
		inner = k
	}
	return p.ways(n, inner, dot, state)
}

// repeat reads range, which goes over a list and is not set into another one, so
// that the work is bounded by the article.
func (p *parser) repeat(n *parse.RangeNode, dot kind, state int) (int, error) {
	defer p.leave(len(p.vars))
	if p.repeating >= 0 {
		return 0, p.errorf(n, "a range within a range is not possible")
	}
	if n.Pipe.IsAssign {
		return 0, p.errorf(n, "range takes new variables: write := for =")
	}
	k, err := p.pipe(n.Pipe, dot)
	if err != nil {
		return 0, err
	}
	if k != kindList {
		return 0, p.errorf(n, "range goes over .Categories only")
	}
	switch vars := p.vars[len(p.vars)-len(n.Pipe.Decl):]; len(vars) {
	case 1:
		vars[0].kind = kindText
	case 2:
		vars[0].kind, vars[1].kind = kindNumber, kindText
	}
	p.repeating = state
	defer func() { p.repeating = -1 }()
	end, err := p.ways(&n.BranchNode, kindText, dot, state)
	if err == nil && end != state {
		err = p.errorf(n, "the range leaves a string open")
	}
	return end, err
}

// ways reads both ways of a branch.
func (p *parser) ways(n *parse.BranchNode, inner, outer kind, state int) (int, error) {
	within := len(p.vars)
	one, err := p.list(n.List, inner, state)
	if err != nil {
		return 0, err
	}
	p.leave(within)
	other, err := p.list(n.ElseList, outer, state)
	if err != nil {
		return 0, err
	}
	if one != other {
		return 0, p.errorf(n, "one way through %s leaves a string open and another does not", strings.SplitAfter(n.String(), "}}")[0])
	}
	return one, nil
}

// leave forgets the variables of an inner part.
func (p *parser) leave(n int) { p.vars = p.vars[:n] }

// pipe reads a pipeline, and returns the kind of what it gives.
func (p *parser) pipe(n *parse.PipeNode, dot kind) (kind, error) {
	given := []kind(nil)
	for _, c := range n.Cmds {
		k, err := p.command(c, dot, given)
		if err != nil {
			return 0, err
		}
		given = []kind{k}
	}
	for _, v := range n.Decl {
		if n.IsAssign && p.variable(v) != given[0] {
			return 0, p.errorf(n, "%s holds something else", v)
		}
		if n.IsAssign {
			continue
		}
		p.vars = append(p.vars, variable{v.Ident[0], given[0]})
	}
	return given[0], nil
}

// variable returns the kind of the innermost variable of that name. The parser of
// text/template has seen to it that there is one.
func (p *parser) variable(n *parse.VariableNode) kind {
	for _, v := range slices.Backward(p.vars) {
		if v.name == n.Ident[0] {
			return v.kind
		}
	}
	return kindAny
}

// command reads a value, or a call with its arguments and the value piped to it.
func (p *parser) command(n *parse.CommandNode, dot kind, piped []kind) (kind, error) {
	name, ok := n.Args[0].(*parse.IdentifierNode)
	if !ok {
		if len(n.Args) > 1 || len(piped) > 0 {
			return 0, p.errorf(n, "%s is not a function", n.Args[0])
		}
		return p.operand(n.Args[0], dot)
	}
	var args []kind
	for _, a := range n.Args[1:] {
		k, err := p.operand(a, dot)
		if err != nil {
			return 0, err
		}
		args = append(args, k)
	}
	return p.call(name, append(args, piped...))
}

// call checks a function's arguments, and returns the kind of its result.
func (p *parser) call(name *parse.IdentifierNode, args []kind) (kind, error) {
	f := p.functions[name.Ident]
	if len(args) < len(f.args) || len(args) > len(f.args) && !f.more {
		return 0, p.errorf(name, "%s takes %d arguments, not %d", name, len(f.args), len(args))
	}
	result := f.result
	for i, k := range args {
		want := f.args[min(i, len(f.args)-1)]
		switch {
		case k == kindData:
			return 0, p.errorf(name, "%s takes a field, not all of them", name)
		case want == kindText && (k == kindLink || k == kindAddress):
			return 0, p.errorf(name, "%s would change an address", name)
		case want != kindAny && k != kindAny && k != want:
			return 0, p.errorf(name, "argument %d of %s is of the wrong kind", i+1, name)
		case f.result == kindAny && i == 0:
			result = k
		case f.result == kindAny && k != result:
			result = kindAny
		}
	}
	return result, nil
}

// operand reads one value.
func (p *parser) operand(n parse.Node, dot kind) (kind, error) {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.StringNode:
		return kindText, nil
	case *parse.NumberNode:
		return kindNumber, nil
	case *parse.BoolNode:
		return kindTruth, nil
	case *parse.PipeNode:
		return p.pipe(n, dot)
	case *parse.FieldNode:
		return p.field(n, dot, n.Ident)
	case *parse.VariableNode:
		return p.field(n, p.variable(n), n.Ident[1:])
	case *parse.ChainNode:
		k, err := p.operand(n.Node, dot)
		if err != nil {
			return 0, err
		}
		return p.field(n, k, n.Field)
	case *parse.IdentifierNode:
		return p.call(n, nil)
	default:
		return 0, p.errorf(n, "%s is not possible here", n)
	}
}

// field looks names up, one within the other.
func (p *parser) field(n parse.Node, k kind, names []string) (kind, error) {
	for _, name := range names {
		if k != kindData {
			return 0, p.errorf(n, "%s: there are no fields in here; write $.%s for the article's own", n, name)
		}
		field, ok := p.fields[name]
		if !ok {
			return 0, p.errorf(n, "unknown field .%s; %s", name, p.known(name))
		}
		k = field
	}
	return k, nil
}

// known says which fields there are, or which one was likely meant.
func (p *parser) known(name string) string {
	names := slices.Sorted(maps.Keys(p.fields))
	for _, other := range names {
		if strings.EqualFold(name, other) || distance(name, other) <= len(other)/5+1 && len(other) > 3 {
			return "did you mean ." + other + "?"
		}
	}
	return "the fields are ." + strings.Join(names, " .")
}

// distance counts the letters to change, add or take away to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := above
			if a[i] != b[j] {
				change++
			}
			above = row[j+1]
			row[j+1] = min(change, row[j]+1, above+1)
		}
	}
	return row[len(b)]
}
