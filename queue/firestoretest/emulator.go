// Package firestoretest runs the Firestore emulator for tests.
package firestoretest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// jarPath is where the emulator is, below the root of the Google Cloud SDK.
	jarPath = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"
	// mainClass is the emulator's: the jar does not name it.
	mainClass = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
	// startLimit is how long an emulator may take to answer.
	startLimit = 60 * time.Second
)

// watched runs its arguments as a child, and kills that as soon as whoever holds the
// other end of file 3 is gone, however it ended.
const watched = `"$@" & p=$!; (cat >/dev/null; kill -9 $p) <&3 & wait $p`

var shared = sync.OnceValues(func() (*Emulator, error) { return start(context.Background()) })

// Emulator is a running emulator.
type Emulator struct {
	// Host is its address, as FIRESTORE_EMULATOR_HOST has it.
	Host string
	cmd  *exec.Cmd
	hold *os.File
}

// Host returns the address of the emulator that all tests of this program share:
// the one that FIRESTORE_EMULATOR_HOST names, or one that is started now and ends
// with this program. Without Java or emulator the test is skipped, or fails where CI
// is set.
func Host(t testing.TB) string {
	t.Helper()
	if host := os.Getenv("FIRESTORE_EMULATOR_HOST"); host != "" {
		return host
	}
	e, err := shared()
	lacking(t, err)
	return e.Host
}

// Start starts an emulator for one test alone, which ends with it.
func Start(t testing.TB) *Emulator {
	t.Helper()
	e, err := start(t.Context())
	lacking(t, err)
	t.Cleanup(e.Kill)
	return e
}

// Project returns the name of a project that no other test has.
func Project() string { return "demo-" + strings.ToLower(rand.Text()[:20]) }

var errNone = errors.New("no Firestore emulator")

func lacking(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, errNone) && os.Getenv("CI") == "":
		t.Skipf("skipped: %v", err)
	default:
		t.Fatal(err)
	}
}

func start(ctx context.Context) (*Emulator, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("%w: Java is not installed", errNone)
	}
	jar, err := findJar()
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		e, err := run(ctx, java, jar, port)
		if err == nil || try == 3 {
			return e, err
		}
	}
}

// Restart starts the emulator again at the same address, empty.
func (e *Emulator) Restart(t testing.TB) {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatal(err)
	}
	jar, err := findJar()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(e.Host, ":")
	again, err := run(t.Context(), java, jar, port)
	if err != nil {
		t.Fatal(err)
	}
	*e = *again
}

// Kill ends the emulator at once, and all it holds.
func (e *Emulator) Kill() {
	e.hold.Close()
	e.cmd.Wait() //nolint:errcheck // it was killed
}

func run(ctx context.Context, java, jar, port string) (*Emulator, error) {
	watch, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	cmd := exec.Command("sh", "-c", watched, "sh", java, //nolint:noctx // it ends with the pipe
		"-Duser.language=en", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", jar, mainClass, "start", "--host=127.0.0.1", "--port="+port)
	cmd.ExtraFiles = []*os.File{watch}
	if err := cmd.Start(); err != nil {
		hold.Close()
		return nil, err
	}
	e := &Emulator{Host: "127.0.0.1:" + port, cmd: cmd, hold: hold}
	if err := e.ready(ctx); err != nil {
		e.Kill()
		return nil, err
	}
	return e, nil
}

// ready waits until the emulator answers.
func (e *Emulator) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.Host+"/", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the emulator did not answer at %s: %w", e.Host, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func freePort(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// findJar looks for the emulator where FIRESTORE_EMULATOR_JAR says, in the Google
// Cloud SDK, and where Firebase's tools keep theirs.
func findJar() (string, error) {
	if jar := os.Getenv("FIRESTORE_EMULATOR_JAR"); jar != "" {
		return jar, nil
	}
	roots := []string{"/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk", "/usr/local/google-cloud-sdk"}
	if gcloud, err := exec.LookPath("gcloud"); err == nil {
		if real, err := filepath.EvalSymlinks(gcloud); err == nil {
			roots = append([]string{filepath.Dir(filepath.Dir(real))}, roots...)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, "google-cloud-sdk"))
		if found, err := filepath.Glob(filepath.Join(home, ".cache/firebase/emulators/cloud-firestore-emulator-v*.jar")); err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	for _, root := range roots {
		jar := filepath.Join(root, filepath.FromSlash(jarPath))
		if _, err := os.Stat(jar); err == nil {
			return jar, nil
		}
	}
	return "", fmt.Errorf("%w: install google-cloud-cli-firestore-emulator, or name its jar in FIRESTORE_EMULATOR_JAR", errNone)
}
