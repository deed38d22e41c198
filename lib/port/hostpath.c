/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostpath.h"

/* lwIP has a struct netif too. */
#define netif lwip_netif
#include <lwip/init.h>
#include <lwip/ip4.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/timeouts.h>
#undef netif
#include <string.h>

#include "iw_addr.h"
#include "iw_time.h"

#define ETH_LEN 14u
#define TICK_NS (10 * IW_MS)
/* lwIP's timers run for so long after a packet, far beyond the life of a fragment (15 s), and stand still otherwise:
 * each time one fires lwIP frees and allocates, and a core that only carries data must not. */
#define AWAKE_NS (60 * IW_SEC)

struct hostpath {
	struct net *net;
	struct rte_mempool *pool;
	struct lwip_netif *lwip; /* the process's one, see below */
	struct net_route route;
	uint64_t now_ns, next_tick_ns, sleep_ns;
};

/* lwIP keeps its state in globals, a netif among them; taken says who has it. */
static struct lwip_netif the_netif;
static int taken;

/* lwIP's answer: an IP packet.  Its header goes; net_tx() writes ours, with the neighbour's address. */
static err_t
hostpath_output(struct lwip_netif *n, struct pbuf *p, const ip4_addr_t *dst)
{
	struct hostpath *h = n->state;
	const struct ip_hdr *ip = p->payload;
	uint16_t skip = (uint16_t)IPH_HL_BYTES(ip);
	struct iw_addr to = iw_addr_from_v4(lwip_ntohl(ip4_addr_get_u32(dst)), 0);
	struct rte_mbuf *m;

	if (p->tot_len < skip || (IPH_OFFSET(ip) & PP_HTONS(IP_OFFMASK | IP_MF)) != 0 || IPH_PROTO(ip) == NET_PROTO_TCP)
		return ERR_VAL;
	if (net_route(h->net, &to, &h->route) != 0)
		return ERR_RTE;
	m = rte_pktmbuf_alloc(h->pool);
	if (!m)
		return ERR_MEM;
	if (p->tot_len - skip > rte_pktmbuf_tailroom(m)) {
		rte_pktmbuf_free(m);
		return ERR_BUF;
	}
	pbuf_copy_partial(p, rte_pktmbuf_append(m, (uint16_t)(p->tot_len - skip)), (uint16_t)(p->tot_len - skip), skip);
	return net_tx(h->net, m, &h->route, IPH_PROTO(ip), 0, h->now_ns) == 0 ? ERR_OK : ERR_BUF;
}

static err_t
hostpath_netif_init(struct lwip_netif *n)
{
	struct hostpath *h = n->state;

	n->name[0] = 'i';
	n->name[1] = 'w';
	n->mtu = net_if(h->net)->mtu;
	n->output = hostpath_output;
	return ERR_OK;
}

static uint32_t
mask_of(uint8_t prefix_len)
{
	return prefix_len == 0 ? 0 : UINT32_MAX << (32 - prefix_len);
}

static bool
add_netif(struct hostpath *h)
{
	static bool initialised;
	const struct netif_v4 {
		ip4_addr_t addr, mask, gw;
	} v4 = {.addr.addr = lwip_htonl(iw_addr_v4(&net_if(h->net)->addr)),
		.mask.addr = lwip_htonl(mask_of(net_if(h->net)->prefix_len))};

	if (!initialised)
		lwip_init();
	initialised = true;
	memset(&the_netif, 0, sizeof(the_netif));
	h->lwip = netif_add(&the_netif, &v4.addr, &v4.mask, &v4.gw, h, hostpath_netif_init, ip4_input);
	if (!h->lwip)
		return false;
	netif_set_default(h->lwip);
	netif_set_link_up(h->lwip);
	netif_set_up(h->lwip);
	return true;
}

struct hostpath *
hostpath_create(struct net *net, struct rte_mempool *pool)
{
	struct hostpath *h;

	if (!iw_addr_is_v4(&net_if(net)->addr) || __atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE))
		return NULL;
	h = iw_env_alloc(sizeof(*h));
	if (h) {
		h->net = net;
		h->pool = pool;
		if (add_netif(h))
			return h;
	}
	iw_env_free(h);
	__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
	return NULL;
}

void
hostpath_destroy(struct hostpath *h)
{
	if (!h)
		return;
	netif_remove(h->lwip);
	iw_env_free(h);
	__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

/* lwIP owns what it is given and writes into it: a copy (received mbufs are read-only, D19). */
void
hostpath_rx(struct hostpath *h, struct rte_mbuf *m, uint64_t now_ns)
{
	uint32_t len = rte_pktmbuf_pkt_len(m);
	uint8_t buf[ETH_LEN + 65535];
	const uint8_t *frame;
	struct pbuf *p;

	h->now_ns = now_ns;
	h->sleep_ns = now_ns + AWAKE_NS;
	if (len > ETH_LEN && len <= sizeof(buf) && (frame = rte_pktmbuf_read(m, 0, len, buf)) != NULL) {
		p = pbuf_alloc(PBUF_RAW, (uint16_t)(len - ETH_LEN), PBUF_RAM);
		if (p && (pbuf_take(p, frame + ETH_LEN, (uint16_t)(len - ETH_LEN)) != ERR_OK ||
			  h->lwip->input(p, h->lwip) != ERR_OK))
			pbuf_free(p);
	}
	rte_pktmbuf_free(m);
}

void
hostpath_tick(struct hostpath *h, uint64_t now_ns)
{
	if (now_ns < h->next_tick_ns || now_ns >= h->sleep_ns)
		return;
	h->now_ns = now_ns;
	h->next_tick_ns = now_ns + TICK_NS;
	sys_check_timeouts();
}
