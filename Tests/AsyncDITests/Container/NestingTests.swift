import Testing

@testable import AsyncDI

/// Counts itself while it is in memory, and notes when it goes.
private final class Held: Sendable {
    private let number: Int
    private let live: Locked<Int>
    private let ended: Log<Int>?

    init(_ number: Int = 0, live: Locked<Int>, ended: Log<Int>? = nil) {
        self.number = number
        self.live = live
        self.ended = ended
        live.withLock { $0 += 1 }
    }

    deinit {
        live.withLock { $0 -= 1 }
        ended?.append(number)
    }
}

/// Containers inside containers, as many as there may be: their end must not take more stack than there is.
@Suite(.timeLimit(.minutes(10))) struct NestingTests {
    private static let depth = 50_000
    private let live = Locked(0)

    private func root() -> Container {
        Container { [live] in
            Registration(Held.self, lifetime: .scoped) { _ in Held(live: live) }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(7) }
        }
    }

    @Test func `a long chain of bodies, each begun in the one before, may be dropped`() {
        var last = Body(begunBy: nil, isOfScope: true)
        weak let first = last
        for _ in 0..<Self.depth * 4 {
            last = Body(begunBy: Caller(activity: last, run: nil), isOfScope: true)
        }
        #expect(first != nil)
        last = Body(begunBy: nil)
        #expect(first == nil)
    }

    @Test func `deeply nested scopes may be dropped`() async throws {
        do {
            var scope = root()
            for number in 0..<Self.depth {
                scope = try await scope.openScope(number)
                if number.isMultiple(of: 1_000) { await Task.yield() }
                if number.isMultiple(of: 10_000) { _ = try await scope.resolve(Held.self) }
            }
            #expect(try await scope.resolve(Thing.self).number == 7, "what is far above is found")
            #expect(try scope.ready(Thing.self).number == 7)
            #expect(live.withLock { $0 } == Self.depth / 10_000)
        }
        #expect(live.withLock { $0 } == 0)
    }

    @Test func `misses, contributions and drains work in deeply nested scopes`() async throws {
        let root = root()
        var scope = root
        for number in 0..<20_000 {
            scope = try await scope.openScope(number)
            if number.isMultiple(of: 1_000) { await Task.yield() }
        }
        #expect(try await scope.optional(Bool.self) == nil)
        #expect(try await scope.resolveMany(Bool.self).isEmpty)
        await expect(.notRegistered) { try await scope.resolve(Bool.self) }
        #expect(!scope.core.hasResettableInstances)
        root.core.beginDraining()
        #expect(scope.table.isDraining)
        try await scope.dispose()
    }

    @Test(arguments: [false, true])
    func `deeply nested scopes are described, and disposed from above`(isDrained: Bool) async throws {
        let (root, depth) = (root(), 10_000)
        var scope: Container? = root
        for number in 0..<depth {
            scope = try await scope?.openScope(number)
            if number.isMultiple(of: 1_000) { await Task.yield() }
        }
        _ = try await scope?.resolve(Held.self)
        scope = nil
        #expect(root.activity().scopes.count == depth)
        // Each scope has a line, the innermost one another for its instance, the application's container three.
        #expect(root.debugDescription.utf8.count { $0 == UInt8(ascii: "\n") } == depth + 3)
        if isDrained { try await root.drain() } else { try await root.dispose() }
        #expect(live.withLock { $0 } == 0)
    }

    @Test func `deeply nested scopes whose handles are dropped may be dropped from above`() async throws {
        var application: Container? = root()
        var innermost = WeakCore(core: nil)
        do {
            var scope = application!
            for number in 0..<Self.depth {
                scope = try await scope.openScope()
                if number.isMultiple(of: 1_000) { await Task.yield() }
            }
            _ = try await scope.resolve(Held.self)
            innermost = WeakCore(core: scope.core)
        }
        #expect(live.withLock { $0 } == 1, "the scopes are open")
        #expect(innermost.core != nil)
        application = nil
        #expect(live.withLock { $0 } == 0)
        #expect(innermost.core == nil)
    }

    @Test func `deeply nested scopes whose handles are dropped get new ones`() async throws {
        let root = root()
        var core = root.core
        do {
            var scope = root
            for number in 0..<Self.depth {
                scope = try await scope.openScope(number)
                if number.isMultiple(of: 1_000) { await Task.yield() }
            }
            core = scope.core
        }
        let scope = try #require(core.handle())
        #expect(scope.core === core && core.handle() === scope)
        #expect(try await scope.resolve(Thing.self).number == 7)
    }

    @Test func `a long chain of children may be dropped`() async throws {
        do {
            var container = root()
            for number in 0..<Self.depth {
                container = Container(parent: container)
                if number.isMultiple(of: 1_000) { await Task.yield() }
                if number.isMultiple(of: 10_000) { _ = try await container.resolve(Held.self) }
            }
            #expect(try await container.resolve(Thing.self).number == 7)
            #expect(live.withLock { $0 } == Self.depth / 10_000)
        }
        #expect(live.withLock { $0 } == 0)
    }

    /// With parents, each container has another place to search after its fallback.
    @Test(arguments: [false, true])
    func `a long chain of fallbacks is searched, and may be dropped`(haveParents: Bool) async throws {
        let depth = 10_000
        do {
            let root = root()
            var container = root
            for number in 0..<depth {
                let parent = haveParents ? Container { Registration(instance: "\(number)") } : nil
                container = Container(parent: parent, fallbacks: [container])
                if number.isMultiple(of: 1_000) { await Task.yield() }
            }
            #expect(try await container.resolve(Thing.self).number == 7)
            #expect(try container.ready(Thing.self).number == 7)
            #expect(try await container.optional(Bool.self) == nil)
            #expect(try await container.resolveMany(Bool.self).isEmpty)
            await expect(.notRegistered) { try await container.resolve(Bool.self) }
            #expect(try await container.optional(String.self) == (haveParents ? "0" : nil), "the deepest is first")
            _ = try await container.resolve(Held.self)
            #expect(live.withLock { $0 } == 1)
            #expect(!container.core.hasResettableInstances)
            #expect(container.core.searchOrder.count == depth * (haveParents ? 2 : 1) + 1)
            #expect(container.core.searchOrder[depth] === root.core)
            try await container.validate()
            try await container.start()
            try await container.reset(throughAncestors: true)
        }
        #expect(live.withLock { $0 } == 0)
    }

    @Test func `a search goes through each fallback, with what that one searches, before the parent`() async throws {
        var all: [String: Container] = [:]
        func container(_ name: String, parent: Container? = nil, fallbacks: [Container] = []) -> Container {
            let container = Container(name: name, parent: parent, fallbacks: fallbacks)
            all[name] = container
            return container
        }
        let first = container("1", parent: container("12"), fallbacks: [container("11")])
        let second = container("2", fallbacks: [container("21"), container("22", fallbacks: [container("221")])])
        let root = container(
            "", parent: container("3", parent: container("32"), fallbacks: [container("31")]),
            fallbacks: [first, second])
        let order = ["", "1", "11", "12", "2", "21", "22", "221", "3", "31", "32"]
        #expect(root.core.searchOrder.map(\.name) == order)
        for name in order.reversed() {
            try await all[name]?.register(instance: name)
            #expect(try await root.resolve(String.self) == name)
        }
    }

    @Test func `a long chain of children and scopes may be dropped`() async throws {
        weak var middle: Container?
        do {
            var container = root()
            for number in 0..<Self.depth / 2 {
                if number.isMultiple(of: 2) {
                    container = Container(parent: container)
                } else {
                    container = try await container.openScope(number)
                }
                if number == Self.depth / 4 { middle = container }
            }
            _ = try await container.resolve(Held.self)
        }
        #expect(live.withLock { $0 } == 0)
        #expect(middle == nil)
    }

    @Test func `handles of nested scopes may be dropped in any order`() async throws {
        do {
            var container = root()
            var all = [container]
            for number in 0..<Self.depth / 2 {
                container = try await container.openScope(number)
                all.append(container)
            }
            _ = try await container.resolve(Held.self)
            container = all[0]
            var random = SystemRandomNumberGenerator()
            all.shuffle(using: &random)
            while all.count > 1 { all.removeLast() }
        }
        #expect(live.withLock { $0 } == 0)
    }

    @Test func `dropped children go before their parents`() async throws {
        let ended = Log<Int>()
        do {
            var container = Container()
            for number in 0..<4 {
                container = Container(parent: container) { [live] in
                    Registration(Held.self, lifetime: .singleton) { _ in Held(number, live: live, ended: ended) }
                }
                _ = try await container.resolve(Held.self)
            }
        }
        #expect(ended.entries == [3, 2, 1, 0])
    }

    @Test func `a link of a chain that another reference keeps stays`() async throws {
        var kept: Container?
        do {
            var container = root()
            for number in 0..<1000 {
                container = Container(parent: container)
                if number == 500 { kept = container }
            }
        }
        #expect(try await kept?.resolve(Thing.self).number == 7)
        _ = try await kept?.resolve(Held.self)
        #expect(live.withLock { $0 } == 1)
        kept = nil
        #expect(live.withLock { $0 } == 0)
    }
}
