/// A search for services that are created inside themselves without end, although each creation is a new one.
///
/// A factory that resets or replaces its own service, and then requests it, waits for another creation each time; so
/// does one that requests its own graph service in a new graph. No creation waits for itself, and so this is no cycle
/// of the graph of waits. It would go on for as long as there is memory.
///
/// The search counts equal products around a request. It takes place where a depth passes a power of two, so that the
/// searches of a legal chain take few steps for each of its links.
struct Repetition {
    /// The least depth at which a search is made.
    private static let leastDepth = 1_024
    /// The number of equal products, one inside the other, that counts as endless.
    private static let mostOfOneKind = 100

    private var counts: [Product: Int] = [:]

    /// Notes an outer product.
    ///
    /// - Returns: Whether it is one too many.
    private mutating func isFound(with product: Product) -> Bool {
        counts[product, default: 0] += 1
        return counts[product] == Self.mostOfOneKind
    }

    /// The product of a creation or run: that of one registration, or of any replaced one of a key, with its arguments,
    /// in one container.
    private struct Product: Hashable {
        /// By identity, because each creation or run retains its container.
        private let host: ObjectIdentifier
        /// By identity, because each creation or run retains its registration; nil for a replaced one.
        private let binding: ObjectIdentifier?
        private let key: ServiceKey?
        private let arguments: AnyHashable

        init(of binding: Binding, _ arguments: some Hashable, in host: any ResolutionHost) {
            self.host = ObjectIdentifier(host)
            self.binding = binding.isCurrent ? ObjectIdentifier(binding) : nil
            key = binding.isCurrent ? nil : binding.key
            self.arguments = AnyHashable(arguments)
        }
    }

    /// The arguments of a run, which need not be hashable.
    ///
    /// Functions, which cannot be compared, count as equal.
    private struct Arguments: Hashable {
        let pack: ArgumentPack

        static func == (first: Arguments, second: Arguments) -> Bool {
            first.pack === second.pack || first.pack.likeness(to: second.pack) != .different
        }

        func hash(into hasher: inout Hasher) { hasher.combine(pack.identityHash) }
    }

    /// Whether the creations around a creation, which `run` requested, repeat one another.
    fileprivate static func surrounds(_ creation: Creation, requestedBy run: Run?) -> Bool {
        guard creation.depth >= leastDepth else { return false }
        var next = run?.surroundingCreation
        if creation.home != nil {
            // A shared creation is searched for each power of two since the nearest shared one.
            var shared = next
            while let graphCreation = shared, graphCreation.home == nil {
                shared = graphCreation.asker?.surroundingCreation
            }
            guard let shared, shared.passesPowerOfTwo(before: creation) else { return false }
        } else if let next, !next.passesPowerOfTwo(before: creation) {
            return false
        }
        var repetition = Repetition()
        while let outer = next {
            if repetition.isFound(with: Product(of: outer.binding, outer.key.arguments, in: outer.host)) { return true }
            next = outer.asker?.surroundingCreation
        }
        return false
    }

    /// Whether the runs in the task of a run, up to this one, repeat one another.
    fileprivate static func isAmongRuns(upTo run: Run) -> Bool {
        guard run.depth >= leastDepth, run.depth.nonzeroBitCount == 1 else { return false }
        var repetition = Repetition()
        var next: Run? = run
        while let outer = next {
            // A registration that is still there is a cycle at its second run, except in a graph of its own.
            if !outer.binding.isCurrent || outer.binding.lifetime.sharing == .graph,
                repetition.isFound(with: Product(of: outer.binding, Arguments(pack: outer.pack), in: outer.host))
            {
                return true
            }
            next = outer.parent
        }
        return false
    }

    fileprivate static func isPossible(at depth: some BinaryInteger) -> Bool { depth >= leastDepth }
}

extension Creation {
    /// Whether a power of two is between the depths of this creation and of one inside it.
    fileprivate func passesPowerOfTwo(before inner: Creation) -> Bool {
        depth.leadingZeroBitCount != inner.depth.leadingZeroBitCount
    }

    /// Throws if a shared creation, which is about to run its factory, repeats those around it without end.
    func checkRepetition(in run: Run) throws {
        if isInNewer, asker?.isRepeated(binding, pack, in: host) == true {
            throw ResolutionError.circular([run.step], asker: run)
        }
        if Repetition.isPossible(at: depth), Repetition.surrounds(self, requestedBy: asker) {
            throw ResolutionError.circular([run.step], asker: run).betweenReplacements
        }
    }

    /// The error for a graph creation, in the task of its request, that repeats the creations around it without end.
    @inline(__always)
    func repetition(in run: Run) -> ResolutionError? {
        run.isInNewer || Repetition.isPossible(at: max(depth, Int(run.depth))) ? foundRepetition(in: run) : nil
    }

    @inline(never)
    private func foundRepetition(in run: Run) -> ResolutionError? {
        guard let asker = run.parent else { return nil }
        let request = Request(key: binding.key, pack: pack, host: host, asker: asker)
        if run.isInNewer, asker.isRepeated(binding, pack, in: host) { return request.circular([]) }
        guard asker.isInsideRepetition || Repetition.surrounds(self, requestedBy: asker) else { return nil }
        return request.circular([]).betweenReplacements
    }
}

extension Run {
    /// Whether the runs in this task create one service inside the other without end, and this is one of them.
    var isInsideRepetition: Bool { Repetition.isAmongRuns(upTo: self) }

    /// The creation to whose task this run belongs; for a hook of a disposal, that of the reset that waits for it.
    fileprivate var surroundingCreation: Creation? {
        var next: Run? = self
        while let root = next?.root {
            if let creation = root.creation { return creation }
            next = root.disposal?.resetter
        }
        return nil
    }

    /// The number of creations around this run.
    ///
    /// Called under the lock of a place: it loads no other run, whose last reference that could be.
    var creationDepth: Int {
        if let creation { return creation.depth + 1 }
        return disposal?.creationDepth ?? 0
    }

    /// The disposal that this run is a hook of.
    private var disposal: Disposable? { isDisposing ? activity?.work as? Disposable : nil }
}
