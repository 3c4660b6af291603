"""The locked Rust packages that the wheel is built from, from `cargo metadata`."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Crate:
    """One locked package: its declared licence, the checksum of its archive, and the folder of its sources."""

    name: str
    version: str
    licence: str
    checksum: str
    folder: Path

    @property
    def purl(self) -> str:
        """Package URL."""
        return f"pkg:cargo/{self.name}@{self.version}"


def crates() -> list[Crate]:
    """Return packages that the workspace's own ones need to be built or run on Linux; not those of tests alone.

    Raises
    ------
    subprocess.CalledProcessError
        When cargo fails, for instance because Cargo.lock is not up to date.
    """
    return _found(("build", None), with_macros=True)


def linked() -> list[Crate]:
    """Return packages whose code is in the wheel: not those that only the compiler runs (macros, build scripts)."""
    return _found((None,), with_macros=False)


def _found(kinds: tuple[str | None, ...], *, with_macros: bool) -> list[Crate]:
    """Return packages that are needed in one of these ways; None: by the code itself."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host()]
    output = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in output["packages"]}
    needs = {
        node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] in kinds for kind in dep["dep_kinds"])]
        for node in output["resolve"]["nodes"]
    }
    if not with_macros:
        macros = {p["id"] for p in packages.values() if any("proc-macro" in t["kind"] for t in p["targets"])}
        needs = {package: [need for need in own if need not in macros] for package, own in needs.items()}
    pending, found = list(output["workspace_members"]), set()
    while pending:
        package = pending.pop()
        if package not in found:
            found.add(package)
            pending += needs[package]
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(item["name"], item["version"]): item.get("checksum", "") for item in lock["package"]}
    return sorted(
        (
            Crate(
                p["name"],
                p["version"],
                (p["license"] or "").replace("/", " OR "),
                checksums[p["name"], p["version"]],
                Path(p["manifest_path"]).parent,
            )
            for p in (packages[package] for package in found - set(output["workspace_members"]))
        ),
        key=lambda crate: (crate.name, crate.version),
    )


def host() -> str:
    """Return the target platform."""
    output = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"^host: (\S+)$", output, re.MULTILINE)
    if found is None:
        raise RuntimeError("the output of rustc -vV has no host")
    return found[1]
