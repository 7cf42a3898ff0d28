"""The device cuda of PyTorch without a GPU: what torch.cuda does. Run by test_device_torch.py, in a process of its own."""

import gc
import pickle
import threading
import unittest

import torch

from weir import device_torch

device_torch.install("sm_90")
torch.manual_seed(0)


class Device(unittest.TestCase):
    def test_properties(self):
        self.assertTrue(torch.cuda.is_available())
        self.assertEqual((torch.cuda.device_count(), torch.cuda.current_device()), (1, 0))
        self.assertEqual(torch.cuda.get_device_capability(), (9, 0))
        self.assertEqual(torch.cuda.get_device_name(), "NVIDIA H200")
        properties = torch.cuda.get_device_properties("cuda")
        self.assertEqual((properties.multi_processor_count, properties.warp_size), (132, 32))
        self.assertEqual(properties.shared_memory_per_block_optin, 232448)
        self.assertGreater(properties.total_memory, 100 << 30)
        self.assertIsNotNone(torch.version.cuda)
        self.assertTrue(torch.backends.cuda.is_built())
        self.assertIn("sm_90", torch.cuda.get_arch_list())
        free, total = torch.cuda.mem_get_info()
        self.assertTrue(0 < free <= total == properties.total_memory)

    def test_contexts(self):
        with torch.cuda.device(0), torch.cuda.device("cuda:0"), torch.cuda.device_of(torch.ones(1, device="cuda")):
            self.assertEqual(torch.cuda.current_device(), 0)
        torch.cuda.set_device(0)
        torch.cuda.set_device("cuda:0")
        for work in (lambda: torch.cuda.set_device(1), lambda: torch.cuda.device(1).__enter__()):
            with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
                work()
        torch.cuda.synchronize()
        torch.cuda.init()
        torch.cuda.empty_cache()

    def test_streams_and_events(self):
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        self.assertEqual(torch.cuda.current_stream().cuda_stream, 0)
        stream = torch.cuda.Stream()
        self.assertIsInstance(stream, torch.Stream)
        self.assertNotEqual(stream.cuda_stream, 0)
        self.assertNotEqual(stream, torch.cuda.Stream(priority=-1))
        stream.wait_stream(torch.cuda.current_stream())
        seen = []
        with torch.cuda.stream(stream):
            self.assertEqual(torch.cuda.current_stream(), stream)
            thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_stream().cuda_stream))
            thread.start()
            thread.join()
            x = torch.ones(3, device="cuda") * 2
        self.assertEqual(seen, [0])
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        x.record_stream(stream)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        self.assertEqual((x + 1).tolist(), [3, 3, 3])
        end.record(stream)
        end.synchronize()
        stream.wait_event(end)
        self.assertTrue(end.query() and stream.query() and 0 < start.elapsed_time(end) < 60000)
        with self.assertRaises(ValueError):
            torch.cuda.Event().elapsed_time(end)
        self.assertIsInstance(stream.record_event(), torch.cuda.Event)
        self.assertEqual(torch.cuda.ExternalStream(stream.cuda_stream).cuda_stream, stream.cuda_stream)

    def test_generators(self):
        def draw(**named):
            return torch.rand(3, device="cuda", **named).tolist()

        torch.manual_seed(5)
        first, host = draw(), torch.rand(3).tolist()
        torch.manual_seed(5)
        self.assertEqual((draw(), torch.rand(3).tolist()), (first, host))
        torch.cuda.manual_seed(7)
        second = draw()
        torch.cuda.manual_seed_all(7)
        self.assertEqual(draw(), second)
        self.assertEqual(torch.cuda.initial_seed(), 7)
        state = torch.cuda.get_rng_state()
        third = draw()
        torch.cuda.set_rng_state(state)
        self.assertEqual(draw(), third)
        state = torch.cuda.get_rng_state()  # as a GPU's: seed and offset
        self.assertEqual(state.view(torch.int64).tolist(), [7, torch.cuda.default_generators[0].get_offset()])
        state.view(torch.int64)[1] += 8
        torch.cuda.set_rng_state(state)
        self.assertEqual(torch.cuda.get_rng_state().tolist(), state.tolist())
        self.assertNotEqual(draw(), third)
        with self.assertRaisesRegex(RuntimeError, "wrong size"):
            torch.cuda.set_rng_state(torch.get_rng_state())
        generator = torch.Generator("cuda")
        self.assertEqual(generator.device, torch.device("cuda", 0))
        self.assertIsInstance(generator, torch.Generator)
        self.assertIs(generator.manual_seed(3), generator)
        fourth = draw(generator=generator)
        self.assertEqual(draw(generator=torch.Generator(device="cuda").manual_seed(3)), fourth)
        self.assertEqual(draw(generator=pickle.loads(pickle.dumps(torch.Generator("cuda").manual_seed(3)))), fourth)
        self.assertEqual(torch.Generator().device.type, "cpu")
        before = torch.get_rng_state()
        draw(), torch.nn.functional.dropout(torch.ones(9, device="cuda"), 0.5), torch.randperm(5, device="cuda"), torch.randn(2).sum
        after = torch.get_rng_state()
        torch.set_rng_state(before)
        torch.randn(2)
        self.assertTrue(torch.equal(after, torch.get_rng_state()))
        torch.cuda.manual_seed(1)
        one = torch.nn.functional.dropout(torch.ones(64, device="cuda"), 0.5)
        torch.cuda.manual_seed(1)
        self.assertTrue(torch.equal(one, torch.nn.functional.dropout(torch.ones(64, device="cuda"), 0.5)))
        with torch.random.fork_rng():
            torch.manual_seed(0)
        self.assertEqual(torch.randint(0, 9, (4,), device="cuda", generator=generator).shape, (4,))

    def test_memory(self):
        gc.collect()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        x = torch.empty(1000, device="cuda")
        self.assertEqual(torch.cuda.memory_allocated() - before, 4096)
        view, y = x[10:], torch.empty(1, device="cuda")
        self.assertEqual(torch.cuda.memory_allocated() - before, 4096 + 512)
        del x
        self.assertEqual(torch.cuda.memory_allocated() - before, 4096 + 512)
        del view, y
        self.assertEqual(torch.cuda.memory_allocated(), before)
        self.assertEqual(torch.cuda.max_memory_allocated() - before, 4096 + 512)
        torch.cuda.reset_peak_memory_stats()
        self.assertEqual(torch.cuda.max_memory_allocated(), before)
        statistics = torch.cuda.memory_stats()
        self.assertEqual(statistics["allocated_bytes.all.current"], before)
        self.assertIn("Allocated memory", torch.cuda.memory_summary())
        with self.assertRaises(torch.cuda.OutOfMemoryError):
            torch.empty(1 << 60, dtype=torch.uint8, device="cuda")

    def test_marks_and_the_rest(self):
        with torch.cuda.nvtx.range("one"):
            torch.cuda.nvtx.mark("two")
        torch.cuda.nvtx.range_push("three")
        torch.cuda.nvtx.range_pop()
        torch.cuda.cudart().cudaProfilerStart()
        self.assertIn("cuda", str(torch.get_default_device() if torch.set_default_device("cuda") is None else ""))
        torch.set_default_device(None)
        if hasattr(torch, "accelerator"):
            self.assertEqual(torch.accelerator.current_accelerator().type, "cuda")
            torch.accelerator.synchronize()
        with self.assertRaisesRegex(NotImplementedError, "Weir's device cuda has no"):
            torch.cuda.memory.caching_allocator_alloc(64)


