// A loop over independent nodes on OpenMP's threads.
#pragma once
#include <atomic>
#include <chrono>
#include <exception>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "view.hpp"

namespace hss {

// Asked now and then from the calling thread during long loops; throws to stop the loop (core.cpp
// lets Python handle Ctrl-C here).
inline void (*check_interrupt)() = nullptr;

// body(i) for i = 0 .. n-1 in no fixed order. The first exception ends the loop and is rethrown.
template <class Body>
void parallel_for(Index n, Body&& body) {
    std::atomic<bool> stop{false};
    std::exception_ptr error;
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel if (n > 1)
    {
        auto last_check = start;
        bool caller = true;
#ifdef _OPENMP
        caller = omp_get_thread_num() == 0;
#endif
#pragma omp for schedule(dynamic)
        for (Index i = 0; i < n; ++i) {
            if (stop.load(std::memory_order_relaxed)) continue;
            try {
                body(i);
                if (caller && check_interrupt) {
                    const auto now = std::chrono::steady_clock::now();
                    if (now - last_check > std::chrono::milliseconds(100)) {
                        last_check = now;
                        check_interrupt();
                    }
                }
            } catch (...) {
#pragma omp critical(hss_error)
                if (!stop.exchange(true)) error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace hss
