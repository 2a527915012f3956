// expect: contextual type for closure argument list expects 1 argument, which cannot be implicitly ignored
import AsyncDI

struct Database: Sendable {}

let container = Container {
    Registration(Database.self) { Database() }
}
