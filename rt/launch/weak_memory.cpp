#include "rt/launch/weak_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rt/launch/worker.h"

namespace ptxrun::rt {

namespace {

uint64_t read(uint64_t cell) {
  uint64_t contents;
  std::memcpy(&contents, reinterpret_cast<const void *>(cell), sizeof contents);
  return contents;
}

void write(uint64_t address, const void *bytes, size_t count) {
  std::memcpy(reinterpret_cast<void *>(address), bytes, count);
}

template <class Visit> void eachCell(uint64_t address, uint32_t bytes, Visit visit) {
  for (uint64_t cell = address & ~uint64_t{7}; cell < address + bytes; cell += 8)
    visit(cell);
}

void dropNumber(std::vector<uint64_t> &numbers, uint64_t number) {
  if (const auto at = std::ranges::find(numbers, number); at != numbers.end())
    numbers.erase(at);
}

/// Local memory, which nobody else sees: it is on the thread's stack, that of another one when this
/// thread has ended.
bool isLocal(const GangState &gang, uint64_t address) {
  const GroupState &group = *gang.cta->group;
  return !group.launch->usesCoroutines && gang.fiber &&
         address - reinterpret_cast<uint64_t>(gang.fiber->stack) < gang.fiber->stackBytes;
}

/// Where the access is in the memory of this process, and whether that is shared memory of its own
/// block. Zero: nothing that is kept track of.
uint64_t hostAddress(const GangState &gang, ScheduleAccess &access) {
  const GroupState &group = *gang.cta->group;
  const auto window = reinterpret_cast<uint64_t>(gang.cta->window);
  const uint64_t windowBytes = uint64_t{1} << abi::kSharedWindowShift;
  const uint64_t address = access.isShared ? window + access.address : access.address;
  if (access.isShared && access.address >= windowBytes)
    return 0; // of another block of the cluster
  if (isLocal(gang, address))
    return 0;
  if (address < window - windowBytes * kMaxClusterCtas ||
      address >= window + windowBytes * kMaxClusterCtas)
    return address;
  if (group.ctaCount > 1 || address < window || address >= window + windowBytes)
    return 0;
  access.isShared = true;
  access.address = address - window;
  return address;
}

} // namespace

WeakMemory::Cell *WeakMemory::cellAt(uint64_t address, bool isToBeMade) {
  const auto found = cells_.find(address);
  if (found != cells_.end())
    return &found->second;
  return isToBeMade && cells_.size() < kMostCells ? &cells_[address] : nullptr;
}

void WeakMemory::access(const GangState &gang, const ScheduleAccess &told, uint32_t kind) {
  settle();
  ++now_;
  Thread &thread = threads_[told.at];
  Block &block = blocks_[told.at.block];
  if (thread.waitsForAll)
    releaseExited(gang);
  thread.waitsForAll = kind & abi::kAccessWaitsForAll;
  if (thread.acquires)
    thread.acquired = now_;
  if (thread.acquires || thread.acquiresOfBlock) {
    thread.acquiredOfBlock = now_;
    thread.acquired = std::max(thread.acquired, block.acquired);
  }
  thread.acquires = thread.acquiresOfBlock = false;
  if (kind & abi::kAccessReleases)
    release(told.at, kind & abi::kAccessBeyondCta);
  const bool isAtomicOfAll = told.kind == abi::AccessKind::atomic && (kind & abi::kAccessBeyondCta);
  if ((kind & abi::kAccessAcquires) || isAtomicOfAll)
    ((kind & abi::kAccessBeyondCta) ? thread.acquires : thread.acquiresOfBlock) = true;
  while (!late_.empty() && late_.begin()->second.madeAt + kMostDelay < now_)
    publish({late_.begin()->first});

  ScheduleAccess access = told;
  const uint64_t address = access.bytes ? hostAddress(gang, access) : 0;
  if (address == 0)
    return;
  const GuestAccess guest(*gang.cta->group->worker); // the kernel touches it next, anyway
  switch (access.kind) {
  case abi::AccessKind::load:
    return load(access, address);
  case abi::AccessKind::store:
    return store(access, address);
  case abi::AccessKind::atomic:
    return atomic(access, address, kind);
  default:
    return;
  }
}

uint64_t WeakMemory::seen(const Cell &cell, uint64_t at, const ScheduleAccess &reader,
                          bool *hasOwn) {
  uint64_t contents = read(at);
  for (const uint64_t number : cell.late) {
    const Late &late = late_.at(number);
    if (!isSeenBy(late, reader.at))
      continue;
    *hasOwn = true;
    for (uint32_t i = 0; i < late.bytes; ++i)
      if ((late.alive >> i & 1) && late.address + i >= at && late.address + i < at + kCellBytes)
        std::memcpy(reinterpret_cast<char *>(&contents) + (late.address + i - at), &late.value[i],
                    1);
  }
  return contents;
}

void WeakMemory::load(const ScheduleAccess &access, uint64_t address) {
  eachCell(address, access.bytes, [&](uint64_t at) {
    Cell *cell = cellAt(at, false);
    if (!cell)
      return;
    bool hasOwn = false;
    uint64_t contents = seen(*cell, at, access, &hasOwn);
    for (const uint64_t number : cell->late)
      if (const Late &late = late_.at(number); !isSeenBy(late, access.at))
        noteUnseen(late.by, access, false);
    if (!cell->versions.empty())
      choose(*cell, at, address, access, hasOwn, contents);
    if (contents != read(at))
      patch(at, contents);
  });
}

/// What a load finds in a cell that was overwritten: what is seen there now, `contents`, or what
/// was there before.
void WeakMemory::choose(Cell &cell, uint64_t at, uint64_t address, const ScheduleAccess &access,
                        bool hasOwn, uint64_t &contents) {
  const Thread &thread = threads_[access.at];
  const bool readsFirst =
      address<at + kCellBytes / 2, readsSecond = address + access.bytes> at + kCellBytes / 2;
  uint64_t since = 0;
  for (const bool isSecond : {false, true})
    if (isSecond ? readsSecond : readsFirst)
      since = std::max(since, cell.seenSince[{access.at, isSecond}]);
  // Back through the versions whose ends the thread need not have seen.
  size_t oldest = cell.versions.size();
  while (oldest > 0 && !hasOwn) {
    const Version &version = cell.versions[oldest - 1];
    const bool isOfBlock = version.by.at.block == access.at.block;
    const uint64_t end = isOfBlock ? version.endInBlock : version.end;
    const uint64_t acquired = isOfBlock ? thread.acquiredOfBlock : thread.acquired;
    if (version.by.at == access.at || end <= std::max(since, acquired))
      break;
    --oldest;
  }
  const auto isOther = [&](uint64_t before) { // in a byte that is read
    for (uint32_t i = 0; i < kCellBytes; ++i)
      if (address <= at + i && at + i < address + access.bytes &&
          (before >> (8 * i) & 255) != (contents >> (8 * i) & 255))
        return true;
    return false;
  };
  while (oldest < cell.versions.size() && !isOther(cell.versions[oldest].contents))
    ++oldest;
  uint64_t begin = now_;
  if (oldest < cell.versions.size() && chooser_.isOutOfOrder(access)) {
    contents = cell.versions[oldest].contents;
    for (size_t i = oldest; i < cell.versions.size(); ++i)
      noteUnseen(cell.versions[i].by, access, true);
    begin = oldest ? cell.versions[oldest - 1].end : 0;
  }
  for (const bool isSecond : {false, true})
    if (isSecond ? readsSecond : readsFirst)
      cell.seenSince[{access.at, isSecond}] = std::max(since, begin);
}

void WeakMemory::store(const ScheduleAccess &access, uint64_t address) {
  beginWrite(access, address, access.bytes <= kMostBytes && chooser_.isOutOfOrder(access), false);
}

void WeakMemory::atomic(const ScheduleAccess &access, uint64_t address, uint32_t kind) {
  const bool isLate = !(kind & abi::kAccessBeyondCta) && !access.isShared &&
                      access.bytes <= kMostBytes && chooser_.isOutOfOrder(access);
  eachCell(address, access.bytes, [&](uint64_t at) {
    const Cell *cell = cellAt(at, false);
    for (size_t i = 0; cell && i < cell->late.size(); ++i)
      if (const Late &late = late_.at(cell->late[i]); !isSeenBy(late, access.at))
        noteUnseen(late.by, access, false);
  });
  if (!isLate)
    publishSeen(access, address);
  beginWrite(access, address, isLate, true);
  if (!isLate)
    return;
  eachCell(address, access.bytes, [&](uint64_t at) { // it works on what its block sees
    bool hasOwn = false;
    if (const Cell *cell = cellAt(at, false))
      if (const uint64_t contents = seen(*cell, at, access, &hasOwn); contents != read(at))
        patch(at, contents);
  });
}

void WeakMemory::beginWrite(const ScheduleAccess &access, uint64_t address, bool isLate,
                            bool isOfBlock) {
  write_ = {false, isLate, isOfBlock, address, access.bytes, {}, access};
  eachCell(address, access.bytes, [&](uint64_t at) { write_.cellsBefore.push_back(read(at)); });
  write_.isThere = true; // and the address can be read
}

/// The write has been made.
void WeakMemory::endWrite() {
  Write made = std::move(write_);
  write_ = {};
  const GangPlace who = made.by.at;
  bool hasCells = true;
  eachCell(made.address, made.bytes, [&](uint64_t at) { hasCells &= cellAt(at, true) != nullptr; });
  if (!hasCells)
    made.isLate = false;
  Late late{made.address, made.bytes, 0, {}, made.isOfBlock, now_, now_, made.by};
  if (made.isLate) {
    late.alive = (1u << made.bytes) - 1;
    std::memcpy(late.value.data(), reinterpret_cast<const void *>(made.address), made.bytes);
  }
  supersede(made.by, made.address,
            !made.isLate     ? Audience::all
            : made.isOfBlock ? Audience::block
                             : Audience::thread);
  size_t i = 0;
  eachCell(made.address, made.bytes, [&](uint64_t at) {
    const uint64_t before = made.cellsBefore[i++];
    if (made.isLate)
      write(at, &before, sizeof before);
    else
      noteVersion(at, before, now_, made.by);
    if (made.by.isShared && hasCells)
      blocks_[who.block].sharedCells.push_back(at);
  });
  if (!made.isLate)
    return;
  const uint64_t number = ++lastNumber_;
  (made.isOfBlock ? blocks_[who.block].late : threads_[who].late).push_back(number);
  eachCell(made.address, made.bytes, [&](uint64_t at) { cells_[at].late.push_back(number); });
  late_.emplace(number, late);
}

void WeakMemory::settle() {
  if (write_.isThere)
    endWrite(); // if late, it was made on what is patched
  const std::vector<std::pair<uint64_t, uint64_t>> patched = std::move(patched_);
  patched_.clear();
  for (const auto &[at, contents] : patched)
    write(at, &contents, sizeof contents);
}

void WeakMemory::patch(uint64_t at, uint64_t contents) {
  patched_.emplace_back(at, read(at));
  write(at, &contents, sizeof contents);
}

void WeakMemory::noteVersion(uint64_t at, uint64_t before, uint64_t endInBlock,
                             const ScheduleAccess &by) {
  Cell *cell = cellAt(at, true);
  if (!cell)
    return;
  if (cell->versions.size() == kMostVersions)
    cell->versions.erase(cell->versions.begin());
  cell->versions.push_back({now_, endInBlock, before, by});
}

/// A write takes the place of what its thread had seen, where nobody is left who would see that.
void WeakMemory::supersede(const ScheduleAccess &access, uint64_t address, Audience audience) {
  std::vector<uint64_t> gone;
  eachCell(address, access.bytes, [&](uint64_t at) {
    const Cell *cell = cellAt(at, false);
    for (size_t n = 0; cell && n < cell->late.size(); ++n) {
      Late &late = late_.at(cell->late[n]);
      const bool isReplaced =
          audience == Audience::all ||
          (late.isOfBlock ? audience == Audience::block : late.by.at == access.at);
      if (!isReplaced || !isSeenBy(late, access.at))
        continue;
      for (uint32_t i = 0; i < late.bytes; ++i)
        if (late.address + i >= address && late.address + i < address + access.bytes)
          late.alive &= ~(1u << i);
      if (late.alive == 0)
        gone.push_back(cell->late[n]);
    }
  });
  std::ranges::sort(gone);
  gone.erase(std::ranges::unique(gone).begin(), gone.end());
  for (const uint64_t number : gone)
    forget(number);
}

/// Takes a late write off all lists.
void WeakMemory::forget(uint64_t number) {
  const Late late = late_.at(number);
  eachCell(late.address, late.bytes, [&](uint64_t at) { dropNumber(cells_[at].late, number); });
  dropNumber(threads_[late.by.at].late, number);
  dropNumber(blocks_[late.by.at.block].late, number);
  late_.erase(number);
}

/// All see what the thread sees of these bytes.
void WeakMemory::publishSeen(const ScheduleAccess &access, uint64_t address) {
  std::vector<uint64_t> numbers;
  eachCell(address, access.bytes, [&](uint64_t at) {
    if (const Cell *cell = cellAt(at, false))
      for (const uint64_t number : cell->late)
        if (const Late &late = late_.at(number); isSeenBy(late, access.at) &&
                                                 late.address < address + access.bytes &&
                                                 address < late.address + late.bytes)
          numbers.push_back(number);
  });
  publish(std::move(numbers));
}

void WeakMemory::release(GangPlace who, bool isBeyondCta) {
  Thread &thread = threads_[who];
  Block &block = blocks_[who.block];
  block.acquired = std::max(block.acquired, thread.acquired);
  std::vector<uint64_t> shared;
  for (const uint64_t number : thread.late) {
    Late &late = late_.at(number);
    late.isOfBlock = true;
    late.ofBlockSince = now_;
    block.late.push_back(number);
    if (late.by.isShared)
      shared.push_back(number);
  }
  thread.late.clear();
  publish(isBeyondCta ? block.late : shared);
}

void WeakMemory::exit(GangPlace who) {
  settle();
  if (!threads_[who].late.empty())
    blocks_[who.block].exited.push_back(who);
}

/// A barrier was passed by the gang: it is a fence of those that have exited.
void WeakMemory::releaseExited(const GangState &gang) {
  const GroupState &group = *gang.cta->group;
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    for (const GangPlace &who :
         std::exchange(blocks_[group.number * group.ctaCount + c].exited, {}))
      release(who, group.ctaCount > 1);
}

void WeakMemory::publish(std::vector<uint64_t> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  for (const uint64_t number : numbers) {
    const Late late = late_.at(number);
    eachCell(late.address, late.bytes, [&](uint64_t at) {
      for (const Version &version : cells_[at].versions) // written since, by one who did not see it
        if (version.end > late.madeAt && version.by.at != late.by.at)
          noteUnseen(late.by, version.by, false);
      noteVersion(at, read(at), late.isOfBlock ? late.ofBlockSince : now_, late.by);
    });
    for (uint32_t i = 0; i < late.bytes; ++i)
      if (late.alive >> i & 1)
        write(late.address + i, &late.value[i], 1);
    forget(number);
  }
}

void WeakMemory::publishAll() {
  settle();
  ++now_;
  std::vector<uint64_t> all;
  for (const auto &[number, late] : late_)
    all.push_back(number);
  publish(std::move(all));
}

void WeakMemory::close(const GroupState &group) {
  settle();
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    const auto found = blocks_.find(group.number * group.ctaCount + c);
    if (found == blocks_.end())
      continue;
    std::vector<uint64_t> gone;
    for (const auto &[number, late] : late_)
      if (late.by.isShared && late.by.at.block == found->first)
        gone.push_back(number);
    publish(std::move(gone));
    for (const uint64_t at : found->second.sharedCells)
      cells_.erase(at);
    found->second.sharedCells.clear();
  }
}

/// Notes who did not see a write. The write (or the load) is what was out of order.
void WeakMemory::noteUnseen(const ScheduleAccess &write, const ScheduleAccess &reader,
                            bool isReaderEarly) {
  const bool isSamePlace =
      write.address < reader.address + reader.bytes && reader.address < write.address + write.bytes;
  if (!record_ || !isSamePlace || record_->unordered.size() == record_->mostUnordered)
    return;
  record_->unordered.push_back({write, reader, isReaderEarly});
}

} // namespace ptxrun::rt
