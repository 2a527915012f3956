/// Creations that were invalidated before their end, and hold off the next creation of the same key.
///
/// The successor then waits for the disposal of the instance, too.
extension ContainerCore.State {
    /// Lets the next creation of the key wait for the end of an invalidated one.
    mutating func holdOffSuccessor(of creation: Creation?) {
        guard let creation, creation.binding.holdsOffSuccessors, let end = creation.end else { return }
        noteEarlier(end)
    }

    /// Notes the end of a creation under its own key, which is alive when the note is removed.
    ///
    /// A dictionary would keep the equal key of an earlier one, whose arguments it then might release under the lock.
    private mutating func noteEarlier(_ end: EndOfCreation) {
        let key = EndingKey(end.key)
        self.earlierCreations[key] = nil
        self.earlierCreations[key] = end
    }

    /// Lets the next creation of a drained key wait for the creations that the drain has noted, one after the other,
    /// also where their instances need no disposal.
    mutating func holdOffSuccessorOfDrained(_ key: EndingKey) {
        // One that has not begun waits for another one, and never begins.
        let next = flights.invalidated { EndingKey($0) == key }
            .first { flights[$0]?.hasBegun == true && $0.requestedEnd?.wasDrained == true }
        guard let end = next?.end else { return }
        noteEarlier(end)
    }

    /// Notes the end of a creation, which is about to resume its successor.
    mutating func noteEndOfEarlier(_ creation: Creation) {
        guard rarely({ !$0.earlierCreations.isEmpty }), let end = creation.requestedEnd else { return }
        let key = EndingKey(creation.key)
        guard self.earlierCreations[key] === end else { return }
        self.earlierCreations[key] = nil
        if end.wasDrained { holdOffSuccessorOfDrained(key) }
    }

    /// The creation that the next one of the key waits for.
    func earlierCreation(of key: CreationKey) -> EndOfCreation? {
        guard rarely({ !$0.earlierCreations.isEmpty }), key.binding.lifetime.kind == .multiton else { return nil }
        return self.earlierCreations[EndingKey(key)]
    }

    /// The disposal that the next creation of the key waits for.
    func ending(of key: CreationKey) -> Disposable? {
        rarely { !$0.endings.isEmpty } ? self.endings[EndingKey(key)] : nil
    }
}

extension Binding {
    /// Whether an invalidated creation holds off the next one.
    ///
    /// In a multiton whose instances must be closed, because two of one key may not hold the same file. An instance
    /// that decorates an inherited one holds its lease.
    var holdsOffSuccessors: Bool {
        lifetime.kind == .multiton && (hasDisposalHooks || base?.isInherited == true)
    }
}
