// Scratch memory of one thread: grows to the largest request and is then reused, so that the
// node steps allocate nothing once they are warm.
#pragma once
#include <memory>

#include "view.hpp"

namespace hss {

template <class T>
class Buffer {
    std::unique_ptr<T[]> data_;
    Index size_ = 0;

   public:
    // Uninitialised room for `size` numbers; what an earlier call returned is lost.
    T* take(Index size) {
        if (size > size_) {
            data_.reset();
            size_ = 0;  // the next line may throw
            data_.reset(new T[static_cast<std::size_t>(size)]);
            size_ = size;
        }
        return data_.get();
    }
    View<T> take(Index rows, Index cols) { return {take(rows * cols), rows, cols}; }
};

}  // namespace hss
