import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DrainStress {
    /// The product of a service that drains a container.
    private final class Drained: Sendable {}

    /// Each drain waits for the bodies in its container, and some of those wait for a drain: without an error for one
    /// of them, they would wait forever.
    @Test
    func `bodies that drain one another's containers, directly or through a service, all end`() async {
        await forEachSeed(400) { seed in
            let complaints = Complaints()
            let hasEnded = await ends(within: Stress.patience) {
                do { try await Self.drainOneAnother(seed: seed, complaints) } catch { complaints.add("\(error)") }
            }
            try #require(hasEnded, "seed \(seed) hangs")
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }

    private static func drainOneAnother(seed: UInt64, _ complaints: Complaints) async throws {
        var random = SeededRandom(seed: seed, stream: 0)
        var containers = [Container(name: "0")]
        for number in 1..<4 {
            containers.append(Container(name: "\(number)", parent: random.below(2) == 0 ? containers.last : nil))
        }
        let services = Container(name: "services")
        for (number, container) in containers.enumerated() {
            try await services.register(Drained.self, qualifier: "\(number)", lifetime: .singleton) { _ in
                try await container.drain()
                return Drained()
            }
        }
        await withTaskGroup(of: Void.self) { [containers] group in
            for number in 0..<10 {
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: 1 + number)
                    let (home, target) = (containers[random.below(4)], random.below(4))
                    let (isInBody, isDirect) = (random.below(5) > 0, random.below(2) == 0)
                    let isOwned = random.below(3) == 0
                    do {
                        let work = { @Sendable () async throws in
                            await Task.yield()
                            if isDirect {
                                try await containers[target].drain()
                            } else {
                                _ = try await services.resolve(Drained.self, qualifier: "\(target)")
                            }
                        }
                        if !isInBody {
                            try await work()
                        } else if isOwned {
                            try await OwnedScope(in: home, isDrained: true).finish { _ in try await work() }
                        } else {
                            try await home.withScope { _ in try await work() }
                        }
                    } catch let error as ResolutionError {
                        let expected: [ResolutionError.Code] = [.invalidOperation, .circularDependency, .disposed]
                        complaints.expect(expected.contains(error.code), "\(error)")
                    } catch {
                        complaints.add("\(error)")
                    }
                }
            }
        }
        for container in containers { try await container.dispose() }
        try await services.dispose()
    }
}
