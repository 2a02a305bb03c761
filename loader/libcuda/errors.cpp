// Names and texts of results.
#include "loader/libcuda/api.h"

namespace {

struct ResultText {
  CUresult result;
  const char *name, *text;
};
constexpr ResultText kResults[] = {
#define RESULT(name, value, text) {name, #name, text},
#include "loader/libcuda/results.def"
#undef RESULT
};

const ResultText *findResult(CUresult result) {
  for (const ResultText &entry : kResults)
    if (entry.result == result)
      return &entry;
  return nullptr;
}

} // namespace

PTXRUN_API CUresult cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  const ResultText *entry = findResult(error);
  *name = entry ? entry->name : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  const ResultText *entry = findResult(error);
  *text = entry ? entry->text : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
