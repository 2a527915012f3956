#pragma once

#include <stddef.h>

/// What the program has allocated and not freed, as its allocator counts it: with headers and rounding. 0 where it does
/// not.
size_t allocatedBytes(void);
