// Package admin is the web page where people see, edit, run and take back everything in the root
// with a browser. It is an ordinary [http.Handler]; the gateway passes it the requests below the
// path of the setting adminPath, whatever the transport.
//
// Each page is a Go value. A template of the folder templates makes HTML of it; a client that
// accepts application/json, or asks for a path that ends in ".json", gets the value as JSON. The
// pages work without JavaScript for reading and simple edits. The script in static/admin.js, whose
// source is the folder web, adds editors and keys. All English texts are in texts.json.
//
// Every change is one transaction with the name of the person, so that it is in the history and
// can be undone. Without log-in there are only the log-in page, the style sheet and the script.
package admin
