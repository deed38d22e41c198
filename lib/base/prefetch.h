/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetches a cache line that will be written: taken from other cores at once, not only shared with them. */
#ifndef IW_PREFETCH_H
#define IW_PREFETCH_H

static inline void
iw_prefetch_write(const void *p)
{
#ifdef __x86_64__
	/* What the compiler makes of a write hint for a CPU as old as our packages are built for is a read. */
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1, 3);
#endif
}

#endif
