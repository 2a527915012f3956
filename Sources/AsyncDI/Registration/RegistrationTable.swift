/// The result of registering a key a second time in one container.
@nonexhaustive
public enum DuplicatePolicy: Sendable, Hashable {
    /// The new registration takes the place of the old one, whose instances are disposed.
    case replace
    /// The first registration stays; the second is ignored.
    case keep
    /// The second registration throws ``ResolutionError/Code/duplicateRegistration``.
    case reject
}

/// An element of a ``RegistrationTable``: it knows its key, and its position in the list.
protocol Registered: AnyObject {
    var key: ServiceKey { get }
    /// The key of the service that this one forwards to, decorated or not.
    var forwardedKey: ServiceKey? { get }
    /// The table's own field; small, because memory holds no more registrations than it can count.
    var position: Int32 { get set }
}

extension Binding: Registered {}

/// The registrations of one container: duplicates, order, and the registrations of each service.
///
/// The container's ``InstanceTable`` knows the registration of each key, and passes it to this table: a second look-up
/// would take as long as the rest of registering.
///
/// A pure value, except for the positions that it notes in its records.
struct RegistrationTable<Record: Registered> {
    /// In the order of registration; nil where a record was removed.
    private var records: [Record?] = []
    /// The number of nils; 32 bits, so that scopes take less memory.
    private var gone: Int32 = 0
    /// Whether a contribution was added: few containers have any; for the others, no groups are built.
    private var hasContributions = false
    // Groups of related records, built at the first request for such a group; dropped after positions change.
    private var byService: RegistrationIndex<ObjectIdentifier>?
    private var byName: RegistrationIndex<ServiceName>?
    private var byTarget: RegistrationIndex<ServiceKey>?
    /// Keys of groups and whole groups, to be released outside the container's lock.
    ///
    /// A group's key may be that of a record that is gone, and hold the last reference to a qualifier.
    private var dropped: [any Sendable] = []

    var isEmpty: Bool { count == 0 }
    var count: Int { records.count - Int(gone) }

    enum AddAction {
        case added
        case replaced(Record)
        case kept
        case rejected
    }

    /// Reserves room for further records.
    mutating func reserve(_ additional: Int) { records.reserveCapacity(records.count + additional) }

    /// Adds a record, beside an existing one with its key.
    ///
    /// A replacement comes last, except a contribution, which takes the place of its predecessor.
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
        if record.key.isContribution { hasContributions = true }
        byService?.add(record.position, to: ObjectIdentifier(record.key.service))
        byName?.add(record.position, to: ServiceName(record.key))
        if let target = record.forwardedKey { byTarget?.add(record.position, to: target) }
    }

    /// Puts a record in the place of another one with the same key.
    mutating func exchange(_ old: Record, for new: Record) {
        let index = Int(old.position)
        precondition(records[index] === old, "only what was added is exchanged")
        new.position = old.position
        records[index] = new
        if old.forwardedKey != new.forwardedKey { dropTargets() }
    }

    private mutating func dropTargets() {
        if let byTarget = byTarget.take() { dropped.append(byTarget) }
    }

    /// Whether ``takeDropped()`` returns something.
    var hasDropped: Bool { !dropped.isEmpty }

    /// Removes the dropped keys and groups, and returns them in an object.
    mutating func takeDropped() -> AnyObject {
        defer { dropped = [] }
        return Shared(dropped)
    }

    /// Removes a record of the table.
    mutating func remove(_ record: Record) {
        let index = Int(record.position)
        precondition(records[index] === record, "only what was added is removed")
        records[index] = nil
        gone += 1
        if gone > 16, Int(gone) * 2 > records.count { return closeGaps() }
        let records = records
        let isThere = { (position: Int32) in records[Int(position)] != nil }
        byService?.remove(from: ObjectIdentifier(record.key.service), where: isThere)
        if let name = byName?.remove(from: ServiceName(record.key), where: isThere) { dropped.append(name) }
        if let target = record.forwardedKey, let group = byTarget?.remove(from: target, where: isThere) {
            dropped.append(group)
        }
    }

    mutating func removeAll() { self = RegistrationTable() }

    private mutating func closeGaps() {
        records.removeAll { $0 == nil }
        for (position, record) in records.enumerated() { record?.position = Int32(position) }
        gone = 0
        byService = nil
        if let byName = byName.take() { dropped.append(byName) }
        dropTargets()
    }

    /// All registrations in order.
    var inOrder: [Record] { records.compactMap(\.self) }
    func forEach(_ body: (Record) -> Void) { for case let record? in records { body(record) } }

    /// The registrations of a service in order, whatever their qualifiers and arguments.
    mutating func records(of service: any Any.Type) -> [Record] {
        if byService == nil { byService = RegistrationIndex(records) { ObjectIdentifier($0.key.service) } }
        return records(at: byService?[ObjectIdentifier(service)])
    }

    /// The keys of a service, whatever their qualifiers and arguments.
    mutating func keys(of service: any Any.Type) -> [ServiceKey] { records(of: service).map(\.key) }

    /// The registrations of a service with this qualifier in order, whatever their arguments and roles.
    ///
    /// The time does not depend on the number of the service's qualifiers.
    mutating func records(named name: ServiceName) -> [Record] {
        records(at: positions(named: name))
    }

    /// The keys of a service with this qualifier, whatever their arguments and roles.
    ///
    /// The index of names is only built if the service has many registrations: each missing optional service asks for
    /// its name.
    mutating func keys(named name: ServiceName) -> [ServiceKey] {
        let all = byName == nil ? records(of: name.service) : []
        if byName == nil, all.count <= 32 { return all.map(\.key).filter { ServiceName($0) == name } }
        return records(named: name).map(\.key)
    }

    private mutating func positions(named name: ServiceName) -> [Int32]? {
        if byName == nil { byName = RegistrationIndex(records) { ServiceName($0.key) } }
        return byName?[name]
    }

    /// The contributions to a service, in order.
    mutating func contributions(to name: ServiceName) -> [Record] {
        hasContributions ? records(named: name).filter(\.key.isContribution) : []
    }

    /// The keys of the contributions to a service, in order.
    ///
    /// In one array, because each request for all contributions needs them.
    mutating func contributionKeys(to name: ServiceName) -> [ServiceKey] {
        guard hasContributions, let positions = positions(named: name) else { return [] }
        var keys: [ServiceKey] = []
        keys.reserveCapacity(positions.count)
        for position in positions {
            if let record = records[Int(position)], record.key.isContribution { keys.append(record.key) }
        }
        return keys
    }

    /// The registrations of types that are forwarded to a service, in order.
    mutating func records(forwardingTo key: ServiceKey) -> [Record] {
        if byTarget == nil { byTarget = RegistrationIndex(records) { $0.forwardedKey } }
        return records(at: byTarget?[key])
    }

    private func records(at positions: [Int32]?) -> [Record] { positions?.compactMap { records[Int($0)] } ?? [] }
}

