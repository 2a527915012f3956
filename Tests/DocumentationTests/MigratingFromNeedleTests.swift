import AsyncDI
import Testing

/// The guide "Migrating from Needle", run.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromNeedleTests {
    @Test func `components are scopes`() async throws {
        let root = Container { RootModule() }
        let user = User(name: "Ada")
        let loggedIn = try await root.openScope("logged in") { LoggedInModule(user: user) }
        let screen = try await loggedIn.resolve(ScoreScreen.self)
        try await root.validate()
        try await loggedIn.validate()
        let other = try await loggedIn.resolve(ScoreScreen.self)
        #expect(screen !== other)
        #expect(screen.scores === other.scores)
        let game = try await loggedIn.openScope("game")
        #expect(try await game.resolve(ScoreScreen.self).scores === screen.scores)
        #expect(screen.scores.user.name == "Ada")
        #expect(screen.images === (try await root.resolve(ImageCache.self)))
        try await loggedIn.dispose()
        await #expect {
            try await loggedIn.resolve(ScoreScreen.self)
        } throws: {
            ResolutionError.Code.disposed ~= $0
        }
        try await root.dispose()
    }

    struct RootModule: Module {
        var registrations: Registrations {
            Registration(ImageCache.self, lifetime: .singleton) { _ in ImageCache() }
        }
    }

    struct LoggedInModule: Module {
        let user: User

        var registrations: Registrations {
            Registration(instance: user)
            Registration(using: ScoreStream.init, lifetime: .singleton)
            Registration(using: ScoreScreen.init, lifetime: .transient)
        }
    }

    struct User: Sendable {
        let name: String
    }

    final class ImageCache: Sendable {}

    final class ScoreStream: Sendable {
        let user: User
        init(user: User) { self.user = user }
    }

    final class ScoreScreen: Sendable {
        let scores: ScoreStream
        let images: ImageCache

        init(scores: ScoreStream, images: ImageCache) {
            self.scores = scores
            self.images = images
        }
    }
}
