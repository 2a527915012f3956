import Testing

@testable import AsyncDI

/// Decorations of instances in storages, which release them when they like.
@Suite(.timeLimit(.minutes(10))) struct DecoratedStorageTests {
    private protocol Paper: Sendable {
        var sheet: Sheet { get }
    }

    /// A service whose instances must be closed, but not while a decoration of them is in use.
    private final class Sheet: Paper {
        let number: Int
        init(_ number: Int) { self.number = number }
        var sheet: Sheet { self }
    }

    private struct Cover: Paper {
        let inner: any Paper
        var sheet: Sheet { inner.sheet }
    }

    /// The storages of a lifetime, in the order in which their services were first requested.
    private let storages = Log<StrongStorage>()
    private let closed = Log<Int>()
    private let runs = Counter()

    private var stored: Lifetime {
        Lifetime("stored") { [storages] in
            let storage = StrongStorage()
            storages.append(storage)
            return storage
        }
    }

    enum Place: CaseIterable { case sameContainer, forwarded, child }

    /// The container with the decoration, and the one with the registration.
    private func containers(_ place: Place) -> (container: Container, root: Container) {
        let root = Container {
            Registration(Sheet.self, lifetime: stored) { [runs] _ in Sheet(runs.increment()) }
                .implements((any Paper).self)
                .onDispose { [closed] sheet in closed.append(sheet.number) }
            if place == .forwarded { Decoration((any Paper).self) { _, inner in Cover(inner: inner) } }
            if place == .sameContainer { Decoration(Sheet.self) { _, inner in inner } }
        }
        guard place == .child else { return (root, root) }
        return (Container(parent: root) { Decoration((any Paper).self) { _, inner in Cover(inner: inner) } }, root)
    }

    @Test(arguments: Place.allCases, [false, true])
    func `a stored instance is not closed while its decoration is leased`(
        place: Place, isDecorationReleased: Bool
    ) async throws {
        let (container, root) = containers(place)
        try await container.withInstance((any Paper).self) { paper in
            #expect(paper.sheet.number == 1)
            for number in 2...4 {
                for storage in storages.entries where isDecorationReleased || storage.peek() is Sheet {
                    storage.clear()
                }
                let successor = try await container.resolve(Sheet.self)
                #expect(successor.number == number)
                let current = try await container.resolve((any Paper).self)
                let isReleased = isDecorationReleased || place == .sameContainer
                #expect(current.sheet === (isReleased ? successor : paper.sheet))
            }
            #expect(!closed.entries.contains(1))
        }
        try await container.dispose()
        try await root.dispose()
        #expect(closed.entries.sorted() == [1, 2, 3, 4])
    }

    @Test func `a decoration in a weak storage does not keep an instance that nothing has to close`() async throws {
        let weakly = Lifetime("weakly") { WeakStorage() }
        let root = Container { [runs] in
            Registration(Sheet.self, lifetime: weakly) { _ in Sheet(runs.increment()) }
        }
        let child = Container(parent: root) { Decoration(Sheet.self) { _, inner in Sheet(inner.number + 10) } }
        // In a function, because a debug build releases a local reference only at the end of its scope.
        func use(_ expected: Int) async throws {
            let sheet = try await child.resolve(Sheet.self)
            #expect(sheet.number == expected)
            #expect(try await child.resolve(Sheet.self) === sheet)
        }
        try await use(11)
        try await use(12)
    }

    @Test func `a request does not wait for the leases of an instance that its storage has released`() async throws {
        let (container, _) = containers(.forwarded)
        try await container.withInstance(Sheet.self) { sheet in
            for number in 2...4 {
                for storage in storages.entries { storage.clear() }
                // In a task of its own: a wait for the lease of this body would never end.
                let successor = try await Task.detached { try await container.resolve(Sheet.self) }.value
                #expect(successor.number == number)
            }
            #expect(!closed.entries.contains(sheet.number))
        }
        try await container.dispose()
        #expect(closed.entries.sorted() == [1, 2, 3, 4])
    }
}
