public import AsyncDI

/// An option of a test's container.
///
/// ```swift
/// @Test(.container(.start, .allowing(.openScope, because: "the player keeps its scope")) {})
/// ```
/// Options of a suite apply to its tests. Those of a test are added to them, and win.
public struct TestContainerOption: Sendable {
    /// The options of all traits of a test.
    struct Values: Sendable {
        var mustStart = false
        var reportsLeaks = false
        var allowed: Set<TestReport.Kind> = []
        var disposalTime = Duration.seconds(30)
        var defaultLifetime = Lifetime.graph
        var makeClock: @Sendable () -> any Clock<Duration> = { ContinuousClock() }
        var observers: [any ContainerObserver] = []

        init(_ options: [TestContainerOption]) { for option in options { option.apply(&self) } }
    }

    private let apply: @Sendable (inout Values) -> Void

    /// Starts the container before the test: creates eager services and loads modules.
    ///
    /// An error of the start fails the test, whose body does not run.
    public static let start = TestContainerOption { $0.mustStart = true }

    /// Reports each instance of a class or actor that is still alive after the end of its container.
    ///
    /// The report covers instances that a factory of the test's container has returned, in every lifetime. Registered
    /// instances (`instance:`) belong to their creator, and are not reported, nor are optional services and those of
    /// `Registration(making:)`. A test that throws is not examined, because its error may hold instances. The recorded
    /// events do not keep instances alive: after the end of the test, they have their arguments and errors as text.
    public static let reportingLeaks = TestContainerOption { $0.reportsLeaks = true }

    /// Switches some kinds of reports off.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of reports.
    ///   - reason: The reason why the test is right nevertheless, for its readers.
    /// - Returns: The option.
    public static func allowing(_ kinds: TestReport.Kind..., because reason: String) -> TestContainerOption {
        TestContainerOption { $0.allowed.formUnion(kinds) }
    }

    /// Limits the time of the disposal after the test; the default is 30 seconds.
    ///
    /// A longer disposal is reported, with the objects that it waits for, and continues in the background.
    ///
    /// - Parameter limit: The time, whatever the container's clock says; longer on a machine that is busy with other
    ///   tests.
    /// - Returns: The option.
    public static func disposal(within limit: Duration) -> TestContainerOption {
        TestContainerOption { $0.disposalTime = limit }
    }

    /// Sets the lifetime of registrations without one, as in the application's own container.
    ///
    /// - Parameter lifetime: The lifetime.
    /// - Returns: The option.
    public static func defaultLifetime(_ lifetime: Lifetime) -> TestContainerOption {
        TestContainerOption { $0.defaultLifetime = lifetime }
    }

    /// Sets the clock of the container, for example to one that the test drives.
    ///
    /// - Parameter makeClock: Creates the clock of one test case.
    /// - Returns: The option.
    public static func clock(_ makeClock: @escaping @Sendable () -> any Clock<Duration>) -> TestContainerOption {
        TestContainerOption { $0.makeClock = makeClock }
    }

    /// Adds an observer beside the test's own.
    ///
    /// - Parameter observer: Receives the events of the container of each test case.
    /// - Returns: The option.
    public static func observer(_ observer: any ContainerObserver) -> TestContainerOption {
        TestContainerOption { $0.observers.append(observer) }
    }
}
