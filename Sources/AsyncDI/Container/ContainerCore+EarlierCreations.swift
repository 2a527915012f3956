/// Creations that were invalidated before their end, and hold off the next creation of the same key.
///
/// The successor then waits for the disposal of the instance, too.
extension ContainerCore.State {
    /// Lets the next creation of the key wait for the end of an invalidated one.
    ///
    /// - Parameters:
    ///   - creation: The invalidated creation.
    ///   - isDrained: Whether a drain of the key waits for it, also where its instance needs no disposal.
    mutating func holdOffSuccessor(of creation: Creation?, isDrained: Bool = false) {
        guard let creation, isDrained || creation.binding.holdsOffSuccessors, let end = creation.end else { return }
        self.earlierCreations[EndingKey(creation.key)] = end
    }

    /// Notes the end of a creation, which is about to resume its successor.
    mutating func noteEndOfEarlier(_ creation: Creation) {
        guard rarely({ !$0.earlierCreations.isEmpty }), let end = creation.requestedEnd else { return }
        let key = EndingKey(creation.key)
        if self.earlierCreations[key] === end { self.earlierCreations[key] = nil }
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