class Graphs(unittest.TestCase):
    def test_operators(self):
        x = torch.zeros(4, device="cuda")
        total = torch.zeros(4, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.assertTrue(torch.cuda.is_current_stream_capturing())
            y = x * 2 + 1
            total.add_(y)
            index = torch.argmax(y)
            z = torch.empty_like(y)
            torch.mul(y, 3, out=z)
        self.assertFalse(torch.cuda.is_current_stream_capturing())
        self.assertEqual(total.tolist(), [0, 0, 0, 0])
        for value in (1., 2.):
            x.copy_(torch.arange(4.) * value)
            graph.replay()
            self.assertEqual(y.tolist(), [2 * value * i + 1 for i in range(4)])
            self.assertEqual((index.item(), z.tolist()), (3, [3 * (2 * value * i + 1) for i in range(4)]))
        self.assertEqual(total.tolist(), [6. * i + 2 for i in range(4)])

    def test_launches(self):
        x, graph, done = torch.zeros(2, device="cuda"), torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(graph):
            device_torch.State.graph.launch(lambda: done.append(x.sum().item()))
            x += 1
        self.assertEqual(done, [])
        graph.replay()
        graph.replay()
        self.assertEqual(done, [0, 2])

    def test_what_cannot_be_in_one(self):
        x, graph = torch.ones(2, device="cuda"), torch.cuda.CUDAGraph()
        with self.assertRaisesRegex(RuntimeError, "not permitted when stream is capturing"):
            with torch.cuda.graph(graph):
                x.sum().item()
        self.assertIsNone(device_torch.State.graph)
        with self.assertRaisesRegex(RuntimeError, "replay without"):
            torch.cuda.CUDAGraph().replay()

    def test_training(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(4, 1)).cuda()
        made = torch.cuda.make_graphed_callables(model, (torch.randn(2, 3, device="cuda"),))
        x = torch.randn(2, 3, device="cuda")
        made(x).sum().backward()
        self.assertTrue(model[0].weight.grad.abs().sum() > 0)
        made.eval()
        torch.testing.assert_close(made(x), model[3](model[2](model[0](x))))


if __name__ == "__main__":
    unittest.main()
