/// The drain of one key: what it waits for, and the errors of that.
///
/// Used by the call that drains, and by no other task.
final class KeyDrain {
    private let core: ContainerCore
    private let key: ServiceKey
    private let creations: [EndOfCreation]
    private var disposables: [Disposable] = []
    /// The waits that a drain in a run or body has entered into the graph of waits.
    private var suspensions: [Suspension] = []
    private var errors: [any Error] = []
    /// The errors for waits that would never end: of several instances, such as one and its decoration, the first says
    /// enough.
    private var refusals: [any Error] = []

    /// Begins to wait.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - core: Its container.
    ///   - disposables: The instances that are being disposed.
    ///   - creations: The ends of creations whose instances no request will find; the drain is noted in each.
    /// - Throws: The error for a wait that would never end.
    init(
        of key: ServiceKey, in core: ContainerCore, awaiting disposables: [Disposable], _ creations: [EndOfCreation]
    ) throws {
        self.core = core
        self.key = key
        self.creations = creations
        do {
            try enter(disposables as [Activity] + creations)
        } catch {
            for suspension in suspensions { Waits.end(suspension) }
            core.withState { _ in for creation in creations { creation.noteEndOfDrain() } }
            throw error
        }
        note(disposables)
    }

    /// Waits for the creations, for their instances, and for the others.
    ///
    /// - Parameters:
    ///   - end: The time of the deadline, by the container's stopwatch; nil without one.
    ///   - dropped: Returns the instances of the key that are being disposed.
    /// - Throws: ``DisposalError``; the error for a wait that would never end.
    func wait(until end: Duration?, _ dropped: () -> [Disposable]) async throws {
        await waitForCreations(until: end)
        // The requests that waited for an instance in creation hold leases of it.
        let products = core.withState { _ in creations.compactMap(\.product) }
        let added = Set(dropped() + products).subtracting(disposables)
        try enter(added.map { $0 as Activity })
        note(added)
        for item in disposables { await wait(for: item, until: end) }
        if errors.isEmpty, let refusal = refusals.first { throw refusal }
        if !errors.isEmpty { throw DisposalError(errors: errors + refusals) }
    }

    /// Ends the waits.
    func end() {
        for item in disposables { item.noteEndOfDrain() }
        core.withState { _ in for creation in creations { creation.noteEndOfDrain() } }
        for suspension in suspensions { Waits.end(suspension) }
    }

    private func enter(_ activities: [Activity]) throws {
        guard let caller = core.caller(of: ResolutionContext.activeRun) else { return }
        for activity in activities {
            let suspension = Suspension()
            suspensions.append(suspension)
            if let runs = Waits.begin(suspension, from: caller, for: activity) {
                throw core.waitsForItself("drains \(key)", caller, runs)
            }
        }
    }

    private func note(_ added: some Sequence<Disposable>) {
        for item in added {
            item.noteDrain()
            disposables.append(item)
        }
    }

    private func waitForCreations(until end: Duration?) async {
        for creation in creations {
            let rest = end.map { max($0 - core.stopwatch.elapsed(), .zero) }
            if await creation.wait(atMost: rest, clock: core.clock) { continue }
            errors.append(
                core.timedOut("the disposal of \(creation.key)", waitingFor: "its creation", of: [creation.key]))
        }
    }

    private func wait(for item: Disposable, until end: Duration?) async {
        do {
            let isOver = try await item.isOver(before: end, timedBy: core.stopwatch, clock: core.clock) {
                try enter([item])
            }
            if isOver {
                errors += item.errors
            } else {
                errors.append(
                    core.timedOut("the disposal of \(item.key)", waitingFor: object(of: item), of: [item.key]))
            }
        } catch {
            refusals.append(error)
        }
    }

    /// The object of an unfinished disposal's wait.
    private func object(of item: Disposable) -> String {
        item.leaseHolders.map { "the end of its leases, which are held by \($0)" } ?? "its onDispose"
    }
}

extension Disposable {
    /// The holders of the leases that the disposal waits for, as text; nil when it waits for none.
    var leaseHolders: String? {
        let leased = leasesAwaited
        let holders = (home as? ContainerCore)?.withState { _ in
            leased.flatMap { $0.count > 0 ? $0.holdersText : nil }
        }
        return holders ?? nil
    }
}
