/* SPDX-License-Identifier: BSD-3-Clause */
#include "relay.h"

#include <string.h>

#include "router.h"

#define SEC 1000000000ull

static uint64_t
draw(struct relay *r)
{
	r->rng ^= r->rng << 13;
	r->rng ^= r->rng >> 7;
	r->rng ^= r->rng << 17;
	return r->rng;
}

static bool
chance(struct relay *r, uint32_t ppm)
{
	return draw(r) % 1000000 < ppm;
}

void
relay_init(struct relay *r, const struct relay_params *params, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	r->params = *params;
	r->rng = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t i = 0; i < RELAY_FRAMES; i++)
		r->spare[i] = i;
}

/* ---- a heap of frames by time; what is not in it lies in spare[n..] ---- */

static bool
earlier(const struct relay *r, uint32_t a, uint32_t b)
{
	const struct relay_frame *x = &r->frame[r->heap[a]], *y = &r->frame[r->heap[b]];

	return x->at_ns < y->at_ns || (x->at_ns == y->at_ns && x->order < y->order);
}

static void
swap(struct relay *r, uint32_t a, uint32_t b)
{
	uint32_t i = r->heap[a];

	r->heap[a] = r->heap[b];
	r->heap[b] = i;
}

static void
rise(struct relay *r, uint32_t i)
{
	for (; i && earlier(r, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(r, i, (i - 1) / 2);
}

static void
sink(struct relay *r, uint32_t i)
{
	for (;;) {
		uint32_t least = i;

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < r->n; k++)
			if (earlier(r, k, least))
				least = k;
		if (least == i)
			return;
		swap(r, i, least);
		i = least;
	}
}

static struct relay_frame *
fly(struct relay *r, int to, const uint8_t *data, uint32_t len, uint64_t at_ns)
{
	struct relay_frame *f;

	if (r->n == RELAY_FRAMES) {
		r->counts.full++;
		return NULL;
	}
	f = &r->frame[r->spare[r->n]];
	*f = (struct relay_frame){.at_ns = at_ns, .order = r->order++, .len = len, .to = to};
	memcpy(f->data, data, len);
	r->heap[r->n] = r->spare[r->n];
	rise(r, r->n++);
	return f;
}

const struct relay_frame *
relay_take(struct relay *r, uint64_t now_ns)
{
	uint32_t first = r->heap[0];

	if (r->n == 0 || r->frame[first].at_ns > now_ns)
		return NULL;
	r->heap[0] = r->heap[--r->n];
	r->spare[r->n] = first;
	sink(r, 0);
	return &r->frame[first];
}

uint64_t
relay_next(const struct relay *r)
{
	return r->n ? r->frame[r->heap[0]].at_ns : UINT64_MAX;
}

/* ---- what happens on the way ---- */

/* When the bottleneck has sent it; 0: its queue is full. */
static uint64_t
through_bottleneck(struct relay *r, int from, uint32_t len, uint64_t now_ns)
{
	uint64_t *free_ns = &r->free_ns[from], rate = r->params.rate_bits;

	if (!rate)
		return now_ns;
	if (*free_ns < now_ns)
		*free_ns = now_ns;
	if ((*free_ns - now_ns) * rate / 8 / SEC > r->params.queue)
		return 0;
	return *free_ns += len * 8 * SEC / rate;
}

/* One bit behind the Ethernet header. */
static void
flip(struct relay *r, struct relay_frame *f)
{
	f->data[14 + draw(r) % (f->len - 14)] ^= (uint8_t)(1 << draw(r) % 8);
	r->counts.corrupt++;
}

static void
send_on(struct relay *r, int from, const uint8_t *frame, uint32_t len, uint64_t at_ns)
{
	struct relay_frame *f;

	if (chance(r, r->params.late_ppm)) {
		at_ns += draw(r) % r->params.late_ns;
		r->counts.late++;
	}
	f = fly(r, !from, frame, len, at_ns);
	if (f && chance(r, r->params.corrupt_ppm))
		flip(r, f);
	if (f && chance(r, r->params.ce_ppm))
		r->counts.marked += router_mark_ce(f->data);
}

static void
tcp_frame(struct relay *r, int from, const uint8_t *frame, uint32_t len, uint64_t now_ns)
{
	uint64_t at_ns = through_bottleneck(r, from, len, now_ns);

	r->counts.frames++;
	if (at_ns == 0) {
		r->counts.full++;
		return;
	}
	if (chance(r, r->params.loss_ppm)) {
		r->counts.lost++;
		return;
	}
	at_ns += r->params.delay_ns;
	send_on(r, from, frame, len, at_ns);
	if (chance(r, r->params.dup_ppm)) {
		r->counts.dup++;
		send_on(r, from, frame, len, at_ns);
	}
}

void
relay_put(struct relay *r, int from, const uint8_t *frame, uint32_t len, uint64_t now_ns)
{
	uint64_t at_ns = now_ns + r->params.delay_ns;
	uint8_t answer[ROUTER_MAX];
	uint32_t ip_len;

	if (len > RELAY_FRAME_MAX)
		return;
	if (!router_is_tcp(frame, len, &ip_len)) {
		fly(r, !from, frame, len, at_ns);
	} else if (r->params.mtu && r->counts.frames >= r->params.mtu_after && ip_len > r->params.mtu) {
		r->counts.too_big++;
		if (!r->params.black_hole)
			fly(r, from, answer, router_too_big(frame, r->params.mtu, answer), at_ns);
	} else {
		tcp_frame(r, from, frame, len, now_ns);
	}
}
