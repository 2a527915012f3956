import AsyncDI
import AsyncDITesting
import Testing

/// The guarantees of an application, while its factories and hooks suspend, are slow, throw and are cancelled.
///
/// `withChaos` checks after each round that nothing hangs, is created twice, is disposed twice or not at all, and that
/// no error is lost; the tests add what their services promise.
@Suite(.timeLimit(.minutes(10)))
struct ChaosStress {
    private static let seed = Stress.onlySeed ?? 1

    /// Something that is open until its hook has run.
    fileprivate class Resource: @unchecked Sendable {
        // `@unchecked Sendable` because the class has subclasses; the one value that changes is behind a lock.
        private let closed = Locked(false)
        var isClosed: Bool { closed.withLock { $0 } }
        func close() { closed.withLock { $0 = true } }
    }

    fileprivate final class Pool: Resource, @unchecked Sendable {}  // unchecked because its superclass is
    fileprivate final class Work: Resource, @unchecked Sendable {  // unchecked because its superclass is
        let number: Int
        let pool: Pool
        init(number: Int, pool: Pool) { (self.number, self.pool) = (number, pool) }
    }

    fileprivate struct Request: Sendable {
        let number: Int
        var tenant: String { "tenant \(number % 3)" }
    }

    fileprivate struct Handler: Sendable {
        let work: Work
        let request: Request
    }

    @Test func `a request's work is committed or rolled back, once, before its pool is closed`() async throws {
        let complaints = Complaints()
        let ends = Locked<[Int: [Bool]]>([:])
        let requests = Numbers()
        try await withChaos(seed: Self.seed, rounds: Stress.count(60)) {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { (_, _: String) in Pool() }.onDispose {
                $0.close()
            }
            Registration(expected: Request.self)
            Registration(
                using: { (request: Request, pool: Pool) in Work(number: request.number, pool: pool) },
                with: .resolved, .leased(by: { (request: Request) in request.tenant }), lifetime: .scoped
            )
            .onDispose { work, reason in
                complaints.expect(!work.pool.isClosed, "the pool of \(work.number) was closed before it")
                ends.withLock { $0[work.number, default: []].append(reason.error == nil) }
            }
            Registration(using: Handler.init)
        } operation: { container in
            await withTaskGroup { group in
                for _ in 0..<12 {
                    let number = requests.next()
                    group.addTask {
                        do {
                            try await container.withScope {
                                Registration(instance: Request(number: number))
                            } operation: { _ in
                                let handler = try await container.resolve(Handler.self)
                                complaints.expect(handler.work.number == number, "\(number) got another's work")
                                complaints.expect(!handler.work.pool.isClosed, "\(number) got a closed pool")
                            }
                            // A job that has returned is committed.
                            complaints.expect(ends.withLock { $0[number] } == [true], "\(number) was not committed")
                        } catch {
                            // A hook may have failed after it had committed; but it ran once at most.
                            complaints.expect(
                                ends.withLock { $0[number, default: []].count } <= 1, "\(number) ended twice")
                        }
                    }
                }
            }
        }
        #expect(complaints.isEmpty, "\(complaints.summary)")
        #expect(ends.withLock { $0.count } > 12)
    }

    fileprivate final class Settings: Resource, @unchecked Sendable {}  // unchecked because its superclass is
    fileprivate final class Database: Resource, @unchecked Sendable {  // unchecked because its superclass is
        let settings: Settings
        init(settings: Settings) { self.settings = settings }
    }
    fileprivate final class Mailer: Resource, @unchecked Sendable {  // unchecked because its superclass is
        let settings: Settings
        init(settings: Settings) { self.settings = settings }
    }
    fileprivate final class Engine: Resource, @unchecked Sendable {  // unchecked because its superclass is
        let database: Database
        let mailer: Mailer
        init(database: Database, mailer: Mailer) { (self.database, self.mailer) = (database, mailer) }
    }

    @RegistrationBuilder
    private static func engine(_ complaints: Complaints, lifetime: Lifetime = .singleton) -> Registrations {
        Registration(Settings.self, lifetime: .singleton) { _ in Settings() }.eager().onDispose { $0.close() }
        Registration(using: Database.init, lifetime: .singleton).eager().onDispose { database in
            complaints.expect(!database.settings.isClosed, "the settings were closed before the database")
            database.close()
        }
        Registration(using: Mailer.init, lifetime: .singleton).onDispose { mailer in
            complaints.expect(!mailer.settings.isClosed, "the settings were closed before the mailer")
            mailer.close()
        }
        Registration(using: Engine.init, lifetime: lifetime).onDispose { engine in
            complaints.expect(
                !engine.database.isClosed && !engine.mailer.isClosed, "a part was closed before the engine")
            engine.close()
        }
    }

