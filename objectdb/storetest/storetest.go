// Package storetest has the tests that every store of objectdb must pass: the promises of a
// root. Run runs them. The package of a store tests what it alone has, such as files, processes
// and power cuts.
package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Backend opens roots of one kind of store.
type Backend struct {
	// Create makes a root, and opens it.
	Create func(path string, o objectdb.Options) (*objectdb.DB, error)
	// Open opens a root by its DB.Path. It may be open already, as if in another process.
	Open func(path string, o objectdb.Options) (*objectdb.DB, error)
	// Path returns the path of a root that does not exist yet, and is removed after the test.
	Path func(t testing.TB) string
	// Import makes a root at a path, and fills it with a dump.
	Import func(ctx context.Context, path string, o objectdb.Options, d *objectdb.Dump) ([]objectdb.Sum, error)
	// OpenCopy opens a saved copy.
	OpenCopy func(path string, o objectdb.Options) (*objectdb.DB, error)
	// Beside returns how the paths of the saved copies of a root begin.
	Beside func(path string) string
	// Distant says that a read of the store is a message to another process. Then the tests read
	// less, and the random tests make fewer sequences.
	Distant bool
}

// sequences returns how many random sequences a test makes. Each variant of the options has one at
// least, if there are variants of them.
func (b *Backend) sequences(all, variants int) uint64 {
	if b.Distant {
		return uint64(variants)
	}
	return uint64(all)
}

// T is a test of a backend.
type T struct {
	*testing.T
	Backend
}

// Run runs all tests.
func Run(t *testing.T, b Backend) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(&T{t, b}) })
	}
}

// Run runs a part of a test.
func (t *T) Run(name string, fn func(t *T)) bool {
	return t.T.Run(name, func(part *testing.T) { fn(&T{part, t.Backend}) })
}

