import AsyncDI
import Testing

// This target is built with `.defaultIsolation(MainActor.self)`, as the guide "Main actor by default" is about.

/// The guide's code, run.
@Suite(.timeLimit(.minutes(10)))
struct MainActorByDefaultTests {
    @Test func `services that are bound to the main actor`() async throws {
        let container = Container {
            Registration(Library.self, lifetime: .singleton) { _ in await Library() }
            Registration(Player.self) { @MainActor _ in Player() }
            Registration(using: LibraryModel.init(library:))
        }
        let library = try await container.resolve(Library.self)
        #expect(try await container.resolve(LibraryModel.self).library === library)
        _ = try await container.resolve(Player.self)
        let model = try container.ready(using: LibraryModel.init(library:))
        #expect(model.library === library)
        try await container.dispose()
    }

    @Test func `an actor in a decoration`() async throws {
        let container = Container {
            Registration((any History).self) { _ in EmptyHistory() }
            Decoration((any History).self) { @MainActor _, inner in LoggedHistory(inner) }
        }
        #expect(try await container.resolve((any History).self).name == "logged empty")
        try await container.dispose()
    }

    @Test func `protocols, arguments, lifetimes and constants`() async throws {
        let container = Container { AlbumModule() }
        let playlist = try await container.resolve((any Playlist).self)
        playlist.title = "Morning"
        #expect(playlist === (try await container.resolve((any Playlist).self)))
        let album = try await container.resolve(Album.self, arguments: AlbumID(number: 7))
        #expect(album.id.number == 7)
        #expect(try await container.resolve(Volume.self, qualifier: Room.kitchen).percent == 40)
        try await container.withScope(AlbumID(number: 8)) { scope in
            playlist.title = scope.name ?? ""
        }
        #expect(playlist.title.contains("8"))
        try await container.dispose()
    }
}

final class Library {
    init() {}
}

final class Player {
    init() {}
}

final class LibraryModel {
    let library: Library

    init(library: Library) { self.library = library }
}

nonisolated protocol History: Sendable {
    var name: String { get }
}

nonisolated struct EmptyHistory: History {
    let name = "empty"
}

actor LoggedHistory: History {
    nonisolated let name: String

    init(_ inner: any History) { name = "logged \(inner.name)" }
}

protocol Playlist: AnyObject, Sendable {
    var title: String { get set }
}

final class RecentPlaylist: Playlist {
    var title: String

    init() { title = "Recent" }
}

nonisolated struct AlbumID: Hashable, Sendable {
    let number: Int
}

final class Album {
    let id: AlbumID

    init(id: AlbumID) { self.id = id }
}

enum Room: Qualifier { case kitchen }

nonisolated struct Volume: Sendable {
    let percent: Int
}

nonisolated extension Lifetime {
    static let listening = Lifetime("listening")
}

nonisolated let defaultVolume = Volume(percent: 40)

struct AlbumModule: Module {
    var registrations: Registrations {
        Registration((any Playlist).self, lifetime: .listening) { _ in await RecentPlaylist() }
        Registration(Album.self, lifetime: .multiton) { _, id in await Album(id: id) }
        Registration(qualifier: Room.kitchen, instance: defaultVolume)
    }
}
