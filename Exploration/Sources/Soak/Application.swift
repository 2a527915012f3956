import AsyncDI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// The methods below have the same names.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
private func writeByte(to descriptor: Int32) -> Bool { ".".withCString { write(descriptor, $0, 1) == 1 } }

/// The living instances, and the errors.
struct Census: Sendable {
    let connections = Counter()
    let units = Counter()
    let handlers = Counter()
    let events = Counter()
    let complaints = Complaints()
    /// The number of applications that were disposed during their requests.
    let disposals = Counter()

    var living: Int { connections.value + units.value + handlers.value }
}

/// A tenant's connection: it owns a descriptor of the process.
final class Connection: Sendable {
    private let descriptor: Int32
    private let isOpen = Counter()
    private let census: Census

    /// The number of disposed applications when the connection was opened; its own may be the next one.
    private let disposals: Int

    init(_ census: Census) {
        self.census = census
        disposals = census.disposals.value
        descriptor = open("/dev/null", O_WRONLY)
        census.complaints.expect(descriptor >= 0, "no descriptor is left")
        isOpen.set(1)
        census.connections.add()
    }

    deinit { census.connections.add(-1) }

    /// Writes, unless the application was disposed, which closes the connection during a request.
    func write() {
        let isWritten = isOpen.value == 1 && writeByte(to: descriptor)
        let isCutShort = census.disposals.value > disposals
        census.complaints.expect(isWritten || isCutShort, "a closed connection was used")
    }

    func close() async {
        await Task.yield()
        census.complaints.expect(isOpen.add(-1) == 0, "a connection was closed twice")
        closeDescriptor(descriptor)
    }
}

/// One request's work, over a leased connection.
final class Unit: Sendable {
    let connection: Connection
    private let ends = Counter()
    private let census: Census

    init(_ connection: Connection, _ census: Census) {
        self.connection = connection
        self.census = census
        census.units.add()
    }

    deinit { census.units.add(-1) }

    func end() async {
        await Task.yield()
        connection.write()
        census.complaints.expect(ends.add() == 1, "a unit of work ended twice")
    }
}

/// An instance that is reloaded while requests use it.
final class Handler: Sendable {
    private let isOpen = Counter()
    private let census: Census

    init(_ census: Census) {
        self.census = census
        isOpen.set(1)
        census.handlers.add()
    }

    deinit { census.handlers.add(-1) }

    func handle(_ unit: Unit) async {
        unit.connection.write()
        await Task.yield()
        census.complaints.expect(isOpen.value == 1, "a closed handler was used")
    }

    func close() { isOpen.set(0) }
}

struct Request: Sendable {
    let tenant: Int
}

/// Counts events, on a thread that the container gives it.
struct EventCounter: ContainerObserver {
    let census: Census

    func container(_ container: Container, did event: ContainerEvent) { census.events.add() }
}

/// One life of the server.
final class Application: Sendable {
    /// The number of tenants, which exceeds the capacity for connections.
    static let tenants = 24

    let container: Container
    private let census: Census

    init(_ census: Census) {
        self.census = census
        container = Container(name: "server", observers: [EventCounter(census: census)]) {
            Registration(expected: Request.self)
            Registration(Connection.self, lifetime: .multiton(capacity: 8, idle: .milliseconds(50))) {
                (_, _: Int) in
                await Task.yield()
                return Connection(census)
            }
            .onDispose { await $0.close() }
            Registration(Unit.self, lifetime: .scoped) { resolver in
                let request = try await resolver.resolve(Request.self)
                return Unit(try await resolver.lease(Connection.self, arguments: request.tenant), census)
            }
            .onDispose { unit, _ in await unit.end() }
            Self.handler(census)
        }
    }

    private static func handler(_ census: Census) -> Registration<Handler> {
        Registration(Handler.self, lifetime: .singleton) { _ in
            await Task.yield()
            return Handler(census)
        }
        .onDispose { $0.close() }
    }

    /// Replaces or resets the handler, or resets all connections.
    func reload(_ number: Int) async throws {
        switch number % 4 {
        case 0: try await container.reset(.multiton)
        case 1: try await container.reset(Handler.self)
        default: try await container.register(Self.handler(census))
        }
    }

    func serve(_ request: Request) async throws {
        try await container.withScope(registrations: { Registration(Request.self, instance: request) }) { scope in
            let unit = try await scope.resolve(Unit.self)
            try await container.withInstance(Handler.self) { handler in await handler.handle(unit) }
            try Task.checkCancellation()
        }
    }
}
