import AsyncDI
import NotesService
import Tracing

/// Opens a span around the creation of long-lived services: the request that opens a tenant's database shows how long
/// that took.
///
/// A unit of work has a span of its own.
struct CreationTracing: ContainerObserver, AroundCreation {
    func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
        if creation.key.service == UnitOfWork.self { return nil }
        // A singleton's task has no task-locals of the request that begins its creation.
        let context = ServiceContext.current ?? .topLevel
        let tracer = InstrumentationSystem.tracer
        let arguments = creation.arguments.map { "\($0)" }.joined(separator: ", ")
        return { create in
            try await tracer.withAnySpan("create \(creation.key)", context: context) { span in
                if !arguments.isEmpty { span.attributes["arguments"] = arguments }
                try await create()
            }
        }
    }
}
