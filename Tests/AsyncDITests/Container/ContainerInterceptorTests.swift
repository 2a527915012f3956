import Testing

@testable import AsyncDI

/// Notes the calls, and throws the chosen errors.
private final class Interceptor: ContainerInterceptor {
    let calls = Log<String>()
    let found = Log<String>()
    let refused = Log<String>()
    private let failing: String?
    private let failsAtEnd: Bool

    init(failing: String? = nil, atEnd: Bool = false) { (self.failing, failsAtEnd) = (failing, atEnd) }

    var wantedEvents: ContainerEvent.Kinds { [] }

    nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
        calls.append("will \(call)")
        if "\(call)" == failing, !failsAtEnd { throw TestError() }
    }

    nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws {
        calls.append("did \(call) \(instance.map { "\(type(of: $0))" } ?? "nothing")")
        if "\(call)" == failing, failsAtEnd { throw TestError() }
    }

    func didFail(_ call: InterceptedCall, with error: any Error) { calls.append("failed \(call)") }
    func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?) { found.append("\(key)") }
    func didRefuse(_ key: ServiceKey) { refused.append("\(key)") }
}

/// Notes the calls under its name, and throws in one of them.
private struct NamedInterceptor: ContainerInterceptor {
    let name: String
    let calls: Log<String>
    /// Whether it throws at the end, or at the beginning; nil for an interceptor that does not.
    let failing: Bool?

    init(_ name: String, _ calls: Log<String>, failing: Bool?) {
        (self.name, self.calls, self.failing) = (name, calls, failing)
    }

    var wantedEvents: ContainerEvent.Kinds { [] }

    nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
        calls.append("will \(name)")
        if failing == false { throw TestError() }
    }

    nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws {
        calls.append("did \(name)")
        if failing == true { throw TestError() }
    }

    func didFail(_ call: InterceptedCall, with error: any Error) { calls.append("failed \(name)") }
}

private final class Engine: Sendable {}

