"""For pytest --weir: a race in a test that fails by itself, in a fixture, in a test that is expected to fail, and while the module is
imported; and a kernel that cannot be checked in full."""

import os

import pytest
import triton
import triton.language as tl
import weir.triton


@triton.jit
def fill(out, STEP: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(out + tl.program_id(0) * STEP + tl.arange(0, BLOCK), tl.program_id(0))


@triton.jit
def scatter(out, index, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.load(index + place), place)


def launch(step):
    fill[(4,)](weir.triton.tensor([512], "int32"), step, 128)


if os.environ.get("IMPORT_RACES"):
    launch(64)


@pytest.fixture
def racy():
    launch(64)


@pytest.fixture
def racy_end():
    yield
    launch(64)


def test_right():
    launch(128)


def test_fails_by_itself():
    launch(64)
    assert 1 == 2


def test_fixture(racy):
    pass


def test_teardown(racy_end):
    pass


@pytest.mark.xfail
def test_expected_to_fail():
    launch(64)


def test_unknown():
    scatter[(4,)](weir.triton.tensor([512], "int32"), weir.triton.tensor([512], "int32"), 128)
