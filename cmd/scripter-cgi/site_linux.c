/* Finds the root for the relay, as site.FindConf and site.ScriptFile do. Unusual
 * cases are left to them. */

#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char conf_name[] = "scripter.conf";
static const char system_conf[] = "/etc/scripter/scripter.conf";

/* variable returns a variable of the environment, or the one that Apache makes of it in
 * an internal redirect. It returns NULL if both are missing or empty. */
static const char *variable (const char *name)
{
	char redirected[64];
	const char *v = getenv (name);
	if (v != NULL && *v != 0)
		return v;
	snprintf (redirected, sizeof redirected, "REDIRECT_%s", name);
	v = getenv (redirected);
	return v != NULL && *v != 0 ? v : NULL;
}

static int put (char *to, size_t size, const char *from)
{
	size_t n = strlen (from);
	if (n >= size)
		return 0;
	memcpy (to, from, n + 1);
	return 1;
}

static int is_one_of (const char *s, const char *a, const char *b, const char *c)
{
	return strcmp (s, a) == 0 || strcmp (s, b) == 0 || strcmp (s, c) == 0;
}

/* has_dots reports whether a path has a ".." part. Go removes it from the text, the
 * system follows links first: the results may differ. */
static int has_dots (const char *path)
{
	for (const char *p = path; (p = strstr (p, "..")) != NULL; p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == 0))
			return 1;
	return 0;
}

/* beside writes the path of name in the folder of file to to. */
static int beside (char *to, const char *file, const char *name)
{
	const char *slash = strrchr (file, '/');
	int folder = slash == NULL ? 0 : (int) (slash - file) + 1;
	return snprintf (to, PATH_MAX, "%.*s%s", folder, file, name) < PATH_MAX;
}

static char *trim (char *s)
{
	static const char space[] = " \t\r\v\f";
	s += strspn (s, space);
	for (size_t n = strlen (s); n > 0 && strchr (space, s[n - 1]) != NULL;)
		s[--n] = 0;
	return s;
}

/* is_folder reports whether a line names a folder that gateway accepts too. */
static int is_folder (const char *value)
{
	return !has_dots (value) && value[strspn (value, "/.")] != 0;
}

/* is_server reports whether a line names a cache server that gateway accepts too. */
static int is_server (const char *value)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	const char *port;
	if (strncmp (value, "http://", 7) == 0)
		value += 7;
	else if (strncmp (value, "https://", 8) == 0)
		value += 8;
	if (*value == 0 || *value == ':')
		return 0;
	port = value + strspn (value, letters);
	if (*port == ':' && port[1] != 0 && strlen (port + 1) < 6)
		port += 1 + strspn (port + 1, "0123456789");
	return *port == 0;
}

/* is_host reports whether a word names a host that gateway accepts too: a name, also with
 * "*." before it, or an address of IPv4, also one of the own network. */
