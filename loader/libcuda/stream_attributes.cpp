#include "loader/libcuda/stream.h"

namespace ptxrun::driver {

namespace {

constexpr int kAutomatic = 1; // CU_SYNC_POLICY_AUTO
constexpr char kRemoteDomain = 1;

} // namespace

StreamAttributes::StreamAttributes(int priority) {
  values_[CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW] = {};
  values_[CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY].priority = kAutomatic;
  values_[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority = priority;
  values_[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP].pad[1] = kRemoteDomain; // {default, remote}
  values_[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN] = {};
}

StreamAttributes &StreamAttributes::operator=(const StreamAttributes &other) {
  if (this == &other)
    return *this;
  std::scoped_lock lock(mutex_, other.mutex_);
  values_ = other.values_;
  return *this;
}

bool StreamAttributes::set(CUstreamAttrID attribute, const CUstreamAttrValue &value) {
  std::lock_guard lock(mutex_);
  const auto known = values_.find(attribute);
  if (known == values_.end())
    return false;
  known->second = value;
  return true;
}

bool StreamAttributes::get(CUstreamAttrID attribute, CUstreamAttrValue &value) const {
  std::lock_guard lock(mutex_);
  const auto known = values_.find(attribute);
  if (known == values_.end())
    return false;
  value = known->second;
  return true;
}

} // namespace ptxrun::driver
