"""Write the live lab when the site is built: the page of `diskmodel lab` with the kernel as WebAssembly."""

from pathlib import Path

from diskmodel.lab.site import files


def made(root: Path) -> dict[str, str]:
    """Return the files of the lab by their places; where the kernel was not compiled, a page that says so."""
    return {f"lab/{name}": text for name, text in files().items()}
