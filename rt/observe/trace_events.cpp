#include "rt/observe/trace_events.h"

#include "rt/launch/clock.h"
#include "rt/launch/grid.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

namespace {

std::string placeText(abi::Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

/// What a CTA of the worker's code is, where it is several of the launch's.
std::string joinedText(const Worker &worker) {
  const abi::Dim3 &n = worker.code->needs.joinedCtas;
  return volume(n) == 1 ? "" : ", each of " + placeText(n) + " CTAs of the grid";
}

std::string blockArgument(const CtaState &cta) {
  return "\"block\":" + trace::quoted(placeText(cta.cta.ctaid));
}

void nameWorker(const Worker &worker) {
  trace::nameThread("worker " + std::to_string(worker.number));
}

} // namespace

void traceMbarrierWait(GangState &gang) {
  trace::waitEnds(&gang, "mbarrier",
                  blockArgument(*gang.cta) +
                      ",\"thread\":" + std::to_string(gang.gang.firstThread) +
                      ",\"threads\":" + std::to_string(gang.gang.laneCount));
}

void traceBarrier(CtaState &cta, uint32_t id) {
  trace::waitEnds(&cta.barriers[id], "barrier " + std::to_string(id), blockArgument(cta));
}

void traceLockstep(CtaState &cta, uint64_t arrived) {
  trace::overlapping("wait", "barrier " + std::to_string(cta.lockstepBarrier), arrived, nowNs(),
                     blockArgument(cta));
}

void traceAsync(GangState &gang, const char *what, uint64_t bytes, uint64_t begin) {
  trace::span("async", what, begin, nowNs(),
              blockArgument(*gang.cta) + ",\"bytes\":" + std::to_string(bytes));
}

void traceGroup(GroupState &group) {
  nameWorker(*group.worker);
  const std::string name = (group.ctaCount > 1 ? "cluster " : "CTA ") +
                           placeText(group.ctas[0].cta.ctaid) + joinedText(*group.worker);
  const std::string arguments = "\"first\":" + std::to_string(group.number * group.ctaCount) +
                                ",\"count\":" + std::to_string(group.ctaCount);
  (group.isAloneInTrace ? trace::span : trace::overlapping)("cta", name, group.openedAt, nowNs(),
                                                            arguments);
}

void traceRange(Worker &worker, uint64_t first, uint64_t end, uint64_t begin) {
  nameWorker(worker);
  std::string name = end - first == 1
                         ? "CTA " + std::to_string(first)
                         : "CTAs " + std::to_string(first) + " to " + std::to_string(end - 1);
  if (const uint8_t axis = worker.code->needs.leadingAxis; axis != 0)
    name += std::string(", counted along ") + "xyz"[axis];
  name += joinedText(worker);
  trace::span("cta", name, begin, nowNs(),
              "\"first\":" + std::to_string(first) + ",\"count\":" + std::to_string(end - first));
}

} // namespace ptxrun::rt
