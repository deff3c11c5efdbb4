// Scratch memory of one thread: it grows to the largest request and is then reused, so that node
// steps soon allocate nothing.
#pragma once
#include <memory>

#include "view.hpp"

namespace hss {

template <class T>
class Buffer {
    std::unique_ptr<T[]> data_;
    Index size_ = 0;

  public:
    // Uninitialized memory for `size` numbers; invalidates what an earlier call returned.
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
