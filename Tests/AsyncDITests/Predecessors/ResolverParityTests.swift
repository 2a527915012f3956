import Testing

@testable import AsyncDI

/// The capabilities that users of Resolver know: a test for each, under its familiar name.
@Suite(.timeLimit(.minutes(10)))
struct ResolverParityTests {
    // MARK: Names and arguments

    @Test func `names are typed constants`() async throws {
        let container = Container {
            Registration(Server.self, qualifier: .primary) { _ in Server("one") }
            Registration(Server.self, qualifier: .backup) { _ in Server("two") }
            Registration(Server.self, qualifier: Region.europe) { _ in Server("three") }
        }
        #expect(try await container.resolve(Server.self, qualifier: .primary).name == "one")
        #expect(try await container.resolve(Server.self, qualifier: .backup).name == "two")
        #expect(try await container.resolve(Server.self, qualifier: Region.europe).name == "three")
        await expect(.notRegistered) { try await container.resolve(Server.self, qualifier: Region.asia) }
    }

    @Test func `multiple arguments keep their types`() async throws {
        let container = Container {
            Registration(Server.self) { (_, name: String, port: Int, isSecure: Bool) in
                Server("\(name):\(port)\(isSecure ? "s" : "")")
            }
        }
        #expect(try await container.resolve(Server.self, arguments: "a", 80, true).name == "a:80s")
        await expect(.argumentMismatch) { try await container.resolve(Server.self, arguments: "a", "80", true) }
    }

    @Test func `keyed arguments: a structure with named fields, or a dictionary`() async throws {
        let container = Container {
            Registration(Server.self, lifetime: .multiton) { (_, address: Address) in
                Server("\(address.host):\(address.port)")
            }
            Registration(Server.self, lifetime: .multiton) { (_, values: [String: Int]) in
                Server("localhost:\(values["port"] ?? 0)")
            }
        }
        let address = Address(host: "a", port: 80)
        #expect(try await container.resolve(Server.self, arguments: address).name == "a:80")
        let local = try await container.resolve(Server.self, arguments: ["port": 81])
        #expect(local.name == "localhost:81")
        #expect(try await container.resolve(Server.self, arguments: ["port": 81]) === local)
        #expect(try await container.resolve(Server.self, arguments: ["port": 82]) !== local)
    }

    // MARK: Scopes

    @Test func `scope application: one instance for good, shared with child containers`() async throws {
        let main = Container { Registration(Server.self, lifetime: .singleton) { _ in Server() } }
        let server = try await main.resolve(Server.self)
        #expect(try await Container(parent: main).resolve(Server.self) === server)
        #expect(try await main.resolve(Server.self) === server)
    }

    @Test func `scope cached: until it is reset`() async throws {
        let container = Container { Registration(Server.self, lifetime: .cached) { _ in Server() } }
        let server = try await container.resolve(Server.self)
        #expect(try await container.resolve(Server.self) === server)
        try await container.reset(.cached)
        #expect(try await container.resolve(Server.self) !== server)
    }

    @Test func `scope graph: within one resolution`() async throws {
        let container = Container {
            Registration(Server.self, lifetime: .graph) { _ in Server() }
            Registration(using: Servers.init)
        }
        let servers = try await container.resolve(Servers.self)
        #expect(servers.first === servers.second)
        #expect(try await container.resolve(Servers.self).first !== servers.first)
    }

