/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what must come out. */
#include "script_pvt.h"

static void
check_options(struct script *x, const struct script_row *r, const struct wire_seg *s)
{
	uint8_t there = (uint8_t)(s->has_mss * O_MSS | s->has_ws * O_WS | s->sack_ok * O_SACK | s->has_ts * O_TS);

	if (s->n_sack)
		there |= O_SACK;
	if ((there & r->opt) != r->opt || (there & r->no_opt))
		ROW_FAIL(x, "options 0x%x, must have 0x%x, must not have 0x%x", there, r->opt, r->no_opt);
	for (uint32_t i = 0; i < WIRE_SACKS && r->sack[i][1]; i++)
		if (i >= s->n_sack || s->sack[i][0] != x->iss + r->sack[i][0] ||
		    s->sack[i][1] != x->iss + r->sack[i][1])
			ROW_FAIL(x, "SACK block %u of %u is %u-%u, not %u-%u", i, s->n_sack, s->sack[i][0] - x->iss,
				 s->sack[i][1] - x->iss, r->sack[i][0], r->sack[i][1]);
	if ((r->mss && s->mss != r->mss) || (r->tsecr && s->tsecr != start_tick() + r->tsecr) ||
	    (r->ecn && s->ecn != r->ecn - 1))
		ROW_FAIL(x, "MSS %u, TSecr %u, ECN %u", s->mss, s->tsecr, s->ecn);
	if ((r->wnd && s->wnd != r->wnd) || (r->wnd0 && s->wnd))
		ROW_FAIL(x, "window %u", s->wnd);
}

static bool
seg_matches(const struct script *x, const struct script_row *r, const struct wire_seg *s, uint32_t seq)
{
	uint32_t ack = r->abs_ack ? s->ack : s->ack - x->iss;
	uint8_t idle = P;

	if ((s->flags & (S | A)) == S && !(r->flags & (E | W)))
		idle |= E | W; /* whether we offer ECN is a matter of its own script */
	if (!(r->any & ANY_FLAGS) && (s->flags & ~idle) != (r->flags & ~P))
		return false;
	return (r->any & ANY_SEQ || s->seq - x->our_iss == seq) && (r->any & ANY_LEN || s->len == r->len) &&
	       (r->any & ANY_ACK || !(s->flags & A) || ack == r->ack);
}

static void
check_time(struct script *x, const struct script_row *r, uint64_t at)
{
	uint64_t tol = r->tol ? r->tol : r->dt == 0 ? 0 : r->dt / 50 > IW_MS ? r->dt / 50 : IW_MS;
	uint64_t want = x->mark_ns + r->dt;

	if (!(r->any & ANY_TIME) && (at + tol < want || at > want + tol))
		ROW_FAIL(x, "came %.6f s after the row before, not %.6f s", (double)(at - x->mark_ns) / 1e9,
			 (double)r->dt / 1e9);
}

static void
one_out(struct script *x, const struct script_row *r, uint32_t seq)
{
	uint64_t tol = r->tol ? r->tol : r->dt == 0 ? 0 : r->dt / 50 > IW_MS ? r->dt / 50 : IW_MS;
	const struct wire_seg *s = &x->q[x->head % SCRIPT_QUEUE];
	char text[120], flags[9];

	if (x->head == x->tail)
		script_advance(x, r->any & ANY_TIME ? x->now_ns + 100 * SEC : x->mark_ns + r->dt + tol);
	if (x->head == x->tail)
		ROW_FAIL(x, "nothing came out, expected <%s seq %u ack %u len %u>", script_flag_text(r->flags, flags),
			 seq, r->ack, r->len);
	if (!seg_matches(x, r, s, seq))
		ROW_FAIL(x, "expected <%s seq %u ack %u len %u>, not %s", script_flag_text(r->flags, flags), seq,
			 r->ack, r->len, script_seg_text(x, s, text, sizeof(text)));
	check_options(x, r, s);
	check_time(x, r, x->at_ns[x->head % SCRIPT_QUEUE]);
	x->mark_ns = x->at_ns[x->head++ % SCRIPT_QUEUE];
}

void
script_out(struct script *x, const struct script_row *r)
{
	for (uint32_t i = 0; i < (r->n ? r->n : 1); i++)
		one_out(x, r, r->seq + i * r->len);
}
