import Synchronization

/// One run of a factory or of its hooks: the requester, when that code resolves a service.
///
/// Runs form a chain through one task. Its outermost one belongs either to a request made outside any factory or to a
/// shared creation, which runs in a task of its own.
@usableFromInline final class Run: Sendable {
    @usableFromInline let binding: Binding
    @usableFromInline let pack: ArgumentPack
    /// The table of the container that this run's resolver uses.
    ///
    /// The container owns the table.
    ///
    /// Not retained, because retaining is a large part of a run's cost. The reference is valid as long as this run: the
    /// run, or one that encloses it, keeps the container. Used only through ``withTable(_:)``, which keeps the run.
    private let table: Unmanaged<InstanceTable>
    /// The container; nil when the enclosing run uses the same one.
    private let kept: (any ResolutionHost)?
    /// The enclosing run in the same task.
    let parent: Run?
    /// The innermost activity that this run is part of and that others can wait for: a creation, an instance's
    /// disposal, or a body that holds a lease.
    let activity: Activity?
    /// The shared creation whose product will hold the instances that this run resolves.
    let holder: Creation?
    /// The graph of the run, if known; otherwise the graph of the root, which creates it on first use.
    private let givenGraph: ResolutionGraph?
    /// For the outermost run of a chain, the graph that it creates; for others, their ``OuterRuns``.
    private let own: AtomicReference<any AnyObject & Sendable>
    /// The record of this run; nil without a recording.
    let recorded: RecordedRun?
    /// The scopes that the task of this run has outlived, if its resolution began after the end of the current scope.
    let outlived: OutlivedScopes?
    var isOfOutlivingTask: Bool { outlived != nil }
    /// Whether the run only calls the factory of a graph instance.
    @usableFromInline let isOfGraphInstance: Bool
    /// Whether this is only a part of a recorded run: its end does not end the record.
    private let isPart: Bool
    private let ended = Atomic(false)
    /// Whether this run, or an enclosing one, uses a container that is newer than its own requester's container.
    ///
    /// Only such a run can request its own service in one new container after another.
    let isInNewer: Bool
    /// The number of runs that enclose this one in the same task.
    let depth: Int32

    private init(
        _ binding: Binding, _ pack: ArgumentPack, _ table: Unmanaged<InstanceTable>,
        keeping host: (any ResolutionHost)?,
        inside parent: Run? = nil, activity: Activity? = nil, holder: Creation? = nil, graph: ResolutionGraph? = nil,
        partOf whole: Run? = nil, isRecorded: Bool = true, isOfGraphInstance: Bool = false
    ) {
        // First, because the references belong to the run afterwards.
        recorded =
            if let whole { whole.recorded } else {
                isRecorded && Recorder.isAnyRunning
                    ? (host ?? parent?.host).flatMap { RecordedRun.begin(binding, in: $0) } : nil
            }
        self.binding = binding
        self.pack = pack
        kept = host
        self.table = table
        self.parent = parent
        self.activity = activity
        self.holder = holder
        givenGraph = graph
        own = AtomicReference()
        isPart = whole != nil
        self.isOfGraphInstance = isOfGraphInstance
        outlived = graph?.outlived ?? parent?.outlived
        if let parent {
            depth = parent.depth + 1
            isInNewer = parent.isInNewer || (host.map { $0.number > parent.host.number } ?? false)
        } else {
            depth = 0
            // Unchecked because only creations say that they are.
            isInNewer =
                activity.map { $0.kind == .creation && unsafeDowncast($0, to: Creation.self).isInNewer } ?? false
        }
    }

    /// A run in the requester's task.
    convenience init(
        of binding: Binding, _ pack: ArgumentPack, host: any ResolutionHost, inside parent: Run?, creation: Creation?,
        holder: Creation?, graph: ResolutionGraph?
    ) {
        // Unretained because the run keeps the host or a run with the same host.
        let table = Unmanaged.passUnretained(host.table)
        self.init(
            binding, pack, table, keeping: parent?.asks(table) == true ? nil : host, inside: parent,
            activity: creation ?? LeaseContext.innermost(in: parent?.activity), holder: holder, graph: graph)
    }

    /// A run of a factory, requested by another run in its task.
    convenience init(of binding: Binding, _ pack: ArgumentPack, inside parent: Run) {
        self.init(
            binding, pack, parent.table, keeping: nil, inside: parent,
            activity: LeaseContext.innermost(in: parent.activity),
            holder: parent.holder)
    }

    /// A run for a graph instance without arguments.
    convenience init(of creation: Creation, inside parent: Run?, graph: ResolutionGraph, table: InstanceTable) {
        // Unretained because the run keeps the host or a run with the same host.
        let table = Unmanaged.passUnretained(table)
        self.init(
            creation.binding, .none, table, keeping: parent?.asks(table) == true ? nil : creation.host, inside: parent,
            activity: creation, holder: parent?.holder, graph: graph, isOfGraphInstance: true)
    }

