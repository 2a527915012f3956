#if defined(__linux__)

#define _GNU_SOURCE
#include "Cores.h"
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>

/// What the process was allowed at first.
static cpu_set_t all;
static int isKnown = 0;

static void restrictTo(const cpu_set_t *cores) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return;
    struct dirent *thread;
    while ((thread = readdir(threads))) {
        int number = atoi(thread->d_name);
        if (number > 0) sched_setaffinity(number, sizeof(*cores), cores);
    }
    closedir(threads);
}

void useOneCore(void) {
    if (!isKnown) isKnown = sched_getaffinity(0, sizeof(all), &all) == 0;
    if (!isKnown) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &all)) continue;
        CPU_SET(core, &one);
        break;
    }
    restrictTo(&one);
}

void useAllCores(void) {
    if (isKnown) restrictTo(&all);
}

#else

#include "Cores.h"

void useOneCore(void) {}
void useAllCores(void) {}

#endif
