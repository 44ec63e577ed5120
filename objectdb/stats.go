package objectdb

// CacheStats counts how often transactions found an object in the cache, and how often
// they had to ask the store. Both numbers only grow.
type CacheStats struct {
	Hits, Misses uint64
}

// CacheStats returns the sums of all transactions that have ended.
func (db *DB) CacheStats() CacheStats {
	return CacheStats{Hits: db.hits.Load(), Misses: db.misses.Load()}
}

// countCache adds what the transaction has counted.
func (tx *Tx) countCache() {
	if tx.hits > 0 {
		tx.db.hits.Add(tx.hits)
	}
	if tx.misses > 0 {
		tx.db.misses.Add(tx.misses)
	}
}
