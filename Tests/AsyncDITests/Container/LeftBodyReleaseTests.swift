import Testing

@testable import AsyncDI

/// Whether the current task holds a lock, for deinitializers: a task that is started elsewhere has no such value.
private enum HeldLock {
    @TaskLocal static var isHeld = false
}

/// Notes where it ends.
private final class Witness: ContainerObserver {
    private let underLock: Counter
    private let outside: Counter

    init(_ underLock: Counter, _ outside: Counter) { (self.underLock, self.outside) = (underLock, outside) }
    deinit { (HeldLock.isHeld ? underLock : outside).increment() }

    func container(_ container: Container, did event: ContainerEvent) {}
}

/// A body that others have left may be released by a reader that holds a lock.
///
/// The deinitializers of the objects that the body holds are user code: they must run elsewhere.
@Suite(.timeLimit(.minutes(10))) struct LeftBodyReleaseTests {
    /// The object that the body is the last to hold.
    enum Held: CaseIterable { case container, bodyAround, runAround }

    private let underLock = Counter()
    private let outside = Counter()

    /// A container without a handle: whatever keeps its core keeps the witness.
    private func core() -> ContainerCore { Container(observers: [Witness(underLock, outside)]).core }

    private func binding(holding witness: Witness) -> Binding {
        Binding(
            Blueprint(
                key: ServiceKey(Int.self), lifetime: .transient,
                factory: ServiceFactory<Int> { _, _ in withExtendedLifetime(witness) { 1 } }),
            defaultLifetime: .transient)
    }

    /// A body that has ended, and the one inside it, which has left it at its own end.
    private func left(holding held: Held) -> (left: LeaseBody, later: LeaseBody) {
        let host = Container().core
        let body: LeaseBody
        switch held {
        case .container:
            body = LeaseBody(leasing: [], at: core(), isCollecting: true)
        case .bodyAround:
            // It goes on, so the later body refers to it instead.
            let around = LeaseBody(leasing: [], at: core(), isCollecting: true)
            body = LeaseContext.$body.withValue(around) { LeaseBody(leasing: [], at: host) }
        case .runAround:
            let around = LeaseBody(leasing: [], at: host)
            let run = LeaseContext.$body.withValue(around) {
                Run(outermost: binding(holding: Witness(underLock, outside)), .none, host: host)
            }
            body = LeaseBody(leasing: [], at: host, for: run)
        }
        let later = LeaseContext.$body.withValue(body) { LeaseBody(leasing: [], at: host) }
        Waits.end(body)
        Waits.end(later)
        return (body, later)
    }

    @Test(arguments: Held.allCases)
    func `what a left body holds is released outside the lock of its last reader`(held: Held) async {
        let count = 3_000
        let lock = Locked(0)
        // A thread of its own, so that the pool's threads are free to release early what they are given.
        await onThreads(1) { _ in
            for _ in 0..<count {
                var bodies: (left: LeaseBody?, later: LeaseBody?) = left(holding: held)
                bodies.later = nil
                weak let former = bodies.left
                HeldLock.$isHeld.withValue(true) { lock.withLock { _ in bodies.left = nil } }
                #expect(former == nil, "the reader was the last to have it")
            }
        }
        await until { underLock.value + outside.value == count }
        #expect(underLock.value == 0)
    }
}
