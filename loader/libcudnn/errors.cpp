// What statuses are called, and what went wrong last.
#include <algorithm>
#include <cstring>
#include <string>

#include "loader/libcudnn/cudnn_abi.h"
#include "loader/libcudnn/exports.h"
#include "loader/libcudnn/not_supported.h"

extern "C" {

const char *cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
#define STATUS(name, number)                                                                       \
  case name:                                                                                       \
    return #name;
#include "loader/libcudnn/statuses.def"
#undef STATUS
  }
  return "CUDNN_UNKNOWN_STATUS";
}

/// The calling thread's last message, cut to the room that there is, with its final zero.
void cudnnGetLastErrorString(char *message, size_t size) {
  const std::string last = ptxrun::cudnn::takeLastMessage();
  if (!message || size == 0)
    return;
  const size_t length = std::min(last.size(), size - 1);
  std::memcpy(message, last.data(), length);
  message[length] = 0;
}
}
