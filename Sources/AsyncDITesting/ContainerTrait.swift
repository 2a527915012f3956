public import AsyncDI
public import Testing

/// Gives each test case a container of its own; see ``Testing/Trait/container(_:sourceLocation:_:)``.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    private let options: [TestContainerOption]
    private let registrations: @Sendable () -> Registrations
    private let sourceLocation: SourceLocation

    init(
        _ options: [TestContainerOption], _ sourceLocation: SourceLocation,
        _ registrations: @escaping @Sendable () -> Registrations
    ) {
        self.options = options
        self.sourceLocation = sourceLocation
        self.registrations = registrations
    }

    /// A suite's trait holds for each test in it.
    public var isRecursive: Bool { true }

    /// Runs a test case with its container, which all container traits of the test make together.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The case; nil for a suite, which has no container.
    ///   - function: The case's body, and what the other traits do.
    /// - Throws: What the body, or the start of the container, throws.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // The outermost trait has made the container for all of them.
        if testCase == nil || TestSession.current?.testID == test.id { return try await function() }
        let traits = test.traits.compactMap { $0 as? ContainerTrait }
        let place = test.sourceLocation
        let layers = traits.map { TestSession.Layer(registrations: $0.registrations(), isOfTest: $0.belongs(to: test)) }
        let session = TestSession(
            layers, TestContainerOption.Values(traits.flatMap(\.options)), testID: test.id,
            again: { Registrations { for trait in traits { trait.registrations() } } },
            attributeLines: AttributeLines(
                zip(traits, layers).map { .init(place: $0.sourceLocation, registrations: $1.registrations) })
        ) { report in
            report.record(near: place)
        }
        do {
            try await session.begin()
            try await Injection.with(session.container) {
                try await TestSession.$current.withValue(session) { try await function() }
            }
        } catch {
            await session.end(failing: error)
            throw error
        }
        await session.end(failing: nil)
    }

    /// Whether the trait stands at the test itself, behind its attribute, and not at a suite around it.
    private func belongs(to test: Test) -> Bool {
        let place = test.sourceLocation
        return sourceLocation.fileID == place.fileID
            && (sourceLocation.line, sourceLocation.column) >= (place.line, place.column)
    }
}

extension Trait where Self == ContainerTrait {
    /// Gives each case of a test, or of every test in a suite, a container of its own.
    ///
    /// ```swift
    /// @Suite(.container { AppModule() })
    /// struct CheckoutTests {
    ///     @Test(.container { Registration((any PaymentGateway).self, instance: FakeGateway()) })
    ///     func `a declined card leaves the basket alone`() async throws {
    ///         let checkout = try await Container.test.resolve(Checkout.self)
    ///     }
    /// }
    /// ```
    /// The container is made before the test and disposed after it, within the test's time limit, whatever the test did.
    /// Suites nest, and the innermost registration of a key wins. The outermost `.container` says what there is; a
    /// registration of an inner one is an override, and one that replaces nothing is reported: see ``TestReport``.
    ///
    /// A report is recorded at the line of the registration that it is about, and at the test when there is none. The
    /// compiler gives registrations that stand inside the attribute itself the line of the test or suite below it: their
    /// own lines are looked up in the source. Where that is impossible, as with an `if` in the attribute, the report has
    /// the line below.
    ///
    /// - Parameters:
    ///   - options: What the container does besides.
    ///   - sourceLocation: The place of the trait, by which it belongs to the test or to its suite.
    ///   - registrations: The registrations; evaluated for each case.
    /// - Returns: The trait.
    public static func container(
        _ options: TestContainerOption..., sourceLocation: SourceLocation = #_sourceLocation,
        @RegistrationBuilder _ registrations: @escaping @Sendable () -> Registrations
    ) -> Self {
        ContainerTrait(options, sourceLocation, registrations)
    }
}
