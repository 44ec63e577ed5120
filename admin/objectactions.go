package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"scripter/objectdb"
)

// objectActions are the changes of an object as a whole, by the field "do" of the form that asks for
// them: a new object in a table, another name or place, a copy, the end.
var objectActions = map[string]func(*call, objectdb.Address) (*result, error){
	"new": (*call).newObject, "move": (*call).moveObject, "copy": (*call).copyObject, "delete": (*call).deleteObject,
	"cell": (*call).saveCell, "paste": (*call).pasteRows, "import": (*call).importRows,
}

// changeObject does what the form on the page of an object asks for.
func (c *call) changeObject() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	do := cmp.Or(c.field("do"), c.query("do")) // a button says it, or the address of a grid
	action, ok := objectActions[do]
	if !ok {
		return nil, unknownAction(do)
	}
	return action(c, a)
}

// newValue returns the value that a new object of a kind begins with; nil is a table.
func newValue(k objectdb.Kind, now time.Time) objectdb.Value {
	switch k {
	case objectdb.KindBoolean:
		return objectdb.Boolean(false)
	case objectdb.KindNumber:
		return objectdb.Number(0)
	case objectdb.KindString:
		return objectdb.String("")
	case objectdb.KindText:
		return objectdb.Text("")
	case objectdb.KindOutline:
		return objectdb.Outline("")
	case objectdb.KindScript:
		return objectdb.Script("")
	case objectdb.KindDate:
		return objectdb.Date{Time: now.UTC().Truncate(time.Second)}
	case objectdb.KindBinary:
		return objectdb.Binary{Type: "application/octet-stream"}
	case objectdb.KindList:
		return objectdb.List{}
	case objectdb.KindAddress:
		return objectdb.Address{"user"}
	}
	return nil
}

// kinds are the kinds of objects in the order in which forms offer them.
var kinds = []objectdb.Kind{
	objectdb.KindScript, objectdb.KindText, objectdb.KindTable, objectdb.KindString, objectdb.KindNumber,
	objectdb.KindBoolean, objectdb.KindDate, objectdb.KindList, objectdb.KindOutline, objectdb.KindBinary,
	objectdb.KindAddress,
}

// newObject makes an object in the table at a.
func (c *call) newObject(a objectdb.Address) (*result, error) {
	k, err := objectdb.ParseKind(c.field("kind"))
	if err != nil {
		return nil, bad("error.kind", c.field("kind"))
	}
	at := a.Child(c.field("name"))
	change, err := c.changeFree(at, "new "+at.String(), func(tx *objectdb.Tx) error {
		if k == objectdb.KindTable {
			return tx.NewTable(at)
		}
		return tx.Put(at, newValue(k, c.Now()))
	})
	if err != nil {
		return nil, err
	}
	return c.redirect(c.linkTo("at", at), "made", change), nil
}

// changeFree runs a change that puts an object where nothing may be yet.
func (c *call) changeFree(at objectdb.Address, what string, fn func(*objectdb.Tx) error) (int64, error) {
	if err := objectdb.CheckName(at.Name()); err != nil {
		return 0, bad("error.name", at.Name(), err)
	}
	if err := c.mayChange(at); err != nil {
		return 0, err
	}
	return c.update(what, func(tx *objectdb.Tx) error {
		switch _, err := tx.Find(at); {
		case err == nil:
			return newProblem(http.StatusConflict, "error.exists", at.String())
		case !errors.Is(err, objectdb.ErrNotFound):
			return err
		}
		return fn(tx)
	})
}

// target returns the address that the field "to" names.
func (c *call) target() (objectdb.Address, error) {
	to, err := c.parseAddress(c.field("to"))
	if err == nil && len(to) == 0 {
		err = bad("error.target")
	}
	return to, err
}

// moveObject gives an object another name or place.
func (c *call) moveObject(a objectdb.Address) (*result, error) {
	to, err := c.target()
	if err != nil {
		return nil, err
	}
	if err := c.mayChange(a); err != nil {
		return nil, err
	}
	change, err := c.moveTo(a, to)
	if err != nil {
		return nil, err
	}
	return c.redirect(c.linkTo("at", to), "moved", change), nil
}

func (c *call) moveTo(a, to objectdb.Address) (int64, error) {
	what := fmt.Sprintf("move %s to %s", a, to)
	move := func(tx *objectdb.Tx) error { return tx.Move(a, to) }
	if a.Equal(to) { // spelled anew
		return c.update(what, move)
	}
	return c.changeFree(to, what, move)
}

// copyObject puts a copy of an object at another address.
func (c *call) copyObject(a objectdb.Address) (*result, error) {
	to, err := c.target()
	if err != nil {
		return nil, err
	}
	if !c.role.MaySeeAll(a) {
		return nil, newProblem(http.StatusForbidden, "error.maySeeAll", name(a))
	}
	what := fmt.Sprintf("copy %s to %s", a, to)
	change, err := c.changeFree(to, what, func(tx *objectdb.Tx) error { return tx.Copy(a, to) })
	if err != nil {
		return nil, err
	}
	return c.redirect(c.linkTo("at", to), "copied", change), nil
}

// deleteObject deletes an object with all that is in it.
func (c *call) deleteObject(a objectdb.Address) (*result, error) {
	if err := c.mayChange(a); err != nil {
		return nil, err
	}
	if len(a) == 0 {
		return nil, bad("error.deleteRoot")
	}
	change, err := c.update("delete "+a.String(), func(tx *objectdb.Tx) error { return tx.Delete(a) })
	if err != nil {
		return nil, err
	}
	return c.redirect(c.linkTo("at", a[:len(a)-1]), "deleted", change), nil
}
