import Testing

@testable import AsyncDI

private protocol Labeled: Sendable {
    var text: String { get }
}
private struct Label: Labeled, Equatable {
    var text: String
}
private struct Name: Qualifier {}

/// Requests between the registration of a service and the moment when the containers that decorate it hear of it.
@Suite(.timeLimit(.minutes(10))) struct DecorationAnnouncementTests {
    private let parent = Container()
    private let child: Container
    private let grandchild: Container
    private let names: Set = [
        ServiceName(ServiceKey(Label.self)), ServiceName(ServiceKey(Label.self, qualifier: Name())),
    ]

    init() {
        child = Container(parent: parent) {
            Decoration(Label.self) { _, inner in Label(text: "child(\(inner.text))") }
            Decoration(Label.self, qualifier: Name()) { _, inner in Label(text: "child(\(inner.text))") }
        }
        grandchild = Container(parent: child) {
            Decoration(Label.self) { _, inner in Label(text: "grandchild(\(inner.text))") }
            Decoration(Label.self, qualifier: Name()) { _, inner in Label(text: "grandchild(\(inner.text))") }
        }
    }

    /// Brings the containers to the state in which the parent has announced its registration, but not offered it.
    private func forgetDecorations() {
        _ = parent.core.withAnnouncement(of: { names }) { _ in }
        for core in [child.core, grandchild.core] {
            var removals = Removals()
            core.withState { state in
                for binding in state.registrations.records(of: Label.self) {
                    core.forgetInherited(binding, in: &state, into: &removals)
                    core.table.unpublish(binding.key, retired: &state.retired)
                }
            }
            core.dispose(of: removals)
        }
    }

    @Test(arguments: [Lifetime.transient, .graph, .singleton, .scoped, .weak, .multiton])
    func `no request finds a registration without the decorations that apply to it`(lifetime: Lifetime) async throws {
        try await parent.register(Label.self, lifetime: lifetime) { _ in Label(text: "bare") }
        try await parent.register(Label.self, qualifier: Name(), lifetime: lifetime) { _ in Label(text: "bare") }
        try await parent.register(Label.self, lifetime: lifetime) { (_, text: String) in Label(text: text) }
        // A ready instance would be found without a further look-up.
        _ = try await (parent.resolve(Label.self), parent.resolve(Label.self, qualifier: Name()))
        _ = try await parent.resolve(Label.self, arguments: "bare")
        let expected = Label(text: "grandchild(child(bare))")

        forgetDecorations()
        #expect(try await grandchild.resolve(Label.self) == expected)
        forgetDecorations()
        #expect(try await grandchild.optional(Label.self) == expected)
        forgetDecorations()
        #expect(try await grandchild.resolve(Label.self, qualifier: Name()) == expected)
        forgetDecorations()
        #expect(try await grandchild.resolve(Label.self, arguments: "bare") == expected)
        forgetDecorations()
        #expect(try await grandchild.resolve(Lazy<Label>.self)() == expected)
        forgetDecorations()
        try await grandchild.withInstance(Label.self) { #expect($0 == expected) }
        forgetDecorations()
        #expect(try await child.resolve(Label.self) == Label(text: "child(bare)"))
        #expect(try await grandchild.resolve(Label.self) == expected)
        #expect(try await parent.resolve(Label.self) == Label(text: "bare"))
    }

    @Test func `no ready instance is found without the decorations that apply to it`() async throws {
        try await parent.register(Label.self, instance: Label(text: "bare"))
        forgetDecorations()
        #expect(throws: ResolutionError.self) { try grandchild.ready(Label.self) }
        #expect(try await grandchild.resolve(Label.self) == Label(text: "grandchild(child(bare))"))
        #expect(try grandchild.ready(Label.self) == Label(text: "grandchild(child(bare))"))
    }

    @Test func `no scope keeps an instance without the decorations that apply to it, found by another type`()
        async throws
    {
        try await parent.register {
            Registration(Label.self, lifetime: .scoped) { _ in Label(text: "bare") }.implements((any Labeled).self)
        }
        let scope = try await child.openScope()
        forgetDecorations()
        for _ in 0..<2 { #expect(try await scope.resolve((any Labeled).self).text == "bare") }
        // Looked at here, because a registration in another test would also hide a published instance.
        let isFound = scope.core.withState { state in
            state.instances.all { _ in true }.contains { $0.isPublished || $0.isToBePublished }
        }
        #expect(!isFound)
        #expect(try await scope.resolve(Label.self) == Label(text: "child(bare)"))
        try await scope.dispose()
    }

    @Test func `an announcement ends with the registration, and the last one of several clears the way`() async throws {
        try await parent.register(Label.self, instance: Label(text: "bare"))
        #expect(!parent.core.table.hasObstacles)
        try await parent.register { Registration(Label.self, instance: Label(text: "bare")) }
        #expect(!parent.core.table.hasObstacles)
        let announcements = (0..<2).map { _ in parent.core.withAnnouncement(of: { names }) { _ in }.announcement }
        announcements[0]?.end()
        for container in [parent, child, grandchild] { #expect(container.core.table.isAnnouncing) }
        announcements[1]?.end()
        for container in [parent, child, grandchild] { #expect(!container.core.table.hasObstacles) }
        #expect(parent.core.withAnnouncement(of: { [ServiceName(ServiceKey(Int.self))] }) { _ in }.announcement != nil)
        #expect(!parent.core.table.hasObstacles, "no container decorates the service")
        #expect(Container().core.withAnnouncement(of: { names }) { _ in }.announcement == nil)
    }

    @Test func `a registration takes the place of a decorated inherited one, and leaves it to that one again`()
        async throws
    {
        try await parent.register(Label.self, lifetime: .singleton) { _ in Label(text: "bare") }
        #expect(try await child.resolve(Label.self) == Label(text: "child(bare)"))
        try await child.register(Label.self, lifetime: .singleton) { _ in Label(text: "own") }
        #expect(try await child.resolve(Label.self) == Label(text: "child(own)"))
        #expect(try await grandchild.resolve(Label.self) == Label(text: "grandchild(child(own))"))
        #expect(await child.unregister(Label.self))
        #expect(try await child.resolve(Label.self) == Label(text: "child(bare)"))
        #expect(try await grandchild.resolve(Label.self) == Label(text: "grandchild(child(bare))"))
        #expect(await !child.unregister(Label.self))
        #expect(await parent.unregister(Label.self))
        #expect(try await grandchild.optional(Label.self) == nil)
    }
}
