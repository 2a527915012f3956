import Synchronization

extension Creation {
    /// The outcome of a creation when its launcher continues.
    enum Launch {
        case ended(Waiter.Outcome)
        case waits(Waiter)
    }

    /// Launches the creation for a request, which waits for it or, without a waiter, attends it.
    ///
    /// An attended creation has usually ended when this returns. Otherwise the request becomes a waiter.
    func launch(for waiter: Waiter?, onActor isOnActor: Bool) -> Launch {
        launch(onActor: isOnActor)
        if let waiter { return .waits(waiter) }
        if let outcome = takeAttendedOutcome() {
            if isInGraph { Waits.forgetAttendance(of: self) }
            return .ended(outcome)
        }
        let waiter = Waits.waiter(attending: self)
        switch host.attendNoMore(waitingAs: waiter) {
        case .wait:
            return .waits(waiter)
        case .closed:
            Waits.end(waiter)
            return .ended(.disposed)
        case .ended:
            // The creation ended between the two checks: on another thread, after it had suspended.
            Waits.end(waiter)
            return .ended(takeAttendedOutcome() ?? .retry)
        }
    }

    /// Runs a shared creation.
    ///
    /// An instance that the owner caches must not depend on the first caller, so its creation runs in a detached task.
    /// A scoped creation inherits its caller's task-locals.
    ///
    /// If possible, it begins in the caller's thread, so that a factory that does not suspend is over when this
    /// returns. Nested creations do not, because the thread's stack would grow with the depth of the dependencies; nor
    /// does a creation for code on an actor, which a slow factory would keep from all other work.
    func launch(onActor isOnActor: Bool) {
        let priority = Task.currentPriority
        self.priority.max(priority.rawValue, ordering: .relaxed)
        // A creation that first waits for its predecessor may be overtaken: its observers are queried when it begins.
        let wrappers = predecessor == nil ? self.wrappers : []
        let later = predecessor == nil ? nil : LaterWrappers(of: self)
        let isForOwner = key.binding.lifetime.sharing == .registeringContainer
        let task: Task<Void, Never>
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            let name = binding.taskName
            switch (isForOwner, !isOnActor && depth < Self.greatestDepthOnOneStack) {
            case (true, true):
                task = Task.immediateDetached(name: name, priority: priority) { await self.runShared(wrappers, later) }
            case (true, false):
                task = Task.detached(name: name, priority: priority) { await self.runShared(wrappers, later) }
            case (false, true):
                task = Task.immediate(name: name, priority: priority) { await self.runShared(wrappers, later) }
            case (false, false):
                task = Task(name: name, priority: priority) { @concurrent in await self.runShared(wrappers, later) }
            }
        } else if isForOwner {
            task = Task.detached(priority: priority) { await self.runShared(wrappers, later) }
        } else {
            task = Task(priority: priority) { @concurrent in await self.runShared(wrappers, later) }
        }
        if !hasEnded { adopt(task, launchedWith: priority) }
    }

    func adopt(_ task: Task<Void, Never>, launchedWith priority: TaskPriority) {
        let isCancelled = extras { state in
            state.task = task
            return state.isCancelled
        }
        // The last waiter may have left since the start of the flight.
        if isCancelled == true { task.cancel() }
        // A waiter with a higher priority may have joined.
        let wanted = TaskPriority(rawValue: self.priority.load(ordering: .relaxed))
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), wanted > priority else { return }
        task.escalatePriority(to: wanted)
    }

    private static var greatestDepthOnOneStack: Int { 8 }
}
