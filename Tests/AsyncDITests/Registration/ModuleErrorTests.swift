import AsyncDI
import Testing

/// The errors of `loaded` name the module.
@Suite(.timeLimit(.minutes(10))) struct ModuleErrorTests {
    @Test func `modules that wait for each other are told apart`() async throws {
        struct Starting: Module {
            let other: Log<Container>
            var registrations: Registrations {}
            func loaded(_ resolver: Resolver) async throws { try await other.entries[0].start() }
        }
        struct Waiting: Module {
            let other: Log<Container>
            var registrations: Registrations {}
            func loaded(_ resolver: Resolver) async throws { try await other.entries[0].start() }
        }
        let (first, second) = (Log<Container>(), Log<Container>())
        first.append(Container { Starting(other: second) })
        second.append(Container { Waiting(other: first) })
        let error = await expect(.circularDependency) { try await first.entries[0].start() }
        #expect(error?.path.map(\.description) == ["Starting.loaded", "Waiting.loaded", "Starting.loaded"])
    }

    @Test func `an error in loaded names the module`() async throws {
        struct Mail: Module {
            let isCancelled: Bool
            var registrations: Registrations { Registration(Int.self, instance: 1) }
            func loaded(_ resolver: Resolver) async throws {
                if isCancelled { throw CancellationError() }
                _ = try await resolver.resolve(Double.self)
            }
        }
        let missing = Container { Mail(isCancelled: false) }
        await expect(.notRegistered, path: ["Mail.loaded", "Double"]) { try await missing.resolve(Int.self) }
        let cancelled = Container { Mail(isCancelled: true) }
        let other = await expect(.creationCancelled) { try await cancelled.resolve(Int.self) }
        #expect(other?.message.hasPrefix("Mail.loaded threw CancellationError") == true)
        #expect(other?.underlying is CancellationError)
    }
}

/// Leases in a transient factory, where no instance could hold the lease.
private struct Leasing: Module {
    let errors: Log<any Error>
    var registrations: Registrations {
        Registration(Double.self, lifetime: .multiton) { (_, number: Int) in Double(number) }
        Registration(String.self, lifetime: .transient) { [errors] r in
            do { return "\(try await r.lease(Double.self, arguments: 1))" } catch { errors.append(error) }
            return ""
        }
    }

    func loaded(_ resolver: Resolver) async throws { _ = try await resolver.resolve(String.self) }
}

extension ModuleErrorTests {
    @Test func `loaded holds no lease`() async throws {
        let errors = Log<any Error>()
        let container = Container { Leasing(errors: errors) }
        try await container.start()
        #expect(errors.entries.map { ($0 as? ResolutionError)?.code } == [.invalidOperation])
        try await container.drain(Double.self, arguments: 1)
    }
}
