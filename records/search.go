package records

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"scripter/objectdb"
)

// Search says which words are searched for in the records of a table.
type Search struct {
	Words  string   // see parseWords
	Fields []string // in which they are searched; none: in those that are declared, or in all texts
	Limit  int      // the most hits; 0 is DefaultHits
}

// The limits of a search.
const (
	DefaultHits = 20
	MaxHits     = 1000
	// MaxRanked is the number of records that are ranked: of more, those with the last keys.
	MaxRanked = 1000
	maxTerms  = 20
)

// Hit is a record that a search has found.
type Hit struct {
	Record  *objectdb.Node
	Score   float64 // the better, the greater
	Snippet string  // a part of the text as HTML, in which the found words are in elements mark
}

// term is a word that is searched for.
type term struct {
	word   string
	prefix bool // all words that begin with it
	not    bool // no record that has it is found
}

// words is what a search searches for.
type words struct {
	terms   []term
	phrases [][]string // words that follow each other; they are terms, too
}

// parseWords reads what a person has typed: words, all of which a record must have; "words in quotes", which follow each
// other; the beginning of a word with * after it; -word, which a record must not have. Everything else separates words. No
// text is wrong, because it comes from visitors: of more than maxTerms words, the first count.
func parseWords(s string) (w words) {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if unicode.IsSpace(r) {
			s = s[size:]
			continue
		}
		not := false
		if r == '-' {
			not, s = true, s[1:]
		}
		part, quoted := "", strings.HasPrefix(s, `"`)
		if quoted {
			part, s, _ = strings.Cut(s[1:], `"`)
		} else {
			end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(s)
			}
			part, s = s[:end], s[end:]
		}
		var found []string
		objectdb.EachWord(part, func(word string, _, _ int) bool { found = append(found, word); return true })
		for i, word := range found {
			t := term{word, i == len(found)-1 && !quoted && strings.HasSuffix(part, "*"), not}
			if !slices.Contains(w.terms, t) && len(w.terms) < maxTerms {
				w.terms = append(w.terms, t)
			}
		}
		if quoted && !not && len(found) > 1 {
			w.phrases = append(w.phrases, found)
		}
	}
	return w
}

// has reports whether a word is one that is wanted.
func (w *words) has(word string) bool {
	return slices.ContainsFunc(w.terms, func(t term) bool {
		return !t.not && (word == t.word || t.prefix && strings.HasPrefix(word, t.word))
	})
}

// Search finds the records that have all words, the best first, and those with later keys first among equals. total
// is the number of records that have them, up to MaxRanked.
func (t Table) Search(s Search) (hits []Hit, total int, err error) {
	if s.Limit == 0 {
		s.Limit = DefaultHits
	}
	if s.Limit < 0 || s.Limit > MaxHits {
		return nil, 0, fmt.Errorf("the limit is 1 to %d", MaxHits)
	}
	for _, f := range s.Fields {
		if err := objectdb.CheckName(f); err != nil {
			return nil, 0, err
		}
	}
	w := parseWords(s.Words)
	if !slices.ContainsFunc(w.terms, func(t term) bool { return !t.not }) {
		return nil, 0, nil
	}
	f := &searcher{Table: t, words: w, fields: s.Fields}
	if err := f.run(); err != nil {
		return nil, 0, err
	}
	slices.SortFunc(f.hits, func(a, b ranked) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return strings.Compare(b.fold, a.fold)
	})
	for _, m := range f.hits[:min(len(f.hits), s.Limit)] {
		n, err := t.Tx.Child(t.Node, m.fold)
		if err != nil {
			return nil, 0, err
		}
		texts, err := f.texts(n)
		if err != nil {
			return nil, 0, err
		}
		hits = append(hits, Hit{n, m.score, w.snippet(texts)})
	}
	return hits, len(f.hits), nil
}

// searcher is one search.
type searcher struct {
	Table
	words
	fields []string // in which it searches; nil: in all texts
	hits   []ranked
}

// ranked is a record that was found, by its folded key.
type ranked struct {
	fold  string
	score float64
}

