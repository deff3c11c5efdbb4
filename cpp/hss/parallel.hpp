// A loop over independent nodes on OpenMP's threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include "view.hpp"

namespace hss {

// Called from time to time by the calling thread during long loops; throws to stop the loop. Python
// handles Ctrl-C here (bindings/threads.cpp).
inline void (*check_interrupt)() = nullptr;

// Upper limit on the threads of a loop, in addition to OpenMP's own; 0 for none.
inline std::atomic<int> max_threads{0};

// OpenMP's threads do not exist in a forked child, where a team would wait for them forever: loops
// in a child run on the calling thread only.
inline std::atomic<bool> forked{false};

inline void watch_forks() {
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif
}

// The number of threads that run a long loop.
inline int thread_count() {
#ifdef _OPENMP
    if (forked) return 1;
    const int most = max_threads;
    return most > 0 ? std::min(most, omp_get_max_threads()) : omp_get_max_threads();
#else
    return 1;
#endif
}

// The index of the calling thread among those of a loop.
inline int thread_num() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// body(i, caller) for i = 0 .. n-1 in no fixed order, where `caller` says whether this is the
// calling thread. When nothing is left for the calling thread, it calls wait(busy), with the number
// of threads that still work. The first exception stops the loop and is rethrown.
template <class Body, class Wait>
void parallel_loop(Index n, Body&& body, Wait&& wait) {
    std::atomic<Index> next{0};
    std::atomic<int> busy{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto run = [&](bool caller) noexcept {
        ++busy;
        for (Index i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) {
            try {
                body(i, caller);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(error_mutex);
                if (!error) error = std::current_exception();
                next = n;
            }
        }
        --busy;
        if (caller) wait(busy);
    };
    const int n_threads = n > 1 ? thread_count() : 1;
    if (n_threads == 1) {
        run(true);
    } else {
#ifdef _OPENMP
#pragma omp parallel num_threads(n_threads)
        run(omp_get_thread_num() == 0);
#endif
    }
    if (error) std::rethrow_exception(error);
}

// body(i) for i = 0 .. n-1 in no fixed order. The first exception stops the loop and is rethrown.
template <class Body>
void parallel_for(Index n, Body&& body) {
    auto last_check = std::chrono::steady_clock::now();
    const auto checked = [&](Index i, bool caller) {
        body(i);
        if (!caller || !check_interrupt) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_check > std::chrono::milliseconds(100)) {
            last_check = now;
            check_interrupt();
        }
    };
    parallel_loop(n, checked, [](const std::atomic<int>&) {});
}

}  // namespace hss
