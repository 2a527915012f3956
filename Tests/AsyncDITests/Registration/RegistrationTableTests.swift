import Testing

@testable import AsyncDI

private struct Red {}
private struct Blue {}

/// A record that is identified by a number.
private final class Record: Registered, CustomStringConvertible {
    let key: ServiceKey
    let number: Int
    let forwardedKey: ServiceKey?
    var position: Int32 = 0

    init(_ number: Int, _ key: ServiceKey, forwardingTo target: ServiceKey? = nil) {
        self.number = number
        self.key = key
        forwardedKey = target
    }

    var description: String { "\(number)" }
}

/// A table, with the record of each key that the container's instance table would keep.
private struct KeyedTable {
    var list = RegistrationTable<Record>()
    private var records: [ServiceKey: Record] = [:]

    /// The result of adding, as a value to compare.
    enum Added: Equatable {
        case added, kept, rejected
        case replaced(Int)
    }

    subscript(key: ServiceKey) -> Int? { records[key]?.number }
    var inOrder: [Int] { list.inOrder.map(\.number) }

    mutating func add(
        _ number: Int, for key: ServiceKey, forwardingTo target: ServiceKey? = nil, onDuplicate policy: DuplicatePolicy
    ) -> Added {
        let record = Record(number, key, forwardingTo: target)
        switch list.add(record, beside: records[key], onDuplicate: policy) {
        case .added:
            records[key] = record
            return .added
        case .replaced(let old):
            records[key] = record
            return .replaced(old.number)
        case .kept: return .kept
        case .rejected: return .rejected
        }
    }

    mutating func exchange(_ number: Int, for key: ServiceKey, forwardingTo target: ServiceKey? = nil) {
        guard let old = records[key] else { return }
        let new = Record(number, key, forwardingTo: target)
        list.exchange(old, for: new)
        records[key] = new
    }

    mutating func remove(_ key: ServiceKey) -> Int? {
        guard let record = records.removeValue(forKey: key) else { return nil }
        list.remove(record)
        return record.number
    }

    mutating func contributions(to service: any Any.Type, qualifier: String?) -> [Int] {
        let name = ServiceName(ServiceKey(service, qualifier: qualifier))
        let found = list.contributions(to: name)
        #expect(list.contributionKeys(to: name) == found.map(\.key))
        return found.map(\.number)
    }

    mutating func records(named key: ServiceKey) -> [Int] { list.records(named: ServiceName(key)).map(\.number) }
    mutating func records(forwardingTo key: ServiceKey) -> [Int] {
        list.records(forwardingTo: key).map(\.number)
    }

    mutating func removeAll() {
        list.removeAll()
        records = [:]
    }

    func checkInvariants() { list.checkInvariants() }
}

