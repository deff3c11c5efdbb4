// Threads that share loops of a few microseconds, for which parallel_for takes too long to begin.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

#include "hss/parallel.hpp"
#include "hss/view.hpp"

namespace svm {

using hss::Index;

// A loop has the same parts each time, and each thread prefers its own, which are in its cache. The
// calling thread runs every part that no other thread has begun, so that it waits only for parts
// that are under way, even if the other threads get no core, as on a busy machine.
class Team {
    struct alignas(64) Part {
        std::atomic<std::uint32_t> begun{0}, done{0};  // the last loop for which it was
    };
    const int n_threads;
    const Index n_parts;
    const std::unique_ptr<Part[]> parts;
    std::atomic<std::uint32_t> loop{0};
    std::atomic<bool> closed{false};
    void (*call)(void*, Index) = nullptr;
    void* body = nullptr;

    static void pause() {
#if defined(__x86_64__) || defined(_M_X64)
        _mm_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
    // Waits a few microseconds, then lets other programs run.
    template <class Condition>
    static void wait_until(Condition&& condition) {
        for (int i = 0; !condition(); ++i) {
            if (i < 2000)
                pause();
            else
                std::this_thread::yield();
        }
    }
    void run_part(Index c, std::uint32_t now) {
        std::uint32_t before = now - 1;
        Part& part = parts[c];
        if (part.begun.load(std::memory_order_relaxed) != before) return;
        if (!part.begun.compare_exchange_strong(before, now, std::memory_order_acq_rel)) return;
        call(body, c);
        part.done.store(now, std::memory_order_release);
    }
    void run_parts(int thread, std::uint32_t now) {
        const Index first = n_parts * thread / n_threads;
        for (Index c = 0; c < n_parts; ++c) run_part((first + c) % n_parts, now);
    }
    void help(int thread) {
        for (std::uint32_t seen = 0;;) {
            std::uint32_t now = seen;
            wait_until([&] {
                now = loop.load(std::memory_order_acquire);
                return now != seen || closed.load(std::memory_order_relaxed);
            });
            if (closed) return;
            run_parts(thread, now);
            seen = now;
        }
    }

  public:
    Team(int n_threads, Index n_parts)
        : n_threads(n_threads), n_parts(n_parts),
          parts(new Part[static_cast<std::size_t>(n_parts)]) {}

    // part(c) for c = 0 .. n_parts-1; to be called by the work of `run`.
    template <class Body>
    void each(Body&& part) {
        if (n_threads == 1) {
            for (Index c = 0; c < n_parts; ++c) part(c);
            return;
        }
        call = [](void* body, Index c) { (*static_cast<std::remove_reference_t<Body>*>(body))(c); };
        body = &part;
        const std::uint32_t now = loop.load(std::memory_order_relaxed) + 1;
        loop.store(now, std::memory_order_release);
        run_parts(0, now);
        for (Index c = 0; c < n_parts; ++c)
            wait_until([&] { return parts[c].done.load(std::memory_order_acquire) == now; });
    }

    // work() on the calling thread, while the others help. Neither work nor its parts may throw.
    template <class Work>
    void run(Work&& work) {
        if (n_threads == 1) {
            work();
            return;
        }
        closed = false;
#ifdef _OPENMP
#pragma omp parallel num_threads(n_threads)
        {
            if (omp_get_thread_num() == 0) {
                work();
                closed = true;
            } else {
                help(omp_get_thread_num());
            }
        }
#endif
    }
};

}  // namespace svm