func (f *searcher) charge(n int) {
	if f.Charge != nil {
		f.Charge(n)
	}
}

func (f *searcher) run() error {
	indexes, err := f.Tx.Indexes(f.Node)
	if err != nil {
		return err
	}
	for _, x := range indexes {
		if mask, ok := f.mask(x); ok {
			return f.scan(x, mask)
		}
	}
	return f.walk()
}

// mask returns the bits of the searched fields in an index of words. It reports whether the index has all of them.
func (f *searcher) mask(x *objectdb.TableIndex) (mask int64, ok bool) {
	if !x.Rule.Words {
		return 0, false
	}
	if len(f.fields) == 0 {
		for _, field := range x.Rule.Fields {
			f.fields = append(f.fields, field.Name)
		}
		return -1, true
	}
	for _, name := range f.fields {
		i := slices.IndexFunc(x.Rule.Fields, func(field objectdb.IndexField) bool { return field.Name == objectdb.Fold(name) })
		if i < 0 {
			return 0, false
		}
		mask |= 1 << i
	}
	return mask, true
}

// A posting has the records of a term, by their folded keys.
type posting interface {
	// seek returns the greatest key up to one, and how much the term counts in that record; "" if there is none.
	seek(upTo string) (fold string, weight float64, err error)
	// rarity grows the fewer records have the term.
	rarity() float64
}

// idf returns the rarity of a term that n records have. It does not depend on the number of all records, which
// would have to be counted, because that is the same for all terms.
func idf(n int) float64 { return math.Log(1 + 1e6/(float64(n)+0.5)) }

// somePostings is the number of entries that are read at once.
const somePostings = 250

// stream is the posting of a word in an index, which is read in parts, backward.
type stream struct {
	f    *searcher
	x    *objectdb.TableIndex
	mask int64
	key  string // of the word
	part []objectdb.IndexEntry
	end  string // the place at which the next part ends
	more bool
	size int // of the next part
	some int // the number of records that have the word, or an estimate if there are many
}

func (s *stream) rarity() float64 { return idf(s.some) }

func (s *stream) seek(upTo string) (string, float64, error) {
	for {
		for len(s.part) > 0 {
			e := s.part[0]
			fold := e.Place[len(s.key):]
			if n := objectdb.WordWeight(e.N); fold <= upTo && n.In(s.mask) {
				return fold, n.Weight(), nil
			}
			s.part = s.part[1:]
		}
		if !s.more {
			return "", 0, nil
		}
		end := s.key + upTo + "\x00"
		if s.size = min(4*s.size, somePostings); end < s.end {
			s.size = 2 // the other words are rare
		} else {
			end = s.end
		}
		if err := s.next(end); err != nil {
			return "", 0, err
		}
	}
}

// next reads the next part, before a place.
func (s *stream) next(end string) (err error) {
	if s.part, err = s.f.Tx.Entries(s.x, s.key, end, true, s.size); err != nil {
		return err
	}
	s.f.charge(len(s.part))
	if s.more = len(s.part) == s.size; s.more {
		s.end = s.part[s.size-1].Place
	}
	return nil
}

// gathered is the posting of a term of which all records are known.
type gathered struct {
	folds   []string // sorted
	weights map[string]float64
}

func (g *gathered) rarity() float64 { return idf(len(g.folds)) }

func (g *gathered) seek(upTo string) (string, float64, error) {
	i, found := slices.BinarySearch(g.folds, upTo)
	if found {
		i++
	}
	if i == 0 {
		return "", 0, nil
	}
	fold := g.folds[i-1]
	return fold, g.weights[fold], nil
}

