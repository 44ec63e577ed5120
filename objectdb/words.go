package objectdb

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxWord is the length in bytes up to which words are compared.
	maxWord = 64
	// Of a field, the first bytes are searched, and of a record so many different words.
	maxFieldText   = 256 << 10
	maxRecordWords = 5000
)

// EachWord calls fn with each word of a text, and where it is, in bytes. Words are letters and digits that follow each
// other, without regard to case and to accents: "Ärger" is the word "arger". A Han, Hiragana or Katakana character is a
// word of its own. fn returns false to end.
func EachWord(text string, fn func(word string, from, end int) bool) {
	from := -1
	for i := 0; i <= len(text); {
		r, size := rune(' '), 1
		if i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		inside := unicode.IsLetter(r) || unicode.IsNumber(r) || from >= 0 && (unicode.IsMark(r) || r == '\u00ad')
		if from >= 0 && (alone || !inside) {
			if word := foldWord(text[from:i]); word != "" && !fn(word, from, i) {
				return
			}
			from = -1
		}
		switch {
		case alone:
			if !fn(foldWord(text[i:i+size]), i, i+size) {
				return
			}
		case inside && from < 0:
			from = i
		}
		i += size
	}
}

// letters that have no decomposition in Unicode.
var letters = strings.NewReplacer("ß", "ss", "ẞ", "ss", "æ", "ae", "Æ", "ae", "œ", "oe", "Œ", "oe", "ø", "o", "Ø", "o",
	"đ", "d", "Đ", "d", "ł", "l", "Ł", "l", "ı", "i")

// foldWord returns the form of a word that is compared.
func foldWord(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if !ascii {
		var b strings.Builder
		for _, r := range norm.NFKD.String(letters.Replace(s)) {
			if !unicode.IsMark(r) && r != '\u00ad' && r != 0 {
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	if s = Fold(s); len(s) > maxWord {
		s = s[:maxWord]
	}
	return s
}

// WordWeight is the N of a key in an index of words: how much the word counts in the record, and a bit for each field
// that has the word.
type WordWeight int64

const weightBits = 10

// Weight returns how much the word counts, from 0 to 1.
func (w WordWeight) Weight() float64 { return float64(w&(1<<weightBits-1)) / (1<<weightBits - 1) }

// In reports whether one of some fields has the word. Field i has the bit 1 << i.
func (w WordWeight) In(fields int64) bool { return int64(w)>>weightBits&fields != 0 }

// WordsOf returns the keys of texts, of which field i of an index of words has the text i.
func WordsOf(texts []string) []IndexKey {
	type count struct {
		n      int
		fields int64
	}
	words, all := map[string]*count{}, 0
	for i, text := range texts {
		EachWord(text[:min(len(text), maxFieldText)], func(word string, _, _ int) bool {
			all++
			c := words[word]
			if c == nil {
				if len(words) == maxRecordWords {
					return false
				}
				c = &count{}
				words[word] = c
			}
			c.n++
			c.fields |= 1 << i
			return true
		})
	}
	keys := make([]IndexKey, 0, len(words))
	for word, c := range words {
		// As BM25 has it, with 1.2 and 0.75, and as if the mean length of records were 100 words, so that no word of a record
		// has to be written again when other records change.
		n := float64(c.n)
		weight := n / (n + 1.2*(0.25+0.75*float64(all)/100))
		keys = append(keys, IndexKey{word + "\x00", c.fields<<weightBits | int64(math.Round(weight*(1<<weightBits-1)))})
	}
	slices.SortFunc(keys, func(a, b IndexKey) int { return strings.Compare(a.Key, b.Key) })
	return keys
}

// words returns the keys of a record in an index of words.
func (r *IndexRule) words(tx *Tx, n *Node) ([]IndexKey, error) {
	texts := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		v, err := tx.fieldOf(n, f.Name)
		if err != nil {
			return nil, err
		}
		texts[i] = SearchedText(v)
	}
	return WordsOf(texts), nil
}

// SearchedText returns the text of a value in which words are searched.
func SearchedText(v Value) string {
	switch v := v.(type) {
	case String, Text, Outline, Script:
		return textForm(v)
	case List:
		var b strings.Builder
		for _, item := range v {
			b.WriteString(SearchedText(item))
			b.WriteByte('\n')
		}
		return b.String()
	}
	return ""
}
