import AsyncDI
import Testing

private protocol Service: Sendable {
    var text: String { get }
}
private final class Base: Service {
    let text: String
    init(_ text: String = "base") { self.text = text }
}
private final class Wrapper: Service {
    let inner: any Service
    let name: String
    init(_ inner: any Service, _ name: String) {
        self.inner = inner
        self.name = name
    }
    var text: String { "\(name)(\(inner.text))" }
}

extension Decoration {
    fileprivate static func wrapping(_ name: String, qualifier: (any Qualifier)? = nil) -> Decoration {
        Decoration((any Service).self, qualifier: qualifier) { _, inner in Wrapper(inner, name) }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct DecorationTests {
    @Test(arguments: [Lifetime.transient, .graph, .singleton, .scoped, .weak, .multiton, Lifetime("custom")])
    func `a decorator wraps the instance, and several stack, whatever the lifetime`(lifetime: Lifetime) async throws {
        let container = Container {
            Decoration.wrapping("first")
            Registration((any Service).self, lifetime: lifetime) { _ in Base() }
            Decoration.wrapping("second")
        }
        let service = try await container.resolve((any Service).self)
        #expect(service.text == "second(first(base))")
        if ![.transient, .graph].contains(lifetime) {
            #expect(try await container.resolve((any Service).self) as AnyObject === service as AnyObject)
        }
    }

    @Test func `a decorator gets a resolver, and may fail`() async throws {
        let container = Container {
            Registration(String.self, instance: "log")
            Registration((any Service).self) { _ in Base() }
        }
        try await container.decorate((any Service).self) { r, inner in Wrapper(inner, try await r.resolve()) }
        #expect(try await container.resolve((any Service).self).text == "log(base)")
        try await container.decorate((any Service).self) { _, _ in throw TestError(1) }
        await #expect(throws: TestError(1)) { try await container.resolve((any Service).self) }
    }

    @Test func `the instance of a failing decorator is disposed, once`() async throws {
        let disposed = Log<String>()
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Base("opened") }
                .onDispose { disposed.append($0.text) }
            Decoration((any Service).self) { _, _ in throw TestError(2) }
        }
        await #expect(throws: TestError(2)) { try await container.resolve((any Service).self) }
        try await container.dispose()
        #expect(disposed.entries == ["opened"])
    }

