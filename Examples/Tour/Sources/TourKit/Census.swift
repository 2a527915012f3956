/// Counts every file of the directory.
///
/// Its initializer receives its dependencies, and it knows no container: a closure counts one file.
struct Census: Sendable {
    private let settings: Settings
    private let tree: SourceTree
    private let report: any ReportStore

    init(settings: Settings, tree: SourceTree, report: any ReportStore) {
        self.settings = settings
        self.tree = tree
        self.report = report
    }

    func take(counting count: @escaping @Sendable (SourceFile) async throws -> Void) async throws -> Report {
        let listing = tree.list()
        for path in listing.unreadable { await report.skip(path, .unreadable) }
        // So many files at a time: whenever one is done, the next one starts.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, file) in listing.files.enumerated() {
                if index >= settings.concurrency { try await group.next() }
                group.addTask {
                    do {
                        try await count(file)
                    } catch let reason as SkipReason {
                        // A factory's own error, `OpenFile`'s for example, arrives as it was thrown.
                        await report.skip(file.path, reason)
                    }
                }
            }
            try await group.waitForAll()
        }
        return await report.report
    }
}
