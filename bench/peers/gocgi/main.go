// Gocgi is the least that a CGI program in Go can do: one page, one write.
package main

import "os"

func main() {
	os.Stdout.WriteString("Content-Type: text/html\r\n\r\n<html><body><p>Hello, world.</p></body></html>\n")
}
