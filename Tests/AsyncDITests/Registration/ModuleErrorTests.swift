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