    @Test func `scope shared: one instance while a caller retains it`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Server.self, lifetime: .weak) { _ in Server("\(runs.increment())") }
        }
        do {
            let server = try await container.resolve(Server.self)
            #expect(try await container.resolve(Server.self) === server)
        }
        #expect(try await container.resolve(Server.self).name == "2")
    }

    @Test func `scope unique: a new instance for every request`() async throws {
        let container = Container {
            Registration(Server.self, lifetime: .transient) { _ in Server() }
            Registration(using: Servers.init)
        }
        let servers = try await container.resolve(Servers.self)
        #expect(servers.first !== servers.second)
    }

    @Test func `scope container: each container asked has its own`() async throws {
        let main = Container { Registration(Server.self, lifetime: .scoped) { _ in Server() } }
        let child = Container(parent: main)
        let (mains, childs) = (try await main.resolve(Server.self), try await child.resolve(Server.self))
        #expect(mains !== childs)
        #expect(try await main.resolve(Server.self) === mains)
        #expect(try await child.resolve(Server.self) === childs)
    }

    @Test func `custom caches are custom lifetimes, reset one by one`() async throws {
        let container = Container {
            Registration(Server.self, lifetime: .session) { _ in Server() }
            Registration(Thing.self, lifetime: .cached) { _ in Thing() }
        }
        let (server, thing) = (try await container.resolve(Server.self), try await container.resolve(Thing.self))
        try await container.reset(.session)
        #expect(try await container.resolve(Server.self) !== server)
        #expect(try await container.resolve(Thing.self) === thing)
    }

    @Test func `a cache belongs to its container: unrelated ones share nothing, and reset only their own`() async throws
    {
        let registration = Registration(Server.self, lifetime: .cached) { _ in Server() }
        let (first, second) = (Container { registration }, Container { registration })
        let (one, two) = (try await first.resolve(Server.self), try await second.resolve(Server.self))
        #expect(one !== two)
        try await first.reset(.cached)
        #expect(try await second.resolve(Server.self) === two)
    }

    @Test func `default scope: the lifetime of a registration that names none`() async throws {
        let container = Container(defaultLifetime: .singleton) { Registration { _ in Server() } }
        let server = try await container.resolve(Server.self)
        #expect(try await container.resolve(Server.self) === server)
        let plain = Container { Registration { _ in Server() } }
        #expect(try await plain.resolve(Server.self) !== plain.resolve(Server.self))
    }

    // MARK: Options

    @Test func `implements shares the instance, and keeps the name`() async throws {
        let container = Container {
            Registration(Server.self, qualifier: .primary, lifetime: .singleton) { _ in Server("one") }
                .implements((any Service).self) { $0 }
            Registration(Server.self, lifetime: .singleton) { _ in Server("unnamed") }
        }
        let server = try await container.resolve(Server.self, qualifier: .primary)
        #expect(try await container.resolve((any Service).self, qualifier: .primary) === server)
        await expect(.notRegistered) { try await container.resolve((any Service).self) }
    }

    @Test func `resolveProperties gets the instance and the arguments`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(7) }
            Registration(Editor.self) { (_, _: String) in Editor() }
                .injectProperties { (r, editor, title: String) in
                    let number = try await r.resolve(Thing.self).number
                    editor.title.withLock { $0 = "\(title) \(number)" }
                }
        }
        let editor = try await container.resolve(Editor.self, arguments: "Letter")
        #expect(editor.title.withLock { $0 } == "Letter 7")
    }

    @Test func `several attached containers are searched in their order, after the container itself`() async throws {
        let first = Container {
            Registration(Server.self) { _ in Server("first") }
            Registration(Int.self, instance: 1)
        }
        let second = Container {
            Registration(Server.self) { _ in Server("second") }
            Registration(Thing.self) { _ in Thing(2) }
            Registration(Int.self, instance: 2)
        }
        let main = Container(fallbacks: [first, second]) { Registration(Int.self, instance: 0) }
        #expect(try await main.resolve(Int.self) == 0)
        #expect(try await main.resolve(Server.self).name == "first")
        #expect(try await main.resolve(Thing.self).number == 2)
    }

    @Test func `decorate wraps the instance, and stacks`() async throws {
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in Server("server") }
            Decoration((any Service).self) { _, inner in Wrapped(inner, "logged") }
            Decoration((any Service).self) { _, inner in Wrapped(inner, "cached") }
        }
        #expect(try await container.resolve((any Service).self).name == "cached logged server")
    }

    // MARK: Mock mode

    @Test func `mock mode: for a task, a container with mocks stands before the real one`() async throws {
        let main = Container {
            Registration((any Service).self) { _ in Server("real") }
            Registration(Int.self, instance: 1)
        }
        let mock = Container(parent: main) { Registration((any Service).self) { _ in Server("mock") } }
        let name = try await Injection.with(mock) { try await resolve((any Service).self).name }
        let number = try await Injection.with(mock) { try await resolve(Int.self) }
        #expect(name == "mock")
        #expect(number == 1)
        #expect(try await main.resolve((any Service).self).name == "real")
    }

    // MARK: Property wrappers

    @Test func `@Injected gives the cached instance, also by name and from a container`() async throws {
        let container = Container {
            Registration(Server.self, lifetime: .singleton) { _ in Server("plain") }.eager()
            Registration(Server.self, qualifier: .backup, lifetime: .singleton) { _ in Server("backup") }.eager()
        }
        try await container.start()
        struct Client {
            @Inject var server: Server
            @Inject(qualifier: .backup) var backup: Server
            @Inject var other: Server

            init(other: Container) { _other = Inject(from: other) }
        }
        let other = Container { Registration(Server.self, instance: Server("other")) }
        let client = Injection.with(container) { Client(other: other) }
        #expect(client.server.name == "plain")
        #expect(client.backup.name == "backup")
        #expect(client.other.name == "other")
        #expect(client.server === (try await container.resolve(Server.self)))
    }

    @Test func `@Injected of a graph or unique service is never ready, and eager() is refused for it`() async throws {
        let container = Container {
            Registration(Server.self, lifetime: .graph) { _ in Server("graph") }
            Registration(Int.self, lifetime: .transient) { _ in 1 }.eager()
        }
        struct Client { @Inject var server: Server }
        let client = Injection.with(container) { Client() }
        _ = try await container.resolve(Server.self)
        await expect(.notReady) { try client.$server() }
        await expect(.invalidRegistration) { try await container.resolve(Int.self) }
    }

    @Test func `@LazyInjected is empty until its first use, and can be released`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Server.self, lifetime: .transient) { _ in Server("\(runs.increment())") }
        }
        struct Client { @LazyInject var server: Lazy<Server> }
        let client = Injection.with(container) { Client() }
        #expect(client.server.isEmpty)
        #expect(runs.value == 0)
        let server = try await client.server()
        #expect(!client.server.isEmpty)
        #expect(try await client.server() === server)
        client.server.release()
        #expect(client.server.isEmpty)
        #expect(try await client.server().name == "2")
    }

    @Test func `@LazyInjected gets its name before the first use, and later`() async throws {
        let container = Container {
            Registration(Server.self, qualifier: .primary) { _ in Server("one") }
            Registration(Server.self, qualifier: .backup) { _ in Server("two") }
        }
        struct Client {
            @LazyInject(qualifier: .primary) var named: Lazy<Server>
            @LazyInject var server: Lazy<Server>
        }
        let client = Injection.with(container) { Client() }
        #expect(try await client.named().name == "one")
        client.server.use(qualifier: .backup)
        #expect(try await client.server().name == "two")
        client.server.use(qualifier: .primary)
        #expect(try await client.server().name == "one")
    }

    @Test func `@LazyInjected gets its container before the first use`() async throws {
        let container = Container { Registration(Server.self) { _ in Server("current") } }
        let other = Container { Registration(Server.self) { _ in Server("other") } }
        struct Client { @LazyInject var server: Lazy<Server> }
        let client = Injection.with(container) { Client() }
        client.server.use(other)
        #expect(try await client.server().name == "other")
    }

    @Test func `@LazyInjected gets its arguments before the first use`() async throws {
        let container = Container {
            Registration(Server.self) { (_, name: String, port: Int) in Server("\(name):\(port)") }
        }
        struct Client {
            @LazyInject var server: Lazy<Server>
            @LazyInject(arguments: "b", 81) var other: Lazy<Server>
        }
        let client = Injection.with(container) { Client() }
        await expect(.argumentMismatch) { try await client.server() }
        client.server.use(arguments: "a", 80)
        #expect(try await client.server().name == "a:80")
        #expect(try await client.other().name == "b:81")
    }

    @Test func `@WeakLazyInjected does not keep its object alive`() async throws {
        let container = Container { Registration((any Service).self, lifetime: .weak) { _ in Server() } }
        struct Client { @WeakInject var service: (any Service)? }
        let client = Injection.with(container) { Client() }
        #expect(client.service == nil, "nobody has made it")
        do {
            let service = try await container.resolve((any Service).self)
            #expect(client.service === service)
        }
        #expect(client.service == nil, "nobody holds it any more")
    }

    @Test func `@OptionalInjected is nil for an unregistered service`() async throws {
        let container = Container { Registration(Server.self, instance: Server("there")) }
        struct Client {
            @OptionalInject var server: Server?
            @OptionalInject var thing: Thing?
        }
        let client = Injection.with(container) { Client() }
        #expect(client.server?.name == "there")
        #expect(client.thing == nil)
    }
}

