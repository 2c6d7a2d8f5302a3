package firestore

import (
	"fmt"

	"cloud.google.com/go/firestore/apiv1/firestorepb"
)

// countOf reads the result of a count.
func countOf(value any) (int64, error) {
	if v, ok := value.(*firestorepb.Value); ok {
		return v.GetIntegerValue(), nil
	}
	return 0, fmt.Errorf("a count came as %T", value)
}
