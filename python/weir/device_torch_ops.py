"""Operators of PyTorch that are not the CPU's kernel on the same bytes: those that PyTorch makes of others with a look at
the device, those that change what memory a tensor has, and those that only GPUs have."""

from . import device_torch, program
from .device_torch import State, implement, kernel_of, to_cpu, to_cuda

# Operators that PyTorch composes, and would compose of others where it sees a GPU: they are taken whole.
WHOLE = ("aten::copy_", "aten::clone", "aten::convolution", "aten::convolution_backward", "aten::_convolution", "aten::zeros", "aten::ones",
         "aten::full")


def empty(size, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    device_torch.check_device(device.index)
    with State.torch._C.DisableTorchFunction():
        made = State.plain_empty(size, dtype=dtype, device="cpu", memory_format=memory_format)
    if program.State.devices > 1 and device.index is not None:
        with program.on_device(device.index):
            return to_cuda(made, False)
    return to_cuda(made, False)


def resize_(self, size, *, memory_format=None):
    """Memory of the device cannot grow in place: the tensor gets other memory with the same bytes. Views that it has stay
    with what it had."""
    torch = State.torch
    count = 1
    for extent in size:
        count *= extent
    if (self.storage_offset() + count) * self.element_size() > self.untyped_storage().nbytes():
        whole = to_cpu(self.as_strided((self.untyped_storage().nbytes() // self.element_size(),), (1,), 0))
        grown = torch.empty((self.storage_offset() + count,), dtype=self.dtype, device="cpu")
        grown[:whole.numel()].copy_(whole)
        made = to_cuda(grown)
        if program.State.log is not None:
            device_torch.log_operation("launch", "aten::resize_", [program.touch_line("r", self), program.touch_line("w", made)])
        self.set_(made.untyped_storage(), self.storage_offset(), tuple(size))
        return self
    stride = torch.empty(tuple(size), device="meta", memory_format=memory_format or torch.contiguous_format).stride()
    self.set_(self.untyped_storage(), self.storage_offset(), tuple(size), stride)
    return self


def zeros_of(size, *, dtype=None, layout=None, device=None, pin_memory=None):
    """In place of a tensor that is all zeros and has no memory."""
    return State.torch.zeros(size, dtype=dtype, device="cuda")


class ToCopy(device_torch.Kernel):
    """aten::_to_copy, which gives the host memory that is pinned if it is not to wait."""

    def compute_here(self, args, named):
        device = named.get("device")
        if device is None or device.type == "cuda":
            index = device.index if device is not None else None
            with program.on_device(program.device_of(program.current.stream) if index is None else index):
                return super().compute_here(args, {**named, "pin_memory": None})
        made = self.call(to_cpu(args[0]), **{**named, "pin_memory": None, "non_blocking": False})
        if named.get("non_blocking"):
            State.memory.pin(made.untyped_storage())
        if program.State.log is not None:
            device_torch.log_copy(made, args[0], named.get("non_blocking"))
        return made

    def log(self, args, named, result):
        if args[0].is_cuda and result.device != args[0].device:
            device_torch.log_copy_between(result, args[0])
        elif args[0].is_cuda:
            super().log(args, named, result)
        else:
            device_torch.log_copy(result, args[0], named.get("non_blocking"))


def record_stream(self, s):
    if program.State.log is not None:
        program.State.log.used(self.untyped_storage().data_ptr(), s.stream_id)


def pin_memory(self, device=None):
    made = self.clone()
    State.memory.pin(made.untyped_storage())
    return made


def is_pinned(self, device=None):
    return State.memory.is_pinned(self.untyped_storage())


def is_short(dtype):
    return dtype in (State.torch.float16, State.torch.bfloat16)


def softmax(name):
    """As a GPU does, short floats are computed as float32, and rounded once. The CPU's kernel rounds on the way."""
    kernel = kernel_of(getattr(State.torch.ops.aten, name).default)

    def call(self, dim, half_to_float):
        made = kernel(self.float() if is_short(self.dtype) else self, dim, False)
        return made if half_to_float else made.to(self.dtype)

    return call


def softmax_backward(name):
    kernel = kernel_of(getattr(State.torch.ops.aten, name).default)

    def call(grad_output, output, dim, input_dtype):
        grad, made = (one.float() if is_short(one.dtype) else one for one in (grad_output, output))
        return kernel(grad, made, dim, grad.dtype).to(input_dtype)

    return call


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """By its definition: the fused kernels are a GPU's. It adds the mask, and one of truths says what takes part."""
    if attn_mask is not None and attn_mask.dtype == State.torch.bool:
        attn_mask = State.torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(~attn_mask, float("-inf"))
    named = {"scale": scale, **({"enable_gqa": True} if enable_gqa else {})}
    return State.torch.ops.aten._scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal, None, **named)[0]


def product(name):
    """mm.dtype and its like: products of short floats, which are summed up as float32 and not rounded to their own type. Of the
    tensors the last two are multiplied, and one before them is added."""
    whole = getattr(State.torch.ops.aten, name).default

    def call(*args, out=None, **named):
        *operands, out_dtype = args
        made = whole(*(one.float() if is_short(one.dtype) else one for one in operands), **named).to(out_dtype)
        return made if out is None else out.resize_(made.shape).copy_(made)

    return call


def depthwise(self, weight, kernel_size, bias, stride, padding, dilation):
    torch = State.torch
    made = torch.ops.aten.convolution(self, weight, bias, stride, padding, dilation, False, [0] * len(stride), self.shape[1])
    return made


def rms_norm(self, normalized_shape, weight, eps):
    torch = State.torch
    x = self.float() if is_short(self.dtype) else self
    dims = tuple(range(self.dim() - len(normalized_shape), self.dim()))
    rstd = (x.pow(2).mean(dims, True) + (torch.finfo(x.dtype).eps if eps is None else eps)).rsqrt()
    made = x * rstd
    return (made if weight is None else made * weight).to(self.dtype), rstd


def rms_norm_backward(grad_out, self, normalized_shape, rstd, weight, output_mask):
    x, grad = (one.float() if is_short(one.dtype) else one for one in (self, grad_out))
    dims = tuple(range(self.dim() - len(normalized_shape), self.dim()))
    scaled, even = (grad if weight is None else grad * weight), x * rstd
    made = (scaled - even * (scaled * even).mean(dims, True)) * rstd
    outer = tuple(range(self.dim() - len(normalized_shape)))
    of_weight = (grad * even).sum(outer) if outer else grad * even
    return (made.to(self.dtype) if output_mask[0] else None,
            of_weight.to(weight.dtype) if output_mask[1] and weight is not None else None)


def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    torch = State.torch
    gates = input_gates + hidden_gates
    if input_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
    cy = f * cx + i * g
    return o * torch.tanh(cy), cy, torch.cat((i, f, g, o), 1)


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    torch = State.torch
    i, f, g, o = workspace.chunk(4, 1)
    out = torch.tanh(cy)
    grad_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    grad = grad_hy * o * (1 - out * out)
    if grad_cy is not None:
        grad = grad + grad_cy
    gates = torch.cat((grad * g * i * (1 - i), grad * cx * f * (1 - f), grad * i * (1 - g * g), grad_hy * out * o * (1 - o)), 1)
    return gates, grad * f, gates.sum(0) if has_bias else None


def gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    torch = State.torch
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    ir, ii, n = input_gates.chunk(3, 1)
    hr, hi, hn = hidden_gates.chunk(3, 1)
    reset, update = torch.sigmoid(ir + hr), torch.sigmoid(ii + hi)
    new = torch.tanh(n + reset * hn)
    return new + update * (hx - new), torch.cat((reset, update, new, hx, hn), 1)


def gru_cell_backward(grad_hy, workspace, has_bias):
    torch = State.torch
    reset, update, new, hx, hn = workspace.chunk(5, 1)
    grad_update = grad_hy * (hx - new) * update * (1 - update)
    grad_new = grad_hy * (1 - update) * (1 - new * new)
    grad_reset = grad_new * hn * reset * (1 - reset)
    inputs = torch.cat((grad_reset, grad_update, grad_new), 1)
    hiddens = torch.cat((grad_reset, grad_update, grad_new * reset), 1)
    return (inputs, hiddens, grad_hy * update, *((inputs.sum(0), hiddens.sum(0)) if has_bias else (None, None)))


def out_of_memory(work):
    def call(*args, **named):
        try:
            return work(*args, **named)
        except RuntimeError as error:
            raise device_torch.refused(error) from None

    return call


def register():
    torch = State.torch
    for name in WHOLE:
        implement(name, device_torch.lazily(name))
    implement("aten::empty.memory_format", out_of_memory(empty))
    implement("aten::resize_", resize_)
    implement("aten::record_stream", record_stream)
    implement("aten::_pin_memory", pin_memory, "CPU")
    implement("aten::is_pinned", is_pinned, "CPU")
    for name in ("_softmax", "_log_softmax"):
        implement(f"aten::{name}", softmax(name))
        implement(f"aten::{name}_backward_data", softmax_backward(f"{name}_backward_data"))
    for name in ("mm", "bmm", "addmm", "baddbmm"):
        for overload in ("dtype", "dtype_out"):
            if device_torch.find_op(f"aten::{name}.{overload}"):
                implement(f"aten::{name}.{overload}", product(name))
    for key in ("CUDA", "AutogradCUDA"):
        implement("aten::scaled_dot_product_attention", attention, key)
    State.kernels[torch.ops.aten._to_copy.default] = ToCopy(torch.ops.aten._to_copy.default)
    implement("aten::_to_copy", device_torch.lazily("aten::_to_copy"))
    implement("aten::_efficientzerotensor", zeros_of)
    for name in ("_use_cudnn_ctc_loss", "_use_cudnn_ctc_loss.Tensor", "_use_miopen_ctc_loss", "_use_miopen_ctc_loss.Tensor"):
        if device_torch.find_op(f"aten::{name}"):
            implement(f"aten::{name}", lambda *args, **named: False)
    if device_torch.find_op("aten::_fused_rms_norm_backward"):
        implement("aten::_fused_rms_norm", rms_norm)
        implement("aten::_fused_rms_norm_backward", rms_norm_backward)
    implement("aten::_conv_depthwise2d", depthwise)
    implement("aten::conv_depthwise3d", depthwise)
    implement("aten::_thnn_fused_lstm_cell", lstm_cell)
    implement("aten::_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward)
    implement("aten::_thnn_fused_gru_cell", gru_cell)
    implement("aten::_thnn_fused_gru_cell_backward", gru_cell_backward)
    for name in ("set_.source_Storage", "set_.source_Storage_storage_offset", "set_.source_Tensor", "set_"):
        implement(f"aten::{name}", metadata_only(f"aten::{name}"))


def metadata_only(name):
    """An operator that computes nothing: the CPU's kernel takes tensors of any device."""
    op, keys = device_torch.find_op(name), State.torch._C.DispatchKeySet(State.torch._C.DispatchKey.CPU)

    def call(*args, **named):
        return op.redispatch(keys, *args, **named)

    return call
