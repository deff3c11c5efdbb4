// The core runs without the GIL. A daemon thread that asks for it back while the interpreter exits
// would be ended by Python on the spot, which inside C++ aborts the process. So, before the
// interpreter is finalized, the calls of other threads raise SystemExit, and the interpreter waits
// for them.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "hss/parallel.hpp"

namespace bindings {

namespace nb = nanobind;

inline std::atomic<int> n_released{0};                 // calls that run without the GIL
inline std::atomic<std::thread::id> exiting_thread{};  // once the interpreter exits

inline void check_exit() {
    const std::thread::id thread = exiting_thread;
    if (thread == std::thread::id() || thread == std::this_thread::get_id()) return;
    PyErr_SetString(PyExc_SystemExit, "the interpreter is exiting");
    throw nb::python_error();
}

// Releases the GIL in its scope.
class ReleaseGil {
    PyThreadState* state;

  public:
    ReleaseGil() {
        check_exit();
        ++n_released;
        state = PyEval_SaveThread();
    }
    ReleaseGil(const ReleaseGil&) = delete;
    ~ReleaseGil() {
        PyEval_RestoreThread(state);
        --n_released;
    }
};

// Stops the calls of other threads; to be called before the interpreter is finalized.
inline void stop_calls() {
    exiting_thread = std::this_thread::get_id();
    if (hss::forked) return;  // other threads do not exist here, but were counted
    PyThreadState* state = PyEval_SaveThread();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (n_released > 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
}

}  // namespace bindings
