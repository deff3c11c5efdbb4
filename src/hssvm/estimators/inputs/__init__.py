"""What users pass: parameters, kernels, rows, frames, labels, and points that are not rows."""
