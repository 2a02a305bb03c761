// Addresses that stand for memory of several devices (multicast objects): the memory of the first
// lies at the address itself, that of the others somewhere else.
#pragma once
#include <cstdint>
#include <vector>

namespace ptxrun::rt {

/// The range [address, address + bytes) shows the first device's memory; others[k] is where the
/// same range of device k + 1 lies. Takes the place of what was said of this address before.
void setReplicas(uint64_t address, uint64_t bytes, std::vector<uint64_t> others);
void forgetReplicas(uint64_t address);
/// Whether there is any such range.
bool hasReplicas();
/// Device `number`'s place for an address, 0 where there is none. Device 0's is the address.
uint64_t replicaOf(uint64_t address, uint32_t number);

} // namespace ptxrun::rt
