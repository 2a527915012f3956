/// The instances and creations of a graph, which its lock guards.
extension ResolutionGraph {
    /// An instance of the graph.
    struct Entry {
        var cell: Cell
        /// Its first holder, for which the captive rule was checked; nil without a shared holder.
        let holder: Binding?
    }

    struct State {
        var instances = SmallMap<CreationKey, Entry>()
        /// The containers in which instances were created.
        private var containers = Containers()
        /// A few creations that no other request has joined, because most are never joined.
        private var alone: [Creation] = []
        private static var mostAlone: Int { 8 }
        /// The others.
        private var flights = Flights()
        /// The number of requests that use the graph.
        var uses: Int
        /// Whether one of them belongs to the graph's maker.
        var isMakerInside: Bool
        private(set) var isKept = false
        /// Of a kept graph, the instances that its current use holds strongly; nil if these may be all.
        private var strong: [CreationKey]?
        /// The entries that others have replaced, until the next end of a creation or of a use: deinitializers are user
        /// code.
        private var replaced: [Entry] = []
        /// The number of instances from which on released ones are looked for.
        private var mostInstances = 16

        init(isEntered: Bool) {
            uses = isEntered ? 1 : 0
            isMakerInside = isEntered
        }

        mutating func keep() { isKept = true }

        /// Holds an instance strongly until the end of the use.
        mutating func hold(_ cell: Cell, for key: CreationKey, madeFor holder: Binding?) {
            // Of an instance that was released, or is held weakly.
            if isKept, let old = instances[key] { replaced.append(old) }
            instances[key] = Entry(cell: cell, holder: holder)
            if isKept { strong?.append(key) }
        }

        /// The instance of a key, held strongly if the graph is in use.
        mutating func find(_ key: CreationKey) -> Entry? {
            guard let found = instances[key], let cell = found.cell.strengthened() else { return nil }
            // Hooks may outlive their resolution, and no request leaves the graph after them.
            if cell !== found.cell, uses > 0 { hold(cell, for: key, madeFor: found.holder) }
            return Entry(cell: cell, holder: found.holder)
        }

        /// The instance of a key; this one, if there is none and no request creates one.
        mutating func share(_ cell: Cell, for key: CreationKey) -> Cell {
            if let found = find(key) { return found.cell }
            if !alone.contains(where: { $0.key == key }), flights.flight(for: key) == nil, let kept = kept(cell) {
                hold(kept, for: key, madeFor: nil)
            }
            return cell
        }

        /// The form in which a new instance is kept: it may come after the resolution that it belongs to.
        private func kept(_ cell: Cell) -> Cell? { uses > 0 ? cell : isKept ? cell.weakened() : nil }

        /// Ends the use of the graph: a kept one has only weak references from now on.
        ///
        /// - Returns: The released references.
        mutating func end() -> Dropped {
            var dropped = Dropped()
            guard isKept else {
                dropped.instances = exchange(&instances, with: SmallMap())
                return dropped
            }
            dropped.others.append(exchange(&replaced, with: []))
            let isDue = instances.count > mostInstances
            let keys = strong == nil || isDue ? instances.all.map(\.key) : strong ?? []
            for key in keys {
                guard let (key, entry) = instances.take(key) else { continue }
                // Reading retains the instance; the entry of a released one is not put back.
                let held = entry.cell.strengthened()
                dropped.others += [key, entry, held as Any]
                if held != nil, let cell = entry.cell.weakened() {
                    instances[key] = Entry(cell: cell, holder: entry.holder)
                }
            }
            // Requests' own keys, whose arguments may be others than those of the equal keys above.
            dropped.others.append(exchange(&strong, with: []) as Any)
            if isDue { mostInstances = max(16, instances.count * 2) }
            return dropped
        }

