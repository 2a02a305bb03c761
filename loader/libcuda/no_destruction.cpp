// No static object of the library is destroyed when the process ends: threads of its own may still
// compile or run kernels then, and programs call the driver from their own static destructors.
// Objects announce themselves here instead of in the C library; the linker keeps the symbol to
// this library (exports.map).
extern "C" int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
