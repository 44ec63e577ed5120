package corpus

import "path/filepath"

// actionWiring is what Apache's Action tells: the script is the handler, the
// page stands behind it, and the action's name comes in lower case.
func actionWiring(m *model, docRoot, url, action string) map[string]string {
	return map[string]string{
		"SCRIPT_NAME":      "/cgi-bin/Scripter.acgi",
		"SCRIPT_FILENAME":  m.site.Program("Scripter.acgi"),
		"PATH_INFO":        url,
		"PATH_TRANSLATED":  docRoot + url,
		"DOCUMENT_ROOT":    docRoot,
		"REDIRECT_STATUS":  "200",
		"REDIRECT_HANDLER": map[string]string{"SCRIPTER": "scripter", "MACRO": "macro", "ROUTE": "route"}[action],
		"REDIRECT_URL":     url,
	}
}

// nphWiring is what Apache tells after RewriteRule with [PT]: no word of a
// redirect, a translated path that leads nowhere, and the action's name only
// where a rule sets it.
func nphWiring(m *model, docRoot, url, action string) map[string]string {
	file := m.site.Program("nph-Scripter.acgi")
	vars := map[string]string{
		"SCRIPT_NAME":     "/cgi-bin/nph-Scripter.acgi",
		"SCRIPT_FILENAME": file,
		"PATH_INFO":       url,
		"PATH_TRANSLATED": file + url,
		"DOCUMENT_ROOT":   docRoot,
	}
	if action == "MACRO" && filepath.Ext(url) != ".mcro" {
		vars["SCRIPTER_ACTION"] = action
	}
	return vars
}

// directWiring is what nginx tells, with a split after the extension: no
// handler's name appears.
func directWiring(_ *model, docRoot, url, action string) map[string]string {
	name, info := url, ""
	if i := extensionEnd(url); i < len(url) && url[i] == '/' {
		name, info = url[:i], url[i:]
	}
	return map[string]string{
		"SCRIPT_NAME":      name,
		"SCRIPT_FILENAME":  docRoot + name,
		"PATH_INFO":        info,
		"DOCUMENT_ROOT":    docRoot,
		"DOCUMENT_URI":     url,
		"REDIRECT_STATUS":  "200",
		"REDIRECT_HANDLER": action,
	}
}

// extensionEnd returns the place behind the first .fcgi or .mcro of a path.
func extensionEnd(url string) int {
	for i := 5; i <= len(url); i++ {
		switch url[i-5 : i] {
		case ".fcgi", ".FCGI", ".mcro", ".MCRO":
			return i
		}
	}
	return len(url)
}
