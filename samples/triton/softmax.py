# Row-wise softmax in Triton on libcuda.so.1, without PyTorch. Needs: pip install triton numpy.
#   build/bin/ptxrun exec python3 samples/triton/softmax.py
import ctypes

import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result:
        raise RuntimeError(f"libcuda answered {result}")


class DeviceArray:
    """What Triton asks of a tensor: its type's name and where it is."""

    def __init__(self, values):
        self.values = np.ascontiguousarray(values)
        self.dtype = self.values.dtype.name
        self.address = ctypes.c_uint64()
        self.bytes = ctypes.c_size_t(self.values.nbytes)
        triton.runtime.driver.active.get_current_device()  # makes the context current
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.address), self.bytes))
        check(cuda.cuMemcpyHtoD_v2(self.address, self.values.ctypes.data_as(ctypes.c_void_p), self.bytes))

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        values = np.empty_like(self.values)
        check(cuda.cuMemcpyDtoH_v2(values.ctypes.data_as(ctypes.c_void_p), self.address, self.bytes))
        return values


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row + i, mask=i < columns, other=-float("inf"))
    numerator = tl.exp(values - tl.max(values, 0))
    tl.store(out + row + i, numerator / tl.sum(numerator, 0), mask=i < columns)


x = np.random.default_rng(1).standard_normal((1000, 781)).astype(np.float32)
out = DeviceArray(np.zeros_like(x))
softmax[(1000,)](out, DeviceArray(x), 781, BLOCK=1024)
expected = np.exp(x - x.max(1, keepdims=True))
expected /= expected.sum(1, keepdims=True)
error = abs(out.numpy() - expected).max()
print(f"softmax of 1000 rows: greatest error {error:.1e}")
assert error < 1e-6
