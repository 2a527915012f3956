/// The result of looking up a request without qualifier and arguments.
@usableFromInline enum Answer: ~Copyable {
    /// A published instance: the caller copies it where its type is known, so that no generic code runs, and then ends
    /// the hit.
    case hit(InstanceTable.Hit)
    /// An instance of the graph that is in use, or a shared one that was created without suspending.
    case instance(Cell)
    /// The run in which a transient or graph instance is to be created here.
    case run(Run)
    /// The wait for a shared instance that another task creates.
    case wait(Waiter)
    /// A request with a decision, which must suspend or fail; nil where it takes every rule into account.
    case other(DecidedRequest?)
}

/// The result of looking up a request with arguments and without qualifier, where it takes no further rule into
/// account.
@usableFromInline enum ArgumentsAnswer {
    /// An instance whose arguments have the same types and hash: whether they are equal is for the caller to compare.
    case indexed(IndexEntry)
    /// The run in which a transient instance is to be created here.
    case run(Run)
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
    func answer(
        from host: @autoclosure () -> any ResolutionHost, _ pack: () -> ArgumentPack
    ) -> ArgumentsAnswer {
        switch self {
        case .indexed(let found):
            found.noteUse()
            return .indexed(found)
        case .plainTransient(let binding):
            return .run(Run(outermost: binding, pack(), host: host()))
        }
    }
}
