// Irregular access.
#include <algorithm>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

/// A sparse matrix by rows.
struct Matrix {
  static constexpr int rows = 32768;
  Data<int> start{rows + 1};
  std::unique_ptr<Data<int>> column;
  std::unique_ptr<Data<float>> value;
  Data<float> x{rows}, y{rows};
  Matrix(int least, int most) {
    std::mt19937 random(1);
    for (int r = 0; r < rows; ++r)
      start[r + 1] = start[r] + least + static_cast<int>(random() % (most - least + 1));
    column = std::make_unique<Data<int>>(start[rows]);
    value = std::make_unique<Data<float>>(start[rows]);
    fill(*column, 2, 0, rows);
    fill(*value, 3, -1, 1);
    fill(x, 4, -1, 1);
  }
};

void multiply(const Matrix &m, const int *start, const int *column, const float *value,
              const float *x, float *y) {
  for (int r = 0; r < m.rows; ++r) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = start[r]; k < start[r + 1]; ++k)
      sum += value[k] * x[column[k]];
    y[r] = sum;
  }
}

void csr(Kinds::Group &group, unsigned threadsOfRow, int least, int most) {
  Matrix m(least, most);
  group.measure({.grid = {m.rows * threadsOfRow / 256},
                 .block = {256},
                 .arguments = args(m.rows, m.start, *m.column, *m.value, m.x, m.y),
                 .loop =
                     [&] {
                       multiply(m, m.start.get(), m.column->get(), m.value->get(), m.x.get(),
                                m.y.get());
                     },
                 .outputs = {near(m.y, 1e-4)}});
}
void csrScalar(Kinds::Group &group) { csr(group, 1, 4, 28); }
void csrVector(Kinds::Group &group) { csr(group, 32, 20, 100); }

void csrDense(Kinds::Group &group) {
  constexpr int rows = 4096, columns = 96, each = 16;
  Data<int> start(rows + 1), column(rows * each);
  Data<float> value(rows * each), x(rows * columns), y(rows * columns);
  for (int r = 0; r <= rows; ++r)
    start[r] = r * each;
  fill(column, 1, 0, rows);
  fill(value, 2, -1, 1);
  fill(x, 3, -1, 1);
  group.measure({.grid = {rows * columns / 256},
                 .block = {256},
                 .arguments = args(rows, columns, start, column, value, x, y),
                 .loop =
                     [&] {
                       for (int r = 0; r < rows; ++r) {
                         float sums[columns] = {};
                         for (int k = start[r]; k < start[r + 1]; ++k) {
                           const float v = value[k], *from = x.get() + column[k] * columns;
#pragma omp simd
                           for (int c = 0; c < columns; ++c)
                             sums[c] += v * from[c];
                         }
                         std::copy(sums, sums + columns, y.get() + r * columns);
                       }
                     },
                 .outputs = {near(y, 1e-4)}});
}

void ell(Kinds::Group &group) {
  constexpr int rows = 65536, width = 16;
  Data<int> column(rows * width);
  Data<float> value(rows * width), x(rows), y(rows);
  fill(column, 1, -rows / 8, rows);
  for (size_t k = 0; k < column.size(); ++k)
    column[k] = std::max(column[k], -1);
  fill(value, 2, -1, 1);
  fill(x, 3, -1, 1);
  group.measure({.grid = {rows / 256},
                 .block = {256},
                 .arguments = args(rows, width, column, value, x, y),
                 .loop =
                     [&] {
                       const int *columns = column.get();
                       const float *values = value.get(), *from = x.get();
                       float *to = y.get();
                       std::fill(to, to + rows, 0.0f);
                       for (int k = 0; k < width; ++k)
#pragma omp simd
                         for (int r = 0; r < rows; ++r) {
                           int c = columns[k * rows + r];
                           if (c >= 0)
                             to[r] += values[k * rows + r] * from[c];
                         }
                     },
                 .outputs = {near(y, 1e-4)}});
}

void bfsLevel(Kinds::Group &group) {
  constexpr int n = 1 << 17, degree = 8;
  const int level = 3;
  Data<int> start(n + 1), edge(n * degree), distance(n), changed(1);
  for (int v = 0; v <= n; ++v)
    start[v] = v * degree;
  fill(edge, 1, 0, n);
  std::mt19937 random(2);
  for (int v = 0; v < n; ++v)
    distance[v] = random() % 4 == 0 ? level : static_cast<int>(random() % 8) - 6;
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, level, start, edge, distance, changed),
                 .loop =
                     [&] {
                       for (int v = 0; v < n; ++v)
                         if (distance[v] == level)
                           for (int k = start[v]; k < start[v + 1]; ++k)
                             if (int to = edge[k]; distance[to] < 0) {
                               distance[to] = level + 1;
                               changed[0] = 1;
                             }
                     },
                 .outputs = {bits(distance), bits(changed)},
                 .prepare = restorer(distance)});
}

void gatherSum(Kinds::Group &group) {
  constexpr int n = 65536, degree = 16;
  Data<int> neighbour(n * degree);
  Data<float> x(n), y(n);
  fill(neighbour, 1, 0, n);
  fill(x, 2, -1, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, degree, neighbour, x, y),
                 .loop =
                     [&] {
                       const int *of = neighbour.get();
                       const float *from = x.get();
                       float *to = y.get();
                       std::fill(to, to + n, 0.0f);
                       for (int k = 0; k < degree; ++k)
#pragma omp simd
                         for (int i = 0; i < n; ++i)
                           to[i] += from[of[k * n + i]];
                     },
                 .outputs = {near(y, 1e-4)}});
}

