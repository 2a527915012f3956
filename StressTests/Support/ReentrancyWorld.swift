import AsyncDI

/// A random world: its containers, and the factories and hooks that perform a plan.
final class ReentrantWorld: Sendable {
    let plan: Plan
    let seed: UInt64
    let checker = Checker()
    let roster = Roster()
    let budget: Counter
    let numbers = Counter()
    let graphs = [GraphIdentifier(), GraphIdentifier(), GraphIdentifier()]
    let kept = CacheEntry()
    let bases = Locked<[Container]>([])
    let slots = Locked<[Int: Container]>([:])
    /// Tasks that were left behind.
    let left = Locked<[Task<Void, Never>]>([])
    /// The instances received so far, so that a graph entered again has some to return.
    let hand = Locked<[Made]>([])
    private let homes = Locked<[String: Home]>([:])
    /// Every container of the world: all are freed in the end.
    let opened = Locked<[WeaklyHeld]>([])

    struct WeaklyHeld: Sendable {
        weak let container: Container?
    }

    /// The part of one request that is kept for another task to use.
    struct CacheEntry: Sendable {
        struct Way<Wrapper: Sendable>: Sendable {
            let wrapper: Wrapper
            let service: Int
            let asking: [Home]
        }
        let providers = Locked<[Int: Way<Provider<Made>>]>([:])
        let lazies = Locked<[Int: Way<Lazy<Made>>]>([:])
    }

    init(_ plan: Plan, seed: UInt64) {
        self.plan = plan
        self.seed = seed
        budget = Counter()
        budget.set(plan.budget)
        for index in plan.bases.indices { addBase(index) }
    }

    private func addBase(_ index: Int) {
        let base = plan.bases[index]
        let others = bases.current
        let home = Home(
            "c\(index)", parent: base.parent.map { self.home(named: "c\($0)") },
            fallbacks: base.fallbacks.map { self.home(named: "c\($0)") })
        homes.withLock { $0[home.name] = home }
        let container = Container(
            name: home.name, parent: base.parent.map { others[$0] }, fallbacks: base.fallbacks.map { others[$0] }
        ) {
            for service in plan.services.indices where plan.services[service].home == index {
                registration(of: service)
            }
            if let steps = base.loaded { LoadedModule(world: self, steps: steps, name: home.name) }
        }
        opened.withLock { $0.append(WeaklyHeld(container: container)) }
        bases.withLock { $0.append(container) }
    }

    // MARK: Homes

    func home(named name: String) -> Home {
        guard let home = homes.withLock({ $0[name] }) else { preconditionFailure("no container is called \(name)") }
        return home
    }

    func home(of container: Container) -> Home { home(named: container.name ?? "") }

    /// The home of a scope that is about to be opened; its name is the scope's key.
    func newHome(in parent: Container, as kind: String) -> Home {
        let home = Home("\(kind)\(numbers.add())", parent: self.home(of: parent))
        homes.withLock { $0[home.name] = home }
        return home
    }

    // MARK: Registrations

    func registration(of service: Int) -> Registration<Made> {
        let plan = plan.services[service]
        let definition = Definition(id: numbers.add(), service: service, plan: plan)
        let lifetime = plan.sharing.lifetime
        let name = NodeID(index: service)
        var registration =
            plan.takesArgument
            ? Registration(Made.self, qualifier: name, lifetime: lifetime) { (resolver, argument: Int) in
                try await self.make(definition, argument, with: resolver)
            }
            : Registration(Made.self, qualifier: name, lifetime: lifetime) { resolver in
                try await self.make(definition, 0, with: resolver)
            }
        if let steps = plan.properties {
            registration = registration.injectProperties { resolver, made in
                try await self.run(steps, as: "injectProperties of \(made.name)", with: resolver)
            }
        }
        if let steps = plan.created {
            registration = registration.onCreate { resolver, made in
                try await self.run(steps, as: "onCreate of \(made.name)", with: resolver)
            }
        }
        if let steps = plan.disposed, plan.sharing.isOwned {
            registration = registration.onDispose { made, reason in
                try await self.dispose(made, steps, because: reason)
            }
        }
        if plan.isEager { registration = registration.eager() }
        return plan.isContribution ? registration.intoMany(key: service) : registration
    }

