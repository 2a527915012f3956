import Testing

@testable import AsyncDI

private final class Given: Sendable {}

/// One registration value, registered in several containers, or in one several times.
struct GivenRegistrationTests {
    private static let registration = Registration(Given.self) { _ in Given() }

    @Test func `two containers give one registration each its own lifetime`() async throws {
        let sharing = Container(defaultLifetime: .singleton) { Self.registration }
        let other = Container(defaultLifetime: .transient) { Self.registration }
        #expect(try await sharing.resolve(Given.self) === sharing.resolve(Given.self))
        #expect(try await other.resolve(Given.self) !== other.resolve(Given.self))
    }

    @Test func `two containers do not share the instances of one registration`() async throws {
        let registrations = Registrations { Registration(Given.self, lifetime: .singleton) { _ in Given() } }
        let first = Container { registrations }
        let second = Container { registrations }
        #expect(try await first.resolve(Given.self) !== second.resolve(Given.self))
    }

    @Test func `a registration that was taken back may come again`() async throws {
        let registration = Registration(Given.self, lifetime: .singleton) { _ in Given() }
        let container = Container()
        try await container.register(registration)
        let old = try await container.resolve(Given.self)
        #expect(await container.unregister(Given.self))
        try await container.register(registration)
        let new = try await container.resolve(Given.self)
        #expect(new !== old)
        #expect(try await container.resolve(Given.self) === new)
    }

    @Test func `a registration value that is kept keeps no instance`() async throws {
        let registration = Registration(Given.self, lifetime: .singleton) { _ in Given() }
        weak var instance: Given?
        do {
            let container = Container { registration }
            instance = try await container.resolve(Given.self)
            #expect(instance != nil)
            try await container.dispose()
        }
        #expect(instance == nil)
        withExtendedLifetime(registration) {}
    }

    @Test func `an instance may be given to many scopes at once, and reaches the scopes inside them`() async throws {
        let registration = Registration(instance: Given())
        let root = Container()
        try await withThrowingTaskGroup { group in
            for _ in 0..<64 {
                group.addTask {
                    try await root.withScope {
                        registration
                    } operation: { scope in
                        let given = try await scope.resolve(Given.self)
                        try await scope.withScope { inner in
                            let inherited = try await inner.resolve(Given.self)
                            #expect(inherited === given)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `of many containers that are given a registration at once each has its own`() async throws {
        let registration = Registration(Given.self, lifetime: .singleton) { _ in Given() }
        let things = try await withThrowingTaskGroup(of: Given.self) { group in
            for _ in 0..<32 { group.addTask { try await Container { registration }.resolve(Given.self) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(things.map { ObjectIdentifier($0) }).count == 32)
    }
}
