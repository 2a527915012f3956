import AsyncDI
import Testing

/// Resets of arguments and of everything that go up; ``ResetTests`` has those of a lifetime and a service.
@Suite(.timeLimit(.minutes(10))) struct ResetThroughAncestorsTests {
    @Test(arguments: [nil, "q"])
    func `throughAncestors works for arguments, and leaves other arguments and qualifiers`(
        qualifier: String?
    ) async throws {
        let disposed = Log<Int>()
        func thing(_ base: Int, _ qualifier: String?) -> Registration<Thing> {
            Registration(Thing.self, qualifier: qualifier, lifetime: .multiton) { (_, number: Int, _: String) in
                Thing(base + number)
            }
            .onDispose { disposed.append($0.number) }
        }
        let root = Container {
            thing(100, qualifier)
            thing(1000, "other")
        }
        let middle = Container(parent: root) { thing(200, qualifier) }
        let leaf = Container(parent: middle)
        for number in [1, 2] {
            _ = try await root.resolve(Thing.self, qualifier: qualifier, arguments: number, "a")
            _ = try await leaf.resolve(Thing.self, qualifier: qualifier, arguments: number, "a")
            _ = try await leaf.resolve(Thing.self, qualifier: "other", arguments: number, "a")
        }
        try await leaf.reset(Thing.self, qualifier: qualifier, arguments: 1, "a")
        try await leaf.reset(Thing.self, qualifier: qualifier, arguments: 1, "a", throughAncestors: false)
        try await leaf.reset(Thing.self, qualifier: qualifier, arguments: 1, "b", throughAncestors: true)
        #expect(disposed.entries.isEmpty)
        try await leaf.reset(Thing.self, qualifier: qualifier, arguments: 1, "a", throughAncestors: true)
        #expect(disposed.entries == [201, 101])
    }

    @Test func `throughAncestors resets the scope's own instance and the ancestors' of a scoped service`() async throws
    {
        let disposed = Log<String>()
        let root = Container(name: "root") {
            Registration(Log<String>.self, lifetime: .scoped) { (_, name: String) in
                let log = Log<String>()
                log.append(name)
                return log
            }
            .onDispose { log in disposed.append(log.entries.joined()) }
        }
        let scope = try await root.openScope("scope")
        _ = try await root.resolve(Log<String>.self, arguments: "a")
        _ = try await scope.resolve(Log<String>.self, arguments: "a")
        _ = try await scope.resolve(Log<String>.self, arguments: "b")
        try await scope.reset(Log<String>.self, arguments: "a", throughAncestors: true)
        #expect(disposed.entries == ["a", "a"])
    }

    @Test func `throughAncestors goes by the key of a keyedBy registration, and by the target of a forwarded type`()
        async throws
    {
        let root = Container {
            Registration(NamedObject.self, keyedBy: { (text: String) in text.lowercased() }) { _, text in
                NamedObject(name: text)
            }
            .implements((any NamedService).self)
        }
        let child = Container(parent: root)
        let one = try await child.resolve(NamedObject.self, arguments: "One")
        let two = try await child.resolve(NamedObject.self, arguments: "Two")
        try await child.reset((any NamedService).self, arguments: "oNE", throughAncestors: true)
        #expect(try await child.resolve(NamedObject.self, arguments: "ONE") !== one)
        #expect(try await child.resolve(NamedObject.self, arguments: "TWO") === two)
    }

    @Test func `throughAncestors works for everything`() async throws {
        let disposed = Log<Int>()
        func thing(_ number: Int) -> Registration<Thing> {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(number) }
                .onDispose { disposed.append($0.number) }
        }
        let root = Container { thing(1) }
        let child = Container(parent: root) { thing(2) }
        for container in [root, child] { _ = try await container.resolve(Thing.self) }
        try await child.reset(throughAncestors: false)
        #expect(disposed.entries == [2])
        _ = try await child.resolve(Thing.self)
        try await child.reset(throughAncestors: true)
        #expect(disposed.entries == [2, 2, 1])
    }

    @Test func `the errors of ancestors come back from a reset of arguments, which stops at none`() async throws {
        func failing(_ base: Int) -> Registration<Thing> {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(base + number) }
                .onDispose { throw TestError($0.number) }
        }
        let parent = Container { failing(10) }
        let child = Container(parent: parent) { failing(20) }
        for container in [parent, child] { _ = try await container.resolve(Thing.self, arguments: 1) }
        let error = await #expect(throws: DisposalError.self) {
            try await child.reset(Thing.self, arguments: 1, throughAncestors: true)
        }
        #expect(error?.errors as? [TestError] == [TestError(21), TestError(11)])
        #expect(await child.cachedArguments(of: Thing.self, Int.self).isEmpty)
        #expect(await parent.cachedArguments(of: Thing.self, Int.self).isEmpty)
    }

    @Test func `a reset that goes up from a container which was disposed with its parent throws disposed`()
        async throws
    {
        let root = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) } }
        let child = Container(parent: root)
        try await root.dispose()
        await expect(.disposed) { try await child.reset(Thing.self, throughAncestors: true) }
        await expect(.disposed) { try await child.reset(throughAncestors: true) }
    }
}
