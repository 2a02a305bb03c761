// Images behind plain addresses say themselves how long they are. Before that is believed, the
// kernel is asked whether there is memory at all.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "loader/device/outcome.h"

namespace ptxrun::image {

/// Whether each byte of [address, address + bytes) can be read: mapped, not protected, and not
/// behind the end of a mapped file. About 0.1 us per page; touches one word of each page.
bool isReadable(const void *address, size_t bytes);

/// The characters before the NUL that ends a text; nothing where memory ends before it does.
std::optional<std::string_view> textAt(const void *address);

/// The contents of a file, of 4 GiB at most. fileNotFound where it cannot be opened or read;
/// unsupportedImage for what is no file (a folder, a device, a pipe): it is not waited for.
device::Outcome readFile(const char *path, std::vector<char> &bytes);

} // namespace ptxrun::image
