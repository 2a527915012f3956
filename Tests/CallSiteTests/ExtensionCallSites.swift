import AsyncDI
import Testing

extension Container {
    /// An overload with a label of its own.
    nonisolated fileprivate func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self, named name: String
    ) async throws -> Service {
        try await resolve(service, qualifier: name)
    }
}

extension Resolver {
    fileprivate func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self, named name: String
    ) async throws -> Service {
        try await resolve(service, qualifier: name)
    }
}

/// Users' extensions of the types that request services.
@Suite(.timeLimit(.minutes(10)))
struct ExtensionCallSites {
    @Test
    func `an overload with a label of its own leaves the other calls to the library`() async throws {
        let container = Container {
            Registration(Int.self, instance: 1)
            Registration(Int.self, qualifier: "two", instance: 2)
            Registration(String.self) { (r: Resolver) in
                let both: (Int, Int) = try await (r.resolve(), r.resolve(named: "two"))
                return "\(both.0) \(both.1) \(try r.ready(Int.self))"
            }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(Int.self, named: "two") == 2)
        #expect(try await container.resolve(Int.self, qualifier: "two") == 2)
        #expect(try await container.resolve() == "1 2 1")
    }
}