void pointerChase(Kinds::Group &group) {
  constexpr int n = 1 << 16, steps = 20;
  Data<int> next(n), last(n);
  for (int i = 0; i < n; ++i)
    next[i] = i;
  std::shuffle(next.get(), next.get() + n, std::mt19937(1));
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, steps, next, last),
                 .loop =
                     [&] {
                       const int *to = next.get();
                       // eight lists at once hide each other's latency
                       for (int i = 0; i < n; i += 8) {
                         int at[8];
                         for (int k = 0; k < 8; ++k)
                           at[k] = i + k;
                         for (int step = 0; step < steps; ++step)
                           for (int &place : at)
                             place = to[place];
                         std::copy(at, at + 8, last.get() + i);
                       }
                     },
                 .outputs = {bits(last)}});
}

unsigned hashOf(unsigned key) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  key ^= key >> 13;
  key *= 0xc2b2ae35u;
  return key ^ key >> 16;
}

constexpr int kKeys = 1 << 18;
constexpr unsigned kMask = (1u << 19) - 1;

void insert(unsigned *at, unsigned key) {
  unsigned place = hashOf(key) & kMask;
  while (at[place] != 0 && at[place] != key)
    place = (place + 1) & kMask;
  at[place] = key;
}

void hashInsert(Kinds::Group &group) {
  Data<unsigned> keys(kKeys), table(kMask + 1);
  fill(keys, 1, 1, 4e9);
  Output sameKeys{table.get(), table.bytes(), [&](const std::byte *expected) -> std::string {
                    // where keys lie depends on the order in which they came
                    std::vector<unsigned> got(table.get(), table.get() + table.size()),
                        wanted(table.size());
                    std::memcpy(wanted.data(), expected, table.bytes());
                    std::sort(got.begin(), got.end());
                    std::sort(wanted.begin(), wanted.end());
                    return got == wanted ? "" : "other keys";
                  }};
  group.measure({.grid = {kKeys / 256},
                 .block = {256},
                 .arguments = args(kKeys, kMask, keys, table),
                 .loop =
                     [&] {
                       for (int i = 0; i < kKeys; ++i)
                         insert(table.get(), keys[i]);
                     },
                 .outputs = {sameKeys},
                 .prepare = clearer(table)});
}

void hashLookup(Kinds::Group &group) {
  Data<unsigned> keys(kKeys), table(kMask + 1);
  Data<int> found(kKeys);
  fill(keys, 1, 1, 4e9);
  for (int i = 0; i < kKeys; i += 2)
    insert(table.get(), keys[i]);
  group.measure({.grid = {kKeys / 256},
                 .block = {256},
                 .arguments = args(kKeys, kMask, keys, table, found),
                 .loop =
                     [&] {
                       for (int i = 0; i < kKeys; ++i) {
                         unsigned key = keys[i], at = hashOf(key) & kMask;
                         while (table[at] != 0 && table[at] != key)
                           at = (at + 1) & kMask;
                         found[i] = table[at] == key ? static_cast<int>(at) : -1;
                       }
                     },
                 .outputs = {bits(found)}});
}

void findRoots(Kinds::Group &group) {
  constexpr int n = 1 << 17;
  Data<int> parent(n), root(n);
  std::mt19937 random(1);
  for (int i = 0; i < n; ++i)
    parent[i] = i < 100 ? i : static_cast<int>(random() % static_cast<unsigned>(i));
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, parent, root),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i) {
                         int at = i;
                         while (parent[at] != at)
                           at = parent[at];
                         root[i] = at;
                       }
                     },
                 .outputs = {bits(root)}});
}

void countTriangles(int n, const int *start, const int *edge, int *found) {
  for (int u = 0; u < n; ++u) {
    int count = 0;
    for (int k = start[u]; k < start[u + 1]; ++k)
      for (int i = start[u], j = start[edge[k]], end = start[edge[k] + 1];
           i < start[u + 1] && j < end;) {
        const int a = edge[i], b = edge[j];
        count += a == b;
        i += a <= b;
        j += b <= a;
      }
    found[u] = count;
  }
}

void triangles(Kinds::Group &group) {
  constexpr int n = 1 << 15, most = 16;
  Data<int> start(n + 1), edge(n * most), found(n);
  std::mt19937 random(1);
  int edges = 0;
  for (int u = 0; u < n; ++u) {
    start[u] = edges;
    int v = u;
    for (unsigned left = 2 + random() % (most - 2); left > 0; --left)
      if (v += 1 + static_cast<int>(random() % 4); v < n)
        edge[edges++] = v;
  }
  start[n] = edges;
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, start, edge, found),
                 .loop = [&] { countTriangles(n, start.get(), edge.get(), found.get()); },
                 .outputs = {bits(found)}});
}

} // namespace

void measureSparse(Kinds &kinds) {
  kinds.measureAll("sparse", {{"csrScalar", csrScalar},
                              {"csrDense", csrDense},
                              {"csrVector", csrVector},
                              {"ell", ell},
                              {"bfsLevel", bfsLevel},
                              {"gatherSum", gatherSum},
                              {"pointerChase", pointerChase},
                              {"hashInsert", hashInsert},
                              {"hashLookup", hashLookup},
                              {"findRoots", findRoots},
                              {"triangles", triangles}});
}

} // namespace ptxrun::bench::kinds
