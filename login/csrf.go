package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// CSRF returns the token that the forms of a session have in a hidden field, so that a page of
// another site cannot send them. It is derived from the session's token and reveals nothing of it:
// the root holds nothing from which it could be made.
func (s Session) CSRF() string {
	if s.token == nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(formKey(s.token))
}

// formKey returns the key of the form tokens of a session. Nobody can tell the session's token from it.
func formKey(token []byte) []byte {
	h := hmac.New(sha256.New, token)
	h.Write([]byte("form"))
	return h.Sum(nil)
}

// CheckCSRF reports whether a form has the token of the session.
func (s Session) CheckCSRF(token string) bool {
	return s.token != nil && hmac.Equal([]byte(s.CSRF()), []byte(token))
}

// CheckOrigin returns an error for a request that changes something and that, as its browser says
// in Sec-Fetch-Site or Origin, comes from a page of another site. It is for all requests, those
// without a session too: nobody else shall log a browser in.
func CheckOrigin(r *http.Request) error { return http.NewCrossOriginProtection().Check(r) }
