"""The lab as plain files: the page of `diskmodel lab` with the kernel as WebAssembly instead of a server."""

from diskmodel.lab.site.pages import files

__all__ = ["files"]
