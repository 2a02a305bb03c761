"""Kernels as Numba makes them, against NumPy. Run by `check.py python`."""
import sys

import numpy as np
from numba import cuda, float32, int32

random = np.random.default_rng(0)
failures = 0


def check(name, isRight):
    global failures
    failures += not isRight
    print(f"{name}: {'ok' if isRight else 'WRONG'}")


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def block_sums(x, sums):
    tile = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]


@cuda.jit
def count(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i] % bins.size, 1)


@cuda.jit
def transpose(a, b):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if x < b.shape[1] and y < b.shape[0]:
        b[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


x = random.random(10_001, dtype=np.float32)
y = random.random(10_001, dtype=np.float32)
result = y.copy()
saxpy[40, 256](np.float32(2), x, result)
check("saxpy", np.allclose(result, y + 2 * x, rtol=1e-6))

numbers = random.integers(0, 1000, 10_000, dtype=np.int32)
sums = np.zeros(40, dtype=np.int32)
block_sums[40, 256](numbers, sums)
check("block_sums", all(sums[b] == numbers[256 * b : 256 * b + 256].sum() for b in range(40)))

bins = np.zeros(64, dtype=np.int32)
count[40, 256](numbers, bins)
check("count", np.array_equal(bins, np.bincount(numbers % 64, minlength=64)))

matrix = random.random((70, 45), dtype=np.float32)
turned = np.zeros((45, 70), dtype=np.float32)
transpose[(3, 5), (16, 16)](matrix, turned)
check("transpose", np.array_equal(turned, matrix.T))

sys.exit(failures != 0)
