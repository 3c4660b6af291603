// SPDX-License-Identifier: GPL-2.0
/*
 * Disks that are equations: /dev/eq0, /dev/eq1, ... complete every command at the time that tests/data/md-raid.md
 * gives, to the nanosecond of the (virtual) clock. The drive is the catalogue's md-raid-10k without read-ahead.
 *
 * A drive without buffer serves its commands in order, so the time at which a command completes is known when it
 * comes. The block layer's tags are the drive's 32 slots. Only the first MiB of a disk is stored: md's superblock,
 * bitmap and log. Data beyond it is not read by anyone who cares.
 *
 * Parameters: equation_disk.disks, .sectors (of each disk), .max_sectors (longest command), .slots, .trace.
 */
#include <linux/module.h>
#include <linux/blkdev.h>
#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/random.h>
#include <linux/vmalloc.h>

#define STORED_SECTORS 2048
#define HEADS 8
#define ZONE_CYLINDERS 7630
#define REVOLUTION_NS (60ULL * NSEC_PER_SEC / 10025)
#define READ_OVERHEAD_NS 120000
#define WRITE_OVERHEAD_NS 130000
#define COMPLETION_NS 10000
#define HEAD_SWITCH_NS 400000
#define WRITE_SETTLE_NS 350000
#define BUS_BYTES_PER_S 320000000ULL
#define MAX_DISKS 32

static const int sectors_per_track[] = { 1010, 972, 934, 895, 857, 819, 781, 743, 705, 666, 628, 590 };
static const int track_skew[] = { 76, 73, 70, 67, 64, 62, 59, 56, 53, 50, 47, 45 };
static const int cylinder_skew[] = { 88, 85, 81, 78, 75, 71, 68, 65, 61, 58, 55, 51 };

static int disks = 4;
module_param(disks, int, 0444);
static unsigned long sectors = 16385UL * 2048;
module_param(sectors, ulong, 0444);
static int max_sectors = 1344;
module_param(max_sectors, int, 0444);
static int slots = 32;
module_param(slots, int, 0444);
static int trace;
module_param(trace, int, 0644);

struct disk {
	struct gendisk *gd;
	struct blk_mq_tag_set tags;
	spinlock_t lock;
	int number;
	u64 revolution, phase;
	u64 electronics_free, arm_free;
	int cylinder, head;
	u8 *store;
};

struct command {
	struct hrtimer timer;
	struct request *rq;
};

static struct disk all[MAX_DISKS];
static int major;

/* 25.79 us times the root of the distance, in ns: rounded like the catalogue's table. */
static u64 seek_ns(u64 distance)
{
	u64 square;

	if (!distance)
		return 0;
	if (distance >= 15000)
		return 2150000 + (distance * 839 + 5) / 10;
	/* round(25790 * sqrt(d)) = floor(sqrt(25790^2 * d) + 1/2); the root of 4 x, plus 1, halved */
	square = 4ULL * 25790 * 25790 * distance;
	return 250000 + (int_sqrt64(square) + 1) / 2;
}

static void place_of(u64 lba, int *zone, int *cylinder, int *head, int *sector)
{
	u64 first = 0, size;
	int z = 0;

	while (lba >= first + (size = (u64)ZONE_CYLINDERS * HEADS * sectors_per_track[z]) && z < 11) {
		first += size;
		z++;
	}
	lba -= first;
	*zone = z;
	*sector = lba % sectors_per_track[z];
	*head = lba / sectors_per_track[z] % HEADS;
	*cylinder = z * ZONE_CYLINDERS + lba / sectors_per_track[z] / HEADS;
}

/* When the command completes; moves the arm. The caller holds the lock. */
static u64 serve(struct disk *disk, bool is_write, u64 lba, u64 n, u64 now, u64 *begun)
{
	u64 bytes = n * SECTOR_SIZE, first_end = 0, done, rev = disk->revolution;

	disk->electronics_free = max(now, disk->electronics_free) + (is_write ? WRITE_OVERHEAD_NS : READ_OVERHEAD_NS);
	now = max(disk->electronics_free, disk->arm_free);
	*begun = now;
	while (n) {
		int zone, cylinder, head, sector, spt, index;
		u64 move = 0, start, angle, wait, take;

		place_of(lba, &zone, &cylinder, &head, &sector);
		spt = sectors_per_track[zone];
		index = ((cylinder - zone * ZONE_CYLINDERS) * (7ULL * track_skew[zone] + cylinder_skew[zone])
			 + head * track_skew[zone] + sector) % spt;
		if (cylinder != disk->cylinder || head != disk->head) {
			move = seek_ns(abs(cylinder - disk->cylinder));
			if (head != disk->head && move < HEAD_SWITCH_NS)
				move = HEAD_SWITCH_NS;
			if (is_write)
				move += WRITE_SETTLE_NS;
		}
		now += move;
		start = index * rev / spt;
		angle = (now + disk->phase) % rev;
		wait = (start + rev - angle) % rev;
		if (wait > rev - rev / 100000)
			wait = 0;
		take = min_t(u64, n, spt - sector);
		if (!first_end)
			first_end = now + wait + (index + 1) * rev / spt - start;
		now += wait + (index + take) * rev / spt - start;
		disk->cylinder = cylinder;
		disk->head = head;
		lba += take;
		n -= take;
	}
	disk->arm_free = done = now;
	if (!is_write)
		done = max(now + SECTOR_SIZE * NSEC_PER_SEC / BUS_BYTES_PER_S,
			   first_end + bytes * NSEC_PER_SEC / BUS_BYTES_PER_S);
	return done + COMPLETION_NS;
}

