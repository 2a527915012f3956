public import AsyncDI
public import Testing

/// Creates a container for each test case; see ``Testing/Trait/container(_:sourceLocation:_:)``.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    private let options: [TestContainerOption]
    private let registrations: @Sendable () -> Registrations
    private let sourceLocation: SourceLocation
    /// Whether a suite has the trait; known before its tests run.
    private let suiteMark = Locked(false)
    private var isOfSuite: Bool { suiteMark.withLock { $0 } }

    init(
        _ options: [TestContainerOption], _ sourceLocation: SourceLocation,
        _ registrations: @escaping @Sendable () -> Registrations
    ) {
        self.options = options
        self.sourceLocation = sourceLocation
        self.registrations = registrations
    }

    /// A suite's trait applies to each test in it.
    public var isRecursive: Bool { true }

    /// Notes that a suite has the trait.
    ///
    /// - Parameter test: The suite, or a test in it.
    /// - Throws: Nothing.
    public func prepare(for test: Test) async throws {
        if test.isSuite { suiteMark.withLock { $0 = true } }
    }

    /// Runs a test case with its container, which all container traits of the test create together.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The case; nil for a suite, which has no container.
    ///   - function: The case's body, with the scopes of the other traits.
    /// - Throws: The error of the body, or of the container's start.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // The outermost trait has created the container for all of them.
        if testCase == nil || TestContainer.current?.session?.testID == test.id { return try await function() }
        let traits = test.traits.compactMap { $0 as? ContainerTrait }
        let place = test.sourceLocation
        let layers = traits.map { TestSession.Layer(registrations: $0.registrations(), isOfTest: !$0.isOfSuite) }
        let session = TestSession(
            layers, TestContainerOption.Values(traits.flatMap(\.options)), testID: test.id,
            again: { Registrations { for trait in traits { trait.registrations() } } },
            attributeLines: AttributeLines(
                zip(traits, layers).map { .init(place: $0.sourceLocation, registrations: $1.registrations) })
        ) { report in
            report.record(near: place)
        }
        try await session.run { _ in try await function() }
    }
}

extension Trait where Self == ContainerTrait {
    /// Creates a container for each case of a test, or of every test in a suite.
    ///
    /// ```swift
    /// @Suite(.container { AppModule() })
    /// struct CheckoutTests {
    ///     @Test(.container { Registration((any PaymentGateway).self, instance: FakeGateway()) })
    ///     func `a declined card leaves the basket alone`() async throws {
    ///         let checkout = try await Container.test.resolve(Checkout.self)
    ///         await #expect(throws: Declined.self) { try await checkout.pay(10) }
    ///     }
    /// }
    /// ```
    /// The container is created before the test and disposed after it, within the test's time limit, whatever the
    /// result of the test. Suites nest, and the innermost registration of a key wins. The outermost `.container` holds
    /// the base registrations. A registration of an inner one is an override, and one that replaces nothing is
    /// reported: see ``TestReport``.
    ///
    /// A trait that several tests share is a computed property or a function: a stored one that a suite has, too,
    /// counts as that suite's.
    ///
    /// A report is recorded at the line of the registration that it is about, and at the test when there is none. The
    /// compiler gives registrations that stand inside the attribute itself the line of the test or suite below it:
    /// their own lines are looked up in the source. Where that is impossible, as with an `if` in the attribute, the
    /// report has the line below.
    ///
    /// - Parameters:
    ///   - options: The options of the container.
    ///   - sourceLocation: The trait's source location, at which registrations of an attribute are looked up.
    ///   - registrations: The registrations; evaluated for each case.
    /// - Returns: The trait.
    public static func container(
        _ options: TestContainerOption..., sourceLocation: SourceLocation = #_sourceLocation,
        @RegistrationBuilder _ registrations: @escaping @Sendable () -> Registrations
    ) -> Self {
        ContainerTrait(options, sourceLocation, registrations)
    }
}