    /// An instance that a scope is supplied with, and whose hook is that of its service.
    func supply(_ service: Int, to home: Home) -> (made: Made, registration: Registration<Made>) {
        let definition = Definition(id: numbers.add(), service: service, plan: plan.services[service])
        let creation = checker.begins(definition, argument: 0, in: home)
        let made = Made(
            id: creation, definition, argument: 0, in: home, holding: [], isSupplied: true, live: checker.live)
        let registration = Registration(Made.self, qualifier: NodeID(index: service), instance: made)
            .onDispose { made, reason in try await self.dispose(made, definition.plan.disposed ?? [], because: reason) }
        return (made, registration)
    }

    private func make(_ definition: Definition, _ argument: Int, with resolver: Resolver) async throws -> Made {
        guard let container = resolver.container else { throw OwnError(number: -1) }
        let home = home(of: container)
        let creation = checker.begins(definition, argument: argument, in: home)
        let hand = Hand()
        do {
            var random = SeededRandom(seed: seed, stream: definition.service, run: creation)
            await random.shake()
            try await run(
                definition.plan.factory, as: "factory of s\(definition.service)(\(argument)) in \(home.name)",
                with: resolver,
                hand)
        } catch {
            checker.ended(creation, with: nil)
            throw error
        }
        let made = Made(
            id: creation, definition, argument: argument, in: home, holding: hand.content.current, live: checker.live)
        checker.ended(creation, with: made)
        return made
    }

    private func dispose(_ made: Made, _ steps: [Step], because reason: DisposalReason) async throws {
        checker.disposalBegins(of: made)
        checker.complaints.expect(!Task.isCancelled, "the hook of \(made.name) sees a cancellation")
        let hook = HookRun()
        defer {
            checker.disposalEnds(of: made)
            // After the hook: a call of a task that was left behind either counts as the hook's, or finds its end
            // noted.
            hook.isOver.set(1)
        }
        let situation = Situation(actor: "onDispose of \(made.name)", hooks: [hook], isAwaited: true)
        try await perform(steps, in: situation)
    }

    fileprivate func run(
        _ steps: [Step], as actor: String, with resolver: Resolver, _ hand: Hand = Hand()
    ) async throws {
        let situation = Situation(
            actor: actor, resolver: resolver, here: resolver.container, isAwaited: true, isInsideRun: true, hand: hand)
        try await perform(steps, in: situation)
    }

    // MARK: A round

    /// Runs the jobs, cancels some of them, and disposes everything.
    func round() async {
        let storm = await Storm.run(of: plan.jobs.count, cancelling: plan.cancelledShare, seed: seed) { number in
            try? await self.perform(self.plan.jobs[number].steps, in: Situation(actor: "task \(number)"))
        }
        _ = storm
        let bases = bases.current
        await withTaskGroup(of: Void.self) { group in
            for container in bases {
                group.addTask { await self.close(container) }
            }
        }
        while true {
            let tasks = left.withLock { left in
                defer { left = [] }
                return left
            }
            if tasks.isEmpty { break }
            for task in tasks { await task.value }
        }
        checker.allIsOver()
    }

    private func close(_ container: Container) async {
        let entry = roster.enter("the end: \(container.name ?? "").dispose()")
        defer { roster.leave(entry) }
        do { try await container.dispose() } catch { checker.failed(error, "the end of \(container.name ?? "")") }
        checker.closed(home(of: container), by: "the last dispose()")
    }

    /// Releases everything that the world holds.
    func letGo() {
        bases.set([])
        slots.set([:])
        hand.set([])
        kept.providers.set([:])
        kept.lazies.set([:])
    }

    /// The objects still in memory, or still active, after everything was released.
    var remains: String? {
        let containers = opened.current.compactMap { $0.container?.name }
        let instances = checker.live.current
        if instances.isEmpty && containers.isEmpty { return nil }
        return "\(instances.values.sorted()) and \(containers) live on, with\n\(roster.report)"
    }
}

/// Calls back when its container's modules are loaded.
private struct LoadedModule: Module {
    let world: ReentrantWorld
    let steps: [Step]
    let name: String

    var registrations: Registrations { Registrations() }

    func loaded(_ resolver: Resolver) async throws {
        try await world.run(steps, as: "loaded in \(name)", with: resolver)
    }
}
