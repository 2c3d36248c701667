"""The code of the guide, as it is printed."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/python.md"


@pytest.mark.filterwarnings("default")
def test_the_guide_runs(tmp_path, monkeypatch):
    pytest.importorskip("xarray")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python skip: tested with the package(?: and (\w+))?\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
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
