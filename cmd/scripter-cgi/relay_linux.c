/* The relay hands a request over to a resident scripter-fcgi that serves the same root.
 * The .acgi of 1998 did the same for an application that was running.
 *
 * It runs in an ELF constructor, before the Go runtime starts, because that takes most
 * of a request's time. It ends the process when the request is answered. If there is
 * no resident server it returns, and Go answers the request in the same process.
 *
 * The request is sent as FastCGI (package fcgi) to the resident socket, ROOT-door. Its
 * variables are sent unchanged. Variables that begin with "scripter.", which no web
 * server can set, tell the server what it must know to answer as this process would
 * (gateway.Resident). The first byte of FCGI_STDERR tells that the server has accepted
 * the request. Until then this process may answer itself. If the server cannot write
 * that byte, because this process is gone, it does nothing. So no request runs twice.
 *
 * The relay reads the whole body first, so that a slow client never occupies the
 * resident server. If the body is longer than most_body, Go answers the request, with
 * the part that was read. */

#include "relay.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	accept_time = 3000,             /* ms in which the server must accept a request */
	settle_time = 100000,           /* µs after a truncated response */
	body_idle = 15000,              /* ms until the next piece of a body: gateway.bodyIdle */
	body_time = 60000,              /* ms until its end: gateway.bodyTime */
	most_params = 192 << 10,        /* below the limits of package fcgi */
	most_variables = 900,
	most_content = 65528,           /* of a record, a multiple of 8 */
	most_body = 256 << 10,
	header_size = 8
};

enum relay_outcome relay_outcome = relay_not_tried;
const char *relay_reason = "";
unsigned char relay_body[most_body];
size_t relay_body_length;
int relay_body_late;

enum {
	type_begin = 1,
	type_abort = 2,
	type_end = 3,
	type_params = 4,
	type_stdin = 5,
	type_stdout = 6,
	type_stderr = 7
};

static const long long until_end = -1, unclear = -2;

/* The request under way. It is static: the process has one request, and memory that is
 * not touched costs nothing. */
static struct {
	int fd;
	unsigned char out[most_params + most_body + 4096]; /* records to be sent */
	size_t sent, length;
	unsigned char in[64 << 10];
	int accepted;                    /* the server has accepted the request */
	int answered;                 /* part of the response was passed on */
	int ended, status;            /* FCGI_END_REQUEST came */
	unsigned char head[header_size];
	size_t have;                  /* bytes of head that are there */
	size_t content, padding;      /* bytes of the record that have not arrived */
} r;

static volatile sig_atomic_t terminated;

static void on_term (int sig) { terminated = sig; }

