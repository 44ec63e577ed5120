package lua

// What the tests of package lua_test, which run scripts as the server does, use of
// the tests of package lua.
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
