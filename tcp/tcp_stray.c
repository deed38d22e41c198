/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_stray.h"

#include "steer.h"
#include "tcp_listen.h"
#include "tcp_pvt.h"

void
tcp_set_strangers(struct tcp *tcp, enum tcp_strangers strangers)
{
	tcp->strangers = net_if(tcp->net)->steer ? strangers : TCP_STRANGERS_ANSWER;
}

bool
tcp_stray_next(struct tcp *tcp, struct tcp_stray *stray)
{
	if (tcp->n_strays == 0)
		return false;
	tcp->n_strays--;
	*stray = tcp->strays[tcp->first_stray++ % TCP_STRAYS];
	return true;
}

static uint32_t
home_of(const struct tcp *tcp, const struct tcp_rx_seg *rx)
{
	struct iw_addr local = rx->pkt->dst, remote = rx->pkt->src;

	local.port = rx->seg.dport;
	remote.port = rx->seg.sport;
	return net_home(tcp->net, &remote, &local);
}

/* Where it is looked for next; our own number: it is ours after all, or all were asked. */
static uint32_t
next_engine(const struct tcp *tcp, uint32_t home, bool listens)
{
	uint32_t me = net_if(tcp->net)->engine, next = me + 1 < net_if(tcp->net)->steer->n ? me + 1 : 0;

	if (listens && (tcp->strangers != TCP_STRANGERS_SPREAD || home == me))
		return me;
	if (tcp->strangers != TCP_STRANGERS_HANDED && home != me)
		return home;
	return next == home ? me : next;
}

bool
tcp_stray_take(struct tcp *tcp, struct tcp_rx_seg *rx)
{
	struct tcp_stray s = {.m = rx->m};

	if (tcp->strangers == TCP_STRANGERS_ANSWER || tcp_listen_half_open(tcp, rx))
		return false;
	s.home = home_of(tcp, rx);
	s.to = next_engine(tcp, s.home, tcp_listen_there(tcp, rx));
	if (s.to == net_if(tcp->net)->engine)
		return false;
	if (tcp->n_strays == TCP_STRAYS) {
		tcp->n.rx_strays_dropped++;
		return true;
	}
	tcp->n.rx_strays++;
	tcp->strays[(tcp->first_stray + tcp->n_strays++) % TCP_STRAYS] = s;
	rx->m = NULL;
	return true;
}
