/// Refuses calls that would wait for a disposal that waits for them.
extension ContainerCore {
    /// Throws if a factory would wait for the disposal of its own waiter, which would never end.
    func refuseInsideOwnFactory(to action: String) throws {
        guard let asker = ResolutionContext.activeRun else { return }
        var run: Run? = asker
        while let current = run {
            // The hooks of a disposal may begin another disposal.
            if current.parent == nil, current.isDisposing { return }
            let places = [current.host, current.holder?.home].compactMap { $0 as? ContainerCore }
            if places.contains(where: isAboveOrSame) {
                throw ResolutionError(
                    .invalidOperation,
                    "the factory of \(current.binding.key) \(action) \(displayName), which waits for it.",
                    advice: "Dispose a container from outside its factories.", steps: asker.path, asker: asker)
            }
            run = current.parent
        }
    }

    /// Throws if the current body of a `withInstance` holds a lease that the disposal would wait for.
    func refuseInsideLease(to action: String) throws {
        guard LeaseContext.leases(from: self) else { return }
        throw ResolutionError(
            .invalidOperation,
            "the body of a withInstance \(action) \(displayName), which waits for its lease to end.",
            advice: "Dispose a container after the bodies that use its instances.")
    }

    /// Refuses an action that would wait for the end of a body around the caller, which leases one of these instances.
    func refuseInsideLease(of isMeant: (CreationKey) -> Bool, to action: String) throws {
        guard LeaseContext.leases({ $0.core === self && isMeant($0.key) }) else { return }
        throw ResolutionError(
            .invalidOperation, "the body of a withInstance \(action), which waits for its lease to end.",
            advice: "Call it after the bodies that use the instance.")
    }

    /// The error for a call that would wait for its own caller.
    func waitsForItself(_ action: String, _ asker: Asker, _ runs: [Run]) -> ResolutionError {
        let path = asker.run?.path ?? []
        let caller = asker.run.map { "the factory of \($0.binding.key)" } ?? "the body of a withInstance"
        return ResolutionError(
            .invalidOperation, "\(caller) \(action), which waits for a creation in progress there.",
            advice: "Call it outside the factories, hooks and bodies that it waits for.",
            steps: path + runs.flatMap(\.pathInCreation), asker: asker.run)
    }
}
