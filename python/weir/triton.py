from .tensors import tensor
