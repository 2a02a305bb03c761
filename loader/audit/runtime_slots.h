// The functions of our libcudart, found when a program first calls one.
#pragma once
#include <cstddef>
#include <string_view>

namespace ptxrun::audit {

enum class RuntimeMajor { cuda12, cuda13 };

/// Where the address of libcudart's function of this name stands, or will stand: a call through it
/// loads the library, into the program's own namespace, and fills it in. Null if libcudart has no
/// such function. Valid forever.
void *const *runtimeSlot(RuntimeMajor, std::string_view function);

/// The folder that libcudart.so.12 and .13 lie in, with its final slash; before any call.
void setRuntimeFolder(std::string_view);

} // namespace ptxrun::audit
