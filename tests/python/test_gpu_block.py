"""What Python gives instrumented kernels (tests/gpu/device.py) is laid out as src/trace/record.h says."""
import pathlib
import re
import struct
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/gpu"))
import device  # noqa: E402
HEADER = (ROOT / "src/trace/record.h").read_text()


def offsets():
    """Of each field of RecordLaunch, by the comments behind them."""
    body = re.search(r"typedef struct RecordLaunch {(.*?)} RecordLaunch;", HEADER, re.S).group(1)
    return {name: int(at) for name, at in re.findall(r"(\w+);\s*/\*\s*(\d+)\b", body)}


class Block(unittest.TestCase):
    def test_size(self):
        size = re.search(r"sizeof\(RecordLaunch\) == (\d+)", HEADER).group(1)
        self.assertEqual(device.BLOCK.size, int(size))

    def test_offsets(self):
        parts = re.findall(r"\d*[QIsx]", device.BLOCK.format[1:])
        kinds = [kind for part in parts for kind in ([part] if part[-1] in "sx" else part[-1] * int(part[:-1] or 1))]
        there = {name: struct.calcsize("<" + "".join(kinds[:i])) for i, name in enumerate(device.FIELDS)}
        there["sample"] = there.pop("sample.factor")
        wanted = offsets()
        self.assertEqual({name: at for name, at in there.items() if "." not in name}, {name: wanted[name] for name in there if "." not in name})

    def test_all_ctas(self):
        self.assertRegex(HEADER, "run UINT32_MAX: all are recorded")
        self.assertEqual(device.ALL_CTAS[-1], 0xffffffff)


if __name__ == "__main__":
    unittest.main()