// MARK: The process's own container, one test at a time

extension InjectionDefaultTests {
    @Test func `registerAllServices: the default is set up once, on first use`() async throws {
        defer { Injection.default = nil }
        let runs = Counter()
        Injection.setDefault {
            runs.increment()
            return Container { Registration(Server.self, lifetime: .singleton) { _ in Server("main") } }
        }
        #expect(runs.value == 0)
        let servers = try await withThrowingTaskGroup(of: Server.self) { group in
            for _ in 0..<50 { group.addTask { try await resolve(Server.self) } }
            return try await group.reduce(into: [Server]()) { $0.append($1) }
        }
        #expect(servers.count == 50 && servers.allSatisfy { $0 === servers[0] })
        #expect(runs.value == 1)
    }

    @Test func `mock mode: the root is swapped for the process, and swapped back`() async throws {
        defer { Injection.default = nil }
        let main = Container { Registration((any Service).self) { _ in Server("real") } }
        Injection.default = main
        #expect(try await resolve((any Service).self).name == "real")
        Injection.default = Container(parent: main) { Registration((any Service).self) { _ in Server("mock") } }
        #expect(try await resolve((any Service).self).name == "mock")
        Injection.default = main
        #expect(try await resolve((any Service).self).name == "real")
    }
}

// MARK: Services

extension Qualifier where Self == String {
    fileprivate static var primary: String { "primary" }
    fileprivate static var backup: String { "backup" }
}

private enum Region: Qualifier { case europe, asia }

extension Lifetime {
    fileprivate static let cached = Lifetime("cached")
    fileprivate static let session = Lifetime("session")
}

private protocol Service: AnyObject, Sendable {
    var name: String { get }
}

private final class Server: Service {
    let name: String
    init(_ name: String = "server") { self.name = name }
}

private final class Wrapped: Service {
    let name: String
    init(_ inner: any Service, _ prefix: String) { name = "\(prefix) \(inner.name)" }
}

private struct Servers: Sendable {
    let first: Server
    let second: Server
}

private struct Address: Hashable {
    let host: String
    let port: Int
}

private final class Editor: Sendable {
    let title = Locked("")
}
