import AsyncDI

/// The texts of all reports.
extension TestReport {
    static func overrideOfNothing(_ entry: Registrations.Entry, _ near: [Registrations.Entry]) -> TestReport {
        let known =
            near.isEmpty
            ? "Nothing is registered for \(readableName(of: entry.key.service))."
            : "Registered are \(near.map(\.description).joined(separator: ", "))."
        return TestReport(
            .overrideOfNothing,
            "The override \(entry.key) replaces nothing. \(known) Correct its type, qualifier or arguments; if the test "
                + "adds a service of its own, say so",
            site: entry.site, key: entry.key)
    }

    static func decorationOfNothing(_ key: ServiceKey, at site: RegistrationSite) -> TestReport {
        TestReport(
            .overrideOfNothing,
            "The decoration of \(key) applies to no registration. Correct its type or qualifier; decorate a value that a "
                + "scope supplies there; if the test registers the service later, say so",
            site: site, key: key)
    }

    /// The override is named with the place of another registration of its key, if requests have reached that.
    static func unusedOverride(_ entry: Registrations.Entry, hiddenBy other: RegistrationSite?) -> TestReport {
        let what =
            other.map {
                "Requests did not reach the override \(entry.key), but the registration at \($0): a nearer one, as that of a "
                    + "scope is, or a later one. Override there, or what that registration needs"
            } ?? "The test resolved neither the override \(entry.key) nor anything that needs it. Remove it"
        return TestReport(.unusedOverride, "\(what), or say why it stays", site: entry.site, key: entry.key)
    }

    static func lateRequest(_ call: TestWatcher.LateCall) -> TestReport {
        let what =
            switch call {
            case .request(let key): "\(key) was requested"
            case .scope(let name): "The scope \"\(singleLine(name))\" was to be opened"
            }
        return TestReport(
            .lateRequest,
            "\(what) after the test had ended, by a task that outlived it. Await the task in the test, or cancel it; or "
                + "say why it may")
    }

    static func livingInstance(_ call: InterceptedCall) -> TestReport {
        TestReport(
            .livingInstance,
            "An instance of \(call.key) is still alive after the end of its container. Look for a cycle of references, a "
                + "task that runs on, or a global that holds it; or say why it stays",
            site: call.site, key: call.key)
    }

    static func hookFailed(_ call: InterceptedCall, _ error: any Error) -> TestReport {
        let advice =
            call.hasCaller
            ? "If it is meant to, dispose the container in the test and expect the error"
            : "No caller got the error: the instance was evicted, replaced or unregistered, or its scope ended because of "
                + "another error, or was dropped. Fix the hook"
        return TestReport(
            .failedDisposal,
            "The onDispose of \(call.key) threw at \(call.hasCaller ? "the end of the test" : "a disposal in the background"): "
                + "\(escaped("\(error)")). \(advice), or say why",
            site: call.site, key: call.key)
    }

    static func disposalTimedOut(_ error: ResolutionError, after limit: Duration) -> TestReport {
        TestReport(
            kind: .failedDisposal,
            message: "The container of the test was not disposed within \(limit). \(error) "
                + "A longer time is given by .disposal(within: …).",
            site: error.sites.last ?? nil, key: error.path.last)
    }

    /// The error of a container below that of the test, with settings of its own, or of the disposal itself.
    static func disposalFailed(_ error: any Error, of service: String?) -> TestReport {
        let text = escaped(service.map { "\($0): \(error)" } ?? "\(error)")
        return TestReport(
            .failedDisposal,
            "The container of the test, or one below it, could not be disposed: \(text)"
                + (text.hasSuffix(".") ? "" : ".")
                + " If it is meant to fail, dispose it in the test and expect the error, or say why")
    }
}
