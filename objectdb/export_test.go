package objectdb

// DerivedPlaces returns the number of places that the cache watches for derived values.
func (db *DB) DerivedPlaces() int { return len(db.cache.derived) }
