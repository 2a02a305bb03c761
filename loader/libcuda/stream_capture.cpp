#include "loader/libcuda/stream_capture.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace ptxrun::driver {

namespace {

std::atomic<unsigned> activeSequences{0};
std::atomic<uint64_t> nextSequenceId{1};
thread_local CUstreamCaptureMode threadMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

constexpr CUgraphEdgeData kOrdinary{};

} // namespace

/// All captures of the process. Every function but isAny is called with the mutex held.
class CaptureState {
 public:
  static CaptureState &instance() {
    static auto *state = new CaptureState;
    return *state;
  }
  static bool isAny() { return activeSequences.load(std::memory_order_acquire) != 0; }

  std::mutex mutex;
  std::vector<std::shared_ptr<CaptureSequence>> sequences;

  static StreamCapture *of(const Stream &stream) { return stream.capture_.get(); }

  static void join(const std::shared_ptr<Stream> &stream, std::shared_ptr<CaptureSequence> sequence,
                   std::vector<StreamCapture::Place> places) {
    auto capture = std::make_shared<StreamCapture>();
    capture->sequence = sequence;
    capture->places = std::move(places);
    sequence->streams.push_back(stream); // from here on nothing takes memory
    stream->capture_ = std::move(capture);
    stream->isCapturing_.store(true, std::memory_order_release);
  }

  /// Every stream leaves, the sequence is over.
  void end(const std::shared_ptr<CaptureSequence> &sequence) {
    for (const auto &stream : sequence->streams) {
      stream->isCapturing_.store(false, std::memory_order_release);
      stream->capture_.reset();
    }
    sequence->streams.clear();
    sequence->isOver = true;
    std::erase(sequences, sequence);
    activeSequences = static_cast<unsigned>(sequences.size());
  }

  /// Whether a blocking stream of the context captures; those sequences are invalidated if asked.
  bool isLegacyBarred(const Context &context, bool invalidates) {
    bool isBarred = false;
    for (const auto &sequence : sequences)
      for (const auto &stream : sequence->streams)
        if (&stream->context() == &context && stream->isBlocking()) {
          isBarred = true;
          sequence->isInvalidated = sequence->isInvalidated || invalidates;
        }
    return isBarred;
  }
};

