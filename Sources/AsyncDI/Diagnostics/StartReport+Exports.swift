extension StartReport {
    /// The start as a Mermaid Gantt chart, which GitHub and others draw in a page.
    ///
    /// A bar for each service, those of the critical path marked; no bar is shorter than a millisecond, and none begins
    /// before the start.
    ///
    /// - Returns: The text.
    public func mermaid() -> String {
        let critical = Set(criticalPath.map(\.bar))
        var text = "gantt\n    dateFormat x\n    axisFormat %S.%L s\n"
        for service in services {
            let begin = max(0, service.begin.milliseconds)
            let end = max(service.end.milliseconds, begin + 1)
            // A colon ends the name, a comma or semicolon would be read too, and percent signs begin comments.
            var name = String("\(service.key)".map { $0.isNewline || ":;,#%".contains($0) ? " " : $0 })
            // A zero-width space, so that a name does not begin as a statement of the chart does.
            if Self.statements.contains(where: name.lowercased().hasPrefix) { name = "\u{200B}" + name }
            text += "    \(name) :\(critical.contains(service.bar) ? "crit, " : "")\(begin), \(end)\n"
        }
        return text
    }

    /// The keywords that begin the other lines of a Mermaid Gantt chart.
    private static let statements = [
        "accdescr", "acctitle", "axisformat", "call", "click", "dateformat", "excludes", "gantt", "href", "includes",
        "inclusiveenddates", "section", "tickinterval", "title", "todaymarker", "topaxis", "weekday", "weekend",
    ]

    /// The start as a trace in the Trace Event Format (JSON), which Perfetto and Chrome open.
    ///
    /// Times are those since the start; where a creation was under way before, those since its beginning, because
    /// viewers drop negative ones.
    public func traceEvents() -> String {
        let origin = min(.zero, services.map(\.begin).min() ?? .zero)
        var lanes: [Duration] = []
        let events = services.map { service in
            let lane = lanes.firstIndex { $0 <= service.begin } ?? lanes.count
            if lane == lanes.count { lanes.append(service.end) } else { lanes[lane] = service.end }
            let (begin, duration, own) = (
                (service.begin - origin).microseconds, service.duration.microseconds, service.ownDuration.microseconds
            )
            return """
                {"name":\(service.key.description.quotedForJSON),"ph":"X","ts":\(begin),"dur":\(duration),\
                "pid":1,"tid":\(lane + 1),"args":{"own":\(own),"created":\(service.isCreated)}}
                """
        }
        return "{\"traceEvents\":[\(events.joined(separator: ",\n"))],\"displayTimeUnit\":\"ms\"}"
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }

    fileprivate var microseconds: Int64 { Int64(attoseconds / 1_000_000_000_000) }
}

extension StartReport.Service {
    /// Distinguishes the bars of a chart: a service with arguments may have several.
    fileprivate var bar: [AnyHashable] { [key, begin, duration] }
}
