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

// Whether this thread is making a decision, whose own locks are no schedule points.
static __thread bool deciding;

static bool decides(int kind, const void *address) {
    deciding = true;
    bool stops = decide(kind, address);
    deciding = false;
    return stops;
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

static void point(int kind, const void *address) {
    if (self == NULL || deciding || !decides(kind, address)) return;
    self->state = kind;
    sem_post(&back);
    while (sem_wait(&self->go) != 0) {}
}

void exploration_point(int kind) { point(kind, NULL); }

// These take the place of the system's functions in the whole process, for the locks of the runtime: it calls handlers of cancellation
// while it holds one. A thread that needs the lock of a stopped thread stops too, and lets that one go on.
typedef int (*mutex_function)(pthread_mutex_t *);

static mutex_function system_function(_Atomic(mutex_function) *cached, const char *name) {
    mutex_function function = *cached;
    if (function == NULL) *cached = function = (mutex_function)dlsym(RTLD_NEXT, name);
    return function;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static _Atomic(mutex_function) original;
    if (self == NULL || deciding) return system_function(&original, "pthread_mutex_lock")(mutex);
    int result;
    while ((result = pthread_mutex_trylock(mutex)) == EBUSY) point(exploration_blocked, mutex);
    return result;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    static _Atomic(mutex_function) original;
    int result = system_function(&original, "pthread_mutex_unlock")(mutex);
    if (self != NULL && !deciding) decides(exploration_released, mutex);
    return result;
}
