package httpheader_test

import (
	"fmt"
	"strings"

	"scripter/httpheader"
)

func ExampleBuild() {
	header, err := httpheader.Build("200 OK", "text/html", "Apache")
	fmt.Println(strings.ReplaceAll(header, "\r\n", "|"), err)

	header, err = httpheader.Build("302 FOUND", "http://www.example.com/", "Apache")
	fmt.Println(strings.ReplaceAll(header, "\r\n", "|"), err)
	// Output:
	// HTTP/1.0 200 OK|Server: Apache|MIME-Version: 1.0|Content-type: text/html|| <nil>
	// HTTP/1.0 302 FOUND|Location: http://www.example.com/|URI: http://www.example.com/|Server: Apache|| <nil>
}

func ExampleParse() {
	// A script of 1998, with the line ends of its time.
	r, err := httpheader.Parse("HTTP/1.0 404 FILE NOT FOUND\rContent-type: text/html\r\r<h1>Gone</h1>")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Status, r.Reason)
	fmt.Println(r.Body)

	header, err := r.AppendParsed(nil)
	fmt.Printf("%q %v\n", header, err)
	// Output:
	// 404 FILE NOT FOUND
	// <h1>Gone</h1>
	// "Status: 404 FILE NOT FOUND\r\nContent-type: text/html\r\n\r\n" <nil>
}

func ExampleResponse_Check() {
	r := httpheader.Response{Status: 302}
	r.Set("Location", "/welcome\r\nSet-Cookie: admin=1")
	fmt.Println(r.Check())
	// Output: response header, field Location: value has the control character U+000D at byte 9: "/welcome\r\nSet-Cookie: admin=1"
}

func ExampleNotModified() {
	request := map[string]string{"If-None-Match": `W/"v7-gzip"`}
	r := &httpheader.Response{Status: 200, Body: "<p>Hello"}
	r.Set("ETag", `"v7"`)

	if httpheader.NotModified("GET", func(name string) string { return request[name] }, r) {
		r.ToNotModified()
	}
	fmt.Printf("%d %q\n", r.Status, r.Body)
	// Output: 304 ""
}
