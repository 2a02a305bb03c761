"""tinygrad's operations against NumPy's. Run by tinygrad.sh."""
import sys

import numpy as np
from tinygrad import Tensor, TinyJit, nn

random = np.random.default_rng(0)
failures = 0


def check(name, got, want, tolerance=1e-5):
    global failures
    error = float(np.abs(got - want).max())
    isRight = got.shape == want.shape and error <= tolerance
    failures += not isRight
    print(f"{name}: {'ok' if isRight else f'WRONG by {error}'}")


x = random.random((128, 128), dtype=np.float32)
y = random.random((128, 128), dtype=np.float32)
check("add", (Tensor(x) + Tensor(y)).numpy(), x + y, 0)
check("matmul", (Tensor(x) @ Tensor(y)).numpy(), x @ y, 1e-3)
check("exp", Tensor(x).exp().numpy(), np.exp(x))
check("softmax", Tensor(x).softmax().numpy(), np.exp(x) / np.exp(x).sum(1, keepdims=True))
check("sum", Tensor(x).sum(axis=0).numpy(), x.sum(axis=0), 1e-3)
check("cumsum", Tensor(x[0]).cumsum().numpy(), np.cumsum(x[0]), 1e-3)
check("sort", Tensor(x[0]).sort()[0].numpy(), np.sort(x[0]), 0)
check("integers", (Tensor.arange(1000) * 3 % 7).numpy(), np.arange(1000) * 3 % 7, 0)
check("half", (Tensor(x).half() * 2).float().numpy(),
      (x.astype(np.float16) * np.float16(2)).astype(np.float32), 0)
check("where", (Tensor(x) > 0.5).where(Tensor(x), 0.0).numpy(), np.where(x > 0.5, x, 0), 0)

image = random.random((1, 3, 16, 16), dtype=np.float32)
convolution = nn.Conv2d(3, 8, 3, bias=False)
weight = convolution.weight.numpy()
want = np.zeros((1, 8, 14, 14), np.float32)
for i in range(3):
    for j in range(3):
        want += np.einsum("oc,bcyx->boyx", weight[:, :, i, j], image[:, :, i:i + 14, j:j + 14])
check("convolution", convolution(Tensor(image)).numpy(), want, 1e-4)


@TinyJit
def affine(a):
    return (a * 2 + 1).sum().realize()


for i in range(5):
    got = affine(Tensor(np.full((10,), i, np.float32)).realize()).numpy()
    check(f"jit {i}", got, np.float32(20 * i + 10), 0)
sys.exit(failures != 0)
