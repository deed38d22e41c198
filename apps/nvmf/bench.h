/* SPDX-License-Identifier: BSD-3-Clause */
/* `bench`: both ends in one process, on two lcores, over an in-process wire, against a RAM disk. */
#ifndef BENCH_H
#define BENCH_H

/* argv[0] is "bench"; returns the exit code. */
int bench(int argc, char **argv);

#endif
