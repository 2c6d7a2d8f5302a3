package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// postgres is a private database server on the bench's disk, as its makers set it
// up, so with synchronous_commit on. It is spoken to over a Unix socket, which is
// the fastest way, by pgbench.
type postgres struct {
	dir    string
	script string
	as     *syscall.SysProcAttr
}

// findServer finds one of PostgreSQL's programs. Empty: it is not there.
func findServer(name string) string {
	// Where Debian keeps them; the newest comes last.
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(paths) > 0 {
		slices.Sort(paths)
		return paths[len(paths)-1]
	}
	path, _ := exec.LookPath(name)
	return path
}

// startPostgres starts a server, or says why there is none.
func (b *bench) startPostgres(t *testing.T) (server *postgres, why string) {
	t.Helper()
	for _, name := range []string{"initdb", "postgres", "psql", "pgbench"} {
		if findServer(name) == "" {
			return nil, "there is no " + name
		}
	}
	p := &postgres{dir: filepath.Join(b.dir, "postgres"), as: &syscall.SysProcAttr{}}
	p.script = filepath.Join(p.dir, "claim.sql")
	require.NoError(t, os.Mkdir(p.dir, 0o700))
	if os.Geteuid() == 0 {
		// The server will not run as root.
		id, err := somebody()
		if err != nil {
			return nil, err.Error()
		}
		require.NoError(t, os.Chown(p.dir, int(id.Uid), int(id.Gid)))
		p.as.Credential = id
	}
	data := filepath.Join(p.dir, "data")
	out, err := p.command("initdb", "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8").CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := p.command("postgres", "-D", data, "-k", p.dir, "-c", "listen_addresses=", "-c", "synchronous_commit=on")
	// It stops when this process does, however that ends.
	run.SysProcAttr = &syscall.SysProcAttr{Credential: p.as.Credential, Pdeathsig: syscall.SIGINT}
	var log bytes.Buffer
	run.Stdout, run.Stderr = &log, &log
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		run.Process.Signal(os.Interrupt)
		run.Wait()
	})
	p.await(t)
	require.NoError(t, os.WriteFile(p.script, []byte(claimScript), 0o644))
	return p, ""
}

// somebody is who the server runs as.
func somebody() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("it does not run as root, and there is nobody else")
}

func (p *postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(findServer(name), args...)
	c.Dir, c.SysProcAttr = p.dir, p.as
	c.Env = append(os.Environ(), "PGHOST="+p.dir, "PGUSER=bench", "PGDATABASE=postgres", "LC_ALL=C")
	return c
}

// await makes the table as soon as the server lets it.
func (p *postgres) await(t *testing.T) {
	t.Helper()
	const table = "create table entries (id uuid primary key, webhook text not null, url text not null, status text not null, claimed_by text not null, claimed_at timestamptz not null)"
	var out []byte
	for range 100 {
		var err error
		if out, err = p.command("psql", "-X", "-q", "-c", table).CombinedOutput(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the server does not come up: %s", out)
}

// claimScript is a claim: an insert of a row that nobody else has inserted. It
// holds less than a claim of ours, which has the message as well.
const claimScript = `\set n random(1, 9000000000000000000)
insert into entries values (md5(:n::text)::uuid, 'wh_0123456789abcdef0123456789abcdef', 'https://example.jp/manga/' || :n::text, 'sending', 'owner-host:4242', now()) on conflict do nothing returning id;
`

var tps = regexp.MustCompile(`tps = ([0-9.]+) \(without`)

// rate makes n claims on each connection and returns how many that is per second,
// without the time it takes to connect.
func (p *postgres) rate(t *testing.T, connections, n int) float64 {
	t.Helper()
	syscall.Sync()
	out, err := p.command("pgbench", "-n", "-M", "prepared", "-f", p.script,
		"-c", strconv.Itoa(connections), "-j", strconv.Itoa(min(connections, 2)), "-t", strconv.Itoa(n)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	found := tps.FindSubmatch(out)
	require.NotNil(t, found, "%s", out)
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(t, err)
	return rate
}
