// The guides "SwiftUI and UIKit" and "An app from launch to screen" as a user would write them; compiled by check-apple-ui.

import AsyncDI
import SwiftUI
import UIKit

protocol API: Sendable {
    func profile() async throws -> String
}

struct LiveAPI: API {
    func profile() async throws -> String { "Ada" }
}

struct PreviewAPI: API {
    func profile() async throws -> String { "a preview" }
}

struct User: Hashable, Sendable, Identifiable {
    let id: Int
}

nonisolated struct RoomID: Hashable, Sendable {
    let number: Int
}

final class Room: Sendable {
    let id: RoomID
    nonisolated init(_ id: RoomID) { self.id = id }
}

struct AppModule: Module {
    var registrations: Registrations {
        Registration((any API).self, lifetime: .singleton) { _ in LiveAPI() }
        Registration(Room.self, lifetime: .multiton) { (_, id: RoomID) in Room(id) }
    }
}

// MARK: SwiftUI

@main
struct ProfileApp: App {
    let container = Container { AppModule() }

    var body: some Scene {
        WindowGroup {
            HomeView().container(container)
        }
    }
}

struct HomeView: View {
    var body: some View {
        InjectedView((any API).self) { api in
            ProfileView(api: api)
        } placeholder: {
            ProgressView()
        } failure: { error, retry in
            Text("That did not work: \(error)")
            Button("Try again", action: retry)
        }
    }
}

struct ProfileView: View {
    let api: any API
    @State private var profile = ""

    var body: some View {
        Text(profile)
            .task { profile = (try? await api.profile()) ?? "nobody" }
    }
}

struct StatusView: View {
    @InjectState((any API).self) private var api

    var body: some View {
        switch api {
        case .loading: ProgressView()
        case .ready(let api): ProfileView(api: api)
        case .failed(let error): Button("\(error): try again") { $api.retry() }
        }
    }
}

struct RoomView: View {
    let id: RoomID

    var body: some View {
        InjectedView(Room.self, arguments: id) { room in
            Text("Room \(room.id.number)")
        } placeholder: {
            ProgressView()
        } failure: { _, retry in
            Button("Try again", action: retry)
        }
    }
}

struct AccountView: View {
    let user: User

    var body: some View {
        StatusView()
            .containerScope(user.id) { Registration(User.self, instance: user) }
    }
}

struct UnkeyedScopeView: View {
    var body: some View { StatusView().containerScope() }
}

@MainActor final class AccountModel {
    let api: any API
    init(api: any API) { self.api = api }
}

struct ReadyView: View {
    @Environment(\.container) private var container

    var model: AccountModel? {
        try? container?.ready(using: AccountModel.init)
    }

    var body: some View { Text(model == nil ? "not ready" : "ready") }
}

struct ProfilePreview: View {
    var body: some View {
        HomeView().container(Container { Registration((any API).self, instance: PreviewAPI()) })
    }
}

// The phase is stated by the caller's own code too.
struct QualifiedView: View {
    @InjectState(qualifier: "staging") private var api: InjectionPhase<any API>
    @InjectState private var room: InjectionPhase<Room>

    init(id: RoomID) { _room = InjectState(arguments: id) }

    var body: some View {
        Text(api.service == nil ? "no API" : "API")
        if let error = room.error { Text("\(error)") }
    }
}

// MARK: From launch to screen

struct LaunchModule: Module {
    var registrations: Registrations {
        Registration((any API).self, lifetime: .singleton) { _ in LiveAPI() }.eager()
        Registration(Room.self, lifetime: .multiton) { (_, id: RoomID) in Room(id) }
    }
}

struct ShopApp: App {
    let container = Container { LaunchModule() }

    var body: some Scene {
        WindowGroup {
            LaunchView().container(container)
        }
    }
}

struct LaunchView: View {
    enum Launch {
        case starting
        case ready(AccountModel)
        case failed(any Error)
    }

    @Environment(\.container) private var container
    @State private var launch = Launch.starting
    @State private var attempt = 0

    var body: some View {
        VStack {
            switch launch {
            case .starting:
                ProgressView()
            case .ready(let model):
                AccountScreen(model: model)
            case .failed(let error):
                Text("The app could not start: \(error)")
                Button("Try again") { attempt += 1 }
            }
        }
        .task(id: attempt) { await start() }
    }

    private func start() async {
        guard let container else { return }
        if case .ready = launch { return }  // the view appears again
        launch = .starting
        do {
            try await container.start()
            launch = .ready(try container.ready(using: AccountModel.init))
        } catch is CancellationError {
            // The view has disappeared.
        } catch {
            launch = .failed(error)
        }
    }
}

struct AccountScreen: View {
    let model: AccountModel

    var body: some View { Text("Account") }
}

// MARK: UIKit

final class RootController: UIViewController {
    override func viewDidLoad() {
        super.viewDidLoad()
        diContainer = Container { AppModule() }
    }
}

final class AccountController: UIViewController {
    private var api: (any API)?

    func show(_ user: User) async throws {
        try diContainer?.openScope(for: self) { Registration(User.self, instance: user) }
        api = try await diContainer?.resolve()
    }
}

final class CompositionController: UIViewController {
    func present(_ user: User) throws {
        let controller = AccountController(nibName: nil, bundle: nil)
        try diContainer?.openScope(for: controller) { Registration(User.self, instance: user) }
        present(controller, animated: true)
    }
}

/// A controller may have a property that is called `container`.
final class EmbeddingController: UIViewController {
    let container = "a view"
}
