import AsyncDI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

// Uses everything that a program keeps for as long as it runs, and that it drops, and ends: LeakSanitizer must find nothing.

extension Lifetime {
    static let session = Lifetime("session")
    static let view = Lifetime("view", ownedBy: .resolvingContainer)
    static let stored = Lifetime("stored") { StrongStorage() }
    static let pooled = Lifetime.multiton(capacity: 2, idle: .milliseconds(1))
    static let patient = Lifetime.multiton(idle: .seconds(60))
}

enum Environment: Qualifier { case production, test }

final class Service: Sendable {
    let number: Int
    init(_ number: Int = 0) { self.number = number }
}

protocol Greeter: Sendable { var greeting: String { get } }
final class Polite: Greeter {
    let service: Service
    let greeting = "Good day"
    init(service: Service) { self.service = service }
}

final class Parent: Sendable {}

struct Quiet: ContainerObserver {
    func container(_ container: Container, did event: ContainerEvent) {}
}

struct Basics: Module {
    var registrations: Registrations {
        Registration(using: Polite.init, as: (any Greeter).self, lifetime: .singleton)
        Registration(Service.self, qualifier: Environment.test, lifetime: .session) { _ in Service(1) }
    }
}

func makeContainer(parent: Container? = nil) -> Container {
    Container(parent: parent, observers: [Quiet()]) {
        Basics()
        Registration(Service.self, lifetime: .singleton) { _ in Service() }
            .onDispose { _ in }
        Registration(Service.self, qualifier: "view", lifetime: .view) { _ in Service(2) }
        Registration(Service.self, qualifier: Environment.production, lifetime: .stored) { _ in Service(3) }
        Registration(Service.self, lifetime: .pooled) { (_, number: Int) in Service(number) }
        Registration(Service.self, lifetime: .patient) { (_, name: String) in Service(name.count) }
        Registration(Service.self, lifetime: .scoped) { (_, a: Int, b: Int) in Service(a + b) }
        Registration(Service.self, lifetime: .weak) { (_, flag: Bool) in Service(flag ? 1 : 0) }
        Registration(Parent.self, lifetime: .scoped) { _ in Parent() }
            .onDispose { _ in }
        Registration(String.self, lifetime: .transient) { r in try await r.resolve((any Greeter).self).greeting }
        Registration(Int.self, lifetime: .singleton) { _ in 4 }.intoMany(key: "four")
        Registration(Int.self, instance: 5).intoMany()
    }
}

func use(_ container: Container) async throws {
    for number in 0..<20 {
        _ = try await container.resolve(Service.self)
        _ = try await container.resolve(Service.self, qualifier: Environment.test)
        _ = try await container.resolve(Service.self, qualifier: Environment.production)
        _ = try await container.resolve(Service.self, qualifier: "view")
        _ = try await container.resolve(Service.self, arguments: number)
        _ = try await container.resolve(Service.self, arguments: "tenant \(number % 3)")
        _ = try await container.resolve(Service.self, arguments: number, 1)
        _ = try await container.resolve(Service.self, arguments: true)
        _ = try await container.resolve(String.self)
        _ = try await container.resolveMany(Int.self)
        _ = try await container.optional(Double.self)
        try await container.withScope(number) { _ in
            _ = try await container.resolve(Parent.self)
            _ = try await container.resolve(Service.self, arguments: number, 2)
        }
        try await container.withInstance(Service.self, arguments: number) { _ in }
    }
    try await container.reset(.session)
    _ = try? await container.resolve(Double.self)
}

/// Refers to itself, until a task breaks the ring.
///
/// `@unchecked Sendable` because one task has it at a time.
final class Ring: @unchecked Sendable {
    var next: Ring?
}

/// Written by one task only; global, so that the optimizer cannot remove it.
nonisolated(unsafe) var rings: [Ring] = []

/// Creates objects without references that are never freed.
@inline(never) func lose() {
    rings = (0..<100).map { _ in Ring() }
    for ring in rings { ring.next = ring }
    rings = []
}

/// Kept until the process ends.
enum Kept {
    static let registration = Registration(Service.self, lifetime: .singleton) { _ in Service() }
    static let container = makeContainer()
    static let child = Container(parent: container, fallbacks: [makeContainer()])
}

@main struct Leaks {
    static func main() async throws {
        // A program that loses what it has made must be found.
        if getenv("ASYNCDI_DELIBERATE_LEAK") != nil { lose() }
        try await Kept.container.register(Kept.registration)
        try await use(Kept.container)
        try await use(Kept.child)
        let scope = try await Kept.container.openScope("kept")
        _ = try await scope.resolve(Parent.self)
        // Disposed.
        let disposed = makeContainer()
        try await use(disposed)
        try await disposed.dispose()
        // Dropped, with scopes and children that are open.
        do {
            let dropped = makeContainer()
            try await use(dropped)
            let scope = try await dropped.openScope("open")
            _ = try await scope.openScope().resolve(Parent.self)
            try await use(makeContainer(parent: scope))
        }
        // A conformance that is found only when it is asked for.
        precondition(String(describing: Kept.container as Any).contains("registrations"))
        print("done")
    }
}
