package objectdb

import "sync/atomic"

// CacheStats are how often transactions found what they looked for in the
// cache of read objects, and how often they had to ask the file. Both only grow.
type CacheStats struct {
	Hits, Misses uint64
}

// cacheCounts are the CacheStats of a DB. A transaction counts for itself and adds
// its sums when it ends, so that transactions do not contend for them.
type cacheCounts struct {
	hits, misses atomic.Uint64
}

// CacheStats returns the sums of all transactions that have ended.
func (db *DB) CacheStats() CacheStats {
	return CacheStats{Hits: db.counts.hits.Load(), Misses: db.counts.misses.Load()}
}

// countCache adds what the transaction has counted.
func (tx *Tx) countCache() {
	if tx.hits > 0 {
		tx.db.counts.hits.Add(tx.hits)
	}
	if tx.misses > 0 {
		tx.db.counts.misses.Add(tx.misses)
	}
	tx.hits, tx.misses = 0, 0
}
