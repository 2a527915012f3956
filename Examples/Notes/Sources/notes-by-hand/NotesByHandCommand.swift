import NotesByHand
import NotesService

@main
struct NotesByHandCommand {
    static func main() async {
        await Command.run("notes-by-hand") { settings, logger in
            try await HandWiredApp(settings, logger: logger).run()
        }
    }
}
