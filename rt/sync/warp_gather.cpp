#include "rt/sync/warp_gather.h"

#include <cstring>
#include <new>

#include "rt/launch/failure.h"
#include "rt/launch/suspend.h"
#include "rt/sync/lockstep.h"

namespace ptxrun::rt {

namespace {

[[noreturn]] void failMemory(GangState &g) {
  recordFailure(g, Status::outOfMemory, "not enough memory for a warp collective");
  leaveKernel(g);
}

bool isSame(const char *a, const char *b) { return a == b || std::strcmp(a, b) == 0; }

WarpMeeting *newMeeting(GangState &g, const char *operation, uint32_t memberMask) {
  WarpMeeting *&list = g.cta->meetings[g.warp];
  Worker &worker = *groupOf(g).worker;
  WarpMeeting *m = worker.freeMeetings;
  if (m)
    worker.freeMeetings = m->next;
  else if (!(m = new (std::nothrow) WarpMeeting))
    failMemory(g);
  m->operation = operation;
  m->isOpen = false;
  m->memberMask = memberMask;
  m->arrived = 0;
  m->waiters = {};
  std::memset(m->values, 0, sizeof m->values);
  m->next = list;
  list = m;
  return m;
}

/// The warp's meeting for this operation and membermask. All others meet independently.
WarpMeeting *findMeeting(GangState &g, const char *operation, uint32_t memberMask) {
  for (WarpMeeting *m = g.cta->meetings[g.warp]; m; m = m->next)
    if (m->memberMask == memberMask && !m->isOpen && isSame(m->operation, operation))
      return m;
  return newMeeting(g, operation, memberMask);
}

/// The warp's meeting at the activemask of this site.
WarpMeeting *findOpenMeeting(GangState &g, uint32_t site) {
  for (WarpMeeting *m = g.cta->meetings[g.warp]; m; m = m->next)
    if (m->isOpen && m->site == site)
      return m;
  WarpMeeting *m = newMeeting(g, "activemask", ~0u);
  m->isOpen = true;
  m->site = site;
  ++groupOf(g).openMeetings;
  return m;
}

bool isComplete(const CtaState &cta, uint32_t warp, const WarpMeeting &m) {
  return (m.memberMask & cta.warpLive[warp] & ~m.arrived) == 0;
}

void tell(const WarpMeeting &m, uint64_t *out, uint32_t *participants) {
  if (out)
    std::memcpy(out, m.values, sizeof m.values);
  *participants = m.arrived;
}

/// Everyone is here: hands out the values and dissolves the meeting.
void complete(CtaState &cta, uint32_t warp, WarpMeeting *m) {
  for (GangState *g = m->waiters.head; g; g = g->next) {
    tell(*m, g->values, g->result);
    g->result = nullptr;
  }
  GroupState &group = *cta.group;
  group.ready.append(m->waiters);
  ++group.progress;
  group.openMeetings -= m->isOpen;
  WarpMeeting **link = &cta.meetings[warp];
  while (*link != m)
    link = &(*link)->next;
  *link = m->next;
  m->next = group.worker->freeMeetings;
  group.worker->freeMeetings = m;
}

bool isBefore(const GangState &a, const GangState &b) { return a.laneShift < b.laneShift; }

void insertByLane(GangList &list, GangState &g) {
  if (!list.tail || isBefore(*list.tail, g))
    return list.push(&g);
  GangState **link = &list.head;
  while (isBefore(**link, g))
    link = &(*link)->next;
  g.next = *link;
  *link = &g;
}

/// The gang waits for the others of the meeting; the last one too, unless its lanes are the first
/// of the warp: lanes go on in their order. Code in which lane 0 tells other warps what its own
/// warp did relies on that (on hardware the warp stays converged there), cooperative groups' own
/// tiles of several warps for one. True when the gang must suspend.
bool meet(GangState &g, WarpMeeting *m, uint32_t mask, uint64_t *out, uint32_t *participants) {
  CtaState &cta = *g.cta;
  m->arrived |= warpLanes(g, mask);
  const bool isLast = isComplete(cta, g.warp, *m);
  if (isLast && (m->waiters.empty() || isBefore(g, *m->waiters.head))) {
    tell(*m, out, participants);
    complete(cta, g.warp, m);
    return isToYield(*cta.group->worker, *cta.group, g);
  }
  g.wait = WaitKind::warp;
  g.waitMask = m->memberMask;
  g.waitAddress = reinterpret_cast<uint64_t>(m->operation);
  g.values = out;
  g.result = participants;
  insertByLane(m->waiters, g);
  if (isLast)
    complete(cta, g.warp, m);
  return true;
}

bool begin(abi::Gang *gang, const char *operation, uint32_t memberMask, uint32_t mask,
           const uint64_t *in, uint64_t *out, uint32_t *participants) {
  GangState &g = stateOf(gang);
  leaveLockstep(g);
  WarpMeeting *m = findMeeting(g, operation, memberMask);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    m->values[g.laneShift + lane] = in[lane];
  }
  return meet(g, m, mask, out, participants);
}

bool beginActive(abi::Gang *gang, uint32_t site, uint32_t mask, uint32_t *active) {
  GangState &g = stateOf(gang);
  leaveLockstep(g);
  return meet(g, findOpenMeeting(g, site), mask, nullptr, active);
}

} // namespace

void recheckMeetings(CtaState &cta, uint32_t warp) {
  for (WarpMeeting *m = cta.meetings[warp]; m;) {
    WarpMeeting *next = m->next;
    if (isComplete(cta, warp, *m))
      complete(cta, warp, m);
    m = next;
  }
}

void endOpenMeetings(GroupState &group) {
  for (uint32_t c = 0; c < group.ctaCount && group.openMeetings; ++c) {
    CtaState &cta = group.ctas[c];
    for (uint32_t w = 0; w < cta.warpCount; ++w) {
      WarpMeeting *first = nullptr;
      for (WarpMeeting *m = cta.meetings[w]; m; m = m->next)
        if (m->isOpen && (!first || m->site < first->site))
          first = m;
      if (first)
        complete(cta, w, first);
    }
  }
}

bool releaseNonMembers(GroupState &group) {
  bool areAny = false;
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    CtaState &cta = group.ctas[c];
    for (uint32_t w = 0; w < cta.warpCount; ++w)
      for (WarpMeeting *m = cta.meetings[w]; m;) {
        WarpMeeting *next = m->next;
        if (!m->isOpen && (m->arrived & m->memberMask) == 0) {
          complete(cta, w, m);
          areAny = true;
        }
        m = next;
      }
  }
  return areAny;
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

uint32_t ptxrun_warp_gather(abi::Gang *gang, const char *operation, uint32_t memberMask,
                            uint32_t mask, const uint64_t *in, uint64_t *out) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  uint32_t participants = 0;
  if (begin(gang, operation, memberMask, mask, in, out, &participants))
    suspendGang(stateOf(gang));
  return participants;
}

bool ptxrun_warp_gather_begin(abi::Gang *gang, const char *operation, uint32_t memberMask,
                              uint32_t mask, const uint64_t *in, uint64_t *out,
                              uint32_t *participants) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return begin(gang, operation, memberMask, mask, in, out, participants);
}

uint32_t ptxrun_active_lanes(abi::Gang *gang, uint32_t site, uint32_t mask) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  uint32_t active = 0;
  if (beginActive(gang, site, mask, &active))
    suspendGang(stateOf(gang));
  return active;
}

bool ptxrun_active_lanes_begin(abi::Gang *gang, uint32_t site, uint32_t mask, uint32_t *active) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return beginActive(gang, site, mask, active);
}
}
