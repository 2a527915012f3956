#ifndef EXPLORATION_HOOKS_H
#define EXPLORATION_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

/// Is told of every job that a thread of an exploration makes ready: at once, or (`delay` in nanoseconds) later.
typedef void (*exploration_sink)(void *_Nonnull job, bool isMain, int64_t delay);

/// Installs the runtime's hooks, once for the process. Jobs of threads that do not explore go where they always went.
void exploration_install(exploration_sink _Nonnull sink);

/// Whether the jobs that this thread makes ready belong to an exploration.
void exploration_set_exploring(bool exploring);
bool exploration_is_exploring(void);

/// Runs a job on this thread until its next suspension.
void exploration_run(void *_Nonnull job, bool isMain);

/// The identifier of the task that a job belongs to, or of the job where it is none of a task.
uint64_t exploration_task(void *_Nonnull job);

/// Runs `body` on a thread of its own and waits for its end.
void exploration_on_thread(void (*_Nonnull body)(void *_Nullable), void *_Nullable context);

/// The same, without waiting.
void exploration_start_thread(void (*_Nonnull body)(void *_Nullable), void *_Nullable context);

/// Ends the process in a way that says which schedule was running when a trap or a signal ends it.
void exploration_report_crashes(void (*_Nonnull report)(int signal));

void exploration_flush(void);

// MARK: Threads that take turns, for exploring inside jobs

/// Why a thread came back: its job is over, it is at a schedule point, or it needs a lock that a stopped thread has. The last kind only tells
/// of a lock that is free again.
enum {
    exploration_done = 0, exploration_pass = 1, exploration_blocked = 2, exploration_waits = 3, exploration_released = 4
};

/// Asked at each schedule point, on the thread itself; true when it has to stop there.
typedef bool (*exploration_decision)(int kind, const void *_Nullable address);

/// Runs a job on the thread of this number, until its end or a schedule point at which it stops.
int exploration_begin(int thread, void *_Nonnull job, bool isMain, exploration_decision _Nonnull decision);

/// Lets a thread that stopped go on, until the same.
int exploration_continue(int thread);

/// To be called at a schedule point: `exploration_pass` or `exploration_waits`.
void exploration_point(int kind);

/// Starts the process anew without address space randomization and with deterministic hashing, where it has not been.
void exploration_make_deterministic(char *_Nullable *_Nonnull arguments);

#endif
