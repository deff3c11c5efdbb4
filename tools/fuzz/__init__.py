"""Fuzz targets for the readers of files, guided by the coverage of the code.

    python tools/fuzz models -max_total_time=600     ten minutes, with options of libFuzzer
    python tools/fuzz models crash-0123              an input that was found

The targets are `models` and `encoders` (`hssvm.load`), `libsvm_models` (`hssvm.load_libsvm`),
`data` (`hssvm.io.load_data`), and ``libsvm_text.cpp``, the parser of LIBSVM text under
AddressSanitizer and UBSan. Those in Python are modules with three functions:

- ``seeds()`` returns the first inputs, made from tiny models and rows,
- ``changed(content, rng, mutate)`` changes an input so that its parts still fit together;
  ``mutate(part)`` is libFuzzer's own change of some bytes,
- ``read(content, folder)`` reads an input from a file in a folder, and returns "loaded" or
  "refused"; any other exception than a ValueError that names the file is a finding.

They need atheris (Linux), and the target in C++ needs Clang. Inputs that reach new code are kept in
``build/fuzz/TARGET``, where the next run on the same machine starts from them; findings are beside
it.
"""
