"""Write the live lab when the site is built: the page of `diskmodel lab` with the kernel as WebAssembly."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from diskmodel.lab.site import files as lab_files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the lab; where the kernel was not compiled, a page that says so."""
    for name, text in lab_files().items():
        files.append(File.generated(config, f"lab/{name}", content=text))
    return files
