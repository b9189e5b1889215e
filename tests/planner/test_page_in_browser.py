"""The page of a plan in headless Chromium: what is drawn has a size and a place of its own, and nothing is loaded."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import profilec

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

MEASURE = """<script>
const boxes = [...document.querySelectorAll('svg rect')].map(r => r.getBoundingClientRect());
const texts = [...document.querySelectorAll('svg g')].map(g => [...g.querySelectorAll('text')].every(t => {
  const inner = t.getBoundingClientRect(), outer = g.querySelector('rect').getBoundingClientRect();
  return inner.left >= outer.left && inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1; }));
document.title = JSON.stringify({
  boxes: boxes.map(b => [b.left, b.top, b.right, b.bottom]), texts: texts,
  paths: document.querySelectorAll('svg path').length,
  rows: document.querySelectorAll('table:first-of-type tbody tr').length,
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  requests: performance.getEntriesByType('resource').length });
</script></body>"""


def opened(page: str, folder: Path, width: int) -> dict[str, Any]:
    """What a browser tells of the page."""
    file = folder / "plan.html"
    file.write_text(page.replace("</body>", MEASURE), encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"]
    command += [f"--user-data-dir={folder / 'chromium'}", "--dump-dom", file.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    title = re.search("<title>(.*?)</title>", run.stdout, re.S)
    assert title is not None
    found: dict[str, Any] = json.loads(unescape(title[1]))
    return found


CONDITIONS = {f"p{n}": f"brand = 'b{n % 40}' AND price < {n} AND `a <b>` > {n}" for n in range(300)}
CONDITIONS |= {"j": "EXISTS d (d.a = a)", "n": "x IS NULL"}


@pytest.mark.parametrize("width", [1_280, 500])
@pytest.mark.parametrize("matcher", ["betree", "access"])
def test_it_is_drawn(matcher: str, width: int, tmp_path: Path) -> None:
    compiled = profilec.compile(CONDITIONS, options={"matcher": matcher})
    operators = json.loads(compiled.explain(format="json"))["operators"]
    page = compiled.explain(format="html", analyze=[{"brand": "b3", "price": n} for n in range(60)])
    found = opened(page, tmp_path, width)
    boxes = found["boxes"]
    assert len(boxes) == len(operators)
    assert all(right > left and bottom > top for left, top, right, bottom in boxes)
    for one, other in itertools.combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, "two boxes overlap"
    assert all(found["texts"])
    assert found["paths"] == sum(len(operator["inputs"]) for operator in operators)
    assert found["rows"] >= len(operators)
    assert found["overflow"] <= 0
    assert found["requests"] == 0


def test_many_attributes(tmp_path: Path) -> None:
    conditions = {f"p{n}": f"a{n} = 1" for n in range(100)}
    found = opened(profilec.compile(conditions, options={"matcher": "bitmap"}).explain(format="html"), tmp_path, 1_280)
    assert len(found["boxes"]) < 15
    assert found["rows"] >= 100
