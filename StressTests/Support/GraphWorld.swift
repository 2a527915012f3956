import AsyncDI

/// The instance that a graph node's factory creates.
final class Node: Sendable {
    let index: Int
    let dependencies: [Node]
    /// The number of its registration: the node's own, where nothing is registered anew.
    let registration: Int

    init(index: Int, dependencies: [Node], registration: Int? = nil) {
        self.index = index
        self.dependencies = dependencies
        self.registration = registration ?? index
    }
}

/// A graph model as real registrations, whose factories resolve in each node's style and shake the schedule.
final class GraphWorld: Sendable {
    let model: GraphModel
    let probes: [Probe]
    private let seed: UInt64
    private let goesOnWithoutCycle: Bool
    private let containers = Locked<[Container]>([])

    /// With `goesOnWithoutCycle`, factories catch `circularDependency` and leave that dependency out.
    init(_ model: GraphModel, seed: UInt64, goesOnWithoutCycle: Bool = false) {
        self.model = model
        self.seed = seed
        self.goesOnWithoutCycle = goesOnWithoutCycle
        probes = model.nodes.map { _ in Probe() }
    }

    var runs: [Int] { probes.map(\.runs) }

    /// One container for each home, none related to another.
    func makeContainers() -> [Container] {
        let homes = 1 + (model.nodes.map(\.home).max() ?? 0)
        let made = (0..<homes).map { home in
            Container(name: "home \(home)") { registrations(home: home) }
        }
        containers.set(made)
        return made
    }

    /// Disposes everything, and breaks the ring of containers, factories and this object.
    func close() async throws {
        let open = containers.current
        containers.set([])
        for container in open { try await container.dispose() }
    }

    @RegistrationBuilder
    private func registrations(home: Int) -> Registrations {
        for index in model.nodes.indices.filter({ model.nodes[$0].home == home }) {
            Registration(
                Node.self, qualifier: NodeID(index: index), lifetime: model.nodes[index].sharing.lifetime
            ) { resolver in
                try await self.make(index, with: resolver)
            }
        }
    }

    private func make(_ index: Int, with resolver: Resolver) async throws -> Node {
        let run = probes[index].enter()
        defer { probes[index].leave() }
        var random = SeededRandom(seed: seed, stream: index, run: run)
        await random.shake()
        let dependencies = try await dependencies(of: index, with: resolver)
        await random.shake()
        return Node(index: index, dependencies: dependencies.compactMap(\.self))
    }

    private func dependencies(of index: Int, with resolver: Resolver) async throws -> [Node?] {
        let wanted = model.nodes[index].dependencies
        switch model.nodes[index].style {
        case .asyncLet where wanted.count >= 2:
            async let first = ask(for: wanted[0], from: index, with: resolver)
            async let second = ask(for: wanted[1], from: index, with: resolver)
            var found = try await [first, second]
            for dependency in wanted.dropFirst(2) {
                found.append(try await ask(for: dependency, from: index, with: resolver))
            }
            return found
        case .taskGroup:
            return try await withThrowingTaskGroup(of: (Int, Node?).self) { group in
                for (position, dependency) in wanted.enumerated() {
                    group.addTask {
                        (position, try await self.ask(for: dependency, from: index, with: resolver))
                    }
                }
                var found = [Node?](repeating: nil, count: wanted.count)
                for try await (position, node) in group { found[position] = node }
                return found
            }
        case .detachedTask:
            var found: [Node?] = []
            for dependency in wanted {
                let task = Task.detached { try await self.ask(for: dependency, from: index, with: resolver) }
                found.append(try await task.value)
            }
            return found
        case .sequential, .asyncLet, .capturedContainer:
            var found: [Node?] = []
            for dependency in wanted {
                found.append(try await ask(for: dependency, from: index, with: resolver))
            }
            return found
        }
    }

    private func ask(for dependency: Int, from index: Int, with resolver: Resolver) async throws -> Node? {
        let asker = model.nodes[index]
        let asked = model.nodes[dependency]
        do {
            let isCaptured = asker.style == .capturedContainer && asked.sharing == .singleton
            if isCaptured || asker.home != asked.home {
                let container = containers.withLock { $0.isEmpty ? nil : $0[asked.home] }
                guard let container else { throw CancellationError() }
                return try await container.resolve(Node.self, qualifier: NodeID(index: dependency))
            }
            return try await resolver.resolve(Node.self, qualifier: NodeID(index: dependency))
        } catch ResolutionError.Code.circularDependency where goesOnWithoutCycle {
            return nil
        }
    }
}
