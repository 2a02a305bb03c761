#include "loader/libcuda/child_launches.h"

#include <algorithm>
#include <cstring>

#include "loader/libcuda/copy.h"
#include "loader/libcuda/device_runtime.h"
#include "loader/libcuda/graph_exec.h"
#include "loader/libcuda/launch.h"

namespace ptxrun::driver {

namespace {

constexpr uint64_t kTailStream = 3; // cudaStreamTailLaunch

const uint64_t *argumentsOf(const ChildRecord &record) {
  return reinterpret_cast<const uint64_t *>(reinterpret_cast<const char *>(&record) + kRecordBytes);
}

/// Sets a variable of the module, as an operation: recordings know of it.
void setVariable(Context &context, uint64_t *variable, uint64_t value) {
  PiecesOperation(
      {{reinterpret_cast<char *>(variable), reinterpret_cast<const char *>(&value), sizeof value}})
      .run(context);
}

/// The list in the order in which it was written; it is empty afterwards.
std::vector<ChildRecord *> takeList(Context &context, uint64_t &head) {
  std::vector<ChildRecord *> records;
  for (auto *record = reinterpret_cast<ChildRecord *>(head); record;
       record = reinterpret_cast<ChildRecord *>(record->next))
    records.push_back(record);
  setVariable(context, &head, 0);
  std::ranges::reverse(records);
  return records;
}

CUresult runKernel(Context &context, Function &parent, const ChildRecord &record, uint64_t stream) {
  auto function = parent.module.findKernelByNumber(record.kernel);
  if (!function) {
    context.fail(CUDA_ERROR_LAUNCH_FAILED, "kernel '" + parent.info.name +
                                               "' launched a kernel that its module does not have");
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  LaunchShape shape;
  shape.grid = {record.grid[0], record.grid[1], record.grid[2]};
  shape.block = {record.block[0], record.block[1], record.block[2]};
  shape.dynamicSharedBytes = record.sharedBytes;
  CUresult result = CUDA_SUCCESS;
  auto launch = LaunchOperation::make(function, shape, result);
  if (!launch) {
    const std::string message = "kernel '" + parent.info.name + "' launched kernel '" +
                                function->info.name + "' in a way that it cannot be";
    if (result != CUDA_ERROR_INVALID_VALUE) {
      context.fail(result, message);
      return result;
    }
    report("%s", message.c_str()); // the host learns nothing of a bad configuration
    return CUDA_SUCCESS;
  }
  size_t bytes = launch->function().info.parameterBytes;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<uint64_t *>(argumentsOf(record)),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  PTXRUN_TRY(readArguments(*launch, nullptr, extra));
  launch->stream = stream;
  return launch->run(context);
}

/// A cudaMemcpy3DParms as eight-byte words: array, three words of position, pointer with its pitch,
/// width and height, of the source; the same of the destination; three words of extent.
CUresult copyBox(Context &context, Function &parent, const uint64_t *words) {
  struct Side {
    uint64_t array, x, y, z, pointer, pitch, width, height;
    CopySide place() const {
      const size_t slice = pitch * height;
      return {reinterpret_cast<char *>(pointer) + z * slice + y * pitch + x, pitch, slice};
    }
  } from, to;
  std::memcpy(&from, words, sizeof from);
  std::memcpy(&to, words + 8, sizeof to);
  if (from.array || to.array) {
    context.fail(CUDA_ERROR_NOT_SUPPORTED,
                 "kernel '" + parent.info.name + "' copies to or from a CUDA array");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CopyOperation(to.place(), from.place(), words[16], words[17], words[18]).run(context);
}

CUresult fillRows(Context &context, const uint64_t *a) {
  for (uint64_t z = 0; z < a[6]; ++z)
    PTXRUN_TRY(FillOperation(reinterpret_cast<char *>(a[0] + z * a[5]), a[1],
                             static_cast<unsigned char>(a[2]), 1, a[3], a[4])
                   .run(context));
  return CUDA_SUCCESS;
}

CUresult runRecord(Context &context, Function &parent, const ChildRecord &record, uint64_t stream) {
  const uint64_t *arguments = argumentsOf(record);
  auto *to = reinterpret_cast<char *>(arguments[0]);
  switch (record.kernel) {
  case kCopyRecord: {
    const size_t bytes = arguments[2];
    auto *from = reinterpret_cast<char *>(arguments[1]);
    return CopyOperation({to, bytes, bytes}, {from, bytes, bytes}, bytes, 1, 1).run(context);
  }
  case kFillRecord:
    return FillOperation(to, 0, static_cast<unsigned char>(arguments[1]), 1, arguments[2], 1)
        .run(context);
  case kCopyRowsRecord: {
    auto *from = reinterpret_cast<char *>(arguments[2]);
    return CopyOperation({to, arguments[1], 0}, {from, arguments[3], 0}, arguments[4], arguments[5],
                         1)
        .run(context);
  }
  case kFillRowsRecord:
    return fillRows(context, arguments);
  case kCopyBoxRecord:
    return copyBox(context, parent, arguments);
  case kGraphRecord:
    return launchFromDevice(context, arguments[0], record.stream, stream);
  default:
    return runKernel(context, parent, record, stream);
  }
}

} // namespace

CUresult runWithChildren(Context &context, Function &parent, uint64_t stream,
                         const std::function<CUresult()> &runGrid) {
  std::lock_guard lock(parent.module.childMutex);
  if (const uint64_t graph = runningGraph(); *parent.currentGraph != graph)
    setVariable(context, parent.currentGraph, graph);
  const uint64_t bytesBefore = *parent.childBytes;
  CUresult result = runGrid();
  if (*parent.childBytes > kChildRoom && bytesBefore <= kChildRoom)
    reportOnce("kernel '" + parent.info.name +
               "' launched more kernels than there is room for at a time (" +
               std::to_string(kChildRoom >> 10) + " KiB); the rest were not launched");
  if (result != CUDA_SUCCESS || !*parent.childList)
    return result; // after an error nothing runs any more
  const std::vector<ChildRecord *> records = takeList(context, *parent.childList);
  for (const bool isTail : {false, true})
    for (const ChildRecord *record : records)
      if (result == CUDA_SUCCESS &&
          isTail == (record->kernel != kGraphRecord && record->stream == kTailStream))
        result = runRecord(context, parent, *record, stream);
  setVariable(context, parent.childBytes, bytesBefore);
  return result;
}

} // namespace ptxrun::driver
