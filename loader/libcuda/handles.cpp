#include "loader/libcuda/handles.h"

#include "loader/libcuda/context.h"

namespace ptxrun::driver {

namespace {

/// Streams are owned, too: their contexts list them. Functions go with their module. Libraries,
/// graphs, pools and physical memory belong to no context.
bool isOwned(Kind kind) {
  switch (kind) {
  case Kind::module:
  case Kind::event:
  case Kind::array:
  case Kind::mipmappedArray:
  case Kind::graphicsResource:
  case Kind::externalMemory:
    return true;
  default:
    return false;
  }
}

} // namespace

Registry &Registry::instance() {
  static auto *registry = new Registry;
  return *registry;
}

void Registry::add(std::shared_ptr<Object> object) {
  const void *handle = object.get();
  Context *context = isOwned(object->kind()) ? currentContext() : nullptr;
  const Context *owner = context ? &context->owner() : nullptr;
  std::unique_lock lock(mutex_);
  objects_[handle] = {std::move(object), owner};
}

std::shared_ptr<Object> Registry::remove(const void *handle, Kind kind) {
  std::unique_lock lock(mutex_);
  auto found = objects_.find(handle);
  if (found == objects_.end() || found->second.object->kind() != kind)
    return nullptr;
  std::shared_ptr<Object> object = std::move(found->second.object);
  objects_.erase(found);
  return object;
}

std::shared_ptr<Object> Registry::find(const void *handle, Kind kind) const {
  std::shared_lock lock(mutex_);
  auto found = objects_.find(handle);
  return found != objects_.end() && found->second.object->kind() == kind ? found->second.object
                                                                         : nullptr;
}

std::vector<std::shared_ptr<Object>> Registry::all(Kind kind) const {
  std::vector<std::shared_ptr<Object>> found;
  std::shared_lock lock(mutex_);
  for (const auto &[handle, entry] : objects_)
    if (entry.object->kind() == kind)
      found.push_back(entry.object);
  return found;
}

std::vector<std::shared_ptr<Object>> Registry::removeAllOf(const Context &context) {
  std::vector<std::shared_ptr<Object>> owned; // destroyed without the lock
  std::unique_lock lock(mutex_);
  std::erase_if(objects_, [&](auto &entry) {
    if (entry.second.owner != &context)
      return false;
    owned.push_back(std::move(entry.second.object));
    return true;
  });
  return owned;
}

} // namespace ptxrun::driver
