import NotesService
import Synchronization

/// The open databases of tenants, with a count of their leases, written by hand.
///
/// It does for one type what the container does for a multiton: one opening at a time for each tenant, a capacity, an
/// idle time, no closing under a lease, and no opening before the predecessor has been closed.
final class TenantPool: Sendable {
    fileprivate enum Entry {
        case opening(Task<TenantDatabase, any Error>, leases: Int)
        case open(TenantDatabase, leases: Int, lastUse: ContinuousClock.Instant)
        case closing(Task<Void, Never>)
    }

    fileprivate struct State {
        var entries: [TenantName: Entry] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let files: TenantFiles
    private let capacity: Int

    init(files: TenantFiles, capacity: Int) {
        self.files = files
        self.capacity = capacity
    }

    /// Returns the database of a tenant, which stays open until `release(_:)`.
    func lease(_ tenant: TenantName) async throws -> TenantDatabase {
        while true {
            let entry = try state.withLock { try $0.join(tenant, opening: { self.opening(tenant) }) }
            switch entry {
            case .open(let database, _, _): return database
            case .closing(let task): await task.value
            case .opening(let task, _): return try await opened(task, tenant)
            }
        }
    }

    func release(_ tenant: TenantName) {
        state.withLock { state in
            guard case .open(let database, let leases, _) = state.entries[tenant] else { return }
            state.entries[tenant] = .open(database, leases: leases - 1, lastUse: .now)
            evict(from: &state, keeping: capacity)
        }
    }

    /// Closes the databases that have been unused since a point in time.
    func closeUnused(since limit: ContinuousClock.Instant) {
        state.withLock { state in
            for (tenant, entry) in state.entries {
                if case .open(let database, 0, let lastUse) = entry, lastUse < limit {
                    state.entries[tenant] = .closing(closing(database))
                }
            }
        }
    }

    /// Refuses new leases and closes everything.
    func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.entries.values.compactMap { entry in
                switch entry {
                case .open(let database, _, _): closing(database)
                case .closing(let task): task
                case .opening(let task, _): Task { try? await task.value.close() }
                }
            }
        }
        for task in tasks { await task.value }
    }

    private func opening(_ tenant: TenantName) -> Task<TenantDatabase, any Error> {
        Task { [files] in try await TenantDatabase.open(tenant, in: files) }
    }

    private func opened(_ task: Task<TenantDatabase, any Error>, _ tenant: TenantName) async throws -> TenantDatabase {
        let result = await task.result
        state.withLock { state in
            guard case .opening(let current, let leases) = state.entries[tenant], current == task else { return }
            switch result {
            case .success(let database):
                state.entries[tenant] = .open(database, leases: leases, lastUse: .now)
                evict(from: &state, keeping: capacity)
            case .failure: state.entries[tenant] = nil
            }
        }
        return try result.get()
    }

    /// Closes the least recently used databases without leases.
    private func evict(from state: inout State, keeping capacity: Int) {
        guard state.entries.count > capacity else { return }
        var open = state.entries.count { if case .closing = $0.value { false } else { true } }
        var unused: [(database: TenantDatabase, lastUse: ContinuousClock.Instant)] = []
        for case .open(let database, 0, let lastUse) in state.entries.values { unused.append((database, lastUse)) }
        for (database, _) in unused.sorted(by: { $0.lastUse < $1.lastUse }) where open > capacity {
            state.entries[database.tenant] = .closing(closing(database))
            open -= 1
        }
    }

    private func closing(_ database: TenantDatabase) -> Task<Void, Never> {
        Task {
            try? await database.close()
            state.withLock { $0.entries[database.tenant] = nil }
        }
    }
}

extension TenantPool.State {
    /// Takes a lease on an entry, or finds that it is closing.
    fileprivate mutating func join(
        _ tenant: TenantName, opening: () -> Task<TenantDatabase, any Error>
    ) throws -> TenantPool.Entry {
        guard !isClosed else { throw NotesError.closing }
        let entry: TenantPool.Entry =
            switch entries[tenant] {
            case .open(let database, let leases, _): .open(database, leases: leases + 1, lastUse: .now)
            case .opening(let task, let leases): .opening(task, leases: leases + 1)
            case .closing(let task): .closing(task)
            case nil: .opening(opening(), leases: 1)
            }
        entries[tenant] = entry
        return entry
    }
}
