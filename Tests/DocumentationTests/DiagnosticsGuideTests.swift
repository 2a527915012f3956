import AsyncDI
import Foundation
import Testing

// The code of Guides/Diagnostics.md.

private struct Clock: Sendable {}

private struct Address: Sendable {
    let text: String
}

private struct Mailer: Sendable {
    let relay: Address
    let clock: Clock
}

private struct Newsletter: Sendable {
    let mailer: Mailer
}

private struct MailModule: Module {
    var registrations: Registrations {
        Registration(using: Newsletter.init)
        Registration(Mailer.self, lifetime: .singleton) { r in
            try await Mailer(relay: r.resolve(qualifier: "relay"), clock: r.resolve())
        }
        .dependencies(Clock.self)
        .dependency(Address.self, qualifier: "relay")
    }
}

private func makeContainer() -> Container {
    Container(name: "app") {
        MailModule()
        Registration(instance: Clock())
        Registration(qualifier: "relay", instance: Address(text: "relay.example.org"))
    }
}

struct EventLog: ContainerObserver {
    func container(_ container: Container, did event: ContainerEvent) {
        switch event {
        case .created(let key, let duration, _): print(container.name ?? "-", "created", key, "in", duration)
        case .failed(let key, let error): print(container.name ?? "-", "failed", key, error)
        default: break
        }
    }
}

func makeObservedContainer() -> Container {
    Container(name: "app", observers: [EventLog()]) { MailModule() }
}

struct Alarm: ContainerObserver {
    var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }

    func container(_ container: Container, did event: ContainerEvent) {
        print(container.name ?? "-", event)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct DiagnosticsGuideTests {
    @Test func `the container is complete`() async throws {
        try await makeContainer().validate()
    }

    @Test func `an error's path can be followed, and a container describes itself`() async throws {
        let container = Container(name: "app") {
            Registration(Mailer.self, lifetime: .singleton, fileID: "App/Modules.swift", line: 7) { r in
                try await Mailer(relay: Address(text: ""), clock: r.resolve())
            }
            Registration(using: Newsletter.init, fileID: "App/Modules.swift", line: 8)
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Newsletter.self) }
        try Guide("Diagnostics").shows(error)
        let guide = try Documents.text(of: "Sources/AsyncDI/AsyncDI.docc/Guides/Diagnostics.md")
        #expect(guide.contains(container.description))
    }

    @Test func `creations are recorded, ordered, drawn and compared`() async throws {
        let container = makeContainer()
        let file = FileManager.default.temporaryDirectory.appending(component: "asyncdi-\(UUID()).dot")
        defer { try? FileManager.default.removeItem(at: file) }
        await container.startRecording()
        _ = try await container.resolve(Newsletter.self)
        let graph = await container.dependencyGraph()

        print(try graph.topologicalOrder())  // dependencies first
        print(graph["Mailer"]?.creations ?? 0, graph["Mailer"]?.duration ?? .zero)
        try Data(graph.dot().utf8).write(to: file)

        #expect(try graph.topologicalOrder() == ["Address[relay]", "Clock", "Mailer", "Newsletter"])
        #expect(graph["Mailer"]?.creations == 1)
        try await container.validate(against: graph)
        #expect(try await container.declaredGraph().edges == graph.edges)
    }

    @Test func `an observer is told`() async throws {
        let container = makeObservedContainer()
        await #expect(throws: ResolutionError.self) { try await container.resolve(Newsletter.self) }
    }
}
