// Copies of ranges of arrays. An offset counts bytes from row to row (and slice to slice), as if
// nothing lay between them.
#include <algorithm>

#include "loader/libcuda/api.h"
#include "loader/libcuda/array.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;
namespace rt = ptxrun::rt;

namespace {

/// A range of an array, or of memory.
struct Range {
  CUarray array = nullptr;
  const void *memory = nullptr;
  bool isHost = false;
  size_t offset = 0;
};

Range ofArray(CUarray array, size_t offset) { return {array, nullptr, false, offset}; }
Range ofHost(const void *memory) { return {nullptr, memory, true, 0}; }
Range ofDevice(CUdeviceptr address) {
  return {nullptr, reinterpret_cast<const void *>(address), false, 0};
}

/// A range as runs of bytes that lie side by side.
class Runs {
 public:
  CUresult open(const Range &range, size_t bytes) {
    offset_ = range.offset;
    if (!range.array) {
      base_ = static_cast<char *>(const_cast<void *>(range.memory));
      row_ = bytes;
      return base_ && (range.isHost || isAccessible(base_, bytes)) ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_INVALID_VALUE;
    }
    const auto array = resolve<Array>(range.array);
    if (!array)
      return CUDA_ERROR_INVALID_HANDLE;
    const rt::Image &image = array->image;
    const rt::ImageLevel &level = image.level[0];
    base_ = image.base;
    row_ = size_t{level.width} * image.texelBytes();
    rows_ = level.height;
    pitch_ = level.pitch;
    slice_ = level.slice;
    const size_t slices = image.shape == rt::ImageShape::d3 ? level.depth : image.layers;
    const size_t all = row_ * rows_ * slices;
    return offset_ <= all && bytes <= all - offset_ ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  char *place() const {
    const size_t row = offset_ / row_;
    return base_ + row / rows_ * slice_ + row % rows_ * pitch_ + offset_ % row_;
  }
  size_t left() const { return row_ - offset_ % row_; }
  void skip(size_t bytes) { offset_ += bytes; }

 private:
  char *base_ = nullptr;
  size_t row_ = 1, rows_ = 1, pitch_ = 0, slice_ = 0, offset_ = 0;
};

/// How a call came: those that return when the copy is done are no part of any capture.
enum class Call { synchronous, queued };

CUresult copy(const Range &to, const Range &from, size_t bytes, CUstream streamHandle,
              Completion completion, Call call = Call::queued) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  bool isCaptured = false;
  PTXRUN_TRY(call == Call::synchronous ? forbidSynchronous(*stream)
                                       : routeWork(*stream, isCaptured));
  if (bytes == 0)
    return CUDA_SUCCESS;
  Runs target, source;
  PTXRUN_TRY(target.open(to, bytes));
  PTXRUN_TRY(source.open(from, bytes));
  for (const Range *range : {&to, &from})
    if (range->isHost && !isPinned(range->memory))
      completion = Completion::waits;
  std::vector<PiecesOperation::Piece> pieces;
  for (size_t left = bytes; left;) {
    const size_t piece = std::min({left, target.left(), source.left()});
    pieces.push_back({target.place(), source.place(), piece});
    target.skip(piece);
    source.skip(piece);
    left -= piece;
  }
  auto operation = std::make_shared<PiecesOperation>(std::move(pieces));
  if (isCaptured)
    return captureNode(*stream,
                       CopyNode{std::move(operation), {}, false, handleOf<CUcontext>(context)});
  return perform(*context, *stream, std::move(operation), completion);
}

} // namespace

PTXRUN_STREAM_API(cuMemcpyAtoA_v2, _ptds,
                  (CUarray to, size_t toOffset, CUarray from, size_t fromOffset, size_t bytes),
                  (to, toOffset, from, fromOffset, bytes)) {
  return copy(ofArray(to, toOffset), ofArray(from, fromOffset), bytes, nullptr, Completion::async,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyAtoD_v2, _ptds,
                  (CUdeviceptr to, CUarray from, size_t fromOffset, size_t bytes),
                  (to, from, fromOffset, bytes)) {
  return copy(ofDevice(to), ofArray(from, fromOffset), bytes, nullptr, Completion::async,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyDtoA_v2, _ptds,
                  (CUarray to, size_t toOffset, CUdeviceptr from, size_t bytes),
                  (to, toOffset, from, bytes)) {
  return copy(ofArray(to, toOffset), ofDevice(from), bytes, nullptr, Completion::async,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyAtoH_v2, _ptds, (void *to, CUarray from, size_t fromOffset, size_t bytes),
                  (to, from, fromOffset, bytes)) {
  return copy(ofHost(to), ofArray(from, fromOffset), bytes, nullptr, Completion::waits,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyHtoA_v2, _ptds,
                  (CUarray to, size_t toOffset, const void *from, size_t bytes),
                  (to, toOffset, from, bytes)) {
  return copy(ofArray(to, toOffset), ofHost(from), bytes, nullptr, Completion::waits,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyAtoHAsync_v2, _ptsz,
                  (void *to, CUarray from, size_t fromOffset, size_t bytes, CUstream stream),
                  (to, from, fromOffset, bytes, stream)) {
  return copy(ofHost(to), ofArray(from, fromOffset), bytes, stream, Completion::async);
}
PTXRUN_STREAM_API(cuMemcpyHtoAAsync_v2, _ptsz,
                  (CUarray to, size_t toOffset, const void *from, size_t bytes, CUstream stream),
                  (to, toOffset, from, bytes, stream)) {
  return copy(ofArray(to, toOffset), ofHost(from), bytes, stream, Completion::async);
}
