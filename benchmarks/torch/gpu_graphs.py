"""Graphs as torch makes them for a GPU, where there is none.

Fake tensors of `cuda` do for inference; autograd wants the driver's context for them. A device that
torch lets Python define takes their place: like a GPU it is not the CPU, whose norms keep moments in
half precision. Which layout a convolution's result has is cuDNN's to say, which torch does not ask
where no GPU is.
"""

import contextlib

import torch
import torch._meta_registrations
from torch._subclasses.fake_tensor import FakeTensorMode

_NAME = "gpu_stand_in"
_kept = []


def _is_never_called(*given, **named):
    raise AssertionError("a kernel of a device that is none")


def _set_up():
    """Gives what has to live as long as the device."""
    from torch.utils.backend_registration import (
        _get_privateuse1_backend_name,
        _setup_privateuseone_for_python_backend,
    )

    if _get_privateuse1_backend_name() == _NAME:
        return None
    _setup_privateuseone_for_python_backend(_NAME)
    # Operators that a GPU has kernels for stay whole; fake tensors call none.
    library = torch.library.Library("aten", "IMPL")
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if (
            name.startswith("aten::")
            and has_kernel(name, "CUDA")
            and has_kernel(name, "CompositeImplicitAutograd")
        ):
            library.impl(name.removeprefix("aten::"), _is_never_called, "PrivateUse1")
    return library


@contextlib.contextmanager
def fake_gpu(train):
    """Gives the name of a device whose graphs are a GPU's."""
    if train:
        _kept.append(_set_up())
    hint, select = torch._meta_registrations.device_hint, torch._C._select_conv_backend

    def device_hint(tensor):
        found = hint(tensor)
        return "cuda" if found == _NAME else found

    torch._meta_registrations.device_hint = device_hint
    torch._C._select_conv_backend = lambda *given, **named: torch._C._ConvBackend.Cudnn
    try:
        with FakeTensorMode():
            yield _NAME if train else "cuda"
    finally:
        torch._meta_registrations.device_hint = hint
        torch._C._select_conv_backend = select
