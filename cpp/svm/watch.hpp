// Asks the caller of a long computation, several times a second, whether to stop.
#pragma once
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "hss/parallel.hpp"
#include "hss/view.hpp"

namespace svm {

using hss::Index;

// Only the thread that made it asks: Python handles Ctrl-C in the main thread alone. Other threads
// may read the answer.
class Watch {
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{50};

    const std::function<bool()> ask;
    const std::thread::id caller = std::this_thread::get_id();
    Clock::time_point next = Clock::now() + interval;
    std::atomic<bool> answer{false};
    std::exception_ptr error;

  public:
    explicit Watch(std::function<bool()> ask) : ask(std::move(ask)) {}

    bool stopped() noexcept {
        if (std::this_thread::get_id() == caller && !answer && Clock::now() >= next) {
            try {
                if (ask()) answer = true;
            } catch (...) {
                error = std::current_exception();
                answer = true;
            }
            next = Clock::now() + interval;
        }
        return answer;
    }

    // Throws what `ask` has thrown.
    void rethrow() const {
        if (error) std::rethrow_exception(error);
    }
};

// body(i) for i = 0 .. n-1 in no fixed order, as hss::parallel_for, but the calling thread keeps
// asking while it waits for the others.
template <class Body>
void watched_for(Index n, Watch& watch, Body&& body) {
    const auto ask_while = [&](const std::atomic<int>& busy) {
        while (busy > 0) {
            watch.stopped();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    };
    hss::parallel_loop(n, [&](Index i, bool) { body(i); }, ask_while);
}

}  // namespace svm