static int is_host (char *word, int own_network)
{
	static const char digits[] = "0123456789", local[] = "localhost";
	char *port = strchr (word, ':'), *last;
	struct in_addr address;
	if (port != NULL) {
		*port++ = 0;
		size_t n = strspn (port, digits);
		if (n == 0 || n > 5 || port[n] != 0 || atoi (port) < 1 || atoi (port) > 65535)
			return 0;
	}
	if (own_network && inet_pton (AF_INET, word, &address) == 1)
		return 1;
	if (word[0] == '*' && word[1] == '.')
		word += 2;
	size_t n = strlen (word);
	if (n == 0 || n > 253 || word[strspn (word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")] != 0
	    || word[0] == '.' || word[n - 1] == '.' || strstr (word, "..") != NULL)
		return 0;
	last = strrchr (word, '.');
	last = last == NULL ? word : last + 1;
	return strchr (digits, *last) == NULL && *last != '-' && (own_network || strcasecmp (last, local) != 0);
}

/* are_hosts reports whether a line names hosts that gateway accepts too. */
static int are_hosts (char *value, int own_network)
{
	char *rest = NULL, *word = strtok_r (value, " \t,", &rest);
	if (word == NULL)
		return 0;
	for (; word != NULL; word = strtok_r (NULL, " \t,", &rest))
		if (!is_host (word, own_network))
			return 0;
	return 1;
}

static const char letters_of_host[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
static const char letters_of_sender[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+";

/* is_sender reports whether n characters are an address, or *@ and a domain. */
static int is_sender (const char *from, size_t n)
{
	size_t local = *from == '*' ? 1 : strspn (from, letters_of_sender);
	if (local == 0 || local >= n || from[local] != '@')
		return 0;
	return local + 1 < n && local + 1 + strspn (from + local + 1, letters_of_host) == n;
}

/* is_mail reports whether a line names a mail server that gateway accepts too. */
static int is_mail (const char *value)
{
	int named = 0;
	size_t n;
	if (strncmp (value, "smtp://", 7) == 0)
		value += 7;
	else if (strncmp (value, "smtps://", 8) == 0)
		value += 8;
	else
		return 0;
	n = strspn (value, letters_of_sender);
	if (n > 0 && value[n] == '@')
		value += n + 1;
	if ((n = strspn (value, letters_of_host)) == 0)
		return 0;
	value += n;
	if (*value == ':') {
		n = strspn (value + 1, "0123456789");
		if (n == 0 || n > 4 || value[1] == '0')
			return 0;
		value += 1 + n;
	}
	while (*value == ' ') {
		value += strspn (value, " ");
		n = strcspn (value, " ");
		if (strncmp (value, "from=", 5) == 0) {
			for (const char *from = value + 5;; from += strcspn (from, ", ") + 1) {
				size_t length = strcspn (from, ", ");
				if (!is_sender (from, length))
					return 0;
				if (from + length >= value + n)
					break;
			}
			named = 1;
		} else if (strncmp (value, "password-file=/", 15) != 0 && strncmp (value, "ca-file=/", 9) != 0 &&
			   !(n == 6 && strncmp (value, "tls=on", n) == 0) && !(n == 7 && strncmp (value, "tls=off", n) == 0))
			return 0;
		value += n;
	}
	return *value == 0 && named;
}

static const char *const schemes[] = {"postgres://", "postgresql://"};

/* after_scheme returns what follows the scheme in the URL of a root, or NULL if a root is a file. */
static const char *after_scheme (const char *root)
{
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (strncmp (root, schemes[i], strlen (schemes[i])) == 0)
			return root + strlen (schemes[i]);
	return NULL;
}

/* is_database reports whether a line names a database that gateway accepts too: a name, and an absolute path or a URL
 * without a password. */
static int is_database (char *value)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t n = strspn (value, letters);
	const char *rest;
	if (n == 0 || value[n] != ' ')
		return 0;
	value = trim (value + n);
	if (*value == '/')
		return 1;
	if ((rest = after_scheme (value)) == NULL || strstr (rest, "password") != NULL)
		return 0;
	if (strchr (rest, '@') != NULL && strcspn (rest, ":") < strcspn (rest, "@"))
		return 0;
	n = strcspn (rest, " \t%");
	return rest[n] == 0 || strcmp (rest + n, " write") == 0;
}

/* line reads one line of a configuration file. */
static int line (struct site *s, char *text, const char *file, char *root, char *resident)
{
	char *value;
	text = trim (text);
	if (*text == 0 || *text == '#')
		return 1;
	if ((value = strchr (text, ':')) == NULL)
		return 0;
	*value++ = 0;
	text = trim (text), value = trim (value);
	if (strcmp (text, "root") == 0) {
		if (*value == '/' || *value == 0 || after_scheme (value) != NULL)
			return put (root, PATH_MAX, value);
		return beside (root, file, value);
	}
	if (strcmp (text, "nph") == 0)
		return is_one_of (value, "auto", "on", "off") && put (s->nph, sizeof s->nph, value);
	if (strcmp (text, "resident") == 0)
		return is_one_of (value, "auto", "start", "off") && put (resident, 8, value);
	/* Folders and hosts that the root may use: the resident server has its own list. */
	if (strcmp (text, "pages") == 0 || strcmp (text, "cache-folder") == 0)
		return is_folder (value);
	if (strcmp (text, "cache") == 0)
		return is_server (value);
	if (strcmp (text, "fetch") == 0)
		return are_hosts (value, 0);
	if (strcmp (text, "fetch-private") == 0)
		return are_hosts (value, 1);
	if (strcmp (text, "database") == 0)
		return is_database (value);
	if (strcmp (text, "mail") == 0)
		return is_mail (value);
	if (strcmp (text, "sendfile") == 0)
		return is_one_of (value, "on", "off", "off");
	return 0;
}

/* read_conf reads a configuration file. It returns 1 if it is right, 0 if it is wrong,
 * -1 if there is none. */
static int read_conf (struct site *s, const char *file, char *root, char *resident)
{
	char text[4096], *rest = text, *next;
	int fd = open (file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -1 : 0;
	ssize_t n = read (fd, text, sizeof text);
	close (fd);
	if (n < 0 || n == sizeof text || memchr (text, 0, n) != NULL)
		return 0;
	for (text[n] = 0; rest != NULL; rest = next) {
		if ((next = strchr (rest, '\n')) != NULL)
			*next++ = 0;
		if (!line (s, rest, file, root, resident))
			return 0;
	}
	return 1;
}

const char *started_file (void)
{
	const char *file = (const char *) getauxval (AT_EXECFN);
	return file == NULL ? "" : file;
}

/* script_file is site.ScriptFile: the two-line file that names this program. */
static void script_file (struct site *s)
{
	struct stat st, program;
	char head[2];
	const char *file = started_file ();
	if (stat (file, &st) != 0 || !S_ISREG (st.st_mode))
		return;
	if (stat (s->executable, &program) != 0 || (st.st_dev == program.st_dev && st.st_ino == program.st_ino))
		return;
	int fd = open (file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read (fd, head, 2) == 2 && memcmp (head, "#!", 2) == 0)
		put (s->script, sizeof s->script, file);
	close (fd);
}

/* from_files reads the configuration files, in the order of site.FindConf. */
static int from_files (struct site *s, char **argv, char *root, char *resident)
{
	char file[PATH_MAX];
	struct stat st;
	if (*s->script != 0)
		return read_conf (s, s->script, root, resident) == 1;
	if (argv[0] == NULL || argv[0][0] != '/' || !beside (file, argv[0], conf_name) || stat (file, &st) != 0)
		if (!beside (file, s->executable, conf_name))
			return 0;
	if (has_dots (file))
		return 0;
	int found = read_conf (s, file, root, resident);
	if (found == -1)
		found = read_conf (s, system_conf, root, resident);
	return found == 1;
}

/* add_part appends part of a URL to a file's name, as rootname.LocalPath does. */
static int add_part (char *name, const char *part)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.";
	size_t n = strlen (name);
	if (*part == 0)
		return 1;
	if (n + strlen (part) + 2 > NAME_MAX)
		return 0;
	if (n > 0)
		name[n++] = '-';
	for (; *part != 0; part++)
		name[n++] = strchr (letters, *part) != NULL ? *part : '_';
	name[n] = 0;
	return 1;
}

/* shorten replaces the end of a long name by a hash (FNV-1a), as rootname.LocalPath does. */
static void shorten (char *name)
{
	enum { most = 40 };
	uint32_t hash = 2166136261u;
	if (strlen (name) <= most)
		return;
	for (const char *p = name; *p != 0; p++)
		hash = (hash ^ (unsigned char) *p) * 16777619u;
	snprintf (name + most - 9, 10, "-%08x", hash);
}

/* state_folder is the folder for the files of this host of a root whose URL names none. */
static int state_folder (char *to)
{
	static const char shared[] = "/var/lib/scripter";
	const char *v;
	if (access (shared, W_OK | X_OK) == 0)
		return put (to, PATH_MAX, shared);
	if ((v = getenv ("XDG_STATE_HOME")) != NULL && *v == '/')
		return snprintf (to, PATH_MAX, "%s/scripter", v) < PATH_MAX;
	if ((v = getenv ("HOME")) != NULL && *v == '/')
		return snprintf (to, PATH_MAX, "%s/.local/state/scripter", v) < PATH_MAX;
	return 0;
}

/* local_path is rootname.LocalPath of a URL, with the links of the folder resolved. */
static int local_path (struct site *s, const char *rest)
{
	char text[PATH_MAX], folder[PATH_MAX] = "", name[NAME_MAX + 8] = "";
	char *database, *query, *next, *at, *value;
	const char *host, *schema = "scripter";
	if (!put (text, sizeof text, rest))
		return 0;
	if ((query = strchr (text, '?')) != NULL)
		*query++ = 0;
	if ((database = strchr (text, '/')) != NULL)
		*database++ = 0;
	else
		database = "";
	host = (at = strrchr (text, '@')) == NULL ? text : at + 1;
	for (; query != NULL; query = next) {
		if ((next = strchr (query, '&')) != NULL)
			*next++ = 0;
		if ((value = strchr (query, '=')) != NULL)
			*value++ = 0;
		else
			value = "";
		if (strcmp (query, "host") == 0)
			host = value;
		else if (strcmp (query, "dbname") == 0)
			database = value;
		else if (strcmp (query, "schema") == 0)
			schema = value;
		else if (strcmp (query, "host_folder") == 0 &&
			 (strpbrk (value, "%+") != NULL || !put (folder, sizeof folder, value)))
			return 0;
	}
	if (*folder == 0 ? !state_folder (folder) : *folder != '/' || has_dots (folder))
		return 0;
	if (!add_part (name, host) || !add_part (name, database) || !add_part (name, schema))
		return 0;
	shorten (name);
	if (realpath (folder, s->root) == NULL)
		return 0;
	size_t n = strlen (s->root);
	return snprintf (s->root + n, sizeof s->root - n, "/%s.root", name) < (int) (sizeof s->root - n);
}

int find_site (struct site *s, char **argv)
{
	char root[PATH_MAX] = "", resident[8] = "auto";
	const char *v;
	ssize_t n = readlink ("/proc/self/exe", s->executable, sizeof s->executable - 1);
	if (n <= 0)
		return 0;
	s->executable[n] = 0;
	script_file (s);
	if ((v = variable ("SCRIPTER_ROOT")) != NULL) {
		if (!put (root, sizeof root, v))
			return 0;
	} else if (!from_files (s, argv, root, resident))
		return 0;
	if ((v = variable ("SCRIPTER_NPH")) != NULL &&
	    !(is_one_of (v, "auto", "on", "off") && put (s->nph, sizeof s->nph, v)))
		return 0;
	if ((v = variable ("SCRIPTER_RESIDENT")) != NULL &&
	    !(is_one_of (v, "auto", "start", "off") && put (resident, sizeof resident, v)))
		return 0;
	if (*root == 0 || strcmp (resident, "off") == 0)
		return 0;
	if (after_scheme (root) != NULL)
		return local_path (s, after_scheme (root));
	if (has_dots (root))
		return 0;
	return realpath (root, s->root) != NULL;
}