    @Test func `a start that fails is repeated until everything is created, in order`() async throws {
        let complaints = Complaints()
        let starts = Numbers()
        let rounds = Stress.count(60, atLeast: 20)
        try await withChaos(seed: Self.seed, rounds: rounds) {
            Self.engine(complaints)
        } operation: { container in
            var isStarted = false
            for _ in 0..<1_000 where !isStarted {
                _ = starts.next()
                do {
                    try await container.start()
                    isStarted = true
                } catch {
                    // The instances of the start are gone, and no others have been created.
                    let isThere = (try? container.ready(Database.self)) != nil
                    complaints.expect(!isThere, "a start that failed left something behind")
                }
            }
            guard isStarted else { return complaints.add("a thousand starts failed") }
            let database = try container.ready(Database.self)
            complaints.expect(!database.isClosed, "the start left a closed database")
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        guard let engine = try? await container.resolve(Engine.self) else { return }
                        complaints.expect(engine.database === database, "the engine has another database")
                    }
                }
            }
        }
        #expect(complaints.isEmpty, "\(complaints.summary)")
        // One more for the number of this call, and some because starts were repeated.
        #expect(starts.next() > rounds + 1)
    }

    @Test func `an application that is disposed under its requests closes everything in order`() async throws {
        let complaints = Complaints()
        try await withChaos(seed: Self.seed, rounds: Stress.count(60)) {
            Self.engine(complaints, lifetime: .scoped)
        } operation: { container in
            await withTaskGroup { group in
                for number in 0..<12 {
                    group.addTask {
                        for _ in 0..<number { await Task.yield() }
                        _ = try? await container.withScope { outer in
                            _ = try await outer.resolve(Engine.self)
                            try await outer.withScope { inner in
                                _ = try await inner.resolve(Engine.self)
                                await Task.yield()
                            }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<20 { await Task.yield() }
                    try? await container.dispose()
                }
            }
        }
        #expect(complaints.isEmpty, "\(complaints.summary)")
    }

    fileprivate final class Parent: Sendable {
        let child: Child
        init(child: Child) { self.child = child }
    }
    fileprivate final class Child: Sendable {
        private let held = Locked<Parent?>(nil)
        var parent: Parent? { held.withLock { $0 } }
        func hold(_ parent: Parent?) { held.withLock { $0 = parent } }
    }

    @Test func `a cycle of properties is complete or not visible at all`() async throws {
        let complaints = Complaints()
        let found = Numbers()
        try await withChaos(seed: Self.seed, rounds: Stress.count(100)) {
            Registration(using: Parent.init, lifetime: .singleton).onDispose { _ in }
            Registration(Child.self, lifetime: .singleton) { _ in Child() }
                .injectProperties { resolver, child in child.hold(try await resolver.resolve(Parent.self)) }
                .onDispose { $0.hold(nil) }
        } operation: { container in
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        if number.isMultiple(of: 2) {
                            guard let parent = try? await container.resolve(Parent.self) else { return }
                            complaints.expect(parent.child.parent === parent, "a child had another parent")
                        } else {
                            guard let child = try? await container.resolve(Child.self) else { return }
                            complaints.expect(child.parent?.child === child, "a parent had another child")
                        }
                        _ = found.next()
                    }
                }
            }
        }
        #expect(complaints.isEmpty, "\(complaints.summary)")
        #expect(found.next() > 1)
    }

    @Test func `registrations that are replaced and reset in chaos leave nothing behind`() async throws {
        try await withChaos(seed: Self.seed, rounds: Stress.count(60), resets: true) {
            Registration(Settings.self, lifetime: .singleton) { _ in Settings() }.onDispose { $0.close() }
            Registration(using: Database.init, lifetime: .singleton).onDispose { $0.close() }
            Registration(Pool.self, lifetime: .multiton(capacity: 2)) { (_, _: String) in Pool() }.onDispose {
                $0.close()
            }
        } operation: { container in
            await withTaskGroup { group in
                for number in 0..<16 {
                    group.addTask {
                        _ = try? await container.resolve(Database.self)
                        _ = try? await container.resolve(Pool.self, arguments: "\(number % 4)")
                        switch number % 8 {
                        case 1: try? await container.reset(Settings.self)
                        case 3: try? await container.reset(.multiton)
                        case 5:
                            try? await container.register(
                                Registration(Settings.self, lifetime: .singleton) { _ in Settings() }
                                    .onDispose { $0.close() })
                        case 7:
                            try? await container.withInstance(Pool.self, arguments: "0") { _ in
                                _ = try await container.resolve(Pool.self, arguments: "3")
                            }
                        default: break
                        }
                    }
                }
            }
        }
    }
}

/// Numbers from one on.
private final class Numbers: Sendable {
    private let last = Locked(0)

    func next() -> Int {
        last.withLock {
            $0 += 1
            return $0
        }
    }
}
