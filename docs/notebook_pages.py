"""Run the notebooks of examples/ when the site is built, and write each as a page with its output."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

FOLDER = Path("examples/notebooks")
INTRODUCTION = """# Notebooks

Open them in Jupyter (`pip install jupyterlab` into the project's environment) and change things. The output on these
pages is from the time when this site was built.

"""


def executed(path: Path) -> nbformat.NotebookNode:
    """Run a notebook in the folder of the project; return it with the new output.

    Raises
    ------
    RuntimeError
        When a cell writes to standard error, such as a warning, which the page would not show.
    """
    os.environ.setdefault("IPYTHONDIR", "/tmp/diskmodel-ipython")
    notebook = nbformat.read(path, as_version=4)
    root = path.resolve().parents[2]
    at = {"metadata": {"path": str(root)}}
    with TemporaryDirectory(prefix="diskmodel-") as folder:
        # sockets in this user's own folder: nobody else on the machine can connect, and nothing is left behind
        config = Config({"ConnectionFileMixin": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        NotebookClient(notebook, timeout=600, kernel_name="python3", config=config, resources=at).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise RuntimeError(f"{path.name}: a cell wrote to standard error: {output.text}")
    return notebook


def as_page(notebook: nbformat.NotebookNode, name: str) -> str:
    """Return an executed notebook as Markdown."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [text for output in cell.outputs if (text := shown(output))]
    parts.append(f"[Download this notebook]({name}.ipynb)")
    return "\n\n".join(parts) + "\n"


def shown(output: nbformat.NotebookNode) -> str:
    """Return one output of a cell in its richest form."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```" if output.name == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="notebook-output" data-search-exclude="">\n{data["text/html"]}\n</div>'
    if "image/png" in data:
        source = f"data:image/png;base64,{data['image/png']}"
        return f'<img class="notebook-plot" alt="Plot of the cell above" src="{source}">'
    return f"```text\n{data['text/plain']}\n```" if "text/plain" in data else ""


def made(root: Path) -> dict[str, str | bytes]:
    """Return a page for each notebook, the notebook itself, and an index of them, by their places."""
    found: dict[str, str | bytes] = {}
    listing = ""
    for path in sorted((root / FOLDER).glob("*.ipynb")):
        page = as_page(executed(path), path.stem)
        title = page.splitlines()[0].lstrip("# ")
        listing += f"- [{title}]({path.stem}.md)\n"
        found[f"course/notebooks/{path.stem}.md"] = page
        found[f"course/notebooks/{path.name}"] = path.read_bytes()
    return {**found, "course/notebooks/index.md": INTRODUCTION + listing}
