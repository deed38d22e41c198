/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrusive first-in first-out list with membership: ready lists, run lists. */
#ifndef IW_LIST_H
#define IW_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct iw_link {
	struct iw_link *next, *prev; /* NULL: in no list */
};

struct iw_list {
	struct iw_link head;
};

#define iw_list_entry(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void
iw_list_init(struct iw_list *l)
{
	l->head.next = l->head.prev = &l->head;
}

static inline bool
iw_list_empty(const struct iw_list *l)
{
	return l->head.next == &l->head;
}
static inline bool
iw_list_linked(const struct iw_link *n)
{
	return n->next != NULL;
}

/* Appends; nothing when it is in a list already. */
static inline void
iw_list_add(struct iw_list *l, struct iw_link *n)
{
	if (n->next)
		return;
	n->next = &l->head;
	n->prev = l->head.prev;
	l->head.prev->next = n;
	l->head.prev = n;
}

/* In front of all others: it is the next to be popped.  Nothing when it is in a list already. */
static inline void
iw_list_push(struct iw_list *l, struct iw_link *n)
{
	if (n->next)
		return;
	n->next = l->head.next;
	n->prev = &l->head;
	l->head.next->prev = n;
	l->head.next = n;
}

/* Takes it out of its list, if any. */
static inline void
iw_list_del(struct iw_link *n)
{
	if (!n->next)
		return;
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->next = n->prev = NULL;
}

static inline struct iw_link *
iw_list_first(const struct iw_list *l)
{
	return iw_list_empty(l) ? NULL : l->head.next;
}

/* Removes and returns the first, NULL when empty. */
static inline struct iw_link *
iw_list_pop(struct iw_list *l)
{
	struct iw_link *n = iw_list_first(l);

	if (n)
		iw_list_del(n);
	return n;
}

#endif
