import NotesComposition
import NotesService

@main
struct NotesCommand {
    static func main() async {
        await Command.run("notes") { settings, logger in
            try await NotesApp(settings, logger: logger, observers: NotesApp.observers(logger)).run()
        }
    }
}
