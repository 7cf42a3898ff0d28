"""weir.device: kernels of PTX run on the memory of this process."""

import array
import contextlib
import ctypes
import gc
import glob
import io
import struct
import subprocess
import tempfile
import unittest

from weir import _library, device

HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"

SCALE = HEAD + """
.visible .entry scale(.param .u64 p, .param .f32 by, .param .u32 n) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [by]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd3], %f3;
DONE:
  ret;
}
"""

# Every thread of the CTA adds 1 to the same word, by load and store.
RACE = HEAD + """
.visible .entry race(.param .u64 p) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;
  ret;
}
"""

PRINT = HEAD + """
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[8] = {37, 100, 32, 111, 107, 10, 0, 0};
.visible .entry say(.param .u32 n) {
  .local .align 8 .b8 values[8]; .reg .b32 %r<3>; .reg .b64 %rd<5>;
  ld.param.u32 %r1, [n];
  mov.u64 %rd1, values; st.local.u32 [%rd1], %r1; cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, text; cvta.global.u64 %rd4, %rd3;
  { .param .b64 a; st.param.b64 [a], %rd4; .param .b64 b; st.param.b64 [b], %rd2; .param .b32 c;
    call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }
  ret;
}
"""


def numbers(*values):
    return array.array("f", values)


def memory(values):
    address, count = values.buffer_info()
    return address, count * values.itemsize


class Launched(unittest.TestCase):
    def setUp(self):
        device.State.verdicts, device.State.reports = {}, set()
        device.State.checks = True

    def scale(self, values, n, by=2.0):
        address, size = memory(values)
        device.Loaded(SCALE, "scale").launch(((n + 31) // 32, 1, 1), (32, 1, 1), (0, 0, 0), 0,
                                             [struct.pack("<Q", address), struct.pack("<f", by), struct.pack("<I", n)],
                                             [(address, size)])

    def test_results(self):
        values = numbers(*range(100))
        self.scale(values, 100)
        self.assertEqual(list(values), [2.0 * i for i in range(100)])
        self.assertEqual(device.State.verdicts, {"clean": 1})

    def test_kernels_that_are_gone(self):
        """They leave the library, and others stay."""
        kept, freed = device.Loaded(SCALE, "scale"), []
        library = kept.device.library
        for name in ("weir_module_free", "weir_close"):
            function = getattr(library, name)
            setattr(library, name, lambda handle, function=function: (freed.append(handle), function(handle)))
            self.addCleanup(setattr, library, name, function)
        gone = [device.Loaded(SCALE, "scale") for _ in range(3)]
        handles = {handle for one in gone for handle in (one.module, one.file)}
        del gone
        gc.collect()
        self.assertEqual(set(freed), handles)
        values = numbers(1.0, 2.0)
        address, size = memory(values)
        kept.launch((1, 1, 1), (32, 1, 1), (0, 0, 0), 0, [struct.pack("<Q", address), struct.pack("<f", 3.0), struct.pack("<I", 2)],
                    [(address, size)])
        self.assertEqual(list(values), [3.0, 6.0])

    def test_witness(self):
        words = array.array("I", [5])
        address, size = memory(words)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            device.State.witnesses = folder
            self.addCleanup(setattr, device.State, "witnesses", None)
            device.Loaded(RACE, "race").launch((2, 1, 1), (32, 1, 1), (0, 0, 0), 0, [struct.pack("<Q", address)], [(address, size)])
            trail, ptx = glob.glob(folder + "/*.trail"), glob.glob(folder + "/*.ptx")
            self.assertIn(trail[0], said.getvalue())
            again = subprocess.run([_library.command_path(), "run", "--replay", trail[0], ptx[0]], capture_output=True, text=True)
            self.assertEqual(again.returncode, 1)
            self.assertIn("race.raw", again.stdout + again.stderr)

    def test_past_the_end(self):
        values = numbers(*range(100))
        device.State.checks = False
        with self.assertRaises(device.DeviceError) as raised:
            self.scale(values, 101)
        self.assertEqual(raised.exception.end, "address")
        self.assertIn("ld.global.f32", str(raised.exception))
        self.assertEqual(list(values), [float(i) for i in range(100)])

    def test_a_race_is_reported(self):
        word = array.array("I", [0])
        address, size = memory(word)
        said = []
        report, device.State.report = device.State.report, said.append
        try:
            device.Loaded(RACE, "race").launch((1, 1, 1), (64, 1, 1), (0, 0, 0), 0, [struct.pack("<Q", address)],
                                               [(address, size)])
        finally:
            device.State.report = report
        self.assertEqual(device.State.verdicts, {"findings": 1})
        self.assertIn("race.", said[0])
        self.assertGreater(word[0], 0)

    def test_memory_that_nothing_wrote(self):
        values = numbers(*range(32))
        address, size = memory(values)
        made = device.Device.get()
        made.allocated(address, size, False)
        try:
            self.assertFalse(made.known(made.handle, address, size))
            made.wrote(address, size)
            self.assertTrue(made.known(made.handle, address, size))
            self.scale(values, 32)
            self.assertTrue(made.known(made.handle, address, size))
        finally:
            made.freed(address)
        self.assertFalse(made.known(made.handle, address, size))
        self.assertEqual(values[31], 62.0)

    def test_printed(self):
        said = []
        made = device.Device.get()
        kept, made.print = made.print, device._library.WRITE(lambda _, data, size: said.append(ctypes.string_at(data, size)) or 0)
        try:
            device.Loaded(PRINT, "say").launch((1, 1, 1), (1, 1, 1), (0, 0, 0), 0, [struct.pack("<I", 7)], [])
        finally:
            made.print = kept
        self.assertEqual(said, [b"7 ok\n"])

    def test_bfloat16(self):
        self.assertEqual(device.bfloat16(1.0), b"\x80\x3f")
        self.assertEqual(device.bfloat16(1.00390625), b"\x80\x3f")  # half way, to the even one
        self.assertEqual(device.bfloat16(1.01171875), b"\x82\x3f")


if __name__ == "__main__":
    unittest.main()
