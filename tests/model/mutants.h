/* SPDX-License-Identifier: BSD-3-Clause */
/* Plausible mistakes in the tables, each of which some promise must catch. */
#ifndef MUTANTS_H
#define MUTANTS_H

struct mutant {
	const char *name;
	void (*apply)(void);
	const char *scenario; /* where it shows; NULL: TIME_WAIT alone */
	const char *promise;  /* the beginning of what is said */
};

extern const struct mutant open_cm_mutants[], open_qp_mutants[], open_tw_mutants[]; /* end with a name of NULL */
void open_cm_restore(void);
void open_qp_restore(void);
void open_tw_restore(void);

#endif
