package objectdb

import (
	"fmt"
	"time"
)

// A Node is a handle on one object, as one transaction sees it; it is valid
// until that transaction ends. Its methods return what was so when it was got; the methods of
// the transaction return what is so now.
type Node struct {
	id, parent int64
	ver        int64
	created    int64 // nanoseconds since 1970
	modified   int64
	size       int64
	name, fold string
	typ        string
	kept       int64                 // see Row.Kept
	value      Value                 // nil in a table, and until it is fetched
	later      func() (Value, error) // returns the value that this transaction wrote, if it is not kept in memory
	up         *Node                 // a node of the table that it was found in; maybe an old one
	kind       Kind                  // 0: nothing has this name here
	dirty      bool                  // the value was written by this transaction
	revived    bool                  // it was deleted, and this transaction brings it back
}

// ID is the object's number, which no other object of the root ever had or
// will have. It is negative until the object is committed.
func (n *Node) ID() int64 { return n.id }

// Table is the ID of the table that holds the object.
func (n *Node) Table() int64 { return n.parent }

// Name is the object's name as it is spelled; the root's is "".
func (n *Node) Name() string { return n.name }

// Kind is the object's kind.
func (n *Node) Kind() Kind { return n.kind }

// Version changes whenever the object is written: with ID it stands for one
// content, for ever. A table is written when a name in it comes, goes or is
// spelled anew. It is negative, and unique in this process, until it is committed.
func (n *Node) Version() int64 { return n.ver }

// Created is when an object came into being under this ID.
func (n *Node) Created() time.Time { return time.Unix(0, n.created).UTC() }

// Modified is when the object got its value, and of a table when a name in it
// last came or went.
func (n *Node) Modified() time.Time { return time.Unix(0, n.modified).UTC() }

// Size is the number of bytes that the value takes: the length of a string,
// text, outline, script or binary, 8 of a number, 1 of a boolean, that of
// the stored form of the others. A table's is 0: Len counts what is in it.
func (n *Node) Size() int64 { return n.size }

// Type is the MIME type of a binary.
func (n *Node) Type() string { return n.typ }

// exists reports whether there is an object: a node of kind 0 stands for none.
func (n *Node) exists() bool { return n.kind != 0 }

// Object is what Stat and List tell of an object.
type Object struct {
	Name     string
	Kind     Kind
	Version  int64
	Created  time.Time
	Modified time.Time
	Size     int64  // see Node.Size
	Type     string // the MIME type of a binary
}

func (n *Node) object() Object {
	return Object{
		Name: n.name, Kind: n.kind, Version: n.ver,
		Created: n.Created(), Modified: n.Modified(),
		Size: n.size, Type: n.typ,
	}
}

// node returns the node of a row.
func (r *Row) node(up *Node) *Node {
	return &Node{
		id: r.ID, parent: r.Parent, ver: r.Version, created: r.Created, modified: r.Modified, size: r.Size,
		name: r.Name, fold: r.Fold, typ: r.Type, kept: r.Kept, value: r.Value, kind: r.Kind, up: up,
	}
}

// nodeIn returns the node of a row that was found in a table. Only in a damaged root is
// the row in another one.
func (r *Row) nodeIn(table int64, up *Node) (*Node, error) {
	if r.Parent != table || r.ID == table {
		return nil, fmt.Errorf("%w: object %d is found in table %d and says that it is in %d",
			ErrDamaged, r.ID, table, r.Parent)
	}
	return r.node(up), nil
}

// row returns the row of a node, without its value.
func (n *Node) row() Row {
	return Row{
		ID: n.id, Parent: n.parent, Version: n.ver, Created: n.created, Modified: n.modified, Size: n.size,
		Name: n.name, Fold: n.fold, Type: n.typ, Kept: n.kept, Kind: n.kind,
	}
}
