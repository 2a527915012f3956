import AsyncDI
import Testing

/// The container of one test case, from its making to its end.
final class TestSession: Sendable {
    @TaskLocal static var current: TestSession?

    /// Registrations of one trait, or of one closure.
    struct Layer: Sendable {
        let registrations: Registrations
        /// Whether it belongs to the test itself, and not to a suite of many.
        let isOfTest: Bool
    }

    /// A registration that is to replace one of the layers around it.
    private struct Override: Sendable {
        let entry: Registrations.Entry
        let replacesAnything: Bool
        /// Other keys of the same service in the layers around, for the message.
        let near: [Registrations.Entry]
        let isOfTest: Bool
    }

    let container: Container
    let watcher: TestWatcher
    /// The test that a trait has made the session for.
    let testID: Test.ID?
    /// Evaluates the registrations of the test once more; nil where they were given for once.
    let makeRegistrations: (@Sendable () -> Registrations)?
    private let options: TestContainerOption.Values
    private let overrides: [Override]
    private let report: @Sendable (TestReport) -> Void
    /// The lines of registrations that stand inside an attribute.
    let attributeLines: AttributeLines

    /// Makes the container.
    ///
    /// - Parameters:
    ///   - layers: The registrations, outermost first: the first layer is what the others override.
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
        container = Container(
            name: "test", defaultLifetime: options.defaultLifetime, observers: [watcher] + options.observers,
            clock: options.makeClock()
        ) {
            for layer in layers { layer.registrations }
        }
    }

    private static func overrides(in layers: [Layer]) -> [Override] {
        guard layers.count > 1 else { return [] }
        var known: Set<ServiceKey> = []
        var around: [Registrations.Entry] = []
        var overrides: [Override] = []
        for (index, layer) in layers.enumerated() {
            let entries = layer.registrations.entries
            for entry in entries where index > 0 && !entry.isContribution {
                let keys = [entry.key] + entry.implementedKeys
                overrides.append(
                    Override(
                        entry: entry, replacesAnything: keys.contains(where: known.contains),
                        near: around.filter { $0.key.service == entry.key.service }, isOfTest: layer.isOfTest))
            }
            for entry in entries {
                known.insert(entry.key)
                known.formUnion(entry.implementedKeys)
            }
            around += entries
        }
        return overrides
    }

    /// What comes before the test's body.
    nonisolated(nonsending) func begin() async throws {
        for override in overrides where !override.replacesAnything {
            tell(.overrideOfNothing(override.entry, override.near))
        }
        if options.mustStart { try await container.start() }
    }

    /// What comes after the test's body, whatever it did.
    ///
    /// - Parameter error: What the body threw.
    nonisolated(nonsending) func end(failing error: (any Error)?) async {
        for finding in await TestReport.unfinished(in: container) { tell(finding) }
        if error == nil { reportUnusedOverrides() }
        let lateRequests = watcher.end()
        await dispose(failing: error)
        watcher.log.close()
        if options.reportsLeaks { await reportLeaks() }
        reportLater(lateRequests)
    }

    private func reportUnusedOverrides() {
        // One that is being created may not have been called yet.
        let begun = Set(container.activity().creations.map(\.instance.key))
        for override in overrides where override.isOfTest && override.replacesAnything {
            let entry = override.entry
            if !begun.contains(entry.key), !watcher.isUsed(entry) { tell(.unusedOverride(entry)) }
        }
    }

    private nonisolated(nonsending) func dispose(failing error: (any Error)?) async {
        do {
            try await container.dispose(deadline: options.disposalTime)
        } catch let failure as DisposalError {
            for case let error as ResolutionError in failure.errors where error.code == .disposalTimedOut {
                tell(.disposalTimedOut(error, after: options.disposalTime))
            }
        } catch {
            tell(.disposalFailed(error))
        }
        for hook in watcher.failedHooks { tell(.hookFailed(hook.call, hook.error)) }
    }

    /// Instances go when the last task that had them lets go of them, a moment after the container perhaps.
    private nonisolated(nonsending) func reportLeaks() async {
        if await Patience.wait(atMost: .milliseconds(500), until: { watcher.livingInstances.isEmpty }) { return }
        for instance in watcher.livingInstances { tell(.livingInstance(instance.call)) }
    }

    /// Reports what tasks that outlive the test resolve, in a task that has the test as its current one.
    ///
    /// The task ends when nothing has the container any more. It keeps neither this session nor its container: its
    /// task-locals are those from outside them.
    private func reportLater(_ requests: AsyncStream<ServiceKey>) {
        if options.allowed.contains(.lateRequest) { return }
        let report = report
        Task { for await key in requests { report(.lateRequest(key)) } }
    }

    private func tell(_ finding: TestReport) {
        if options.allowed.contains(finding.kind) { return }
        var finding = finding
        finding.site = attributeLines.site(of: finding.key, at: finding.site)
        report(finding)
    }
}