    @Test func `a decorator that needs its decorated service is a cycle`() async throws {
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Base() }
            Decoration((any Service).self) { r, _ in try await r.resolve((any Service).self) }
        }
        await expect(.circularDependency) {
            try await container.resolve((any Service).self)
        }
    }

    @Test func `late decoration replaces the instance, which is disposed`() async throws {
        let disposed = Log<String>()
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Base() }
                .onDispose { disposed.append($0.text) }
        }
        _ = try await container.resolve((any Service).self)
        try await container.decorate((any Service).self) { _, inner in Wrapper(inner, "late") }
        #expect(try await container.resolve((any Service).self).text == "late(base)")
        try await container.dispose()
        #expect(disposed.entries == ["base", "base"])
    }

    @Test func `hooks get the instance inside`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Base() }
                .injectProperties { _, service in log.append("inject \(service.text)") }
                .onCreate { _, service in log.append("create \(service.text)") }
                .onDispose { service in log.append("dispose \(service.text)") }
            Decoration.wrapping("outer")
        }
        #expect(try await container.resolve((any Service).self).text == "outer(base)")
        try await container.dispose()
        #expect(log.entries == ["inject base", "create base", "dispose base"])
    }

    @Test func `in a cycle of properties every member sees the decorated instance`() async throws {
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Base() }
                .injectProperties { r, _ in _ = try await r.resolve(Holder.self) }
            Registration(Holder.self, lifetime: .singleton) { r in Holder(try await r.resolve()) }
            Decoration.wrapping("outer")
        }
        let service = try await container.resolve((any Service).self)
        let holder = try await container.resolve(Holder.self)
        #expect(holder.service as AnyObject === service as AnyObject)
        #expect(service.text == "outer(base)")
    }

    private final class Holder: Sendable {
        let service: any Service
        init(_ service: any Service) { self.service = service }
    }

    @Test func `every form with arguments is decorated, another qualifier is not`() async throws {
        let container = Container {
            Registration((any Service).self) { _ in Base("plain") }
            Registration((any Service).self, lifetime: .multiton) { (_, text: String) in Base(text) }
            Registration((any Service).self, qualifier: "q") { _ in Base("qualified") }
            Decoration.wrapping("d")
        }
        #expect(try await container.resolve((any Service).self).text == "d(plain)")
        #expect(try await container.resolve((any Service).self, arguments: "x").text == "d(x)")
        #expect(try await container.resolve((any Service).self, qualifier: "q").text == "qualified")
        try await container.decorate((any Service).self, qualifier: "q") { _, inner in Wrapper(inner, "dq") }
        #expect(try await container.resolve((any Service).self, qualifier: "q").text == "dq(qualified)")
    }

    @Test func `a later registration is decorated too, and so is a replacement`() async throws {
        let container = Container { Decoration.wrapping("d") }
        await expect(.notRegistered) { try await container.resolve((any Service).self) }
        try await container.register((any Service).self) { _ in Base("1") }
        #expect(try await container.resolve((any Service).self).text == "d(1)")
        try await container.register((any Service).self) { _ in Base("2") }
        #expect(try await container.resolve((any Service).self).text == "d(2)")
    }

    @Test func `a forwarded type is decorated without touching the service behind it`() async throws {
        let made = Counter()
        let container = Container {
            Registration(Base.self, lifetime: .singleton) { _ in
                made.increment()
                return Base()
            }
            .implements((any Service).self) { $0 }
            Decoration.wrapping("d")
        }
        let decorated = try await container.resolve((any Service).self)
        #expect(decorated.text == "d(base)")
        #expect(try await container.resolve((any Service).self) as AnyObject === decorated as AnyObject)
        #expect(try await container.resolve(Base.self) === (decorated as? Wrapper)?.inner as? Base)
        #expect(made.value == 1)
    }

    @Test func `a reset of the service behind a decorated type resets both`() async throws {
        let container = Container {
            Registration(Base.self, lifetime: .singleton) { _ in Base() }.implements((any Service).self) { $0 }
            Decoration.wrapping("d")
        }
        let first = try await container.resolve((any Service).self)
        try await container.reset(Base.self)
        let second = try await container.resolve((any Service).self)
        #expect(first as AnyObject !== second as AnyObject)
        #expect(try await container.resolve(Base.self) === (second as? Wrapper)?.inner as? Base)
        try await container.reset((any Service).self)
        #expect(try await container.resolve((any Service).self) as AnyObject !== second as AnyObject)
    }

    @Test func `a replaced service behind a decorated type is not handed out inside it`() async throws {
        let container = Container {
            Registration(Base.self, lifetime: .singleton) { _ in Base("old") }.implements((any Service).self) { $0 }
            Decoration.wrapping("d")
        }
        #expect(try await container.resolve((any Service).self).text == "d(old)")
        try await container.register(Base.self, lifetime: .singleton) { _ in Base("new") }
        #expect(try await container.resolve((any Service).self).text == "d(new)")
    }

    @Test func `an instance is decorated, and still disposed once`() async throws {
        let disposed = Log<String>()
        let container = Container {
            Registration((any Service).self, instance: Base("given")).onDispose { disposed.append($0.text) }
            Decoration.wrapping("d")
        }
        #expect(try await container.resolve((any Service).self).text == "d(given)")
        try await container.reset()
        #expect(disposed.entries.isEmpty)
        #expect(try await container.resolve((any Service).self).text == "d(given)")
        try await container.dispose()
        #expect(disposed.entries == ["given"])
        let unused = Container {
            Registration((any Service).self, instance: Base("unused")).onDispose { disposed.append($0.text) }
            Decoration.wrapping("d")
        }
        try await unused.dispose()
        #expect(disposed.entries == ["given", "unused"])
    }

    @Test func `a decorated instance is decorated under its forwarded types as well`() async throws {
        let container = Container {
            Registration(Base.self, instance: Base("x")).implements((any Service).self) { $0 }
        }
        #expect(try await container.resolve((any Service).self).text == "x")
        try await container.decorate(Base.self) { _, inner in Base(inner.text + "!") }
        #expect(try await container.resolve((any Service).self).text == "x!")
        #expect(try await container.resolve(Base.self).text == "x!")
    }

    // MARK: Inherited registrations

    @Test func `a child decorates inherited services, for itself and its scopes alone`() async throws {
        let made = Counter()
        let root = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in
                made.increment()
                return Base()
            }
        }
        let child = Container(parent: root) { Decoration.wrapping("child") }
        let scope = try await child.openScope()
        let decorated = try await scope.resolve((any Service).self)
        #expect(decorated.text == "child(base)")
        #expect(try await child.resolve((any Service).self) as AnyObject === decorated as AnyObject)
        #expect(try await root.resolve((any Service).self).text == "base")
        #expect(made.value == 1)
    }

    @Test func `an inherited scoped service is decorated once in each scope`() async throws {
        let made = Counter()
        let root = Container {
            Registration((any Service).self, lifetime: .scoped) { _ in Base("\(made.increment())") }
        }
        let child = Container(parent: root) { Decoration.wrapping("d") }
        for number in 1...3 {
            try await child.withScope { scope in
                let first = try await scope.resolve((any Service).self)
                #expect(first.text == "d(\(number))")
                #expect(try await scope.resolve((any Service).self) as AnyObject === first as AnyObject)
                #expect(try scope.ready((any Service).self) as AnyObject === first as AnyObject)
            }
        }
        #expect(made.value == 3)
    }

    @Test func `no request finds the inner scoped instance while it is being decorated`() async throws {
        let gate = Gate()
        let root = Container { Registration((any Service).self, lifetime: .scoped) { _ in Base() } }
        let child = Container(parent: root)
        try await child.decorate((any Service).self) { _, inner in
            await gate.pass()
            return Wrapper(inner, "d")
        }
        async let first = child.resolve((any Service).self)
        await gate.arrived(1)
        await expect(.notReady) { try child.ready((any Service).self) }
        async let second = child.resolve((any Service).self)
        gate.open()
        #expect(try await first.text == "d(base)")
        #expect(try await second.text == "d(base)")
    }

    @Test func `a replacement above is seen at once through the decoration`() async throws {
        let root = Container { Registration((any Service).self, lifetime: .singleton) { _ in Base("old") } }
        let child = Container(parent: root) { Decoration.wrapping("d") }
        let scope = try await child.openScope()
        #expect(try await scope.resolve((any Service).self).text == "d(old)")
        try await root.register((any Service).self, lifetime: .transient) { _ in Base("new") }
        #expect(try await scope.resolve((any Service).self).text == "d(new)")
        await root.unregister((any Service).self)
        await expect(.notRegistered) { try await scope.resolve((any Service).self) }
    }

    @Test func `a registration of the child's own takes the place of the inherited one, and gives it back`()
        async throws
    {
        let root = Container { Registration((any Service).self, lifetime: .singleton) { _ in Base("root") } }
        let child = Container(parent: root, onDuplicate: .reject) { Decoration.wrapping("d") }
        #expect(try await child.resolve((any Service).self).text == "d(root)")
        try await child.register((any Service).self) { _ in Base("own") }
        #expect(try await child.resolve((any Service).self).text == "d(own)")
        #expect(await child.unregister((any Service).self))
        #expect(try await child.resolve((any Service).self).text == "d(root)")
        #expect(await !child.unregister((any Service).self))
    }

    @Test func `both levels may decorate`() async throws {
        let root = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Base() }
            Decoration.wrapping("root")
        }
        let child = Container(parent: root) { Decoration.wrapping("child") }
        #expect(try await child.resolve((any Service).self).text == "child(root(base))")
        #expect(try await root.resolve((any Service).self).text == "root(base)")
    }

    @Test func `an inherited multiton keeps its arguments, and is not evicted inside a decorated one`() async throws {
        let disposed = Log<String>()
        let root = Container {
            Registration((any Service).self, lifetime: .multiton(capacity: 1)) { (_, text: String) in Base(text) }
                .onDispose { disposed.append($0.text) }
        }
        let child = Container(parent: root) { Decoration.wrapping("d") }
        let a = try await child.resolve((any Service).self, arguments: "a")
        #expect(a.text == "d(a)")
        // Evicted above, but leased by its wrapper.
        _ = try await root.resolve((any Service).self, arguments: "b")
        #expect(try await child.resolve((any Service).self, arguments: "a") as AnyObject === a as AnyObject)
        #expect(disposed.entries.isEmpty)
        try await child.dispose()
        try await root.dispose()
        #expect(disposed.entries.sorted() == ["a", "b"])
    }

    @Test func `a fallback's service is decorated too`() async throws {
        let library = Container { Registration((any Service).self) { _ in Base("library") } }
        let app = Container(fallbacks: [library]) { Decoration.wrapping("d") }
        #expect(try await app.resolve((any Service).self).text == "d(library)")
    }

    @Test func `contributions are left alone`() async throws {
        let container = Container {
            Registration((any Service).self) { _ in Base() }.intoMany()
            Decoration.wrapping("d")
        }
        #expect(try await container.resolveMany((any Service).self).map(\.text) == ["base"])
    }

    @Test func `an instance decorated more than once is disposed once, with the container`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(String.self, instance: "x").onDispose { log.append($0) }
            Decoration(String.self) { _, inner in "1(\(inner))" }
            Decoration(String.self) { _, inner in "2(\(inner))" }
        }
        #expect(try await container.resolve(String.self) == "2(1(x))")
        try await container.decorate(String.self) { _, inner in "3(\(inner))" }
        #expect(try await container.resolve(String.self) == "3(2(1(x)))")
        // Waits for whatever is being disposed.
        try await container.reset()
        #expect(log.entries.isEmpty)
        try await container.dispose()
        #expect(log.entries == ["x"])
    }

    @Test func `a service decorated at two levels follows a change of the registration above`() async throws {
        let root = Container { Registration(String.self, lifetime: .singleton) { _ in "old" } }
        let middle = Container(parent: root) { Decoration(String.self) { _, inner in "middle(\(inner))" } }
        let leaf = Container(parent: middle) { Decoration(String.self) { _, inner in "leaf(\(inner))" } }
        #expect(try await leaf.resolve(String.self) == "leaf(middle(old))")
        try await root.register(String.self, lifetime: .singleton) { _ in "new" }
        #expect(try await leaf.resolve(String.self) == "leaf(middle(new))")
    }

    @Test func `a decorated forwarded type is made anew in scopes when the service behind it is replaced`() async throws
    {
        let container = Container {
            Registration(Int.self, lifetime: .scoped) { _ in 1 }.implements(String.self) { "\($0)" }
            Decoration(String.self) { _, inner in "d(\(inner))" }
        }
        let scope = try await container.openScope()
        #expect(try await scope.resolve(String.self) == "d(1)")
        for number in 2...3 {
            try await container.register(Int.self, lifetime: .scoped) { _ in number }
            #expect(try await scope.resolve(String.self) == "d(\(number))")
        }
        try await container.decorate(Int.self) { _, inner in inner * 10 }
        #expect(try await scope.resolve(String.self) == "d(30)")
    }

    @Test(arguments: ["parent", "fallback", "grandparent"])
    func `a registration that comes later, or comes back, above a container is decorated there`(place: String)
        async throws
    {
        let other = Container()
        let decoration = Decoration(String.self) { _, inner in "d(\(inner))" }
        let container =
            switch place {
            case "parent": Container(parent: other) { decoration }
            case "fallback": Container(fallbacks: [other]) { decoration }
            default: Container(parent: Container(parent: other)) { decoration }
            }
        #expect(try await container.optional(String.self) == nil)
        for number in 1...2 {
            try await other.register(String.self, lifetime: .singleton) { _ in "\(number)" }
            #expect(try await other.resolve(String.self) == "\(number)")
            #expect(try await container.resolve(String.self) == "d(\(number))")
            await other.unregister(String.self)
            #expect(try await container.optional(String.self) == nil)
        }
    }
}
