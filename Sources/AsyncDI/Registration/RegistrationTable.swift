/// What happens when a key is registered a second time in one container.
public enum DuplicatePolicy: Sendable, Hashable {
    /// The new registration takes the place of the old one, whose instances are disposed.
    case replace
    /// The first registration stays; the second is ignored.
    case keep
    /// The second registration throws ``ResolutionError/Code/duplicateRegistration``.
    case reject
}

/// The registrations of one container: duplicates, order, and what there is of each service.
///
/// A pure value.
struct RegistrationTable<Record> {
    private struct Entry {
        var record: Record
        var order: Int
    }

    private var entries: [ServiceKey: Entry] = [:]
    private var keysByService: [ObjectIdentifier: [ServiceKey]] = [:]
    private var nextOrder = 0

    var isEmpty: Bool { entries.isEmpty }

    subscript(key: ServiceKey) -> Record? { entries[key]?.record }

    enum AddAction {
        case added
        case replaced(Record)
        case kept
        case rejected
    }

    mutating func add(_ record: Record, for key: ServiceKey, onDuplicate policy: DuplicatePolicy) -> AddAction {
        let order = nextOrder
        guard let old = entries[key] else {
            nextOrder += 1
            entries[key] = Entry(record: record, order: order)
            keysByService[ObjectIdentifier(key.service), default: []].append(key)
            return .added
        }
        switch policy {
        case .keep: return .kept
        case .reject: return .rejected
        case .replace:
            nextOrder += 1
            entries[key] = Entry(record: record, order: order)
            return .replaced(old.record)
        }
    }

    /// Exchanges the record of a registered key in place.
    mutating func update(_ record: Record, for key: ServiceKey) { entries[key]?.record = record }

    mutating func remove(_ key: ServiceKey) -> Record? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        let service = ObjectIdentifier(key.service)
        keysByService[service]?.removeAll { $0 == key }
        if keysByService[service]?.isEmpty == true { keysByService[service] = nil }
        return entry.record
    }

    mutating func removeAll() {
        entries = [:]
        keysByService = [:]
    }

    /// Every registration in the order in which they came.
    var inOrder: [(key: ServiceKey, record: Record)] {
        entries.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.record) }
    }

    /// The keys of a service, whatever their qualifiers and arguments.
    func keys(of service: any Any.Type) -> [ServiceKey] { keysByService[ObjectIdentifier(service)] ?? [] }

    /// What was contributed to a service, in the order in which it came.
    func contributions(to service: any Any.Type, qualifier: (any Qualifier)?) -> [ServiceKey] {
        keys(of: service).filter { key in
            guard case .contribution = key.role else { return false }
            return areEqual(key.qualifier, qualifier)
        }
        .sorted { entries[$0]!.order < entries[$1]!.order }
    }
}

extension RegistrationTable {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(keysByService.values.map(\.count).reduce(0, +) == entries.count, "every key is listed once")
        for (service, keys) in keysByService {
            precondition(!keys.isEmpty, "no empty lists")
            for key in keys {
                precondition(entries[key] != nil && ObjectIdentifier(key.service) == service, "lists agree")
            }
        }
        precondition(Set(entries.values.map(\.order)).count == entries.count, "the order is total")
        precondition(entries.values.allSatisfy { $0.order < nextOrder }, "the order grows")
    }
}
