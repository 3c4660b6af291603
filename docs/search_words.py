"""Extension of Markdown: keep out of the search what nobody looks for. Every page downloads the search's index.

On pages of the interface that is source code, signatures and tables of parameters; on all other pages what commands
print, and other long blocks. Another builder of the pages can do without it.
"""

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

#: Lines of a block from which it is the output of a command, or a whole program.
_LONG_LINES = 8
#: How elements begin that are left out of pages of the interface.
_OF_THE_INTERFACE = (
    'details class="mkdocstrings-source',
    'div class="[^"]*doc-signature[^"]*',
    'p class="doc doc-class-bases',
    'p(?=><span class="doc-section-title")',
    "table",
)
#: After everything that makes HTML.
_LAST = -1000


class _Excluding(Postprocessor):
    """Marks elements of the finished page."""

    def run(self, text: str) -> str:
        if 'class="doc ' not in text:
            return re.sub(r'(<div class="[^"]*highlight")(>.*?</pre>)', _hidden_if_long, text, flags=re.DOTALL)
        return re.sub(rf'<(?:{"|".join(_OF_THE_INTERFACE)})"?', _hidden, text)


def _hidden_if_long(block: re.Match[str]) -> str:
    is_long = block[2].count("\n") > _LONG_LINES
    return f"{block[1]} data-search-exclude{block[2]}" if is_long else block[0]


def _hidden(tag: re.Match[str]) -> str:
    return f"{tag[0]} data-search-exclude"


class SearchWords(Extension):
    """The extension."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the step behind all others."""
        md.postprocessors.register(_Excluding(md), "search_words", _LAST)


def makeExtension(**settings: Any) -> SearchWords:
    """Return the extension, as Markdown asks for it."""
    return SearchWords(**settings)
