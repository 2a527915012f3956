/// A request with a decision that makes it suspend or fail.
@usableFromInline final class DecidedRequest: Sendable {
    private let request: Request
    private let binding: Binding
    private let decision: JoinDecision

    init(_ request: Request, for binding: Binding, _ decision: JoinDecision) {
        self.request = request
        self.binding = binding
        self.decision = decision
    }

    /// The container that received the request.
    var host: any ResolutionHost { request.host }

    /// Carries the decision out.
    @usableFromInline
    nonisolated(nonsending) func value<Service: Sendable>(as service: Service.Type) async throws -> Service {
        if let instance = try await request.follow(decision)?.cell.load(as: service) { return instance }
        return try await request.again(binding, as: service)
    }
}

extension Request {
    /// The instance, requested again: of a graph, that of the same registration, which may have been replaced
    /// meanwhile.
    ///
    /// If the request's own creation in the graph has failed, so does the request.
    nonisolated(nonsending) func again<Service: Sendable>(
        _ binding: Binding, as service: Service.Type, after own: Creation? = nil
    ) async throws -> Service {
        if binding.isPlainGraph, let instance = try await graphInstance(binding, after: own)?.load(as: service) {
            return instance
        }
        return try await resolve(service)
    }
}

extension Waiter {
    /// Waits for the instance of a creation in the container asked, on behalf of a request from outside every run.
    ///
    /// Thousands of such waits are possible: the state that lives during one is small, and fits into memory that each
    /// task already has.
    @usableFromInline
    nonisolated(nonsending) func cell() async throws -> Cell {
        await settled()
        // A separate case, because nearly every request gets it.
        if case .instance(let cell) = outcome { return cell }
        return try await otherwise()
    }

    // Not inlined, so that its frame is not part of every wait.
    @inline(never)
    private nonisolated(nonsending) func otherwise() async throws -> Cell {
        let request = Request(key: creation.binding.key, pack: .none, host: creation.host, asker: nil)
        // As in the general way.
        if case .disposed = outcome { Waits.end(self) }
        if let delivery = try request.answer(outcome, of: creation) { return delivery.cell }
        return try await request.cell()
    }
}
