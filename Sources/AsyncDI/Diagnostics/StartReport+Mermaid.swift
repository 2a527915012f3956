extension StartReport {
    /// The start as a Mermaid Gantt chart, which GitHub and others draw in a page.
    ///
    /// A bar for each service, those of the critical path marked; no bar is shorter than a millisecond.
    ///
    /// - Returns: The text.
    public func mermaid() -> String {
        let critical = Set(criticalPath.map(\.key))
        var text = "gantt\n    dateFormat x\n    axisFormat %S.%L s\n"
        for service in services {
            let begin = service.begin.milliseconds
            let end = max(service.end.milliseconds, begin + 1)
            // A colon ends the name, and a comma or semicolon would be read too.
            let name = String("\(service.key)".map { ":;,#\n".contains($0) ? " " : $0 })
            text += "    \(name) :\(critical.contains(service.key) ? "crit, " : "")\(begin), \(end)\n"
        }
        return text
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
}
