// Package records sees a table of the root as records: each table in it is one, its name is the record's key, and the
// objects in it are the record's fields.
//
// NewKey makes keys, Shape says what a record must be, and Find and Count find records by their values. What is
// declared for a table (its shape, its indexes) lies below user.records.tables, under the address of the table, so
// that it is exported, copied and undone as everything else. Values are compared as objectdb.AppendOrdered says.
package records
