/// A misuse of the tools for tests.
@nonexhaustive
public enum TestContainerError: Error, Sendable, CustomStringConvertible {
    /// The current task has no test container.
    case noTestContainer
    /// The current test container was made by `withTestContainer`, whose registrations are evaluated only once.
    case noRepeatableRegistrations
    /// A finding that could not be an issue of a test, because none of Swift Testing is running here, as in XCTest.
    case unreported(findings: [String])
    /// The events of a container were asked for that is neither the one of the current test nor a scope of it.
    case notOfTest(container: String?)
    /// The container has ended, and the awaited event is not among the listed ones.
    case noSuchEvent(events: [String])

    /// The mistake, and how to correct it.
    public var description: String {
        switch self {
        case .noTestContainer:
            "There is no test container here. Give the test or its suite the trait .container { … }, or run the code inside "
                + "withTestContainer. A detached task does not have it: resolve in the test, and pass the instance on."
        case .noRepeatableRegistrations:
            "The container of withTestContainer is made of registrations that cannot be evaluated again. Pass them to "
                + "withChaos, or give the test or its suite the trait .container { … }."
        case .unreported(let findings):
            findings.joined(separator: "\n")
                + "\nThis is an error because no test of Swift Testing is running here, of which it would be an issue."
        case .notOfTest(let name):
            "The events of \(name.map { "container \"\($0)\"" } ?? "this container") are not recorded: it is neither the "
                + "container of the current test, or round of chaos, nor a scope of it. Use Container.test.events, or "
                + "give a container of your own an observer: Container(observers: […])."
        case .noSuchEvent(let events):
            "The container has ended without the awaited event. Its events: "
                + (events.isEmpty ? "none" : events.joined(separator: "; ")) + "."
        }
    }
}
