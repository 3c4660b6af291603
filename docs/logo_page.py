"""Draw the logo when the site is built."""

from pathlib import Path

from diskmodel.lab.logo import logo_svg


def made(root: Path) -> dict[str, str]:
    """Return the logo, which is the icon of the site, too, by its place."""
    return {"assets/logo.svg": logo_svg()}
