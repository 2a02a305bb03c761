// What the device is: the same as the driver says. Results marked "H100" are those of NVIDIA's
// library there; versions of structures are the numbers of NVIDIA's bindings.
#include <cstdio>
#include <cstring>

#include "tests/nvml/nvml_fixture.h"

namespace ptxrun::tests {

static_assert(NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2) == 0x2000028);
static_assert(NVML_STRUCT_VERSION(nvmlPciInfoExt_v1_t, 1) == 0x1000040);
static_assert(NVML_STRUCT_VERSION(nvmlUUID_v1_t, 1) == 0x1000034);
static_assert(NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 2) == 0x2000024);
static_assert(NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v3_t, 3) == 0x3000028);
static_assert(sizeof(nvmlPciInfo_t) == 68 && sizeof(nvmlPciInfo_v2_t) == 52);
static_assert(sizeof(nvmlProcessInfo_v1_t) == 16 && sizeof(nvmlProcessInfo_t) == 24);
static_assert(sizeof(nvmlEventData_t) == 32 && sizeof(nvmlFieldValue_t) == 40);

class NvmlDevice : public NvmlTest {
 protected:
  void SetUp() override {
    ASSERT_DRIVER(cuInit(0));
    NvmlTest::SetUp();
  }

  /// "GPU-..." by the bytes that the driver gives.
  std::string driverUuid() {
    CUuuid uuid;
    EXPECT_EQ(cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char digits[4];
      snprintf(digits, sizeof digits, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
               static_cast<unsigned char>(uuid.bytes[i]));
      text += digits;
    }
    return text;
  }
};

TEST_F(NvmlDevice, HasTheDriversNameAndUuid) {
  char name[96], uuid[96], driverName[96];
  ASSERT_DRIVER(cuDeviceGetName(driverName, sizeof driverName, 0));
  EXPECT_NVML(NVML(nvmlDeviceGetName)(device_, name, sizeof name));
  EXPECT_STREQ(name, driverName);
  EXPECT_NVML(NVML(nvmlDeviceGetUUID)(device_, uuid, sizeof uuid));
  EXPECT_EQ(uuid, driverUuid());
}

TEST_F(NvmlDevice, HasTheDriversPciAddress) {
  char id[32];
  ASSERT_DRIVER(cuDeviceGetPCIBusId(id, sizeof id, 0));
  nvmlPciInfo_t info;
  EXPECT_NVML(NVML(nvmlDeviceGetPciInfo_v3)(device_, &info));
  EXPECT_STREQ(info.busIdLegacy, id);
  EXPECT_EQ(info.busId, "0000" + std::string(id));
  int bus = -1;
  ASSERT_DRIVER(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
  EXPECT_EQ(info.bus, static_cast<unsigned>(bus));
  nvmlPciInfo_v2_t older;
  EXPECT_NVML(NVML(nvmlDeviceGetPciInfo_v2)(device_, &older));
  EXPECT_STREQ(older.busId, id);
  EXPECT_NVML(NVML(nvmlDeviceGetPciInfo)(device_, &older));
  nvmlPciInfoExt_v1_t extended;
  extended.version = 0x1000040;
  EXPECT_NVML(NVML(nvmlDeviceGetPciInfoExt)(device_, &extended));
  EXPECT_STREQ(extended.busId, info.busId);
  extended.version = 1;
  EXPECT_ANSWER(NVML(nvmlDeviceGetPciInfoExt)(device_, &extended),
                NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

TEST_F(NvmlDevice, IsFoundByIndex) {
  nvmlDevice_t found = nullptr;
  unsigned index = 9;
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByIndex)(0, &found));
  EXPECT_EQ(found, device_);
  EXPECT_NVML(NVML(nvmlDeviceGetIndex)(found, &index));
  EXPECT_EQ(index, 0u);
  EXPECT_NVML(NVML(nvmlDeviceGetMinorNumber)(found, &index));
  EXPECT_EQ(index, 0u);
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByIndex_v2)(1, &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByIndex_v2)(0, nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(NvmlDevice, IsFoundByUuid) {
  nvmlDevice_t found = nullptr;
  const std::string uuid = driverUuid();
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByUUID)(uuid.c_str(), &found));
  EXPECT_EQ(found, device_);
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByUUID)(uuid.c_str() + 4, &found)); // H100
  for (const char *other : {"", "x", "GPU-1"})                            // H100
    EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByUUID)(other, &found), NVML_ERROR_NOT_FOUND);
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByUUID)((uuid + "x").c_str(), &found),
                NVML_ERROR_NOT_FOUND);
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByUUID)(nullptr, &found), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(NvmlDevice, IsFoundByUuidInAStructure) {
  nvmlDevice_t found = nullptr;
  nvmlUUID_v1_t uuid{0x1000034, NVML_UUID_TYPE_BINARY, {}};
  ASSERT_DRIVER(cuDeviceGetUuid(reinterpret_cast<CUuuid *>(uuid.value.bytes), 0));
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByUUIDV)(&uuid, &found));
  uuid.type = NVML_UUID_TYPE_ASCII;
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByUUIDV)(&uuid, &found), NVML_ERROR_NOT_FOUND);
  driverUuid().copy(uuid.value.str, sizeof uuid.value.str - 1);
  uuid.value.str[40] = 0;
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByUUIDV)(&uuid, &found));
  uuid.type = NVML_UUID_TYPE_NONE;
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByUUIDV)(&uuid, &found), NVML_ERROR_INVALID_ARGUMENT);
  uuid.version = 0;
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByUUIDV)(&uuid, &found),
                NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

