/* SPDX-License-Identifier: BSD-3-Clause */
#include "cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint8_t octets[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
				 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};

static void
test_reads_are_big_endian(void **state)
{
	struct iw_reader r = iw_reader_init(octets, sizeof(octets));

	(void)state;
	assert_int_equal(iw_reader_u8(&r), 0x01);
	assert_int_equal(iw_reader_u16(&r), 0x0203);
	assert_int_equal(iw_reader_u32(&r), 0x04050607);
	assert_int_equal(iw_reader_left(&r), 8);
	assert_int_equal(iw_reader_u64(&r), UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(iw_reader_left(&r), 0);
	assert_false(r.bad);
}

static uint64_t
read_width(struct iw_reader *r, size_t width)
{
	switch (width) {
	case 1:
		return iw_reader_u8(r);
	case 2:
		return iw_reader_u16(r);
	case 4:
		return iw_reader_u32(r);
	default:
		return iw_reader_u64(r);
	}
}

static void
write_width(struct iw_writer *w, uint64_t v, size_t width)
{
	switch (width) {
	case 1:
		iw_writer_u8(w, (uint8_t)v);
		break;
	case 2:
		iw_writer_u16(w, (uint16_t)v);
		break;
	case 4:
		iw_writer_u32(w, (uint32_t)v);
		break;
	default:
		iw_writer_u64(w, v);
	}
}

/* Every width at every distance from the end: fits or yields 0, sets bad, and leaves nothing to read. */
static void
test_read_past_the_end(void **state)
{
	(void)state;
	for (size_t len = 0; len <= 8; len++) {
		for (size_t width = 1; width <= 8; width *= 2) {
			struct iw_reader r = iw_reader_init(octets, len);
			uint64_t v = read_width(&r, width);

			assert_int_equal(r.bad, width > len);
			if (width > len) {
				assert_int_equal(v, 0);
				assert_int_equal(iw_reader_left(&r), 0);
				assert_int_equal(iw_reader_u8(&r), 0);
			} else {
				assert_int_equal(iw_reader_left(&r), len - width);
			}
		}
	}
}

static void
test_take_of_a_length_that_would_wrap(void **state)
{
	struct iw_reader r = iw_reader_init(octets, 4);

	(void)state;
	assert_ptr_equal(iw_reader_take(&r, 2), octets);
	assert_null(iw_reader_take(&r, SIZE_MAX));
	assert_true(r.bad);
}

static void
test_writes_are_big_endian(void **state)
{
	uint8_t buf[sizeof(octets) + 4];
	struct iw_writer w = iw_writer_init(buf, sizeof(buf));

	(void)state;
	memset(buf, 0xee, sizeof(buf));
	iw_writer_u8(&w, 0x01);
	iw_writer_u16(&w, 0x0203);
	iw_writer_u32(&w, 0x04050607);
	iw_writer_u64(&w, UINT64_C(0x08090a0b0c0d0e0f));
	assert_memory_equal(buf, octets, sizeof(octets));
	iw_writer_zero(&w, 2);
	iw_writer_bytes(&w, octets, 2);
	assert_memory_equal(buf + sizeof(octets), "\0\0\1\2", 4);
	assert_int_equal(iw_writer_left(&w), 0);
	assert_false(w.bad);
}

/* A write that does not fit writes nothing at all. */
static void
test_write_past_the_end(void **state)
{
	(void)state;
	for (size_t len = 0; len <= 8; len++) {
		for (size_t width = 1; width <= 8; width *= 2) {
			uint8_t buf[16];
			struct iw_writer w = iw_writer_init(buf, len);

			memset(buf, 0xee, sizeof(buf));
			write_width(&w, UINT64_MAX, width);
			assert_int_equal(w.bad, width > len);
			for (size_t i = 0; i < sizeof(buf); i++)
				assert_int_equal(buf[i], i < width && width <= len ? 0xff : 0xee);
		}
	}
}

static void
test_bytes_and_zero_past_the_end(void **state)
{
	uint8_t buf[4] = {9, 9, 9, 9};
	struct iw_writer w = iw_writer_init(buf, 3);

	(void)state;
	iw_writer_bytes(&w, octets, 4);
	assert_true(w.bad);
	w = iw_writer_init(buf, 3);
	iw_writer_zero(&w, 4);
	assert_true(w.bad);
	assert_memory_equal(buf, "\x09\x09\x09\x09", 4);
	w = iw_writer_init(buf, 3);
	iw_writer_bytes(&w, NULL, 0);
	assert_false(w.bad);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_are_big_endian),
		cmocka_unit_test(test_read_past_the_end),
		cmocka_unit_test(test_take_of_a_length_that_would_wrap),
		cmocka_unit_test(test_writes_are_big_endian),
		cmocka_unit_test(test_write_past_the_end),
		cmocka_unit_test(test_bytes_and_zero_past_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