static long long now (void)
{
	struct timespec t;
	clock_gettime (CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void put_header (unsigned char *p, int type, size_t length)
{
	unsigned char head[header_size] = {1, type, 0, 1, length >> 8, length & 0xff, 0, 0};
	memcpy (p, head, header_size);
}

/* --- the request ------------------------------------------------------------ */

static char params[most_params];
static size_t params_length;

static int put_length (size_t n)
{
	if (params_length + 4 > sizeof params)
		return 0;
	if (n < 128) {
		params[params_length++] = n;
		return 1;
	}
	for (int shift = 24; shift >= 0; shift -= 8)
		params[params_length++] = (n >> shift & 0xff) | (shift == 24 ? 0x80 : 0);
	return 1;
}

static int put_pair (const char *name, size_t n, const char *value)
{
	size_t v = strlen (value);
	if (!put_length (n) || !put_length (v) || n + v > sizeof params - params_length)
		return 0;
	memcpy (params + params_length, name, n);
	memcpy (params + params_length + n, value, v);
	params_length += n + v;
	return 1;
}

/* The prefix of our own variables. No web server sets such a name. */
static const char own[] = "scripter.";

/* is_hidden reports whether a variable may hold the password of PostgreSQL, which is not handed over. */
static int is_hidden (const char *name, size_t n)
{
	static const char *const hidden[] = {"SCRIPTER_ROOT", "PGPASSWORD", "PGSSLPASSWORD"};
	static const char redirect[] = "REDIRECT_";
	if (n > sizeof redirect && strncmp (name, redirect, sizeof redirect - 1) == 0)
		name += sizeof redirect - 1, n -= sizeof redirect - 1;
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (strlen (hidden[i]) == n && strncmp (name, hidden[i], n) == 0)
			return 1;
	return 0;
}

/* put_variables appends the environment. If a name comes twice, the first one counts, as
 * in gateway.Variables. If it is a header field, this process answers the request
 * itself, because the gateway must decide about it. */
static int put_variables (char **environment)
{
	for (int i = 0; environment[i] != NULL; i++) {
		const char *equals = strchr (environment[i], '=');
		if (i >= most_variables)
			return 0;
		if (equals == NULL || equals == environment[i] || strncmp (environment[i], own, sizeof own - 1) == 0)
			continue;
		size_t n = equals - environment[i];
		if (is_hidden (environment[i], n))
			continue;
		int again = 0;
		for (int k = 0; k < i && !again; k++)
			again = strncmp (environment[k], environment[i], n + 1) == 0;
		if (again && strncmp (environment[i], "HTTP_", 5) == 0)
			return 0;
		if (!again && !put_pair (environment[i], n, equals + 1))
			return 0;
	}
	return 1;
}

static int put_own (const char *name, const char *value) { return put_pair (name, strlen (name), value); }

/* body_bytes returns the length of the body, until_end if it ends with the stream, and
 * unclear if Go must say what is wrong with its length (gateway.contentLength). */
static long long body_bytes (void)
{
	const char *length = getenv ("CONTENT_LENGTH"), *coding = getenv ("HTTP_TRANSFER_ENCODING");
	if (length == NULL || *length == 0)
		return coding != NULL && strcasestr (coding, "chunked") != NULL ? until_end : 0;
	if (strcmp (length, "-1") == 0)
		return until_end;
	if (strspn (length, "0123456789") != strlen (length) || strlen (length) > 18)
		return unclear;
	return atoll (length);
}

/* body_comes waits for the next piece of the body, or for its end. It returns 0 after
 * the time limit. A file is always ready. */
static int body_comes (long long end)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	long long idle = now () + body_idle, left;
	if (idle > end)
		idle = end;
	while ((left = idle - now ()) > 0 && !terminated)
		if (poll (&p, 1, left) != 0 && (p.revents != 0 || errno != EINTR))
			return 1;
	relay_body_late = !terminated;
	return 0;
}

/* read_body reads the whole body. It returns 0 if the body is too long or too late, or
 * if the client is gone. */
static int read_body (void)
{
	long long want = body_bytes ();
	if (want == unclear || want > most_body)
		return 0;
	long long end = now () + body_time;
	while (want == until_end || (long long) relay_body_length < want) {
		size_t most = (want == until_end ? most_body : want) - relay_body_length;
		if (most == 0)
			return 0;
		if (!body_comes (end))
			return 0;
		ssize_t n = read (STDIN_FILENO, relay_body + relay_body_length, most);
		if (terminated)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* the gateway decides about a truncated body */
		relay_body_length += n;
	}
	return 1;
}

/* put_stream appends records of a stream, and the empty one that ends it. */
static void put_stream (int type, const void *from, size_t length)
{
	const unsigned char *p = from;
	size_t n;
	do {
		n = length < most_content ? length : most_content;
		put_header (r.out + r.length, type, n);
		memcpy (r.out + r.length + header_size, p, n);
		r.length += header_size + n, p += n, length -= n;
	} while (n > 0);
}

/* write_request makes the records of the request. */
static int write_request (const struct site *s, char **argv, char **environment)
{
	static const unsigned char responder[8] = {0, 1, 0}; /* FCGI_RESPONDER, no FCGI_KEEP_CONN */
	if (!put_variables (environment))
		return 0;
	if (!put_own ("scripter.root", s->root) || !put_own ("scripter.program", argv[0] == NULL ? "" : argv[0]) ||
	    !put_own ("scripter.executable", s->executable) || !put_own ("scripter.script", s->script) ||
	    !put_own ("scripter.nph", s->nph))
		return 0;
	put_header (r.out, type_begin, sizeof responder);
	memcpy (r.out + header_size, responder, sizeof responder);
	r.length = header_size + sizeof responder;
	put_stream (type_params, params, params_length);
	put_stream (type_stdin, relay_body, relay_body_length);
	return 1;
}

/* --- the resident server ---------------------------------------------------- */

static int refuse (const char *reason)
{
	relay_outcome = relay_refused;
	relay_reason = reason;
	return 0;
}

/* may_trust reports whether a file or process of that user is as good as our own. */
static int may_trust (uid_t user) { return user == geteuid () || user == 0; }

/* peer returns the user of the process that listens. */
static int peer (int fd, uid_t *user)
{
#ifdef SO_PEERCRED
	struct ucred c;
	socklen_t n = sizeof c;
	if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &c, &n) != 0)
		return 0;
	*user = c.uid;
	return 1;
