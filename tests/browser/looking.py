"""What tests ask of a page that is shown."""

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Frame, Page

#: axe-core, which checks a page against the rules of WCAG.
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"

#: Contrast of a text against what lies under it, after WCAG 2.2, 1.4.3.
_CONTRAST = """(selector) => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const under = (e) => {
    for (; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const shown = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility() && e.textContent.trim());
  return shown.map((e) => {
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    const [a, b] = [light(rgb(svg ? style.fill : style.color)), light(under(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.textContent.trim().slice(0, 40)];
  });
}"""
_NAMELESS = """() => [...document.querySelectorAll("input, select, button, iframe, [tabindex='0']")].filter((e) => {
  const labelled = (e.labels && [...e.labels].some((l) => l.textContent.trim())) || e.textContent.trim();
  return !(labelled || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.title);
}).map((e) => e.outerHTML.slice(0, 80))"""
_OUTSIDE = """() => {
  const scrolls = (e) => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  const reaches = (box) => box.width && box.right > innerWidth + 1;
  return [...document.body.querySelectorAll("*")]
    .filter((e) => e.checkVisibility() && !e.closest(".skip") && !scrolls(e) && reaches(e.getBoundingClientRect()))
    .map((e) => e.outerHTML.slice(0, 80));
}"""


def contrasts(page: Page | Frame, selector: str) -> list[tuple[float, str]]:
    """Contrast ratio and text of each visible element."""
    return [(ratio, text) for ratio, text in page.evaluate(_CONTRAST, selector)]


def nameless(page: Page | Frame) -> list[str]:
    """Controls that a screen reader could not name."""
    found: list[str] = page.evaluate(_NAMELESS)
    return found


def outside(page: Page | Frame) -> list[str]:
    """Elements that reach beyond the right edge, except inside of what scrolls by itself."""
    found: list[str] = page.evaluate(_OUTSIDE)
    return found


def answered(page: Page, stage: str = "quick") -> None:
    """Waits until the answer to the last change is shown."""
    page.wait_for_function(
        "(stage) => (({ shown, asked, stage: now }) => shown && shown === asked && now === stage)"
        "(document.documentElement.dataset)",
        arg=stage,
    )


def curve(page: Page, chart: str = "iops") -> str:
    """The path of the drawn curve."""
    path = page.locator(f"#chart-{chart} path.line.now").get_attribute("d")
    assert path
    return path


def check_looks(page: Page) -> None:
    """Nothing reaches beyond the page, and axe-core finds no fault of WCAG 2.2 A and AA: contrast, labels, roles."""
    assert outside(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults(page) == []


def faults(page: Page) -> list[str]:
    """What axe-core finds, with the place of each fault."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "iframes": False, "preload": False}
    found = page.evaluate("(rules) => axe.run(document, rules)", rules)
    return [f"{one['id']}: {node['html'][:90]}" for one in found["violations"] for node in one["nodes"]]
