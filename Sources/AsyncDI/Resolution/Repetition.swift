/// A search for services that are created inside themselves without end, although each creation is a new one.
///
/// A factory that resets or replaces its own service, and then requests it, waits for another creation each time. No
/// creation waits for itself, and so this is no cycle of the graph of waits. It would go on for as long as there is
/// memory.
///
/// The search counts what is created around a request: so many products of one kind, one inside the other, are a
/// repetition. It takes place where the depth passes a power of two, so that all counts of a legal chain take at most
/// twice as many steps as the chain has links.
struct Repetition {
    /// The depth from which on it is worth a search.
    private static let leastDepth = 1_024
    /// The number of equal products, one inside the other, from which on there is no end to them.
    private static let mostOfOneKind = 100

    private var counts: [Product: Int] = [:]

    /// Notes an outer product.
    ///
    /// - Returns: Whether it is one too many.
    private mutating func isFound(with product: Product) -> Bool {
        counts[product, default: 0] += 1
        return counts[product] == Self.mostOfOneKind
    }

    /// What counts as equal: a registration, or every replaced one of a key, with its arguments in one container.
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
    private struct Arguments: Hashable {
        let pack: ArgumentPack

        static func == (first: Arguments, second: Arguments) -> Bool {
            first.pack === second.pack || first.pack.likeness(to: second.pack) == .same
        }

        func hash(into hasher: inout Hasher) { hasher.combine(pack.identityHash) }
    }

    /// Whether the creations around a creation repeat one another.
    fileprivate static func surrounds(_ creation: Creation) -> Bool {
        guard creation.depth >= leastDepth else { return false }
        var next = creation.asker?.surroundingCreation
        if creation.home != nil {
            // Of the creations around it, only the shared ones have been checked.
            while let graphCreation = next, graphCreation.home == nil {
                next = graphCreation.asker?.surroundingCreation
            }
            guard let next, next.depth.leadingZeroBitCount != creation.depth.leadingZeroBitCount else { return false }
        } else if creation.depth.nonzeroBitCount != 1 {
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
        guard run.depth.nonzeroBitCount == 1 else { return false }
        var repetition = Repetition()
        var next: Run? = run
        while let outer = next {
            // The others would be a cycle.
            if !outer.binding.isCurrent,
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
    /// Whether a shared creation, which is about to run its factory, repeats those around it without end.
    var isRepetition: Bool {
        isInNewer && asker?.isRepeated(binding, pack, in: host) == true || Repetition.surrounds(self)
    }

    /// The same for a graph creation in the task of its request.
    @inline(__always)
    func isRepetition(in run: Run) -> Bool {
        run.isInNewer || Repetition.isPossible(at: max(depth, Int(run.depth))) ? repeats(in: run) : false
    }

    @inline(never)
    private func repeats(in run: Run) -> Bool {
        guard let asker = run.parent else { return false }
        return run.isInNewer && asker.isRepeated(binding, pack, in: host) || asker.isInsideRepetition
            || Repetition.surrounds(self)
    }
}

extension Run {
    /// Whether the runs in this task create one service inside the other without end, and this is one of them.
    var isInsideRepetition: Bool { Repetition.isPossible(at: depth) && Repetition.isAmongRuns(upTo: self) }

    /// The creation whose task this run belongs to, or for a disposal hook, that of the call that waits for the
    /// disposal.
    fileprivate var surroundingCreation: Creation? { root.creation ?? disposer?.surroundingCreation }

    /// The number of creations around this run.
    var creationDepth: Int {
        if let creation { return creation.depth + 1 }
        return disposer?.creationDepth ?? 0
    }

    /// The run of the call that waits for the disposal that this run is a hook of.
    private var disposer: Run? {
        guard let disposal = activity?.work as? Disposable else { return nil }
        return disposal.resetter ?? disposal.beginner?.run
    }
}