    /// A run for a request from outside.
    convenience init(outermost binding: Binding, _ pack: ArgumentPack, host: some ResolutionHost) {
        // Unretained because the host is kept.
        self.init(
            binding, pack, Unmanaged.passUnretained(host.table), keeping: host,
            activity: LeaseContext.innermost(in: nil)
        )
    }

    /// The first run of a shared creation, in a task of its own.
    convenience init(sharedCreation creation: Creation) {
        // Unretained because the host is kept.
        self.init(
            creation.binding, creation.pack, Unmanaged.passUnretained(creation.host.table), keeping: creation.host,
            activity: creation, holder: creation)
    }

    /// Hooks of `run` that run in a task of their own.
    convenience init(hooksOf run: Run) {
        self.init(
            run.binding, run.pack, run.table, keeping: run.host, activity: run.activity, holder: run.holder,
            graph: run.graph, partOf: run)
    }

    /// The `onDispose` hooks of an instance.
    convenience init(disposing binding: Binding, in host: any ResolutionHost, as disposal: Disposable) {
        self.init(
            binding, .none, Unmanaged.passUnretained(host.table), keeping: host, activity: disposal, isRecorded: false)
    }

    /// The innermost creation that others can wait for and that this run is part of.
    var creation: Creation? { activity?.work?.asCreation }

    /// Whether the disposal of a container waits for the end of the run: for that of a shared creation or a disposal
    /// hook, and of what runs inside them.
    var isAwaitedByDisposal: Bool { isDisposing || activity?.sharedCreation != nil }

    /// Whether the run is that of a disposal hook.
    var isDisposing: Bool { activity?.work?.kind == .disposal }

    /// The service whose disposal hook the run is, or is part of; nil for other runs.
    var disposedKey: ServiceKey? { (activity?.work as? Disposable)?.binding.key }

    /// The container that this run's resolver uses.
    var host: any ResolutionHost { kept ?? withTable { $0.host } }

    /// Passes the table to `body`, and keeps the run alive until it returns.
    ///
    /// The run keeps the container, and so the table; once this is inlined, the call may be the caller's last use of
    /// the run.
    private func withTable<R>(_ body: (InstanceTable) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        return table._withUnsafeGuaranteedRef(body)
    }

    /// The result of a look-up in the table.
    @inline(__always)
    private func found(_ service: any Any.Type) -> InstanceTable.Found? {
        var found: InstanceTable.Found?
        withTable { found = $0.find(service) }
        return found
    }
    private func asks(_ table: Unmanaged<InstanceTable>) -> Bool { self.table.toOpaque() == table.toOpaque() }

    /// The instances shared within the resolution that this run is part of.
    var graph: ResolutionGraph {
        if let givenGraph { return givenGraph }
        if let parent { return beginsBlock ? withOuterRuns { $0.graph } : parent.graph }
        // Unchecked because the outermost run creates only a graph.
        let graph = unsafeDowncast(
            own.loadOrInitialize { ResolutionGraph(isEntered: true) }, to: ResolutionGraph.self)
        // A task that outlives the run has created the graph. The run may have looked for a graph to leave already, so
        // the graph is left here.
        if !isActive { graph.leaveAsMaker() }
        return graph
    }

    /// Leaves the graph of this run, which was the outermost one of its resolution and has ended.
    func leaveOwnGraph() {
        guard parent == nil, let graph = own.object else { return }
        // Unchecked because the outermost run creates only a graph.
        unsafeDowncast(graph, to: ResolutionGraph.self).leaveAsMaker()
    }

    /// Whether the run has a graph: one passed to it, or one that it creates for the runs inside it.
    var hasGraph: Bool { givenGraph != nil || parent == nil }

    /// Whether a look-up among outer runs continues from here with sets of runs.
    var beginsBlock: Bool { depth & (OuterRuns.block - 1) == 0 && depth != 0 }

    /// Runs the body with the set of runs before this one; only for a run that ``beginsBlock``.
    ///
    /// Keeps this run, and so the runs of the set, until the body has returned.
    func withOuterRuns<R>(_ body: (OuterRuns) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        // Unchecked because a run inside another one creates only a set of runs.
        return body(unsafeDowncast(own.loadOrInitialize { OuterRuns(outside: self) }, to: OuterRuns.self))
    }

    /// The number of runs in this run's set, which is the cost of building it; zero without a set.
    var stepsToIndex: Int { beginsBlock && own.object != nil ? withOuterRuns { $0.count } : 0 }

