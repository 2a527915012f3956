/// Synchronous requests, for existing instances.
extension Request {
    /// Returns the instance, without waiting.
    func ready<Service: Sendable>(_ service: Service.Type) throws -> Service {
        if let cell = try publishedCell() { return cell.value(as: service) }
        if let cell = try readyCell(), let instance = cell.load(as: service) { return instance }
        guard let wrapper = service as? any WrapperType.Type, let instance = try wrapper.ready(for: self) as? Service
        else { throw host.miss(key.unwrapped(Service.self), asker: asker) }
        return instance
    }

    /// Returns the instance in a cell that holds it; nil without a registration, and for an optional request without a
    /// supplied value.
    func readyCell(isOptional: Bool = false) throws -> Cell? {
        guard let (binding, table) = try registration() else { return nil }
        if isOptional, try lacksValue(binding, of: table.host) { return nil }
        if try isUnsupplied(binding, owner: table.host) {
            throw ResolutionError.unsupplied(key, in: host, steps: pathToHere, asker: asker)
        }
        guard let cell = try readyCell(binding, owner: table.host) else { throw notReady(binding) }
        return cell
    }

    private func readyCell(_ binding: Binding, owner: any ResolutionHost) throws -> Cell? {
        if let forward = binding.blueprint.target {
            guard let (target, place) = try target(of: forward, in: owner),
                let cell = try readyCell(target, owner: place)
            else { return nil }
            return try convert(cell, by: forward)
        }
        guard let place = place(of: binding, owner: owner) else { return nil }
        try checkCaptive(binding, in: place)
        switch place.peek(CreationKey(binding, pack)) {
        case .instance(let cell): return cell
        case .storage(let storage):
            return try storage.load().map { try binding.cell(stored: $0, steps: pathToHere, asker: asker) }
        case .nothing: return nil
        }
    }

    private func notReady(_ binding: Binding) -> ResolutionError {
        let advice =
            switch binding.lifetime.sharing {
            case .none, .graph:
                "A \(binding.lifetime) instance is created for each request and is never ready: use resolve, or a shared "
                    + "lifetime."
            case .resolvingContainer, .registeringContainer:
                binding.base != nil
                    ? "Its first request creates the decorated instance: resolve it first."
                    : binding.lifetime.ownsInstances
                        ? "Make it .eager() and await start()\(placeOfStart(of: binding)), resolve it first, or register an instance."
                        : "Resolve it first, or register an instance."
            }
        return failure(.notReady, "\(key) has not been created yet.", advice: advice)
    }

    /// The container to start, where that is not the obvious one: opening a scope starts nothing.
    private func placeOfStart(of binding: Binding) -> String {
        let isStartedByItself = host.isScope && binding.lifetime.sharing == .resolvingContainer
        return isStartedByItself ? " of \(host.displayName)" : ""
    }
}

extension Binding {
    /// The cell for an instance that a storage has returned.
    func cell(stored instance: any Sendable, steps: [PathStep] = [], asker: Run? = nil) throws -> Cell {
        if let cell = blueprint.factory.cell(for: instance) { return cell }
        throw ResolutionError(
            .typeMismatch, "the storage of \(key) returned an instance of \(readableName(of: type(of: instance))).",
            advice: "load() must return the instance that was passed to store(_:).", steps: steps, asker: asker)
    }
}

/// The current cached instance of a creation key.
enum Peek {
    case instance(Cell)
    case storage(any InstanceStorage)
    case nothing
}
