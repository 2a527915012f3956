import AsyncDI
import Testing

/// Scoped instances beside a decorated form, or another registration of their key, which they must not hide.
@Suite(.timeLimit(.minutes(10))) struct HiddenScopedInstanceTests {
    private final class Layer: Sendable {
        let name: String
        init(_ name: String, _ inner: Layer? = nil) { self.name = inner.map { "\(name)(\($0.name))" } ?? name }
    }

    @Test(arguments: 0...3)
    func `a scoped instance that is decorated later is not found any more, whatever requests came before`(
        requests: Int
    ) async throws {
        let container = Container { Registration(Layer.self, lifetime: .scoped) { _ in Layer("a") } }
        let outer = try await container.openScope("outer")
        let inner = try await outer.openScope("inner")
        func names(in scope: Container) async throws -> [String] {
            var names: [String] = []
            for _ in 0..<4 { names.append(try await scope.resolve(Layer.self).name) }
            names.append(try scope.ready(Layer.self).name)
            return names
        }
        for _ in 0..<requests {
            _ = try await outer.resolve(Layer.self)
            _ = try await inner.resolve(Layer.self)
        }
        try await outer.decorate(Layer.self) { _, inner in Layer("d", inner) }
        #expect(Set(try await names(in: outer)) == ["d(a)"])
        #expect(Set(try await names(in: inner)) == ["d(a)"])
        try await inner.decorate(Layer.self) { _, inner in Layer("e", inner) }
        #expect(Set(try await names(in: inner)) == ["e(d(a))"])
        #expect(Set(try await names(in: outer)) == ["d(a)"])
        try await container.dispose()
    }

    /// The registration that requests of the scope find under the key of the service behind a forwarded type.
    enum Nearer: CaseIterable { case decoration, decorationAbove, override }

    @Test(arguments: Nearer.allCases, [true, false])
    func `a scoped instance that a forwarded type leads to hides no nearer registration`(
        nearer: Nearer, isLeased: Bool
    ) async throws {
        let root = Container {
            Registration(Layer.self, lifetime: .scoped) { _ in Layer("a") }.implements((any Sendable).self)
        }
        let outer = try await root.openScope("outer")
        let inner = try await outer.openScope("inner")
        switch nearer {
        case .decoration: try await inner.decorate(Layer.self) { _, inner in Layer("d", inner) }
        case .decorationAbove: try await outer.decorate(Layer.self) { _, inner in Layer("d", inner) }
        case .override: try await inner.register(Layer.self, instance: Layer("d(a)"))
        }
        for _ in 0..<3 {
            if isLeased {
                try await inner.withInstance((any Sendable).self) { _ in }
            } else {
                _ = try await inner.resolve((any Sendable).self)
            }
            #expect(try await inner.resolve(Layer.self).name == "d(a)")
        }
        try await root.dispose()
    }
}
