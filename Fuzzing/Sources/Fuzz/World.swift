import AsyncDI

/// The number of a container: each has its own as an instance.
struct ContainerNumber: Sendable {
    let value: Int
}

/// The registrations of a program: its factories and hooks, and a record of their calls.
final class World: Sendable {
    struct Failure: Error {}

    struct Made: Sendable {
        let node: Node
        let place: ReferenceModel.Place
        /// The number of its run.
        let run: Int
    }

    private struct State {
        var begun: [ReferenceModel.Place] = []
        var made: [Made] = []
        /// The disposed nodes, in the order of their disposal.
        var disposed: [Node] = []
        var isDisposed: Set<ObjectIdentifier> = []
        var complaints: [String] = []
    }

    private let state = Locked(State())

    var begun: [ReferenceModel.Place] { state.withLock { $0.begun } }
    /// All instances of the factories, in order.
    ///
    /// They are kept, so that two instances never have the same address.
    var made: [Made] { state.withLock { $0.made } }
    var disposed: [Node] { state.withLock { $0.disposed } }
    var complaints: [String] { state.withLock { $0.complaints } }

    func isDisposed(_ node: Node) -> Bool { state.withLock { $0.isDisposed.contains(ObjectIdentifier(node)) } }

    func registration(_ number: Int, _ entry: ReferenceModel.Entry) -> Registration<Node> {
        let registration = Registration(
            Node.self, qualifier: NodeID(index: entry.node), lifetime: entry.sharing.lifetime
        ) { resolver in
            try await self.make(number, entry, with: resolver)
        }
        return switch entry.sharing {
        case .singleton, .scoped: registration.onDispose { node in await self.dispose(node) }
        case .graph, .transient, .weak: registration
        }
    }

    private func make(_ number: Int, _ entry: ReferenceModel.Entry, with resolver: Resolver) async throws -> Node {
        let isScoped = entry.sharing == .scoped
        let container = isScoped ? try await resolver.resolve(ContainerNumber.self).value : entry.owner
        let place = ReferenceModel.Place(entry: number, container: container)
        let run = state.withLock { state in
            state.begun.append(place)
            return state.begun.count - 1
        }
        var found: [Node] = []
        for dependency in entry.dependencies {
            found.append(try await resolver.resolve(Node.self, qualifier: NodeID(index: dependency)))
        }
        if number.isMultiple(of: 2) { await Task.yield() }
        let node = Node(index: entry.node, dependencies: found, registration: number)
        state.withLock { $0.made.append(Made(node: node, place: place, run: run)) }
        return node
    }

    private func dispose(_ node: Node) async {
        let isFirst = state.withLock { state in
            // The same end must not dispose the node's dependencies before the node; the player checks the order.
            state.disposed.append(node)
            return state.isDisposed.insert(ObjectIdentifier(node)).inserted
        }
        if !isFirst { state.withLock { $0.complaints.append("node \(node.index) was disposed twice") } }
        if node.index.isMultiple(of: 2) { await Task.yield() }
    }
}
