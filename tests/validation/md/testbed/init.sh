#!/bin/sh
# First process of the testbed: makes the array, sets its options, and runs the load. Everything comes as words
# testbed.NAME=VALUE in the kernel's command line, with "+" for a space.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /run
for word in $(cat /proc/cmdline); do
    case $word in
    testbed.*) name=${word%%=*}; eval "${name#testbed.}='$(echo "${word#*=}" | tr + ' ')'" ;;
    esac
done
device=/dev/eq0
if [ -n "$create" ]; then
    device=/dev/md0
    MDADM_NO_UDEV=1 "$home/mdadm" --create $device --run --metadata=1.2 $create
fi
for setting in $options; do
    echo "${setting#*:}" >"/sys/block/md0/md/${setting%%:*}"
done
if [ -n "$settle" ]; then
    # one write makes the array dirty, and it stays so; then its bit is cleared, like all others
    echo 0 >/sys/block/md0/md/safe_mode_delay
    "$home/load" $device seq 0 4096 1 0 0 >/dev/null
    sleep "$settle"
fi
[ -z "$trace" ] || echo 1 >/sys/module/equation_disk/parameters/trace
"$home/load" $device $load
"$home/poweroff"