#else
	gid_t group;
	return getpeereid (fd, user, &group) == 0;
#endif
}

/* find_socket finds the resident socket. It returns 0 if there is none. */
static int find_socket (const struct site *s, struct sockaddr_un *a, struct stat *file)
{
	a->sun_family = AF_UNIX;
	if ((size_t) snprintf (a->sun_path, sizeof a->sun_path, "%s-door", s->root) >= sizeof a->sun_path)
		return 0; /* the resident server cannot have it either */
	if (lstat (a->sun_path, file) == 0)
		return 1;
	relay_outcome = relay_none;
	return 0;
}

/* connect_socket connects to the resident socket if it can be trusted: only users who
 * could change the root itself can have put it there, and the process that listens
 * belongs to our own user or to root. */
static int connect_socket (const struct site *s, const struct sockaddr_un *a, const struct stat *file)
{
	struct stat root, folder;
	uid_t user;
	char dir[PATH_MAX];
	strcpy (dir, s->root);
	*(strrchr (dir, '/') + 1) = 0;
	if (stat (dir, &folder) != 0)
		return 0;
	if (stat (s->root, &root) != 0) /* it is in PostgreSQL */
		root = folder;
	if (!S_ISSOCK (file->st_mode))
		return refuse ("it is no socket");
	if (!may_trust (file->st_uid) && file->st_uid != root.st_uid)
		return refuse ("it belongs to another user");
	if ((file->st_mode & S_IWOTH) != 0)
		return refuse ("everybody may write to it");
	if ((folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0)
		return refuse ("everybody may write to its folder");
	int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (connect (fd, (const struct sockaddr *) a, sizeof *a) != 0) {
		if (errno == ECONNREFUSED || errno == ENOENT)
			relay_outcome = relay_none;
		else if (errno == EACCES || errno == EPERM)
			refuse ("this user may not connect to it");
		else
			relay_outcome = relay_not_accepted; /* its backlog is full */
		close (fd);
		return 0;
	}
	if (!peer (fd, &user) || !may_trust (user)) {
		close (fd);
		return refuse ("the process behind it is another user's");
	}
	r.fd = fd;
	return 1;
}

/* --- the answer ------------------------------------------------------------- */

/* pass_on writes to the web server. It returns 0 if that is gone. */
static int pass_on (int fd, const unsigned char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write (fd, p, n);
		if (k < 0 && errno == EINTR && !terminated)
			continue;
		if (k < 0 && errno == EAGAIN && !terminated) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};
			poll (&wait, 1, -1);
			continue;
		}
		if (k <= 0)
			return 0;
		p += k, n -= k;
	}
	return 1;
}

/* content handles content of the record under way. It returns 0 if the web server is
 * gone. */
static int content (const unsigned char *p, size_t n)
{
	static unsigned char end[8];
	static size_t have;
	switch (r.head[1]) {
	case type_stdout:
		if (!r.accepted)
			return 0; /* the response of a master without a worker for the request */
		r.answered = 1;
		return pass_on (STDOUT_FILENO, p, n);
	case type_stderr:
		if (!r.accepted)
			r.accepted = 1, p++, n--;
		pass_on (STDERR_FILENO, p, n);
		return 1;
	case type_end:
		for (; n > 0 && have < sizeof end; n--)
			end[have++] = *p++;
		if (have == sizeof end) {
			r.ended = 1;
			r.status = end[3];
		}
	}
	return 1;
}

/* receive handles bytes from the resident server. */
static int receive (const unsigned char *p, size_t n)
{
	while (n > 0 && !r.ended) {
		size_t k;
		if (r.have < header_size) {
			r.head[r.have++] = *p++, n--;
			if (r.have == header_size) {
				r.content = r.head[4] << 8 | r.head[5];
				r.padding = r.head[6];
				if (r.head[0] != 1)
					return 0;
			}
		} else if (r.content > 0) {
			k = n < r.content ? n : r.content;
			if (!content (p, k))
				return 0;
			p += k, n -= k, r.content -= k;
		} else {
			k = n < r.padding ? n : r.padding;
			p += k, n -= k, r.padding -= k;
		}
		if (r.have == header_size && r.content == 0 && r.padding == 0)
			r.have = 0;
	}
	return 1;
}

