package lua

// The tests of package lua_test run scripts as the server does. They use these names
// from the tests of package lua.
var (
	Program        = program
	LibraryProgram = libraryProgram
	SyntaxProgram  = syntaxProgram
	CountLanguage  = countLanguage
	WholeLanguage  = wholeLanguage
)

const (
	CallsOfEach = callsOfEach
	Patience    = patience
)
