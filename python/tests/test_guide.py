"""The code of the guide, as it is printed."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide"
PAGE = GUIDE / "python.md"


def blocks_of(page):
    return re.findall(r"^```python skip: tested with the package(?: and (\w+))?\n(.*?)^```$", page.read_text(), re.M | re.S)


def test_blocks_of_other_pages_run():
    for page in (GUIDE / "gates.md",):
        assert blocks_of(page)
        for _, code in blocks_of(page):
            exec(compile(code, str(page), "exec"), {})


@pytest.mark.filterwarnings("default")
def test_the_guide_runs(tmp_path, monkeypatch):
    pytest.importorskip("xarray")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(PAGE)
    assert len(blocks) >= 7
    names, skipped = {"__name__": "guide"}, []
    for needed, code in blocks:
        if needed:
            try:
                __import__(needed)
            except ImportError:
                skipped.append(needed)
                continue
        exec(compile(code, str(PAGE), "exec"), names)
    assert names["run"].summary["released"] == 100
    assert names["value"] < 1e-3
    if skipped:
        print("not installed, and not run:", *skipped)