static void copy_stored(struct disk *disk, struct request *rq, bool is_write)
{
	struct req_iterator iter;
	struct bio_vec bvec;
	u64 at = blk_rq_pos(rq) * SECTOR_SIZE;

	rq_for_each_segment(bvec, rq, iter) {
		if (at + bvec.bv_len <= STORED_SECTORS * SECTOR_SIZE) {
			if (is_write)
				memcpy_from_bvec(disk->store + at, &bvec);
			else
				memcpy_to_bvec(&bvec, disk->store + at);
		}
		at += bvec.bv_len;
	}
}

static enum hrtimer_restart completed(struct hrtimer *timer)
{
	struct command *command = container_of(timer, struct command, timer);

	blk_mq_end_request(command->rq, BLK_STS_OK);
	return HRTIMER_NORESTART;
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct disk *disk = hctx->queue->queuedata;
	struct command *command = blk_mq_rq_to_pdu(rq);
	bool is_write = op_is_write(req_op(rq));
	unsigned long flags;
	u64 now, begun, done;

	blk_mq_start_request(rq);
	command->rq = rq;
	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE) {
		blk_mq_end_request(rq, BLK_STS_OK);
		return BLK_STS_OK;
	}
	if (blk_rq_pos(rq) < STORED_SECTORS)
		copy_stored(disk, rq, is_write);
	spin_lock_irqsave(&disk->lock, flags);
	now = ktime_get_ns();
	done = serve(disk, is_write, blk_rq_pos(rq), blk_rq_sectors(rq), now, &begun);
	spin_unlock_irqrestore(&disk->lock, flags);
	if (trace)
		pr_info("eq,%d,%c,%llu,%u,%llu,%llu,%llu\n", disk->number, is_write ? 'W' : 'R', (u64)blk_rq_pos(rq),
			blk_rq_sectors(rq), now, begun, done);
	hrtimer_start(&command->timer, ns_to_ktime(done), HRTIMER_MODE_ABS_HARD);
	return BLK_STS_OK;
}

static int init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx, unsigned int node)
{
	struct command *command = blk_mq_rq_to_pdu(rq);

	hrtimer_init(&command->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	command->timer.function = completed;
	return 0;
}

static const struct blk_mq_ops queue_ops = { .queue_rq = queue_rq, .init_request = init_request };
static const struct block_device_operations disk_ops = { .owner = THIS_MODULE };

static int __init add_disk_number(int i)
{
	struct disk *disk = &all[i];
	int err;

	disk->number = i;
	spin_lock_init(&disk->lock);
	disk->revolution = REVOLUTION_NS - REVOLUTION_NS * i * 400 / 1000000;
	disk->phase = disk->revolution * (618 * i % 1000) / 1000;
	disk->store = vzalloc(STORED_SECTORS * SECTOR_SIZE);
	disk->tags.ops = &queue_ops;
	disk->tags.nr_hw_queues = 1;
	disk->tags.queue_depth = slots;
	disk->tags.numa_node = NUMA_NO_NODE;
	disk->tags.cmd_size = sizeof(struct command);
	disk->tags.flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	err = blk_mq_alloc_tag_set(&disk->tags);
	if (err)
		return err;
	disk->gd = blk_mq_alloc_disk(&disk->tags, disk);
	if (IS_ERR(disk->gd))
		return PTR_ERR(disk->gd);
	blk_queue_max_hw_sectors(disk->gd->queue, max_sectors);
	blk_queue_max_segments(disk->gd->queue, BLK_MAX_SEGMENT_SIZE / 128);
	blk_queue_flag_clear(QUEUE_FLAG_NONROT, disk->gd->queue);
	disk->gd->major = major;
	disk->gd->first_minor = i * 16;
	disk->gd->minors = 16;
	disk->gd->fops = &disk_ops;
	snprintf(disk->gd->disk_name, DISK_NAME_LEN, "eq%d", i);
	set_capacity(disk->gd, sectors);
	return add_disk(disk->gd);
}

static int __init equation_disk_init(void)
{
	/* The kernel waits for entropy in a loop, which never ends where time passes only when nothing runs. */
	static const u8 seed[64] = { 1 };
	int i, err = 0;

	add_bootloader_randomness(seed, sizeof(seed));
	major = register_blkdev(0, "eq");
	for (i = 0; i < disks && !err; i++)
		err = add_disk_number(i);
	return err;
}
device_initcall(equation_disk_init);
