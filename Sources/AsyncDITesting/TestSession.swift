import AsyncDI
import Testing

/// The container of one test case, from its creation to its end.
final class TestSession: Sendable {
    /// Registrations of one trait, or of one closure.
    struct Layer: Sendable {
        let registrations: Registrations
        /// Whether it belongs to the test itself, and not to a suite of several.
        let isOfTest: Bool
    }

    /// A registration that must replace one of the layers around it.
    private struct Override: Sendable {
        let entry: Registrations.Entry
        let replacesAnything: Bool
        /// Other keys of the same service in the layers around, for the message.
        let near: [Registrations.Entry]
        let isOfTest: Bool
    }

    let container: Container
    let log = EventLog()
    let watcher: TestWatcher
    /// The test for which a trait created the session.
    let testID: Test.ID?
    /// Evaluates the registrations of the test once more; nil where they cannot be evaluated again.
    let makeRegistrations: (@Sendable () -> Registrations)?
    let options: TestContainerOption.Values
    private let overrides: [Override]
    /// The places of decorations that must apply to a registration.
    private let decorations: Set<RegistrationSite>
    private let report: @Sendable (TestReport) -> Void
    /// The lines of registrations that stand inside an attribute.
    let attributeLines: AttributeLines

    /// Creates the container.
    ///
    /// - Parameters:
    ///   - layers: The registrations, outermost first: the first layer is the base that the others override.
    ///   - options: The options of all layers.
    ///   - testID: The test.
    ///   - makeRegistrations: Evaluates the registrations of all layers once more.
    ///   - attributeLines: The lines of registrations that stand inside an attribute.
    ///   - report: Receives what is found.
    init(
        _ layers: [Layer], _ options: TestContainerOption.Values, testID: Test.ID?,
        again makeRegistrations: (@Sendable () -> Registrations)? = nil,
        attributeLines: AttributeLines = AttributeLines(),
        report: @escaping @Sendable (TestReport) -> Void
    ) {
        self.options = options
        self.testID = testID
        self.makeRegistrations = makeRegistrations
        self.report = report
        self.attributeLines = attributeLines
        watcher = TestWatcher(watchesInstances: options.reportsLeaks)
        overrides = Self.overrides(in: layers)
        decorations = layers.dropFirst().reduce(into: []) { $0.formUnion($1.registrations.decorationSites) }
        container = Container(
            name: "test", defaultLifetime: options.defaultLifetime, observers: [watcher, log] + options.observers,
            clock: options.makeClock()
        ) {
            for layer in layers { layer.registrations }
        }
    }

    private var place: TestContainer { TestContainer(container: container, log: log, session: self) }

    private static func overrides(in layers: [Layer]) -> [Override] {
        var around = layers.first?.registrations.entries ?? []
        return layers.dropFirst().flatMap { layer -> [Override] in
            let entries = layer.registrations.entries
            let known = Set(around.flatMap { [$0.key] + $0.implementedKeys })
            defer { around += entries }
            return entries.filter { !$0.isContribution }.map { entry in
                Override(
                    entry: entry, replacesAnything: !known.isDisjoint(with: [entry.key] + entry.implementedKeys),
                    near: around.filter { $0.key.service == entry.key.service }, isOfTest: layer.isOfTest)
            }
        }
    }

    /// Runs a test, or its body, between the beginning and the end of the session.
    nonisolated(nonsending) func run<R>(
        _ operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        // Unsafe because a `do` cannot express that the result was received as `sending` and is touched by nothing on
        // its way out.
        nonisolated(unsafe) let result: R
        do {
            try await begin()
            result = try await place.run(operation)
        } catch {
            await end(failing: error)
            throw error
        }
        await end(failing: nil)
        return result
    }

    /// Prepares the container, before the test's body.
    private nonisolated(nonsending) func begin() async throws {
        for override in overrides where !override.replacesAnything {
            tell(.overrideOfNothing(override.entry, override.near))
        }
        for (key, site) in container.decorationsOfNothing where decorations.contains(site) {
            tell(.decorationOfNothing(key, at: site))
        }
        if options.mustStart { try await container.start() }
    }

    /// Checks and disposes the container, after the test's body.
    ///
    /// - Parameter error: The body's error.
    private nonisolated(nonsending) func end(failing error: (any Error)?) async {
        for finding in await TestReport.unfinished(in: container, allowing: options.allowed) { tell(finding) }
        if error == nil { reportUnusedOverrides() }
        let lateCalls = watcher.end()
        await dispose(failing: error)
        log.close()
        // An error may hold instances, and fails the test by itself.
        if options.reportsLeaks, error == nil {
            log.forgetObjects()
            await reportLeaks()
        }
        reportLater(lateCalls)
    }

    private func reportUnusedOverrides() {
        // The factory of a service that is being created may not have been called yet.
        let begun = Set(container.activity().creations.map(\.instance.key))
        for override in overrides where override.isOfTest && override.replacesAnything {
            let entry = override.entry
            // A request reaches the value of its scope instead.
            if entry.isExpected { continue }
            if begun.contains(entry.key) || watcher.isUsed(entry) { continue }
            tell(.unusedOverride(entry, hiddenBy: watcher.siteUsed(for: entry.key)))
        }
    }

    private nonisolated(nonsending) func dispose(failing error: (any Error)?) async {
        var errors: [(error: any Error, service: String?)] = []
        do {
            try await container.dispose(within: options.disposalTime)
        } catch let failure as DisposalError {
            errors = Array(zip(failure.errors, failure.services))
        } catch {
            errors = [(error, nil)]
        }
        /// By their texts, because errors cannot be compared.
        func forget(_ text: String) {
            if let index = errors.firstIndex(where: { "\($0.error)" == text }) { errors.remove(at: index) }
        }
        for hook in watcher.takeFailedHooks() {
            tell(.hookFailed(hook.call, hook.error))
            forget("\(hook.error)")
        }
        // A disposal that the test began may still be under way, and its errors were for the test to expect.
        for text in watcher.expectedFailures { forget(text) }
        for (error, service) in errors {
            if let error = error as? ResolutionError, error.code == .disposalTimedOut {
                tell(.disposalTimedOut(error, after: options.disposalTime))
            } else {
                tell(.disposalFailed(error, of: service))
            }
        }
    }

    /// An instance goes when the last task with a reference releases it, perhaps a moment after the container.
    private nonisolated(nonsending) func reportLeaks() async {
        if await Patience.wait(atMost: .milliseconds(500), until: { watcher.livingInstances.isEmpty }) { return }
        for instance in watcher.livingInstances { tell(.livingInstance(instance.call)) }
    }

    /// Reports the requests of tasks that outlive the test, in a task whose current test it is.
    ///
    /// The task ends with the last reference to the container. It keeps neither this session nor its container: its
    /// task-locals are those from outside them.
    private func reportLater(_ calls: AsyncStream<TestWatcher.LateCall>) {
        if options.allowed.contains(.lateRequest) { return }
        let report = report
        Task { for await call in calls { report(.lateRequest(call)) } }
    }

    private func tell(_ finding: TestReport) {
        if options.allowed.contains(finding.kind) { return }
        var finding = finding
        finding.site = attributeLines.site(of: finding.key, at: finding.site)
        report(finding)
    }
}
