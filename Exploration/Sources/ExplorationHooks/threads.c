#define _GNU_SOURCE
#include "ExplorationHooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Threads of which one runs at a time: a turn is handed over by a semaphore, which also orders what one has done before what the next
// one does.
typedef struct {
    bool started;
    sem_t go;
    void *job;
    bool is_main;
    int state;
} worker;

enum { most_workers = 64 };
static worker workers[most_workers];
static sem_t back;
static exploration_decision decide;
static __thread worker *self;

// The runtime runs handlers of cancellation and escalation while it holds a task's lock. A thread that stopped in one would stop others for
// good, so that no thread stops there: these are the functions whose frames say so.
static const char *const locked_functions[] = {
    "swift_task_cancel", "swift_task_cancel_group_child_tasks", "swift_taskGroup_cancelAll", "swift_task_escalate",
    "swift_task_addCancellationHandler", "swift_task_addPriorityEscalationHandler",
};
enum { locked_count = sizeof locked_functions / sizeof *locked_functions };
static struct { uintptr_t start, end; } locked[locked_count];

static void find_locked_functions(void) {
    for (int i = 0; i < locked_count; i++) {
        void *start = dlsym(RTLD_DEFAULT, locked_functions[i]);
        Dl_info info;
        const ElfW(Sym) *symbol = NULL;
        if (!start || !dladdr1(start, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) continue;
        locked[i].start = (uintptr_t)start;
        locked[i].end = (uintptr_t)start + symbol->st_size;
    }
}

static bool is_in_handler(void) {
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t limit = frame + (1 << 20);
    while (true) {
        uintptr_t caller = ((uintptr_t *)frame)[1];
        for (int i = 0; i < locked_count; i++) {
            if (caller >= locked[i].start && caller < locked[i].end) return true;
        }
        // Bit 60 marks the frames of asynchronous functions.
        uintptr_t next = ((uintptr_t *)frame)[0] & ~(1ULL << 60);
        if (next <= frame || next > limit) return false;
        frame = next;
    }
}

static void *work(void *argument) {
    self = argument;
    exploration_set_exploring(true);
    while (true) {
        while (sem_wait(&self->go) != 0) {}
        exploration_run(self->job, self->is_main);
        self->state = exploration_done;
        sem_post(&back);
    }
    return NULL;
}

static int turn(worker *next) {
    sem_post(&next->go);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20;
    int result;
    while ((result = sem_timedwait(&back, &limit)) != 0 && errno == EINTR) {}
    if (result != 0) {
        fprintf(stderr, "a thread did not come back in 20 seconds: it waits for one that is stopped\n");
        abort();
    }
    return next->state;
}

int exploration_begin(int thread, void *job, bool is_main, exploration_decision decision) {
    static bool prepared;
    if (!prepared) {
        prepared = true;
        find_locked_functions();
        sem_init(&back, 0, 0);
    }
    decide = decision;
    if (thread >= most_workers) abort();
    worker *next = &workers[thread];
    if (!next->started) {
        next->started = true;
        sem_init(&next->go, 0, 0);
        pthread_t created;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 1 << 20);
        if (pthread_create(&created, &attributes, work, next) != 0) abort();
        pthread_detach(created);
    }
    next->job = job;
    next->is_main = is_main;
    return turn(next);
}

int exploration_continue(int thread) { return turn(&workers[thread]); }

void exploration_point(int kind, const void *address) {
    if (self == NULL) return;
    if ((kind == exploration_pass || kind == exploration_blocked) && is_in_handler()) {
        if (kind == exploration_pass) return;
        kind = exploration_blocked_in_handler;
    }
    if (!decide(kind, address)) return;
    if (kind == exploration_released && is_in_handler()) kind = exploration_released_in_handler;
    self->state = kind;
    sem_post(&back);
    while (sem_wait(&self->go) != 0) {}
}
