"""Every file is written by the output module of its language: one more way to write is one more way to lose a file."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

#: Who may write otherwise, and why.
ALLOWED = {
    "diskmodel/output.py": "the module itself",
    "diskmodel/mount/store.py": "the data of a virtual drive: a temporary file that loses its name before it is used",
    "diskmodel/mount/place.py": "opens the device of FUSE",
    "diskmodel/mount/served.py": "answers on the device of FUSE",
    "diskmodel/input.py": "opens to read only",
    "diskmodel/formats/writing.py": "compresses into a stream of the output module",
}
ALLOWED_RUST = {
    "calibrate/microbench/src/output.rs": "the module itself",
    "calibrate/microbench/src/target.rs": "opens what is measured; a scratch file loses its name before it is used",
}

_METHODS = {
    "write_text",
    "write_bytes",
    "savefig",
    "print_png",
    "print_svg",
    "to_csv",
    "to_json",
    "to_parquet",
    "tofile",
    "touch",
    "rename",
    "unlink",
    "symlink_to",
    "hardlink_to",
    "mkstemp",
    "NamedTemporaryFile",
    "TemporaryFile",
    "save",
    "savez",
    "copyfile",
    "copy2",
    "move",
}
#: Methods of that name that write no file of their own: descriptions save through the output module, for instance.
_NO_FILES = {
    ("touch", "segments"),
    ("touch", "cache"),
    ("touch", "self"),
    ("save", "drive"),
    ("save", "described"),
    ("save", "fitted"),
    ("save", "workload"),
    ("print_svg", "FigureCanvasSVG"),
    ("print_png", "FigureCanvasAgg"),
    ("savefig", "plot_drive"),
    ("savefig", "resolve_name"),
}
_OS = {"open", "replace", "rename", "link", "symlink", "truncate", "write", "mkfifo", "mknod", "unlink"}
_OPENERS = {"open", "GzipFile", "BZ2File", "LZMAFile"}


def writers(source: str) -> list[str]:
    """Calls in a Python source that write a file, as "line: call"."""
    names = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "diskmodel.output":
            names |= {alias.asname or alias.name: True for alias in node.names}
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            called, owner = node.func.id, ""
        elif isinstance(node.func, ast.Attribute):
            called, owner = node.func.attr, _name(node.func.value)
        else:
            continue
        if (owner == "" and names.get(called)) or (called, owner) in _NO_FILES:
            continue
        is_writing = (
            (called in _OPENERS and owner != "webbrowser" and _mode(node, called, owner) not in ("r", "rb", "rt"))
            or (owner == "os" and called in _OS)
            or (called in _METHODS and owner != "os")
        )
        if is_writing:
            found.append(f"{node.lineno}: {owner + '.' if owner else ''}{called}")
    return found


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return _name(node.func) if isinstance(node, ast.Call) else ""


def _mode(node: ast.Call, called: str, owner: str) -> str:
    """The mode of an opening; "?" where it is not written out."""
    place = 0 if called == "open" and owner not in ("", "gzip", "bz2", "lzma", "io") else 1
    values = [argument.value for argument in node.keywords if argument.arg == "mode"] or node.args[place : place + 1]
    if any(argument.arg == "fileobj" for argument in node.keywords):
        return "rb" if not values else "wb" if "w" in ast.dump(values[0]) and owner != "gzip" else "rb"
    if not values:
        return "r"
    return str(values[0].value) if isinstance(values[0], ast.Constant) else "?"


def python_sources() -> list[Path]:
    return [path for folder in ("diskmodel", "calibrate") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_python_writes_through_the_output_module() -> None:
    found = {}
    for path in python_sources():
        name = str(path.relative_to(ROOT))
        if name not in ALLOWED and (calls := writers(path.read_text(encoding="utf-8"))):
            found[name] = calls
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'w')",
        "open(path, mode='ab')",
        "open(path, mode)",
        "path.open('x')",
        "Path(p).write_text('')",
        "path.write_bytes(b'')",
        "figure.savefig(path)",
        "os.open(path, os.O_WRONLY)",
        "os.replace(a, b)",
        "np.save(path, x)",
        "table.to_csv(path)",
        "tempfile.mkstemp()",
        "io.open(path, 'w')",
        "gzip.open(path, 'wb')",
        "shutil.copyfile(a, b)",
        "FigureCanvasAgg(figure).savefig(p)",
    ],
)
def test_a_new_way_to_write_is_found(source: str) -> None:
    assert writers(source)


@pytest.mark.parametrize("source", ["open(path)", "open(path, 'rb')", "path.open()", "path.open('rb')", "f.write(x)"])
def test_reading_is_not_writing(source: str) -> None:
    assert not writers(source)


_RUST = re.compile(r"File::create|OpenOptions|fs::write|fs::rename|fs::copy|create_new|libc::(?:open|creat|rename)")


def test_rust_writes_through_the_output_module() -> None:
    found = {}
    for folder in ("diskmodel", "calibrate"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            name = str(path.relative_to(ROOT))
            program = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
            if name not in ALLOWED_RUST and (calls := _RUST.findall(program)):
                found[name] = calls
    assert found == {}
