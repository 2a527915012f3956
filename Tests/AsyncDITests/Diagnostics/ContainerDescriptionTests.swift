import Testing

@testable import AsyncDI

private protocol Repository: Sendable {}
private struct SQLRepository: Repository {}
private struct Database: Sendable {}
private final class Pool: Sendable {}
private struct Request: Sendable {}

/// A container as text.
@Suite(.timeLimit(.minutes(10))) struct ContainerDescriptionTests {
    @Test func `registrations are sorted, with lifetime, arguments, place and number of live instances`() async throws {
        let factory = DrivenFactory<Pool>()
        let container = Container(name: "app", onDuplicate: .reject) {
            Registration(Pool.self, lifetime: .multiton, fileID: "App/A.swift", line: 5) { (_, number: Int) in
                number == 0 ? try await factory.run() : Pool()
            }
            Registration(SQLRepository.self, lifetime: .weak, fileID: "App/A.swift", line: 4) { _ in SQLRepository() }
                .implements((any Repository).self) { $0 }
            Registration(Database.self, qualifier: "main", lifetime: .singleton, fileID: "App/A.swift", line: 3) { _ in
                Database()
            }
            Registration(expected: Request.self, fileID: "App/A.swift", line: 2)
            Registration(instance: 1, fileID: "App/A.swift", line: 1)
            Registration(instance: 2, fileID: "App/A.swift", line: 6)
            Registration(making: Pool.self, fileID: "App/A.swift", line: 7) { _ in Pool() }
        }
        _ = try await container.resolve(Database.self, qualifier: "main")
        _ = try await container.resolve(Pool.self, arguments: 1)
        _ = try await container.resolve(Pool.self, arguments: 2)
        let asker = Task { try await container.resolve(Pool.self, arguments: 0) }
        await factory.began()
        try await container.openScope("s")
        #expect(
            container.description == """
                container "app": 7 registrations, 1 open scope
                  Database[main]: singleton, 1 alive (App/A.swift:3)
                  Int: instance, duplicateRegistration (App/A.swift:6)
                  Pool(Int): multiton, 2 alive, 1 being made (App/A.swift:5)
                  Repository → SQLRepository (App/A.swift:4)
                  Request: expected of each scope (App/A.swift:2)
                  SQLRepository: weak (App/A.swift:4)
                  making Pool: transient (App/A.swift:7)
                """)
        factory.answer(Pool())
        _ = try await asker.value
    }

    @Test func `the long form has the open scopes, fallbacks and parent`() async throws {
        let fallback = Container(name: "defaults")
        let root = Container(name: "root") { Registration(instance: 1, fileID: "App/A.swift", line: 1) }
        let child = Container(name: "child", parent: root, fallbacks: [fallback])
        let scope = try await child.openScope("scope") { Registration(instance: "a", fileID: "App/A.swift", line: 2) }
        #expect(
            child.debugDescription == """
                container "child": 0 registrations, 1 open scope
                  container "scope": 1 registration
                    String: instance (App/A.swift:2)
                fallback:
                container "defaults": 0 registrations
                inside:
                container "root": 1 registration
                  Int: instance (App/A.swift:1)
                """)
        try await scope.dispose()
        #expect(scope.description == "container \"scope\", disposed")
    }

    @Test func `an instance that is held weakly or by a storage counts while it is alive`() async throws {
        let lifetime = Lifetime("session", storage: { StrongStorage() })
        let container = Container(name: "app") {
            Registration(Pool.self, lifetime: .weak, fileID: "A/A.swift", line: 1) { _ in Pool() }
            Registration(Pool.self, qualifier: "s", lifetime: lifetime, fileID: "A/A.swift", line: 2) { _ in Pool() }
        }
        var pool: Pool? = try await container.resolve(Pool.self)
        _ = try await container.resolve(Pool.self, qualifier: "s")
        #expect(container.description.contains("Pool: weak, 1 alive"))
        #expect(container.description.contains("Pool[s]: session, 1 alive"))
        _ = pool
        pool = nil
        #expect(container.description.contains("Pool: weak (A/A.swift:1)"))
    }

    @Test func `a scope lists its instances of registrations above it`() async throws {
        let factory = DrivenFactory<Pool>()
        let container = Container(name: "app") {
            Registration(Database.self, lifetime: .scoped, fileID: "A/A.swift", line: 1) { _ in Database() }
            Registration(Pool.self, lifetime: .scoped, fileID: "A/A.swift", line: 2) { (_, _: Int) in
                try await factory.run()
            }
            Registration(Request.self, lifetime: .singleton, fileID: "A/A.swift", line: 3) { _ in Request() }
        }
        let scope = try await container.openScope("s") { Registration(instance: 1, fileID: "A/A.swift", line: 4) }
        _ = try await scope.resolve(Database.self)
        _ = try await scope.resolve(Request.self)
        let asker = Task { try await scope.resolve(Pool.self, arguments: 1) }
        await factory.began()
        #expect(
            scope.description == """
                container "s": 1 registration
                  Int: instance (A/A.swift:4)
                  inherited Database: scoped, 1 alive (A/A.swift:1)
                  inherited Pool(Int): scoped, 1 being made (A/A.swift:2)
                """)
        factory.answer(Pool())
        _ = try await asker.value
        #expect(container.description.contains("Database: scoped (A/A.swift:1)"))
        // Instances that are kept only for their disposal, or were replaced above, are marked.
        try await container.register(Database.self, lifetime: .scoped, fileID: "A/A.swift", line: 5) { _ in Database() }
        #expect(scope.description.contains("\n  replaced Database: scoped, 1 alive (A/A.swift:1)"))
    }

    @Test func `a decorated instance is listed once`() async throws {
        let container = Container(name: "app") {
            Registration(instance: 1, fileID: "A/A.swift", line: 1)
            Decoration(Int.self) { _, inner in inner + 1 }
        }
        _ = try await container.resolve(Int.self)
        #expect(container.description == "container \"app\": 1 registration\n  Int: singleton, 1 alive (A/A.swift:1)")
    }

    @Test func `names of lifetimes, owners and groups take no further line`() async throws {
        let name = "a\nforged: \"x\""
        let container = Container(name: name) {
            Registration(Database.self, lifetime: Lifetime("custom\nforged: b")) { _ in Database() }.dependencies()
            Registration((any Repository).self, qualifier: name) { _ in SQLRepository() }.dependencies().intoMany()
            Registration(Pool.self) { r in
                _ = try await r.resolveMany((any Repository).self, qualifier: name)
                return Pool()
            }
            .dependencies()
        }
        #expect(container.description.split(separator: "\n").count == 4)
        await container.startRecording()
        _ = try await container.resolve(Pool.self)
        let graph = await container.dependencyGraph()
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: graph) }
        #expect(error?.description.split(separator: "\n").count == 2)
        let difference = try await container.declaredGraph().difference(from: DependencyGraph())
        #expect(difference.description.split(separator: "\n").count == 3)
    }
}
