#include <algorithm>

#include "loader/capture/replayer.h"

namespace ptxrun::capture {

namespace {

void noteBlock(const Block &block, RecordingIndex &index) {
  auto &[count, bytes] = index.blocks[block.type];
  ++count;
  bytes += block.payload.size();
  switch (block.type) {
  case BlockType::annotation:
    index.annotation = block.payload;
    break;
  case BlockType::launch: {
    LaunchEvent event;
    decode(block.payload, event);
    index.launches.push_back({event.number, block.offset, 0, event.kernel, {}});
    break;
  }
  case BlockType::result: {
    ResultEvent event;
    decode(block.payload, event);
    // A result follows its launch closely.
    const auto of = std::find_if(index.launches.rbegin(), index.launches.rend(),
                                 [&](const auto &launch) { return launch.number == event.number; });
    if (of == index.launches.rend())
      throw BadRecording("there is a result of a launch that is not recorded");
    of->bytesWritten = event.changes.size() * kPieceBytes;
    of->result = std::move(event);
    break;
  }
  case BlockType::checkpoint: {
    CheckpointEvent event;
    decode(block.payload, event);
    index.checkpoints.push_back({event.number, block.offset});
    break;
  }
  case BlockType::end:
    index.isComplete = true;
    break;
  default:
    break;
  }
}

} // namespace

RecordingIndex readIndex(const std::string &path) {
  BlockReader reader(path);
  RecordingIndex index;
  index.bytes = reader.bytes();
  for (Block block; reader.next(block);)
    noteBlock(block, index);
  return index;
}

} // namespace ptxrun::capture
