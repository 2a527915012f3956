import AsyncDI
import NotesService

/// Override of the repository by one that does something after each note that it stored.
func interrupting(_ afterAdding: @escaping @Sendable () async throws -> Void) -> Registration<any NoteRepository> {
    Registration((any NoteRepository).self) { resolver in
        try await InterruptedRepository(base: SQLNoteRepository(work: resolver.resolve()), afterAdding: afterAdding)
    }
}

/// Handler that stops after its first write until the test lets it go on.
final class Halt: Sendable {
    private let reached = Gate()
    private let going = Gate()

    var override: Registration<any NoteRepository> {
        Registration((any NoteRepository).self) { resolver in
            try await self.repository(SQLNoteRepository(work: resolver.resolve()))
        }
    }

    func repository(_ base: SQLNoteRepository) -> InterruptedRepository {
        InterruptedRepository(base: base) {
            self.reached.open()
            try await self.going.pass()
        }
    }

    func isReached() async throws { try await reached.pass() }
    func goOn() { going.open() }
}
