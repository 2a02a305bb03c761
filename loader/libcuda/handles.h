// Handles: every object that a program holds a pointer to is in one registry, which owns it and
// tells a live handle from a dangling one without touching the memory behind it.
#pragma once
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace ptxrun::driver {

enum class Kind {
  context,
  module,
  library,
  function,
  stream,
  event,
  pool,
  linker,
  array,
  mipmappedArray,
  textureReference,
  surfaceReference,
  graph,
  graphNode,
  graphExec,
  userObject,
  physicalMemory,
  graphicsResource,
  resourceDescription,
  notification,
  externalMemory
};

/// Base of what stands behind a handle. The handle is the object's address.
class Object {
 public:
  explicit Object(Kind kind) : kind_(kind) {}
  virtual ~Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  Kind kind() const { return kind_; }

 private:
  const Kind kind_;
};

class Context;

class Registry {
 public:
  /// Never destroyed: programs call the driver until the very end of the process.
  static Registry &instance();
  /// What contexts own (isOwned) belongs to the calling thread's current one.
  void add(std::shared_ptr<Object>);
  /// Takes the object out; null if it is not there or of another kind.
  std::shared_ptr<Object> remove(const void *handle, Kind);
  std::shared_ptr<Object> find(const void *handle, Kind) const;
  /// Everything of a kind that is registered now.
  std::vector<std::shared_ptr<Object>> all(Kind) const;
  /// Takes out everything that the context owns: their handles mean nothing any more.
  std::vector<std::shared_ptr<Object>> removeAllOf(const Context &);

 private:
  struct Entry {
    std::shared_ptr<Object> object;
    const Context *owner; ///< null: it stays until it is destroyed
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void *, Entry> objects_;
};

/// Registers and returns the handle.
template <class Handle, class T> Handle publish(const std::shared_ptr<T> &object) {
  Registry::instance().add(object);
  return reinterpret_cast<Handle>(static_cast<Object *>(object.get()));
}
/// The object behind a handle of T's kind; null for any other pointer.
template <class T, class Handle> std::shared_ptr<T> resolve(Handle handle) {
  return std::static_pointer_cast<T>(Registry::instance().find(handle, T::kKind));
}
template <class T, class Handle> std::shared_ptr<T> withdraw(Handle handle) {
  return std::static_pointer_cast<T>(Registry::instance().remove(handle, T::kKind));
}
template <class Handle, class T> Handle handleOf(T *object) {
  return reinterpret_cast<Handle>(static_cast<Object *>(object));
}

} // namespace ptxrun::driver
