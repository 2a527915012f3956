import AsyncDI

/// The census of a directory: the place where the container is built, used and disposed.
package struct Tour {
    private let settings: Settings
    private let runs: FactoryRuns
    private let container: Container

    package init(_ settings: Settings) {
        let runs = FactoryRuns()
        self.settings = settings
        self.runs = runs
        container = Container(name: "tour") {
            ReportModule(settings: settings, runs: runs)
            FileModule(runs: runs)
        }
    }

    /// Counts every file, then closes everything, also when it fails: afterwards the report is on disk.
    package func run() async throws -> Summary {
        if settings.graph != nil { await container.startRecording() }
        let report: Report
        do {
            report = try await takeCensus()
        } catch {
            // The user should see the first error.
            try? await container.dispose()
            throw error
        }
        let graph = await container.dependencyGraph()
        try await container.dispose()
        return Summary(
            report: report, factoryRuns: await runs.byService, location: settings.report,
            graph: settings.graph.map { $0 == .dot ? graph.dot() : graph.mermaid() })
    }

    /// Checks every registration without running a factory.
    func validate() async throws { try await container.validate() }

    private func takeCensus() async throws -> Report {
        let listing = try await container.resolve(SourceTree.self).list()
        let report = try await container.resolve(ReportStore.self)
        for path in listing.unreadable { await report.skip(path, .unreadable) }
        try await count(listing.files)
        return await report.report
    }

    /// Counts the files, so many at a time: whenever one is done, the next one starts.
    private func count(_ files: [SourceFile]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, file) in files.enumerated() {
                if index >= settings.concurrency { try await group.next() }
                group.addTask { try await count(file) }
            }
            try await group.waitForAll()
        }
    }

    /// Counts a file in a scope of its own, which ends with it.
    ///
    /// A file that cannot be read is reported and skipped.
    private func count(_ file: SourceFile) async throws {
        do {
            try await container.withScope(file.path) {
                Registration(instance: file)
            } operation: { scope in
                try await scope.resolve(FileCensus.self).run()
            }
        } catch let reason as SkipReason {
            // A factory's own error, `OpenFile`'s for example, arrives as it was thrown.
            try await container.resolve(ReportStore.self).skip(file.path, reason)
        }
    }
}
