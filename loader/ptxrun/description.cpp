// Launch descriptions in TOML. Every key that is not known is an error: a misspelt tolerance must
// not pass silently.
#define TOML_ENABLE_FORMATTERS 0
// Broken text breaks what the parser asserts of itself, too. In a release it would tell the
// compiler to take that for granted; here it ends in a diagnostic.
#undef NDEBUG
#define TOML_ASSERT(condition)                                                                     \
  (static_cast<bool>(condition) ? void() : throw std::logic_error("this is no TOML"))
#include <stdexcept>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "loader/device/launch_settings.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/plan.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {
namespace {

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  Plan read() {
    toml::table root = parse();
    checkKeys(root, {"module", "constants", "buffers", "launch", "expect", "outcome"},
              "a launch description");
    Plan plan;
    plan.name = path_;
    plan.directory = std::filesystem::path(path_).parent_path().string();
    plan.module = joinPath(plan.directory, text(root, "module", true));
    plan.outcome = text(root, "outcome", false, "ok");
    readConstants(root, plan);
    readBuffers(root, plan);
    forEachTable(root, "launch",
                 [&](const toml::table &table) { plan.launches.push_back(readLaunch(table)); });
    forEachTable(root, "expect", [&](const toml::table &table) {
      plan.expectations.push_back(readExpectation(table));
    });
    if (plan.launches.empty())
      throw UsageError(path_ + ": there is no [[launch]]");
    return plan;
  }

 private:
  toml::table parse() {
    try {
      return toml::parse(readText(path_), path_);
    } catch (const toml::parse_error &error) {
      throw UsageError(place(error.source()) + std::string(error.description()));
    } catch (const std::logic_error &error) {
      throw UsageError(path_ + ": " + error.what());
    }
  }

  std::string place(const toml::source_region &region) const {
    if (region.begin.line == 0)
      return path_ + ": ";
    return path_ + ":" + std::to_string(region.begin.line) + ":" +
           std::to_string(region.begin.column) + ": ";
  }
  [[noreturn]] void fail(const toml::node &node, const std::string &what) const {
    throw UsageError(place(node.source()) + what);
  }

  void checkKeys(const toml::table &table, const std::vector<std::string_view> &known,
                 const char *what) const {
    for (auto &&[key, value] : table) {
      if (std::ranges::find(known, key.str()) != known.end())
        continue;
      std::vector<std::string> names(known.begin(), known.end());
      std::string message = "'" + std::string(key.str()) + "' is no key of " + what;
      if (std::string near = nearestName(key.str(), names); !near.empty())
        message += "; did you mean '" + near + "'?";
      fail(value, message);
    }
  }

  template <class Visit>
  void forEachTable(const toml::table &root, const char *key, Visit visit) const {
    const toml::node *node = root.get(key);
    if (!node)
      return;
    const toml::array *list = node->as_array();
    if (!list)
      fail(*node, "write [[" + std::string(key) + "]], with two brackets");
    for (const toml::node &entry : *list) {
      if (!entry.is_table())
        fail(entry, "a table expected");
      visit(*entry.as_table());
    }
  }

  /// A number as text that loses nothing; strings as they are.
  std::string scalar(const toml::node &node) const {
    if (auto value = node.value_exact<std::string>())
      return *value;
    if (auto value = node.value_exact<int64_t>())
      return std::to_string(*value);
    if (auto value = node.value_exact<bool>())
      return *value ? "1" : "0";
    if (auto value = node.value_exact<double>()) {
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.17g", *value);
      bool isPlain = std::string_view(digits).find_first_of(".en") == std::string_view::npos;
      return std::string(digits) + (isPlain ? ".0" : "");
    }
    fail(node, "a number or a string expected");
  }

  std::string text(const toml::table &table, const char *key, bool isRequired,
                   std::string fallback = "") const {
    const toml::node *node = table.get(key);
    if (node)
      return scalar(*node);
    if (isRequired)
      fail(table, "'" + std::string(key) + "' is missing");
    return fallback;
  }

  /// {tensormap = {KEY = VALUE ...}} as tensor_argument.h writes it.
  std::string tensorMap(const toml::table &argument) const {
    const toml::node *node = argument.get("tensormap");
    if (argument.size() != 1 || !node || !node->is_table())
      fail(argument, "an argument that is a table is {tensormap = {...}}");
    std::string text = "tensormap{";
    for (auto &&[key, value] : *node->as_table()) {
      text += std::string(key.str()) + "=";
      if (const toml::array *values = value.as_array())
        for (const toml::node &entry : *values)
          text += scalar(entry) + ",";
      else
        text += scalar(value);
      text += ";";
    }
    return text + "}";
  }

  std::vector<std::string> arguments(const toml::table &table) const {
    const toml::node *node = table.get("arguments");
    const toml::array *values = node ? node->as_array() : nullptr;
    if (!values)
      return list(table, "arguments");
    std::vector<std::string> result;
    for (const toml::node &value : *values)
      result.push_back(value.is_table() ? tensorMap(*value.as_table()) : scalar(value));
    return result;
  }

  std::vector<std::string> list(const toml::table &table, const char *key) const {
    std::vector<std::string> result;
    const toml::node *node = table.get(key);
    if (!node)
      return result;
    if (const toml::array *values = node->as_array())
      for (const toml::node &value : *values)
        result.push_back(scalar(value));
    else
      result.push_back(scalar(*node));
    return result;
  }

  std::array<std::string, 3> shape(const toml::table &table, const char *key) const {
    std::array<std::string, 3> result{"1", "1", "1"};
    std::vector<std::string> values = list(table, key);
    if (values.size() > 3)
      fail(*table.get(key), "at most three extents");
    std::copy(values.begin(), values.end(), result.begin());
    return result;
  }

