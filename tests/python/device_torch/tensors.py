"""The device cuda of PyTorch without a GPU: tensors, operators, autograd. Run by test_device_torch.py, in a process of its own."""

import copy
import io
import pickle
import threading
import unittest

import torch

from weir import device_torch, unwritten

device_torch.install("sm_90")
torch.manual_seed(0)


class Tensors(unittest.TestCase):
    def test_resized_storage(self):
        """As fully sharded training does it: memory goes, and comes again; views have it."""
        x = torch.arange(8., device="cuda")
        view, storage, before = x[4:], x.untyped_storage(), torch.cuda.memory_allocated()
        storage.resize_(0)
        self.assertEqual((storage.nbytes(), storage.data_ptr(), torch.cuda.memory_allocated()), (0, 0, before - 512))
        storage.resize_(32)
        x.copy_(torch.arange(8.))
        self.assertEqual((view.tolist(), torch.cuda.memory_allocated()), ([4., 5., 6., 7.], before))
        storage.resize_(1024)
        self.assertEqual((x.tolist(), storage.nbytes()), ([0., 1., 2., 3., 4., 5., 6., 7.], 1024))
        del x, view, storage
        self.assertEqual(torch.cuda.memory_allocated(), before - 512)

    def test_where_it_is(self):
        x = torch.ones(3, device="cuda")
        self.assertIs(type(x), torch.Tensor)
        self.assertTrue(x.is_cuda)
        self.assertEqual(x.device, torch.device("cuda", 0))
        self.assertEqual((x.device.type, x.get_device(), str(x.device)), ("cuda", 0, "cuda:0"))
        self.assertEqual(x.type(), "torch.cuda.FloatTensor")
        self.assertIsInstance(x, torch.cuda.FloatTensor)
        self.assertNotIsInstance(x.cpu(), torch.cuda.FloatTensor)
        self.assertEqual(torch.cuda.FloatTensor(2, 3).shape, (2, 3))
        self.assertEqual(torch.cuda.LongTensor([1, 2]).tolist(), [1, 2])
        self.assertIn("device='cuda:0'", repr(x))
        self.assertEqual(x.cpu().device.type, "cpu")

    def test_in_every_thread(self):
        seen = []

        def work():
            x = torch.arange(4, device="cuda")
            seen.append((x.is_cuda, (x + x).device.type, (x + x).tolist()))

        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(seen, [(True, "cuda", [0, 2, 4, 6])] * 4)

    def test_the_address_is_the_hosts(self):
        import ctypes

        x = torch.arange(5, dtype=torch.int32, device="cuda")
        self.assertEqual(list((ctypes.c_int32 * 5).from_address(x.data_ptr())), [0, 1, 2, 3, 4])
        ctypes.c_int32.from_address(x.data_ptr() + 4).value = 7
        self.assertEqual(x.tolist(), [0, 7, 2, 3, 4])
        self.assertEqual(x[2:].data_ptr(), x.data_ptr() + 8)
        self.assertEqual(x[2:].untyped_storage().data_ptr(), x.data_ptr())
        interface = x.__cuda_array_interface__
        self.assertEqual((interface["data"], interface["shape"], interface["typestr"]), ((x.data_ptr(), False), (5,), "<i4"))

    def test_copies_do_not_alias(self):
        x = torch.arange(4.)
        for there in (x.cuda(), x.to("cuda"), x.to("cuda:0", non_blocking=True), x.to(torch.device("cuda")), x.cuda(0),
                      torch.empty(4, device="cuda").copy_(x), x.to(torch.empty(1, device="cuda"))):
            self.assertTrue(there.is_cuda)
            there[0] = 9
            back = there.cpu()
            back[1] = 8
            self.assertEqual((x.tolist(), there.tolist(), back.tolist()), ([0, 1, 2, 3], [9, 1, 2, 3], [9, 8, 2, 3]))
        y = x.cuda()
        self.assertIs(y.cuda(), y)
        self.assertIs(y.to("cuda"), y)
        self.assertEqual(y.to(torch.float16).dtype, torch.float16)
        self.assertEqual(y.to("cpu", torch.int64).tolist(), [0, 1, 2, 3])
        self.assertEqual(y.numpy(force=True).tolist(), [0, 1, 2, 3])
        with self.assertRaisesRegex(TypeError, "can't convert cuda:0 device type tensor to numpy"):
            y.numpy()

    def test_types(self):
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
                      torch.float32, torch.float64, torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.uint64,
                      torch.float8_e4m3fn, torch.float8_e5m2):
            x = torch.tensor([[0, 1], [1, 0]], device="cuda").to(dtype)
            self.assertEqual((x.dtype, x.device.type), (dtype, "cuda"))
            self.assertEqual(x.cpu().to(torch.float32 if not dtype.is_complex else dtype).tolist(), [[0, 1], [1, 0]])
            self.assertEqual(x.t()[1].cpu().to(torch.complex128).tolist(), [1, 0])
        z = torch.tensor([1 + 2j, 3j], device="cuda")
        self.assertEqual(z.conj().tolist(), [1 - 2j, -3j])
        self.assertEqual(z.conj().clone().tolist(), [1 - 2j, -3j])
        self.assertEqual(z.conj().imag.tolist(), [-2, -3])
        self.assertEqual((z.conj() @ z).item(), (z.cpu().conj() @ z.cpu()).item())
        self.assertEqual(torch.view_as_real(z).tolist(), [[1, 2], [0, 3]])

    def test_views_and_in_place(self):
        x = torch.zeros(4, 6, device="cuda")
        x[1] = 1
        x[:, 2].add_(2)
        x.t()[5, 3] = 7
        x.view(2, 12)[0, :2].fill_(5)
        x.view(-1).unfold(0, 2, 2)[11, 0] = 4
        self.assertTrue(x[1]._is_view() and x[1]._base is x)
        expected = torch.zeros(4, 6)
        expected[1] = 1
        expected[:, 2].add_(2)
        expected[3, 5] = 7
        expected[0, :2] = 5
        expected[3, 4] = 4
        torch.testing.assert_close(x.cpu(), expected)
        self.assertEqual(x.view(torch.int32).dtype, torch.int32)
        self.assertEqual(x._version, torch.zeros(1)._version + 5)
        y = x.expand(3, 4, 6).permute(2, 0, 1)
        self.assertEqual((y.shape, y.data_ptr()), ((6, 3, 4), x.data_ptr()))
        self.assertTrue(y.contiguous().is_contiguous())

    def test_indices(self):
        x = torch.arange(12., device="cuda").view(3, 4)
        self.assertEqual(x[torch.tensor([0, 2], device="cuda")].tolist(), [[0, 1, 2, 3], [8, 9, 10, 11]])
        self.assertEqual(x[torch.tensor([0, 2])].device.type, "cuda")
        self.assertEqual(x[x > 9].tolist(), [10, 11])
        x[torch.tensor([1]), 1:3] = 0
        x.index_add_(0, torch.tensor([0], device="cuda"), torch.ones(1, 4, device="cuda"))
        self.assertEqual(x.tolist(), [[1, 2, 3, 4], [4, 0, 0, 7], [8, 9, 10, 11]])
        self.assertEqual(torch.nonzero(x == 0).tolist(), [[1, 1], [1, 2]])
        self.assertEqual([part.tolist() for part in x.topk(1, dim=1)], [[[4], [7], [11]], [[3], [3], [3]]])

    def test_out(self):
        a, b = torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
        out = torch.empty(0, device="cuda")
        self.assertIs(torch.add(a, b, out=out), out)
        self.assertEqual(out.tolist(), [2, 2, 2])
        out = torch.zeros(3, device="cuda")
        where = out.data_ptr()
        torch.mul(a, 5, out=out)
        self.assertEqual((out.tolist(), out.data_ptr()), ([5, 5, 5], where))
        values, places = torch.max(torch.tensor([[1., 3.], [4., 2.]], device="cuda"), 1,
                                   out=(torch.empty(0, device="cuda"), torch.empty(0, dtype=torch.int64, device="cuda")))
        self.assertEqual((values.tolist(), places.tolist()), ([3, 4], [1, 0]))
        x = torch.arange(3., device="cuda")
        x.resize_(5)
        self.assertEqual((x.shape, x[:3].tolist()), ((5,), [0, 1, 2]))
        x.resize_(2, 2)
        self.assertEqual(x.shape, (2, 2))
        y = torch.empty(0, device="cuda").set_(x)
        self.assertEqual(y.data_ptr(), x.data_ptr())

    def test_devices_do_not_mix(self):
        x, y = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
        for work in (lambda: x + y, lambda: x @ y, lambda: torch.cat([x, y]), lambda: torch.where(x > 0, x, y), lambda: x.add_(y),
                     lambda: torch.nn.functional.linear(x, y)):
            with self.assertRaisesRegex(RuntimeError, "Expected all tensors to be on the same device, .* cuda:0 and cpu!"):
                work()
        self.assertEqual((x + torch.tensor(2.)).tolist(), [[3, 3], [3, 3]])
        self.assertEqual((torch.tensor(2.) * x).device.type, "cuda")
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.ones(1, device="cuda:1")

    def test_comparisons(self):
        x = torch.randn(3, 3, device="cuda")
        torch.testing.assert_close(x, x.clone())
        self.assertTrue(torch.equal(x, x.clone()) and torch.allclose(x, x + 0))
        with self.assertRaisesRegex(AssertionError, "not close"):
            torch.testing.assert_close(x, x + 1)
        with self.assertRaisesRegex(AssertionError, "device"):
            torch.testing.assert_close(x, x.cpu())
        self.assertTrue(bool((x == x).all()))

    def test_saved_and_loaded(self):
        x = torch.randn(3, 4, device="cuda")
        file = io.BytesIO()
        torch.save({"x": x, "row": x[1]}, file)
        for place, kind in ((None, "cuda"), ("cpu", "cpu"), ("cuda", "cuda"), ("cuda:0", "cuda"), (lambda storage, _: storage, "cpu")):
            file.seek(0)
            loaded = torch.load(file, map_location=place)
            self.assertEqual(loaded["x"].device.type, kind, place)
            self.assertEqual(loaded["x"].tolist(), x.tolist())
            loaded["row"][0] = 5
            self.assertEqual(loaded["x"][1, 0].item(), 5)
        file = io.BytesIO()
        torch.save(x.cpu(), file)
        file.seek(0)
        self.assertTrue(torch.load(file, map_location="cuda").is_cuda)
        self.assertEqual(pickle.loads(pickle.dumps(x)).tolist(), x.tolist())
        self.assertTrue(pickle.loads(pickle.dumps(x)).is_cuda)
        self.assertTrue(copy.deepcopy(x).is_cuda)

    def test_set_default_device(self):
        torch.set_default_device("cuda")
        try:
            self.assertTrue(torch.ones(2).is_cuda and torch.randn(3).is_cuda and torch.nn.Linear(2, 2).weight.is_cuda)
            self.assertEqual((torch.arange(3) + torch.tensor([1, 1, 1])).tolist(), [1, 2, 3])
        finally:
            torch.set_default_device(None)
        with torch.device("cuda"):
            self.assertTrue(torch.zeros(1).is_cuda)
        self.assertFalse(torch.zeros(1).is_cuda)

    def test_pinned(self):
        x = torch.ones(3).pin_memory()
        self.assertTrue(x.is_pinned())
        self.assertFalse(torch.ones(3).is_pinned())
        self.assertEqual(x.cuda(non_blocking=True).tolist(), [1, 1, 1])
        self.assertTrue(torch.zeros(4, pin_memory=True).is_pinned())
        self.assertEqual(torch.empty(2, 3, pin_memory=True).shape, (2, 3))

    def test_operators_of_other_kinds(self):
        """Those that look at the device by themselves, or take numbers for tensors."""
        x = torch.randn(3, 5, device="cuda")
        self.assertEqual(x.to("cpu", non_blocking=True).tolist(), x.tolist())
        self.assertEqual(x.to("cpu", torch.float64, non_blocking=True, copy=True).dtype, torch.float64)
        self.assertEqual(torch.remainder(torch.arange(4, device="cuda"), 3).tolist(), [0, 1, 2, 0])
        self.assertEqual(torch.remainder(torch.tensor(5, dtype=torch.int32, device="cuda"), 3).dtype, torch.int32)
        ours, theirs = (one.requires_grad_() for one in (x.detach(), x.cpu()))
        weight, other = (torch.arange(5., device=one, requires_grad=True) for one in ("cuda", "cpu"))
        for values, scale in ((ours, weight), (theirs, other)):
            torch.nn.functional.rms_norm(values, (5,), scale).pow(3).sum().backward()
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(weight.grad.cpu(), other.grad, rtol=1e-4, atol=1e-4)
        sequences, target = torch.randn(6, 2, 4, device="cuda").log_softmax(2), torch.tensor([[1, 2], [3, 1]], device="cuda")
        lengths = torch.tensor([6, 6]), torch.tensor([2, 2])
        torch.testing.assert_close(torch.nn.functional.ctc_loss(sequences, target, *lengths).cpu(),
                                   torch.nn.functional.ctc_loss(sequences.cpu(), target.cpu(), *lengths))
        convolution = torch.nn.Conv2d(4, 4, 3, groups=4)
        image = torch.randn(1, 4, 6, 6)
        torch.testing.assert_close(copy.deepcopy(convolution).cuda()(image.cuda()).cpu(), convolution(image))

    def test_what_is_not_there(self):
        with self.assertRaisesRegex(NotImplementedError, "sparse_coo"):
            torch.ones(2, 2, device="cuda").to_sparse()
        with self.assertRaisesRegex(NotImplementedError, "_flash_attention_forward"):
            q = torch.zeros(1, 1, 8, 8, dtype=torch.float16, device="cuda")
            torch.ops.aten._flash_attention_forward(q, q, q, None, None, 8, 8, 0.0, False, False)


