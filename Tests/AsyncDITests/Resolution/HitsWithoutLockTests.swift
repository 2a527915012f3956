import Foundation
import Testing

@testable import AsyncDI

private protocol Named: Sendable {}
private final class Pool: Named {}
private final class Session: Sendable {}

/// Requests for existing instances while another thread has the locks of their containers.
///
/// In a process of their own: a registration anywhere in the process sends the next request for a scoped instance to
/// the lock, and the other tests register all the time.
@Suite(.timeLimit(.minutes(10))) struct HitsWithoutLockTests {
    #if os(macOS) || os(Linux)
        @Test func `hits take no lock of a container`() async {
            await #expect(processExitsWith: .success) {
                let root = makeContainer()
                let scope = try await root.openScope()
                try await request(from: root)
                try await request(from: scope)
                let (isLocked, mayUnlock) = (Gate(), ThreadGate())
                // One thread for each lock, so that none is taken inside another.
                for core in [root.core, scope.core] {
                    Thread.detachNewThread {
                        core.withState { _ in
                            isLocked.arrive()
                            mayUnlock.wait()
                        }
                    }
                }
                await isLocked.arrived(2)
                try await finishes(within: 120) {
                    try await request(from: root)
                    try await request(from: scope)
                }
                mayUnlock.open()
            }
        }
    #endif
}

private func makeContainer() -> Container {
    Container {
        Registration(Pool.self, lifetime: .singleton) { _ in Pool() }.implements((any Named).self) { $0 }
        Registration(Pool.self, qualifier: "second", lifetime: .singleton) { _ in Pool() }
        Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
        Registration(Pool.self, lifetime: .multiton(capacity: 9)) { (_, _: String, _: Int) in Pool() }
        Registration(Session.self, lifetime: .scoped) { _ in Session() }
        Registration(Double.self, lifetime: .transient) { r in
            _ = try await r.resolve(Pool.self)
            _ = try await r.resolve(Session.self)
            return 0.5
        }
    }
}

/// Makes each kind of request once.
private func request(from container: Container) async throws {
    _ = try await container.resolve(Pool.self)
    _ = try await container.resolve((any Named).self)
    _ = try await container.resolve(Pool.self, qualifier: "second")
    _ = try await container.resolve(Pool.self, arguments: "acme")
    _ = try await container.resolve(Pool.self, arguments: "acme", 1)
    _ = try await container.resolve(Session.self)
    _ = try container.ready(Pool.self)
    _ = try await container.resolve(Double.self)
}
