#include "loader/ptxrun/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

class Npy : public testing::Test {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("npy_test_" + std::to_string(getpid()) + ".npy"))
          .string();
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string &dictionary, const std::string &data, char version = 1) {
    std::string header = dictionary;
    size_t prefix = version == 1 ? 10 : 12;
    header.append((64 - (prefix + header.size() + 1) % 64) % 64, ' ') += '\n';
    std::ofstream file(path_, std::ios::binary);
    file << "\x93NUMPY" << version << '\0' << static_cast<char>(header.size() & 255)
         << static_cast<char>(header.size() >> 8);
    if (version > 1)
      file << '\0' << '\0';
    file << header << data;
  }
};

TEST_F(Npy, ReadsWhatNumPyWrites) {
  // np.save of np.array([[1, 2, 3], [4, 5, 6]], dtype='<i2')
  write("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
        std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  Array array = readNpy(path_);
  EXPECT_EQ(array.element(), Element::i16);
  EXPECT_EQ(array.shape(), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(loadInteger(Element::i16, array.at(5)), 6);
}

TEST_F(Npy, ReadsBigEndianFortranOrderAndVersionTwo) {
  write("{'descr': '>f4', 'fortran_order': True, 'shape': (2,), }",
        std::string("\x3f\x80\0\0\xc0\0\0\0", 8), 2);
  Array array = readNpy(path_);
  EXPECT_TRUE(array.isFortranOrder);
  EXPECT_EQ(loadDouble(Element::f32, array.at(0)), 1.0);
  EXPECT_EQ(loadDouble(Element::f32, array.at(1)), -2.0);
}

TEST_F(Npy, RefusesHeadersBeforeItTakesMemory) {
  const auto refusal = [&](const std::string &dictionary) -> std::string {
    write(dictionary, "12345678");
    try {
      readNpy(path_);
    } catch (const UsageError &error) {
      return error.what();
    }
    return "accepted";
  };
  const auto shaped = [&](const std::string &shape, const std::string &type = "<f4") {
    return refusal("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }");
  };
  const auto contains = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(shaped("(2,)"), "accepted");
  EXPECT_TRUE(contains(shaped("(3,)"), "needs 12 bytes of data, there are 8"));
  EXPECT_TRUE(contains(shaped("(1099511627776,)"), "truncated"));
  EXPECT_TRUE(contains(shaped("(4294967296, 4294967296, 2)"), "more than 2^64"));
  EXPECT_TRUE(contains(shaped("(18446744073709551616,)"), "cannot be read"));
  EXPECT_TRUE(contains(shaped("(-1,)"), "cannot be read"));
  EXPECT_TRUE(contains(shaped("(2"), "cannot be read"));
  std::string many = "(";
  for (int i = 0; i < 100; ++i)
    many += "1, ";
  EXPECT_TRUE(contains(shaped(many + ")"), "cannot be read"));
  EXPECT_TRUE(contains(shaped("2"), "no shape"));
  EXPECT_TRUE(contains(shaped("(2,)", "<f3"), "not supported"));
  EXPECT_TRUE(contains(shaped("(2,)", ""), "not supported"));
  EXPECT_TRUE(contains(refusal("{'descr': '<f4"), "not supported"));
  EXPECT_TRUE(contains(refusal(""), "not supported"));
}

TEST_F(Npy, ReadsScalarsAndEmptyArrays) {
  write("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", std::string(8, '\0'));
  EXPECT_EQ(readNpy(path_).count(), 1u);
  write("{'descr': '|b1', 'fortran_order': False, 'shape': (0, 7), }", "");
  EXPECT_EQ(readNpy(path_).count(), 0u);
}

TEST_F(Npy, WritesEveryElementTypeSoThatItReadsBack) {
  for (const char *name : {"bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16",
                           "bf16", "f32", "f64", "c64", "c128"}) {
    Array array(elementNamed(name), {3, 5});
    for (uint64_t k = 0; k < 15; ++k)
      storeInteger(array.element(), array.at(k), k % 2);
    writeNpy(path_, array);
    EXPECT_EQ(std::filesystem::file_size(path_) - array.bytes(), 128u)
        << "the data start at a multiple of 64";
    Array back = readNpy(path_);
    EXPECT_EQ(back.element(), array.element()) << name;
    EXPECT_EQ(back.shape(), array.shape());
    EXPECT_EQ(std::memcmp(back.data(), array.data(), array.bytes()), 0) << name;
  }
}

TEST_F(Npy, RefusesWithTheFilesName) {
  auto message = [&] {
    try {
      readNpy(path_);
    } catch (const UsageError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message().find(path_ + ": No such file"), std::string::npos);
  std::ofstream(path_) << "hello";
  EXPECT_NE(message().find("not a .npy file"), std::string::npos);
  write("{'descr': '<i4', 'fortran_order': False, 'shape': (9,), }", "short");
  EXPECT_NE(message().find("truncated"), std::string::npos);
  write("{'descr': '<U7', 'fortran_order': False, 'shape': (9,), }", "short");
  EXPECT_NE(message().find("'<U7' is not supported"), std::string::npos);
  write("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (9,), }", "short");
  EXPECT_NE(message().find("structured"), std::string::npos);
}

} // namespace
} // namespace ptxrun::command
