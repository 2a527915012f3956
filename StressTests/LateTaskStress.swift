import AsyncDI
import Testing

/// Tasks that outlive their scopes, and scopes that several tasks end.
@Suite(.timeLimit(.minutes(10)))
struct LateTaskStress {
    private struct Setting: Sendable {
        let number: Int
    }

    private struct Answer: Sendable {
        let setting: Setting
    }

    private struct Failure: Error, Equatable {
        let number: Int
    }

    private final class Unit: Sendable {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    /// Requests the answer with the application's setting; a late task's scope had its own setting.
    private typealias Request = @Sendable () async throws -> Answer

    @Test
    func `thousands of tasks that have outlived their scopes are refused, and nobody else with them`() async throws {
        let application = Container {
            Registration(instance: Setting(number: 0))
            Registration(Answer.self) { resolver in
                await Task.yield()
                return Answer(setting: try await resolver.resolve())
            }
        }
        let (lazy, graph) = (Lazy(Answer.self, from: application), GraphIdentifier())
        let requests: [Request] = [
            { try await lazy() }, { try await application.withGraph(graph) { try await $0.resolve() } },
        ]
        let complaints = Complaints()
        let count = Stress.count(4_000)
        await withTaskGroup(of: Void.self) { group in
            for number in 1...count {
                let request = requests[number / 2 % requests.count]
                group.addTask {
                    do {
                        if number.isMultiple(of: 97) { lazy.release() }
                        if number.isMultiple(of: 2) {
                            let answer = try await request()
                            complaints.expect(answer.setting.number == 0, "\(answer)")
                        } else {
                            try await late(number, in: application, complaints, request)
                        }
                    } catch {
                        complaints.add("\(number): \(error)")
                    }
                }
            }
        }
        try #require(complaints.isEmpty, "\(complaints.summary)")
        try await application.dispose()
    }

    /// Makes the request in a task that has outlived its scope.
    private func late(
        _ number: Int, in application: Container, _ complaints: Complaints, _ request: @escaping Request
    ) async throws {
        let isOver = Gate()
        let task = try await application.withScope {
            Registration(instance: Setting(number: number))
        } operation: { _ in
            Task {
                await isOver.wait()
                return try await request()
            }
        }
        isOver.open()
        switch await task.result {
        case .failure(let error): complaints.expect(ResolutionError.Code.disposed ~= error, "\(number): \(error)")
        case .success(let answer): complaints.add("\(number): a late task got \(answer)")
        }
    }

    @Test
    func `every one of several tasks that end a scope receives the error of its commit`() async throws {
        let container = Container {
            Registration(expected: Int.self)
            Registration(Unit.self, lifetime: .scoped) { resolver in Unit(try await resolver.resolve()) }
                .onDispose { unit in
                    await Task.yield()
                    if !unit.number.isMultiple(of: 3) { throw Failure(number: unit.number) }
                }
        }
        let complaints = Complaints()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Stress.count(2_000) {
                group.addTask {
                    do {
                        let scope = try OwnedScope(in: container) { Registration(instance: number) }
                        _ = try await scope.run { try await $0.resolve(Unit.self) }
                        let expected = number.isMultiple(of: 3) ? nil : Failure(number: number)
                        await withTaskGroup(of: Void.self) { ends in
                            for _ in 0..<3 {
                                ends.addTask {
                                    do {
                                        try await scope.end()
                                        complaints.expect(expected == nil, "\(number): an end without error")
                                    } catch {
                                        complaints.expect(error as? Failure == expected, "\(number): \(error)")
                                    }
                                }
                            }
                        }
                    } catch {
                        complaints.add("\(number): \(error)")
                    }
                }
            }
        }
        try #require(complaints.isEmpty, "\(complaints.summary)")
        try await container.dispose()
    }
}
