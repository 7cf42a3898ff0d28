"""For pytest --weir: what @pytest.mark.weir asks of the kernels of one test."""

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


@pytest.mark.weir(ignore=["race.waw"])
def test_ignored():
    launch(64)


@pytest.mark.weir(ignore="race.raw")
def test_not_ignored():
    launch(64)


@pytest.mark.weir(require="given-launch")
def test_enough():
    launch(128)


@pytest.mark.weir(strict=True)
def test_strict():
    scatter[(4,)](weir.triton.tensor([512], "int32"), weir.triton.tensor([512], "int32"), 128)


@pytest.mark.weir(require="every-launch")
class TestClass:
    @pytest.mark.weir(require="tried-launches")
    def test_closest(self):
        launch(128)

    def test_too_little(self):
        scatter[(4,)](weir.triton.tensor([512], "int32"), weir.triton.tensor([512], "int32"), 128)
