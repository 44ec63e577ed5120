package requestlog

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/site"
)

// IsSecretVariable reports whether a variable of the request contains credentials or
// cookies, or is a secret of the program's environment.
func IsSecretVariable(name string) bool {
	switch strings.TrimPrefix(name, "REDIRECT_") {
	case "AUTH_TYPE", "SERVER_SIGNATURE":
		return false
	}
	return strings.Contains(name, "COOKIE") || IsSecretName(name)
}

// secretLetters mark a name as secret anywhere in it. secretWords mark it only as a
// word of the name: "pin" in user_pin and userPin, but not in shipping. After a word
// of plainCodes, "code" does not mean a secret.
var (
	secretLetters = strings.Fields(`pass pwd secret token auth credit cvv session sessid credential
		apikey api_key api-key accesskey access_key access-key privatekey private_key private-key
		cardnumber card_number card-number`)
	secretWords = newWords("pw pin otp totp jwt bearer sig signature code cvc iban sid csrf xsrf")
	plainCodes  = newWords(`zip post postal area country region state city lang language currency color colour
		status error product item article bar source`)
)

func newWords(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// IsSecret reports whether the object at an address must be masked where changes are shown: a name in the address
// means a secret, the object says who may log in, or Debugging has recorded it. Scripts, which are code, flags and
// roles hold none.
func IsSecret(a objectdb.Address, k objectdb.Kind) bool {
	if k == objectdb.KindTable || k == objectdb.KindScript || k == objectdb.KindBoolean {
		return false
	}
	if len(a) == len(site.Roles)+1 && site.Roles.Equal(a.Parent()) {
		return false
	}
	return slices.ContainsFunc(a, IsSecretName) || site.IsSecret(a)
}

// IsSecretName reports whether the name of a field, a variable or an object means a secret.
func IsSecretName(name string) bool { return hasSecretLetters(name) || hasSecretWord(name) }

func hasSecretLetters(text string) bool {
	text = strings.ToLower(text)
	for _, w := range secretLetters {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// hasSecretWord reports whether a word of a name means a secret. Words end at every
// sign, between letters and digits, and before a capital letter.
func hasSecretWord(name string) bool {
	before := ""
	for word := range nameWords(name) {
		if secretWords[word] && !(word == "code" && plainCodes[before]) {
			return true
		}
		before = word
	}
	return false
}

// nameWords returns the words of a name in lower case: api, key, v and 2 for
// apiKey-v2, user and pin for userPIN.
func nameWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		const sign, digit, upper, lower = 0, 1, 2, 3
		class := func(i int) int {
			switch c := name[i]; {
			case c >= '0' && c <= '9':
				return digit
			case c >= 'A' && c <= 'Z':
				return upper
			case c >= 'a' && c <= 'z', c >= utf8.RuneSelf:
				return lower
			}
			return sign
		}
		start := 0
		for i := range len(name) + 1 {
			if i < len(name) && i > 0 {
				this, last := class(i), class(i-1)
				goesOn := this == last || last == upper && this == lower
				if this == upper && last == upper && i+1 < len(name) && class(i+1) == lower {
					goesOn = false // the capital of the next word: PIN, Code
				}
				if goesOn {
					continue
				}
			}
			if i > start && class(start) != sign && !yield(strings.ToLower(name[start:i])) {
				return
			}
			start = i
		}
	}
}

// textMentionsSecret reports whether text that is not a form contains the name of a
// secret. A secret word counts only if it is the name of a value: "pin": 1 in JSON,
// pin="1" and <pin>1 in XML.
func textMentionsSecret(text string) bool {
	if hasSecretLetters(text) {
		return true
	}
	for start, i := -1, 0; i <= len(text); i++ {
		if i < len(text) && isNameLetter(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			after := strings.TrimLeft(text[i:], "\"' \t\r\n")
			if after != "" && strings.IndexByte(":=>", after[0]) >= 0 && hasSecretWord(text[start:i]) {
				return true
			}
		}
		start = -1
	}
	return false
}

func isNameLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '-' || c == '.' || c >= utf8.RuneSelf
}
