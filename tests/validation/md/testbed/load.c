/*
 * A constant number of direct asynchronous requests to a block device, as fio's libaio engine keeps them outstanding:
 * it takes one completion, issues the next request, and so on. Random addresses, and the mix of reads and writes, are
 * fio's own (taus88 with the seeds of the measurements in tests/data/md-raid.csv).
 *
 *   load DEVICE rand|seq READ_PERCENT BYTES DEPTH WARM_UP_S SECONDS [LATENCIES]
 *
 * Prints, for each direction that was issued: direction, start_ns, requests, mean, p50, p99 in ms, then the member
 * reads and writes of the measured time. LATENCIES: a file that gets "issue_ns done_ns op offset" of every request.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS_SEED 0xB1899BEDu
#define MIX_SEED 0x9C08000Bu
#define MOST (1 << 22)

struct taus { uint32_t a, b, c; };

static uint32_t next(struct taus *t)
{
	t->a = ((t->a & ~1u) << 12) ^ (((t->a << 13) ^ t->a) >> 19);
	t->b = ((t->b & ~7u) << 4) ^ (((t->b << 2) ^ t->b) >> 25);
	t->c = ((t->c & ~15u) << 17) ^ (((t->c << 3) ^ t->c) >> 11);
	return t->a ^ t->b ^ t->c;
}

static struct taus seeded(uint32_t seed)
{
	static const uint32_t least[] = { 1, 7, 15 };
	uint32_t x = (2 ^ 31) + (2 ^ 17) + (2 ^ 7), state[3];
	struct taus t;

	for (int i = 0; i < 3; i++) {
		x = x * 69069u ^ seed;
		if (x < least[i])
			x += least[i];
		state[i] = x;
	}
	t = (struct taus){ state[0], state[1], state[2] };
	for (int i = 0; i < 6; i++)
		next(&t);
	return t;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int read_percent;

/* fio's get_rw_ddir. */
static int next_op(void)
{
	static struct taus draws;
	static int op, is_seeded;
	static uint64_t issued[2], until;

	if (read_percent == 100 || read_percent == 0)
		return read_percent == 0;
	if (!is_seeded) {
		draws = seeded(MIX_SEED);
		is_seeded = 1;
	}
	if (issued[op] >= until) {
		int drawn = (int)(1 + ((uint64_t)next(&draws) * 100 >> 32)) > read_percent;

		if (drawn != op)
			until = issued[op] * (drawn ? 100 - read_percent : read_percent) / 100;
		op = drawn;
	}
	issued[op]++;
	return op;
}

static void member_counts(uint64_t counts[2])
{
	counts[0] = counts[1] = 0;
	for (int i = 0;; i++) {
		unsigned long reads, writes;
		char path[64];
		FILE *f;

		snprintf(path, sizeof path, "/sys/block/eq%d/stat", i);
		f = fopen(path, "r");
		if (!f)
			return;
		if (fscanf(f, "%lu %*u %*u %*u %lu", &reads, &writes) == 2) {
			counts[0] += reads;
			counts[1] += writes;
		}
		fclose(f);
	}
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_DIRECT), is_random = !strcmp(argv[2], "rand");
	uint64_t bytes = atol(argv[4]), size, n_blocks, at = 0, before[2], after[2];
	int depth = atoi(argv[5]);
	int64_t warm_up = atof(argv[6]) * 1e9, length = atof(argv[7]) * 1e9, start, *ms[2];
	FILE *all = argc > 8 ? fopen(argv[8], "w") : NULL;
	struct taus addresses = seeded(ADDRESS_SEED);
	struct iocb cbs[depth];
	int64_t issued[depth];
	aio_context_t ctx = 0;
	uint64_t n[2] = { 0, 0 };
	int is_counting = 0;
	char *buffers;

	read_percent = atoi(argv[3]);
	if (argc < 8 || fd < 0 || ioctl(fd, BLKGETSIZE64, &size) || syscall(SYS_io_setup, depth, &ctx)) {
		perror("load");
		return 2;
	}
	n_blocks = size / bytes;
	buffers = mmap(NULL, bytes * depth, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ms[0] = malloc(MOST * sizeof(int64_t));
	ms[1] = malloc(MOST * sizeof(int64_t));
	start = now_ns();
	for (int i = 0, first = depth; ; first = first > 0 ? first - 1 : 0) {
		struct io_event event;
		struct iocb *cb;

		if (first) {
			i = depth - first;
		} else {
			int64_t done, since;

			if (syscall(SYS_io_getevents, ctx, 1, 1, &event, NULL) != 1 || event.res != (int64_t)bytes) {
				fprintf(stderr, "load: request failed with %lld\n", (long long)event.res);
				return 1;
			}
			i = event.data;
			done = now_ns();
			since = done - start;
			if (all)
				fprintf(all, "%lld %lld %d %lld\n", (long long)issued[i], (long long)done,
					cbs[i].aio_lio_opcode == IOCB_CMD_PWRITE, (long long)cbs[i].aio_offset);
			if (since > warm_up + length)
				break;
			if (since > warm_up) {
				int op = cbs[i].aio_lio_opcode == IOCB_CMD_PWRITE;

				if (!is_counting)
					member_counts(before);
				is_counting = 1;
				ms[op][n[op]++] = done - issued[i];
			}
		}
		cb = &cbs[i];
		memset(cb, 0, sizeof *cb);
		cb->aio_data = i;
		cb->aio_lio_opcode = next_op() ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
		cb->aio_fildes = fd;
		cb->aio_buf = (uint64_t)(buffers + bytes * i);
		cb->aio_nbytes = bytes;
		if (is_random)
			cb->aio_offset = (((uint64_t)next(&addresses) * n_blocks) >> 32) * bytes;
		else
			cb->aio_offset = at++ % n_blocks * bytes;
		issued[i] = now_ns();
		if (syscall(SYS_io_submit, ctx, 1, &cb) != 1) {
			perror("load: io_submit");
			return 1;
		}
	}
	member_counts(after);
	for (int op = 0; op < 2; op++) {
		double sum = 0, total = n[0] + n[1];

		if (!n[op])
			continue;
		qsort(ms[op], n[op], sizeof(int64_t), ascending);
		for (uint64_t i = 0; i < n[op]; i++)
			sum += ms[op][i];
		printf("result %s %lld %llu %.6f %.6f %.6f %.4f %.4f\n", op ? "write" : "read", (long long)start,
		       (unsigned long long)n[op], sum / n[op] / 1e6, ms[op][n[op] / 2] / 1e6,
		       ms[op][(uint64_t)(n[op] * 0.99)] / 1e6, (after[0] - before[0]) / total, (after[1] - before[1]) / total);
	}
	if (all)
		fclose(all);
	return 0;
}