@Suite(.timeLimit(.minutes(10))) struct ContainerInterceptorTests {
    private func container(_ interceptor: any ContainerInterceptor) -> Container {
        Container(observers: [interceptor]) {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }
                .injectProperties { _, _ in }.onCreate { _, _ in }.onDispose { _ in }
            Registration(Int.self) { _ in 1 }
        }
    }

    @Test func `factories and hooks are called between the interceptor's calls`() async throws {
        let interceptor = Interceptor()
        let container = container(interceptor)
        _ = try await container.resolve(Engine.self)
        _ = try await container.resolve(Engine.self)
        _ = try await container.resolve(Int.self)
        try await container.dispose()
        #expect(
            interceptor.calls.entries == [
                "will Engine factory", "did Engine factory Engine", "will Engine injectProperties",
                "did Engine injectProperties Engine", "will Engine onCreate", "did Engine onCreate Engine",
                "will Int factory", "did Int factory Int", "will Engine onDispose", "did Engine onDispose Engine",
            ])
    }

    @Test(arguments: ["Engine factory", "Engine injectProperties", "Engine onCreate"], [false, true])
    func `an error of the interceptor is one of the factory or hook`(_ call: String, _ atEnd: Bool) async throws {
        let interceptor = Interceptor(failing: call, atEnd: atEnd)
        let container = container(interceptor)
        await #expect(throws: TestError.self) { try await container.resolve(Engine.self) }
        #expect(interceptor.calls.entries.filter { $0.hasPrefix("failed") } == ["failed \(call)"])
        try await container.dispose()
    }

    @Test(arguments: [(nil, false), ("inner", false), ("inner", true), ("outer", false), ("outer", true)])
    func `several interceptors are nested`(_ failing: String?, _ atEnd: Bool) async throws {
        let calls = Log<String>()
        let observers = ["outer", "inner"].map { NamedInterceptor($0, calls, failing: failing == $0 ? atEnd : nil) }
        let container = Container(observers: observers) { Registration(Int.self) { _ in 1 } }
        _ = try? await container.resolve(Int.self)
        let expected: [String] =
            switch (failing, atEnd) {
            case ("inner", false): ["will outer", "will inner", "failed inner", "failed outer"]
            case ("inner", true): ["will outer", "will inner", "did inner", "failed inner", "failed outer"]
            case ("outer", false): ["will outer", "failed outer"]
            case ("outer", true): ["will outer", "will inner", "did inner", "did outer", "failed outer"]
            default: ["will outer", "will inner", "did inner", "did outer"]
            }
        #expect(calls.entries == expected)
    }

    @Test func `an interceptor may wrap whole creations as well, outside its calls`() async throws {
        struct Wrapping: ContainerInterceptor {
            let calls = Log<String>()
            func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
                { create in
                    calls.append("begin \(creation.key)")
                    try await create()
                    calls.append("end \(creation.key)")
                }
            }
            nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws { calls.append("\(call)") }
        }
        let wrapping = Wrapping()
        #expect(wrapping.wantedEvents == .all)
        let container = container(wrapping)
        _ = try await container.resolve(Engine.self)
        _ = try await container.resolve(Int.self)
        #expect(
            wrapping.calls.entries == [
                "begin Engine", "Engine factory", "Engine injectProperties", "Engine onCreate", "end Engine",
                "Int factory",
            ])
        try await container.dispose()
    }

    @Test func `a factory's instance is disposed when the interceptor fails it afterwards`() async throws {
        let interceptor = Interceptor(failing: "Engine factory", atEnd: true)
        let disposed = Counter()
        let container = Container(observers: [interceptor]) {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }
                .onDispose { _, reason in if reason.error is TestError { disposed.increment() } }
        }
        await #expect(throws: TestError.self) { try await container.resolve(Engine.self) }
        try await container.dispose()
        #expect(disposed.value == 1)
        #expect(
            interceptor.calls.entries == [
                "will Engine factory", "did Engine factory Engine", "failed Engine factory", "will Engine onDispose",
                "did Engine onDispose Engine",
            ])
    }

    @Test func `an error of the interceptor at a disposal hook is thrown by the disposal`() async throws {
        let container = container(Interceptor(failing: "Engine onDispose"))
        _ = try await container.resolve(Engine.self)
        await #expect(throws: DisposalError.self) { try await container.dispose() }
    }

    @Test func `factories of every kind of registration are intercepted`() async throws {
        let interceptor = Interceptor()
        let container = container(interceptor)
        try await container.register(String.self) { (_, text: String) in text }
        try await container.register(making: [Int].self) { _ in [1] }
        try await container.decorate(Int.self) { _, number in number + 1 }
        _ = try await container.resolve(String.self, arguments: "a")
        _ = try await container.make([Int].self)
        let number = try await container.withScope {
            Registration(Double.self, lifetime: .singleton) { _ in 1.5 }
        } operation: { scope in
            _ = try await scope.resolve(Double.self)
            return try await scope.resolve(Int.self)
        }
        #expect(number == 2)
        #expect(
            interceptor.calls.entries.filter { $0.hasPrefix("will") } == [
                "will String(String) factory", "will [Int] factory", "will Double factory", "will Int factory",
            ])
        try await container.dispose()
    }

    @Test func `the first request for a registered instance is noticed, whichever way it comes`() async throws {
        for way in 0..<4 {
            let interceptor = Interceptor()
            let container = Container(observers: [interceptor]) {
                Registration(Engine.self, instance: Engine())
                Registration((any Sendable & AnyObject).self) { r in try await r.resolve(Engine.self) }
                Registration(String.self, instance: "other")
            }
            #expect(interceptor.found.entries.isEmpty)
            switch way {
            case 0: _ = try await container.resolve(Engine.self)
            case 1: _ = try container.ready(Engine.self)
            case 2: _ = try await container.optional(Engine.self)
            default: _ = try await container.resolve((any Sendable & AnyObject).self)
            }
            #expect(interceptor.found.entries == ["Engine"], "way \(way)")
            _ = try await container.resolve(Engine.self)
            try await container.dispose()
        }
    }

    @Test func `a request after the disposal is refused, and noticed`() async throws {
        struct Module: AsyncDI.Module {
            var registrations: Registrations { Registration(Engine.self) { _ in Engine() } }
        }
        let interceptor = Interceptor()
        // A module that is not loaded yet must not be taken for the service.
        let container = Container(observers: [interceptor]) { Module() }
        let scope = try await container.openScope()
        try await container.dispose()
        await expect(.disposed, path: ["Engine"]) { try await container.resolve(Engine.self) }
        await expect(.disposed) { try await container.optional(Int.self) }
        #expect(throws: ResolutionError.self) { try scope.ready(String.self) }
        #expect(interceptor.refused.entries == ["Engine", "Int", "String"])
    }

    @Test func `events are delivered when a caller says so`() async throws {
        let observer = RecordingObserver()
        let container = Container(observers: [observer])
        for number in 0..<100 {
            try await container.register(String.self, qualifier: "\(number)", instance: "")
            if number % 3 == 0 { await container.deliverEvents() }
        }
        await container.deliverEvents()
        #expect(observer.events.map(\.description) == (0..<100).map { "registered String[\($0)]" })
    }

    @Test func `a collection of registrations lists its entries`() {
        let line: UInt = #line + 2
        let registrations = Registrations {
            Registration(Engine.self) { _ in Engine() }.implements((any Sendable & AnyObject).self)
            Registration(String.self, qualifier: "a", instance: "a")
            Registrations { Decoration(String.self) { _, text in text } }
        }
        let entries = registrations.entries
        #expect(entries.map { "\($0.key)" } == ["Engine", "String[a]"])
        #expect(entries.map(\.site?.line) == [line, line + 1])
        #expect(entries.first?.implementedKeys.map(\.service) is [Any.Type])
        #expect(entries.first?.implementedKeys.count == 1)
        #expect(entries.allSatisfy { !$0.isContribution })
    }

    @Test func `the call of a disposal hook knows whether a caller gets its error`() async throws {
        final class Callers: ContainerInterceptor {
            let log = Log<String>()
            var wantedEvents: ContainerEvent.Kinds { [] }
            nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
                if call.kind == .disposalHook { log.append("\(call.key): \(call.hasCaller)") }
            }
        }
        let callers = Callers()
        let container = Container(observers: [callers]) {
            Registration(Engine.self, lifetime: .multiton(capacity: 1)) { (_, _: Int) in Engine() }.onDispose { _ in }
            Registration(String.self, lifetime: .scoped) { _ in "a" }.onDispose { _ in }
        }
        _ = try await container.resolve(Engine.self, arguments: 1)
        _ = try await container.resolve(Engine.self, arguments: 2)
        try? await container.withScope {
            _ = try await $0.resolve(String.self)
            throw TestError()
        }
        try await container.withScope { _ = try await $0.resolve(String.self) }
        try await container.reset()
        _ = try await container.resolve(Engine.self, arguments: 3)
        await container.unregister(Engine.self)
        try await container.register(
            Registration(Int.self, lifetime: .multiton) { (_, number: Int) in number }.onDispose { _ in })
        _ = try await container.resolve(Int.self, arguments: 5)
        try await container.drain(Int.self, arguments: 5)
        _ = try await container.resolve(String.self)
        try await container.dispose()
        // The background takes its time.
        #expect(
            callers.log.entries.sorted() == [
                "Engine(Int): false", "Engine(Int): false", "Engine(Int): true", "Int(Int): true",
                "String: false", "String: true", "String: true",
            ])
    }

    @Test func `a contribution that is given twice has one key in its calls and its events`() async throws {
        final class Keys: ContainerInterceptor {
            let called = Log<ServiceKey>()
            let created = Log<ServiceKey>()

            nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws { called.append(call.key) }
            func container(_ container: Container, did event: ContainerEvent) {
                if case .created(let key, _, _) = event { created.append(key) }
            }
        }
        let keys = Keys()
        let given = Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.intoMany()
        let container = Container(observers: [keys]) {
            given
            given
        }
        _ = try await container.resolveMany(Thing.self)
        await container.deliverEvents()
        #expect(Set(keys.called.entries).count == 2)
        #expect(Set(keys.called.entries) == Set(keys.created.entries))
        try await container.dispose()
    }
}
