#define _GNU_SOURCE
#include "ExplorationHooks.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/personality.h>
#endif

#define SWIFT_CALL __attribute__((swiftcall))

// What the runtime calls a SerialExecutorRef: an object and its witness table, both zero for the global executor.
typedef struct {
    void *identity;
    uintptr_t implementation;
} executor_ref;

typedef SWIFT_CALL void (*enqueue_original)(void *);
typedef SWIFT_CALL void (*delay_original)(uint64_t, void *);
typedef SWIFT_CALL void (*deadline_original)(long long, long long, long long, long long, int, void *);

extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *, enqueue_original);
extern SWIFT_CALL void (*swift_task_enqueueMainExecutor_hook)(void *, enqueue_original);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDelay_hook)(uint64_t, void *, delay_original);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long, long long, long long, long long, int, void *, deadline_original);

extern SWIFT_CALL void swift_job_run(void *job, executor_ref executor);
extern SWIFT_CALL executor_ref swift_task_getMainExecutor(void);
extern SWIFT_CALL uint64_t swift_task_getJobTaskId(void *job);

static exploration_sink sink;
static __thread bool exploring;

static SWIFT_CALL void enqueue_global(void *job, enqueue_original original) {
    if (exploring) sink(job, false, 0);
    else original(job);
}

static SWIFT_CALL void enqueue_main(void *job, enqueue_original original) {
    if (exploring) sink(job, true, 0);
    else original(job);
}

static SWIFT_CALL void enqueue_delayed(uint64_t delay, void *job, delay_original original) {
    if (exploring) sink(job, false, (int64_t)delay);
    else original(delay, job);
}

static SWIFT_CALL void enqueue_deadline(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job, deadline_original original
) {
    if (!exploring) {
        original(sec, nsec, tsec, tnsec, clock, job);
        return;
    }
    // The runtime's clocks: 1 is the continuous one, 2 the suspending one.
    struct timespec now;
#if defined(__linux__)
    clock_gettime(clock == 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
#else
    clock_gettime(clock == 1 ? CLOCK_MONOTONIC_RAW : CLOCK_UPTIME_RAW, &now);
#endif
    int64_t delay = (sec - now.tv_sec) * 1000000000LL + (nsec - now.tv_nsec);
    sink(job, false, delay > 1 ? delay : 1);
}

static void install(void) {
    swift_task_enqueueGlobal_hook = enqueue_global;
    swift_task_enqueueMainExecutor_hook = enqueue_main;
    swift_task_enqueueGlobalWithDelay_hook = enqueue_delayed;
    swift_task_enqueueGlobalWithDeadline_hook = enqueue_deadline;
}

void exploration_install(exploration_sink new_sink) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sink = new_sink;
    pthread_once(&once, install);
}

void exploration_set_exploring(bool value) { exploring = value; }
bool exploration_is_exploring(void) { return exploring; }

void exploration_run(void *job, bool is_main) {
    executor_ref global = {0, 0};
    swift_job_run(job, is_main ? swift_task_getMainExecutor() : global);
}

uint64_t exploration_task(void *job) { return swift_task_getJobTaskId(job); }

struct thread_start {
    void (*body)(void *);
    void *context;
};

static void *begin_thread(void *argument) {
    struct thread_start *start = argument;
    start->body(start->context);
    return NULL;
}

void exploration_on_thread(void (*body)(void *), void *context) {
    struct thread_start start = {body, context};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16 << 20);
    if (pthread_create(&thread, &attributes, begin_thread, &start) != 0) abort();
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void *begin_detached(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

void exploration_start_thread(void (*body)(void *), void *context) {
    struct thread_start *start = malloc(sizeof *start);
    pthread_t thread;
    if (!start) abort();
    *start = (struct thread_start){body, context};
    if (pthread_create(&thread, NULL, begin_detached, start) != 0) abort();
    pthread_detach(thread);
}

static void (*crash_report)(int);

static void crashed(int number) {
    signal(number, SIG_DFL);
    crash_report(number);
    raise(number);
}

void exploration_report_crashes(void (*report)(int)) {
    static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
    // A stack of its own: an overflow of the stack is a crash too.
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    crash_report = report;
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = crashed;
        action.sa_flags = SA_ONSTACK;
        sigaction(signals[i], &action, NULL);
    }
}

void exploration_flush(void) { fflush(NULL); }

void exploration_make_deterministic(char **arguments) {
    if (getenv("SWIFT_DETERMINISTIC_HASHING")) return;
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
#if defined(__linux__)
    int old = personality(0xffffffff);
    if (old != -1) personality((unsigned long)old | ADDR_NO_RANDOMIZE);
    execv("/proc/self/exe", arguments);
#else
    execv(arguments[0], arguments);
#endif
}
