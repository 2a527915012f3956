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
    /// The key of the service that this forwards to, decorated or not.
    var forwardedKey: ServiceKey? { get }
    /// The table's own; small, because memory holds no more registrations than it can count.
    var position: Int32 { get set }
}

extension Binding: Registered {}

/// The registrations of one container: duplicates, order, and what there is of each service.
///
/// Which of them a key has is known to the container's ``InstanceTable``, and told to this one: a second look-up would
/// take as long as all else that a registration costs.
///
/// A pure value, but for the positions that it notes in its records.
struct RegistrationTable<Record: Registered> {
    /// In the order in which they came; nil where one has gone.
    private var records: [Record?] = []
    private var gone = 0
    // The records that have something in common, once some of them were requested; dropped again once positions
    // have changed.
    private var byService: RegistrationIndex<ObjectIdentifier>?
    private var byName: RegistrationIndex<ServiceName>?
    private var byTarget: RegistrationIndex<ServiceKey>?

    var isEmpty: Bool { count == 0 }
    var count: Int { records.count - gone }

    enum AddAction {
        case added
        case replaced(Record)
        case kept
        case rejected
    }

    /// Makes room for records that are about to come.
    mutating func reserve(_ additional: Int) { records.reserveCapacity(records.count + additional) }

    /// Adds a record, beside the one that its key has already.
    ///
    /// One that replaces another comes last, but for a contribution: that one has the place of its predecessor.
    mutating func add(_ record: Record, beside old: Record?, onDuplicate policy: DuplicatePolicy) -> AddAction {
        guard let old else {
            append(record)
            return .added
        }
        switch policy {
        case .keep: return .kept
        case .reject: return .rejected
        case .replace where record.key.isContribution:
            exchange(old, for: record)
            return .replaced(old)
        case .replace:
            remove(old)
            append(record)
            return .replaced(old)
        }
    }

    private mutating func append(_ record: Record) {
        record.position = Int32(records.count)
        records.append(record)
        byService?.add(record.position, to: ObjectIdentifier(record.key.service))
        byName?.add(record.position, to: ServiceName(record.key))
        if let target = record.forwardedKey { byTarget?.add(record.position, to: target) }
    }

    /// Puts a record where another one of the same key was.
    mutating func exchange(_ old: Record, for new: Record) {
        let index = Int(old.position)
        precondition(records[index] === old, "only what was added is exchanged")
        new.position = old.position
        records[index] = new
        if old.forwardedKey != new.forwardedKey { byTarget = nil }
    }

    /// Removes a record that is there.
    mutating func remove(_ record: Record) {
        let index = Int(record.position)
        precondition(records[index] === record, "only what was added is removed")
        records[index] = nil
        gone += 1
        if gone > 16, gone * 2 > records.count { return closeGaps() }
        let records = records
        let isThere = { (position: Int32) in records[Int(position)] != nil }
        byService?.remove(from: ObjectIdentifier(record.key.service), where: isThere)
        byName?.remove(from: ServiceName(record.key), where: isThere)
        if let target = record.forwardedKey { byTarget?.remove(from: target, where: isThere) }
    }

    mutating func removeAll() {
        records = []
        gone = 0
        forgetIndexes()
    }

    private mutating func closeGaps() {
        records.removeAll { $0 == nil }
        for (position, record) in records.enumerated() { record?.position = Int32(position) }
        gone = 0
        forgetIndexes()
    }

    private mutating func forgetIndexes() {
        byService = nil
        byName = nil
        byTarget = nil
    }

    /// Every registration in the order in which they came.
    var inOrder: [Record] { records.compactMap(\.self) }
    func forEach(_ body: (Record) -> Void) { for case let record? in records { body(record) } }

    /// The registrations of a service in the order in which they came, whatever their qualifiers and arguments.
    mutating func records(of service: any Any.Type) -> [Record] {
        if byService == nil { byService = RegistrationIndex(records) { ObjectIdentifier($0.key.service) } }
        return records(at: byService?[ObjectIdentifier(service)])
    }

    /// The keys of a service, whatever their qualifiers and arguments.
    mutating func keys(of service: any Any.Type) -> [ServiceKey] { records(of: service).map(\.key) }

    /// The registrations of a service with this qualifier in the order in which they came, whatever their arguments and
    /// roles.
    ///
    /// Takes no longer when the service has many qualifiers.
    mutating func records(named name: ServiceName) -> [Record] {
        if byName == nil { byName = RegistrationIndex(records) { ServiceName($0.key) } }
        return records(at: byName?[name])
    }

    /// What was contributed to a service, in the order in which it came.
    mutating func contributions(to name: ServiceName) -> [Record] { records(named: name).filter(\.key.isContribution) }

    /// The registrations of types that are forwarded to a service, in the order in which they came.
    mutating func records(forwardingTo key: ServiceKey) -> [Record] {
        if byTarget == nil { byTarget = RegistrationIndex(records) { $0.forwardedKey } }
        return records(at: byTarget?[key])
    }

    private func records(at positions: [Int32]?) -> [Record] { positions?.compactMap { records[Int($0)] } ?? [] }
}

/// Where in a ``RegistrationTable`` the records are that have something in common.
///
/// A position whose record has gone stays in its list until those outnumber the others: removing one takes constant
/// time, however many are listed beside it.
private struct RegistrationIndex<Group: Hashable> {
    private struct List {
        var positions: [Int32]
        var gone = 0
    }

    private var lists: [Group: List] = [:]

    init<Record: Registered>(_ records: [Record?], group: (Record) -> Group?) {
        for case let record? in records {
            if let group = group(record) { add(record.position, to: group) }
        }
    }

    /// The positions of a group in their order, some of which may have no record any more.
    subscript(group: Group) -> [Int32]? { lists[group]?.positions }

    /// Adds a position, which comes after all others.
    mutating func add(_ position: Int32, to group: Group) {
        lists[group, default: List(positions: [])].positions.append(position)
    }

    /// The record of one position has gone.
    mutating func remove(from group: Group, where isThere: (Int32) -> Bool) {
        guard let index = lists.index(forKey: group) else { return }
        lists.values[index].gone += 1
        let list = lists.values[index]
        guard list.gone * 2 > list.positions.count else { return }
        lists.values[index] = List(positions: [])
        let remaining = list.positions.filter(isThere)
        if remaining.isEmpty { lists.remove(at: index) } else { lists.values[index] = List(positions: remaining) }
    }

    /// What must hold between any two calls.
    func checkInvariants<Record: Registered>(_ records: [Record?], group: (Record) -> Group?) {
        let living = RegistrationIndex(records, group: group)
        precondition(Set(lists.keys).isSuperset(of: living.lists.keys), "every record is listed")
        for (key, list) in lists {
            precondition(!list.positions.isEmpty && list.gone * 2 <= list.positions.count, "gaps take little room")
            precondition(list.positions == list.positions.sorted(), "lists are in order")
            let there = list.positions.filter { records[Int($0)] != nil }
            precondition(there == living[key] ?? [], "lists have what is there, once")
            precondition(there.count + list.gone == list.positions.count, "what has gone is counted")
        }
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
        byService?.checkInvariants(records) { ObjectIdentifier($0.key.service) }
        byName?.checkInvariants(records) { ServiceName($0.key) }
        byTarget?.checkInvariants(records) { $0.forwardedKey }
    }
}