class Training(unittest.TestCase):
    def test_backward(self):
        x = torch.randn(4, 3, device="cuda", requires_grad=True)
        w = torch.randn(3, 2, device="cuda", requires_grad=True)
        loss = torch.nn.functional.gelu(x @ w).pow(2).mean()
        loss.backward()
        a, b = x.detach().cpu().requires_grad_(), w.detach().cpu().requires_grad_()
        torch.nn.functional.gelu(a @ b).pow(2).mean().backward()
        self.assertTrue(x.grad.is_cuda)
        torch.testing.assert_close(x.grad.cpu(), a.grad)
        torch.testing.assert_close(w.grad.cpu(), b.grad)

    def test_function_of_its_own(self):
        threads = set()

        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                made = torch.empty_like(x)
                made.copy_(x * 2)
                return made

            @staticmethod
            def backward(ctx, grad):
                threads.add(threading.current_thread().name)
                x, = ctx.saved_tensors
                assert x.is_cuda and grad.is_cuda and torch.empty_like(grad).is_cuda
                return grad * 2

        x = torch.ones(3, device="cuda", requires_grad=True)
        Twice.apply(x).sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 2, 2])
        self.assertTrue(torch.autograd.gradcheck(Twice.apply, (torch.randn(2, device="cuda", dtype=torch.float64, requires_grad=True),)))

    def test_modules(self):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                                    torch.nn.Conv2d(8, 8, 3, groups=8), torch.nn.Flatten(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 4),
                                    torch.nn.LayerNorm(4))
        twin = copy.deepcopy(model).eval()
        model.cuda().eval()
        self.assertTrue(all(parameter.is_cuda for parameter in model.parameters()))
        x = torch.randn(2, 3, 8, 8)
        torch.testing.assert_close(model(x.cuda()).cpu(), twin(x))
        model.train()
        for optimizer in (torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), torch.optim.AdamW(model.parameters(), fused=True),
                          torch.optim.Adam(model.parameters(), foreach=True)):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x.cuda()), torch.tensor([1, 3], device="cuda"))
            loss.backward()
            optimizer.step()
        self.assertTrue(all(parameter.grad.is_cuda for parameter in model.parameters()))
        state = model.state_dict()
        self.assertTrue(state["0.weight"].is_cuda)
        twin.load_state_dict(state)
        self.assertFalse(twin[0].weight.is_cuda)

    def test_recurrent_and_attention(self):
        for module in (torch.nn.LSTM(3, 4, 2, batch_first=True), torch.nn.GRU(3, 4, batch_first=True)):
            there = copy.deepcopy(module).cuda()
            x = torch.randn(2, 5, 3)
            module(x)[0].sum().backward()
            there(x.cuda())[0].sum().backward()
            torch.testing.assert_close(there(x.cuda())[0].cpu(), module(x)[0])
            for ours, theirs in zip(there.parameters(), module.parameters()):
                torch.testing.assert_close(ours.grad.cpu(), theirs.grad)
        q, k, v = (torch.randn(2, 2, 6, 8, requires_grad=True) for _ in range(3))
        ours = [one.detach().cuda().requires_grad_() for one in (q, k, v)]
        attend = torch.nn.functional.scaled_dot_product_attention
        attend(q, k, v, is_causal=True).sum().backward()
        attend(*ours, is_causal=True).sum().backward()
        torch.testing.assert_close(ours[0].grad.cpu(), q.grad)
        mask = torch.rand(2, 1, 6, 6) < 0.5
        mask[..., 0] = True
        torch.testing.assert_close(attend(*ours, attn_mask=mask.cuda()).cpu(), attend(q, k, v, attn_mask=mask))
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).cuda()
        self.assertEqual(layer(torch.randn(2, 3, 8, device="cuda")).shape, (2, 3, 8))

    def test_mixed_precision(self):
        layer = torch.nn.Linear(4, 4).cuda()
        x = torch.randn(2, 4, device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            made = layer(x)
        self.assertEqual(made.dtype, torch.bfloat16)
        with torch.amp.autocast("cuda", dtype=torch.float16):
            self.assertEqual((x @ x.t()).dtype, torch.float16)
            self.assertEqual(torch.softmax(x.half(), 1).dtype, torch.float32)
        scaler = torch.amp.GradScaler("cuda")
        optimizer = torch.optim.SGD(layer.parameters(), 0.1)
        before = layer.weight.detach().clone()
        with torch.autocast("cuda"):
            loss = layer(x).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        self.assertFalse(torch.equal(before, layer.weight))
        self.assertTrue(torch.cuda.is_bf16_supported())

    def test_short_floats_are_rounded_once(self):
        x = (4 * torch.randn(5, 300)).bfloat16()
        for function in (torch.softmax, torch.log_softmax):
            ours, whole = x.cuda().requires_grad_(), x.float().requires_grad_()
            made, exact = function(ours, 1), function(whole, 1)
            torch.testing.assert_close(made.cpu(), exact.bfloat16(), rtol=0, atol=0)
            grad = torch.randn(5, 300).bfloat16()
            made.backward(grad.cuda())
            rounded = exact.bfloat16().float() if function is torch.softmax else exact.bfloat16().float().exp()
            sums = (grad.float() * rounded).sum(1, True) if function is torch.softmax else grad.float().sum(1, True)
            wanted = rounded * (grad.float() - sums) if function is torch.softmax else grad.float() - rounded * sums
            torch.testing.assert_close(ours.grad.cpu(), wanted.bfloat16())

    def test_products_in_another_type(self):
        if not hasattr(torch.ops.aten.addmm, "dtype"):
            self.skipTest("this PyTorch has none")
        a, b, c = torch.randn(3, 5).half(), torch.randn(5, 4).half(), torch.randn(3, 4)
        wanted = a.float() @ b.float()
        a, b, c = a.cuda(), b.cuda(), c.cuda()
        torch.testing.assert_close(torch.mm(a, b, out_dtype=torch.float32).cpu(), wanted)
        torch.testing.assert_close(torch.bmm(a[None], b[None], out_dtype=torch.float32)[0].cpu(), wanted)
        torch.testing.assert_close(torch.addmm(c, a, b, out_dtype=torch.float32, beta=2).cpu(), 2 * c.cpu() + wanted)
        out = torch.empty(3, 4, device="cuda")
        torch.addmm(c, a, b, out_dtype=torch.float32, out=out)
        torch.testing.assert_close(out.cpu(), c.cpu() + wanted)

    def test_checkpoint_and_functional(self):
        from torch.utils.checkpoint import checkpoint

        x = torch.randn(3, 3, device="cuda", requires_grad=True)
        checkpoint(lambda y: torch.nn.functional.dropout(y.sin(), 0.5), x, use_reentrant=False).sum().backward()
        checkpoint(lambda y: y.sin() @ y, x, use_reentrant=True).sum().backward()
        self.assertTrue(x.grad.is_cuda)
        from torch.func import grad, vmap

        self.assertEqual(vmap(grad(lambda y: (y * y).sum()))(torch.ones(2, 3, device="cuda")).tolist(), [[2, 2, 2], [2, 2, 2]])
        with torch.inference_mode():
            self.assertTrue((x + 1).is_inference())


class Bytes(unittest.TestCase):
    def test_what_was_never_written(self):
        x = torch.empty(8, device="cuda")
        self.assertTrue(unwritten.is_unknown(x))
        self.assertTrue(unwritten.is_unknown(x + 1))
        x[:4] = 1
        self.assertTrue(unwritten.is_unknown(x))
        x.fill_(2)
        self.assertFalse(unwritten.is_unknown(x))
        for made in (torch.zeros(3, device="cuda"), torch.ones(3).cuda(), torch.randn(3, device="cuda"), x + 1, x[2:] * 2):
            self.assertFalse(unwritten.is_unknown(made))
        self.assertTrue(unwritten.is_unknown(torch.empty_like(x)))
        self.assertTrue(unwritten.is_unknown(x.new_empty(3)))

    def test_a_device_knows_of_each_byte(self):
        seen = []

        class Device:
            def __getattr__(self, name):
                return lambda *args: seen.append((name, *args)) or name == "is_known"

        device_torch.State.memory.listen(Device())
        try:
            x = torch.empty(4, 4, device="cuda")
            start = x.data_ptr()
            self.assertIn(("allocated", start, 64, False), seen)
            x[:, :2] = 3
            self.assertEqual([one[1:] for one in seen if one[0] == "wrote"], [(start + 16 * i, 8) for i in range(4)])
            del x
            torch.zeros(1, device="cuda")
            self.assertIn(("freed", start), seen)
        finally:
            unwritten.State.listener = None


if __name__ == "__main__":
    unittest.main()
