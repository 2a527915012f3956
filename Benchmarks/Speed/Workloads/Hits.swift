import AsyncDI

/// Requests for an existing singleton.
func registerHits() {
    compare("hit", operations: 20_000) {
        let (cells, container) = (snapshot(), try await readyContainer())
        return .each {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
    compare("hit-lock", operations: 20_000) {
        let (cells, container) = (LockedCells(), try await readyContainer())
        cells.store((any Service).self, SomeService())
        for type in hundredTypes.dropFirst() { add(type) }
        func add<Value: Numbered>(_ type: Value.Type) { cells.store(type, type.init()) }
        return .each {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
    compare("hit-actor", operations: 20_000) {
        let (cells, container) = (ActorCells(), try await readyContainer())
        await cells.store((any Service).self, SomeService())
        for type in hundredTypes.dropFirst() { await add(type) }
        func add<Value: Numbered>(_ type: Value.Type) async { await cells.store(type, type.init()) }
        return .each {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
    compare("hit-scope", operations: 20_000) {
        let (cells, container) = (snapshot(), try await readyContainer())
        let scope = try await container.openScope("outer").openScope("inner")
        return .each {
            for _ in 0..<$0 { consume(try await scope.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
    compare("hit-100000", operations: 20_000) {
        let small = try await readyContainer()
        let large = Container {
            serviceAmongHundred()
            for index in 0..<Effort.scaled(99_900) {
                Registration(SomeService.self, qualifier: Slot(index: index), lifetime: .singleton) { _ in SomeService()
                }
            }
        }
        _ = try await large.resolve((any Service).self)
        return .each {
            for _ in 0..<$0 { consume(try await large.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await small.resolve((any Service).self)) }
        }
    }
    compare("hit-observed", operations: 20_000) {
        let (plain, observed) = (try await readyContainer(), Container(observers: [Silent()]) { serviceAmongHundred() })
        _ = try await observed.resolve((any Service).self)
        return .each {
            for _ in 0..<$0 { consume(try await observed.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await plain.resolve((any Service).self)) }
        }
    }
    compare("hit-recorded", operations: 20_000) {
        let (plain, recorded) = (try await readyContainer(), try await readyContainer())
        await recorded.startRecording()
        _ = try await recorded.resolve((any Service).self)
        await recorded.stopRecording()
        return .each {
            for _ in 0..<$0 { consume(try await recorded.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await plain.resolve((any Service).self)) }
        }
    }
    compare("hit-ready", operations: 10_000) {
        let container = try await readyContainer()
        return .each {
            for _ in 0..<$0 { consume(try container.ready((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self)) }
        }
    }
    compare("hit-qualifier", operations: 10_000) {
        let cells = snapshot()
        let container = Container {
            serviceAmongHundred()
            Registration((any Service).self, qualifier: Slot(index: 1), lifetime: .singleton) { _ in SomeService() }
        }
        _ = try await container.resolve((any Service).self, qualifier: Slot(index: 1))
        return .each {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self, qualifier: Slot(index: 1))) }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
}

/// The same from several tasks at once, each on a thread of its own; the time is that of all tasks divided by all
/// operations.
func registerContention() {
    for tasks in [2, 8, 64] {
        compare("hit-\(tasks)-tasks", operations: 640_000, rounds: 50) {
            let (cells, container, threads) = (snapshot(), try await readyContainer(), Threads(tasks))
            return .each { operations in
                try await concurrently(tasks, on: threads) {
                    for _ in 0..<operations / tasks { consume(try await container.resolve((any Service).self)) }
                }
            } baseline: { operations in
                try await concurrently(tasks, on: threads) {
                    for _ in 0..<operations / tasks { consume(try await cells.resolve((any Service).self)) }
                }
            }
        }
    }
}

/// S with the same hundred types.
func snapshot() -> SnapshotCells {
    let cells = SnapshotCells()
    cells.store((any Service).self, SomeService())
    func add<Value: Numbered>(_ type: Value.Type) { cells.store(type, type.init()) }
    for type in hundredTypes.dropFirst() { add(type) }
    return cells
}

/// Receives every event and does nothing.
private struct Silent: ContainerObserver {
    func container(_ container: Container, did event: ContainerEvent) {}
}
