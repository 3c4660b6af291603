"""Draw the logo when the site is built."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from diskmodel.lab.logo import logo_svg


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the logo, which is the icon of the site, too."""
    files.append(File.generated(config, "assets/logo.svg", content=logo_svg()))
    return files
