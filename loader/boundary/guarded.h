// What was thrown, as a result.
#pragma once
#include <cxxabi.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace ptxrun::boundary {

/// The kinds of exceptions that libraries tell apart.
enum class Thrown {
  outOfMemory,     ///< also a size that no memory could hold
  operatingSystem, ///< no thread, no file
  other
};

/// What the exception is that is being handled. A thread's cancellation is thrown on.
inline Thrown whatWasThrown() {
  try {
    throw;
  } catch (const ::abi::__forced_unwind &) {
    throw;
  } catch (const std::bad_alloc &) {
    return Thrown::outOfMemory;
  } catch (const std::length_error &) {
    return Thrown::outOfMemory;
  } catch (const std::system_error &) {
    return Thrown::operatingSystem;
  } catch (...) {
    return Thrown::other;
  }
}

/// `body()`, or `resultOf(Thrown)` where it throws.
template <class Body, class ResultOf> auto guarded(Body &&body, ResultOf &&resultOf) {
  try {
    return body();
  } catch (...) {
    return static_cast<decltype(body())>(resultOf(whatWasThrown()));
  }
}

} // namespace ptxrun::boundary
