import Foundation
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GreetingTests {
    @Test(arguments: ["localhost": "localhost", "::1": "[::1]"])
    func `the address of the greeting is a URL`(_ host: String, _ text: String) {
        var settings = Settings()
        settings.host = host
        settings.port = 8080
        let greeting = Greeting(address: nil, settings: settings)
        #expect(greeting.text.hasPrefix("Notes listens at http://\(text):8080, "))
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs a device that is always full"))
    func `an output that takes nothing does no harm`() async throws {
        let full = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
        Greeting(address: nil, settings: Settings()).print(to: full)
    }
}
