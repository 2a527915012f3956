// A server that runs for a long time: `soak [MINUTES]`, 30 when not said.
//
// It has requests of many tenants, some of which are cancelled. Handlers and connections are reloaded during requests,
// and every few seconds the application is drained or disposed, and replaced. Memory, threads and descriptors must not
// grow.

import AsyncDI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

struct Tally: Sendable {
    let served = Counter()
    let cancelled = Counter()
    let cutShort = Counter()
    let reloads = Counter()
    let restarts = Counter()
}

let minutes = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 30
let census = Census()
let tally = Tally()
let application = Locked(Application(census))
let start = ContinuousClock.now
let end = start + .seconds(minutes * 60)
// Runs every part once, because the runtime's timers and threads need descriptors too.
try await Application(census).serve(Request(tenant: 0))
try await Task.sleep(for: .seconds(3))
let atRest = Occupation.now

func client(_ number: Int) async {
    var random = SeededRandom(seed: UInt64(number))
    while ContinuousClock.now < end {
        let current = application.current
        let request = Request(tenant: random.below(Application.tenants))
        let task = Task { try await current.serve(request) }
        if random.chance(0.1) {
            await random.shake(upTo: 12)
            task.cancel()
        }
        do {
            try await task.value
            tally.served.add()
        } catch is CancellationError {
            tally.cancelled.add()
        } catch ResolutionError.Code.disposed {
            tally.cutShort.add()
        } catch {
            census.complaints.add("a request failed: \(error)")
        }
        // A server is not always busy, and other programs use its machine.
        if random.chance(0.4) { try? await Task.sleep(for: .milliseconds(8)) }
    }
}

func reload() async {
    var number = 0
    while ContinuousClock.now < end {
        number += 1
        try? await Task.sleep(for: .milliseconds(20))
        do {
            try await application.current.reload(number)
            tally.reloads.add()
        } catch ResolutionError.Code.disposed {
            // The application is ending.
        } catch {
            census.complaints.add("a reload failed: \(error)")
        }
    }
}

func restart() async {
    var number = 0
    while ContinuousClock.now < end {
        try? await Task.sleep(for: .seconds(2))
        let old = application.current
        application.set(Application(census))
        number += 1
        do {
            if number.isMultiple(of: 2) {
                try await old.container.drain(deadline: .seconds(20))
            } else {
                census.disposals.add()
                try await old.container.dispose()
            }
        } catch {
            census.complaints.add("an end failed: \(error)")
        }
        tally.restarts.add()
    }
}

/// Prints a line every minute, and returns the figures.
func watch() async -> [Occupation] {
    var all: [Occupation] = []
    var lines = 0
    while ContinuousClock.now < end {
        try? await Task.sleep(for: .seconds(5))
        let now = Occupation.now
        all.append(now)
        let minutes = Int((ContinuousClock.now - start) / .seconds(60))
        if minutes > lines {
            lines = minutes
            print(
                "\(minutes) min: \(tally.served.value) requests, \(now.kilobytes) kB, \(now.threads) threads, "
                    + "\(now.descriptors) descriptors, \(census.living) instances")
            fflush(nil)
        }
    }
    return all
}

let figures = await withTaskGroup(of: Void.self, returning: [Occupation].self) { group in
    for number in 0..<8 { group.addTask { await client(number) } }
    group.addTask { await reload() }
    group.addTask { await restart() }
    return await watch()
}
try await application.current.container.drain()
application.set(Application(census))
// Threads without work end after a second.
try await Task.sleep(for: .seconds(3))
let last = Occupation.now

// The median of the first quarter after a warm-up, and that of the last quarter.
let settled = figures.dropFirst(figures.count / 6)
func median(_ part: some Sequence<Occupation>) -> Int {
    let sorted = part.map(\.kilobytes).sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
}
let early = median(settled.prefix(settled.count / 4))
let late = median(settled.suffix(settled.count / 4))
print(
    """
    \(minutes) minutes: \(tally.served.value) requests served, \(tally.cancelled.value) cancelled, \
    \(tally.cutShort.value) cut short; \(tally.reloads.value) reloads, \(tally.restarts.value) restarts, \
    \(census.events.value) events
    memory: \(early) kB early, \(late) kB late, at most \(figures.map(\.kilobytes).max() ?? 0) kB
    threads: \(atRest.threads) at first, at most \(figures.map(\.threads).max() ?? 0), \(last.threads) at last
    descriptors: \(atRest.descriptors) at first, at most \(figures.map(\.descriptors).max() ?? 0), \
    \(last.descriptors) at last
    instances at last: \(census.living)
    """)
census.complaints.expect(late - early < max(1024, early / 20), "memory grew by \(late - early) kB")
census.complaints.expect(last.descriptors == atRest.descriptors, "descriptors were lost")
// The runtime creates its pool of threads, one for each core, only after the start.
census.complaints.expect(last.threads <= atRest.threads + 4, "threads were lost")
census.complaints.expect(census.living == 0, "instances were lost")
if !census.complaints.isEmpty {
    print("✘ \(census.complaints.summary)")
    exit(1)
}
print("✔ nothing grew, nothing was lost")
