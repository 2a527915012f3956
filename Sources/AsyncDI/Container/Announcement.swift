/// A change of registrations of which the containers that decorate inherited services have not heard yet.
///
/// Until its end, a request that finds a registration of one of these containers has it decorated first. So no request
/// finds a new registration without the decorations that apply to it.
struct Announcement {
    private let containers: [ContainerCore]
    /// The number of containers that decorated services of the first one at the beginning.
    fileprivate let audience: Int

    /// Begins in a container, and in those below it that decorate its services: these publish registrations for one
    /// another.
    fileprivate init(of core: ContainerCore) {
        let decorators = core.withState { $0.decorators.values.map(\.core) }
        audience = decorators.count
        containers = [core] + decorators.compactMap(\.core)
        for container in containers {
            container.withState { state in
                state.announcements += 1
                container.table.isAnnouncing = true
            }
        }
    }

    /// Ends it, after the registrations were offered.
    func end() {
        // A look-up may have passed one of the containers before the offer.
        ReadEpoch.shared.synchronize()
        for container in containers {
            container.withState { state in
                // None after a disposal.
                guard state.announcements > 0 else { return }
                state.announcements -= 1
                if state.announcements == 0 { container.table.isAnnouncing = false }
            }
        }
    }
}

extension ContainerCore {
    /// Changes the state, with an announcement if other containers decorate services that they inherit from this one.
    ///
    /// - Parameter change: Publishes registrations.
    /// - Returns: The result of the change; the announcement, which the caller ends after it has offered them.
    @inline(__always)
    func withAnnouncement<Answer>(
        _ change: (inout State) -> Answer
    ) -> (answer: Answer, announcement: Announcement?) {
        var announcement: Announcement?
        while true {
            let answer: Answer? = withState { state in
                // Begun before, because other containers have their own locks.
                if state.hasDecorators, announcement?.audience != state.decorators.count { return nil }
                return change(&state)
            }
            if let answer { return (answer, announcement) }
            announcement?.end()
            announcement = Announcement(of: self)
        }
    }
}
