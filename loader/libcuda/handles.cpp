#include "loader/libcuda/handles.h"

namespace ptxrun::driver {

Registry &Registry::instance() {
  static auto *registry = new Registry;
  return *registry;
}

void Registry::add(std::shared_ptr<Object> object) {
  const void *handle = object.get();
  std::unique_lock lock(mutex_);
  objects_[handle] = std::move(object);
}

std::shared_ptr<Object> Registry::remove(const void *handle, Kind kind) {
  std::unique_lock lock(mutex_);
  auto found = objects_.find(handle);
  if (found == objects_.end() || found->second->kind() != kind)
    return nullptr;
  std::shared_ptr<Object> object = std::move(found->second);
  objects_.erase(found);
  return object;
}

std::shared_ptr<Object> Registry::find(const void *handle, Kind kind) const {
  std::shared_lock lock(mutex_);
  auto found = objects_.find(handle);
  return found != objects_.end() && found->second->kind() == kind ? found->second : nullptr;
}

} // namespace ptxrun::driver