  uint64_t number(const toml::table &table, const char *key, uint64_t fallback) const {
    const toml::node *node = table.get(key);
    if (!node)
      return fallback;
    auto value = node->value_exact<int64_t>();
    if (!value || *value < 0)
      fail(*node, "a number from 0 on expected");
    return static_cast<uint64_t>(*value);
  }

  double real(const toml::table &table, const char *key) const {
    const toml::node *node = table.get(key);
    if (!node)
      return 0;
    auto value = node->value<double>();
    if (!value || !(*value >= 0))
      fail(*node, "a number from 0 on expected");
    return *value;
  }

  bool flag(const toml::table &table, const char *key) const {
    const toml::node *node = table.get(key);
    if (node && !node->is_boolean())
      fail(*node, "true or false expected");
    return node && node->value_or(false);
  }

  void readConstants(const toml::table &root, Plan &plan) const {
    const toml::node *node = root.get("constants");
    if (!node)
      return;
    if (!node->is_table())
      fail(*node, "write [constants]");
    // In the file's order, so that one may build on those above it.
    std::vector<std::pair<std::string, const toml::node *>> entries;
    for (auto &&[key, value] : *node->as_table())
      entries.emplace_back(std::string(key.str()), &value);
    sortByPlace(entries);
    for (auto &[name, value] : entries) {
      int64_t constant = Expression(scalar(*value), plan.constants).asInteger();
      plan.constants.push_back({name, nullptr, constant});
    }
  }

  template <class Entries> static void sortByPlace(Entries &entries) {
    std::sort(entries.begin(), entries.end(), [](auto &a, auto &b) {
      return a.second->source().begin.line < b.second->source().begin.line;
    });
  }

  void readBuffers(const toml::table &root, Plan &plan) const {
    const toml::node *node = root.get("buffers");
    if (!node)
      return;
    if (!node->is_table())
      fail(*node, "write [buffers]");
    std::vector<std::pair<std::string, const toml::node *>> entries;
    for (auto &&[key, value] : *node->as_table())
      entries.emplace_back(std::string(key.str()), &value);
    sortByPlace(entries);
    for (auto &[name, value] : entries) {
      if (name == "i")
        fail(*value, "a buffer cannot be named i: expressions use it for the index");
      plan.buffers.push_back({name, parseBufferSpec(scalar(*value))});
    }
  }

  Launch readLaunch(const toml::table &table) const {
    std::vector<std::string_view> keys = {"kernel",      "grid",  "block",     "cluster", "shared",
                                          "cooperative", "times", "arguments", "outcome", "report"};
    for (const device::LaunchSetting &setting : device::launchSettings())
      keys.push_back(setting.word);
    checkKeys(table, keys, "[[launch]]");
    Launch launch;
    launch.kernel = text(table, "kernel", false);
    launch.grid = shape(table, "grid");
    launch.block = shape(table, "block");
    if (table.contains("cluster")) {
      launch.cluster.emplace();
      auto values = shape(table, "cluster");
      for (size_t k = 0; k < 3; ++k) {
        const int64_t extent = Expression(values[k], {}).asInteger();
        if (extent < 1 || extent > device::kMaxCluster)
          fail(*table.get("cluster"), "a cluster has 1 to 16 blocks");
        (*launch.cluster)[k] = static_cast<uint32_t>(extent);
      }
    }
    launch.sharedBytes = text(table, "shared", false, "0");
    launch.isCooperative = flag(table, "cooperative");
    launch.settings = settings(table);
    const uint64_t times = number(table, "times", 1);
    if (times > UINT32_MAX)
      fail(*table.get("times"), "at most 4294967295 times");
    launch.times = static_cast<unsigned>(times);
    launch.arguments = arguments(table);
    launch.outcome = text(table, "outcome", false, "ok");
    launch.report = list(table, "report");
    return launch;
  }

  Settings settings(const toml::table &table) const {
    Settings given;
    for (const device::LaunchSetting &setting : device::launchSettings()) {
      const std::string word(setting.word);
      const toml::node *node = table.get(word);
      if (!node)
        continue;
      const std::string text = given[word] = scalar(*node);
      device::LaunchOptions ignored;
      const std::string name = "'" + word + "'";
      if (std::string wrong = device::readSetting(setting, name, text, ignored); !wrong.empty())
        fail(*node, wrong);
    }
    return given;
  }

  Expectation readExpectation(const toml::table &table) const {
    checkKeys(table,
              {"buffer", "value", "file", "printed", "any_order", "relative", "absolute", "ulp",
               "first", "count", "samples"},
              "[[expect]]");
    Expectation expectation;
    expectation.buffer = text(table, "buffer", false);
    expectation.value = text(table, "value", false);
    expectation.file = text(table, "file", false);
    if (table.contains("printed"))
      expectation.printed = text(table, "printed", true);
    int given =
        !expectation.value.empty() + !expectation.file.empty() + expectation.printed.has_value();
    if (given != 1)
      fail(table, "[[expect]] takes one of 'value', 'file' and 'printed'");
    if (!expectation.printed && expectation.buffer.empty())
      fail(table, "[[expect]] needs 'buffer'");
    expectation.isAnyOrder = flag(table, "any_order");
    expectation.relative = real(table, "relative");
    expectation.absolute = real(table, "absolute");
    if (table.contains("ulp"))
      expectation.ulp = number(table, "ulp", 0);
    expectation.first = number(table, "first", 0);
    expectation.count = number(table, "count", UINT64_MAX);
    expectation.samples = number(table, "samples", 0);
    return expectation;
  }

  std::string path_;
};

} // namespace

Plan readDescription(const std::string &path) { return Reader(path).read(); }

} // namespace ptxrun::command
