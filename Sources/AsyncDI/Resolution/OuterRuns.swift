/// Searches for an outer run with the same product: one that creates an instance of the same registration, with the
/// same arguments, for the same container or for an equivalent one.
///
/// A search checks single runs only at the inner end of a chain. Further out it uses sets of runs (see ``OuterRuns``),
/// so that it takes n log n steps to find that a chain of n runs has no cycle.
struct RunSearch {
    let binding: Binding
    let pack: ArgumentPack
    let host: any ResolutionHost
    /// Whether runs for this container itself count, or only runs for equivalent ones.
    private let includesOwn: Bool
    /// The number of runs and sets that were checked.
    private(set) var steps = 0
    /// The number of runs found whose arguments are equal except for functions, which cannot be compared.
    private var unknown = 0
    /// The number of such runs, one inside the other, from which on they count as the same.
    static let mostUnknown = 1_000

    init(_ binding: Binding, _ pack: ArgumentPack, in host: any ResolutionHost, includesOwn: Bool = true) {
        self.binding = binding
        self.pack = pack
        self.host = host
        self.includesOwn = includesOwn
    }

    /// Whether a run, or an enclosing one in the same task, has the same product.
    ///
    /// Recursive, because a loop would retain each of the runs that are checked one by one.
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
            let (isFound, outermost) = run.withOuterRuns {
                ($0.contains(key, where: { isSame($0) }), $0.outermost)
            }
            if isFound { return true }
            run = outermost
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
    /// Whether this run's request would repeat without end, in one new container after another.
    ///
    /// Searches beyond the task too: among the runs that requested the creations that this run is part of. Cycles
    /// within one container are left to the graph of waits.
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
    /// Whether this container is newer than another one and answers every request as that one does: neither has
    /// anything of its own that the other lacks.
    ///
    /// A service that requests itself in such a container repeats the request without end. In an older container it
    /// cannot, because the number of older containers is finite.
    fileprivate func answersTheSame(asNewerThan other: any ResolutionHost) -> Bool {
        number > other.number && nearestWithAnswers === other.nearestWithAnswers
    }

    private var nearestWithAnswers: any ResolutionHost {
        var host: any ResolutionHost = self
        while let source = host.soleSource { host = source }
        return host
    }
}

/// A set of the runs before one run in its chain, found by their products.
///
/// The set's size is the largest power of two that divides the run's position in the chain.
///
/// The logarithmic method of Bentley and Saxe (Decomposable searching problems I, 1980): for the run at position 32·13,
/// sets of 32, 32·4 and 32·8 runs contain each outer run once. A set is built at its first use and belongs to its run.
///
/// `@unchecked Sendable` because it is constant and its runs are `Sendable`.
final class OuterRuns: @unchecked Sendable {
    /// The hashable part of a run's product.
    struct Key: Hashable {
        /// By identity, because each run retains its binding.
        private let binding: ObjectIdentifier
        private let arguments: Int

        init(_ binding: Binding, _ pack: ArgumentPack) {
            self.binding = ObjectIdentifier(binding)
            arguments = pack.identityHash
        }
    }

    /// The distance between two runs that have sets.
    static let block: Int32 = 32

    // Unretained because the run that owns this set is inside all of them and so keeps them alive. The set is used only
    // in `Run.withOuterRuns(_:)`, which keeps that run. Retained runs would be released recursively.
    private let runs: [Unmanaged<Run>]
    /// For each run, the next one with the same key, or none.
    private let next: [Int32]
    private let first: [Key: Int32]
    private let last: Unmanaged<Run>
    private let graphOwner: Unmanaged<Run>

    /// The set of a run whose position is a multiple of ``block``, except the first.
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
        self.graphOwner =
            if let graphOwner { Unmanaged.passUnretained(graphOwner) } else { last.withOuterRuns { $0.graphOwner } }
    }

    var count: Int { runs.count }
    /// The outermost run of the set.
    var outermost: Run { last.takeUnretainedValue() }
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
