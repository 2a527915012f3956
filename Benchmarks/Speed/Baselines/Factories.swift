/// Baseline **F**: M that stores async factories, and calls them outside the lock.
///
/// `@unchecked Sendable` because the dictionary is touched only while the mutex is held.
final class Factories: @unchecked Sendable {
    typealias Make<Value> = nonisolated(nonsending) @Sendable (Factories) async throws -> Value
    typealias MakeWith<Argument, Value> = nonisolated(nonsending) @Sendable (Factories, Argument) async throws -> Value
    typealias MakeShared<Value> = nonisolated(nonsending) @Sendable (Factories, Graph) async throws -> Value

    private let mutex = Mutex()
    private var cells: [ObjectIdentifier: Cell] = [:]

    private func put<Value>(_ cell: Cell, for type: Value.Type) {
        mutex.withLock { cells[ObjectIdentifier(type)] = cell }
    }

    private func cell<Value>(for type: Value.Type) throws -> Cell {
        try mutex.withLock {
            guard let cell = cells[ObjectIdentifier(type)] else { throw Missing() }
            return cell
        }
    }

    // MARK: A new instance each time

    func register<Value: Sendable>(_ type: Value.Type, _ make: @escaping Make<Value>) {
        put(TypedCell(make), for: type)
    }

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type) async throws -> Value {
        try await unsafeDowncast(cell(for: type), to: TypedCell<Make<Value>>.self).value(self)
    }

    // MARK: With an argument

    func register<Argument: Sendable, Value: Sendable>(
        _ type: Value.Type, _ make: @escaping MakeWith<Argument, Value>
    ) {
        put(TypedCell(make), for: type)
    }

    nonisolated(nonsending) func resolve<Argument: Sendable, Value: Sendable>(
        _ type: Value.Type, _ argument: Argument
    ) async throws -> Value {
        try await unsafeDowncast(cell(for: type), to: TypedCell<MakeWith<Argument, Value>>.self).value(self, argument)
    }

    // MARK: Existing instances

    func store<Value: Sendable>(_ type: Value.Type, _ value: Value) { put(TypedCell(value), for: type) }

    nonisolated(nonsending) func ready<Value: Sendable>(_ type: Value.Type) async throws -> Value {
        try mutex.withLock {
            guard let cell = cells[ObjectIdentifier(type)] else { throw Missing() }
            return unsafeDowncast(cell, to: TypedCell<Value>.self).value
        }
    }

    // MARK: Shared within one graph

    /// The instances of one resolution: so few that looking through them is faster than hashing.
    final class Graph: @unchecked Sendable {
        fileprivate var instances: [(type: ObjectIdentifier, cell: Cell)] = []
    }

    func registerShared<Value: Sendable>(_ type: Value.Type, _ make: @escaping MakeShared<Value>) {
        put(TypedCell(make), for: type)
    }

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type, in graph: Graph) async throws -> Value {
        let identifier = ObjectIdentifier(type)
        if let known = graph.instances.first(where: { $0.type == identifier }) {
            return unsafeDowncast(known.cell, to: TypedCell<Value>.self).value
        }
        let value = try await unsafeDowncast(cell(for: type), to: TypedCell<MakeShared<Value>>.self).value(self, graph)
        graph.instances.append((identifier, TypedCell(value)))
        return value
    }
}
