"""One wheel and one sdist, each enough by itself for the packages, the command and the native program."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.packaging.installing import Environment, build_wheel, copy_source, install, run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cargo")]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_source(tmp_path_factory.mktemp("packaging") / "source")


@pytest.fixture(scope="module")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, built from the source tree."""
    folder = tmp_path_factory.mktemp("dist")
    run(*(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", folder, source), cwd=folder)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist as pip does before it installs one."""
    return build_wheel(sdist, tmp_path_factory.mktemp("wheel") / "wheel")


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return install(wheel, tmp_path_factory.mktemp("installed") / "environment")


def files_of(source: Path, *patterns: str) -> set[str]:
    """Return the files of both packages that match, relative to the source tree."""
    folders = [source / "diskmodel", source / "calibrate"]
    return {str(path.relative_to(source)) for top in folders for pattern in patterns for path in top.rglob(pattern)}


def test_sdist_holds_all_sources(source: Path, sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    expected = files_of(source, "*.py", "*.pyi", "*.rs", "*.toml", "*.j2", "*.html", "*.js", "*.css", "py.typed")
    expected |= {"Cargo.toml", "Cargo.lock", "pyproject.toml", "setup.py", "LICENSE", "README.md", "Makefile"}
    assert expected - held == set()
    assert not any(name.endswith((".so", ".pyc")) or name.startswith(("target/", ".venv/")) for name in held)


def test_wheel_holds_packages_data_and_program_only(source: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    data = {
        name
        for name in files_of(source, "*.toml", "*.j2", "*.html", "*.js", "*.css", "*.svg")
        if Path(name).name != "Cargo.toml"
    }
    expected = files_of(source, "*.py", "*.pyi", "py.typed") | data | {"diskmodel/engine/_kernel.abi3.so"}
    metadata = {name for name in held if ".dist-info/" in name}
    assert held - metadata == expected | {f"{wheel.name.rpartition('-cp311')[0]}.data/scripts/diskmodel-bench"}
    assert any(name.endswith("/licenses/LICENSE") for name in metadata)


def test_wheel_serves_every_python_from_3_11(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_version_is_one(source: Path, environment: Environment) -> None:
    installed = environment.python("import importlib.metadata as m; print(m.version('diskmodel'))").strip()
    assert installed == environment.python("import diskmodel; print(diskmodel.__version__)").strip()
    cargo = tomllib.loads((source / "Cargo.toml").read_text())
    assert installed == cargo["workspace"]["package"]["version"]
    assert f"\nversion: {installed}\n" in (source / "CITATION.cff").read_text()


def test_every_module_imports_from_the_environment(source: Path, environment: Environment) -> None:
    modules = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in files_of(source, "*.py")
        if not name.endswith("__main__.py")
    )
    code = (
        f"import importlib; loaded = [importlib.import_module(name) for name in {modules!r}]\n"
        "print('\\n'.join({m.__file__ for m in loaded}))"
    )
    places = environment.python(code).splitlines()
    assert len(places) == len(modules)
    assert all(Path(place).is_relative_to(environment.folder) for place in places)


def test_kernel_is_optimised(environment: Environment) -> None:
    code = "import diskmodel.engine._kernel as k; print(k.__file__, k.IS_DEBUG_BUILD)"
    place, is_debug = environment.python(code).split()
    assert Path(place).is_relative_to(environment.folder)
    assert is_debug == "False"


@pytest.mark.parametrize("command", [("diskmodel",), ("python", "-I", "-m", "diskmodel")], ids=["script", "module"])
def test_command_helps(environment: Environment, command: tuple[str, ...]) -> None:
    program, *arguments = command
    assert "Usage" in run(environment.bin / program, *arguments, "--help", cwd=environment.folder)


def test_native_program_needs_no_python(environment: Environment) -> None:
    done = subprocess.run(
        [environment.bin / "diskmodel-bench", "--help"], env={}, capture_output=True, text=True, check=True, timeout=60
    )
    assert "Usage" in done.stdout
