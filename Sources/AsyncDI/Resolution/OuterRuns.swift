/// Looks for an outer run of the same: one that makes the same registration with the same arguments for the same
/// container, or for one that answers the same.
///
/// A chain of runs is looked through one by one at its end only. Further out a look-up asks sets of runs (see
/// ``OuterRuns``), so that a chain of n runs is found to have no cycle in n log n steps.
struct RunSearch {
    let binding: Binding
    let pack: ArgumentPack
    let host: any ResolutionHost
    /// Whether runs for this very container count, or only those for others that answer the same.
    private let includesOwn: Bool
    /// How many runs and sets were looked at.
    private(set) var steps = 0
    /// How many runs were found that differ in nothing but functions, of which it is unknown whether they do.
    private var unknown = 0
    /// How many of them there may be, one inside the other, before they are taken for the same.
    static let mostUnknown = 1_000

    init(_ binding: Binding, _ pack: ArgumentPack, in host: any ResolutionHost, includesOwn: Bool = true) {
        self.binding = binding
        self.pack = pack
        self.host = host
        self.includesOwn = includesOwn
    }

    /// Whether a run, or one that it is inside of in the same task, is of the same.
    ///
    /// Calls itself rather than loops, because a loop would retain each run: as often as runs are looked through one by
    /// one.
    mutating func finds(in run: Run) -> Bool {
        steps += 1
        if isSame(run) { return true }
        if run.beginsBlock { return finds(outside: run) }
        guard let parent = run.parent else { return false }
        return finds(in: parent)
    }

    private mutating func finds(outside run: Run) -> Bool {
        let key = OuterRuns.Key(binding, pack)
        var run = run
        while run.beginsBlock {
            steps += 1
            let runs = run.outerRuns
            if runs.contains(key, where: { isSame($0) }) { return true }
            run = runs.outermost
        }
        return false
    }

    private mutating func isSame(_ run: Run) -> Bool {
        guard run.binding === binding else { return false }
        let likeness = run.pack === pack ? .same : run.pack.likeness(to: pack)
        guard likeness != .different else { return false }
        let other = run.host
        guard other === host ? includesOwn : host.answersTheSame(asNewerThan: other) else { return false }
        if likeness == .same { return true }
        unknown += 1
        return unknown >= Self.mostUnknown
    }
}

extension Run {
    /// Whether the request of this run would be repeated again and again, in ever new containers.
    ///
    /// Looks beyond the task too: at the runs that asked for the creations which this one is part of. Their own
    /// containers are left to the graph of waits.
    func isRepeated(_ binding: Binding, _ pack: ArgumentPack, in host: any ResolutionHost) -> Bool {
        guard isInNewer || host.number > self.host.number else { return false }
        var search = RunSearch(binding, pack, in: host, includesOwn: false)
        var asker: Run? = self
        while let current = asker {
            if search.finds(in: current) { return true }
            asker = current.root.creation?.asker
        }
        return false
    }
}

extension ResolutionHost {
    /// Whether a container that was made after another one answers every question as that one does: neither has
    /// anything of its own that the other has not.
    ///
    /// A service that asks for itself in such a container does so without end. In an older container it does not: there
    /// are only so many.
    fileprivate func answersTheSame(asNewerThan other: any ResolutionHost) -> Bool {
        number > other.number && nearestWithAnswers === other.nearestWithAnswers
    }

    private var nearestWithAnswers: any ResolutionHost {
        var host: any ResolutionHost = self
        while !host.hasAnswersOfItsOwn, let parent = host.parentHost { host = parent }
        return host
    }
}

/// The runs before one in its chain, as many as the number of its place in the chain can be halved and halved again,
/// found by what they make.
///
/// The logarithmic method of Bentley and Saxe (Decomposable searching problems I, 1980): of the runs outside the run
/// with the number 32·13, sets of 32, of 32·4 and of 32·8 have each one once. A set is made when it is first asked, and
/// is that of its run.
///
/// `@unchecked Sendable` because it is constant, and the runs that it refers to are `Sendable`.
final class OuterRuns: @unchecked Sendable {
    /// The hashable part of a run's product.
    struct Key: Hashable {
        /// By identity, because each run holds its own.
        private let binding: ObjectIdentifier
        private let arguments: Int

        init(_ binding: Binding, _ pack: ArgumentPack) {
            self.binding = ObjectIdentifier(binding)
            arguments = pack.identityHash
        }
    }

    /// How many runs there are between two that have sets.
    static let block: Int32 = 32

    // Unretained because the run that owns this is inside all of them, and so keeps them alive. Retained they would be
    // released one inside the other.
    private let runs: [Unmanaged<Run>]
    /// For each run, the next one with the same key, or none.
    private let next: [Int32]
    private let first: [Key: Int32]
    private let last: Unmanaged<Run>
    private let top: Unmanaged<Run>
    private let graphOwner: Unmanaged<Run>

    /// The set of a run whose number is a multiple of ``block``, but not the first.
    init(outside run: Run) {
        let count = Int(run.depth & -run.depth)
        var runs: [Unmanaged<Run>] = []
        var next: [Int32] = []
        var first: [Key: Int32] = [:]
        runs.reserveCapacity(count)
        next.reserveCapacity(count)
        var last = run
        var graphOwner: Run?
        while runs.count < count, let outer = last.parent {
            let key = Key(outer.binding, outer.pack)
            next.append(first[key] ?? -1)
            first[key] = Int32(runs.count)
            runs.append(Unmanaged.passUnretained(outer))
            if graphOwner == nil, outer.hasGraph { graphOwner = outer }
            last = outer
        }
        self.runs = runs
        self.next = next
        self.first = first
        self.last = Unmanaged.passUnretained(last)
        top = last.beginsBlock ? last.outerRuns.top : Unmanaged.passUnretained(last)
        self.graphOwner =
            if let graphOwner { Unmanaged.passUnretained(graphOwner) } else { last.outerRuns.graphOwner }
    }

    var count: Int { runs.count }
    /// The outermost run of the set.
    var outermost: Run { last.takeUnretainedValue() }
    /// The outermost run of the chain.
    var root: Run { top.takeUnretainedValue() }
    /// The graph that the runs share.
    var graph: ResolutionGraph { graphOwner._withUnsafeGuaranteedRef { $0.graph } }

    func contains(_ key: Key, where isSame: (Run) -> Bool) -> Bool {
        var index = first[key] ?? -1
        while index >= 0 {
            if runs[Int(index)]._withUnsafeGuaranteedRef(isSame) { return true }
            index = next[Int(index)]
        }
        return false
    }
}
