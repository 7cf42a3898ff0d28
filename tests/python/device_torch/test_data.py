"""For pytest --weir without a GPU: the two kernels of data.py."""

import runpy
import sys

import pytest


@pytest.mark.parametrize("way", ("right", "race"))
def test_data(way, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["data.py", way])
    runpy.run_path("data.py")
