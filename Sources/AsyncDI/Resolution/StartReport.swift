/// The result of ``Container/start()``: the created services, their durations, and the chain that the start waited for.
///
/// ```swift
/// let report = try await container.start()
/// print(report)  // start took 2.3 s; Database → Catalog → Cache took 2.1 s of it
/// #expect(report.duration < .seconds(3))
/// ```
public struct StartReport: Sendable, CustomStringConvertible {
    /// A shared instance that was created meanwhile.
    public struct Service: Sendable {
        /// The service.
        public let key: ServiceKey
        /// The time from the beginning of the start to that of the creation; negative for one that was under way.
        public let begin: Duration
        /// The time from the beginning of the creation to its end.
        public let duration: Duration
        /// The part of ``duration`` in which the creation did not wait for other shared instances.
        ///
        /// A wait counts as its own, and its target is no dependency, if it began before the start; for an instance of
        /// another container, if it began before a service of the start waited for that instance.
        public let ownDuration: Duration
        /// The shared services that the creation waited for, in the order of their ends.
        public let dependencies: [ServiceKey]
        /// Whether an instance was created: false when the factory or a hook threw.
        public let isCreated: Bool

        /// The time from the beginning of the start to the end of the creation.
        public var end: Duration { begin + duration }
    }

    /// The services in the order in which their creations began.
    public let services: [Service]
    /// The time that the start took, by the container's clock.
    public let duration: Duration
    /// The chain of services that ended last, each of which waited for the one before it.
    ///
    /// The start is not faster until one of these is.
    public let criticalPath: [Service]

    /// The duration, the critical path, and a line for each service.
    public var description: String {
        var lines = ["start took \(duration.readable)"]
        if let last = criticalPath.last, let begin = criticalPath.map(\.begin).min() {
            let path = criticalPath.map { "\($0.key)" }.joined(separator: " → ")
            // A creation may have begun before the start; the last one may have worked before it waited for the others.
            let part = last.end - max(.zero, begin)
            lines[0] += "; \(path) took \(part.readable) of it"
        }
        for service in services {
            let (duration, own) = (service.duration.readable, service.ownDuration.readable)
            lines.append("\(service.key): \(duration), of which its own \(own)")
        }
        return lines.joined(separator: "\n")
    }
}
