/* The least that a CGI program can do: one page, one write. */
#include <unistd.h>

int main(void)
{
	static const char page[] = "Content-Type: text/html\r\n\r\n<html><body><p>Hello, world.</p></body></html>\n";
	return write(1, page, sizeof page - 1) != (ssize_t)(sizeof page - 1);
}