TEST_F(NvmlDevice, IsFoundByPciAddressAndNotBySerial) {
  nvmlDevice_t found = nullptr;
  char id[32];
  ASSERT_DRIVER(cuDeviceGetPCIBusId(id, sizeof id, 0));
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByPciBusId_v2)(id, &found));
  EXPECT_EQ(found, device_);
  EXPECT_NVML(NVML(nvmlDeviceGetHandleByPciBusId)(("0000" + std::string(id)).c_str(), &found));
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByPciBusId_v2)("0000:99:00.0", &found),
                NVML_ERROR_NOT_FOUND);
  for (const char *wrong : {"", "x", "99:0"}) // H100
    EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByPciBusId_v2)(wrong, &found),
                  NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleBySerial)("0", &found), NVML_ERROR_NOT_FOUND);
}

TEST_F(NvmlDevice, HasTheDriversComputeCapability) {
  int major = 0, minor = 0, driverMajor = 0, driverMinor = 0, processors = 0;
  ASSERT_DRIVER(cuDeviceComputeCapability(&driverMajor, &driverMinor, 0));
  EXPECT_NVML(NVML(nvmlDeviceGetCudaComputeCapability)(device_, &major, &minor));
  EXPECT_EQ(major, driverMajor);
  EXPECT_EQ(minor, driverMinor);
  nvmlDeviceArchitecture_t architecture{};
  EXPECT_NVML(NVML(nvmlDeviceGetArchitecture)(device_, &architecture));
  switch (major * 10 + minor) {
  case 75:
    EXPECT_EQ(architecture, NVML_DEVICE_ARCH_TURING);
    break;
  case 86:
    EXPECT_EQ(architecture, NVML_DEVICE_ARCH_AMPERE);
    break;
  case 90:
    EXPECT_EQ(architecture, NVML_DEVICE_ARCH_HOPPER); // H100
    break;
  case 120:
    EXPECT_EQ(architecture, NVML_DEVICE_ARCH_BLACKWELL);
    break;
  }
  unsigned cores = 0;
  ASSERT_DRIVER(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_NVML(NVML(nvmlDeviceGetNumGpuCores)(device_, &cores));
  EXPECT_EQ(cores, static_cast<unsigned>(processors));
}

TEST_F(NvmlDevice, ReportsTheDriversVersion) {
  int version = 0, driverVersion = 0;
  ASSERT_DRIVER(cuDriverGetVersion(&driverVersion));
  EXPECT_NVML(NVML(nvmlSystemGetCudaDriverVersion)(&version));
  EXPECT_EQ(version, driverVersion);
  EXPECT_NVML(NVML(nvmlSystemGetCudaDriverVersion_v2)(&version));
  EXPECT_EQ(version, driverVersion);
  char driver[80], nvml[80];
  EXPECT_NVML(NVML(nvmlSystemGetDriverVersion)(driver, sizeof driver));
  EXPECT_NVML(NVML(nvmlSystemGetNVMLVersion)(nvml, sizeof nvml));
  EXPECT_EQ(nvml, "13." + std::string(driver));
}

TEST_F(NvmlDevice, HasNoModesAndNoDisplay) {
  nvmlComputeMode_t mode{};
  EXPECT_NVML(NVML(nvmlDeviceGetComputeMode)(device_, &mode));
  EXPECT_EQ(mode, NVML_COMPUTEMODE_DEFAULT);
  nvmlGpuVirtualizationMode_t virtualisation{};
  EXPECT_NVML(NVML(nvmlDeviceGetVirtualizationMode)(device_, &virtualisation));
  EXPECT_EQ(virtualisation, NVML_GPU_VIRTUALIZATION_MODE_NONE);
  for (const auto ask : {NVML(nvmlDeviceGetPersistenceMode), NVML(nvmlDeviceGetDisplayMode),
                         NVML(nvmlDeviceGetDisplayActive)}) {
    nvmlEnableState_t state = NVML_FEATURE_ENABLED;
    EXPECT_NVML(ask(device_, &state));
    EXPECT_EQ(state, NVML_FEATURE_DISABLED);
  }
}

TEST_F(NvmlDevice, IsOnNoBusAndAloneOnItsBoard) {
  nvmlBrandType_t brand{};
  nvmlBusType_t bus{};
  unsigned value = 9;
  EXPECT_NVML(NVML(nvmlDeviceGetBrand)(device_, &brand));
  EXPECT_EQ(brand, NVML_BRAND_UNKNOWN);
  EXPECT_NVML(NVML(nvmlDeviceGetBusType)(device_, &bus));
  EXPECT_EQ(bus, NVML_BUS_TYPE_UNKNOWN);
  for (const auto ask : {NVML(nvmlDeviceGetBoardId), NVML(nvmlDeviceGetMultiGpuBoard)}) {
    EXPECT_NVML(ask(device_, &value));
    EXPECT_EQ(value, 0u);
  }
  int isSame = 0;
  EXPECT_NVML(NVML(nvmlDeviceOnSameBoard)(device_, device_, &isSame));
  EXPECT_EQ(isSame, 1);
}

TEST_F(NvmlDevice, HasNoUnitsInterfaceCardsOrExcludedDevicesBesideIt) {
  unsigned count = 9;
  EXPECT_NVML(NVML(nvmlSystemGetHicVersion)(&count, nullptr));
  EXPECT_EQ(count, 0u);
  for (const auto ask : {NVML(nvmlUnitGetCount), NVML(nvmlGetExcludedDeviceCount),
                         NVML(nvmlGetBlacklistDeviceCount)}) {
    count = 9;
    EXPECT_NVML(ask(&count));
    EXPECT_EQ(count, 0u);
  }
}

TEST_F(NvmlDevice, HasNoInstancesAndNoFabric) {
  unsigned value = 9;
  nvmlDevice_t other = nullptr;
  EXPECT_NVML(NVML(nvmlDeviceIsMigDeviceHandle)(device_, &value));
  EXPECT_EQ(value, 0u);
  EXPECT_NVML(NVML(nvmlDeviceGetMaxMigDeviceCount)(device_, &value)); // H100
  EXPECT_EQ(value, 0u);
  EXPECT_ANSWER(NVML(nvmlDeviceGetMigDeviceHandleByIndex)(device_, 0, &other),
                NVML_ERROR_NOT_FOUND); // H100
  EXPECT_ANSWER(NVML(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(device_, &other),
                NVML_ERROR_INVALID_ARGUMENT); // H100
  nvmlGpuFabricInfo_v3_t fabric{};
  EXPECT_ANSWER(NVML(nvmlDeviceGetGpuFabricInfoV)(device_, &fabric),
                NVML_ERROR_ARGUMENT_VERSION_MISMATCH); // H100
  nvmlGpuFabricInfo_t first;
  first.state = 9;
  EXPECT_NVML(NVML(nvmlDeviceGetGpuFabricInfo)(device_, &first));
  EXPECT_EQ(first.state, unsigned{NVML_GPU_FABRIC_STATE_NOT_SUPPORTED});
  for (const unsigned version : {0x2000024u, 0x3000028u}) {
    fabric.version = version;
    fabric.state = 9;
    EXPECT_NVML(NVML(nvmlDeviceGetGpuFabricInfoV)(device_, &fabric));
    EXPECT_EQ(fabric.version, version);
    EXPECT_EQ(fabric.state, unsigned{NVML_GPU_FABRIC_STATE_NOT_SUPPORTED});
  }
}

/// With PTXRUN_DEVICES=3.
TEST(NvmlDevices, AreTheDriversInItsOrder) {
  ASSERT_NE(nvmlLibrary(), nullptr) << dlerror();
  ASSERT_NVML(NVML(nvmlInit_v2)());
  unsigned count = 0;
  EXPECT_NVML(NVML(nvmlDeviceGetCount_v2)(&count));
  int known = 0;
  ASSERT_DRIVER(cuInit(0));
  ASSERT_DRIVER(cuDeviceGetCount(&known));
  EXPECT_EQ(count, static_cast<unsigned>(known));
  if (count != 3) {
    EXPECT_NVML(NVML(nvmlShutdown)());
    GTEST_SKIP() << "PTXRUN_DEVICES=3";
  }
  nvmlDevice_t devices[3] = {};
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_NVML(NVML(nvmlDeviceGetHandleByIndex_v2)(i, &devices[i]));
    unsigned index = 9;
    EXPECT_NVML(NVML(nvmlDeviceGetIndex)(devices[i], &index));
    EXPECT_EQ(index, i);
    char address[32] = "";
    ASSERT_DRIVER(cuDeviceGetPCIBusId(address, sizeof address, static_cast<int>(i)));
    nvmlDevice_t found = nullptr;
    EXPECT_NVML(NVML(nvmlDeviceGetHandleByPciBusId_v2)(address, &found));
    EXPECT_EQ(found, devices[i]);
    char uuid[96] = "";
    EXPECT_NVML(NVML(nvmlDeviceGetUUID)(devices[i], uuid, sizeof uuid));
    EXPECT_NVML(NVML(nvmlDeviceGetHandleByUUID)(uuid, &found));
    EXPECT_EQ(found, devices[i]);
  }
  nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;
  EXPECT_NVML(
      NVML(nvmlDeviceGetP2PStatus)(devices[0], devices[2], NVML_P2P_CAPS_INDEX_READ, &status));
  EXPECT_EQ(status, NVML_P2P_STATUS_OK);
  // What this process holds of the second device is not held of the others.
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_DRIVER(cuCtxCreate(&context, nullptr, 0, 1));
  ASSERT_DRIVER(cuMemAlloc(&memory, 1 << 20));
  nvmlMemory_t read[2] = {};
  for (unsigned i = 0; i < 2; ++i)
    EXPECT_NVML(NVML(nvmlDeviceGetMemoryInfo)(devices[i], &read[i]));
  EXPECT_EQ(read[0].total, read[1].total);
  EXPECT_GE(read[1].used, read[0].used + (1 << 20));
  ASSERT_DRIVER(cuCtxDestroy(context));
  EXPECT_NVML(NVML(nvmlShutdown)());
}

} // namespace ptxrun::tests