    /// Whether the run has not ended.
    ///
    /// A task that outlives the run that started it is no longer inside that run.
    ///
    /// Sequentially consistent, because two tasks may race: one creates ``graph`` and then checks this, the other ends
    /// the run and then leaves its graph. At least one of them sees the other.
    var isActive: Bool { !ended.load(ordering: .sequentiallyConsistent) }
    func end() {
        ended.store(true, ordering: .sequentiallyConsistent)
        if !isPart, let recorded { recorded.end() }
    }

    /// Whether this run, or an enclosing one in the same task, already creates the same instance for the same
    /// container.
    func isMaking(_ binding: Binding, _ pack: ArgumentPack, in host: any ResolutionHost) -> Bool {
        var search = RunSearch(binding, pack, in: host)
        return search.finds(in: self)
    }

    /// The same for a binding without arguments and the container of `run`, which is this run or inside it; also
    /// whether `run` is inside a repetition.
    ///
    /// Calls itself rather than loops, because a loop would retain each run.
    private func isMaking(_ binding: Binding, for run: Run) -> Bool {
        if self.binding === binding || beginsBlock {
            return isMaking(binding, .none, in: run.host) || self === run && isInsideRepetition
        }
        return parent?.isMaking(binding, for: run) ?? false
    }

    /// Whether this run, or an enclosing one, may create an instance of this binding, with any arguments.
    private func mayBeMaking(_ binding: Binding) -> Bool {
        self.binding === binding || beginsBlock || parent?.mayBeMaking(binding) == true
    }

    /// Whether the holder of this run's instances may hold every permanently shared instance that this run finds.
    ///
    /// A container searches only older containers, and none of them is below it. No such instance ends before the
    /// holder.
    private var outlivesNothingFound: Bool {
        guard let holder else { return true }
        return withTable { $0 === holder.host.table }
    }

    /// The hit, unless a rule about the instance's holder must be checked first.
    private func allowed(_ hit: consuming InstanceTable.Hit) -> InstanceTable.Hit? {
        if holder == nil || hit.isSharedForGood && outlivesNothingFound { return hit }
        hit.end()
        return nil
    }

    /// The published instance, if no other rule applies and the run is not recorded.
    func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard recorded == nil, !isOfOutlivingTask, case .hit(let hit)? = found(service) else { return nil }
        return allowed(hit)
    }

    /// The published instance of a service with a qualifier, if no other rule applies and the run is not recorded.
    func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? {
        guard recorded == nil, !isOfOutlivingTask, outlivesNothingFound else { return nil }
        var found: InstanceTable.QualifiedHit?
        withTable { found = $0.find(probe) }
        guard let hit = found else { return nil }
        if holder == nil || hit.isSharedForGood { return hit }
        hit.end()
        return nil
    }

    /// The run of a request that is no more than a call of a transient service's factory, if no other rule applies and
    /// this run is not recorded.
    func beginPlainRun(_ find: (InstanceTable) -> Binding?) -> Run? {
        // The cycle rules throw errors with a path.
        guard recorded == nil, !isOfOutlivingTask, !isInNewer, let binding = withTable(find), !mayBeMaking(binding)
        else { return nil }
        return Run(of: binding, .none, inside: self)
    }

    /// The look-up of a request with arguments, if no other rule applies and the run is not recorded.
    func find(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int, pack: () -> ArgumentPack
    ) -> ArgumentsAnswer? {
        guard recorded == nil, !isOfOutlivingTask else { return nil }
        var found: InstanceTable.FoundByArguments?
        withTable { found = $0.find(service, arguments, hash: hash) }
        switch found {
        case .indexed(let found)?:
            // Multitons are shared permanently.
            guard outlivesNothingFound else { return nil }
            if holder != nil { found.noteHolder() }
            found.noteUse()
            return .indexed(found)
        case .plainTransient(let binding)?:
            // The cycle rules compare the arguments.
            return isInNewer || mayBeMaking(binding) ? nil : .run(Run(of: binding, pack(), inside: self))
        case nil:
            return nil
        }
    }

    /// The look-up of this run, if no rule about the holder applies and the run is not recorded.
    func find(_ service: any Any.Type, onActor isOnActor: Bool) throws -> Answer {
        if recorded != nil || isOfOutlivingTask { return .other(nil) }
        guard let found = found(service) else {
            return Request.beginShared(
                service, from: host, withTable { $0 }, asker: self, onActor: isOnActor)
        }
        switch consume found {
        case .hit(let hit):
            guard let hit = allowed(hit) else { return .other(nil) }
            return .hit(hit)
        case .plainTransient(let binding):
            if isMaking(binding, for: self) || isInNewer && isRepeated(binding, .none, in: host) {
                throw Request(key: binding.key, pack: .none, host: host, asker: self).circular([])
            }
            return .run(Run(of: binding, .none, inside: self))
        case .plainGraph(let binding):
            return Run.beginGraph(binding, host: host, table: withTable { $0 }, asker: self)
        }
    }
}
