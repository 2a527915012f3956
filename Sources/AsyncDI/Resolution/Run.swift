import Synchronization

/// One run of a factory or of its hooks: the requester, when that code resolves a service.
///
/// Runs form a chain through one task. Its outermost one belongs either to a request made outside any factory or to a
/// shared creation, which runs in a task of its own.
@usableFromInline final class Run: Sendable {
    @usableFromInline let binding: Binding
    @usableFromInline let pack: ArgumentPack
    /// The table of the container that this run's resolver asks, which owns it.
    ///
    /// Not retained, because that is a good part of what a run costs. Valid as long as this run: it, or one that it
    /// happens inside, keeps the container. Used through ``withTable(_:)``, which keeps the run.
    private let table: Unmanaged<InstanceTable>
    /// The container, nil where the run that this one happens inside asks the same one.
    private let kept: (any ResolutionHost)?
    /// The run that this one happens inside, in the same task.
    let parent: Run?
    /// The innermost activity that others can wait for and that this run is part of: a creation, an instance's
    /// disposal, or a body that holds a lease.
    let activity: Activity?
    /// The shared creation whose product will hold the instances that this run resolves.
    let holder: Creation?
    /// The graph of the run, where it is known; otherwise that of the root, which makes one when it is first needed.
    private let givenGraph: ResolutionGraph?
    /// Of the outermost run of a chain, the graph that it makes; of others, their ``outerRuns``.
    private let own: AtomicReference<any AnyObject & Sendable>
    /// The record of this run; nil without a recording.
    let recorded: RecordedRun?
    /// Whether the run is of a resolution that a task has begun after the end of its current scope.
    let isOfOutlivingTask: Bool
    /// Whether the run creates a graph instance by a call of the factory and nothing else.
    @usableFromInline let isOfGraphInstance: Bool
    /// Whether this is only a part of a recorded run, which does not end it.
    private let isPart: Bool
    private let ended = Atomic(false)
    /// Whether this run, or one that it is inside of, asks a container that was made after the one which its own asker
    /// asks.
    ///
    /// Only there can a service request itself in ever new containers.
    let isInNewer: Bool
    /// How many runs this one is inside of, in the same task.
    let depth: Int32

    @inline(__always)
    private init(
        _ binding: Binding, _ pack: ArgumentPack, _ table: Unmanaged<InstanceTable>,
        keeping host: (any ResolutionHost)?,
        inside parent: Run? = nil, activity: Activity? = nil, holder: Creation? = nil, graph: ResolutionGraph? = nil,
        partOf whole: Run? = nil, isRecorded: Bool = true, isOfGraphInstance: Bool = false
    ) {
        // First, because afterwards the references are the run's.
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
        isOfOutlivingTask = parent?.isOfOutlivingTask == true || graph?.outlived != nil
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

    /// A run in the asker's task.
    convenience init(
        of binding: Binding, _ pack: ArgumentPack, host: any ResolutionHost, inside parent: Run?, creation: Creation?,
        holder: Creation?, graph: ResolutionGraph?
    ) {
        // Unretained because the host, or the run that asks the same one, is kept.
        let table = Unmanaged.passUnretained(host.table)
        self.init(
            binding, pack, table, keeping: parent?.asks(table) == true ? nil : host, inside: parent,
            activity: creation ?? LeaseContext.innermost(in: parent?.activity), holder: holder, graph: graph)
    }

    /// A run of a factory, requested by another run in its task.
    @inline(__always)
    convenience init(of binding: Binding, _ pack: ArgumentPack, inside parent: Run) {
        self.init(
            binding, pack, parent.table, keeping: nil, inside: parent,
            activity: LeaseContext.innermost(in: parent.activity),
            holder: parent.holder)
    }

    /// A run for a graph instance without arguments.
    @inline(__always)
    convenience init(of creation: Creation, inside parent: Run?, graph: ResolutionGraph, table: InstanceTable) {
        // Unretained because the host, or the run that asks the same one, is kept.
        let table = Unmanaged.passUnretained(table)
        self.init(
            creation.binding, .none, table, keeping: parent?.asks(table) == true ? nil : creation.host, inside: parent,
            activity: creation, holder: parent?.holder, graph: graph, isOfGraphInstance: true)
    }

    /// A run for a request from outside.
    @inline(__always)
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
    var creation: Creation? {
        guard let work = activity?.work, work.kind == .creation else { return nil }
        // Unchecked because only creations say that they are.
        return unsafeDowncast(work, to: Creation.self)
    }

    /// Whether the run is that of a disposal hook.
    var isDisposing: Bool { activity?.work?.kind == .disposal }

    /// The container that this run's resolver asks.
    var host: any ResolutionHost { kept ?? withTable { $0.host } }

    /// Uses the table, which this run keeps by its container, and keeps the run until then: what is inlined into a
    /// caller may be the run's last use there.
    @inline(__always)
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
        if let parent { return beginsBlock ? outerRuns.graph : parent.graph }
        // Unchecked because the outermost run makes nothing else.
        let graph = unsafeDowncast(
            own.loadOrInitialize { ResolutionGraph(isEntered: true) }, to: ResolutionGraph.self)
        // Made by a task that outlives the run, which has perhaps looked for it already: no other code leaves it.
        if !isActive { graph.leaveAsMaker() }
        return graph
    }

