"""What is compiled, which depends on the system; everything else stands in pyproject.toml."""

import shutil
import sys
import sysconfig

from setuptools import setup
from setuptools.command.build import build
from setuptools_rust import Binding, RustBin, RustExtension


class BuildFromScratch(build):
    """`build` that first removes what an earlier build left, so that no deleted module survives into a wheel."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


# One wheel for every Python from 3.11 on: the kernel uses the stable ABI. A Python without a global lock has none yet,
# and gets a wheel of its own.
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
KERNEL = RustExtension(
    "diskmodel.engine._kernel",
    path="diskmodel/engine/kernel/python/Cargo.toml",
    binding=Binding.PyO3,
    py_limited_api=not IS_FREE_THREADED,
    args=["--locked"],
    debug=False,
)
# The micro-benchmark speaks to the kernel of Linux (io_uring, O_DIRECT, block devices). Elsewhere everything but
# `diskmodel measure` works, which says so.
MICRO_BENCHMARK = RustBin("diskmodel-bench", path="calibrate/microbench/Cargo.toml", args=["--locked"], debug=False)

setup(
    options={} if IS_FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
    cmdclass={"build": BuildFromScratch},
    rust_extensions=[KERNEL, MICRO_BENCHMARK] if sys.platform.startswith("linux") else [KERNEL],
)
