package requestlog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpform"
	"scripter/objectdb"
)

func TestMaskBody(t *testing.T) {
	part := func(header, data string) string {
		return "--B\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + data + "\r\n"
	}
	const multipart = "multipart/form-data; boundary=B"
	for _, c := range []struct {
		name, kind, text, want string
		items                  []string
	}{
		{"plain form", "", "a=1&b=2", "a=1&b=2", nil},
		{"form", "", "a=1&Password=hushhush&b", "a=1&Password=(masked)&b", []string{"field Password"}},
		{"encoded name", "application/x-www-form-urlencoded; charset=utf-8",
			"p%61ss=hush", "p%61ss=(masked)", []string{"field pass"}},
		{"text", "text/plain", "hello", "hello", nil},
		{"json", "application/json", `{"token":"x"}`, Masked, []string{"body"}},
		{"json sent as a form", "application/x-www-form-urlencoded", ` {"user":"ada","password":"hush"}`, Masked, []string{"body"}},
		{"json without a secret", "application/x-www-form-urlencoded", `{"a":"b=c"}`, `{"a":"b=c"}`, nil},
		{"multipart", multipart,
			part("name=a", "1") + part("name=pass", "hush") + "--B--\r\n",
			part("name=a", "1") + part("name=pass", Masked) + "--B--\r\n", []string{"field pass"}},
		{"secret file", multipart,
			part("name=token; filename=x", "hu\r\nsh") + "--B--\r\n",
			part("name=token; filename=x", Masked) + "--B--\r\n", []string{"field token"}},
		{"no secret in it", multipart, part("name=a", "1") + "--B--\r\n", part("name=a", "1") + "--B--\r\n", nil},
		{"name that hides", multipart,
			part("name*=utf-8''p%61ss", "hush") + "--B--\r\n", part("name*=utf-8''p%61ss", Masked) + "--B--\r\n",
			[]string{"field pass"}},
		{"a word", "",
			"pin=1234&shipping=5678&zipcode=1&code=xyz", "pin=(masked)&shipping=5678&zipcode=1&code=(masked)",
			[]string{"field pin", "field code"}},
		{"a word in a part", multipart,
			part("name=userPin", "1234") + part("name=opinion; filename=pin.txt", "x") + "--B--\r\n",
			part("name=userPin", Masked) + part("name=opinion; filename=pin.txt", "x") + "--B--\r\n",
			[]string{"field userPin"}},
		{"a word in JSON", "application/json", `{"user_pin" : 1234}`, Masked, []string{"body"}},
		{"a word in XML", "text/xml", "<order><otp>1234</otp></order>", Masked, []string{"body"}},
		{"an attribute", "text/xml", "<order jwt='x'/>", Masked, []string{"body"}},
		{"a word in a sentence", "application/json",
			`{"text": "the code on your pin", "zip_code": 1, "opinion": "spin"}`,
			`{"text": "the code on your pin", "zip_code": 1, "opinion": "spin"}`, nil},
		{"bare line ends", multipart,
			strings.ReplaceAll(part("name=pass", "hush")+"--B--\r\n", "\r\n", "\n"), part("name=pass", Masked) + "--B--\r\n",
			[]string{"field pass"}},
		{"broken", multipart, part("name=a", "hush"), Masked, []string{"body"}},
		{"no boundary", "multipart/form-data", "--B", Masked, []string{"body"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := new(Mask)
			assert.Equal(t, c.want, m.Body(c.kind, c.text))
			assert.Equal(t, c.items, m.names)
		})
	}
}

// TestMentionsSecret checks which names of fields mean a secret.
func TestMentionsSecret(t *testing.T) {
	for _, name := range []string{
		"password", "newPasswd", "HTTP_X_API_KEY", "oauth_verifier", "sessionid", "PHPSESSID", "credentials",
		"privateKey", "access_key", "cardNumber", "iban", "bearer", "cvv2",
		"pw", "user-pw", "pw2", "PIN", "pin", "userPin", "userPIN", "user_pin", "card.pin", "PINCode",
		"pins[pin]", "otp", "otp1", "smsOTP", "OTPNumber", "jwt", "idJwt",
		"HTTP_X_HUB_SIGNATURE_256", "signature", "x-sig", "code", "auth_code", "verificationCode", "code_2",
		"sid", "csrf", "größe_pin",
	} {
		assert.True(t, IsSecretName(name), name)
	}
	for _, name := range []string{
		"", "shipping", "opinion", "spin", "pinned", "postcode", "zipcode", "zip_code", "postalCode",
		"country-code", "LanguageCode", "barcode", "bar_code", "encoder", "codec",
		"power", "pwm", "potpourri", "hotplate", "design", "signatures", "side", "aside", "presidio", "name",
		"q", "größe",
	} {
		assert.False(t, IsSecretName(name), name)
	}
}

// FuzzMaskMultipart checks that no secret value remains in a form that can be read.
func FuzzMaskMultipart(f *testing.F) {
	f.Add("name=pass", "hush", "\r\n")
	f.Add("name=\"a\"; filename=\"--B\"", "x\r\n--B", "\n")
	f.Add("name*=utf-8''p%61ss", "\r\n\r\n", "\r\n")
	f.Fuzz(func(t *testing.T, header, data, end string) {
		const kind = "multipart/form-data; boundary=B"
		text := "--B" + end + "Content-Disposition: form-data; " + header + end + end + data + end + "--B--" + end
		got := new(Mask).Body(kind, text)
		if got == Masked {
			return
		}
		before, err := httpform.ParseMultipart(text, "B", maxParts)
		require.NoError(t, err)
		after, err := httpform.ParseMultipart(got, "B", maxParts)
		require.NoError(t, err)
		require.Equal(t, len(before), len(after))
		for i, p := range after {
			require.Equal(t, before[i].Name, p.Name)
			if IsSecretName(p.Name) {
				require.Equal(t, Masked, p.Data)
			} else {
				require.Equal(t, before[i].Data, p.Data)
			}
		}
	})
}

// TestIsSecret checks which objects are masked where changes are shown.
func TestIsSecret(t *testing.T) {
	for text, want := range map[string]bool{
		"user.webserver.debugToken": true, "shop.apiKeys.bank.live": true, "user.webserver.users.site.ada": true,
		"USER.WebServer.Users.site.ada": true, "user.webserver.serverName": false, "guests.list": false,
		"user.webserver.sessions.ada": true, "user.webserver.failedLogins.ada": true, "user.webserver.lastLogins.ada": true,
		"user.webserver.roles.ada": false, "user.webserver.roles.passerby": false,
	} {
		a, err := objectdb.ParseAddress(text)
		require.NoError(t, err)
		assert.Equal(t, want, IsSecret(a, objectdb.KindString), text)
		assert.False(t, IsSecret(a, objectdb.KindScript), text)
		assert.False(t, IsSecret(a, objectdb.KindTable), text)
		assert.False(t, IsSecret(a, objectdb.KindBoolean), text)
	}
}
