// expect: requires that 'ProfileController' conform to 'ContainerOwner'
import AsyncDI

protocol UserRepository: Sendable {}

final class ProfileController {
    let container: Container
    @OwnerInject var users: any UserRepository

    init(container: Container) { self.container = container }
}
