import AsyncDI

/// One run of an `onDispose` hook.
final class HookRun: Sendable {
    let isOver = Counter()
}

/// The instances that a factory received, which its instance will hold.
final class Hand: Sendable {
    let content = Locked<[Made]>([])
}

/// The code that performs a step, and its surroundings.
struct Situation: Sendable {
    var actor: String
    var resolver: Resolver?
    /// The containers of the resolver, where it is not that of a run.
    var resolverAsks: [Home]?
    /// The container that the code runs for; nil in a task of the test, and in a hook.
    var here: Container?
    /// The scopes of the `withScope` bodies around it.
    var scopes: [Container] = []
    /// The hooks that the code, or the task that started it, is part of.
    var hooks: [HookRun] = []
    /// Whether another activity waits for it: a creation, a disposal, a module, the end of a lease.
    var isAwaited = false
    var isInsideRun = false
    /// Whether it may be inside an unknown scope: its task was started by a factory, wherever that ran.
    var isAnywhere = false
    /// Whether the waits of the container are invisible from here: in a detached task that is awaited.
    var isUnseen = false
    /// Whether it is inside a body that holds a lease.
    var holdsLease = false
    /// Whether it is inside the body of a `withScope`.
    var holdsScope = false
    var hand: Hand?
    var depth = 0

    /// Whether a hook that this is part of still runs: the calls in it need not wait for it.
    var isInsideHook: Bool { hooks.contains { $0.isOver.value == 0 } }
}

extension ReentrantWorld {
    func perform(_ steps: [Step], in situation: Situation) async throws {
        for step in steps { try await perform(step, in: situation) }
    }

    private func perform(_ step: Step, in situation: Situation) async throws {
        // Endless recursion ends here.
        guard budget.add(-1) > 0, situation.depth < 8 else { return }
        let entry = roster.enter("\(situation.actor): \(step.title)")
        defer { roster.leave(entry) }
        let asker = "\(step.title) in \(situation.actor)"
        switch step {
        case .yield:
            await Task.yield()
            try Task.checkCancellation()
        case .fail(let failure):
            guard numbers.add().isMultiple(of: 2) else { return }
            switch failure {
            case .own: throw OwnError(number: numbers.add())
            case .cancellation: throw CancellationError()
            }
        case .ask(let ask):
            let services = services(of: ask)
            checker.requestBegins(for: services)
            defer { checker.requestEnds(for: services) }
            try await judged(asker) { try await perform(ask, asker, in: situation) }
        case .tolerating(let steps):
            try? await perform(steps, in: situation)
        case .spawn(let spawning, let steps):
            try await spawn(spawning, steps, in: situation)
        default:
            // A detached task does not see what only a container does.
            if !situation.isUnseen { try await performOnContainer(step, asker, in: situation) }
        }
    }

    /// Checks the error of a request.
    private func judged<R>(_ asker: String, _ request: () async throws -> R) async throws -> R {
        do { return try await request() } catch {
            checker.failed(error, asker)
            throw error
        }
    }

    func container(_ place: Step.Place, in situation: Situation) -> Container? {
        switch place {
        case .here: situation.here ?? bases.current.first
        case .base(let index): bases.withLock { $0.indices.contains(index) ? $0[index] : nil }
        case .slot(let slot): slots.withLock { $0[slot] }
        }
    }

    /// The containers that may resolve a request: the one it is made to, or scopes below it that the code runs in.
    func asked(_ container: Container, in situation: Situation) -> [Home] {
        let home = home(of: container)
        var homes = [home]
        // A task that has outlived its scope uses the next container around it.
        for scope in situation.scopes.map({ self.home(of: $0) }) where scope.isInside(home) {
            var next: Home? = scope
            while let current = next, current !== home {
                homes.append(current)
                next = current.parent
            }
        }
        return homes
    }

    private func performOnContainer(_ step: Step, _ asker: String, in situation: Situation) async throws {
        switch step {
        case .reset(let place, let what):
            guard let container = container(place, in: situation) else { return }
            try await judged(asker) { try await checker.invalidating { try await reset(what, in: container) } }
        case .dispose(let place, let end):
            guard let container = container(place, in: situation) else { return }
            try await judged(asker) { try await dispose(container, end, asker, in: situation) }
        case .register(let place, let service):
            guard let container = container(place, in: situation) else { return }
            let registration = registration(of: service)
            try await judged(asker) { try await checker.invalidating { try await container.register(registration) } }
        case .unregister(let place, let service):
            guard let container = container(place, in: situation) else { return }
            _ = await checker.invalidating { await container.unregister(Made.self, qualifier: NodeID(index: service)) }
        case .start(let place):
            guard let container = container(place, in: situation) else { return }
            let services = plan.services.indices
            checker.requestBegins(for: services)
            defer { checker.requestEnds(for: services) }
            _ = try await judged(asker) { try await container.start() }
        case .openScope(let place, let slot):
            guard let container = container(place, in: situation) else { return }
            let home = newHome(in: container, as: "o")
            let scope = try await judged(asker) { try await container.openScope(home.name) }
            opened.withLock { $0.append(WeaklyHeld(container: scope)) }
            slots.withLock { $0[slot] = scope }
        case .inScope(let place, let supplied, let steps):
            guard let container = container(place, in: situation) else { return }
            try await inScope(of: container, supplied: supplied, steps, asker, in: situation)
        case .leasing(let place, let service, let argument, let steps):
            guard let container = container(place, in: situation) else { return }
            try await leasing(service, argument, from: container, steps, asker, in: situation)
        case .inGraph(let place, let slot, let steps):
            guard let container = container(place, in: situation) else { return }
            let asked = asked(container, in: situation)
            try await container.withGraph(slot.map { graphs[$0] }) { resolver in
                var inner = situation.deeper
                inner.resolver = resolver
                inner.resolverAsks = asked
                try await perform(steps, in: inner)
            }
        default:
            break
        }
    }

