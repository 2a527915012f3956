#ifndef FUZZER_DRIVER_H
#define FUZZER_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with the process's arguments; calls `test` with each input.
int fuzzer_run(int (*_Nonnull test)(const uint8_t *_Nullable bytes, size_t count));

#endif
