/// The result of looking up a request without qualifier.
@usableFromInline enum Answer: ~Copyable {
    /// A published instance: the caller copies it where its type is known, so that no generic code runs, and then ends
    /// the hit.
    case hit(InstanceTable.Hit)
    /// An instance whose arguments have the same types and hash: whether they are equal is for the caller to compare.
    case indexed(IndexEntry)
    /// An instance of the graph that is in use, or a shared one that was created without suspending.
    case instance(Cell)
    /// The run in which a transient or graph instance is to be created here.
    case run(Run)
    /// The wait for a shared instance that another task creates.
    case wait(Waiter)
    /// A request with a decision, which must suspend or fail; nil where it takes every rule into account.
    case other(DecidedRequest?)
}

extension InstanceTable.Found {
    /// Returns the answer to a request for the result of a look-up in a table.
    ///
    /// - Parameters:
    ///   - host: The container of the request, which a hit neither reads nor retains.
    ///   - table: Its table.
    /// - Returns: The answer to a request from outside every run.
    consuming func answer(from host: @autoclosure () -> any ResolutionHost, _ table: InstanceTable) -> Answer {
        switch consume self {
        case .hit(let hit):
            return .hit(hit)
        case .plainTransient(let binding):
            return .run(Run(outermost: binding, .none, host: host()))
        case .plainGraph(let binding):
            return Run.beginGraph(binding, host: host(), table: table, asker: nil)
        }
    }
}

extension InstanceTable.FoundByArguments {
    /// Returns the answer to a request from outside every run, with these arguments.
    consuming func answer(
        from host: @autoclosure () -> any ResolutionHost, _ pack: () -> ArgumentPack
    ) -> Answer {
        switch consume self {
        case .indexed(let found):
            found.noteUse()
            return .indexed(found)
        case .plainTransient(let binding):
            return .run(Run(outermost: binding, pack(), host: host()))
        }
    }
}

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
        guard case .answer(let cell) = try await request.follow(decision), let instance = cell.load(as: service) else {
            return try await request.again(binding, as: service)
        }
        return instance
    }
}

extension Request {
    /// The instance, requested again: of a graph, that of the same registration, which may have been replaced
    /// meanwhile.
    nonisolated(nonsending) func again<Service: Sendable>(
        _ binding: Binding, as service: Service.Type
    ) async throws -> Service {
        if binding.isPlainGraph, let instance = try await graphInstance(binding)?.load(as: service) { return instance }
        return try await resolve(service)
    }
}

extension Waiter {
    /// Waits for the instance of a creation in the container asked, on behalf of a request from outside every run.
    ///
    /// Thousands of such waits are possible: the state that lives during one is small, and fits into memory that each
    /// task already has.
    @usableFromInline
    func cell(isolation: isolated (any Actor)? = #isolation) async throws -> Cell {
        await withTaskCancellationHandler {
            // Captured so that the closure, and what comes after it, stays on the caller's executor.
            _ = isolation
            await wait()
        } onCancel: {
            Waits.end(self)
            resume(.cancelled)
            creation.place.leave(self)
        }
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
        if case .answer(let cell) = try request.answer(outcome, of: creation) { return cell }
        return try await request.cell()
    }
}
