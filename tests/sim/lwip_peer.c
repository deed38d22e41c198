/* SPDX-License-Identifier: BSD-3-Clause */
#include "lwip_peer.h"

#include <dlfcn.h>
#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/tcp.h>
#include <string.h>

#include "iw_addr.h"

#define TICK_NS (TCP_TMR_INTERVAL * UINT64_C(1000000))
#define CHUNK 4096

#define LWIP_CALLS(X)               \
	X(lwip_init)                \
	X(netif_add)                \
	X(netif_set_default)        \
	X(netif_set_up)             \
	X(netif_set_link_up)        \
	X(netif_remove)             \
	X(netif_add_ip6_address)    \
	X(netif_ip6_addr_set_state) \
	X(ip_input)                 \
	X(pbuf_alloc)               \
	X(pbuf_take)                \
	X(pbuf_free)                \
	X(pbuf_copy_partial)        \
	X(tcp_new_ip_type)          \
	X(tcp_bind)                 \
	X(tcp_connect)              \
	X(tcp_listen_with_backlog)  \
	X(tcp_arg)                  \
	X(tcp_accept)               \
	X(tcp_recv)                 \
	X(tcp_err)                  \
	X(tcp_recved)               \
	X(tcp_write)                \
	X(tcp_output)               \
	X(tcp_shutdown)             \
	X(tcp_close)                \
	X(tcp_abort)                \
	X(tcp_tmr)

#define CALL_FIELD(name) __typeof__(name) *name;
static struct {
	LWIP_CALLS(CALL_FIELD)
} lw;
static struct netif the_netif;

