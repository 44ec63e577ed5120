package objectdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// SearchOptions says what Search searches for. An object is found if its name contains Name or if its
// text contains Text; at least one of them is given. Case does not matter, as in names: see Fold.
type SearchOptions struct {
	Below Address // the table in which and below which is searched
	Name  string
	// Text is searched for in strings, texts, outlines and scripts, and in those and the names of
	// fields in lists.
	Text string

	From   string        // SearchResults.Next of the call before; "" begins
	Limit  int           // the most objects that one call finds; 0 is 100
	Budget time.Duration // one call ends soon after it; 0 is 10 ms
}

// SearchResults is what one call of Search has found.
type SearchResults struct {
	Found []Found
	Next  string // where the next call begins; "" if everything was searched
	// Searched of Total says how far the search has come. They count ids, also those of objects that are
	// gone.
	Searched, Total int64
	// Skipped is the number of values in which Text was not searched: they are longer than
	// MaxSearched, or only their hash was kept.
	Skipped int
}

// Found is an object that Search has found.
type Found struct {
	Address Address
	ID      int64
	Kind    Kind
	Name    bool // its name contains SearchOptions.Name
	Text    bool // its text contains SearchOptions.Text
	// Line is the line on which Text begins for the first time, from 1; in a list the number of the
	// item that has it. 0 if Text is false.
	Line int
	// Before, Match and After are the found text with what is on the line before it and after it. Long
	// parts are cut, which an ellipsis shows.
	Before, Match, After string
}

// MaxSearched is the length of the longest value in which Search searches, in bytes.
const MaxSearched int64 = 4 << 20

// A Scan says which objects a Session looks at.
type Scan struct {
	After int64  // the ids are after it
	N     int    // at so many
	Name  string // what a folded name contains; "" is in none
	Text  string // what a text contains, as SearchOptions.Text has it; "" is in none
}

// ScannedValue is the length in bytes up to which a Session searches in values, so that its calls take
// about the same time.
const ScannedValue int64 = 8 << 10

const (
	searchLimit   = 100
	searchBudget  = 10 * time.Millisecond
	maxSearchText = 1000
	// What one Scan looks at is doubled or halved until it takes about a sixth of the budget.
	firstScan, smallestScan, largestScan = 500, 20, 20_000
)

// errEnough ends a scan that has found as much as a call returns.
var errEnough = errors.New("enough was found")

var errSearch = errors.New("only a transaction of View can search")

// Search finds objects by name and text, in slices: each call takes about o.Budget, and SearchResults.Next
// says where the next one goes on, as a rule in another transaction. First come the objects of the table
// o.Below itself whose names begin with o.Name, in the order of the names; then all others, in the order of
// their ids. An object that is written while a search goes on may be missed.
func (tx *Tx) Search(o SearchOptions) (SearchResults, error) {
	r, err := tx.search(o)
	return r, at("search", o.Below, err)
}

func (tx *Tx) search(o SearchOptions) (SearchResults, error) {
	if tx.mode != viewing {
		return SearchResults{}, errSearch
	}
	below, err := tx.mustFind(o.Below)
	if err != nil {
		return SearchResults{}, err
	}
	if below.kind != KindTable {
		return SearchResults{}, ErrNotTable
	}
	for _, text := range []string{o.Name, o.Text} {
		if len(text) > maxSearchText || !utf8.ValidString(text) {
			return SearchResults{}, fmt.Errorf("what is searched for must be UTF-8 of at most %d bytes", maxSearchText)
		}
	}
	if o.Name == "" && o.Text == "" {
		return SearchResults{}, errors.New("there is nothing to search for")
	}
	from, err := parseSearchPosition(o.From)
	if err != nil {
		return SearchResults{}, err
	}
	session, err := tx.reader()
	if err != nil {
		return SearchResults{}, err
	}
	s := searcher{
		tx: tx, session: session, below: below, fold: Fold(o.Name), text: newPattern(o.Text),
		limit:    cmp.Or(max(o.Limit, 0), searchLimit),
		deadline: time.Now().Add(cmp.Or(o.Budget, searchBudget)),
		tables:   map[int64]Row{},
		results:  SearchResults{Total: tx.last},
	}
	s.slice = time.Until(s.deadline) / 6
	next, err := s.run(from)
	s.results.Next = next.String()
	s.results.Searched = tx.last
	if s.results.Next != "" {
		s.results.Searched = min(next.after, tx.last)
	}
	return s.results, err
}

// searchPosition is where a search goes on.
type searchPosition struct {
	scan  bool   // the names in the table are done
	fold  string // before: the folded names from it
	after int64  // then: the objects with ids after it
}

var searchEnd = searchPosition{scan: true, after: math.MaxInt64}

// String returns the form of SearchResults.Next.
func (p searchPosition) String() string {
	switch {
	case p == searchEnd:
		return ""
	case p.scan:
		return "i" + strconv.FormatInt(p.after, 10)
	}
	return "n" + p.fold
}

func parseSearchPosition(s string) (searchPosition, error) {
	if s == "" {
		return searchPosition{}, nil
	}
	switch rest := s[1:]; s[0] {
	case 'n':
		return searchPosition{fold: rest}, nil
	case 'i':
		after, err := strconv.ParseInt(rest, 10, 64)
		if err == nil && after >= 0 {
			return searchPosition{scan: true, after: after}, nil
		}
	}
	return searchPosition{}, fmt.Errorf("%q is no place at which a search goes on", s)
}

// searcher is one call of Search.
type searcher struct {
	tx       *Tx
	session  Session
	below    *Node
	fold     string
	text     *pattern
	limit    int
	deadline time.Time
	slice    time.Duration // that one Scan should take
	tables   map[int64]Row // of which the names are known
	results  SearchResults
}

