/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DMA_H
#define DMA_H

#include <stdbool.h>
#include <stdint.h>

/* DPDK knows all of this memory: EAL gave it out, or iw_dma_map() was called for it. */
bool dma_is_mapped(const void *addr, uint64_t len);

#endif
