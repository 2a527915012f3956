import AsyncDI

/// How often each factory has made an instance.
actor FactoryRuns {
    private(set) var byService: [String: Int] = [:]

    func add(_ service: String) {
        byService[service, default: 0] += 1
    }
}

extension Registration where Service: Sendable {
    /// The registration, and every instance that it makes is counted.
    func counted(by runs: FactoryRuns) -> Self {
        onCreate { _, _ in await runs.add("\(Service.self)") }
    }
}
