#!/bin/sh
# Builds the testbed in the directory $1: a kernel that is a program, mdadm, and the load. About ten minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
[ -e /usr/src/linux-source-6.1.tar.xz ] ||
    apt-get install -y linux-source-6.1 build-essential bc bison flex xz-utils
if [ ! -e kernel ]; then
    mkdir kernel.part
    tar xf /usr/src/linux-source-6.1.tar.xz -C kernel.part --strip-components=1
    mv kernel.part kernel
    # time in steps of a nanosecond, and the ticks of a distribution's kernel
    sed -i 's/TIMER_MULTIPLIER 256/TIMER_MULTIPLIER 1/; s/TIMER_MIN_DELTA 500/TIMER_MIN_DELTA 1/' \
        kernel/arch/um/include/linux/time-internal.h
    sed -i '/^config HZ$/,/default/ s/default 100/default 250/' kernel/arch/um/Kconfig
    echo 'obj-y += equation_disk.o' >>kernel/drivers/block/Makefile
fi
cp "$here/equation_disk.c" kernel/drivers/block/
(
    cd kernel
    make ARCH=um tinyconfig
    scripts/kconfig/merge_config.sh -m .config "$here/kernel.config"
    make ARCH=um olddefconfig
    make ARCH=um -j"$(nproc)"
)
[ -e mdadm ] || {
    apt-get download mdadm
    dpkg -x mdadm_*.deb mdadm.part
    mv mdadm.part/sbin/mdadm mdadm
    rm -r mdadm.part mdadm_*.deb
}
cc -O2 -Wall -static -o load "$here/load.c"
cc -O2 -Wall -static -o poweroff "$here/poweroff.c"
