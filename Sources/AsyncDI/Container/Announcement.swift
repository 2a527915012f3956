/// New registrations of which the containers that decorate them have not heard yet.
///
/// Until its end, a request that finds a registration in one of these containers has it decorated first. So no request
/// finds a new registration without the decorations that apply to it.
struct Announcement {
    private let containers: [ContainerCore]

    /// Begins in a container, and in those below it that decorate services with these names: each of them may publish a
    /// decorated form that another one decorates in turn.
    fileprivate init(of names: Set<ServiceName>, in core: ContainerCore) {
        let decorators = core.decorators(of: names)
        containers = decorators.isEmpty ? [] : [core] + decorators
        for container in containers {
            container.withState { state in
                state.announcements += 1
                container.table.isAnnouncing = true
            }
        }
    }

    /// Ends it, after the registrations were offered.
    func end() {
        if containers.isEmpty { return }
        // A look-up may have passed one of the containers before the offer.
        ReadEpoch.shared.synchronize()
        for container in containers {
            container.withState { state in
                // A disposal has dropped the count.
                guard state.announcements > 0 else { return }
                state.announcements -= 1
                if state.announcements == 0 { container.table.isAnnouncing = false }
            }
        }
    }
}

extension ContainerCore {
    /// Changes the state, with an announcement if other containers decorate what they inherit from this one.
    ///
    /// A container that begins to decorate these services during the change may publish decorated forms unannounced.
    ///
    /// - Parameters:
    ///   - names: The names of the new registrations; not asked for without such containers.
    ///   - change: Publishes them.
    /// - Returns: The result of the change; the announcement, which the caller ends after it has offered the
    ///   registrations.
    @inline(__always)
    func withAnnouncement<Answer>(
        of names: () -> Set<ServiceName>, _ change: (inout State) -> Answer
    ) -> (answer: Answer, announcement: Announcement?) {
        var announcement: Announcement?
        while true {
            let answer: Answer? = withState { state in
                // The announcement begins outside this lock, because other containers have their own.
                if announcement == nil, state.hasDecorators { return nil }
                return change(&state)
            }
            if let answer { return (answer, announcement) }
            announcement = Announcement(of: names(), in: self)
        }
    }
}
