import AsyncDI

/// The only place that knows the container: it is built, used and disposed here.
package struct Tour {
    private let settings: Settings
    private let instances: InstanceCounts
    private let container: Container

    package init(_ settings: Settings) {
        self.init(settings, overrides: Registrations())
    }

    /// A test replaces services by registrations of its own, which come last and so win.
    init(_ settings: Settings, overrides: Registrations) {
        let instances = InstanceCounts()
        self.settings = settings
        self.instances = instances
        container = Container(name: "tour", observers: [instances]) {
            ReportModule(settings: settings)
            FileModule()
            overrides
        }
    }

    /// Counts every file, then closes everything, also when it fails: afterwards the report is on disk.
    package func run() async throws -> Summary {
        if settings.graph != nil { await container.startRecording() }
        let report: Report
        do {
            report = try await container.resolve(Census.self).take(counting: count)
        } catch {
            // The user should see the first error.
            try? await container.dispose()
            throw error
        }
        let graph = await container.dependencyGraph()
        try await container.dispose()
        return Summary(
            report: report, instances: instances.byService, location: settings.report,
            graph: settings.graph.map { $0 == .dot ? graph.dot() : graph.mermaid() })
    }

    /// Checks every registration without running a factory.
    func validate() async throws { try await container.validate() }

    /// Counts a file in its own scope, which ends with it and closes what it opened.
    private func count(_ file: SourceFile) async throws {
        try await container.withScope(file.path) {
            Registration(instance: file)
        } operation: { scope in
            try await scope.resolve(FileCensus.self).run()
        }
    }
}