        mutating func finish(
            _ creation: Creation, _ result: Result<Cell, any Error>, dropped: inout Dropped
        ) -> Flights.FinishAction {
            // The end is noted before the check of the graph of waits: either this sees that the graph contains the
            // creation, or the graph sees the end.
            creation.end(attended: nil)
            let cell = try? result.get()
            let action =
                takeAlone(creation)
                ? .deliver([], keep: cell != nil) : flights.finish(creation, succeeded: cell != nil)
            if case .deliver(_, keep: true) = action, let cell {
                if let kept = kept(cell) {
                    hold(kept, for: creation.key, madeFor: creation.madeFor)
                    forgetEndedContainers(after: creation, dropped: &dropped)
                }
            }
            if !replaced.isEmpty { dropped.others.append(exchange(&replaced, with: [])) }
            if creation.isInGraph { Waits.graph.withLock { $0.remove(creation) } }
            return action
        }

        mutating func begin(_ creation: Creation) {
            guard alone.count < Self.mostAlone else {
                return flights.start(creation, for: creation.key, endsWhenAbandoned: false)
            }
            if alone.isEmpty { alone.reserveCapacity(4) }
            alone.append(creation)
        }

        /// Joins a key's creation in flight, if one exists.
        mutating func ask(_ key: CreationKey, asker: Run?, holder: Creation?, mayWait: Bool) -> JoinDecision? {
            if let creation = alone.first(where: { $0.key == key }) { share(creation) }
            if let holder, let creation = flights.flight(for: key),
                holder.mustNotShare(whatWasMadeFor: creation.madeFor, in: creation.host)
            {
                return .captive(holder: holder, nil)
            }
            return flights.ask(key, asker: asker, mayWait: mayWait)
        }

        /// Drops instances that were created in containers that have ended, which no request can reach.
        ///
        /// This happens once for as many new containers as are alive.
        private mutating func forgetEndedContainers(after creation: Creation, dropped: inout Dropped) {
            guard let ended = containers.note(creation.host, dropped: &dropped) else { return }
            for (key, entry) in instances.all where ended.contains(key.asked ?? 0) {
                dropped.others += [key, entry]
                instances[key] = nil
            }
        }

        mutating func changeFlights<Answer>(
            joining creation: Creation, _ change: (inout Flights) -> Answer
        ) -> Answer {
            share(creation)
            return change(&flights)
        }

        private mutating func share(_ creation: Creation) {
            if takeAlone(creation) { flights.start(creation, for: creation.key, endsWhenAbandoned: false) }
        }

        private mutating func takeAlone(_ creation: Creation) -> Bool {
            guard let index = alone.lastIndex(where: { $0 === creation }) else { return false }
            alone.remove(at: index)
            return true
        }
    }

    /// References that are released outside the lock, because deinitializers are user code.
    struct Dropped {
        var instances: SmallMap<CreationKey, Entry>?
        var others: [Any] = []
    }

    /// The containers in which a graph is used: in most cases one.
    private struct Containers {
        private struct Other {
            weak var host: (any ResolutionHost)?
        }

        private var first: UInt64?
        private var others: [UInt64: Other] = [:]
        private var mostOthers = 16

        /// Notes the container in which an instance was created.
        ///
        /// Returns the numbers of containers that have ended since, or nil while the check is not due.
        mutating func note(_ host: any ResolutionHost, dropped: inout Dropped) -> Set<UInt64>? {
            let number = host.number
            guard let first else {
                first = number
                return nil
            }
            guard number != first, others[number] == nil else { return nil }
            others[number] = Other(host: host)
            guard others.count > mostOthers else { return nil }
            var ended: Set<UInt64> = []
            for (number, other) in others {
                // Reading retains the container, and may be the last reference to it.
                if let host = other.host { dropped.others.append(host) }
                if other.host?.table.isClosed != false { ended.insert(number) }
            }
            for number in ended { others[number] = nil }
            mostOthers = max(16, others.count * 2)
            return ended
        }
    }
}