func (s *searcher) full() bool {
	return len(s.results.Found) >= s.limit || !time.Now().Before(s.deadline)
}

// run searches from a position on, and returns where the next call goes on. It always goes on by one object.
func (s *searcher) run(p searchPosition) (searchPosition, error) {
	if !p.scan && s.fold != "" {
		next, err := s.names(p.fold)
		if err != nil || !next.scan || s.full() {
			return next, err
		}
	}
	return s.scan(p.after)
}

// names finds the names in the table that begin with the searched one.
func (s *searcher) names(from string) (searchPosition, error) {
	nodes, err := s.tx.Page(s.below, max(from, s.fold), s.fold+noEnd, false, s.limit+1)
	if err != nil {
		return searchPosition{}, err
	}
	for i, n := range nodes {
		if i > 0 && s.full() {
			return searchPosition{fold: n.fold}, nil
		}
		row := n.row()
		row.Value = n.value
		if err := s.look(&row); err != nil {
			return searchPosition{}, err
		}
	}
	return searchPosition{scan: true}, nil
}

// scan looks at all objects in the order of their ids.
func (s *searcher) scan(after int64) (searchPosition, error) {
	n := firstScan
	for {
		var rows []Row
		begun := time.Now()
		last, err := s.session.Scan(s.tx.ctx, Scan{after, n, s.fold, s.text.query}, func(r Row) error {
			if rows = append(rows, r); len(rows) == s.limit {
				return errEnough
			}
			return nil
		})
		if err == errEnough {
			last = rows[len(rows)-1].ID
		} else if err != nil {
			return searchPosition{}, err
		}
		took := time.Since(begun)
		for i := range rows {
			if s.fold != "" && rows[i].Parent == s.below.id && strings.HasPrefix(rows[i].Fold, s.fold) {
				continue // names has found it
			}
			if err := s.look(&rows[i]); err != nil {
				return searchPosition{}, err
			}
			if s.full() {
				return searchPosition{scan: true, after: rows[i].ID}, nil
			}
		}
		after = last
		if after == math.MaxInt64 || s.full() {
			return searchPosition{scan: true, after: after}, nil
		}
		if took < s.slice/2 {
			n = min(2*n, largestScan)
		} else if took > s.slice {
			n = max(n/2, smallestScan)
		}
	}
}

// look adds an object to the results if it is found and lies below the table.
func (s *searcher) look(r *Row) error {
	f := Found{ID: r.ID, Kind: r.Kind, Name: s.fold != "" && strings.Contains(r.Fold, s.fold)}
	if !f.Name && s.text.query == "" {
		return nil
	}
	a, err := s.address(r)
	if a == nil || err != nil {
		return err
	}
	f.Address = a
	if s.text.query != "" && hasText(r.Kind) {
		if err := s.lookInside(r, &f); err != nil {
			return err
		}
	}
	if f.Name || f.Text {
		s.results.Found = append(s.results.Found, f)
	}
	return nil
}

func hasText(k Kind) bool {
	return k == KindString || k == KindText || k == KindOutline || k == KindScript || k == KindList
}

func (s *searcher) lookInside(r *Row, f *Found) error {
	v := r.Value
	if v == nil {
		if r.Size > MaxSearched {
			s.results.Skipped++
			return nil
		}
		var err error
		if v, err = s.session.Value(s.tx.ctx, r.ID); errors.Is(err, ErrNotKept) {
			s.results.Skipped++
			return nil
		} else if err != nil {
			return err
		}
	}
	s.text.look(v, f)
	return nil
}

// address returns the address of an object, or nil if it does not lie below the table.
func (s *searcher) address(r *Row) (Address, error) {
	names, found := []string{}, false
	for row := *r; row.ID != RootID; {
		if names = append(names, row.Name); len(names) > maxDepth {
			return nil, nil // in a damaged root
		}
		found = found || row.Parent == s.below.id
		if row.Parent == RootID {
			break
		}
		table, ok := s.tables[row.Parent]
		if !ok {
			var err error
			if table, err = s.session.Object(s.tx.ctx, row.Parent); errors.Is(err, ErrNotFound) {
				return nil, nil // in a damaged root
			} else if err != nil {
				return nil, err
			}
			s.tables[row.Parent] = table
		}
		row = table
	}
	if !found {
		return nil, nil
	}
	slices.Reverse(names)
	return names, nil
}

// CountObjects returns the number of objects in the root, the root table among them. If there are many,
// it is an estimate, made of samples of the ids; DB.Info counts all. It does not see what the transaction
// has written.
func (tx *Tx) CountObjects() (n int64, exact bool, err error) {
	s, err := tx.reader()
	if err != nil {
		return 0, false, err
	}
	if tx.last <= countedIDs {
		n, err = s.CountIDs(tx.ctx, 0, tx.last)
		return n, true, err
	}
	n, err = estimate(tx.ctx, s, tx.last)
	return n, false, err
}

// countedIDs is the greatest id up to which objects are counted one by one.
const countedIDs = 20_000

// estimate counts in some short ranges of ids, at equal distances.
func estimate(ctx context.Context, s Session, last int64) (int64, error) {
	const samples, length = 128, 40
	distance := float64(last) / samples
	found := int64(0)
	for i := range samples {
		after := int64((float64(i)+0.5)*distance) - length/2
		n, err := s.CountIDs(ctx, after, after+length)
		if err != nil {
			return 0, err
		}
		found += n
	}
	return int64(math.Round(float64(found) / (samples * length) * float64(last))), nil
}
