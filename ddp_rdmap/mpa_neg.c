/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpa_neg.h"

#include <assert.h>

#include "len.h"

void
mpa_neg_request(const struct mpa_neg_local *local, const void *private_data, uint16_t private_len,
		struct mpa_startup *request)
{
	bool enhanced = local->revision == 2;

	assert(local->revision == 1 || enhanced);
	assert(private_len <= mpa_hdr_private_max(enhanced));
	assert(local->ird < MPA_HDR_NOT_NEGOTIATED && local->ord < MPA_HDR_NOT_NEGOTIATED);
	*request = (struct mpa_startup){.rev = local->revision,
					.crc = local->crc,
					.markers = local->markers,
					.enhanced = enhanced,
					.private_data = private_data,
					.private_len = private_len};
	if (!enhanced)
		return;
	request->ird = local->no_ird_ord ? MPA_HDR_NOT_NEGOTIATED : local->ird;
	request->ord = local->no_ird_ord ? MPA_HDR_NOT_NEGOTIATED : local->ord;
	request->peer_to_peer = local->peer_to_peer;
	/* Each that we can do (RFC 6581 §9.2). */
	request->rtr_send = request->rtr_write = local->peer_to_peer;
	request->rtr_read = local->peer_to_peer && local->ord > 0; /* a Read needs an ORD */
}

/* RFC 6581 §9.1, at the initiator.  False: the responder will have more Reads under way than we can hold. */
static bool
initiator_depths(const struct mpa_neg_local *local, const struct mpa_startup *request, const struct mpa_startup *reply,
		 struct qp_stream *stream)
{
	if (reply->ird != MPA_HDR_NOT_NEGOTIATED)
		stream->ord = (uint16_t)iw_len_min(local->ord, reply->ird);
	/* Who said "not negotiated" takes any number in answer as information (M13). */
	if (reply->ord == MPA_HDR_NOT_NEGOTIATED || request->ird == MPA_HDR_NOT_NEGOTIATED)
		return true;
	if (reply->ord > local->ird)
		return false;
	stream->ird = reply->ord;
	return true;
}

/* RFC 6581 §9.2, at the initiator: one of the Reply's types that we can send.  False: connection model or RTR do not
 * match. */
static bool
initiator_rtr(const struct mpa_startup *request, const struct mpa_startup *reply, struct qp_stream *stream)
{
	if (request->peer_to_peer != reply->peer_to_peer)
		return false;
	if (!request->peer_to_peer)
		return true;
	if (reply->rtr_write)
		stream->rtr = QP_RTR_WRITE;
	else if (reply->rtr_read && stream->ord > 0)
		stream->rtr = QP_RTR_READ;
	else if (reply->rtr_send)
		stream->rtr = QP_RTR_SEND;
	return stream->rtr != QP_RTR_NONE;
}

static void
terminate(struct mpa_neg *out, enum rdmap_fault fault)
{
	out->verdict = MPA_NEG_TERMINATE;
	out->fault = fault;
}

void
mpa_neg_initiator(const struct mpa_neg_local *local, const struct mpa_startup *request, const struct mpa_startup *reply,
		  struct mpa_neg *out)
{
	*out = (struct mpa_neg){.verdict = MPA_NEG_AGREED};
	if (reply->reject) {
		out->verdict = MPA_NEG_REJECTED;
		return;
	}
	if (reply->rev != request->rev || reply->enhanced != request->enhanced) {
		out->verdict = MPA_NEG_CLOSE;
		return;
	}
	out->stream = (struct qp_stream){.initiator = true,
					 .crc = request->crc || reply->crc,
					 .tx_markers = reply->markers,
					 .rx_markers = request->markers,
					 .revision = request->rev,
					 .ird = local->ird,
					 .ord = local->ord,
					 .rtr = QP_RTR_NONE};
	if (!reply->enhanced)
		return;
	if (!initiator_depths(local, request, reply, &out->stream))
		terminate(out, RDMAP_FAULT_MPA_IRD);
	else if (!initiator_rtr(request, reply, &out->stream))
		terminate(out, RDMAP_FAULT_MPA_RTR);
}

/* The Request's form, mirrored (RFC 6581 §10). */
static struct mpa_startup
mirror(const struct mpa_startup *request, bool crc, const void *private_data, uint16_t private_len)
{
	assert(private_len <= mpa_hdr_private_max(request->enhanced));
	return (struct mpa_startup){.reply = true,
				    .rev = request->rev,
				    .crc = request->crc || crc,
				    .enhanced = request->enhanced,
				    .peer_to_peer = request->enhanced && request->peer_to_peer,
				    .private_data = private_data,
				    .private_len = private_len};
}

void
mpa_neg_reject(const struct mpa_neg_local *local, const struct mpa_startup *request, const void *private_data,
	       uint16_t private_len, struct mpa_startup *reply)
{
	*reply = mirror(request, local && local->crc, private_data, private_len);
	reply->reject = true;
	reply->rtr_write = reply->peer_to_peer; /* "at least one that it supports" */
	if (local && reply->enhanced) {
		reply->ird = local->ird;
		reply->ord = local->ord;
	}
}

/* RFC 6581 §9.2, at the responder: exactly one type, of those offered Write before Read before Send; none that we can
 * do: one of ours. */
static enum qp_rtr
responder_rtr(const struct mpa_neg_local *local, const struct mpa_startup *request)
{
	if (!request->peer_to_peer)
		return QP_RTR_NONE;
	if (request->rtr_write)
		return QP_RTR_WRITE;
	if (request->rtr_read && local->ird > 0)
		return QP_RTR_READ;
	return request->rtr_send ? QP_RTR_SEND : QP_RTR_WRITE;
}

/* RFC 6581 §9.1, at the responder: both our depths, and what the Reply says of them. */
static void
responder_depths(const struct mpa_startup *request, struct qp_stream *stream, struct mpa_startup *reply)
{
	reply->ird = MPA_HDR_NOT_NEGOTIATED;
	reply->ord = MPA_HDR_NOT_NEGOTIATED;
	if (request->ord != MPA_HDR_NOT_NEGOTIATED) {
		uint32_t wanted = iw_len_max(request->ord, stream->rtr == QP_RTR_READ);

		reply->ird = stream->ird = (uint16_t)iw_len_min(stream->ird, wanted);
	}
	if (request->ird != MPA_HDR_NOT_NEGOTIATED)
		reply->ord = stream->ord = (uint16_t)iw_len_min(stream->ord, request->ird);
}

void
mpa_neg_responder(const struct mpa_neg_local *local, const struct mpa_startup *request, const void *private_data,
		  uint16_t private_len, struct mpa_neg *out)
{
	struct mpa_startup *reply = &out->reply;
	struct qp_stream *stream = &out->stream;

	*out = (struct mpa_neg){.verdict = MPA_NEG_AGREED};
	*reply = mirror(request, local->crc, private_data, private_len);
	reply->markers = local->markers;
	*stream = (struct qp_stream){.crc = reply->crc,
				     .tx_markers = request->markers,
				     .rx_markers = local->markers,
				     .revision = request->rev,
				     .ird = local->ird,
				     .ord = local->ord,
				     .rtr = QP_RTR_NONE};
	if (!request->enhanced)
		return;
	stream->rtr = responder_rtr(local, request);
	reply->rtr_write = stream->rtr == QP_RTR_WRITE;
	reply->rtr_read = stream->rtr == QP_RTR_READ;
	reply->rtr_send = stream->rtr == QP_RTR_SEND;
	responder_depths(request, stream, reply);
}