/// The positions of related records in a ``RegistrationTable``.
///
/// The position of a removed record stays in its list until removed ones are the majority: a removal takes constant
/// time, however many positions are listed beside it.
private struct RegistrationIndex<Group: Hashable & Sendable>: Sendable {
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

    /// The positions of a group in order; some may have lost their records.
    subscript(group: Group) -> [Int32]? { lists[group]?.positions }

    /// Adds a position, which comes after all others.
    mutating func add(_ position: Int32, to group: Group) {
        lists[group, default: List(positions: [])].positions.append(position)
    }

    /// Notes the removal of the record at one position.
    ///
    /// - Returns: The group's key, if the group is empty now.
    @discardableResult
    mutating func remove(from group: Group, where isThere: (Int32) -> Bool) -> Group? {
        guard let index = lists.index(forKey: group) else { return nil }
        lists.values[index].gone += 1
        let list = lists.values[index]
        guard list.gone * 2 > list.positions.count else { return nil }
        lists.values[index] = List(positions: [])
        let remaining = list.positions.filter(isThere)
        if remaining.isEmpty { return lists.remove(at: index).key }
        lists.values[index] = List(positions: remaining)
        return nil
    }

    /// The invariants between any two calls.
    func checkInvariants<Record: Registered>(_ records: [Record?], group: (Record) -> Group?) {
        let living = RegistrationIndex(records, group: group)
        precondition(Set(lists.keys).isSuperset(of: living.lists.keys), "every record is listed")
        for (key, list) in lists {
            precondition(!list.positions.isEmpty && list.gone * 2 <= list.positions.count, "gaps take little room")
            precondition(list.positions == list.positions.sorted(), "lists are in order")
            let there = list.positions.filter { records[Int($0)] != nil }
            precondition(there == living[key] ?? [], "lists have the registrations, once")
            precondition(there.count + list.gone == list.positions.count, "what has gone is counted")
        }
    }
}

extension RegistrationTable {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(
            records.enumerated().allSatisfy { $1.map { Int($0.position) } ?? $0 == $0 }, "records know their positions")
        precondition(Int(gone) == records.count { $0 == nil }, "removed records are counted")
        precondition(gone <= 16 || Int(gone) * 2 <= records.count, "gaps take little room")
        precondition(Set(inOrder.map(\.key)).count == inOrder.count, "a key has one record")
        precondition(hasContributions || !inOrder.contains { $0.key.isContribution }, "contributions are known")
        byService?.checkInvariants(records) { ObjectIdentifier($0.key.service) }
        byName?.checkInvariants(records) { ServiceName($0.key) }
        byTarget?.checkInvariants(records) { $0.forwardedKey }
    }
}
