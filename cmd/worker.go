package cmd

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// worker names this process in claims, so that another run on the same machine
// can tell whether it is still alive: host:pid:boot-namespace-start.
func worker(env Env) string {
	host, err := env.Hostname()
	if err != nil {
		host = "?"
	}
	pid := os.Getpid()
	return fmt.Sprintf("%s:%d:%s", host, pid, processStart(pid))
}

// gone returns a function that reports whether the worker of a claim is certainly
// dead: a process of this machine that is no longer there. Of other machines, of
// processes that this one cannot see, and where the system does not tell when a
// process began, nothing is known, and the claim's lease decides.
func gone(env Env) func(string) bool {
	host, err := env.Hostname()
	if err != nil {
		return nil
	}
	own := strings.Split(processStart(os.Getpid()), "-")
	return func(name string) bool {
		parts := strings.Split(name, ":")
		if len(parts) != 3 || parts[0] != host {
			return false
		}
		pid, err := strconv.Atoi(parts[1])
		began := strings.Split(parts[2], "-")
		if err != nil || pid <= 0 || len(began) != 3 || len(own) != 3 {
			return false
		}
		switch {
		case began[0] != own[0]:
			return true // the machine was started anew since
		case began[1] != own[1]:
			return false // it has another container's process IDs
		case errors.Is(syscall.Kill(pid, 0), syscall.ESRCH):
			return true
		}
		now := processStart(pid)
		return now != "" && now != parts[2]
	}
}

// processStart tells the boot, this process's PID namespace and the moment in which
// a process of it began, as Linux gives them (proc_pid_stat(5), field 22;
// pid_namespaces(7)), so that neither a re-used process ID nor that of another
// container is taken for the same process. Empty elsewhere.
func processStart(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in brackets and may hold blanks.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fmt.Sprintf("%.8s-%s-%s", boot, strings.Trim(namespace, "pid:[]"), fields[19])
}
