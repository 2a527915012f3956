import Testing

@testable import AsyncDI

private struct Red {}
private struct Blue {}

/// The registrations of one container: duplicates, order, near misses.
@Suite(.timeLimit(.minutes(10))) struct RegistrationTableTests {
    private typealias Table = RegistrationTable<Int>

    /// What adding did, as a value to compare.
    private enum Added: Equatable {
        case added, kept, rejected
        case replaced(Int)

        init(_ action: Table.AddAction) {
            switch action {
            case .added: self = .added
            case .replaced(let old): self = .replaced(old)
            case .kept: self = .kept
            case .rejected: self = .rejected
            }
        }
    }

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
        #expect(table.isEmpty)
        #expect(table[red] == nil)
        #expect(Added(table.add(1, for: red, onDuplicate: .reject)) == .added)
        #expect(table[red] == 1)
        #expect(table[ServiceKey(Blue.self)] == nil)
        #expect(!table.isEmpty)
        table.checkInvariants()
    }

    @Test func `a duplicate replaces, is ignored or is rejected`() {
        var table = Table()
        _ = table.add(1, for: red, onDuplicate: .replace)
        #expect(Added(table.add(2, for: red, onDuplicate: .keep)) == .kept)
        #expect(table[red] == 1)
        #expect(Added(table.add(3, for: red, onDuplicate: .reject)) == .rejected)
        #expect(table[red] == 1)
        #expect(Added(table.add(4, for: red, onDuplicate: .replace)) == .replaced(1))
        #expect(table[red] == 4)
        table.checkInvariants()
    }

    @Test(arguments: [DuplicatePolicy.replace, .keep, .reject])
    func `keys that differ in anything are no duplicates`(policy: DuplicatePolicy) {
        var table = Table()
        for (index, key) in Self.keys.enumerated() {
            #expect(Added(table.add(index, for: key, onDuplicate: policy)) == .added)
        }
        for (index, key) in Self.keys.enumerated() { #expect(table[key] == index) }
        table.checkInvariants()
    }

    @Test func `registrations are in the order in which they came, and a replacement comes last`() {
        var table = Table()
        for (index, key) in Self.keys.prefix(4).enumerated() { _ = table.add(index, for: key, onDuplicate: .replace) }
        #expect(table.inOrder.map(\.record) == [0, 1, 2, 3])
        _ = table.add(9, for: Self.keys[1], onDuplicate: .replace)
        #expect(table.inOrder.map(\.record) == [0, 2, 3, 9])
        _ = table.add(8, for: Self.keys[0], onDuplicate: .keep)
        table.update(7, for: Self.keys[2])
        #expect(table.inOrder.map(\.record) == [0, 7, 3, 9])
        #expect(table.inOrder.map(\.key) == [0, 2, 3, 1].map { Self.keys[$0] })
    }

    @Test func `an update of what is not registered does nothing`() {
        var table = Table()
        table.update(1, for: red)
        #expect(table[red] == nil)
        table.checkInvariants()
    }

    @Test func `what was removed is gone, and can be added again`() {
        var table = Table()
        _ = table.add(1, for: red, onDuplicate: .reject)
        #expect(table.remove(red) == 1)
        #expect(table.remove(red) == nil)
        #expect(table.isEmpty)
        #expect(table.keys(of: Red.self).isEmpty)
        table.checkInvariants()
        #expect(Added(table.add(2, for: red, onDuplicate: .reject)) == .added)
        table.removeAll()
        #expect(table.isEmpty)
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
        #expect(Set(table.keys(of: Red.self)) == [withInt, named, namedWithInt, making])
        #expect(table.keys(of: Blue.self) == [other])
        #expect(table.keys(of: Int.self).isEmpty)
    }

    @Test func `random operations agree with a list`() throws {
        for seed in 0..<1_000 { try runRandomOperations(seed: UInt64(seed)) }
    }

    private func runRandomOperations(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var table = Table()
        var model: [(key: ServiceKey, record: Int)] = []
        for record in 0..<40 {
            let key = random.pick(Self.keys)
            let index = model.firstIndex { $0.key == key }
            switch random.below(8) {
            case 0..<4:
                let policy = random.pick([DuplicatePolicy.replace, .keep, .reject])
                var expected = Added.added
                if let index {
                    switch policy {
                    case .keep: expected = .kept
                    case .reject: expected = .rejected
                    case .replace: expected = .replaced(model.remove(at: index).record)
                    }
                }
                if index == nil || policy == .replace { model.append((key, record)) }
                try #require(Added(table.add(record, for: key, onDuplicate: policy)) == expected, "seed \(seed)")
            case 4:
                table.update(record, for: key)
                if let index { model[index].record = record }
            case 5..<7:
                try #require(table.remove(key) == index.map { model.remove(at: $0).record }, "seed \(seed)")
            default:
                if random.chance(0.1) {
                    table.removeAll()
                    model = []
                }
            }
            table.checkInvariants()
            try #require(table.inOrder.map(\.record) == model.map(\.record), "seed \(seed)")
            try #require(table[key] == model.first { $0.key == key }?.record, "seed \(seed)")
            let sameService = model.map(\.key).filter { $0.service == key.service }
            try #require(Set(table.keys(of: key.service)) == Set(sameService), "seed \(seed)")
        }
    }
}
