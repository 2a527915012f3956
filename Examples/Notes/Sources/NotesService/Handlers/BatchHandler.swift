import Foundation
import Hummingbird

/// Stores many notes, or none.
package struct BatchHandler: Sendable {
    private let notes: any NoteRepository

    package init(notes: any NoteRepository) { self.notes = notes }

    /// Stores the valid notes one by one and collects the mistakes of the others.
    ///
    /// With a problem, the response says failure, and the unit of work is rolled back. So the handler need not undo
    /// anything itself.
    func add(_ batch: [NewNote]) async throws -> EditedResponse<BatchResult> {
        var result = BatchResult()
        for (index, new) in batch.enumerated() {
            if let problem = new.problem {
                result.problems.append("note \(index): \(problem)")
            } else {
                result.ids.append(try await notes.add(new, at: .now).id)
            }
        }
        if result.problems.isEmpty { return EditedResponse(status: .created, response: result) }
        result.ids = []
        return EditedResponse(status: .unprocessableContent, response: result)
    }
}

/// Result of a batch: the new notes' identifiers, or the problems.
package struct BatchResult: ResponseCodable, Sendable {
    package var ids: [Int64] = []
    package var problems: [String] = []
}
