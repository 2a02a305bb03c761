#!/usr/bin/env python3
"""libnvidia-ml.so.1 through NVIDIA's bindings (nvidia-ml-py); skipped where there are none."""
import ctypes
import importlib.metadata
import os
import re
import sys

try:
    import pynvml
    version = importlib.metadata.version("nvidia-ml-py")
except ImportError:
    print("skipped: no module pynvml (nvidia-ml-py)")
    sys.exit(77)

# The bindings whose functions the library's table has; newer ones may know more.
TABLE_VERSION = (13, 615)


def fails_with(error, function, *arguments):
    try:
        function(*arguments)
    except error:
        return True
    return False


def check_identity(device):
    cuda = ctypes.CDLL("libcuda.so.1")
    uuid, name = ctypes.create_string_buffer(16), ctypes.create_string_buffer(96)
    pci, total = ctypes.create_string_buffer(32), ctypes.c_size_t()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDeviceGetUuid(uuid, 0) == 0 and cuda.cuDeviceGetName(name, 96, 0) == 0
    assert cuda.cuDeviceGetPCIBusId(pci, 32, 0) == 0
    assert cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0) == 0
    assert pynvml.nvmlDeviceGetName(device) == name.value.decode()
    assert pynvml.nvmlDeviceGetUUID(device)[4:].replace("-", "") == uuid.raw.hex()
    assert pynvml.nvmlDeviceGetPciInfo(device).busIdLegacy == pci.value.decode()
    assert pynvml.nvmlDeviceGetMemoryInfo(device).total == total.value
    second = pynvml.nvmlDeviceGetMemoryInfo(device, version=pynvml.nvmlMemory_v2)
    assert second.total == total.value and second.used + second.free == second.total
    for find, key in ((pynvml.nvmlDeviceGetHandleByUUID, pynvml.nvmlDeviceGetUUID(device)),
                      (pynvml.nvmlDeviceGetHandleByPciBusId, pci.value.decode())):
        assert pynvml.nvmlDeviceGetIndex(find(key)) == 0


def check_processes(device):
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(device)
    assert processes[0].pid == os.getpid()  # check_identity called cuInit; others may run
    assert pynvml.nvmlDeviceGetGraphicsRunningProcesses(device) == []
    assert "python" in pynvml.nvmlSystemGetProcessName(os.getpid())


def check_what_frameworks_ask(device):
    assert pynvml.nvmlSystemGetCudaDriverVersion_v2() >= 13000
    assert all(part.isdigit() for part in pynvml.nvmlSystemGetDriverVersion().split("."))
    assert pynvml.nvmlDeviceGetCudaComputeCapability(device)[0] >= 5
    assert 0 <= pynvml.nvmlDeviceGetUtilizationRates(device).gpu <= 100
    affinity = pynvml.nvmlDeviceGetCpuAffinity(device, 128)
    assert sum(bin(word).count("1") for word in affinity) == len(os.sched_getaffinity(0))
    fabric = pynvml.c_nvmlGpuFabricInfo_v3_t()
    pynvml.nvmlDeviceGetGpuFabricInfoV(device, ctypes.byref(fabric))
    assert fabric.state == pynvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
    for function in (pynvml.nvmlDeviceGetMigMode, pynvml.nvmlDeviceGetEccMode,
                     pynvml.nvmlDeviceGetPowerUsage, pynvml.nvmlDeviceGetSerial):
        assert fails_with(pynvml.NVMLError_NotSupported, function, device), function
    assert fails_with(pynvml.NVMLError_NotFound, pynvml.nvmlDeviceGetHandleBySerial, "0")


def check_names():
    if tuple(int(part) for part in version.split(".")[:2]) > TABLE_VERSION:
        return
    with open(pynvml.__file__, encoding="utf-8") as bindings:
        names = set(re.findall(r'_nvmlGetFunctionPointer\("(\w+)"\)', bindings.read()))
    library = ctypes.CDLL("libnvidia-ml.so.1")
    missing = sorted(name for name in names if not hasattr(library, name))
    assert not missing, missing


def check_every_question(device):
    """Whatever takes a handle alone answers, or says that it is not supported."""
    for name in sorted(dir(pynvml)):
        function = getattr(pynvml, name)
        if not re.match(r"nvmlDeviceGet\w+$", name) or function.__code__.co_argcount != 1:
            continue
        if function.__code__.co_varnames[0] not in ("handle", "device"):
            continue
        try:
            function(device)
        except pynvml.NVMLError as error:
            assert error.value in (pynvml.NVML_ERROR_NOT_SUPPORTED,
                                   pynvml.NVML_ERROR_INVALID_ARGUMENT), (name, error)


def main():
    assert fails_with(pynvml.NVMLError_Uninitialized, pynvml.nvmlDeviceGetCount)
    pynvml.nvmlInit()
    assert pynvml.nvmlDeviceGetCount() == 1
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    check_identity(device)
    check_processes(device)
    check_what_frameworks_ask(device)
    check_names()
    check_every_question(device)
    pynvml.nvmlShutdown()
    print("nvidia-ml-py", version, "agrees")


if __name__ == "__main__":
    main()