uint8_t
lwip_peer_octet(uint32_t which, uint64_t place)
{
	return (uint8_t)((place * 2 + which + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

uint64_t
lwip_peer_hash(uint64_t hash, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ data[i]) * UINT64_C(1099511628211);
	return hash;
}

static bool
load(void)
{
	static bool done;
	void *so = done ? NULL : dlopen("liblwip.so.0", RTLD_NOW | RTLD_LOCAL);

	if (done)
		return true;
	if (!so)
		return false;
#define CALL_LOAD(name)                                        \
	if (!(lw.name = (__typeof__(name) *)dlsym(so, #name))) \
		return false;
	LWIP_CALLS(CALL_LOAD)
	lw.lwip_init();
	done = true;
	return true;
}

static err_t
output(struct netif *n, struct pbuf *p)
{
	struct lwip_peer *peer = n->state;
	uint8_t packet[2048];

	if (p->tot_len > sizeof(packet))
		return ERR_BUF;
	lw.pbuf_copy_partial(p, packet, p->tot_len, 0);
	peer->output(peer->arg, packet, p->tot_len);
	return ERR_OK;
}

static err_t
output4(struct netif *n, struct pbuf *p, const ip4_addr_t *dst)
{
	(void)dst;
	return output(n, p);
}

static err_t
output6(struct netif *n, struct pbuf *p, const ip6_addr_t *dst)
{
	(void)dst;
	return output(n, p);
}

static ip_addr_t
address(const struct iw_addr *a)
{
	ip_addr_t ip = IPADDR4_INIT(PP_HTONL(iw_addr_v4(a)));

	if (iw_addr_is_v4(a))
		return ip;
	ip = (ip_addr_t)IPADDR6_INIT(0, 0, 0, 0);
	memcpy(ip_2_ip6(&ip)->addr, a->ip, sizeof(a->ip));
	return ip;
}

static err_t
netif_up(struct netif *n)
{
	n->name[0] = 'p';
	n->mtu = 1500;
	n->output = output4;
	n->output_ip6 = output6;
	return ERR_OK;
}

static bool
add_address(const struct iw_addr *ip)
{
	ip_addr_t a = address(ip);
	s8_t at;

	if (iw_addr_is_v4(ip))
		return true;
	if (lw.netif_add_ip6_address(&the_netif, ip_2_ip6(&a), &at) != ERR_OK)
		return false;
	lw.netif_ip6_addr_set_state(&the_netif, at, IP6_ADDR_PREFERRED);
	return true;
}

bool
lwip_peer_init(struct lwip_peer *p, const struct iw_addr *ip, lwip_peer_output out, void *arg)
{
	ip4_addr_t addr = {PP_HTONL(iw_addr_v4(ip))}, mask = {PP_HTONL(0xffffff00u)}, gw = {0};

	*p = (struct lwip_peer){.output = out, .arg = arg, .v6 = !iw_addr_is_v4(ip)};
	if (!load())
		return false;
	memset(&the_netif, 0, sizeof(the_netif));
	if (!lw.netif_add(&the_netif, &addr, &mask, &gw, p, netif_up, lw.ip_input))
		return false;
	lw.netif_set_default(&the_netif);
	lw.netif_set_link_up(&the_netif);
	lw.netif_set_up(&the_netif);
	return add_address(ip);
}

void
lwip_peer_fini(struct lwip_peer *p)
{
	if (p->pcb) {
		lw.tcp_err(p->pcb, NULL);
		lw.tcp_abort(p->pcb);
	}
	if (p->listener)
		lw.tcp_close(p->listener);
	lw.netif_remove(&the_netif);
}

/* ---- its connection ---- */

static err_t
on_recv(void *arg, struct tcp_pcb *pcb, struct pbuf *q, err_t err)
{
	struct lwip_peer *p = arg;
	uint8_t data[65536];

	if (!q || err != ERR_OK) {
		p->fin = q == NULL;
		return ERR_OK;
	}
	lw.pbuf_copy_partial(q, data, q->tot_len, 0);
	p->hash = lwip_peer_hash(p->hash, data, q->tot_len);
	p->got += q->tot_len;
	lw.tcp_recved(pcb, q->tot_len);
	lw.pbuf_free(q);
	return ERR_OK;
}

static void
on_err(void *arg, err_t err)
{
	struct lwip_peer *p = arg;

	p->pcb = NULL; /* lwIP has freed it */
	p->failed = err != ERR_CLSD || !p->closed;
}

static void
adopt(struct lwip_peer *p, struct tcp_pcb *pcb)
{
	p->pcb = pcb;
	lw.tcp_arg(pcb, p);
	lw.tcp_recv(pcb, on_recv);
	lw.tcp_err(pcb, on_err);
}

static err_t
on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
	struct lwip_peer *p = arg;

	if (err != ERR_OK || !pcb || p->pcb)
		return ERR_VAL;
	adopt(p, pcb);
	p->up = true;
	return ERR_OK;
}

static err_t
on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
	(void)pcb;
	((struct lwip_peer *)arg)->up = err == ERR_OK;
	return ERR_OK;
}

/* A connection's block of p's family, bound to a port. */
static struct tcp_pcb *
new_pcb(const struct lwip_peer *p, uint16_t port)
{
	struct tcp_pcb *pcb = lw.tcp_new_ip_type(p->v6 ? IPADDR_TYPE_V6 : IPADDR_TYPE_V4);
	ip_addr_t any4 = IPADDR4_INIT(0), any6 = IPADDR6_INIT(0, 0, 0, 0);

	lw.tcp_bind(pcb, p->v6 ? &any6 : &any4, port);
	return pcb;
}

void
lwip_peer_listen(struct lwip_peer *p, uint16_t port)
{
	struct tcp_pcb *pcb = new_pcb(p, port);

	p->listener = lw.tcp_listen_with_backlog(pcb, 4);
	lw.tcp_arg(p->listener, p);
	lw.tcp_accept(p->listener, on_accept);
}

void
lwip_peer_connect(struct lwip_peer *p, uint16_t from_port, const struct iw_addr *to)
{
	struct tcp_pcb *pcb = new_pcb(p, from_port);
	ip_addr_t ip = address(to);

	adopt(p, pcb);
	lw.tcp_connect(pcb, &ip, to->port, on_connected);
}

void
lwip_peer_input(struct lwip_peer *p, const uint8_t *packet, uint32_t len)
{
	struct pbuf *q = lw.pbuf_alloc(PBUF_RAW, (uint16_t)len, PBUF_RAM);

	(void)p;
	if (q && (lw.pbuf_take(q, packet, (uint16_t)len) != ERR_OK || the_netif.input(q, &the_netif) != ERR_OK))
		lw.pbuf_free(q);
}

static bool
write_some(struct lwip_peer *p)
{
	struct tcp_pcb *pcb = p->pcb;
	uint64_t left = p->want - p->sent;
	uint8_t data[CHUNK];
	uint16_t n = left < CHUNK ? (uint16_t)left : CHUNK;

	if (n > tcp_sndbuf(pcb))
		n = (uint16_t)tcp_sndbuf(pcb);
	for (uint16_t i = 0; i < n; i++)
		data[i] = lwip_peer_octet(1, p->sent + i);
	if (n == 0 || lw.tcp_write(pcb, data, n, TCP_WRITE_FLAG_COPY) != ERR_OK)
		return false;
	p->sent += n;
	return true;
}

void
lwip_peer_turn(struct lwip_peer *p, uint64_t now_ns)
{
	if (p->next_tick_ns == 0)
		p->next_tick_ns = now_ns + TICK_NS;
	for (uint32_t i = 0; i < 8 && now_ns >= p->next_tick_ns; i++) {
		lw.tcp_tmr();
		p->next_tick_ns += TICK_NS;
	}
	if (!p->pcb || !p->up)
		return;
	for (uint32_t i = 0; i < 16 && p->sent < p->want; i++)
		if (!write_some(p))
			break;
	lw.tcp_output(p->pcb);
	if (p->sent == p->want && !p->closed)
		p->closed = lw.tcp_shutdown(p->pcb, 0, 1) == ERR_OK;
	if (p->closed && p->fin) {
		lw.tcp_arg(p->pcb, NULL); /* lwIP ends it alone */
		lw.tcp_err(p->pcb, NULL);
		if (lw.tcp_close(p->pcb) == ERR_OK)
			p->pcb = NULL;
	}
}
