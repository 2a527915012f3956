/// **F** with what it lacks to be used by tasks that start others: a task-local says which factory runs, so that a
/// request made in it is known to belong to it, and a graph may be asked by several tasks at once.
///
/// `@unchecked Sendable` because the dictionary is touched only while the mutex is held.
final class BindingFactories: @unchecked Sendable {
    typealias Make<Value> = nonisolated(nonsending) @Sendable (BindingFactories) async throws -> Value
    typealias MakeShared<Value> = nonisolated(nonsending) @Sendable (BindingFactories, Graph) async throws -> Value

    /// One run of a factory.
    final class Run: Sendable {
        @TaskLocal static var current: Run?
    }

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

    func register<Value: Sendable>(_ type: Value.Type, _ make: @escaping Make<Value>) {
        put(TypedCell(make), for: type)
    }

    func resolve<Value: Sendable>(
        _ type: Value.Type, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        let make = unsafeDowncast(try cell(for: type), to: TypedCell<Make<Value>>.self).value
        return try await Run.$current.withValue(Run()) {
            _ = isolation
            return try await make(self)
        }
    }

    /// The instances of one resolution, and the runs that are making some.
    ///
    /// `@unchecked Sendable` because both are touched only while the mutex is held.
    final class Graph: @unchecked Sendable {
        private let mutex = Mutex()
        private var instances: [(type: ObjectIdentifier, cell: Cell)] = []
        private var runs: [(type: ObjectIdentifier, run: Run)] = []

        /// The instance, or nil when it must be created in this run.
        fileprivate func begin(_ type: ObjectIdentifier, _ run: Run) throws -> Cell? {
            try mutex.withLock {
                if let known = instances.first(where: { $0.type == type }) { return known.cell }
                if runs.contains(where: { $0.type == type }) { throw Missing() }
                runs.append((type, run))
                return nil
            }
        }

        fileprivate func end(_ type: ObjectIdentifier, _ cell: Cell?) {
            mutex.withLock {
                runs.removeAll { $0.type == type }
                if let cell { instances.append((type, cell)) }
            }
        }
    }

    func registerShared<Value: Sendable>(_ type: Value.Type, _ make: @escaping MakeShared<Value>) {
        put(TypedCell(make), for: type)
    }

    func resolve<Value: Sendable>(
        _ type: Value.Type, in graph: Graph, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        let (identifier, run) = (ObjectIdentifier(type), Run())
        if let known = try graph.begin(identifier, run) {
            return unsafeDowncast(known, to: TypedCell<Value>.self).value
        }
        var made: Cell?
        defer { graph.end(identifier, made) }
        let make = unsafeDowncast(try cell(for: type), to: TypedCell<MakeShared<Value>>.self).value
        let value = try await Run.$current.withValue(run) {
            _ = isolation
            return try await make(self, graph)
        }
        made = TypedCell(value)
        return value
    }
}
