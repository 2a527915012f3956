// An app as its author writes it, type-checked against the stand-ins; the guide on SwiftUI and UIKit shows parts of it.

import AsyncDI
import SwiftUI
import UIKit

protocol UserRepository: Sendable {
    var count: Int { get }
}

struct StubRepository: UserRepository {
    let count = 3
}

struct RootView: View {
    let container = Container {
        Registration((any UserRepository).self, lifetime: .singleton) { _ in StubRepository() }
    }

    var body: some View {
        ProfileScreen()
            .container(container)
    }
}

struct ProfileScreen: View {
    var body: some View {
        InjectedView((any UserRepository).self) { phase, retry in
            switch phase {
            case .loading: ProgressView()
            case .ready(let users): Text("\(users.count) users")
            case .failed: Button("Try again", action: retry)
            }
        }
    }
}

struct UserCount: View {
    @InjectState((any UserRepository).self) var users

    var body: some View {
        switch users {
        case .loading: ProgressView()
        case .ready(let users): Text("\(users.count) users")
        case .failed: Button("Try again") { $users.retry() }
        }
    }
}

struct CheckoutScreen: View {
    var body: some View {
        UserCount()
            .containerScope {
                Registration(String.self, qualifier: "cart", instance: "cart-7")
            }
    }
}

struct Inspector: View {
    @Environment(\.container) private var container

    var body: some View {
        Text(container?.name ?? "none")
    }
}

final class ProfileController: UIViewController {
    override func viewDidLoad() {
        super.viewDidLoad()
        Task {
            try await openScope {
                Registration(String.self, qualifier: "cart", instance: "cart-7")
            }
        }
    }
}

@MainActor func makeController(_ container: Container) -> UIViewController {
    let controller = UIViewController()
    controller.container = container
    return controller
}
