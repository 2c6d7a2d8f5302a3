package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

// spread returns a command line with each value that follows a list flag's first one
// given to that flag: --url A B becomes --url A --url=B. Commands that take arguments
// of their own, which could be meant, are left as they are.
func spread(root *cobra.Command, args []string) []string {
	c, _, err := root.Find(args)
	if err != nil || c.Args == nil || c.Args(c, []string{"an argument"}) == nil {
		return args
	}
	out := make([]string, 0, len(args))
	list, value := "", false
	for i, arg := range args {
		switch {
		case value:
			value = false
		case arg == "--":
			return append(out, args[i:]...)
		case strings.HasPrefix(arg, "-") && arg != "-":
			list, value = listFlag(c, arg)
		case list != "":
			arg = "--" + list + "=" + arg
		}
		out = append(out, arg)
	}
	return out
}

// listFlag returns the name of the flag that an argument gives, if that takes a list,
// and whether its value is the next argument.
func listFlag(c *cobra.Command, arg string) (list string, value bool) {
	name, given := strings.CutPrefix(arg, "--")
	name, _, inside := strings.Cut(name, "=")
	flag := c.Flag(name)
	if !given {
		// Letters in one, of which the last that takes a value has the rest for it.
		for i := 1; i < len(arg) && (flag == nil || flag.NoOptDefVal != ""); i++ {
			inside = i+1 < len(arg)
			if flag = c.Flags().ShorthandLookup(arg[i : i+1]); flag == nil {
				flag = c.InheritedFlags().ShorthandLookup(arg[i : i+1])
			}
		}
	}
	if flag == nil {
		return "", false
	}
	if _, ok := flag.Value.(interface{ GetSlice() []string }); ok {
		list = flag.Name
	}
	return list, !inside && flag.NoOptDefVal == ""
}

// onlyFlags refuses arguments that belong to no flag.
func onlyFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q belongs to no flag", args[0])
	}
	return nil
}
