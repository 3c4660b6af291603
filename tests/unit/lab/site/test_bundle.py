"""Modules of a page joined into one script."""

import re
from pathlib import Path

import pytest

from diskmodel.lab.constants import constants_js
from diskmodel.lab.server import PAGE
from diskmodel.lab.site.bundle import bundle
from diskmodel.lab.site.pages import bundled, files
from tests.unit.lab.site.node import in_node


def written(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text)
    return folder / "entry.js"


def test_names_stay_inside_of_their_modules(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        entry='import { twice } from "./other.js";\nconst hidden = 1;\nexport const answer = () => twice(hidden);\n',
        other="const hidden = 20;\nexport function twice(x) { return 2 * x + hidden; }\n",
    )
    text = bundle(entry)
    assert "import " not in text
    assert in_node("async (_, text) => eval(text)['entry.js'].answer()", text) == 22


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('import * as other from "./other.js";\n', "import \\* as other"),
        ("export default 1;\n", "export default"),
        ('import { entry } from "./entry.js";\n', "entry.js → entry.js"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bundle(written(tmp_path, entry=text, other=""))


def test_both_homes_use_every_module() -> None:
    """A module that neither `diskmodel lab` nor the site loads should go."""
    at_site = bundled("at_site.js") + bundled("worker.js")
    loaded = {path.name for path in PAGE.glob("*.js") if f'modules["{path.name}"] = ' in at_site}
    assert {path.name for path in PAGE.glob("*.js")} - loaded == {"at_server.js"}


def test_the_page_takes_every_constant_from_python_and_has_none_of_its_own() -> None:
    names = re.findall(r"^export const (\w+) = ", constants_js(), re.MULTILINE)
    pages = "".join(path.read_text() for path in PAGE.glob("*.js"))
    imported = re.findall(r'import \{ ([\w, ]+) \} from "\./constants\.js"', pages)
    assert sorted(names) == sorted(name for line in imported for name in line.split(", "))
    assert not [name for name in names if re.search(rf"\bconst (\w+ = [^,;]+, )*{name} = ", pages)]


def test_without_the_kernel_the_page_says_so(tmp_path: Path) -> None:
    made = files(tmp_path / "no-kernel.wasm")
    assert [*made] == ["index.html", "lab.css"]
    assert "live experiment is missing" in made["index.html"]
    assert "<script" not in made["index.html"]
