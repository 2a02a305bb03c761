// How messages travel: `Content-Length: N`, an empty line, N bytes of JSON.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "loader/ptxrun/debug_adapter.h"
#include "loader/ptxrun/errors.h"

namespace ptxrun::command {

using nlohmann::json;

namespace {

/// Some clients write what they leave out as null.
void dropNulls(json &value) {
  if (value.is_object())
    for (auto member = value.begin(); member != value.end();)
      member = member->is_null() ? value.erase(member) : std::next(member);
  if (value.is_structured())
    for (json &part : value)
      dropNulls(part);
}

} // namespace

std::shared_ptr<AdapterChannel> AdapterChannel::overStandardStreams() {
  std::fflush(stdout);
  const int out = dup(1);
  dup2(2, 1);
  return over(stdin, fdopen(out, "wb"));
}

std::shared_ptr<AdapterChannel> AdapterChannel::overPort(unsigned port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto *any = reinterpret_cast<sockaddr *>(&address);
  if (listener < 0 || port > 65535 || bind(listener, any, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, any, &size) != 0)
    throw UsageError("--dap: cannot listen on port " + std::to_string(port) + ": " +
                     std::strerror(errno));
  std::fprintf(stderr, "listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
  const int client = accept(listener, nullptr, nullptr);
  close(listener);
  if (client < 0)
    throw UsageError("--dap: nobody connects");
  return over(fdopen(client, "rb"), fdopen(dup(client), "wb"));
}

std::shared_ptr<AdapterChannel> AdapterChannel::over(std::FILE *in, std::FILE *out) {
  auto channel = std::make_shared<AdapterChannel>(in, out);
  std::thread([channel] { channel->readAll(); }).detach();
  return channel;
}

AdapterChannel::~AdapterChannel() { std::fclose(out_); }

bool AdapterChannel::read(json &message) {
  constexpr size_t kMostBytes = 64 << 20;
  size_t bytes = 0;
  char line[512];
  while (std::fgets(line, sizeof line, in_)) {
    if (std::sscanf(line, "Content-Length: %zu", &bytes) == 1)
      continue;
    if (line[0] == '\r' || line[0] == '\n')
      break;
  }
  if (bytes == 0 || bytes > kMostBytes)
    return false;
  std::string text(bytes, '\0');
  if (std::fread(text.data(), 1, bytes, in_) != bytes)
    return false;
  message = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object())
    return false;
  if (!message.contains("command") || !message["command"].is_string())
    message["command"] = "";
  if (!message.contains("arguments") || !message["arguments"].is_object())
    message["arguments"] = json::object();
  dropNulls(message["arguments"]);
  if (!message.contains("seq") || !message["seq"].is_number_integer())
    message["seq"] = 0;
  return true;
}

void AdapterChannel::readAll() {
  for (json message; read(message);) {
    std::lock_guard lock(mutex_);
    const std::string command = message.value("command", "");
    if (machine_ && (command == "pause" || command == "disconnect" || command == "terminate"))
      machine_->interrupt();
    if (command == "pause") { // answered before the stop that it makes
      send({{"type", "response"},
            {"request_seq", message.value("seq", 0)},
            {"success", true},
            {"command", command}});
      continue;
    }
    requests_.push_back(std::move(message));
    changed_.notify_all();
  }
  std::lock_guard lock(mutex_);
  if (machine_)
    machine_->interrupt();
  hasEnded_ = true;
  changed_.notify_all();
}

json AdapterChannel::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !requests_.empty() || hasEnded_; });
  if (requests_.empty())
    return nullptr;
  json message = std::move(requests_.front());
  requests_.pop_front();
  return message;
}

void AdapterChannel::send(json message) {
  std::lock_guard lock(sending_);
  message["seq"] = ++sequence_;
  const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace);
  std::fprintf(out_, "Content-Length: %zu\r\n\r\n%s", text.size(), text.c_str());
  std::fflush(out_);
}

void AdapterChannel::setMachine(debug::Machine *machine) {
  std::lock_guard lock(mutex_);
  machine_ = machine;
}

} // namespace ptxrun::command
