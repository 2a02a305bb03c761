#include "rt/sync/warp_gather.h"

#include <cstring>
#include <new>

#include "rt/exec/lockstep.h"
#include "rt/exec/scheduler.h"
#include "rt/observe/report.h"

namespace ptxrun::rt {

namespace {

[[noreturn]] void failMemory(GangState &g) {
  recordFailure(g, Status::outOfMemory, "not enough memory for a warp collective");
  leaveKernel(g);
}

/// The warp's open meeting for this membermask. Different masks meet independently.
WarpMeeting *findMeeting(GangState &g, uint32_t memberMask) {
  WarpMeeting *&list = g.cta->meetings[g.warp];
  for (WarpMeeting *m = list; m; m = m->next)
    if (m->memberMask == memberMask)
      return m;
  Worker &worker = *groupOf(g).worker;
  WarpMeeting *m = worker.freeMeetings;
  if (m)
    worker.freeMeetings = m->next;
  else if (!(m = new (std::nothrow) WarpMeeting))
    failMemory(g);
  m->memberMask = memberMask;
  m->arrived = 0;
  m->waiters = {};
  std::memset(m->values, 0, sizeof m->values);
  m->next = list;
  list = m;
  return m;
}

bool isComplete(const CtaState &cta, uint32_t warp, const WarpMeeting &m) {
  return (m.memberMask & cta.warpLive[warp] & ~m.arrived) == 0;
}

void tell(const WarpMeeting &m, uint64_t *out, uint32_t *participants) {
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
  WarpMeeting **link = &cta.meetings[warp];
  while (*link != m)
    link = &(*link)->next;
  *link = m->next;
  m->next = group.worker->freeMeetings;
  group.worker->freeMeetings = m;
}

/// True when the gang must suspend.
bool begin(abi::Gang *gang, uint32_t memberMask, uint32_t mask, const uint64_t *in, uint64_t *out,
           uint32_t *participants) {
  GangState &g = stateOf(gang);
  leaveLockstep(g);
  CtaState &cta = *g.cta;
  WarpMeeting *m = findMeeting(g, memberMask);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    m->values[g.laneShift + lane] = in[lane];
  }
  m->arrived |= warpLanes(g, mask);
  if (!isComplete(cta, g.warp, *m)) {
    g.wait = WaitKind::warp;
    g.waitMask = memberMask;
    g.values = out;
    g.result = participants;
    m->waiters.push(&g);
    return true;
  }
  tell(*m, out, participants);
  complete(cta, g.warp, m);
  return isToYieldSeeded(*cta.group->worker, *cta.group, g);
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

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

uint32_t ptxrun_warp_gather(abi::Gang *gang, uint32_t memberMask, uint32_t mask, const uint64_t *in,
                            uint64_t *out) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  uint32_t participants = 0;
  if (begin(gang, memberMask, mask, in, out, &participants))
    suspendGang(stateOf(gang));
  return participants;
}

bool ptxrun_warp_gather_begin(abi::Gang *gang, uint32_t memberMask, uint32_t mask,
                              const uint64_t *in, uint64_t *out, uint32_t *participants) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return begin(gang, memberMask, mask, in, out, participants);
}
}
