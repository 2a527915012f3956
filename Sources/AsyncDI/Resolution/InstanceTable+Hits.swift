extension InstanceTable {
    /// The result of the hot path.
    enum Found: ~Copyable {
        case hit(Hit)
        /// The registration, when the request is no more than a call of its factory.
        case plainTransient(Binding)
        /// The registration, when the request is no more than a call of its factory for a graph.
        case plainGraph(Binding)
    }

    /// The result for a request with arguments.
    enum FoundByArguments {
        /// An instance whose arguments have the same types and hash: whether they are equal is for the caller to
        /// compare.
        case indexed(IndexEntry)
        /// The registration, when the request is no more than a call of its factory.
        case plainTransient(Binding)
    }

    /// A published instance that is being read, until its owner ends it, once.
    ///
    /// Until then no user code may run, including deinitializers: the caller keeps the requested container, or the
    /// resolver, until after that.
    @usableFromInline struct Hit: ~Copyable {
        /// Valid until the read ends: a writer that takes the cell out waits for that.
        @usableFromInline let cell: Unmanaged<Cell>
        private let ticket: ReadEpoch.Ticket

        init(_ cell: Unmanaged<Cell>, readUntil ticket: ReadEpoch.Ticket) {
            self.cell = cell
            self.ticket = ticket
        }

        @usableFromInline consuming func end() { ticket.exit() }

        /// Whether containers below that of the instance share it, and no reset of a lifetime ends it.
        var isSharedForGood: Bool { cell._withUnsafeGuaranteedRef { $0.isSharedBelow && !$0.isResettable } }

        /// Copies the instance, and ends the read.
        @inlinable consuming func instance<Service: Sendable>(of service: Service.Type) -> Service {
            // The copy comes first, whatever is inlined where: the end is a call that the optimizer cannot look into.
            let instance = cell._withUnsafeGuaranteedRef { $0.value(as: service) }
            end()
            return instance
        }
    }

    /// A published instance of a service with a qualifier of the type that was asked for, perhaps another one with the
    /// same hash.
    @usableFromInline struct QualifiedHit: ~Copyable {
        /// Valid until the read ends, like the cell.
        @usableFromInline let details: Unmanaged<KeyDetails>
        @usableFromInline let hit: Hit

        init(_ hit: consuming Hit, details: Unmanaged<KeyDetails>) {
            self.details = details
            self.hit = hit
        }

        var isSharedForGood: Bool { hit.isSharedForGood }

        consuming func end() { hit.end() }

        /// Copies the instance and its qualifier, ends the read, and compares: nil where it is another one.
        @inlinable consuming func instance<Service: Sendable, Name: Qualifier>(
            of service: Service.Type, qualifier: Name
        ) -> Service? {
            let name = details._withUnsafeGuaranteedRef { QualifiedDetails<Name>.name(in: $0) }
            let instance = hit.instance(of: service)
            // Code of the user's, as are the ends of both copies.
            return name == qualifier ? instance : nil
        }
    }
}

/// Requests that are no more than a call of a factory.
extension InstanceTable {
    /// The registration for a request with a qualifier, perhaps a different one of the same type and hash, if the
    /// request is no more than a call of the factory.
    func plainTransient(_ probe: QualifierProbe) -> Binding? {
        if hasObstacles { return nil }
        return reading {
            guard case .undecided(let slot, let table)? = search(probe),
                !table._withUnsafeGuaranteedRef({ $0.hasObstacles }),
                let binding = slot._withUnsafeGuaranteedRef({ $0.unretainedBinding }),
                binding._withUnsafeGuaranteedRef({ $0.isPlainTransient })
            else { return nil }
            return binding.takeUnretainedValue()
        }
    }
}
