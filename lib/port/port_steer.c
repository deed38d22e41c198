/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_steer.h"

#include <rte_flow.h>
#include <string.h>

#include "secret.h"

#define TYPES4 RTE_ETH_RSS_NONFRAG_IPV4_TCP
#define TYPES6 (RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX)
#define TYPES (TYPES4 | TYPES6)
#define GROUP RTE_ETH_RETA_GROUP_SIZE
#define GROUPS (STEER_TABLE / GROUP)
#define OWN_TABLE 128 /* entries, where the port has none to go by */

void
port_steer_ask(const struct rte_eth_dev_info *info, uint8_t key[PORT_STEER_KEY_MAX], struct rte_eth_conf *conf)
{
	uint8_t len = info->hash_key_size ? info->hash_key_size : STEER_KEY;
	uint64_t types = info->flow_type_rss_offloads & TYPES;

	if (!types)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = types;
	/* Random, so that nobody can choose ports that all lead to one engine; else the driver's own. */
	if (len <= PORT_STEER_KEY_MAX && secret_fill(key, len) == 0) {
		conf->rx_adv_conf.rss_conf.rss_key = key;
		conf->rx_adv_conf.rss_conf.rss_key_len = len;
	}
}

/* The key that the port hashes TCP with; false: it does not, or does not say. */
static bool
key_of(uint16_t port_id, uint8_t key[PORT_STEER_KEY_MAX])
{
	struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = PORT_STEER_KEY_MAX};

	memset(key, 0, PORT_STEER_KEY_MAX);
	return rte_eth_dev_rss_hash_conf_get(port_id, &conf) == 0 && (conf.rss_hf & TYPES) != 0 &&
	       (conf.rss_key_len == 0 || conf.rss_key_len >= STEER_KEY);
}

static void
fill_table(struct rte_eth_rss_reta_entry64 *table, uint16_t entries, uint32_t queues)
{
	for (uint16_t i = 0; i < entries; i++) {
		table[i / GROUP].mask = UINT64_MAX;
		table[i / GROUP].reta[i % GROUP] = (uint16_t)(i % queues);
	}
}

static bool
is_table_size(uint32_t entries)
{
	return entries >= GROUP && entries <= STEER_TABLE && (entries & (entries - 1)) == 0;
}

/* Which queue each hash leads to: ours in turn, or as it was found. */
static bool
take_table(uint16_t port_id, uint16_t entries, bool as_found, const struct port_queues *q)
{
	struct rte_eth_rss_reta_entry64 table[GROUPS];

	fill_table(table, entries, q->n);
	if (!as_found)
		rte_eth_dev_rss_reta_update(port_id, table, entries);
	if (rte_eth_dev_rss_reta_query(port_id, table, entries) != 0)
		return false;
	for (uint16_t i = 0; i < entries; i++) {
		uint16_t queue = table[i / GROUP].reta[i % GROUP];

		if (queue >= q->n)
			return false;
		q->steer->table[i] = (uint8_t)queue;
	}
	return true;
}

static bool
has_rss(uint16_t port_id, const struct rte_eth_dev_info *info, bool as_found, const struct port_queues *q)
{
	uint8_t key[PORT_STEER_KEY_MAX];

	if (!key_of(port_id, key) || !is_table_size(info->reta_size))
		return false;
	steer_init(q->steer, key, q->engines, info->reta_size);
	return take_table(port_id, info->reta_size, as_found, q);
}

static bool
add_rule(uint16_t port_id, enum rte_flow_item_type ip, uint64_t types, const struct port_queues *q)
{
	uint16_t queues[STEER_MAX];
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
						{.type = ip},
						{.type = RTE_FLOW_ITEM_TYPE_TCP},
						{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action_rss rss = {.types = types, .queue_num = q->n, .queue = queues};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_error error;

	for (uint16_t i = 0; i < q->n; i++)
		queues[i] = i;
	return rte_flow_validate(port_id, &attr, pattern, actions, &error) == 0 &&
	       rte_flow_create(port_id, &attr, pattern, actions, &error) != NULL;
}

/* Rules spread connections; to which queue one of them goes is the port's choice. */
static bool
has_rules(uint16_t port_id, const struct port_queues *q)
{
	bool v4 = add_rule(port_id, RTE_FLOW_ITEM_TYPE_IPV4, TYPES4, q);
	bool v6 = add_rule(port_id, RTE_FLOW_ITEM_TYPE_IPV6, TYPES6, q);

	return v4 || v6;
}

void
port_steer_probe(uint16_t port_id, const struct rte_eth_dev_info *info, bool as_found, struct port_queues *q)
{
	uint8_t key[STEER_KEY] = {0}; /* without random octets all is at home in one engine */

	if (q->n == q->engines && has_rss(port_id, info, as_found, q)) {
		q->steering = IW_STEERING_RSS;
		return;
	}
	(void)!secret_fill(key, sizeof(key));
	steer_init(q->steer, key, q->engines, OWN_TABLE);
	if (q->n < q->engines)
		q->steering = IW_STEERING_SOFTWARE;
	else
		q->steering = !as_found && has_rules(port_id, q) ? IW_STEERING_FLOW : IW_STEERING_PORT;
}
