package firestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	// ErrUndecided: whether a write was made could not be found out in the time
	// there was for it. It may still be made.
	ErrUndecided = errors.New("not known whether Firestore took the write")
	// errOtherKey: a document holds another announcement than its name says.
	errOtherKey = errors.New("the document holds another key")
)

// Error is why Firestore could not be used, with what to do.
type Error struct {
	// Mend says what to do. Empty: nobody knows.
	Mend string
	// Err is what went wrong.
	Err error
}

// Error says on one line what is wrong and what to do.
func (e *Error) Error() string {
	text := strings.Join(strings.Fields(e.Err.Error()), " ")
	if e.Mend == "" {
		return "firestore: " + text
	}
	return "firestore: " + text + "; " + e.Mend
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		status.Code(err) == codes.DeadlineExceeded || status.Code(err) == codes.Canceled
}

func endOfStream(err error) bool { return errors.Is(err, io.EOF) }

// explain makes of an error of the client one that says what to do.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	cause := err
	if timedOut(err) {
		if last := s.cause.get(); last != nil {
			cause = last
		}
	}
	if mend := s.mend(cause); mend != "" {
		return &Error{Mend: mend, Err: errors.New(message(cause))}
	}
	if timedOut(err) {
		return &Error{Mend: "Firestore did not answer in time: look at the network, and try again", Err: err}
	}
	return &Error{Err: cause}
}

func message(err error) string {
	if st, ok := status.FromError(err); ok && st.Message() != "" {
		return st.Message()
	}
	return err.Error()
}

// mend says what to do about an error that is not the caller's.
func (s *Store) mend(err error) string {
	text := strings.ToLower(err.Error())
	project, database := s.o.Project, s.o.Database
	switch {
	case strings.Contains(text, "could not find default credentials"):
		return "give this machine credentials: run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a service account's key file"
	case strings.HasPrefix(text, "credentials:"), strings.HasPrefix(text, "open "), status.Code(err) == codes.Unauthenticated:
		return "look at the credentials that GOOGLE_APPLICATION_CREDENTIALS names: they cannot be read, or are not taken any more"
	}
	switch status.Code(err) {
	case codes.PermissionDenied:
		if strings.Contains(text, "has not been used") || strings.Contains(text, "disabled") {
			return fmt.Sprintf("enable it with `gcloud services enable firestore.googleapis.com --project %s`", project)
		}
		return fmt.Sprintf("look whether project %s is the right one, and grant this account the role roles/datastore.user in it", project)
	case codes.NotFound:
		if strings.Contains(text, "project") && !strings.Contains(text, "database") {
			return fmt.Sprintf("there is no project %s: set state.project to the right one", project)
		}
		return fmt.Sprintf("create the database: `gcloud firestore databases create --project %s --database '%s' --location LOCATION`", project, database)
	case codes.Unavailable:
		return "Firestore cannot be reached: look at the network, and try again"
	case codes.ResourceExhausted:
		return "a quota is used up: see docs/firestore.md for what an announcement costs, and wait or raise it"
	case codes.FailedPrecondition:
		if strings.Contains(text, "datastore mode") {
			return fmt.Sprintf("database %s is in Datastore mode: create one in native mode and name it in state.database", database)
		}
	}
	return ""
}

// definite reports whether an error says for certain that the write was refused and
// would be again.
func definite(err error) bool {
	switch status.Code(err) {
	case codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return true
	}
	return false
}