    /// The run, which has ended, was the outermost one of its resolution: the graph that it made, if it did, is left.
    func leaveOwnGraph() {
        guard parent == nil, let graph = own.object else { return }
        // Unchecked because the outermost run makes nothing else.
        unsafeDowncast(graph, to: ResolutionGraph.self).leaveAsMaker()
    }

    /// The scopes that the task of this run has outlived, if it has.
    var outlived: OutlivedScopes? { givenGraph?.outlived ?? parent?.outlived }

    /// Whether the run shares a graph that it was given, or makes one for those inside it.
    var hasGraph: Bool { givenGraph != nil || parent == nil }

    /// Whether look-ups among outer runs go on from here by sets of them.
    var beginsBlock: Bool { depth & (OuterRuns.block - 1) == 0 && depth != 0 }

    /// The set of runs before this one, which ``beginsBlock``.
    var outerRuns: OuterRuns {
        // Unchecked because a run inside another one makes nothing else.
        unsafeDowncast(own.loadOrInitialize { OuterRuns(outside: self) }, to: OuterRuns.self)
    }

    /// The number of runs in its set, if one was built: the cost of building it.
    var stepsToIndex: Int { beginsBlock && own.object != nil ? outerRuns.count : 0 }

    var step: PathStep { PathStep(key: binding.key, binding: binding, pack: pack) }

    /// Whether the run goes on: a task that outlives the run which started it is not inside it any more.
    ///
    /// Sequentially consistent: a task that makes ``graph`` and then looks here, and a task that ends the run and then
    /// leaves its graph: one of them sees the other.
    var isActive: Bool { !ended.load(ordering: .sequentiallyConsistent) }
    func end() {
        ended.store(true, ordering: .sequentiallyConsistent)
        if !isPart, let recorded { recorded.end() }
    }

    /// Whether this run, or one that it is inside of in the same task, makes the same for the same container.
    func isMaking(_ binding: Binding, _ pack: ArgumentPack, in host: any ResolutionHost) -> Bool {
        var search = RunSearch(binding, pack, in: host)
        return search.finds(in: self)
    }

    /// The same for a binding without arguments and the container of a run, which is this one or inside it.
    ///
    /// Calls itself rather than loops, because a loop would retain each run.
    private func isMaking(_ binding: Binding, for run: Run) -> Bool {
        if self.binding === binding || beginsBlock { return isMaking(binding, .none, in: run.host) }
        return parent?.isMaking(binding, for: run) ?? false
    }

    /// Whether this run, or one that it is inside of, may be of this binding, with whatever arguments.
    private func mayBeMaking(_ binding: Binding) -> Bool {
        self.binding === binding || beginsBlock || parent?.mayBeMaking(binding) == true
    }

    /// Whether the product that holds what this run resolves may hold every instance that is shared for good and found
    /// from here.
    ///
    /// A container looks only in containers that were made before it, and none of them is below it: no such instance
    /// ends first.
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

    /// The published instance, where no other rule applies, and nothing is recorded.
    func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard recorded == nil, !isOfOutlivingTask, case .hit(let hit)? = found(service) else { return nil }
        return allowed(hit)
    }

    /// The published instance of a service with a qualifier, where no other rule applies, and nothing is recorded.
    func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? {
        guard recorded == nil, !isOfOutlivingTask, outlivesNothingFound else { return nil }
        var found: InstanceTable.QualifiedHit?
        withTable { found = $0.find(probe) }
        guard let hit = found else { return nil }
        if holder == nil || hit.isSharedForGood { return hit }
        hit.end()
        return nil
    }

    /// The short way to an instance with arguments, where no other rule applies, and nothing is recorded.
    func shortcut(_ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int) -> Shortcut? {
        guard recorded == nil, !isOfOutlivingTask else { return nil }
        var shortcut: InstanceTable.Shortcut?
        withTable { shortcut = $0.shortcut(service, arguments, hash: hash) }
        switch consume shortcut {
        case .instance(let found)?:
            // Multitons are shared for good.
            guard outlivesNothingFound else { return nil }
            found.noteUse()
            return .instance(found)
        case .plainTransient(let binding)?:
            // Whether the arguments are the same is for the rules about cycles to compare.
            return isInNewer || mayBeMaking(binding) ? nil : .transient(PlainTransient(binding, inside: self))
        case nil:
            return nil
        }
    }

    /// The look-up of this run, which has not ended: where no rule about the holder applies, and nothing is recorded.
    func find(_ service: any Any.Type) throws -> Answer {
        if recorded != nil || isOfOutlivingTask { return .other(nil) }
        guard let found = found(service) else {
            return Request.beginShared(service, from: host, withTable { $0 }, asker: self)
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

    /// The outermost run of the chain.
    var root: Run {
        var run = self
        while let parent = run.parent { run = run.beginsBlock ? run.outerRuns.root : parent }
        return run
    }

    /// The steps from the root to this run.
    var path: [PathStep] {
        var path: [PathStep] = []
        var run: Run? = self
        while let current = run {
            path.append(current.step)
            run = current.parent
        }
        return path.reversed()
    }

    /// The steps from where this run's creation begins to this run.
    var pathInCreation: [PathStep] {
        var path = [step]
        var run = self
        while let parent = run.parent, parent.activity === activity {
            path.append(parent.step)
            run = parent
        }
        return path.reversed()
    }
}
