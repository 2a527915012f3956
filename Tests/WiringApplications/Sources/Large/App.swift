import LargeWiring

@main struct App {
    static func main() async throws {
        try await makeContainer().start()
        print("started")
    }
}