/* --- back and forth --------------------------------------------------------- */

/* send_queued sends records. On an error it drops the rest: the resident server does
 * not want it. */
static void send_queued (void)
{
	ssize_t n = send (r.fd, r.out + r.sent, r.length - r.sent, MSG_NOSIGNAL);
	if (n >= 0)
		r.sent += n;
	else if (errno != EAGAIN && errno != EINTR)
		r.sent = r.length;
}

/* abort_request tells the resident server to abort the request. */
static void abort_request (void)
{
	unsigned char record[header_size];
	put_header (record, type_abort, 0);
	if (r.sent == r.length) /* else in the middle of a record: closing the connection aborts too */
		send (r.fd, record, sizeof record, MSG_NOSIGNAL);
}

/* exchange relays until the request has ended, the resident server is gone, or it has
 * not accepted the request in time. */
static void exchange (void)
{
	long long deadline = now () + accept_time;
	int aborted = 0;
	while (!r.ended) {
		struct pollfd p = {.fd = r.fd, .events = r.sent < r.length ? POLLIN | POLLOUT : POLLIN};
		int left = -1;
		if (!r.accepted && (left = deadline - now ()) <= 0)
			return;
		if (terminated && !aborted) {
			aborted = 1;
			abort_request ();
		}
		if (poll (&p, 1, left) < 0)
			continue; /* by a signal */
		if (p.revents & POLLOUT)
			send_queued ();
		if (p.revents & (POLLIN | POLLHUP | POLLERR)) {
			ssize_t n = recv (r.fd, r.in, sizeof r.in, 0);
			if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || (n > 0 && !receive (r.in, n)))
				return;
		}
	}
}

/* was_accepted reports, after the relay has given up, whether the request was accepted.
 * After the shutdown the server cannot accept it any more, and if it did before, the
 * byte has arrived. */
static int was_accepted (void)
{
	shutdown (r.fd, SHUT_RDWR);
	for (ssize_t n; !r.accepted && (n = recv (r.fd, r.in, sizeof r.in, 0)) > 0 && receive (r.in, n);)
		;
	return r.accepted;
}

static int is_set (const char *name)
{
	const char *v = getenv (name);
	return v != NULL && *v != 0;
}

/* hand_over hands the request over, and ends the process if it is answered. */
static void hand_over (const struct site *s, char **argv, char **environment)
{
	struct sockaddr_un a;
	struct stat file;
	if (!find_socket (s, &a, &file) || !read_body () || !connect_socket (s, &a, &file))
		return;
	if (write_request (s, argv, environment)) {
		exchange ();
		if (r.ended && r.accepted)
			_exit (r.status);
		if (was_accepted () && r.answered) {
			usleep (settle_time); /* as gateway.ServeCGI does */
			_exit (1);
		}
		relay_outcome = r.accepted ? relay_lost : relay_not_accepted;
	}
	close (r.fd);
}

/* Settings for a process that lives for milliseconds. Go's runtime has a thread that
 * wakes every 20 µs, and the C library makes an arena for each thread that allocates.
 * Timer slack of a millisecond and a single arena save processor time. Both must be set
 * before the threads start. */
__attribute__ ((constructor))
static void short_lived (void)
{
	prctl (PR_SET_TIMERSLACK, 1000000UL, 0, 0, 0);
#ifdef __GLIBC__
	mallopt (M_ARENA_MAX, 1);
#endif
}

/* relay lets the resident server answer the request and ends the process, or returns. */
#ifdef __GLIBC__ /* others do not give a constructor the arguments */
__attribute__ ((constructor))
#endif
static void relay (int argc, char **argv, char **environment)
{
	static struct site s;
	struct sigaction term = {.sa_handler = on_term}, ignored = {.sa_handler = SIG_IGN}, old[3];
	if ((!is_set ("GATEWAY_INTERFACE") && !is_set ("REQUEST_METHOD")) || is_set ("SCRIPTER_SAVE_ROOT"))
		return;
	if (!find_site (&s, argv))
		return;
	sigaction (SIGTERM, &term, &old[0]);
	sigaction (SIGPIPE, &ignored, &old[1]);
	sigaction (SIGHUP, &ignored, &old[2]);
	hand_over (&s, argv, environment);
	if (terminated)
		_exit (1);
	sigaction (SIGTERM, &old[0], NULL);
	sigaction (SIGPIPE, &old[1], NULL);
	sigaction (SIGHUP, &old[2], NULL);
}
