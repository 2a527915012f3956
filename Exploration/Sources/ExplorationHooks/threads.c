#define _GNU_SOURCE
#include "ExplorationHooks.h"

#include <dlfcn.h>
#include <errno.h>
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
// Inside a call of the runtime that holds a lock of its own while it runs code of ours.
static __thread int inside_runtime;

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
    if (self == NULL || inside_runtime > 0) return;
    if (!decide(kind, address)) return;
    self->state = kind;
    sem_post(&back);
    while (sem_wait(&self->go) != 0) {}
}

// The runtime runs cancellation handlers while it holds a task's lock. A thread that stopped in one would stop others for good, so there
// are no schedule points in them. These two take the place of the runtime's functions for calls of the program.
#define SWIFT_CALL __attribute__((swiftcall))

SWIFT_CALL void swift_task_cancel(void *task) {
    static SWIFT_CALL void (*original)(void *);
    if (!original) original = (SWIFT_CALL void (*)(void *))dlsym(RTLD_NEXT, "swift_task_cancel");
    inside_runtime++;
    original(task);
    inside_runtime--;
}

SWIFT_CALL void swift_taskGroup_cancelAll(void *group) {
    static SWIFT_CALL void (*original)(void *);
    if (!original) original = (SWIFT_CALL void (*)(void *))dlsym(RTLD_NEXT, "swift_taskGroup_cancelAll");
    inside_runtime++;
    original(group);
    inside_runtime--;
}
