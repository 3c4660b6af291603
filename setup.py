"""Build hook; everything declarative stands in pyproject.toml."""

import shutil

from setuptools import setup
from setuptools.command.build import build


class BuildFromScratch(build):
    """`build` that first removes what an earlier build left, so that no deleted module survives into a wheel."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(cmdclass={"build": BuildFromScratch})
