// How a device is named in texts.
#pragma once
#include <string>

namespace ptxrun::nvml {

/// "GPU-" and the driver's UUID in hexadecimal.
std::string uuidText(unsigned index);
/// The PCI address with `domainDigits` digits of the domain: "0000:00:00.0" with 4.
std::string pciText(unsigned index, int domainDigits);

} // namespace ptxrun::nvml
