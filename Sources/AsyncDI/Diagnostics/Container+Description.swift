/// The container as text.
extension Container {
    /// The registrations of this container, sorted, with lifetimes, arguments, source locations, and the number of
    /// instances that are alive.
    ///
    /// ```text
    /// container "app": 3 registrations, 1 open scope
    ///   Database: singleton, 1 alive (App/Modules.swift:12)
    ///   TenantPool(String): multiton, 2 alive, 1 being made (App/Modules.swift:15)
    ///   UserRepository → SQLUserRepository (App/Modules.swift:18)
    /// ```
    /// A scope also lists its instances of inherited registrations: `inherited CurrentUser: scoped, 1 alive`. A
    /// `replaced` instance is kept only until it is disposed.
    ///
    /// Takes the container's lock for a moment. Use it in logs and the debugger, not for each request.
    public nonisolated var description: String { core.listing.joined(separator: "\n") }

    /// The same for this container, its parent and fallbacks, and every open scope below it.
    public nonisolated var debugDescription: String {
        var lines = core.fullListing
        for fallback in core.fallbacks { lines += ["fallback:"] + fallback.listing }
        for above in core.lineage.dropFirst() { lines += ["inside:"] + above.listing }
        return lines.joined(separator: "\n")
    }
}

extension ContainerCore {
    /// The container and its registrations, a line each, followed by its instances of inherited registrations.
    fileprivate var listing: [String] {
        var storages: [ObjectIdentifier: [any InstanceStorage]] = [:]
        let (bindings, others, alive, inFlight, scopes, isOpen) = withState { state in
            var alive: [ObjectIdentifier: Int] = [:]
            var inFlight: [ObjectIdentifier: Int] = [:]
            var others: [ObjectIdentifier: Binding] = [:]
            for kept in state.instances.all {
                let binding = ObjectIdentifier(kept.binding)
                // An instance given to the registration belongs to it, even when the registration is decorated.
                if !kept.isFixed { others[binding] = kept.binding }
                if let storage = kept.storage { storages[binding, default: []].append(storage) }
                guard let living = kept.cell?.strengthened() else { continue }
                // Reading has retained the instance, perhaps as the last reference: it is released outside the lock.
                if kept.cell?.isHeldWeakly == true { state.retired.append(living) }
                alive[binding, default: 0] += 1
            }
            for flight in state.flights.entries.values {
                inFlight[ObjectIdentifier(flight.key.binding), default: 0] += 1
                others[ObjectIdentifier(flight.key.binding)] = flight.key.binding
            }
            let bindings = state.registrations.inOrder.filter { !$0.blueprint.isHidden }
            for binding in bindings { others[ObjectIdentifier(binding)] = nil }
            return (bindings, others.values, alive, inFlight, state.scopes.count, state.life.isOpen)
        }
        // A storage is user code, and is called outside the lock.
        let stored = storages.mapValues { $0.count { $0.peek() != nil } }
        func count(_ binding: Binding) -> (alive: Int, inFlight: Int) {
            let id = ObjectIdentifier(binding)
            return (alive[id, default: 0] + stored[id, default: 0], inFlight[id, default: 0])
        }
        let own = bindings.map { "  " + $0.line(count($0)) }.sorted()
        let foreign = others.filter { !$0.blueprint.isHidden && count($0) != (0, 0) }
            .map { "  \($0.isCurrent ? "inherited" : "replaced") " + $0.line(count($0)) }.sorted()
        var title = "\(displayName): \(counted(bindings.count, "registration"))"
        if scopes > 0 { title += ", \(counted(scopes, "open scope"))" }
        if !isOpen { title = "\(displayName), disposed" }
        return [title] + own + foreign
    }

    /// The same with every container below.
    fileprivate var fullListing: [String] {
        var lines: [String] = []
        // A list, because scopes may be nested very deep; beyond a screen's width, the depth no longer shows.
        var remaining = [(core: self, depth: 0)]
        while let (core, depth) = remaining.popLast() {
            let indent = String(repeating: "  ", count: min(depth, 40))
            lines += core.listing.map { indent + $0 }
            remaining += core.childCores.map { ($0, depth + 1) }
        }
        return lines
    }
}

extension Binding {
    fileprivate func line(_ count: (alive: Int, inFlight: Int)) -> String {
        var line = "\(key)"
        if key.isMaking { line = "making \(line)" }
        if let target = blueprint.target {
            line += " → \(target.from)"
        } else if blueprint.isExpected {
            line += ": expected of each scope"
        } else {
            line += ": \(blueprint.instance == nil ? lifetime.description : "instance")"
            if count.alive > 0, blueprint.instance == nil { line += ", \(count.alive) alive" }
            if count.inFlight > 0 { line += ", \(count.inFlight) being made" }
        }
        if let problem { line += ", \(problem.code)" }
        if let site = blueprint.site { line += " (\(site))" }
        return line
    }
}
