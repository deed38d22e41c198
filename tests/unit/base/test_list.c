/* SPDX-License-Identifier: BSD-3-Clause */
#include "list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct item {
	int id;
	struct iw_link link;
};

static int
pop_id(struct iw_list *l)
{
	struct iw_link *n = iw_list_pop(l);

	return n ? iw_list_entry(n, struct item, link)->id : -1;
}

static void
test_first_in_first_out(void **state)
{
	struct item items[3] = {{.id = 0}, {.id = 1}, {.id = 2}};
	struct iw_list l;

	(void)state;
	iw_list_init(&l);
	assert_true(iw_list_empty(&l));
	assert_null(iw_list_first(&l));
	assert_int_equal(pop_id(&l), -1);
	for (int i = 0; i < 3; i++)
		iw_list_add(&l, &items[i].link);
	assert_ptr_equal(iw_list_first(&l), &items[0].link);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pop_id(&l), i);
	assert_true(iw_list_empty(&l));
}

static void
test_pushed_is_the_next_one(void **state)
{
	struct item items[3] = {{.id = 0}, {.id = 1}, {.id = 2}};
	struct iw_list l;

	(void)state;
	iw_list_init(&l);
	iw_list_add(&l, &items[0].link);
	iw_list_push(&l, &items[1].link);
	iw_list_push(&l, &items[2].link);
	iw_list_push(&l, &items[0].link); /* it is in a list already */
	assert_int_equal(pop_id(&l), 2);
	assert_int_equal(pop_id(&l), 1);
	iw_list_del(&items[0].link);
	assert_true(iw_list_empty(&l));
	iw_list_push(&l, &items[1].link);
	iw_list_add(&l, &items[2].link);
	assert_int_equal(pop_id(&l), 1);
	assert_int_equal(pop_id(&l), 2);
}

/* Adding twice keeps the first place: a ready list holds an object once. */
static void
test_add_twice(void **state)
{
	struct item items[2] = {{.id = 0}, {.id = 1}};
	struct iw_list l;

	(void)state;
	iw_list_init(&l);
	iw_list_add(&l, &items[0].link);
	iw_list_add(&l, &items[1].link);
	iw_list_add(&l, &items[0].link);
	assert_int_equal(pop_id(&l), 0);
	assert_int_equal(pop_id(&l), 1);
	assert_int_equal(pop_id(&l), -1);
}

static void
test_del_from_each_place(void **state)
{
	(void)state;
	for (int gone = 0; gone < 3; gone++) {
		struct item items[3] = {{.id = 0}, {.id = 1}, {.id = 2}};
		struct iw_list l;

		iw_list_init(&l);
		for (int i = 0; i < 3; i++)
			iw_list_add(&l, &items[i].link);
		iw_list_del(&items[gone].link);
		assert_false(iw_list_linked(&items[gone].link));
		iw_list_del(&items[gone].link); /* nothing */
		for (int i = 0; i < 3; i++)
			if (i != gone)
				assert_int_equal(pop_id(&l), i);
		assert_int_equal(pop_id(&l), -1);
		iw_list_add(&l, &items[gone].link);
		assert_int_equal(pop_id(&l), gone);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_in_first_out),
		cmocka_unit_test(test_pushed_is_the_next_one),
		cmocka_unit_test(test_add_twice),
		cmocka_unit_test(test_del_from_each_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
