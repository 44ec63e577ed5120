#ifndef RELAY_H
#define RELAY_H

#include <limits.h>
#include <stddef.h>

/* What became of the attempt to hand the request over. */
enum relay_outcome {
	relay_not_tried, /* not a request, switched off, or too unusual: Go decides */
	relay_nobody,    /* no resident server is there */
	relay_refused,   /* one may be there, and is not trusted: see relay_reason */
	relay_not_taken, /* it did not take the request up */
	relay_lost       /* it took the request up and went away without an answer */
};

extern enum relay_outcome relay_outcome;
extern const char *relay_reason;

/* What was read of the body before the request was left to Go. */
extern unsigned char relay_body[];
extern size_t relay_body_length;

/* The body took too long: do not wait for the rest of it. */
extern int relay_body_late;

/* What is known of this run before the root is opened. */
struct site {
	char root[PATH_MAX];       /* of the root, links resolved */
	char script[PATH_MAX];     /* the two-line file that started us, or "" */
	char executable[PATH_MAX]; /* this program, links resolved */
	char nph[8];               /* auto, on, off or "" */
};

/* started_file returns the path of the file that the kernel was told to start, this
 * program or a two-line file, or "" if the path is not known. */
const char *started_file (void);

/* find_site finds the root by the rules of gateway.FindConf. It returns 0 when
 * there is none, when the configuration is wrong, which Go tells the owner, and
 * when it does not want a resident server. */
int find_site (struct site *s, char **argv);

#endif
