// The ridge of a problem, which may have none.
#pragma once
#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"

namespace bindings {

// An array with an entry for each of n rows, or none.
template <class T>
using Ridge = std::optional<Array<const T>>;

template <class T>
const T* ridge_of(const Ridge<T>& ridge, Index n) {
    require(!ridge || size(*ridge) == n, "ridge: shapes do not match");
    return ridge ? ridge->data() : nullptr;
}

}  // namespace bindings