/// The registrations of one container: duplicates, order, near misses.
@Suite(.timeLimit(.minutes(10))) struct RegistrationTableTests {
    private typealias Table = KeyedTable

    private static let oneArgument: ArgumentPack.Type = Arguments<Int>.self
    private static let twoArguments: ArgumentPack.Type = Arguments<Int, String>.self

    /// Keys of every kind for two services.
    private static let keys: [ServiceKey] = [Red.self as Any.Type, Blue.self as Any.Type].flatMap { service in
        [nil, oneArgument, twoArguments].flatMap { arguments in
            [nil, "x", "y"].flatMap { qualifier in
                [false, true].map { isMaking in
                    ServiceKey(service, qualifier: qualifier, arguments: arguments, role: isMaking ? .making : .service)
                }
            }
        }
    }

    private let red = ServiceKey(Red.self)

    @Test func `a key is found after it was added, and not before`() {
        var table = Table()
        #expect(table.list.isEmpty)
        #expect(table[red] == nil)
        #expect(table.add(1, for: red, onDuplicate: .reject) == .added)
        #expect(table[red] == 1)
        #expect(table[ServiceKey(Blue.self)] == nil)
        #expect(!table.list.isEmpty)
        table.checkInvariants()
    }

    @Test func `a duplicate replaces, is ignored or is rejected`() {
        var table = Table()
        _ = table.add(1, for: red, onDuplicate: .replace)
        #expect(table.add(2, for: red, onDuplicate: .keep) == .kept)
        #expect(table[red] == 1)
        #expect(table.add(3, for: red, onDuplicate: .reject) == .rejected)
        #expect(table[red] == 1)
        #expect(table.add(4, for: red, onDuplicate: .replace) == .replaced(1))
        #expect(table[red] == 4)
        table.checkInvariants()
    }

    @Test(arguments: [DuplicatePolicy.replace, .keep, .reject])
    func `keys that differ in anything are no duplicates`(policy: DuplicatePolicy) {
        var table = Table()
        for (index, key) in Self.keys.enumerated() {
            #expect(table.add(index, for: key, onDuplicate: policy) == .added)
        }
        for (index, key) in Self.keys.enumerated() { #expect(table[key] == index) }
        table.checkInvariants()
    }

    @Test func `registrations are in the order in which they came, and a replacement of a service comes last`() {
        var table = Table()
        for (index, key) in Self.keys.prefix(4).enumerated() { _ = table.add(index, for: key, onDuplicate: .replace) }
        #expect(table.inOrder == [0, 1, 2, 3])
        _ = table.add(9, for: Self.keys[1], onDuplicate: .replace)
        #expect(table.inOrder == [0, 2, 3, 9])
        _ = table.add(8, for: Self.keys[0], onDuplicate: .keep)
        table.exchange(7, for: Self.keys[2])
        #expect(table.inOrder == [0, 7, 3, 9])
        #expect(table.list.inOrder.map(\.key) == [0, 2, 3, 1].map { Self.keys[$0] })
    }

    @Test func `a removed key is gone, and can be added again`() {
        var table = Table()
        _ = table.add(1, for: red, onDuplicate: .reject)
        #expect(table.remove(red) == 1)
        #expect(table.remove(red) == nil)
        #expect(table.list.isEmpty)
        #expect(table.list.keys(of: Red.self).isEmpty)
        table.checkInvariants()
        #expect(table.add(2, for: red, onDuplicate: .reject) == .added)
        table.removeAll()
        #expect(table.list.isEmpty)
        table.checkInvariants()
    }

    @Test func `a service knows its keys`() {
        var table = Table()
        let withInt = ServiceKey(Red.self, arguments: Self.oneArgument)
        let named = ServiceKey(Red.self, qualifier: "x")
        let namedWithInt = ServiceKey(Red.self, qualifier: "x", arguments: Self.oneArgument)
        let making = ServiceKey(Red.self, role: .making)
        let other = ServiceKey(Blue.self)
        for key in [withInt, named, namedWithInt, making, other] { _ = table.add(0, for: key, onDuplicate: .reject) }
        #expect(Set(table.list.keys(of: Red.self)) == [withInt, named, namedWithInt, making])
        #expect(table.list.keys(of: Blue.self) == [other])
        #expect(table.list.keys(of: Int.self).isEmpty)
    }

    @Test func `contributions to a service come in order`() {
        var table = Table()
        let ids = (0..<3).map { _ in ContributionID() }
        let keys = ids.map { ServiceKey(Red.self, qualifier: "x", role: .contribution($0)) }
        _ = table.add(0, for: keys[0], onDuplicate: .replace)
        _ = table.add(1, for: keys[1], onDuplicate: .replace)
        #expect(table.contributions(to: Red.self, qualifier: "x") == [0, 1])
        _ = table.add(2, for: ServiceKey(Red.self, qualifier: "x"), onDuplicate: .replace)
        _ = table.add(3, for: ServiceKey(Red.self, role: .contribution(ids[0])), onDuplicate: .replace)
        _ = table.add(4, for: keys[0], onDuplicate: .replace)
        _ = table.add(5, for: keys[2], onDuplicate: .replace)
        table.exchange(6, for: keys[1])
        #expect(table.contributions(to: Red.self, qualifier: "x") == [4, 6, 5], "a replaced one keeps its place")
        #expect(table.contributions(to: Red.self, qualifier: nil) == [3])
        #expect(table.contributions(to: Blue.self, qualifier: nil).isEmpty)
        table.checkInvariants()
    }

    @Test func `names are the same whatever the arguments and the role`() {
        for first in Self.keys + Self.contributions {
            for second in Self.keys + Self.contributions {
                let (name, other) = (ServiceName(first), ServiceName(second))
                let areSame = first.service == second.service && areEqual(first.qualifier, second.qualifier)
                #expect((name == other) == areSame)
                #expect(!areSame || name.hashValue == other.hashValue)
            }
        }
    }

    @Test(arguments: [3, 100])
    func `a name's keys are found among few and among many`(count: Int) {
        var table = Table()
        for number in 0..<count {
            for arguments in [nil, Arguments<Int>.self] as [ArgumentPack.Type?] {
                let key = ServiceKey(Red.self, qualifier: .named("\(number)"), arguments: arguments)
                _ = table.add(number, for: key, onDuplicate: .replace)
            }
        }
        let key = ServiceKey(Red.self, qualifier: .named("1"))
        #expect(table.list.keys(named: ServiceName(key)).map(\.withoutArguments) == [key, key])
        #expect(table.list.keys(named: ServiceName(ServiceKey(Red.self))).isEmpty)
    }

    @Test func `many removals leave no gaps behind`() {
        var table = Table()
        for number in 0..<1_000 {
            _ = table.add(number, for: ServiceKey(Red.self, qualifier: "\(number)"), onDuplicate: .reject)
            if number.isMultiple(of: 97) { table.checkInvariants() }
        }
        for number in 0..<1_000 where !number.isMultiple(of: 10) {
            #expect(table.remove(ServiceKey(Red.self, qualifier: "\(number)")) == number)
            if number.isMultiple(of: 97) { table.checkInvariants() }
        }
        #expect(table.inOrder == Array(stride(from: 0, to: 1_000, by: 10)))
        table.checkInvariants()
    }

    @Test func `random operations agree with a list`() throws {
        for seed in 0..<400 { try runRandomOperations(seed: UInt64(seed)) }
    }

    private static let contributions: [ServiceKey] = [nil, "x"].flatMap { qualifier in
        (0..<4).map { ServiceKey(Red.self, qualifier: qualifier, role: .contribution(ContributionID(key: $0))) }
    }

    private func runRandomOperations(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var table = Table()
        var model: [(key: ServiceKey, record: Int, target: ServiceKey?)] = []
        for record in 0..<80 {
            let key = random.pick(Self.keys + Self.contributions)
            let target = random.chance(0.3) ? random.pick(Array(Self.keys.prefix(3))) : nil
            let index = model.firstIndex { $0.key == key }
            switch random.below(8) {
            case 0..<4:
                let policy = random.pick([DuplicatePolicy.replace, .keep, .reject])
                var expected = Table.Added.added
                switch (index, policy) {
                case (nil, _): model.append((key, record, target))
                case (_, .keep): expected = .kept
                case (_, .reject): expected = .rejected
                case (let index?, .replace):
                    expected = .replaced(model[index].record)
                    model[index] = (key, record, target)
                    if !key.isContribution { model.append(model.remove(at: index)) }
                }
                let added = table.add(record, for: key, forwardingTo: target, onDuplicate: policy)
                try #require(added == expected, "seed \(seed)")
            case 4:
                table.exchange(record, for: key, forwardingTo: target)
                if let index { model[index] = (key, record, target) }
            case 5..<7:
                try #require(table.remove(key) == index.map { model.remove(at: $0).record }, "seed \(seed)")
            default:
                if random.chance(0.1) {
                    table.removeAll()
                    model = []
                }
            }
            table.checkInvariants()
            try #require(table.inOrder == model.map(\.record), "seed \(seed)")
            try #require(table[key] == model.first { $0.key == key }?.record, "seed \(seed)")
            // The lists by service are built at the first request, and kept up from then on: both are tried.
            if record < Int(seed % 40) { continue }
            let sameService = model.map(\.key).filter { $0.service == key.service }
            try #require(table.list.keys(of: key.service) == sameService, "seed \(seed)")
            let sameName = model.filter { $0.key.service == key.service && areEqual($0.key.qualifier, key.qualifier) }
            try #require(table.records(named: key) == sameName.map(\.record), "seed \(seed)")
            let ofMany = sameName.filter(\.key.isContribution).map(\.record)
            try #require(
                table.contributions(to: key.service, qualifier: key.qualifier as? String) == ofMany, "seed \(seed)")
            guard let target else { continue }
            let forwarding = model.filter { $0.target == target }.map(\.record)
            try #require(table.records(forwardingTo: target) == forwarding, "seed \(seed)")
        }
    }
}
