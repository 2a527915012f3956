#include "FuzzerDriver.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *, size_t));

int fuzzer_run(int (*test)(const uint8_t *, size_t)) {
    static char text[1 << 16];
    static char *arguments[256];
    char **list = arguments;
    int count = 0;
    // As the kernel keeps them: one behind the other, each with a zero at its end.
    FILE *file = fopen("/proc/self/cmdline", "r");
    if (!file) abort();
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    for (size_t start = 0; start < size && count < 255; count++) {
        arguments[count] = text + start;
        while (text[start]) start++;
        start++;
    }
    return LLVMFuzzerRunDriver(&count, &list, test);
}