// posting returns the posting of a term in an index.
func (f *searcher) posting(x *objectdb.TableIndex, mask int64, t term) (posting, error) {
	if !t.prefix {
		s := &stream{f: f, x: x, mask: mask, key: t.word + "\x00", size: somePostings}
		err := s.next(t.word + "\x01")
		if s.some = len(s.part); s.more {
			s.some = 20 * somePostings
		}
		return s, err
	}
	g := &gathered{weights: map[string]float64{}}
	const some = 1000
	for from, end := t.word, after(t.word); ; {
		entries, err := f.Tx.Entries(x, from, end, false, some)
		if err != nil {
			return nil, err
		}
		f.charge(len(entries))
		for _, e := range entries {
			if n := objectdb.WordWeight(e.N); n.In(mask) {
				fold := x.Rule.FoldAt(e.Place)
				g.weights[fold] = max(g.weights[fold], n.Weight())
			}
			from = e.Place + "\x00"
		}
		if len(entries) < some {
			break
		}
	}
	for fold := range g.weights {
		g.folds = append(g.folds, fold)
	}
	slices.Sort(g.folds)
	return g, nil
}

// scan finds the records by an index, those with the last keys first.
func (f *searcher) scan(x *objectdb.TableIndex, mask int64) error {
	var wanted, unwanted []posting
	for _, t := range f.terms {
		p, err := f.posting(x, mask, t)
		if err != nil {
			return err
		}
		if t.not {
			unwanted = append(unwanted, p)
		} else {
			wanted = append(wanted, p)
		}
	}
	slices.SortFunc(wanted, func(a, b posting) int { return cmp.Compare(b.rarity(), a.rarity()) })
	for upTo := "\xff"; len(f.hits) < MaxRanked; {
		fold, score, err := meet(wanted, upTo)
		if err != nil || fold == "" {
			return err
		}
		upTo = before(fold)
		has := false
		for _, p := range unwanted {
			other, _, err := p.seek(fold)
			if err != nil {
				return err
			}
			has = has || other == fold
		}
		if has {
			continue
		}
		if err := f.found(fold, score); err != nil {
			return err
		}
	}
	return nil
}

// before returns a text that is before a folded key, and after all other keys before it.
func before(fold string) string {
	b := []byte(fold)
	if b[len(b)-1]--; b[len(b)-1] == 0 { // names have no NUL
		return string(b[:len(b)-1])
	}
	return string(b) + "\xff"
}

// meet returns the greatest key up to one that all postings have, or "".
func meet(postings []posting, upTo string) (fold string, score float64, err error) {
	for {
		score = 0
		fold = upTo
		for i, p := range postings {
			next, weight, err := p.seek(fold)
			if err != nil || next == "" {
				return "", 0, err
			}
			score += weight * p.rarity()
			if i > 0 && next != fold {
				fold, score = next, -1
				break
			}
			fold = next
		}
		if score >= 0 {
			return fold, score, nil
		}
		upTo = fold
	}
}

// found adds a record to the hits if it has the phrases.
func (f *searcher) found(fold string, score float64) error {
	if len(f.phrases) > 0 {
		n, err := f.Tx.Child(f.Node, fold)
		if err != nil {
			return err
		}
		texts, err := f.texts(n)
		if err != nil {
			return err
		}
		for _, phrase := range f.phrases {
			if !slices.ContainsFunc(texts, func(text string) bool { return hasPhrase(text, phrase) }) {
				return nil
			}
		}
	}
	f.hits = append(f.hits, ranked{fold, score})
	return nil
}

// hasPhrase reports whether words follow each other in a text.
func hasPhrase(text string, phrase []string) bool {
	var last []string
	found := false
	objectdb.EachWord(text, func(word string, _, _ int) bool {
		if last = append(last, word); len(last) > len(phrase) {
			last = last[1:]
		}
		found = slices.Equal(last, phrase)
		return !found
	})
	return found
}

// texts returns the searched texts of a record.
func (f *searcher) texts(n *objectdb.Node) ([]string, error) {
	var list []string
	add := func(v objectdb.Value) {
		text := objectdb.SearchedText(v)
		f.charge(1 + len(text)/100)
		list = append(list, text)
	}
	if f.fields != nil {
		for _, name := range f.fields {
			v, err := value(f.Tx, n, name)
			if err != nil {
				return nil, err
			}
			add(v)
		}
		return list, nil
	}
	nodes, err := f.Tx.Children(n)
	if err != nil {
		return nil, err
	}
	for _, field := range nodes {
		if field.Kind() == objectdb.KindTable {
			continue
		}
		v, err := f.Tx.Value(field)
		if err != nil {
			return nil, err
		}
		add(v)
	}
	return list, nil
}

