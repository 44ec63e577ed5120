package requestlog

import (
	"slices"
	"strings"

	"scripter/objectdb"
)

// Reads says what a request has read in the root: see [objectdb.Tx.Reads].
type Reads struct {
	Values []objectdb.Address // in the order in which they were read, those of the site before those of IsSupplied
	Tables []objectdb.Address // whose names were listed or counted
	More   int                // how many objects more were read
}

// Bounds of the objects in Reads: of the site, and of those of IsSupplied; in one table; of their addresses
// in bytes; of those whose addresses are found.
const (
	maxRead         = 200
	maxReadSupplied = 50
	maxReadInTable  = 40
	maxReadBytes    = 16 << 10
	maxReadLooked   = 2000
)

// supplied are the tables of what comes with a new root and of the settings.
var supplied = []objectdb.Address{{"system"}, {"suites", "webserver"}, {"user", "webserver"}, {"apps", "httpd"}}

// IsSupplied reports whether the object at an address is one of those that come with a new root, or a setting.
// Those of the site that have taken the place of a supplied one, such as the trap, count too.
func IsSupplied(a objectdb.Address) bool {
	return slices.ContainsFunc(supplied, func(table objectdb.Address) bool {
		return len(a) >= len(table) && a[:len(table)].Equal(table)
	})
}

// ReadsOf returns what a transaction has read. In the addresses the secrets of m are masked; m may be nil.
func ReadsOf(tx *objectdb.Tx, m *Mask) *Reads {
	var site, other readGroup
	site.room, other.room = maxRead, maxReadSupplied
	count, looked, left, inTable := 0, 0, maxReadBytes, map[int64]int{}
	for n := range tx.Reads() {
		count++
		isTable := n.Kind() == objectdb.KindTable
		if looked == maxReadLooked || !isTable && inTable[n.Table()] == maxReadInTable {
			continue
		}
		looked++
		a := m.Address(tx.AddressRead(n))
		g := &site
		if IsSupplied(a) {
			g = &other
		}
		size := len(a.String())
		if a == nil || g.room == 0 || size > left {
			continue
		}
		g.room--
		left -= size
		if isTable {
			g.tables = append(g.tables, a)
		} else {
			inTable[n.Table()]++
			g.values = append(g.values, a)
		}
	}
	r := &Reads{Values: append(site.values, other.values...), Tables: append(site.tables, other.tables...)}
	r.More = count - len(r.Values) - len(r.Tables)
	return r
}

// readGroup has what was read of the site, or of IsSupplied.
type readGroup struct {
	values, tables []objectdb.Address
	room           int // for so many objects more
}

// Address returns an address with Masked in the place of each name that contains a recorded secret, whatever its
// case.
func (m *Mask) Address(a objectdb.Address) objectdb.Address {
	if m == nil || len(m.values) == 0 {
		return a
	}
	a = slices.Clone(a)
	for i, name := range a {
		name = objectdb.Fold(name)
		if slices.ContainsFunc(m.values, func(secret string) bool { return strings.Contains(name, objectdb.Fold(secret)) }) {
			a[i] = Masked
		}
	}
	return a
}

// rows returns the objects that record the reads.
func (r *Reads) rows() []row {
	if r == nil {
		return nil
	}
	rows := []row{{"read", listOfTexts(addressTexts(r.Values))}}
	if len(r.Tables) > 0 {
		rows = append(rows, row{"readTables", listOfTexts(addressTexts(r.Tables))})
	}
	if r.More > 0 {
		rows = append(rows, row{"readMore", objectdb.Number(r.More)})
	}
	return rows
}

func addressTexts(list []objectdb.Address) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
	}
	return texts
}

// parseAddresses returns the addresses in texts. A script may have written others.
func parseAddresses(texts []string) []objectdb.Address {
	var list []objectdb.Address
	for _, s := range texts[:min(len(texts), maxRead+maxReadSupplied)] {
		if a, err := objectdb.ParseAddress(s); err == nil {
			list = append(list, a)
		}
	}
	return list
}

// AddTo adds what was read to the fields that programs read of a request or a run, if it is known.
func (r *Reads) AddTo(m map[string]any) {
	if r != nil {
		m["read"], m["readTables"], m["readMore"] = addressTexts(r.Values), addressTexts(r.Tables), r.More
	}
}

// withoutSecrets returns the reads with the secrets of m masked in their addresses.
func (r *Reads) withoutSecrets(m *Mask) *Reads {
	if r == nil {
		return nil
	}
	masked := &Reads{More: r.More}
	for _, a := range r.Values {
		masked.Values = append(masked.Values, m.Address(a))
	}
	for _, a := range r.Tables {
		masked.Tables = append(masked.Tables, m.Address(a))
	}
	return masked
}
