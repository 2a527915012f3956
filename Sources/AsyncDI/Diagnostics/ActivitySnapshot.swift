/// The work that is under way in a container and below it: creations and what each waits for, leases, open scopes,
/// modules that are being loaded.
///
/// Use it in a log line when a server does not answer, in a debug endpoint, and in tests that must leave no work
/// behind.
/// ```swift
/// print(container.activity())
/// ```
/// ```text
/// container "app": 2 creations, 1 leased instance, 1 open scope
/// creating Database (App/Modules.swift:12) for 12 s, 2 waiters, requested by Catalog → Database
/// creating Catalog (App/Modules.swift:15) for 12 s, 1 waiter; waits for Database
/// leased TenantPool("acme") (App/Modules.swift:20) for 3 s, by 1 body
/// open request-42 for 3.1 s
/// ```
/// Transient and graph instances are created in the task of their request, and appear in paths only. Each container is
/// locked by itself: the parts of a snapshot may be some microseconds apart.
public struct ActivitySnapshot: Sendable, Encodable {
    /// The name of the container, as messages show it.
    public let container: String
    /// The containers whose modules are being loaded.
    public let loadings: [Loading]
    /// The creations of shared instances that have not ended, the oldest first.
    public let creations: [Creation]
    /// The instances that are leased, the oldest first.
    public let leases: [Lease]
    /// The open scopes, at every depth, and the disposed ones whose bodies run on; the oldest first.
    public let scopes: [Scope]
    /// The instances that have left the cache and are not disposed yet: their hooks run, or they wait for leases.
    public let disposals: [Disposal]

    /// Whether nothing is under way: no module is being loaded, no creation, body or disposal runs, and no scope is
    /// open.
    ///
    /// The leases that instances hold, such as that of a decorated instance, are no work.
    public var isEmpty: Bool {
        loadings.isEmpty && creations.isEmpty && leases.allSatisfy { $0.bodies == 0 } && scopes.isEmpty
            && disposals.isEmpty
    }

    /// Modules of one container that are being loaded, one after the other.
    public struct Loading: Sendable {
        /// The modules whose ``Module/loaded(_:)`` has not returned; it runs for the first of them.
        public let modules: [String]
        /// The container, as messages show it.
        public let container: String
        /// The time since the loading of the container's modules began, by the container's clock.
        public let duration: Duration
        /// How many requests wait for the modules.
        public let waiters: Int
        /// The current waits of the loading; empty while a module is itself at work.
        public let waits: [Wait]
    }

    /// The service and arguments of an instance, and where it is registered.
    public struct Instance: Sendable, Hashable {
        /// The service.
        public let key: ServiceKey
        /// The arguments as text; empty for a service without arguments.
        public let arguments: String
        /// The place of the registration in the source.
        public let site: RegistrationSite?
        /// The container that the instance belongs to, as messages show it.
        public let container: String
    }

    /// A creation that has not ended.
    public struct Creation: Sendable {
        /// The instance that is being created.
        public let instance: Instance
        /// The time since the beginning of the creation, by the container's clock.
        public let duration: Duration
        /// How many requests wait for the instance.
        public let waiters: Int
        /// The services whose factories led to the creation, outermost first, this one last.
        public let path: [ServiceKey]
        /// The objects that the creation waits for now; empty while its factory or a hook is itself at work.
        public let waits: [Wait]
    }

    /// The object of a wait.
    public struct Wait: Sendable, Hashable {
        /// The object as text: a service with its arguments, the disposal of an instance or a container, or modules.
        public let target: String
        /// The service whose creation or disposal is waited for; nil for a container's disposal or modules.
        public let key: ServiceKey?
        /// Whether the wait is for the end of a disposal, and not for an instance.
        public let isForDisposal: Bool
    }

    /// An instance that is leased.
    public struct Lease: Sendable {
        /// The instance.
        public let instance: Instance
        /// The time since the first of its leases began, by the container's clock.
        public let duration: Duration
        /// How many leases are held by bodies of `withInstance` and its kin.
        public let bodies: Int
        /// How many leases are held by instances whose factories took them.
        public let holders: Int
    }

    /// An open scope.
    public struct Scope: Sendable {
        /// The name of the scope.
        public let name: String
        /// The container that the scope was opened in, as messages show it.
        public let container: String
        /// The time since its opening, by the container's clock.
        public let duration: Duration
        /// Whether a body, or the owner of an ``OwnedScope``, ends the scope, and not a call of
        /// ``Container/dispose()``.
        public let hasOwner: Bool
        /// Whether the scope was disposed under its body, which runs on.
        public let isDisposed: Bool
    }

    /// An instance that is to be disposed, or is being disposed.
    public struct Disposal: Sendable, Encodable {
        /// The instance.
        public let instance: Instance
        /// Whether the disposal waits for the last lease of the instance.
        public let waitsForLeases: Bool
    }
}

extension Container {
    /// Returns the work that is under way in this container and in those below it.
    ///
    /// Takes the lock of each container for a moment. Use it in a debug endpoint or a test, not for each request.
    public nonisolated func activity() -> ActivitySnapshot { core.activity() }
}

extension ActivitySnapshot.Instance: CustomStringConvertible {
    /// The service, its arguments and the place of its registration.
    public var description: String {
        key.description(withArguments: arguments) + (site.map { " (\($0))" } ?? "")
    }
}

extension ActivitySnapshot: CustomStringConvertible {
    /// A line for each part.
    public var description: String {
        var title = [counted(creations.count, "creation")]
        if !loadings.isEmpty { title.insert(counted(loadings.flatMap(\.modules).count, "module"), at: 0) }
        if !leases.isEmpty { title.append(counted(leases.count, "leased instance")) }
        let open = scopes.count { !$0.isDisposed }
        if open > 0 { title.append(counted(open, "open scope")) }
        if open < scopes.count { title.append(counted(scopes.count - open, "disposed scope")) }
        if !disposals.isEmpty { title.append(counted(disposals.count, "disposal")) }
        var lines = ["\(container): " + title.joined(separator: ", ")]
        for loading in loadings {
            var line = "loading \(loading.modules.joined(separator: ", then ")) in \(loading.container)"
            line += " for \(loading.duration.readable), \(counted(loading.waiters, "waiter"))"
            if !loading.waits.isEmpty { line += "; waits for " + loading.waits.map(\.target).joined(separator: ", ") }
            lines.append(line)
        }
        for creation in creations {
            var line = "creating \(creation.instance) for \(creation.duration.readable), "
            line += counted(creation.waiters, "waiter")
            if creation.path.count > 1 {
                line += ", requested by " + creation.path.map(\.description).joined(separator: " → ")
            }
            if !creation.waits.isEmpty {
                line += "; waits for " + creation.waits.map(\.target).joined(separator: ", ")
            }
            lines.append(line)
        }
        for lease in leases {
            let holders = LeasedCell.holders(bodies: lease.bodies, instances: lease.holders)
            lines.append("leased \(lease.instance) for \(lease.duration.readable), by \(holders)")
        }
        for scope in scopes {
            let (name, time) = (singleLine(scope.name), scope.duration.readable)
            lines.append(
                scope.isDisposed
                    ? "disposed \(name), whose body runs on after \(time)" : "open \(name) for \(time)")
        }
        for disposal in disposals {
            lines.append("disposing \(disposal.instance)" + (disposal.waitsForLeases ? ", after its last lease" : ""))
        }
        return lines.joined(separator: "\n")
    }
}