// walk looks at all records, those with the last keys first.
func (f *searcher) walk() error {
	type match struct {
		fold    string
		weights []float64
	}
	var matches []match
	have := make([]int, len(f.terms)) // how many records have each term
	end := ""
	for n := largePage; len(matches) < MaxRanked; {
		nodes, err := f.Tx.Page(f.Node, "", end, true, n)
		if err != nil {
			return err
		}
		for _, node := range slices.Backward(nodes) {
			f.charge(1)
			end = objectdb.Fold(node.Name())
			if node.Kind() != objectdb.KindTable || len(matches) == MaxRanked {
				continue
			}
			texts, err := f.texts(node)
			if err != nil {
				return err
			}
			weights := f.weights(objectdb.WordsOf(texts))
			ok := true
			for i, t := range f.terms {
				if weights[i] > 0 {
					have[i]++
				}
				ok = ok && weights[i] > 0 != t.not
			}
			if ok {
				matches = append(matches, match{end, weights})
			}
		}
		if len(nodes) < n {
			break
		}
	}
	for _, m := range matches {
		score := 0.0
		for i, weight := range m.weights {
			score += weight * idf(have[i])
		}
		if err := f.found(m.fold, score); err != nil {
			return err
		}
	}
	return nil
}

// weights returns how much each term counts in a record with these keys; 0 if it does not have the term.
func (f *searcher) weights(keys []objectdb.IndexKey) []float64 {
	weights := make([]float64, len(f.terms))
	for _, k := range keys {
		word := strings.TrimSuffix(k.Key, "\x00")
		for i, t := range f.terms {
			if word == t.word || t.prefix && strings.HasPrefix(word, t.word) {
				weights[i] = max(weights[i], objectdb.WordWeight(k.N).Weight(), 1e-9)
			}
		}
	}
	return weights
}

// A snippet has about so many bytes, of which so many are before the first word that was found.
const (
	snippetBytes  = 200
	snippetBefore = 60
)

// snippet returns the part of the texts with the first wanted word as HTML.
func (w *words) snippet(texts []string) string {
	type mark struct{ from, to int }
	best, marks := "", []mark(nil)
	for _, text := range texts {
		if best == "" {
			best = text
		}
		objectdb.EachWord(text, func(word string, from, to int) bool {
			if w.has(word) {
				marks = append(marks, mark{from, to})
			}
			return len(marks) == 0 || from < marks[0].from+snippetBytes
		})
		if len(marks) > 0 {
			best = text
			break
		}
	}
	from, to := 0, min(len(best), snippetBytes)
	if len(marks) > 0 {
		from = max(0, marks[0].from-snippetBefore)
		to = min(len(best), from+snippetBytes)
	}
	from, to = wordStart(best, from), wordEnd(best, to)
	if len(marks) > 0 {
		to = max(to, marks[0].to)
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	for _, m := range marks {
		if m.to > to || m.from < from {
			continue
		}
		b.WriteString(html.EscapeString(best[from:m.from]))
		b.WriteString("<mark>" + html.EscapeString(best[m.from:m.to]) + "</mark>")
		from = m.to
	}
	b.WriteString(html.EscapeString(best[from:to]))
	if to < len(best) {
		b.WriteString("…")
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(b.String()), " "), "\ufffd")
}

// wordStart returns the beginning of a word at or a little after i.
func wordStart(s string, i int) int {
	if i == 0 {
		return 0
	}
	if n := strings.IndexByte(s[i:min(len(s), i+30)], ' '); n >= 0 {
		return i + n + 1
	}
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// wordEnd returns the end of a word at or a little before i.
func wordEnd(s string, i int) int {
	if i == len(s) {
		return i
	}
	if n := strings.LastIndexByte(s[max(0, i-30):i], ' '); n >= 0 {
		return max(0, i-30) + n
	}
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
