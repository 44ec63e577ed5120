#ifndef RELAY_H
#define RELAY_H

#include <limits.h>
#include <stddef.h>

/* Whether the request was handed over. */
enum relay_outcome {
	relay_not_tried,    /* not a request, switched off, or too unusual: Go decides */
	relay_none,         /* there is no resident server */
	relay_refused,      /* there may be one, but it is not trusted: see relay_reason */
	relay_not_accepted, /* it did not accept the request */
	relay_lost          /* it accepted the request and ended without a response */
};

extern enum relay_outcome relay_outcome;
extern const char *relay_reason;

/* What the relay has read of the body. */
extern unsigned char relay_body[];
extern size_t relay_body_length;

/* The body did not arrive in time: do not wait for the rest. */
extern int relay_body_late;

/* What is known before the root is opened. */
struct site {
	char root[PATH_MAX];       /* of the root, or of its files on this host, links resolved */
	char script[PATH_MAX];     /* the two-line file that started us, or "" */
	char executable[PATH_MAX]; /* this program, links resolved */
	char nph[8];               /* auto, on, off or "" */
};

/* started_file returns the path of the file that the kernel was told to start, this
 * program or a two-line file, or "" if the path is not known. */
const char *started_file (void);

/* find_site finds the root by the rules of site.FindConf. It returns 0 if there is
 * none, if the configuration is wrong, which Go reports, and if it wants no resident
 * server. */
int find_site (struct site *s, char **argv);

#endif
