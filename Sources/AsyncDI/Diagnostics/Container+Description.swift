extension Container: CustomStringConvertible, CustomDebugStringConvertible {
    /// The registrations of this container, sorted: with lifetime and arguments, where they stand, and how many instances are alive.
    ///
    /// ```text
    /// container "app": 3 registrations, 1 open scope
    ///   Database: singleton, 1 alive (App/Modules.swift:12)
    ///   TenantPool(String): multiton, 2 alive, 1 being made (App/Modules.swift:15)
    ///   UserRepository → SQLUserRepository (App/Modules.swift:18)
    /// ```
    /// Takes the container's lock for a moment: for logs and the debugger, not for each request.
    public nonisolated var description: String { core.listing.joined(separator: "\n") }

    /// The same for this container, those that it is opened in and falls back to, and every open scope below it.
    public nonisolated var debugDescription: String {
        var lines = core.fullListing(indent: "")
        for fallback in core.fallbacks { lines += ["fallback:"] + fallback.listing }
        var parent = core.parent
        while let current = parent {
            lines += ["inside:"] + current.listing
            parent = current.parent
        }
        return lines.joined(separator: "\n")
    }
}

extension ContainerCore {
    /// The container and its registrations, a line each.
    fileprivate var listing: [String] {
        var storages: [ObjectIdentifier: [any InstanceStorage]] = [:]
        let (recipes, alive, inFlight, scopes, isOpen) = withState { state in
            var alive: [ObjectIdentifier: Int] = [:]
            for (key, kept) in state.instances {
                let recipe = ObjectIdentifier(key.recipe)
                if let storage = kept.storage { storages[recipe, default: []].append(storage) }
                guard let living = kept.cell?.strengthened() else { continue }
                // Looking has retained the instance, perhaps as the last one: it is released outside the lock.
                if kept.cell?.isHeldWeakly == true { state.retired.append(living) }
                alive[recipe, default: 0] += 1
            }
            let inFlight = state.flights.entries.values.map { ObjectIdentifier($0.key.recipe) }
            let recipes = state.registrations.inOrder.filter { !$0.blueprint.isHidden }
            return (recipes, alive, inFlight, state.scopes.count, state.phase == .open)
        }
        let lines = recipes.map { recipe in
            let id = ObjectIdentifier(recipe)
            // A storage is the user's code, and asked outside the lock.
            let stored = (storages[id] ?? []).count { $0.load() != nil }
            return "  " + recipe.line(alive: (alive[id] ?? 0) + stored, inFlight: inFlight.count { $0 == id })
        }
        var title = "\(displayName): \(recipes.count) \(recipes.count == 1 ? "registration" : "registrations")"
        if scopes > 0 { title += ", \(scopes) open \(scopes == 1 ? "scope" : "scopes")" }
        if !isOpen { title = "\(displayName), disposed" }
        return [title] + lines.sorted()
    }

    /// The same with every container below.
    fileprivate func fullListing(indent: String) -> [String] {
        listing.map { indent + $0 } + childCores.reversed().flatMap { $0.fullListing(indent: indent + "  ") }
    }
}

extension Recipe {
    fileprivate func line(alive: Int, inFlight: Int) -> String {
        var line = "\(key)"
        if key.isMaking { line = "making \(line)" }
        if let target = blueprint.target {
            line += " → \(target.from)"
        } else if blueprint.isExpected {
            line += ": expected of each scope"
        } else {
            line += ": \(blueprint.instance == nil ? lifetime.name : "instance")"
            if alive > 0, blueprint.instance == nil { line += ", \(alive) alive" }
            if inFlight > 0 { line += ", \(inFlight) being made" }
        }
        if let problem { line += ", \(problem.code)" }
        if let site = blueprint.site { line += " (\(site))" }
        return line
    }
}
