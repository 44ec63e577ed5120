/* The least that a FastCGI responder can do: read a request's records, send one
 * page, keep the connection. A thread for each connection, one write for each
 * answer. Usage: floor SOCKET PAGE */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 };

static char page[8192];
static size_t page_length;

struct buffer { unsigned char bytes[65536]; size_t from, to; };

/* take returns the next n bytes, or 0 when the connection has ended. */
static unsigned char *take(int fd, struct buffer *b, size_t n)
{
	while (b->to - b->from < n) {
		if (b->from > 0) {
			memmove(b->bytes, b->bytes + b->from, b->to - b->from);
			b->to -= b->from;
			b->from = 0;
		}
		ssize_t got = read(fd, b->bytes + b->to, sizeof b->bytes - b->to);
		if (got <= 0)
			return 0;
		b->to += (size_t)got;
	}
	b->from += n;
	return b->bytes + b->from - n;
}

static size_t record(unsigned char *out, int type, int id, const char *content, size_t length)
{
	unsigned char head[8] = { 1, (unsigned char)type, (unsigned char)(id >> 8), (unsigned char)id,
		(unsigned char)(length >> 8), (unsigned char)length, 0, 0 };
	memcpy(out, head, 8);
	memcpy(out + 8, content, length);
	return 8 + length;
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg, keep = 0;
	struct buffer *in = calloc(1, sizeof *in);
	unsigned char out[16384];
	for (;;) {
		unsigned char *h = take(fd, in, 8);
		if (!h)
			break;
		int type = h[1], id = h[2] << 8 | h[3];
		size_t length = (size_t)(h[4] << 8 | h[5]), padding = h[6];
		unsigned char *content = take(fd, in, length + padding);
		if (!content)
			break;
		if (type == BEGIN)
			keep = content[2] & 1;
		if (type != STDIN || length > 0)
			continue;
		static const char end[8];
		size_t n = record(out, STDOUT, id, page, page_length);
		n += record(out + n, STDOUT, id, "", 0);
		n += record(out + n, END, id, end, sizeof end);
		if (write(fd, out, n) != (ssize_t)n || !keep)
			break;
	}
	close(fd);
	free(in);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	signal(SIGPIPE, SIG_IGN); /* nginx goes away when its client does */
	FILE *f = fopen(argv[2], "r");
	if (!f)
		return 1;
	page_length = (size_t)sprintf(page, "Status: 200 OK\r\nContent-Type: text/html\r\n\r\n");
	page_length += fread(page + page_length, 1, 4096, f);
	fclose(f);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
	int l = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(l, (struct sockaddr *)&address, sizeof address) || chmod(argv[1], 0666) || listen(l, 511))
		return 1;
	for (;;) {
		int fd = accept(l, 0, 0);
		pthread_t t;
		if (fd >= 0 && pthread_create(&t, 0, serve, (void *)(long)fd) == 0)
			pthread_detach(t);
	}
}