namespace {

using Lock = std::lock_guard<std::mutex>;

CaptureState &state() { return CaptureState::instance(); }

/// The stream's capture if it can go on.
CUresult activeCapture(const Stream &stream, StreamCapture *&capture) {
  capture = CaptureState::of(stream);
  if (!capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  return capture->sequence->isInvalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

void addPlace(std::vector<StreamCapture::Place> &places, StreamCapture::Place place) {
  for (const StreamCapture::Place &known : places)
    if (Dependency{known.node.get(), known.data} == Dependency{place.node.get(), place.data})
      return;
  places.push_back(std::move(place));
}

/// The edge as it can lead to such a node: only kernels start early.
CUgraphEdgeData edgeTo(const NodeContent &content, const StreamCapture::Place &place,
                       bool isProgrammatic) {
  if (!std::holds_alternative<KernelNode>(content))
    return kOrdinary;
  CUgraphEdgeData data = place.data;
  if (isProgrammatic && data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT &&
      place.node->as<KernelNode>()) {
    data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  }
  return data;
}

/// Whether what every stream recorded leads to where the first one is.
bool isJoined(const CaptureSequence &sequence) {
  const StreamCapture *origin = CaptureState::of(*sequence.origin);
  const auto leadsToOrigin = [&](const GraphNode &node) {
    return std::ranges::any_of(origin->places, [&](const StreamCapture::Place &place) {
      return sequence.graph->isBefore(node, *place.node);
    });
  };
  for (const auto &stream : sequence.streams)
    if (stream.get() != sequence.origin)
      for (const StreamCapture::Place &place : CaptureState::of(*stream)->places)
        if (!leadsToOrigin(*place.node))
          return false;
  return true;
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
               std::vector<StreamCapture::Place> places) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream->role() == Stream::Role::legacy)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  Lock lock(state().mutex);
  if (CaptureState::of(*stream))
    return CUDA_ERROR_ILLEGAL_STATE;
  auto sequence = std::make_shared<CaptureSequence>();
  sequence->id = nextSequenceId++;
  sequence->mode = mode;
  sequence->thread = std::this_thread::get_id();
  sequence->origin = stream.get();
  sequence->isIntoGraph = graph != nullptr;
  sequence->graph = graph ? std::move(graph) : Graph::make(false);
  state().sequences.reserve(state().sequences.size() + 1); // all or nothing where memory is short
  CaptureState::join(stream, sequence, std::move(places));
  state().sequences.push_back(std::move(sequence));
  activeSequences = static_cast<unsigned>(state().sequences.size());
  return CUDA_SUCCESS;
}

/// The nodes named by a program, each in the graph, with what it says of the edges.
CUresult readPlaces(const Graph &graph, const CUgraphNode *nodes, const CUgraphEdgeData *edges,
                    size_t count, std::vector<StreamCapture::Place> &places) {
  if (count != 0 && !nodes)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    auto node = resolve<GraphNode>(nodes[i]);
    if (!node || node->graph != &graph)
      return CUDA_ERROR_INVALID_VALUE;
    places.push_back({std::move(node), edges ? edges[i] : kOrdinary});
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult routeWork(const Stream &stream, bool &isCaptured) {
  isCaptured = false;
  if (!CaptureState::isAny())
    return CUDA_SUCCESS;
  Lock lock(state().mutex);
  if (const StreamCapture *capture = CaptureState::of(stream)) {
    isCaptured = true;
    return capture->sequence->isInvalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  }
  if (stream.role() == Stream::Role::legacy && state().isLegacyBarred(stream.context(), true))
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  return CUDA_SUCCESS;
}

CUresult forbidCapture(const Stream &stream) {
  if (!CaptureState::isAny())
    return CUDA_SUCCESS;
  Lock lock(state().mutex);
  if (StreamCapture *capture = CaptureState::of(stream)) {
    if (capture->sequence->isInvalidated)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    capture->sequence->isInvalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (stream.role() == Stream::Role::legacy && state().isLegacyBarred(stream.context(), true))
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  return CUDA_SUCCESS;
}

CUresult checkUnsafeCall() {
  if (!CaptureState::isAny() || threadMode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  Lock lock(state().mutex);
  CUresult result = CUDA_SUCCESS;
  for (const auto &sequence : state().sequences) {
    const bool isOwn = sequence->thread == std::this_thread::get_id();
    const bool forbids = isOwn ? sequence->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                               : sequence->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                     threadMode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!forbids)
      continue;
    sequence->isInvalidated = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult forbidSynchronous(const Stream &stream) {
  PTXRUN_TRY(forbidCapture(stream));
  return checkUnsafeCall();
}

CUresult checkNoCaptureIn(const Context &context) {
  if (!CaptureState::isAny())
    return CUDA_SUCCESS;
  Lock lock(state().mutex);
  CUresult result = CUDA_SUCCESS;
  for (const auto &sequence : state().sequences)
    for (const auto &stream : sequence->streams)
      if (&stream->context() == &context) {
        sequence->isInvalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      }
  return result;
}

CUresult captureNode(const Stream &stream, NodeContent content, bool isProgrammatic) {
  Lock lock(state().mutex);
  StreamCapture *capture = nullptr;
  PTXRUN_TRY(activeCapture(stream, capture));
  std::vector<Dependency> after;
  for (const StreamCapture::Place &place : capture->places)
    if (place.node->graph == capture->sequence->graph.get())
      after.push_back({place.node.get(), edgeTo(content, place, isProgrammatic)});
  GraphNode &node = capture->sequence->graph->add(std::move(content), after);
  capture->places.clear();
  capture->places.push_back({node.shared_from_this(), kOrdinary});
  return CUDA_SUCCESS;
}

CUresult captureRecord(const Stream &stream, Event &event, unsigned char port) {
  Lock lock(state().mutex);
  StreamCapture *capture = nullptr;
  PTXRUN_TRY(activeCapture(stream, capture));
  auto place = std::make_shared<StreamCapture>();
  place->sequence = capture->sequence;
  place->places = capture->places;
  if (port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT)
    for (StreamCapture::Place &p : place->places) {
      p.data.from_port = port;
      p.data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
  event.setCaptured(std::move(place));
  return CUDA_SUCCESS;
}

CUresult captureWait(const std::shared_ptr<Stream> &stream, const Event &event) {
  const std::shared_ptr<StreamCapture> place = event.captured();
  Lock lock(state().mutex);
  StreamCapture *capture = CaptureState::of(*stream);
  if (capture) {
    CaptureSequence &sequence = *capture->sequence;
    if (sequence.isInvalidated)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!place || place->sequence->isOver) {
      sequence.isInvalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (place->sequence.get() != &sequence) {
      sequence.isInvalidated = place->sequence->isInvalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    for (const StreamCapture::Place &p : place->places)
      addPlace(capture->places, p);
    return CUDA_SUCCESS;
  }
  if (!place)
    return CUDA_SUCCESS; // recorded anew meanwhile
  if (place->sequence->isOver)
    return CUDA_ERROR_CAPTURED_EVENT;
  if (place->sequence->isInvalidated)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->role() == Stream::Role::legacy) {
    place->sequence->isInvalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  CaptureState::join(stream, place->sequence, place->places);
  return CUDA_SUCCESS;
}

void abandonCapture(Stream &stream) {
  if (!CaptureState::isAny())
    return;
  std::shared_ptr<CaptureSequence> sequence; // goes outside the lock
  Lock lock(state().mutex);
  const StreamCapture *capture = CaptureState::of(stream);
  if (capture && capture->sequence->origin == &stream) {
    sequence = capture->sequence;
    sequence->isInvalidated = true;
    state().end(sequence);
  }
}

bool isCapturedEvent(const Event &event) {
  const std::shared_ptr<StreamCapture> place = event.captured();
  if (!place)
    return false;
  Lock lock(state().mutex);
  if (!place->sequence->isOver)
    place->sequence->isInvalidated = true;
  return true;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_STREAM_API(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, CUstreamCaptureMode mode),
                  (stream, mode)) {
  return begin(stream, mode, nullptr, {});
}
PTXRUN_STREAM_API(cuStreamBeginCapture, _ptsz, (CUstream stream), (stream)) {
  return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {});
}
PTXRUN_STREAM_API(cuStreamBeginCaptureToGraph, _ptsz,
                  (CUstream stream, CUgraph graphHandle, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
                  (stream, graphHandle, dependencies, edges, count, mode)) {
  PTXRUN_TRY(checkInitialised());
  auto graph = resolve<Graph>(graphHandle);
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<StreamCapture::Place> places;
  PTXRUN_TRY(readPlaces(*graph, dependencies, edges, count, places));
  return begin(stream, mode, std::move(graph), std::move(places));
}

PTXRUN_STREAM_API(cuStreamEndCapture, _ptsz, (CUstream handle, CUgraph *graph), (handle, graph)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (graph)
    *graph = nullptr;
  std::shared_ptr<Graph> captured;
  Lock lock(state().mutex);
  StreamCapture *capture = CaptureState::of(*stream);
  if (!capture)
    return graph ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<CaptureSequence> sequence = capture->sequence;
  if (!graph && !sequence->isIntoGraph) // the program has its own graph already
    return CUDA_ERROR_INVALID_VALUE;
  if (sequence->origin != stream.get()) {
    sequence->isInvalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (sequence->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      sequence->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  CUresult result = CUDA_SUCCESS;
  if (sequence->isInvalidated)
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  else if (!isJoined(*sequence))
    result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  state().end(sequence);
  captured = std::move(sequence->graph);
  if (result != CUDA_SUCCESS && !sequence->isIntoGraph)
    captured->withdrawHandles();
  if (result == CUDA_SUCCESS && graph)
    *graph = handleOf<CUgraph>(captured.get());
  return result;
}

PTXRUN_STREAM_API(cuStreamIsCapturing, _ptsz, (CUstream handle, CUstreamCaptureStatus *status),
                  (handle, status)) {
  return cuStreamGetCaptureInfo_v3(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

PTXRUN_STREAM_API(cuStreamGetCaptureInfo_v3, _ptsz,
                  (CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                   const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count),
                  (handle, status, id, graph, dependencies, edges, count)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  Lock lock(state().mutex);
  if (stream->role() == Stream::Role::legacy && state().isLegacyBarred(*context, false))
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  StreamCapture *capture = CaptureState::of(*stream);
  if (!capture)
    return CUDA_SUCCESS;
  const CaptureSequence &sequence = *capture->sequence;
  *status = sequence.isInvalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (sequence.isInvalidated)
    return CUDA_SUCCESS;
  if (id)
    *id = sequence.id;
  if (graph)
    *graph = handleOf<CUgraph>(sequence.graph.get());
  if (!dependencies && !edges && !count)
    return CUDA_SUCCESS;
  capture->handles.clear();
  capture->edges.clear();
  bool isPlain = true;
  for (const StreamCapture::Place &place : capture->places) {
    capture->handles.push_back(handleOf<CUgraphNode>(place.node.get()));
    capture->edges.push_back(place.data);
    isPlain = isPlain && Dependency{nullptr, place.data} == Dependency{};
  }
  if (dependencies && !edges && !isPlain)
    return CUDA_ERROR_LOSSY_QUERY;
  if (dependencies)
    *dependencies = capture->handles.data();
  if (edges)
    *edges = capture->edges.data();
  if (count)
    *count = capture->handles.size();
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetCaptureInfo_v2, _ptsz,
                  (CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                   const CUgraphNode **dependencies, size_t *count),
                  (handle, status, id, graph, dependencies, count)) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, nullptr, count);
}
PTXRUN_STREAM_API(cuStreamGetCaptureInfo, _ptsz,
                  (CUstream handle, CUstreamCaptureStatus *status, uint64_t *id),
                  (handle, status, id)) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}

PTXRUN_STREAM_API(cuStreamUpdateCaptureDependencies_v2, _ptsz,
                  (CUstream handle, CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                   size_t count, unsigned flags),
                  (handle, dependencies, edges, count, flags)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    return CUDA_ERROR_INVALID_VALUE;
  Lock lock(state().mutex);
  StreamCapture *capture = nullptr;
  PTXRUN_TRY(activeCapture(*stream, capture));
  std::vector<StreamCapture::Place> places;
  PTXRUN_TRY(readPlaces(*capture->sequence->graph, dependencies, edges, count, places));
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    capture->places.clear();
  for (StreamCapture::Place &place : places)
    addPlace(capture->places, std::move(place));
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamUpdateCaptureDependencies, _ptsz,
                  (CUstream handle, CUgraphNode *dependencies, size_t count, unsigned flags),
                  (handle, dependencies, count, flags)) {
  return cuStreamUpdateCaptureDependencies_v2(handle, dependencies, nullptr, count, flags);
}

PTXRUN_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  PTXRUN_TRY(checkInitialised());
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, threadMode);
  return CUDA_SUCCESS;
}
