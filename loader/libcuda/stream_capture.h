// Stream capture: a stream that captures records what it is given as nodes of a graph. A sequence
// begins in one stream and spreads to others that wait for an event recorded in it; all of them
// must lead back to the first before it ends.
//
// What may not happen during a capture ends it: the call answers why, the sequence is invalidated,
// and every later call on its streams answers so until the capture is ended.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "loader/libcuda/graph.h"

namespace ptxrun::driver {

struct CaptureSequence {
  uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread; ///< that began it
  const Stream *origin = nullptr;
  std::shared_ptr<Graph> graph;
  bool isIntoGraph = false; ///< the program's own graph (cuStreamBeginCaptureToGraph)
  bool isInvalidated = false, isOver = false;
  std::vector<std::shared_ptr<Stream>> streams;
};

/// Where a stream stands in a sequence: what its next node will depend on.
struct StreamCapture {
  std::shared_ptr<CaptureSequence> sequence;
  struct Place {
    std::shared_ptr<GraphNode> node;
    CUgraphEdgeData data{};
  };
  std::vector<Place> places;
  // As cuStreamGetCaptureInfo answered them.
  std::vector<CUgraphNode> handles;
  std::vector<CUgraphEdgeData> edges;
};

/// Head of a call that gives work to a stream: whether it is to be captured. Fails where the
/// capture is invalid, or where the legacy stream would come to depend on a capturing stream.
CUresult routeWork(const Stream &, bool &isCaptured);
/// Head of a call that captures cannot hold: it fails if the stream is capturing.
CUresult forbidCapture(const Stream &);
/// Head of calls that a capture elsewhere may forbid because they may wait for other streams
/// (allocation, copies that wait, questions about events). cuThreadExchangeStreamCaptureMode.
CUresult checkUnsafeCall();
/// Both, for calls that return when the work is done.
CUresult forbidSynchronous(const Stream &);
/// Head of calls about all streams of a context.
CUresult checkNoCaptureIn(const Context &);

/// Records a node behind what the stream recorded last. `isProgrammatic`: it may start before the
/// kernels it comes after are done.
CUresult captureNode(const Stream &, NodeContent, bool isProgrammatic = false);
/// The event stands for where the stream is. `port`: of the kernel recorded last.
CUresult captureRecord(const Stream &, Event &, unsigned char port = 0);
/// The stream joins the event's capture. Must be called when stream or event is capturing.
CUresult captureWait(const std::shared_ptr<Stream> &, const Event &);
/// A stream that is destroyed takes the capture that began in it with it. Of one that joined later
/// the capture keeps what it recorded.
void abandonCapture(Stream &);
/// Whether the event was recorded last in a capturing stream: it is no moment in time. Ends the
/// capture if it still goes on.
bool isCapturedEvent(const Event &);

} // namespace ptxrun::driver