    // MARK: Containers

    private func reset(_ what: Step.Forgotten, in container: Container) async throws {
        switch what {
        case .everything: try await container.reset()
        case .singletons: try await container.reset(.singleton)
        case .scoped: try await container.reset(.scoped)
        case .session: try await container.reset(.resettable)
        case .throughAncestors: try await container.reset(.singleton, throughAncestors: true)
        case .service(let service): try await container.reset(Made.self, qualifier: NodeID(index: service))
        case .argument(let service, let argument):
            try await container.reset(Made.self, qualifier: NodeID(index: service), arguments: argument)
        case .drained(let service, let argument):
            try await container.drain(Made.self, qualifier: NodeID(index: service), arguments: argument)
        }
    }

    private func dispose(
        _ container: Container, _ end: Step.End, _ asker: String, in situation: Situation
    ) async throws {
        let mayReturnEarly = situation.isInsideHook || situation.isInsideRun
        // Instances of a container with this fallback may hold leases until that container is disposed.
        let isFallback = plan.bases.contains { $0.fallbacks.contains { container.name == "c\($0)" } }
        do {
            switch isFallback ? .deadline : end {
            case .now: try await container.dispose()
            case .failing: try await container.dispose(failing: OwnError(number: numbers.add()))
            case .deadline: try await container.dispose(deadline: .milliseconds(1))
            // Without a deadline only where no activity waits for the caller: the body of a scope is not in the graph
            // of waits.
            case .drained:
                let mayBeAwaited = situation.isAwaited || situation.holdsScope
                try await container.drain(deadline: mayBeAwaited ? .milliseconds(5) : nil)
            }
        } catch let error as DisposalError {
            let isTimedOut = error.errors.contains { ($0 as? ResolutionError)?.code == .disposalTimedOut }
            if !isTimedOut, !mayReturnEarly { checker.closed(home(of: container), by: asker) }
            throw error
        }
        if !mayReturnEarly { checker.closed(home(of: container), by: asker) }
    }

    private func inScope(
        of container: Container, supplied: Int?, _ steps: [Step], _ asker: String, in situation: Situation
    ) async throws {
        let home = newHome(in: container, as: "w")
        let supply = supplied.map { self.supply($0, to: home) }
        let hasBegun = Counter()
        var isClosed = true
        defer {
            if hasBegun.value == 0, let made = supply?.made { checker.ended(made.id, with: nil) }
            if hasBegun.value == 1, isClosed, !situation.isInsideHook { checker.closed(home, by: asker) }
        }
        do {
            try await container.withScope(home.name, registrations: { if let supply { supply.registration } }) {
                scope in
                hasBegun.set(1)
                if let made = supply?.made {
                    checker.ended(made.id, with: made)
                    checker.supplied(made)
                }
                opened.withLock { $0.append(WeaklyHeld(container: scope)) }
                var inner = situation.deeper
                inner.here = scope
                inner.scopes.append(scope)
                inner.holdsScope = true
                try await perform(steps, in: inner)
            }
        } catch let error as ResolutionError where error.code == .invalidOperation {
            // Its end would have waited for the body around it.
            isClosed = false
            throw error
        } catch  where situation.isInsideRun {
            // The same may be true, and the body's error is thrown instead.
            isClosed = false
            throw error
        }
    }

    private func leasing(
        _ service: Int, _ argument: Int, from container: Container, _ steps: [Step], _ asker: String,
        in situation: Situation
    ) async throws {
        let name = NodeID(index: service)
        let moment = checker.now
        let hasBegun = Counter()
        checker.requestBegins(for: [service])
        defer { if hasBegun.value == 0 { checker.requestEnds(for: [service]) } }
        var inner = situation.deeper
        inner.isAwaited = true
        inner.holdsLease = true
        let situationOfBody = inner
        let body: @Sendable (Made) async throws -> Void = { made in
            hasBegun.set(1)
            self.checker.requestEnds(for: [service])
            self.note(made, asking: self.asked(container, in: situation), since: moment, asker, in: situation)
            try await self.perform(steps, in: situationOfBody)
        }
        do {
            if plan.services[service].takesArgument {
                try await container.withInstance(Made.self, qualifier: name, arguments: argument) { try await body($0) }
            } else {
                try await container.withInstance(Made.self, qualifier: name) { try await body($0) }
            }
        } catch {
            if hasBegun.value == 0 { checker.failed(error, asker) }
            throw error
        }
    }

    func note(_ made: Made, asking: [Home], since moment: Int?, _ asker: String, in situation: Situation) {
        checker.given(
            made, asking: situation.isAnywhere ? [] : asking, since: moment,
            isOutside: !situation.isInsideRun && situation.hooks.isEmpty, by: asker)
        if let hand = situation.hand { hand.content.withLock { $0.append(made) } }
        hand.withLock { $0.append(made) }
    }
}

extension Situation {
    /// Inside a body.
    var deeper: Situation {
        var inner = self
        inner.depth += 1
        return inner
    }
}
