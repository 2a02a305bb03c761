// What functions that are not here say.
#pragma once
#include <string>

#include "loader/libcudnn/cudnn_abi.h"

namespace ptxrun::cudnn {

/// Says on stderr that `name` is not supported: the first function of the process, and each once
/// where PTXRUN_VERBOSE is set. Remembers it for takeLastMessage.
cudnnStatus_t notSupported(const char *name);

/// What the calling thread was told last, and forgets it: empty if nothing.
std::string takeLastMessage();

} // namespace ptxrun::cudnn
