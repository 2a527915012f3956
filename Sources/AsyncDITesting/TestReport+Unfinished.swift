import AsyncDI

extension TestReport {
    /// Returns the work that a test has left behind in a container.
    ///
    /// Waits a moment for work that was cancelled, or is about to end by itself.
    static nonisolated(nonsending) func unfinished(
        in container: Container, allowing allowed: Set<Kind> = [], grace: Duration = .milliseconds(100)
    ) async -> [TestReport] {
        var reports: [TestReport] = []
        _ = await Patience.wait(atMost: grace) {
            reports = unfinished(container.activity()).filter { !allowed.contains($0.kind) }
            return reports.isEmpty
        }
        return reports
    }

    private static func unfinished(_ activity: ActivitySnapshot) -> [TestReport] {
        let creations = activity.creations.map { creation in
            var message = "\(creation.instance) is still being created, for \(creation.duration)"
            if creation.path.count > 1 {
                message += ", requested by \(creation.path.map(\.description).joined(separator: " → "))"
            }
            if !creation.waits.isEmpty {
                message += "; it waits for \(creation.waits.map(\.target).joined(separator: ", "))"
            }
            message +=
                ". Await the request in the test, or let its factory end when it is cancelled; or say why it may run on"
            return TestReport(
                .unfinishedCreation, message, site: creation.instance.site, key: creation.instance.key)
        }
        // A lease held by an instance ends with the container, or with its scope.
        let leases = activity.leases.filter { $0.bodies > 0 }.map { lease in
            TestReport(
                .openLease,
                "\(lease.instance) is still leased, for \(lease.duration), by a body that runs on. Await the call of "
                    + "withInstance in the test; or say why it may run on",
                site: lease.instance.site, key: lease.instance.key)
        }
        let scopes = activity.scopes.map { scope in
            let advice =
                scope.hasOwner
                ? "Await the body of its withScope, or let go of its OwnedScope"
                : "Dispose it in the test, or use withScope"
            return TestReport(
                .openScope,
                "The \(scope.isDisposed ? "body of the disposed scope" : "scope") \"\(singleLine(scope.name))\" of "
                    + "\(scope.container) \(scope.isDisposed ? "runs on" : "is still open"), for \(scope.duration). "
                    + "\(advice); or say why it stays open")
        }
        return creations + leases + scopes
    }
}
