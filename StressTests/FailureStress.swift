import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FailureStress {
    final class Service: Sendable {}
    final class Dependency: Sendable {}

    struct Flaky: Error {
        let service: Int
        let run: Int
    }

    @Test
    func `a caller that retries in a catch starts a new creation`() async {
        await forEachSeed(60) { seed in
            var random = SeededRandom(seed: seed)
            let keys = 8
            let failures = (0..<keys).map { _ in random.below(6) }
            let probes = (0..<keys).map { _ in Probe() }
            let dependencyProbe = Probe()
            let container = Container {
                Registration(Dependency.self, lifetime: .singleton) { _ in
                    dependencyProbe.enter()
                    await Task.yield()
                    return Dependency()
                }
                Registration(Service.self, lifetime: .multiton) { (resolver, key: Int) in
                    let run = probes[key].enter()
                    defer { probes[key].leave() }
                    var random = SeededRandom(seed: seed, stream: key, run: run)
                    _ = try await resolver.resolve(Dependency.self)
                    await random.shake(upTo: 10)
                    if run <= failures[key] { throw Flaky(service: key, run: run) }
                    return Service()
                }
            }
            let complaints = Complaints()
            let answers = await withTaskGroup(of: (Int, Service?).self) { group in
                for number in 0..<(keys * 25) {
                    group.addTask {
                        let key = number % keys
                        let answer = await retrying(key, complaints: complaints) {
                            try await container.resolve(Service.self, arguments: key)
                        }
                        return (key, answer)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            for key in 0..<keys {
                let given = answers.filter { $0.0 == key }.compactMap(\.1)
                try #require(Set(given.map(ObjectIdentifier.init)).count == 1, "seed \(seed)")
                // Each failure is run once, the success once, and never two at a time.
                try #require(probes[key].runs == failures[key] + 1, "seed \(seed)")
                try #require(probes[key].peak == 1, "seed \(seed)")
            }
            // The dependencies of a failed creation stay.
            try #require(dependencyProbe.runs == 1, "seed \(seed)")
        }
    }

    @Test
    func `factories retry their dependencies`() async {
        await forEachSeed(100) { seed in
            var random = SeededRandom(seed: seed)
            let depth = 2 + random.below(6)
            let failures = (0..<depth).map { _ in random.below(4) }
            let probes = (0..<depth).map { _ in Probe() }
            let complaints = Complaints()
            let container = Container {
                for level in 0..<depth {
                    Registration(Service.self, qualifier: NodeID(index: level), lifetime: .singleton) { resolver in
                        let run = probes[level].enter()
                        defer { probes[level].leave() }
                        if level + 1 < depth {
                            _ = await retrying(level + 1, complaints: complaints) {
                                try await resolver.resolve(Service.self, qualifier: NodeID(index: level + 1))
                            }
                        }
                        await Task.yield()
                        if run <= failures[level] { throw Flaky(service: level, run: run) }
                        return Service()
                    }
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<(depth * 10) {
                    let level = number % depth
                    group.addTask {
                        _ = await retrying(level, complaints: complaints) {
                            try await container.resolve(Service.self, qualifier: NodeID(index: level))
                        }
                    }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(probes.map(\.runs) == failures.map { $0 + 1 }, "seed \(seed)")
            try #require(probes.allSatisfy { $0.peak == 1 }, "seed \(seed)")
        }
    }
}

/// Asks until there is a value.
///
/// Each failure must come from a later run than the one before it.
private func retrying(
    _ service: Int, complaints: Complaints, _ ask: @Sendable () async throws -> FailureStress.Service
) async -> FailureStress.Service? {
    var last = 0
    while !Task.isCancelled {
        do {
            return try await ask()
        } catch let error as FailureStress.Flaky {
            complaints.expect(error.service == service, "\(service) got the error of \(error.service)")
            complaints.expect(error.run > last, "\(service): run \(error.run) after \(last)")
            last = error.run
        } catch {
            complaints.add("\(service): \(error)")
            return nil
        }
    }
    complaints.add("\(service): cancelled")
    return nil
}
