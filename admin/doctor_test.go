package admin

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDoctorPage(t *testing.T) {
	s := newSite(t)
	ada, rita := s.person("ada", "owner"), s.person("rita", "reader")
	assert.Equal(t, http.StatusForbidden, rita.get("doctor").status)
	assert.Contains(t, ada.get("doctor").text(), "The web server was not asked yet.")
	m := ada.json("doctor")
	assert.Equal(t, false, m["asked"])
	assert.NotEmpty(t, m["checks"])

	// The test's server passes everything to the web page, so no script is reached.
	a := ada.post("doctor")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "was asked")
	assert.Contains(t, a.text(), "warning")
	assert.Equal(t, http.StatusBadRequest, ada.post("doctor", "protected", "no folder").status)
}
