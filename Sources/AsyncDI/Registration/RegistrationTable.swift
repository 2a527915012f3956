/// What happens when a key is registered a second time in one container.
@nonexhaustive
public enum DuplicatePolicy: Sendable, Hashable {
    /// The new registration takes the place of the old one, whose instances are disposed.
    case replace
    /// The first registration stays; the second is ignored.
    case keep
    /// The second registration throws ``ResolutionError/Code/duplicateRegistration``.
    case reject
}

/// What a ``RegistrationTable`` lists: it knows its key, and where in the list it is.
protocol Registered: AnyObject {
    var key: ServiceKey { get }
    /// The table's own; small, because memory holds no more registrations than it can count.
    var position: Int32 { get set }
}

extension Recipe: Registered {}

/// The registrations of one container: duplicates, order, and what there is of each service.
///
/// Which of them a key has is known to the container's ``InstanceTable``, and told to this one: a second look-up would take as
/// long as all else that a registration costs.
///
/// A pure value, but for the positions that it notes in its records.
struct RegistrationTable<Record: Registered> {
    /// In the order in which they came; nil where one has gone.
    private var records: [Record?] = []
    private var gone = 0
    /// The records of each service in order, once somebody has asked for those of any.
    private var byService: [ObjectIdentifier: [Record]]?

    var isEmpty: Bool { records.count == gone }

    enum AddAction {
        case added
        case replaced(Record)
        case kept
        case rejected
    }

    /// Makes room for records that are about to come.
    mutating func reserve(_ additional: Int) { records.reserveCapacity(records.count + additional) }

    /// Adds a record, beside the one that its key has already.
    mutating func add(_ record: Record, beside old: Record?, onDuplicate policy: DuplicatePolicy) -> AddAction {
        guard let old else {
            append(record)
            return .added
        }
        switch policy {
        case .keep: return .kept
        case .reject: return .rejected
        case .replace:
            remove(old)
            append(record)
            return .replaced(old)
        }
    }

    private mutating func append(_ record: Record) {
        record.position = Int32(records.count)
        records.append(record)
        byService?[ObjectIdentifier(record.key.service), default: []].append(record)
    }

    /// Puts a record where another one of the same key was.
    mutating func exchange(_ old: Record, for new: Record) {
        let index = Int(old.position)
        precondition(records[index] === old, "only what was added is exchanged")
        new.position = old.position
        records[index] = new
        let service = ObjectIdentifier(old.key.service)
        if let index = byService?[service]?.firstIndex(where: { $0 === old }) { byService?[service]?[index] = new }
    }

    /// Removes a record that is there.
    mutating func remove(_ record: Record) {
        let index = Int(record.position)
        precondition(records[index] === record, "only what was added is removed")
        records[index] = nil
        gone += 1
        if gone > 16, gone * 2 > records.count { closeGaps() }
        let service = ObjectIdentifier(record.key.service)
        byService?[service]?.removeAll { $0 === record }
        if byService?[service]?.isEmpty == true { byService?[service] = nil }
    }

    mutating func removeAll() {
        records = []
        gone = 0
        byService = nil
    }

    private mutating func closeGaps() {
        records.removeAll { $0 == nil }
        for (position, record) in records.enumerated() { record?.position = Int32(position) }
        gone = 0
    }

    /// Every registration in the order in which they came.
    var inOrder: [Record] { records.compactMap(\.self) }

    /// The registrations of a service in the order in which they came, whatever their qualifiers and arguments.
    mutating func records(of service: any Any.Type) -> [Record] {
        if byService == nil { byService = Dictionary(grouping: inOrder) { ObjectIdentifier($0.key.service) } }
        return byService?[ObjectIdentifier(service)] ?? []
    }

    /// The keys of a service, whatever their qualifiers and arguments.
    mutating func keys(of service: any Any.Type) -> [ServiceKey] { records(of: service).map(\.key) }

    /// What was contributed to a service, in the order in which it came.
    mutating func contributions(to service: any Any.Type, qualifier: (any Qualifier)?) -> [Record] {
        records(of: service).filter { $0.key.isContribution && areEqual($0.key.qualifier, qualifier) }
    }
}

extension RegistrationTable {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(
            records.enumerated().allSatisfy { $1.map { Int($0.position) } ?? $0 == $0 }, "records know their positions")
        precondition(gone == records.count { $0 == nil }, "who has gone is counted")
        precondition(gone <= 16 || gone * 2 <= records.count, "gaps take little room")
        precondition(Set(inOrder.map(\.key)).count == inOrder.count, "a key has one record")
        guard let byService else { return }
        precondition(byService.values.map(\.count).reduce(0, +) == inOrder.count, "every record is listed once")
        for (service, records) in byService {
            precondition(!records.isEmpty, "no empty lists")
            precondition(records.allSatisfy { ObjectIdentifier($0.key.service) == service }, "lists agree")
            precondition(records.allSatisfy { self.records[Int($0.position)] === $0 }, "lists have what is there")
            let positions = records.map(\.position)
            precondition(positions == positions.sorted(), "lists are in order")
        }
    }
}