var tests = []struct {
	name string
	run  func(*T)
}{
	{"LargeReadSets", testLargeReadSets},
	{"TheLockIsLimitedWhileWritesAreApplied", testTheLockIsLimitedWhileWritesAreApplied},
	{"TheCacheForgetsOnlyWhatOthersChanged", testTheCacheForgetsOnlyWhatOthersChanged},
	{"TablesThatChangeTheirOrderAreNotDamaged", testTablesThatChangeTheirOrderAreNotDamaged},
	{"WhatIsMovedOutOfADeletedTable", testWhatIsMovedOutOfADeletedTable},
	{"CheckUnderWrites", testCheckUnderWrites},
	{"EveryValueIsKept", testEveryValueIsKept},
	{"ValuesThatCannotBeStored", testValuesThatCannotBeStored},
	{"StoredValuesAreNotShared", testStoredValuesAreNotShared},
	{"NamesIgnoreCaseAndKeepTheirSpelling", testNamesIgnoreCaseAndKeepTheirSpelling},
	{"NamesThatCannotBe", testNamesThatCannotBe},
	{"AddressOperations", testAddressOperations},
	{"PutReplacesAnyValue", testPutReplacesAnyValue},
	{"TimesComeFromTheClock", testTimesComeFromTheClock},
	{"MoveAndCopy", testMoveAndCopy},
	{"ObjectsChangePlaces", testObjectsChangePlaces},
	{"WritesBelowADeletedTableAreRefused", testWritesBelowADeletedTableAreRefused},
	{"Nodes", testNodes},
	{"Walk", testWalk},
	{"Page", testPage},
	{"APageCountsAsRead", testAPageCountsAsRead},
	{"Reads", testReads},
	{"ReadsBeyondFlush", testReadsBeyondFlush},
	{"ReadsOfTheLastRun", testReadsOfTheLastRun},
	{"ReadsOfDerived", testReadsOfDerived},
	{"Indexes", testIndexes},
	{"IndexesAreBuilt", testIndexesAreBuilt},
	{"IndexesFollowTheirTables", testIndexesFollowTheirTables},
	{"ReadsOfIndexesConflict", testReadsOfIndexesConflict},
	{"IndexesInRaces", testIndexesInRaces},
	{"RandomRecords", testRandomRecords},
	{"Search", testSearch},
	{"SearchOfManyObjects", testSearchOfManyObjects},
	{"AnErrorLeavesTheRootAsItWas", testAnErrorLeavesTheRootAsItWas},
	{"RecordsAreOfLists", testRecordsAreOfLists},
	{"Derived", testDerived},
	{"DerivedOfAnotherProcess", testDerivedOfAnotherProcess},
	{"DerivedIsOfTheStateThatTheTransactionSees", testDerivedIsOfTheStateThatTheTransactionSees},
	{"DerivedCountsAsRead", testDerivedCountsAsRead},
	{"DerivedAfterOwnWrites", testDerivedAfterOwnWrites},
	{"DerivedErrorIsNotKept", testDerivedErrorIsNotKept},
	{"DerivedMap", testDerivedMap},
	{"DerivedUnderLoad", testDerivedUnderLoad},
	{"BeforeSync", testBeforeSync},
	{"RandomOperations", testRandomOperations},
	{"ChangesAreTold", testChangesAreTold},
	{"AFlushMakesPartsOfOneChange", testAFlushMakesPartsOfOneChange},
	{"RequestsAreThinned", testRequestsAreThinned},
	{"DeletedObjectsAreKept", testDeletedObjectsAreKept},
	{"SubtreesHaveRules", testSubtreesHaveRules},
	{"ARuledObjectIsMovedOutOfADeletedTable", testARuledObjectIsMovedOutOfADeletedTable},
	{"OnlyAHashIsKeptOfLargeValues", testOnlyAHashIsKeptOfLargeValues},
	{"Undo", testUndo},
	{"UndoOfSeveralChanges", testUndoOfSeveralChanges},
	{"UndoOfMovesOfTables", testUndoOfMovesOfTables},
	{"UndoOnlyAndMerge", testUndoOnlyAndMerge},
	{"UndoOfWhatWasNotKept", testUndoOfWhatWasNotKept},
	{"WhatIsUndoneNext", testWhatIsUndoneNext},
	{"UndoInAFailedAttempt", testUndoInAFailedAttempt},
	{"TablesThatComeBack", testTablesThatComeBack},
	{"ThePastCannotBeChanged", testThePastCannotBeChanged},
	{"Forget", testForget},
	{"HistoryHasBounds", testHistoryHasBounds},
	{"HistoryOfRandomChanges", testHistoryOfRandomChanges},
	{"Copies", testCopies},
	{"Save", testSave},
	{"CopyTimesWhenTheClockIsSetBack", testCopyTimesWhenTheClockIsSetBack},
	{"SaveOnlyWhatChanged", testSaveOnlyWhatChanged},
	{"OneSaveAtATime", testOneSaveAtATime},
	{"FailedSave", testFailedSave},
	{"Revert", testRevert},
	{"RevertIsAChange", testRevertIsAChange},
	{"RevertToCopiesThatCannotBeUsed", testRevertToCopiesThatCannotBeUsed},
	{"RevertDuringTransaction", testRevertDuringTransaction},
	{"RevertAcrossTwoHistories", testRevertAcrossTwoHistories},
	{"RevertSaysWho", testRevertSaysWho},
	{"RevertUnderUse", testRevertUnderUse},
	{"Move", testMove},
	{"MoveThatFails", testMoveThatFails},
	{"CacheStats", testCacheStats},
	{"ATransactionSeesOneState", testATransactionSeesOneState},
	{"Conflicts", testConflicts},
	{"OfTwoCounterRaisesOneIsRunAgain", testOfTwoCounterRaisesOneIsRunAgain},
	{"ManyGoroutinesRaiseOneCounter", testManyGoroutinesRaiseOneCounter},
	{"TheCacheFollowsOtherProcesses", testTheCacheFollowsOtherProcesses},
	{"ALockedTransactionKeepsOthersOut", testALockedTransactionKeepsOthersOut},
	{"ALockedTransactionIsLimited", testALockedTransactionIsLimited},
	{"AFlushEndsTheLimitToo", testAFlushEndsTheLimitToo},
	{"Flush", testFlush},
	{"FlushMeetsAConflict", testFlushMeetsAConflict},
	{"UncommittedVersionsAreNeverMetAgain", testUncommittedVersionsAreNeverMetAgain},
	{"AnEndedTransactionIsRefused", testAnEndedTransactionIsRefused},
	{"AFailedAttemptIsUndone", testAFailedAttemptIsUndone},
	{"HandlesFromAFailedAttempt", testHandlesFromAFailedAttempt},
	{"AFlushWithinAnAttemptStays", testAFlushWithinAnAttemptStays},
	{"AFailedAttemptHasRead", testAFailedAttemptHasRead},
	{"APanicInAnAttemptIsUndone", testAPanicInAnAttemptIsUndone},
	{"WritesTellsWhetherTheTransactionSeesSomethingElse", testWritesTellsWhetherTheTransactionSeesSomethingElse},
}

// open returns a new root, which is checked at the end of the test.
func open(t *T) *objectdb.DB { return openWith(t, Patient) }

func openWith(t *T, o objectdb.Options) *objectdb.DB {
	t.Helper()
	db, err := t.Create(t.Path(t), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		RequireSound(t, db)
		require.NoError(t, db.Close())
	})
	return db
}

// object returns what is known of the object of a node.
func object(n *objectdb.Node) objectdb.Object {
	return objectdb.Object{
		Name: n.Name(), Kind: n.Kind(), Version: n.Version(), Created: n.Created(), Modified: n.Modified(),
		Size: n.Size(), Type: n.Type(),
	}
}

// maxListDepth is how deep lists and records may nest.
const maxListDepth = 200
